"""The command `resume-messages`: what a model would be given to go on with a run.

The file is a session event log, told by its content. It is only read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from presentview.commands import Commands
from presentview.commands.opening import printable
from presentview.errors import PresentviewError, SidecarError
from presentview.limits import PEEK_BYTES
from presentview.openfile import OpenFile
from presentview.sidecar import Problem

if TYPE_CHECKING:
    from presentview.eventlog import IndexedMessage

__all__ = ["add"]


class Resumed(NamedTuple):
    """The messages that a run goes on with, the ids of the calls in each that nothing answers,
    and what could not be read of the file.
    """

    messages: list[IndexedMessage]
    interrupted: list[list[str]]
    problems: tuple[Problem, ...]


def add(commands: Commands) -> None:
    """Add the command to the parser's."""
    resume = commands.add_parser(
        "resume-messages",
        help="print what a model would be given to go on with a run",
        description="Print the messages that would seed a resumed run: what the last compaction "
        "left and what followed. Calls without a result are marked as interrupted. The file is "
        "never written to. Exit code 1 if a part of it could not be read.",
    )
    resume.add_argument("file", metavar="FILE", type=Path, help="a session event log")
    resume.add_argument("--json", action="store_true", help="print them as one JSON document")
    resume.add_argument(
        "--repair",
        action="store_true",
        help="answer the calls without a result, in what is printed, by saying that they were "
        "interrupted",
    )
    resume.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    resumed = _resumed(options.file, repair=options.repair)
    if options.json:
        sys.stdout.buffer.write(_document(resumed) + b"\n")
    else:
        for line in _lines(resumed):
            print(line)
    for problem in resumed.problems:
        print(printable(str(problem)), file=sys.stderr)
    return 1 if resumed.problems else 0


def _resumed(path: Path, *, repair: bool) -> Resumed:
    from presentview.eventlog import answered, index_messages, is_event_log, load, unanswered

    if not is_event_log(_head(path)):
        raise PresentviewError(f"{path}: is no session event log")
    events, problems = load(path)
    messages = index_messages(events)
    if repair:
        messages = answered(messages)
    interrupted: list[list[str]] = [[] for _ in messages]
    for number, call in unanswered([each.message for each in messages]):
        interrupted[number].append(call.id)
    return Resumed(messages, interrupted, problems)


def _head(path: Path) -> bytes:
    try:
        opened = OpenFile(path)
        try:
            return opened.read(0, PEEK_BYTES)
        finally:
            opened.close()
    except OSError as error:
        raise SidecarError(f"cannot be read: {error.strerror}", path=path) from error


def _document(resumed: Resumed) -> bytes:
    """`{"messages": […], "problems": […]}`; each message stands as it does in the file."""
    import orjson

    from presentview.eventlog.wire import encode
    from presentview.units import path_text

    messages = [
        {
            "seq": each.seq,
            "turn_start": each.is_turn_start,
            "logical_chars": each.logical_chars,
            "interrupted": interrupted,
            "message": orjson.Fragment(bytes(encode(each.message))),
        }
        for each, interrupted in zip(resumed.messages, resumed.interrupted, strict=True)
    ]
    problems = [
        {"path": path_text(p.path), "line": p.line, "offset": p.offset, "reason": p.reason}
        for p in resumed.problems
    ]
    return orjson.dumps({"messages": messages, "problems": problems})


def _lines(resumed: Resumed) -> Iterator[str]:
    from presentview.terminal import excerpt

    for each, interrupted in zip(resumed.messages, resumed.interrupted, strict=True):
        message = each.message
        yield _line(f"{message.role or '(no role)'}  (event {each.seq})")
        for part in message.content:
            text = part.text or f"[{part.type}: {part.source or part.url}]"
            yield from ("    " + line for line in printable(text).strip("\n").split("\n"))
        for call in message.tool_calls:
            mark = "  (interrupted)" if call.id in interrupted else ""
            text = call.input.decode("utf-8", "replace")
            yield "    " + _line(f"→ {call.name} {text}  [{call.id}]{mark}")
        for result in message.tool_results:
            yield "    " + _line(f"← {result.name}  [{result.id}]")
            yield from ("    " + line for line in excerpt(result.content))


def _line(text: str) -> str:
    return printable(text).replace("\n", " ")

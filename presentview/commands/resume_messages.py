"""The command `resume-messages`: what a model would be given to go on with a run.

The file is a session event log or a run log, told by its content. It is only read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from presentview.commands import Commands
from presentview.commands.opening import printable
from presentview.errors import PresentviewError, SidecarError
from presentview.limits import PEEK_BYTES
from presentview.openfile import OpenFile
from presentview.sidecar import Problem

if TYPE_CHECKING:
    from presentview.eventlog import IndexedMessage
    from presentview.runlog import Message

__all__ = ["add"]


class Resumed(NamedTuple):
    """The messages that a run goes on with, of an event log; the ids of the calls in each that
    nothing answers, and what could not be read of the file.
    """

    messages: list[IndexedMessage]
    interrupted: list[list[str]]
    problems: tuple[Problem, ...]


class ResumedRun(NamedTuple):
    """The same of a run log."""

    messages: list[Message]
    interrupted: list[list[str]]
    problems: tuple[Problem, ...]


def add(commands: Commands) -> None:
    """Add the command to the parser's."""
    resume = commands.add_parser(
        "resume-messages",
        help="print what a model would be given to go on with a run",
        description="Print the messages that would seed a resumed run: what the last compaction "
        "or reset left and what followed. Calls without a result are marked as interrupted. The "
        "file is never written to. Exit code 1 if a part of it could not be read.",
    )
    resume.add_argument("file", metavar="FILE", type=Path, help="a session event log or a run log")
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


def _resumed(path: Path, *, repair: bool) -> Resumed | ResumedRun:
    from presentview.eventlog import is_event_log
    from presentview.runlog import is_run_log

    head = _head(path)
    if is_event_log(head):
        return _of_events(path, repair=repair)
    if is_run_log(head):
        return _of_run(path, repair=repair)
    raise PresentviewError(f"{path}: is no session event log, nor a run log")


def _of_events(path: Path, *, repair: bool) -> Resumed:
    from presentview.eventlog import answered, index_messages, load, unanswered

    events, problems = load(path)
    messages = index_messages(events)
    if repair:
        messages = answered(messages)
    interrupted: list[list[str]] = [[] for _ in messages]
    for number, call in unanswered([each.message for each in messages]):
        interrupted[number].append(call.id)
    return Resumed(messages, interrupted, problems)


def _of_run(path: Path, *, repair: bool) -> ResumedRun:
    from presentview.runlog import answered, load, unanswered

    session = load(path)
    messages = session.agent_messages()
    if repair:
        messages = answered(messages)
    interrupted: list[list[str]] = [[] for _ in messages]
    for number in unanswered(messages):
        activity = messages[number].activity
        interrupted[number] += () if activity is None else (activity.id,)
    return ResumedRun(messages, interrupted, session.problems)


def _head(path: Path) -> bytes:
    try:
        opened = OpenFile(path)
        try:
            return opened.read(0, PEEK_BYTES)
        finally:
            opened.close()
    except OSError as error:
        raise SidecarError(f"cannot be read: {error.strerror}", path=path) from error


def _document(resumed: Resumed | ResumedRun) -> bytes:
    """`{"messages": […], "problems": […]}`; each message stands as it does in the file."""
    import orjson

    from presentview.units import path_text

    problems = [
        {"path": path_text(p.path), "line": p.line, "offset": p.offset, "reason": p.reason}
        for p in resumed.problems
    ]
    return orjson.dumps({"messages": _messages(resumed), "problems": problems})


def _messages(resumed: Resumed | ResumedRun) -> list[dict[str, Any]]:
    import orjson

    if isinstance(resumed, ResumedRun):
        from presentview.runlog.records import encode as encode_part

        return [
            {"interrupted": interrupted, "message": orjson.Fragment(bytes(encode_part(each)))}
            for each, interrupted in zip(resumed.messages, resumed.interrupted, strict=True)
        ]
    from presentview.eventlog.wire import encode

    return [
        {
            "seq": each.seq,
            "turn_start": each.is_turn_start,
            "logical_chars": each.logical_chars,
            "interrupted": interrupted,
            "message": orjson.Fragment(bytes(encode(each.message))),
        }
        for each, interrupted in zip(resumed.messages, resumed.interrupted, strict=True)
    ]


def _lines(resumed: Resumed | ResumedRun) -> Iterator[str]:
    if isinstance(resumed, ResumedRun):
        from presentview.commands.runs import message_lines

        for said, ids in zip(resumed.messages, resumed.interrupted, strict=True):
            yield from message_lines(said, interrupted=bool(ids))
        return
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

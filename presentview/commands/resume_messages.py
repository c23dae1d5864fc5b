"""The command `resume-messages`: what a model would be given to go on with a run.

The file is a session event log or a run log, told by its content. It is only read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from presentview.commands import Commands
from presentview.commands.opening import printable, safe_line
from presentview.errors import PresentviewError, SidecarError
from presentview.sidecar import Problem

if TYPE_CHECKING:
    from presentview.eventlog import IndexedMessage

__all__ = ["add"]


class Resumed(NamedTuple):
    """The messages that a run goes on with, as JSON values and as lines for a terminal, and what
    could not be read of the file.
    """

    documents: Iterable[dict[str, Any]]
    lines: Iterable[str]
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
        for line in resumed.lines:
            print(line)
    for problem in resumed.problems:
        print(printable(str(problem)), file=sys.stderr)
    return 1 if resumed.problems else 0


def _resumed(path: Path, *, repair: bool) -> Resumed:
    from presentview.sources import EVENT_LOG, RUN_LOG, detect

    try:
        source = detect(path)
    except OSError as error:
        raise SidecarError(f"cannot be read: {error.strerror}", path=path) from error
    if source is EVENT_LOG:
        return _of_events(path, repair=repair)
    if source is RUN_LOG:
        return _of_run(path, repair=repair)
    raise PresentviewError(f"{path}: is no session event log, nor a run log")


def _of_events(path: Path, *, repair: bool) -> Resumed:
    from presentview.eventlog import answered, index_messages, load, unanswered
    from presentview.eventlog.wire import encode

    events, problems = load(path)
    messages = index_messages(events)
    if repair:
        messages = answered(messages)
    interrupted: list[list[str]] = [[] for _ in messages]
    for number, call in unanswered([each.message for each in messages]):
        interrupted[number].append(call.id)
    marked = list(zip(messages, interrupted, strict=True))
    documents = (
        {
            "seq": each.seq,
            "turn_start": each.is_turn_start,
            "logical_chars": each.logical_chars,
            "interrupted": calls,
            "message": _fragment(encode(each.message)),
        }
        for each, calls in marked
    )
    lines = (line for each, calls in marked for line in _event_lines(each, calls))
    return Resumed(documents, lines, problems)


def _of_run(path: Path, *, repair: bool) -> Resumed:
    from presentview.commands.runs import message_lines
    from presentview.runlog import answered, load, unanswered
    from presentview.runlog.records import encode

    session = load(path)
    messages = session.agent_messages()
    if repair:
        messages = answered(messages)
    interrupted: list[list[str]] = [[] for _ in messages]
    for number in unanswered(messages):
        activity = messages[number].activity
        interrupted[number] += () if activity is None else (activity.id,)
    marked = list(zip(messages, interrupted, strict=True))
    documents = (
        {"interrupted": calls, "message": _fragment(encode(each))} for each, calls in marked
    )
    lines = (
        line for each, calls in marked for line in message_lines(each, interrupted=bool(calls))
    )
    return Resumed(documents, lines, session.problems)


def _document(resumed: Resumed) -> bytes:
    """`{"messages": […], "problems": […]}`; each message stands as it does in the file."""
    import orjson

    from presentview.document import problem_documents

    problems = problem_documents(resumed.problems)
    return orjson.dumps({"messages": list(resumed.documents), "problems": problems})


def _fragment(encoded: bytes) -> Any:
    import orjson

    return orjson.Fragment(bytes(encoded))


def _event_lines(each: IndexedMessage, interrupted: Sequence[str]) -> Iterator[str]:
    from presentview.terminal import excerpt

    message = each.message
    yield safe_line(f"{message.role or '(no role)'}  (event {each.seq})")
    for part in message.content:
        text = part.text or f"[{part.type}: {part.source or part.url}]"
        yield from ("    " + line for line in printable(text).strip("\n").split("\n"))
    for call in message.tool_calls:
        mark = "  (interrupted)" if call.id in interrupted else ""
        text = call.input.decode("utf-8", "replace")
        yield "    " + safe_line(f"→ {call.name} {text}  [{call.id}]{mark}")
    for result in message.tool_results:
        yield "    " + safe_line(f"← {result.name}  [{result.id}]")
        yield from ("    " + line for line in excerpt(result.content))

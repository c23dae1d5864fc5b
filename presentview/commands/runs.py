"""The command `runs`: the run logs of a folder, and what one of them says."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from presentview import units
from presentview.commands import Commands
from presentview.commands.opening import printable, safe_line
from presentview.errors import PresentviewError

if TYPE_CHECKING:
    from presentview.runlog import Entry, Event, Link, Message, Session

__all__ = ["add", "message_lines"]

_COUNTERS: Final = ("iterations", "calls", "continuations", "cycles", "settles")


def add(commands: Commands) -> None:
    """Add the command to the parser's."""
    runs = commands.add_parser(
        "runs",
        help="list run logs, or show one",
        usage="presentview runs [DIR] [--json]\n       presentview runs show REF [--dir DIR]",
        description="List the run logs of a folder, the newest first: outcome, start, duration and "
        "task. With `show`, print one of them: its outcome, the runs it continues, its messages "
        "and events. Exit code 1 if a part of it could not be read.",
    )
    runs.add_argument(
        "what",
        nargs="*",
        metavar="DIR | show REF",
        help="the folder (default: where zot keeps its runs); or `show` and an id, how one "
        "begins, the path of a log, or `last`",
    )
    runs.add_argument(
        "--dir", type=Path, metavar="DIR", help="the folder that REF is looked for in"
    )
    runs.add_argument("--json", action="store_true", help="print the list as one JSON document")
    runs.set_defaults(run=_run, usage=runs.error)


def _run(options: argparse.Namespace) -> int:
    from presentview.runlog import default_dir

    match options.what:
        case ["show", ref] if not options.json:
            return _show(options.dir or default_dir(), ref)
        case ["show", *_]:
            options.usage("`show` takes the run to show, and --dir")
        case [_, _, *_]:
            options.usage("there can be one folder")
        case [folder] if options.dir is None:
            return _list(Path(folder), as_json=options.json)
        case [_]:
            options.usage("name the folder once")
    if options.dir is not None:
        return _list(options.dir, as_json=options.json)
    return _list(default_dir(), as_json=options.json, missing_ok=True)


def _list(folder: Path, *, as_json: bool, missing_ok: bool = False) -> int:
    from presentview.runlog import list_runs

    if not missing_ok and not folder.exists():
        raise PresentviewError(f"{units.path_text(folder)}: there is no such folder")
    entries = list_runs(folder)
    if as_json:
        import orjson

        document = {"runs": [_entry_document(entry) for entry in entries]}
        sys.stdout.buffer.write(orjson.dumps(document) + b"\n")
    else:
        for entry in entries:
            print(_entry_line(entry))
    for entry in entries:
        if entry.unreadable:
            print(safe_line(f"{units.path_text(entry.path)}: {entry.unreadable}"), file=sys.stderr)
    return 1 if any(entry.unreadable for entry in entries) else 0


def _outcome(entry: Entry) -> str:
    if entry.unreadable:
        return "unreadable"
    return (entry.reason or "ended") if entry.complete else "unfinished"


def _entry_line(entry: Entry) -> str:
    started = units.instant(entry.started_ns // 1_000_000)
    lasted = units.duration(entry.duration_ms) or "–"
    task = entry.task.strip().partition("\n")[0]
    return safe_line(f"{entry.id}  {_outcome(entry)}  {started}  {lasted}  {task}").rstrip()


def _entry_document(entry: Entry) -> dict[str, Any]:
    return {
        "id": units.path_text(entry.id),
        "path": units.path_text(entry.path),
        "task": entry.task,
        "outcome": _outcome(entry),
        "complete": entry.complete,
        "reason": entry.reason,
        "code": entry.result.code if entry.result else None,
        "started": entry.started.isoformat().replace("+00:00", "Z"),
        "started_by": entry.started_by,
        "duration_ms": entry.duration_ms,
        "resumed_from": entry.resumed_from,
        "unreadable": entry.unreadable,
    }


def _show(folder: Path, ref: str) -> int:
    from presentview.runlog import chain, load, resolve

    path = resolve(folder, ref)
    session = load(path)
    links = chain(path.parent, str(path.absolute()))
    for line in _session_lines(session, links):
        print(line)
    for problem in session.problems:
        print(printable(str(problem)), file=sys.stderr)
    return 1 if session.problems else 0


def _session_lines(session: Session, links: tuple[Link, ...]) -> Iterator[str]:
    from presentview.runlog import entry_of, unanswered

    meta, entry = session.meta, links[0].entry
    assert entry is not None
    yield _entry_line(entry_of(entry.path, session))
    names = (meta.provider, meta.driver or meta.backend, meta.model, meta.workdir)
    if any(names):
        yield safe_line(" · ".join(name for name in names if name))
    yield from _outcome_lines(session)
    for link in links[1:]:
        task = f"  {link.entry.task}" if link.entry else f"  ({link.broken})"
        yield safe_line(f"continues {link.id}{task}")
    yield ""
    yield f"{units.plural(len(session.messages), 'message')} since the last reset"
    waiting = frozenset(unanswered(session.messages))
    for number, message in enumerate(session.messages):
        yield from message_lines(message, interrupted=number in waiting)
    yield ""
    yield units.plural(len(session.events), "event")
    for event in session.events:
        yield _event_line(event)


def _outcome_lines(session: Session) -> Iterator[str]:
    result = session.result
    if result is None:
        yield "no result: the run goes on, or was killed"
        return
    counts = ", ".join(f"{name} {getattr(result, name):,}" for name in _COUNTERS)
    yield safe_line(f"{result.reason or 'ended'} (code {result.code}): {counts}")
    if result.input_tokens or result.output_tokens:
        yield f"tokens: {result.input_tokens:,} in, {result.output_tokens:,} out"
    for text in (result.message, result.error):
        if text:
            yield from _indented(text)
    if result.failure:
        yield "    " + safe_line(result.failure.decode("utf-8", "replace"))


def _event_line(event: Event) -> str:
    words = (f"{event.iteration:,}" if event.iteration else "", event.kind, event.tool, event.text)
    return safe_line("  " + "  ".join(word for word in words if word))


def message_lines(message: Message, *, interrupted: bool = False) -> Iterator[str]:
    """One message as lines for a terminal; `interrupted` marks a call without a response."""
    from presentview.terminal import excerpt

    yield safe_line(message.type or "(no type)")
    activity = message.activity
    if message.text:
        yield from _indented(message.text)
    if message.images:
        yield "    [images]"
    if activity is None:
        return
    if activity.kind == "response":
        yield "    " + safe_line(f"← {activity.name}  [{activity.id}]")
        text = activity.failure or _result_text(activity.result)
        yield from ("    " + line for line in excerpt(text))
    else:
        mark = "  (interrupted)" if interrupted else ""
        named = f"{activity.name} {activity.arguments}".strip()
        yield "    " + safe_line(f"→ {named}  [{activity.id}]{mark}")


def _result_text(result: object) -> str:
    from presentview.compact import text_of

    if result is None:
        return ""
    return result if isinstance(result, str) else text_of(result)


def _indented(text: str) -> Iterator[str]:
    return ("    " + line for line in printable(text).strip("\n").split("\n"))

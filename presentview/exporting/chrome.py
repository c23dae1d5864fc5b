"""A session as a trace that Perfetto and other viewers of Chrome's trace format open.

On each thread of the trace one interval lies inside another or beside it: a call stands on the
thread of the call it is nested in if it lies within it and nothing beside it overlaps, else on
one that is free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import orjson

from presentview._version import __version__
from presentview.follow import Follower
from presentview.sessions import session_id
from presentview.transcript.agents import agent_name
from presentview.transcript.durations import ABSURD
from presentview.transcript.export import call_texts
from presentview.transcript.timings import Span, Timings, timings_of

__all__ = ["Placed", "chrome_json", "placed"]

_PID: Final = 1
_US: Final = 1000


class Placed(NamedTuple):
    """A call on a thread: from `asked` on it waited, from `start` to `end` it ran (ms)."""

    span: Span
    tid: int
    asked: int
    start: int
    end: int


class _Running(NamedTuple):
    """An interval on a thread within which others may lie."""

    start: int
    end: int
    number: int


def chrome_json(follower: Follower, *, content: bool = False) -> bytes:
    """The trace as JSON text: a complete event for each call, and for the time it waited.

    Times are µs from the beginning of the session. With `content` the events say what the
    calls were about: their subjects, arguments and outputs.
    """
    timings = timings_of(follower.transcript)
    whole = timings.whole
    base = whole.start if whole else 0
    found = placed(timings)
    title = follower.transcript.title if content else ""
    events = list(_metadata(found, title, content=content))
    for one in found:
        events += _events(one, base, follower, content=content)
    return orjson.dumps(
        {
            "traceEvents": events,
            "displayTimeUnit": "ms",
            "otherData": {
                "session": session_id(follower.session_path),
                "start_ms": base,
                "inferred": timings.session.inferred,
                "writer": f"presentview {__version__}",
            },
        }
    )


def placed(timings: Timings) -> list[Placed]:
    """The calls whose time is known, each on a thread (from 1), in order of their dispatches."""
    threads: list[list[_Running]] = []
    on_thread: dict[int, int] = {}
    found: list[Placed] = []
    for asked, start, end, span in sorted(_intervals(timings), key=lambda one: (one[0], -one[2])):
        parent = timings.spans[span.parent].card.number if span.parent >= 0 else -1
        tid = _thread_for(threads, on_thread.get(parent), parent, asked, end)
        threads[tid].append(_Running(start, end, span.card.number))
        on_thread[span.card.number] = tid
        found.append(Placed(span, tid + 1, asked, start, end))
    return found


def _intervals(timings: Timings) -> Iterator[tuple[int, int, int, Span]]:
    """When each call was dispatched, ran, and ended. One that took longer than can be true, or of
    which only one moment is known, is no more than a moment.
    """
    for span in timings.spans:
        if span.start is not None and span.end is not None:
            asked = span.start if span.asked is None else min(span.asked, span.start)
            yield asked, span.start, max(span.start, span.end), span
            continue
        begin = span.end if span.asked is None else span.asked
        if begin is None:
            continue
        end = begin
        if span.end is None and ABSURD not in span.marks:
            end = max(begin, timings.seen_until(span) or begin)
        yield begin, begin, end, span


def _thread_for(
    threads: list[list[_Running]], preferred: int | None, parent: int, asked: int, end: int
) -> int:
    """A thread with room for an interval: the preferred one, if what runs there is the parent and
    it lies within that; else one that is free, a new one if there is none.
    """
    if preferred is not None:
        running = threads[preferred]
        _end(running, asked)
        if running:
            top = running[-1]
            if top.number == parent and top.start <= asked and end <= top.end:
                return preferred
    for tid, running in enumerate(threads):
        _end(running, asked)
        if not running:
            return tid
    threads.append([])
    return len(threads) - 1


def _end(running: list[_Running], at: int) -> None:
    """Take away what ended up to a moment."""
    while running and running[-1].end <= at:
        running.pop()


def _metadata(found: Sequence[Placed], title: str, *, content: bool) -> Iterator[dict[str, Any]]:
    yield _named("process_name", 0, title or "presentview session")
    names: dict[int, str] = {}
    for one in found:
        if one.tid not in names:
            outer = one.span.card.parent
            name = "Main agent" if outer is None else outer.name or "Sub-agent"
            if outer is not None and content:
                name = agent_name(outer)
            names[one.tid] = name
    for tid, name in sorted(names.items()):
        yield _named("thread_name", tid, name)


def _named(what: str, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": _PID, "tid": tid, "name": what, "args": {"name": name}}


def _events(
    one: Placed, base: int, follower: Follower, *, content: bool
) -> Iterator[dict[str, Any]]:
    span, card = one.span, one.span.card
    where = {"pid": _PID, "tid": one.tid}
    args: dict[str, Any] = {
        "card": card.id,
        "call": card.call,
        "turn": card.turn,
        "state": card.status(alive=follower.alive),
        "own_ms": span.own,
        "inferred": span.inferred,
    }
    if span.marks:
        args["marks"] = list(span.marks)
    if span.approval_waited is not None:
        args["approval_ms"] = span.approval_waited
    name = card.name or "unnamed"
    if content:
        texts = call_texts(card, follower.record)
        args |= {"arguments": texts.args, "output": texts.output, "error": texts.err}
        name = f"{name} {card.face}".strip()
    if one.asked < one.start:
        yield {
            "ph": "X",
            "cat": "wait",
            "name": f"waiting: {card.name or 'unnamed'}",
            "ts": (one.asked - base) * _US,
            "dur": (one.start - one.asked) * _US,
            **where,
            "args": {"card": card.id, "call": card.call},
        }
    yield {
        "ph": "X",
        "cat": "agent" if card.steps else "tool",
        "name": name,
        "ts": (one.start - base) * _US,
        "dur": (one.end - one.start) * _US,
        **where,
        "args": args,
    }

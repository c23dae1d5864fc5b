"""Calls that an agent makes again and again: the cheapest sign that it is stuck."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from presentview.eventlog.events import EventType, SessionEvent
from presentview.eventlog.gotext import normalized
from presentview.eventlog.payloads import ToolCall
from presentview.limits import REPEATED_CALLS

__all__ = ["RepeatedRun", "repeated_runs", "repeated_tool_calls"]


class RepeatedRun(NamedTuple):
    """Equal calls in a row: the tool's `name`, the `input` as it is compared, and the numbers of
    their events.
    """

    name: str
    input: str
    seqs: tuple[int, ...]


class _Call(NamedTuple):
    name: str
    input: str
    seq: int

    @property
    def signature(self) -> tuple[str, str]:
        return self.name, self.input


def repeated_tool_calls(events: Iterable[SessionEvent], seq: int = 0) -> int:
    """How often the last call after `seq` was made in a row, 0 if there was none.

    Calls are equal that have the same name and an input that means the same as JSON.
    """
    count = 0
    for _, run in _runs(events, seq):
        count = len(run)
    return count


def repeated_runs(
    events: Iterable[SessionEvent], least: int = REPEATED_CALLS
) -> tuple[RepeatedRun, ...]:
    """Every run of at least `least` equal calls with no other call between them."""
    return tuple(
        RepeatedRun(name, text, tuple(call.seq for call in run))
        for (name, text), run in _runs(events)
        if len(run) >= least
    )


def _runs(
    events: Iterable[SessionEvent], seq: int | None = None
) -> Iterator[tuple[tuple[str, str], list[_Call]]]:
    for signature, run in groupby(_calls(events, seq), lambda call: call.signature):
        yield signature, list(run)


def _calls(events: Iterable[SessionEvent], seq: int | None) -> Iterator[_Call]:
    for event in events:
        if event.type == EventType.TOOL_CALL and (seq is None or event.seq > seq):
            call = event.payload(ToolCall)
            if call is not None:
                yield _Call(call.name, normalized(call.input), event.seq)

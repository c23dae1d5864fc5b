"""Which agents worked in a session, and in which rows of a drawing they stand."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from presentview.transcript.agents import agent_name, agents_among
from presentview.transcript.cards import Card, ToolCard
from presentview.transcript.timings import Timings

__all__ = ["Lane", "Run", "packed", "runs_of"]

_NEVER: Final = 1 << 63


class Run(NamedTuple):
    """One run of a sub-agent: its card, when it began and ended (None: not known), how long it
    took by its record, and how many sub-agents it is inside of.
    """

    card: ToolCard
    start: int | None
    end: int | None
    duration: int | None
    inferred: bool
    depth: int

    @property
    def name(self) -> str:
        """What it is called: runs of the same name share a row."""
        return agent_name(self.card)


class Lane(NamedTuple):
    """A row of runs of the same name that follow each other."""

    name: str
    runs: list[Run]


def runs_of(cards: Iterable[Card], timings: Timings) -> list[Run]:
    """The runs of sub-agents among cards in page order."""
    return [_run(card, timings, depth) for card, depth in agents_among(cards)]


def _run(card: ToolCard, timings: Timings, depth: int) -> Run:
    span = timings.span(card)
    if span is not None:
        start = span.start if span.asked is None else span.asked
        return Run(card, start, span.end, span.duration, span.inferred, depth)
    window = timings.lanes.get(card.id)
    if window is None:
        return Run(card, None, None, None, False, depth)
    return Run(card, window.start, window.end, window.length, window.inferred, depth)


def packed(runs: Sequence[Run]) -> list[Lane]:
    """Rows for the runs, in order of appearance: one for each name, and further ones for runs
    that overlap those of their name in the rows before.
    """
    by_name: dict[str, list[Run]] = {}
    for run in runs:
        by_name.setdefault(run.name, []).append(run)
    lanes: list[Lane] = []
    for name, named in by_name.items():
        rows: list[Lane] = []
        free: list[tuple[int, int]] = []
        for run in sorted(named, key=lambda run: (run.start or 0, run.card.number)):
            start = run.start or 0
            until = _NEVER if run.end is None else max(start, run.end)
            if free and free[0][0] <= start:
                _, index = heapq.heappop(free)
            else:
                index = len(rows)
                rows.append(Lane(name, []))
            rows[index].runs.append(run)
            heapq.heappush(free, (until, index))
        lanes += rows
    return lanes

"""Every call of a session as a span of time: when it ran, how long, and how that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from presentview.transcript.cards import Card, ToolCard, Turn
from presentview.transcript.durations import ABSURD, BACKWARD, Ran, ran_as_recorded
from presentview.transcript.fold import Transcript
from presentview.transcript.schedule import Schedule, Window, needs_schedule, schedule

__all__ = ["DISAGREES", "Laid", "Span", "laid_out", "union_ms"]

DISAGREES: Final = "disagrees"
"""Marks a call for which there is no room between the recorded times around it."""

_MARKS: Final = (ABSURD, BACKWARD, DISAGREES)
_NOTHING: Final = Schedule({}, {}, set(), set(), {}, None)


class Span(msgspec.Struct, frozen=True, gc=False):
    """One call and its time, in unix ms; None where that is not known.

    From `asked` (its dispatch) to `end` (its result) it lasted for the agent; it ran for the
    last `duration` ms of that, from `start` on. `own` is what of its duration none of the
    calls nested in it took. `parent` is the index of the call it is nested in, -1 at the top,
    and `lane` the card of the sub-agent that made it, empty for the main agent. `state` is its
    card's. `inferred` says that a time of it was scheduled, `own_inferred` that `own` rests on
    such a time; `marks` what is wrong with the recorded ones: `absurd`, `backward` or
    `disagrees`.
    """

    card: ToolCard
    parent: int
    lane: str
    asked: int | None
    start: int | None
    end: int | None
    duration: int | None
    own: int | None
    state: str | None
    inferred: bool = False
    own_inferred: bool = False
    marks: tuple[str, ...] = ()

    @property
    def begin(self) -> int | None:
        """When it was dispatched, or where that is not known, when it ran from."""
        return self.start if self.asked is None else self.asked

    @property
    def waited(self) -> int | None:
        """How long it waited before it ran, for approval or its turn, in ms."""
        if self.asked is None or self.start is None:
            return None
        return max(0, self.start - self.asked)

    @property
    def approval_waited(self) -> int | None:
        """How long of that somebody was asked whether it may run, in ms; None if nobody was."""
        approval = self.card.approval
        if approval is None:
            return None
        return approval.waited if self.waited is None else min(approval.waited, self.waited)


class Laid(NamedTuple):
    """All calls of a session in page order, and when its turns and the whole of it were.

    `times` has the scheduled times of other cards, by their numbers.
    """

    spans: tuple[Span, ...]
    whole: Window | None
    turns: dict[int, Window]
    times: dict[int, int]


def laid_out(transcript: Transcript) -> Laid:
    """The calls of a transcript with their times; those not recorded are scheduled."""
    calls = [card for card in transcript.walk() if type(card) is ToolCard and card.kind == "tool"]
    found = schedule(transcript) if needs_schedule(transcript, calls) else _NOTHING
    first, last = transcript.first_at, transcript.last_at
    whole = found.whole
    if found is _NOTHING and last >= first:
        whole = Window(first, last)
    turns = {turn.number: window for turn in transcript.turns if (window := _window(turn, whole))}
    return Laid(_spans(calls, found), whole, found.turns | turns, found.times)


def _window(turn: Turn, whole: Window | None) -> Window | None:
    """When a turn was by its own records; what comes before the first turn begins with the
    session.
    """
    start, end = turn.at, turn.ended_at or turn.last_at
    if turn.prompt is None and not start and whole is not None and not whole.inferred:
        start = whole.start
    return Window(start, end) if start and end >= start else None


def _spans(calls: Sequence[ToolCard], found: Schedule) -> tuple[Span, ...]:
    times = [found.calls.get(card.number) or ran_as_recorded(card) for card in calls]
    index = {card.number: i for i, card in enumerate(calls)}
    parents = [_parent(card, index) for card in calls]
    own, rests = _own_times(calls, parents, times, found.inferred)
    backward = _backward(calls)
    spans: list[Span] = []
    for i, card in enumerate(calls):
        asked, start, end, duration, absurd = times[i]
        number = card.number
        marks: tuple[str, ...] = ()
        if absurd or number in backward or number in found.disagreeing:
            wrong = (absurd, number in backward, number in found.disagreeing)
            marks = tuple(name for name, is_so in zip(_MARKS, wrong, strict=True) if is_so)
        outer = card.parent
        spans.append(
            Span(
                card,
                parents[i],
                outer.id if outer is not None else "",
                asked,
                start,
                end,
                duration,
                own.get(i, duration),
                card.state,
                number in found.inferred,
                i in rests,
                marks,
            )
        )
    return tuple(spans)


def _parent(card: Card, index: dict[int, int]) -> int:
    """The index of the innermost call around a card. A lane is none: it has no time of its own."""
    outer = card.parent
    while outer is not None:
        if outer.number in index:
            return index[outer.number]
        outer = outer.parent
    return -1


def _own_times(
    calls: Sequence[ToolCard],
    parents: Sequence[int],
    times: Sequence[Ran],
    inferred: set[int],
) -> tuple[dict[int, int], set[int]]:
    """The own times of the calls with others nested in them, and which of these are inferred."""
    inside: dict[int, list[tuple[int, int]]] = {}
    rests: set[int] = set()
    for i, parent in enumerate(parents):
        if parent < 0:
            continue
        start, end = times[i].start, times[i].end
        outer = times[parent]
        if start is None or end is None or outer.start is None or outer.end is None:
            continue
        inside.setdefault(parent, []).append((max(start, outer.start), min(end, outer.end)))
        if calls[i].number in inferred or calls[parent].number in inferred:
            rests.add(parent)
    own: dict[int, int] = {}
    for parent, taken in inside.items():
        duration = times[parent].duration
        assert duration is not None
        own[parent] = duration - union_ms(taken)
    return own, rests


def _backward(calls: Sequence[ToolCard]) -> set[int]:
    """The calls of which a time lies before one that was recorded earlier."""
    found: set[int] = set()
    latest = 0
    for card in sorted(calls, key=lambda card: card.number):
        if card.at:
            if card.at < latest or card.at > card.ended_at > 0:
                found.add(card.number)
            latest = card.at
    return found


def union_ms(intervals: list[tuple[int, int]]) -> int:
    """How many ms lie in at least one of the intervals, which are sorted here; those that end
    before they begin are passed over.
    """
    intervals.sort()
    total = 0
    reached: int | None = None
    for start, end in intervals:
        if reached is None or start > reached:
            reached = start
        if end > reached:
            total += end - reached
            reached = end
    return total

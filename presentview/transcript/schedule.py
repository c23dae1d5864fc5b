"""When things happened that have no recorded time, as far as their order and durations tell.

What is found here is a bound: a session lasted at least as long, and no more of it ran at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias, cast

from presentview.transcript.cards import Card, Place, ToolCard
from presentview.transcript.durations import Ran, is_absurd, ran, ran_as_recorded
from presentview.transcript.fold import Transcript

__all__ = ["Schedule", "Window", "needs_schedule", "schedule"]

_DISPATCH: Final = 0
_RESULT: Final = 1
_OTHER: Final = 2
_MARKED: Final = frozenset({"prompt", "compaction", "retry", "notice", "turn_error"})
"""The cards, other than calls, of which one wants to know when they were."""


class Window(NamedTuple):
    """From when to when something lasted (ms), and whether one of the two is inferred."""

    start: int
    end: int
    inferred: bool = False

    @property
    def length(self) -> int:
        """How long it is, in ms."""
        return self.end - self.start


class Schedule(NamedTuple):
    """The times of a session of which not all are recorded.

    `times` has when prompts, errors and the like without a time were, by their numbers; `calls`
    when calls ran, `inferred` the numbers of those that were scheduled in part, `disagreeing`
    of those that do not fit between the recorded times around them; `turns` has the turns whose
    beginning is not recorded, `whole` the session.
    """

    times: dict[int, int]
    calls: dict[int, Ran]
    inferred: set[int]
    disagreeing: set[int]
    turns: dict[int, Window]
    whole: Window | None


# A record of a card: where it lies, its card's number, when it was (0: not recorded), what it is,
# and the card. One is made for each record of a long session; a plain tuple is made fastest.
_Event: TypeAlias = tuple[float, int, int, int, Card]


class _Around(NamedTuple):
    """For each record the last recorded time up to it, and the next one from it on."""

    earlier: list[int | None]
    later: list[int | None]


def needs_schedule(transcript: Transcript, calls: Sequence[ToolCard]) -> bool:
    """Whether a time is missing that the order of the records would give a bound for."""
    if not transcript.first_at:
        return True
    for card in calls:
        if card.ended_at == 0 and card.result is not None:
            return True
        if card.at == 0 and _was_dispatched(card):
            return True
    return any(turn.prompt is not None and not turn.at for turn in transcript.turns)


def schedule(transcript: Transcript) -> Schedule:
    """Give every card without a time one: not before the record in front of it and, for a
    result, not before its call's last dispatch and the time that took.

    What lies between recorded times stays between them. What comes before the first recorded
    time ends there; where there is none at all, the session begins at 0.
    """
    events = _events(transcript)
    events.sort()
    around = _recorded_around(events)
    times, disagreeing = _times(events, around)
    calls, inferred = _calls(events, around, times)
    return Schedule(
        {
            number: time
            for (_, number, at, what, _), time in zip(events, times, strict=True)
            if what == _OTHER and not at
        },
        calls,
        inferred,
        disagreeing,
        _turns(transcript, events, times),
        _whole(transcript, events, times),
    )


def _was_dispatched(card: ToolCard) -> bool:
    """Whether its dispatch is a record of its own."""
    return card.kind == "tool" and card.dispatch is not None and card.dispatch is not card.result


def _events(transcript: Transcript) -> list[_Event]:
    ends = {
        turn.number - 1: turn.prompt.number - 0.5
        for turn in transcript.turns
        if turn.prompt is not None
    }
    last = transcript.tree.next_number
    events: list[_Event] = []
    add = events.append
    key: float
    for card in transcript.walk():
        number = card.number
        if isinstance(card, ToolCard):
            dispatch, result = card.dispatch, card.result
            if dispatch is not None and dispatch is not result and card.kind == "tool":
                key = dispatch.offset if isinstance(dispatch, Place) else number
                add((key, number, card.at, _DISPATCH, card))
            if result is not None:
                # A record without a place is ordered by its card, a result at its turn's end.
                end = ends.get(card.turn, last)
                key = result.offset if isinstance(result, Place) else end
                add((key, number, card.ended_at, _RESULT, card))
        elif card.parts and (card.at or card.kind in _MARKED) and card.kind != "collab":
            # A message that is whole lies where it ended, what is repeated where it began.
            at = card.at if card.kind == "notice" else card.ended_at or card.at
            part = card.parts[-1]
            key = part.offset if isinstance(part, Place) else number
            add((key, number, at, _OTHER, card))
    return events


def _recorded_around(events: Sequence[_Event]) -> _Around:
    if not any(at for _, _, at, _, _ in events):
        unknown: list[int | None] = [None] * len(events)
        return _Around(unknown, unknown)
    earlier: list[int | None] = []
    later: list[int | None] = []
    for found, ordered in ((earlier, events), (later, reversed(events))):
        nearest: int | None = None
        for _, _, at, _, _ in ordered:
            nearest = at or nearest
            found.append(nearest)
    later.reverse()
    return _Around(earlier, later)


def _times(events: Sequence[_Event], around: _Around) -> tuple[list[int], set[int]]:
    """When each record was, and the numbers of the cards that do not fit."""
    times: list[int] = []
    disagreeing: set[int] = set()
    dispatched: dict[int, int] = {}
    now = 0
    for index, (_, number, at, what, card) in enumerate(events):
        earlier, later = around.earlier[index], around.later[index]
        if at:
            if index and around.earlier[index - 1] is None:
                times = [time + at - now for time in times]
            now = at
        else:
            if what == _RESULT and number in dispatched:
                asked = dispatched[number]
                recorded = cast("ToolCard", card).recorded_ms
                if recorded and not is_absurd(recorded, around.earlier[asked], later):
                    now = max(now, times[asked] + recorded)
            if earlier is not None and later is not None and now > later:
                disagreeing.add(number)
                now = max(earlier, later)
        if what == _DISPATCH:
            dispatched[number] = index
        times.append(now)
    return times, disagreeing


def _calls(
    events: Sequence[_Event], around: _Around, times: Sequence[int]
) -> tuple[dict[int, Ran], set[int]]:
    """When each call ran that has a dispatch or a result, and which were scheduled in part."""
    calls: dict[int, Ran] = {}
    inferred: set[int] = set()
    dispatched: dict[int, int] = {}
    for index, (_, number, at, what, card) in enumerate(events):
        if what == _OTHER:
            continue
        if not at:
            inferred.add(number)
        if what == _DISPATCH:
            dispatched[number] = index
            if cast("ToolCard", card).result is None:
                calls[number] = Ran(times[index], None, None, None)
            continue
        call = cast("ToolCard", card)
        if call.at and at:
            calls[number] = ran_as_recorded(call)
            continue
        asked = dispatched.get(number)
        since = earlier = None
        if asked is not None:
            since, earlier = times[asked], around.earlier[asked]
        later = around.later[index]
        if not call.recorded_ms:
            # From a record to one that was scheduled is no duration.
            earlier = later = None
        calls[number] = ran(call.recorded_ms, since, times[index], earlier, later, ended=True)
    return calls, inferred


def _turns(
    transcript: Transcript, events: Sequence[_Event], times: Sequence[int]
) -> dict[int, Window]:
    """When the turns without a recorded beginning were, by the records that lie in them."""
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    number = transcript.turns[0].number
    for (_, _, _, what, card), at in zip(events, times, strict=True):
        if what == _OTHER and card.kind == "prompt":
            number = card.turn
        begins.setdefault(number, at)
        ends[number] = at
    return {
        turn.number: Window(begins[turn.number], ends[turn.number], inferred=True)
        for turn in transcript.turns
        if not turn.at and begins.get(turn.number, 1) <= ends.get(turn.number, 0)
    }


def _whole(transcript: Transcript, events: Sequence[_Event], times: Sequence[int]) -> Window | None:
    """When the session was. A record that makes no card has a recorded time or is passed over."""
    first, last = transcript.first_at, transcript.last_at
    if not events:
        return Window(first, last) if first and last >= first else None
    knows_start, knows_end = bool(events[0][2]), bool(events[-1][2])
    start = first if knows_start else times[0]
    end = last if knows_end else max(times[-1], last)
    inferred = not knows_start or end != last
    return Window(start, end, inferred) if end >= start else None

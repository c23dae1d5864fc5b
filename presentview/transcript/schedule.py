"""When things happened that have no recorded time, as far as their order and durations tell.

What is found here is a bound: a session lasted at least as long, and no more of it ran at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from presentview.transcript.cards import Card, Part, Place, ToolCard
from presentview.transcript.durations import Ran, ran
from presentview.transcript.fold import Transcript

__all__ = ["DISAGREES", "Schedule", "Window", "needs_schedule", "schedule"]

DISAGREES: Final = "disagrees"
"""Marks a call for which there is no time between the recorded times around it."""

_DISPATCH: Final = 0
_RESULT: Final = 1
_OTHER: Final = 2


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

    `times` has when the cards without a time happened, by their numbers; `calls` when each call
    ran, `disagreeing` the numbers of those that do not fit, `inferred` of those that were
    scheduled in part; `turns` is when the turns lasted that have no recorded time.
    """

    times: dict[int, int]
    calls: dict[int, Ran]
    inferred: set[int]
    disagreeing: set[int]
    turns: dict[int, Window]
    whole: Window | None


class _Event(NamedTuple):
    """A record of a card: where it lies, when it was (0: not recorded), what it is."""

    key: float
    at: int
    what: int
    card: Card


def needs_schedule(transcript: Transcript, calls: list[ToolCard]) -> bool:
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
    events = sorted(_events(transcript), key=lambda event: event.key)
    return _Scheduler(transcript, events).run()


def _was_dispatched(card: ToolCard) -> bool:
    """Whether its dispatch is a record of its own."""
    return card.kind == "tool" and card.dispatch is not None and card.dispatch != card.result


def _events(transcript: Transcript) -> Iterator[_Event]:
    ends = {
        turn.number - 1: turn.prompt.number - 0.5 for turn in transcript.turns if turn.prompt
    }
    last = transcript.tree.next_number
    for card in transcript.walk():
        if isinstance(card, ToolCard):
            if _was_dispatched(card):
                yield _Event(_key(card.dispatch, card.number), card.at, _DISPATCH, card)
            if card.result is not None:
                key = _key(card.result, ends.get(card.turn, last))
                yield _Event(key, card.ended_at, _RESULT, card)
        elif card.parts and card.kind != "collab":
            # A message that is whole lies where it ended; what repeats lies where it began.
            ended = card.ended_at if card.kind != "notice" else 0
            yield _Event(_key(card.parts[-1], card.number), ended or card.at, _OTHER, card)


def _key(part: Part | None, number: float) -> float:
    """Where a record lies among the others: without a place, by the number of its card."""
    return part.offset if isinstance(part, Place) else number


class _Scheduler:
    """One pass over the records of a session in their order."""

    def __init__(self, transcript: Transcript, events: list[_Event]) -> None:
        self.transcript = transcript
        self.events = events
        self.now = 0
        self.last: int | None = None
        self.floating: list[dict[int, int]] = []
        self.asked: dict[int, int] = {}
        self.ended: dict[int, int] = {}
        self.times: dict[int, int] = {}
        self.earliest: dict[int, int | None] = {}
        self.latest: dict[int, int | None] = {}
        self.inferred: set[int] = set()
        self.disagreeing: set[int] = set()
        self.begins: dict[int, int] = {}
        self.ends: dict[int, int] = {}

    def run(self) -> Schedule:
        """Go through the records and put together what was found."""
        following = self._following()
        turn = self.transcript.turns[0].number
        began = self._first_time()
        for event, latest in zip(self.events, following, strict=True):
            at = self._time_of(event, latest)
            self.now = at
            if event.card.kind == "prompt":
                turn = event.card.turn
                self.begins[turn] = at
            self.ends[turn] = at
            if event.what == _DISPATCH:
                self.asked[event.card.number] = at
                self.earliest[event.card.number] = self.last
            elif event.what == _RESULT:
                self.ended[event.card.number] = at
            elif not event.card.at:
                self.times[event.card.number] = at
        return Schedule(
            self.times,
            dict(self._calls()),
            self.inferred,
            self.disagreeing,
            self._turns(),
            self._whole(began),
        )

    def _first_time(self) -> int:
        """When the first record was. What comes before the first recorded time is scheduled
        first as if it began at 0, to learn how long it takes.
        """
        for index, event in enumerate(self.events):
            if event.at:
                before = _Scheduler(self.transcript, self.events[:index])
                for earlier in before.events:
                    before.now = before._time_of(earlier, None)
                    before.asked[earlier.card.number] = before.now
                self.now = event.at - before.now
                break
        return self.now

    def _following(self) -> list[int | None]:
        """For each record, the next recorded time: its own, or that of one behind it."""
        found: list[int | None] = []
        upcoming: int | None = None
        for event in reversed(self.events):
            upcoming = event.at or upcoming
            found.append(upcoming)
        found.reverse()
        return found

    def _time_of(self, event: _Event, latest: int | None) -> int:
        number = event.card.number
        if event.what == _RESULT:
            self.latest[number] = latest
        if event.at:
            self.last = event.at
            return event.at
        if event.what != _OTHER:
            self.inferred.add(number)
        at = self.now
        if event.what == _RESULT and number in self.asked:
            assert isinstance(event.card, ToolCard)
            recorded = event.card.recorded_ms
            earliest = self.earliest.get(number)
            how = ran(recorded, None, None, earliest, latest, ended=True)
            if recorded and not how.absurd:
                at = max(at, self.asked[number] + recorded)
        if self.last is not None and latest is not None and at > latest:
            self.disagreeing.add(number)
            at = max(self.last, latest) if latest >= self.last else self.now
        return at

    def _calls(self) -> Iterator[tuple[int, Ran]]:
        for event in self.events:
            number, card = event.card.number, event.card
            if not isinstance(card, ToolCard) or (event.what == _DISPATCH and card.result):
                continue
            known = number not in self.inferred
            earliest, latest = self.earliest.get(number), self.latest.get(number)
            if not (known or card.recorded_ms):
                # The time between two records of which one is scheduled is no duration.
                earliest = latest = None
            yield (
                number,
                ran(
                    card.recorded_ms,
                    self.asked.get(number),
                    self.ended.get(number),
                    earliest,
                    latest,
                    ended=card.result is not None,
                ),
            )

    def _turns(self) -> dict[int, Window]:
        windows: dict[int, Window] = {}
        for turn in self.transcript.turns:
            number = turn.number
            if turn.at or number not in self.ends:
                continue
            end = self.ends[number]
            start = self.begins.get(number, end)
            if turn.prompt is None and self.events:
                start = self.first
            windows[number] = Window(start, end, inferred=True)
        return windows

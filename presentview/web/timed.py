"""The times of a session as its pages draw them, worked out once for what a file holds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from presentview.limits import TIMINGS_KEPT
from presentview.transcript.cards import OPEN, Card, ToolCard
from presentview.transcript.durations import ABSURD
from presentview.transcript.fold import Transcript
from presentview.transcript.timemap import TimeMap
from presentview.transcript.timings import Span, Step, Timings, timings_of

__all__ = ["Timed", "timed", "until_of"]

Extent = tuple[int, int]
T = TypeVar("T")


class Timed:
    """The timings of a transcript, and what drawings of all of it need again and again.

    It does not hold the transcript, for which it is remembered: whoever asks hands it over.
    """

    def __init__(self, transcript: Transcript) -> None:
        self.timings = timings_of(transcript)
        self._tops: dict[int, list[ToolCard]] | None = None
        self._turns: dict[int, Extent] | None = None
        self._lines: dict[int | None, TimeMap] = {}
        self._kept: dict[Hashable, Any] = {}

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` made of this session under a key, made anew only if it was forgotten."""
        if key not in self._kept:
            if len(self._kept) >= TIMINGS_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = make()
        found: T = self._kept[key]
        return found

    def tops(self, transcript: Transcript) -> dict[int, list[ToolCard]]:
        """The calls at the top, by their turn, in page order."""
        if self._tops is None:
            self._tops = {}
            for card in transcript.cards:
                if isinstance(card, ToolCard):
                    self._tops.setdefault(card.turn, []).append(card)
        return self._tops

    @cached_property
    def extents(self) -> dict[int, Extent]:
        """From when to when each call, or one nested in it, was there, by its number."""
        found: dict[int, Extent] = {}
        timings = self.timings
        for span in reversed(timings.spans):
            own = _extent(span, timings)
            inside = found.get(span.card.number)
            extent = _around(own, inside)
            if extent is None:
                continue
            found[span.card.number] = extent
            outer = span.card.parent
            while outer is not None:
                around = _around(found.get(outer.number), extent)
                assert around is not None
                found[outer.number] = around
                # A lane is no call, and hands on what is inside it.
                outer = outer.parent if outer.kind == "lane" else None
        return found

    @cached_property
    def path(self) -> tuple[Step, ...]:
        """The critical path of the session."""
        return self.timings.critical_path()

    @cached_property
    def critical(self) -> dict[int, list[Extent]]:
        """When calls were on the critical path themselves, by the numbers of their cards; empty
        where times are inferred, of which no path can be told.
        """
        found: dict[int, list[Extent]] = {}
        for step in () if self.timings.session.inferred else self.path:
            call = step.call or step.within
            if call is not None:
                found.setdefault(call.card.number, []).append((step.start, step.end))
        return found

    def turn_extents(self, transcript: Transcript) -> dict[int, Extent]:
        """From when to when each turn, or a call begun in it, was there, by its number."""
        if self._turns is None:
            found: dict[int, Extent] = {}
            for number, window in self.timings.turn_windows.items():
                found[number] = (window.start, window.end)
            for number, cards in self.tops(transcript).items():
                for card in cards:
                    around = _around(found.get(number), self.extents.get(card.number))
                    if around is not None:
                        found[number] = around
            self._turns = found
        return self._turns

    def line(self, transcript: Transcript, until: int | None) -> TimeMap:
        """The line of the session, to the moment `until` if something is still running."""
        line = self._lines.get(until)
        if line is None:
            line = TimeMap(_stretches(transcript, self.timings, until), cuts_outliers=True)
            self._lines = {until: line}
        return line


_known: WeakKeyDictionary[Transcript, tuple[Hashable, Timed]] = WeakKeyDictionary()


def timed(transcript: Transcript, version: Hashable) -> Timed:
    """The times of a transcript; the same as before while `version`, which stands for what it
    tells, is.
    """
    known = _known.get(transcript)
    if known is not None and known[0] == version:
        return known[1]
    found = Timed(transcript)
    _known[transcript] = (version, found)
    return found


def until_of(timings: Timings, *, alive: bool, now: int) -> int | None:
    """Up to when a session is drawn: `now`, if its writer is alive and a call is running whose
    dispatch is recorded; else None, for as long as it lasted.
    """
    whole = timings.whole
    if not alive or whole is None or whole.inferred or now <= whole.end:
        return None
    running = any(span.state == OPEN and span.card.at for span in timings.spans)
    return now if running else None


def _extent(span: Span, timings: Timings) -> Extent | None:
    start = span.begin
    end = timings.seen_until(span)
    if start is None:
        return None if end is None else (end, end)
    return start, start if end is None or ABSURD in span.marks else max(start, end)


def _around(one: Extent | None, other: Extent | None) -> Extent | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])


def _stretches(
    transcript: Transcript, timings: Timings, until: int | None
) -> Iterator[tuple[int, int]]:
    """When something happened: cards, and the calls as long as they lasted. A call that took
    longer than can be true is no more than its beginning.
    """
    for card in transcript.walk():
        if not isinstance(card, ToolCard) and (at := _at(card, timings)) is not None:
            yield at, max(at, card.ended_at)
    for window in timings.turn_windows.values():
        yield window.start, window.start
        yield window.end, window.end
    for span in timings.spans:
        start = span.end if span.begin is None else span.begin
        if start is None:
            continue
        if span.end is not None:
            yield start, start if ABSURD in span.marks else max(start, span.end)
        elif until is not None and span.state == OPEN:
            yield start, until
        else:
            yield start, start


def _at(card: Card, timings: Timings) -> int | None:
    return card.at or (timings.when(card) if card.kind == "prompt" else None)

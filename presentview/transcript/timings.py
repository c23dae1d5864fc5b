"""Where the time of a session went: by call, tool, turn and sub-agent, and what decided it.

Recorded times are taken as they are. Where there is none, the order of the records and the
durations give a bound, and what rests on it is marked as inferred: at least as long, at most as
much at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeVar

import msgspec

from presentview.transcript.cards import BAD, INTERRUPTED, Card
from presentview.transcript.critical import Step, critical_path
from presentview.transcript.fold import Transcript
from presentview.transcript.opening import gc_paused
from presentview.transcript.schedule import Window
from presentview.transcript.spans import Laid, Span, laid_out, union_ms

__all__ = ["MAIN", "Figures", "Span", "Step", "Timings", "Window", "by_own", "timings_of"]

MAIN: Final = ""
"""The lane of the main agent; every other is named by the card of its sub-agent."""

Key = TypeVar("Key", bound=Hashable)


class Figures(msgspec.Struct, frozen=True, gc=False):
    """What some calls add up to. Times are ms; None where nothing is known of it.

    `unknown` calls have no duration that counts; the others' are `total`, their own times
    `own`, and `p50`, `p95` and `longest` are durations of single calls (nearest rank). `wall` is
    how long the scope lasted, of a tool the session; `busy` how much of that at least one of
    the calls ran, `outside` the rest, known where all times are recorded. `parallelism` is
    their own times by the time in which any of them ran, `share` is `busy` by `wall`.

    `inferred`: a time was scheduled, so that `wall` is "at least" and `parallelism` "at most";
    `own_inferred`: so was one that `own` rests on.
    """

    calls: int
    errors: int
    unknown: int
    wall: int | None
    own: int
    total: int
    busy: int
    parallelism: float | None
    p50: int | None
    p95: int | None
    longest: int | None
    share: float | None
    outside: int | None
    waited: int
    approval: int | None
    inferred: bool
    own_inferred: bool


class Timings:
    """The times of a transcript as it was when this was made.

    `spans` are its calls in page order. Figures and paths are worked out when asked for.
    """

    def __init__(self, laid: Laid) -> None:
        self.spans = laid.spans
        self.whole = laid.whole
        self.turn_windows = laid.turns
        self._times = laid.times

    def when(self, card: Card) -> int | None:
        """When a card appeared, as recorded or else as scheduled."""
        if card.at:
            return card.at
        span = self.span(card)
        return self._times.get(card.number) if span is None else span.asked

    def span(self, card: Card) -> Span | None:
        """The span of a call; None for any other card."""
        return self._by_number.get(card.number)

    def tops_of(self, turn: int) -> Sequence[Span]:
        """The calls at the top that were dispatched in a turn, in page order."""
        return self._tops_by_turn.get(turn, ())

    def window_of(self, card: Card) -> Window | None:
        """When a call, or the sub-agent that a lane stands for, ran; None where unknown."""
        span = self.span(card)
        return self.lanes.get(card.id) if span is None else _window_of(span, ())

    def seen_until(self, span: Span) -> int | None:
        """Up to when a call was there: its end; where it has none, the end of the session, or of
        its turn if that interrupted it.
        """
        if span.end is not None:
            return span.end
        window = self.turn_windows.get(span.card.turn) if span.state == INTERRUPTED else self.whole
        if window is None or span.asked is None:
            return span.asked
        return max(span.asked, window.end)

    @cached_property
    def longest(self) -> Span | None:
        """The call at the top that took longest, the first of equal ones; None if none did."""
        tops = (span for span in self.spans if span.card.parent is None and span.duration)
        return max(tops, key=lambda span: (span.duration, -span.card.number), default=None)

    @cached_property
    def _by_number(self) -> dict[int, Span]:
        return {span.card.number: span for span in self.spans}

    @cached_property
    def _by_lane(self) -> dict[str, list[Span]]:
        return _grouped(self.spans, lambda span: span.lane)

    @cached_property
    def _by_turn(self) -> dict[int, list[Span]]:
        return _grouped(self.spans, lambda span: span.card.turn)

    @cached_property
    def lanes(self) -> dict[str, Window | None]:
        """When each agent worked that made calls: the main one as long as the session lasted, a
        sub-agent as long as its call ran, one without a record of its own from its first call's
        beginning to its last one's end.
        """
        found: dict[str, Window | None] = {MAIN: self.whole}
        for lane, made in self._by_lane.items():
            if lane != MAIN:
                outer = made[0].card.parent
                found[lane] = _window_of(self.span(outer) if outer else None, made)
        return found

    # figures

    @cached_property
    def session(self) -> Figures:
        """The figures of all calls."""
        with gc_paused():
            return figures_of(self.spans, self.whole)

    @cached_property
    def turns(self) -> dict[int, Figures]:
        """The figures of each turn with calls: of those that were dispatched in it."""
        with gc_paused():
            windows = self.turn_windows
            return {n: figures_of(spans, windows.get(n)) for n, spans in self._by_turn.items()}

    def turn(self, number: int) -> Figures | None:
        """The figures of one turn, as in `turns`; a page shows few of the many there may be."""
        spans = self._by_turn.get(number)
        return figures_of(spans, self.turn_windows.get(number)) if spans else None

    @cached_property
    def agents(self) -> dict[str, Figures]:
        """The figures of each agent that made calls, by its lane: of the calls it made itself."""
        return {lane: figures_of(spans, self.lanes[lane]) for lane, spans in self._by_lane.items()}

    @cached_property
    def tools(self) -> dict[str, Figures]:
        """The figures of each tool, by its recorded name."""
        with gc_paused():
            grouped = _grouped(self.spans, lambda span: span.card.name)
            return {name: figures_of(spans, self.whole) for name, spans in grouped.items()}

    # the critical path

    @cached_property
    def _nested(self) -> dict[int, list[Span]]:
        inside = (span for span in self.spans if span.parent >= 0)
        return _grouped(inside, lambda span: self.spans[span.parent].card.number)

    @cached_property
    def _tops_by_turn(self) -> dict[int, list[Span]]:
        return _grouped((s for s in self.spans if s.parent < 0), lambda span: span.card.turn)

    def critical_path(self, scope: str = "") -> tuple[Step, ...]:
        """The critical path of the session, of a turn (`t3`) or of a sub-agent (`c42`), in
        order; empty where its beginning or end is not known.
        """
        with gc_paused():
            window, spans = self._scope(scope)
            return critical_path(window, spans, self._nested) if window is not None else ()

    def _scope(self, scope: str) -> tuple[Window | None, Sequence[Span]]:
        if not scope:
            return self.whole, [span for span in self.spans if span.parent < 0]
        number = int(scope[1:])
        if scope.startswith("t"):
            return self.turn_windows.get(number), self._tops_by_turn.get(number, ())
        span = self._by_number.get(number)
        if span is not None:
            inside = self._nested.get(number, ())
            return _window_of(span, inside), inside
        made = self._by_lane.get(scope, ())
        return _window_of(None, made), made


def timings_of(transcript: Transcript) -> Timings:
    """The times of a transcript."""
    with gc_paused():
        return Timings(laid_out(transcript))


def by_own(tools: Mapping[str, Figures]) -> list[tuple[str, Figures]]:
    """Tools and their figures, the one that took most itself first."""
    return sorted(tools.items(), key=lambda pair: (-pair[1].own, pair[0]))


def figures_of(spans: Sequence[Span], window: Window | None) -> Figures:
    """What calls add up to that belong to a scope that lasted as long as `window`."""
    errors = own = waited = 0
    approval: int | None = None
    known: list[int] = []
    intervals: list[tuple[int, int]] = []
    inferred, own_inferred = window is not None and window.inferred, False
    for span in spans:
        if span.state in BAD:
            errors += 1
        inferred = inferred or span.inferred
        own_inferred = own_inferred or span.own_inferred
        if span.card.approval is not None:
            approval = (approval or 0) + (span.approval_waited or 0)
        if span.duration is not None:
            waited += span.waited or 0
            known.append(span.duration)
            own += span.own or 0
            if span.start is not None and span.end is not None:
                intervals.append((span.start, span.end))
    known.sort()
    intervals.sort()
    union = union_ms(intervals)
    wall = window.length if window is not None else None
    busy = union if window is None else _clipped_ms(intervals, window, union)
    return Figures(
        calls=len(spans),
        errors=errors,
        unknown=len(spans) - len(known),
        wall=wall,
        own=own,
        total=sum(known),
        busy=busy,
        parallelism=own / union if union else None,
        p50=quantile(known, 0.5),
        p95=quantile(known, 0.95),
        longest=known[-1] if known else None,
        share=busy / wall if wall else None,
        outside=wall - busy if wall is not None and not inferred else None,
        waited=max(0, waited - (approval or 0)),
        approval=approval,
        inferred=inferred,
        own_inferred=own_inferred,
    )


def quantile(ordered: Sequence[int], part: float) -> int | None:
    """The value at or below which `part` of the `ordered` ones lie, by the nearest rank."""
    if not ordered:
        return None
    return ordered[max(1, math.ceil(part * len(ordered))) - 1]


def _clipped_ms(intervals: Sequence[tuple[int, int]], window: Window, union: int) -> int:
    """How much of `window` the intervals cover, whose union is as given."""
    first, last = window.start, window.end
    if all(first <= start and end <= last for start, end in intervals):
        return union
    return union_ms([(max(start, first), min(end, last)) for start, end in intervals])


def _window_of(span: Span | None, inside: Sequence[Span]) -> Window | None:
    """When a call ran, or, if it is none, when those in it did."""
    if span is not None:
        if span.start is None or span.end is None:
            return None
        return Window(span.start, span.end, span.inferred)
    starts = [s.start for s in inside if s.start is not None]
    ends = [s.end for s in inside if s.end is not None]
    if not starts:
        return None
    return Window(min(starts), max(ends), any(s.inferred for s in inside))


def _grouped(spans: Iterable[Span], key: Callable[[Span], Key]) -> dict[Key, list[Span]]:
    groups: dict[Key, list[Span]] = {}
    for span in spans:
        groups.setdefault(key(span), []).append(span)
    return groups

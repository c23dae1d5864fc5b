"""Bars on a line of time: a few for any number of calls.

Where there is room each call has its own. Where there is not, the line is divided into columns
that are the higher the more of their time is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from presentview.transcript.cards import BAD, ToolCard
from presentview.transcript.timings import Span, Timings

__all__ = ["FULL", "Line", "Shape", "Stretch", "calls_drawn", "class_of", "drawn", "joined"]

FULL: Final = 9
"""The height of a bar, or of a column in which all of the time is taken."""

_NARROWEST: Final = 0.25
_CLOSE: Final = 0.1
_ORDER: Final = ("agent", "call", "bad")


class Line(Protocol):
    """Says where a moment lies, in %."""

    def x(self, at: int, /) -> float:
        """Where a moment (ms) lies, in %."""


class Stretch(NamedTuple):
    """Part of the line, from `begin` to `end` (%), whose place may be `inferred`."""

    begin: float
    end: float
    inferred: bool = False


class Shape(NamedTuple):
    """A bar from `x` % on, `width` % wide and up to `FULL` high; hatched if `inferred`."""

    x: float
    width: float
    css_class: str
    inferred: bool = False
    height: int = FULL


def calls_drawn(
    spans: Iterable[Span],
    timings: Timings,
    line: Line,
    most: int,
    *,
    narrowest: float = _NARROWEST,
) -> list[Shape]:
    """The bars of some calls, about `most`: how long they waited, and how long they ran. Those
    without an end are `open` as long as they were there. None is narrower than `narrowest` %.
    """
    thin: dict[str, list[Stretch]] = {"wait": [], "open": []}
    ran: dict[str, list[Stretch]] = {}
    for span in spans:
        if span.start is not None and span.end is not None:
            begin = line.x(span.start)
            stretch = Stretch(begin, line.x(span.end), span.inferred)
            ran.setdefault(class_of(span.card), []).append(stretch)
            if span.asked is not None and span.asked < span.start:
                waited = Stretch(line.x(span.asked), begin, span.inferred)
                if waited.end - waited.begin > _NARROWEST:
                    thin["wait"].append(waited)
        elif span.end is None and span.asked is not None:
            until = line.x(timings.seen_until(span) or span.asked)
            thin["open"].append(Stretch(line.x(span.asked), until, span.inferred))
    quarter = max(1, most // 4) if thin["wait"] or thin["open"] else 0
    return drawn(thin, quarter, narrowest) + drawn(ran, max(1, most - quarter), narrowest)


def class_of(card: ToolCard) -> str:
    """What a bar of a call is drawn as: "bad" if it failed, else "agent" or "call"."""
    if card.state in BAD:
        return "bad"
    return "agent" if card.steps or card.tool_face == "agent" else "call"


def drawn(
    stretches: dict[str, list[Stretch]], most: int, narrowest: float = _NARROWEST
) -> list[Shape]:
    """Bars for the stretches of each class, `most` at the most."""
    names = sorted(stretches, key=lambda name: _ORDER.index(name) if name in _ORDER else -1)
    bars = [(name, one) for name in names for one in joined(stretches[name])]
    if len(bars) <= most:
        return [_shape(name, one, narrowest) for name, one in bars]
    return _columns(stretches, most)


def joined(stretches: Sequence[Stretch]) -> list[Stretch]:
    """The stretches in order, those as one that touch or are less than a pixel apart."""
    found: list[Stretch] = []
    for one in sorted(stretches):
        if found and one.begin - found[-1].end < _CLOSE:
            last = found[-1]
            end, inferred = max(last.end, one.end), last.inferred or one.inferred
            found[-1] = Stretch(last.begin, end, inferred)
        else:
            found.append(one)
    return found


def _columns(stretches: dict[str, list[Stretch]], count: int) -> list[Shape]:
    """So many columns side by side, each of the class that takes most of its time."""
    width = 100 / count
    taken = {name: _taken(found, count) for name, found in stretches.items()}
    inferred = any(one.inferred for found in stretches.values() for one in found)
    shapes: list[Shape] = []
    for index in range(count):
        share, name = max((shares[index], name) for name, shares in taken.items())
        whole = min(1.0, sum(shares[index] for shares in taken.values()))
        if share > 1e-9:
            height = max(2, round(FULL * whole))
            x = round(index * width, 2)
            shapes.append(Shape(x, round(width, 2), name, inferred, height))
    return shapes


def _taken(stretches: Iterable[Stretch], count: int) -> list[float]:
    """How much of each of `count` equal parts of the line the stretches take."""
    parts = [0.0] * count
    steps = [0] * (count + 1)
    for one in stretches:
        begin, end = one.begin * count / 100, one.end * count / 100
        first, last = min(count - 1, int(begin)), min(count - 1, int(end))
        if first == last:
            parts[first] += end - begin
        else:
            parts[first] += first + 1 - begin
            parts[last] += end - last
            steps[first + 1] += 1
            steps[last] -= 1
    full = 0
    for index in range(count):
        full += steps[index]
        parts[index] += full
    return parts


def _shape(name: str, one: Stretch, narrowest: float) -> Shape:
    width = max(narrowest, one.end - one.begin)
    return Shape(round(min(one.begin, 100 - width), 2), round(width, 2), name, one.inferred)

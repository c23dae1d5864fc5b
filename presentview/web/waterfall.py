"""One line of bars that shows when a sub-agent's calls ran."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from presentview import units
from presentview.limits import SUBJECT_CHARS
from presentview.transcript.cards import ToolCard
from presentview.transcript.durations import ran_as_recorded
from presentview.transcript.spans import union_ms
from presentview.web.bars import class_of

__all__ = ["WIDTH", "Bar", "Waterfall", "waterfall"]

WIDTH: Final = 800
_NARROWEST: Final = 2
_MOST_BARS: Final = 200


class Bar(NamedTuple):
    """A bar from `x`, `width` wide, in units of which the whole line has `WIDTH`."""

    x: int
    width: int
    css_class: str


class Waterfall(NamedTuple):
    """A line of bars with what they add up to in words, and what these words mean."""

    bars: tuple[Bar, ...]
    figures: str
    title: str


def waterfall(card: ToolCard) -> Waterfall | None:
    """The line of the calls nested directly in `card`, or in its lanes; None unless their times
    were recorded.

    A call has a bar for the time it ran and, in front of it, one for the time it waited.
    Calls without an end are left out: a line that grows would differ each time it is drawn.
    """
    spans: list[tuple[int, int, int, ToolCard]] = []
    calls = list(_calls_of(card))
    for call in calls[:_MOST_BARS]:
        asked, begin, end, _, _ = ran_as_recorded(call)
        if asked is not None and begin is not None and end is not None:
            spans.append((asked, begin, end, call))
    if not spans:
        return None
    start = card.at or min(span[0] for span in spans)
    end = max(card.ended_at, *(span[2] for span in spans))
    scale = _Scale(start, max(1, end - start))
    waits = [scale.bar(asked, begin, "wait") for asked, begin, _, _ in spans if asked < begin]
    bars = (*waits, *(scale.bar(begin, end, class_of(child)) for _, begin, end, child in spans))
    if len(calls) > _MOST_BARS:
        return Waterfall(bars, "", "")  # what is not drawn would be missing in the figures too
    busy = union_ms([(max(begin, start), min(end, scale.end)) for _, begin, end, _ in spans])
    longest = max(spans, key=lambda span: (span[2] - span[1], -span[3].number))
    named = f"{longest[3].name} {longest[3].face}".strip()[:SUBJECT_CHARS]
    return Waterfall(
        bars,
        f"{units.duration(busy)} in tools",
        f"at least one of its calls ran; the longest was {named}, "
        f"{units.duration(longest[2] - longest[1])}",
    )


def _calls_of(card: ToolCard) -> Iterator[ToolCard]:
    for child in card.children or ():
        if isinstance(child, ToolCard):
            if child.kind == "lane":
                yield from (c for c in child.children or () if isinstance(c, ToolCard))
            else:
                yield child


class _Scale(NamedTuple):
    """A stretch of time that a line shows."""

    start: int
    length: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + self.length

    def bar(self, begin: int, end: int, css_class: str) -> Bar:
        """The bar of what lasted from `begin` to `end`."""
        begin = max(begin, self.start)
        x = min((begin - self.start) * WIDTH // self.length, WIDTH - _NARROWEST)
        width = max(_NARROWEST, (end - begin) * WIDTH // self.length)
        return Bar(x, min(width, WIDTH - x), css_class)

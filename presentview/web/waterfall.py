"""One line of bars that shows when a sub-agent's calls ran."""

from __future__ import annotations

from typing import Final, NamedTuple

from presentview.transcript.cards import BAD, ToolCard
from presentview.transcript.durations import ran_as_recorded

__all__ = ["WIDTH", "Bar", "waterfall"]

WIDTH: Final = 800
_NARROWEST: Final = 2
_MOST_BARS: Final = 200


class Bar(NamedTuple):
    """A bar from `x`, `width` wide, in units of which the whole line has `WIDTH`."""

    x: int
    width: int
    css_class: str


def waterfall(card: ToolCard) -> tuple[Bar, ...]:
    """The bars of the calls nested directly in `card`; none unless their times were recorded.

    A call has a bar for the time it ran and, in front of it, one for the time it waited.
    Calls without an end are left out: a line that grows would differ each time it is drawn.
    """
    spans: list[tuple[int, int, int, ToolCard]] = []
    for child in (card.children or ())[:_MOST_BARS]:
        if isinstance(child, ToolCard):
            asked, begin, end, _, _ = ran_as_recorded(child)
            if asked is not None and begin is not None and end is not None:
                spans.append((asked, begin, end, child))
    if not spans:
        return ()
    start = card.at or min(span[0] for span in spans)
    end = max(card.ended_at, *(span[2] for span in spans))
    scale = _Scale(start, max(1, end - start))
    waits = [scale.bar(asked, begin, "wait") for asked, begin, _, _ in spans if asked < begin]
    return (*waits, *(scale.bar(begin, end, _kind(child)) for _, begin, end, child in spans))


class _Scale(NamedTuple):
    """A stretch of time that a line shows."""

    start: int
    length: int

    def bar(self, begin: int, end: int, css_class: str) -> Bar:
        """The bar of what lasted from `begin` to `end`."""
        begin = max(begin, self.start)
        x = min((begin - self.start) * WIDTH // self.length, WIDTH - _NARROWEST)
        width = max(_NARROWEST, (end - begin) * WIDTH // self.length)
        return Bar(x, min(width, WIDTH - x), css_class)


def _kind(call: ToolCard) -> str:
    if call.state in BAD:
        return "bad"
    return "agent" if call.steps else "call"

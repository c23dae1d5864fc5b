"""One line of bars that shows when a sub-agent's calls ran."""

from __future__ import annotations

from typing import Final, NamedTuple

from presentview.transcript.cards import BAD, ToolCard

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

    Calls without an end are left out: a line that grows would differ each time it is drawn.
    """
    spans = [
        (child.at, child.at + (child.duration_ms or 0), child)
        for child in (card.children or ())[:_MOST_BARS]
        if isinstance(child, ToolCard) and child.at and child.duration_ms is not None
    ]
    if not spans:
        return ()
    start = card.at or min(span[0] for span in spans)
    end = max(card.ended_at, *(span[1] for span in spans))
    length = max(1, end - start)
    bars: list[Bar] = []
    for begin, finish, child in spans:
        x = min(max(0, begin - start) * WIDTH // length, WIDTH - _NARROWEST)
        width = max(_NARROWEST, (finish - begin) * WIDTH // length)
        kind = "bad" if child.state in BAD else "agent" if child.steps else "call"
        bars.append(Bar(x, min(width, WIDTH - x), kind))
    return tuple(bars)

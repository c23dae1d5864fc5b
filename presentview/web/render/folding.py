"""Long terminal output with its middle behind a fold."""

from __future__ import annotations

from typing import Final, NamedTuple

from markupsafe import Markup

from presentview.web.render.ansi import render_ansi

__all__ = ["Folded", "folded"]

_HEAD_LINES: Final = 5
_TAIL_LINES: Final = 5
_ALL_LINES: Final = 24


class Folded(NamedTuple):
    """Terminal output as HTML: the `head` that is shown, the `middle` behind a fold with its
    number of `lines`, the `tail`.
    """

    head: Markup
    middle: Markup
    tail: Markup
    lines: int


def folded(text: str) -> Folded:
    """Terminal output with all but its first and last lines behind a fold, if it is long.

    It is drawn as a whole first: a colour may begin in one part and end in another.
    """
    lines = render_ansi(text.removesuffix("\n")).split("\n")
    joined = Markup("\n").join
    if len(lines) <= _ALL_LINES:
        return Folded(joined(lines), Markup(""), Markup(""), 0)
    middle = lines[_HEAD_LINES:-_TAIL_LINES]
    return Folded(
        joined(lines[:_HEAD_LINES]), joined(middle), joined(lines[-_TAIL_LINES:]), len(middle)
    )

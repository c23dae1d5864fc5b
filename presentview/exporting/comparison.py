"""Two sessions side by side, tool by tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from presentview import units
from presentview.exporting.columns import Column, table
from presentview.exporting.timing_document import figures_document
from presentview.exporting.timing_text import figures_line
from presentview.follow import Follower
from presentview.terminal import safe_line
from presentview.transcript.timings import Figures, Timings, timings_of

__all__ = ["comparison_document", "comparison_lines"]

_NAME: Final = 36
_COLUMNS: Final = (
    Column("tool"),
    *(
        Column(name, is_number=True)
        for name in ("calls A", "calls B", "own A", "own B", "difference", "p50 A", "p50 B")
    ),
)


def comparison_lines(one: Follower, other: Follower) -> Iterator[str]:
    """What two sessions took, as lines of text; the tools that differ most come first."""
    pair = (timings_of(one.transcript), timings_of(other.transcript))
    for letter, follower, timings in zip("AB", (one, other), pair, strict=True):
        yield f"{letter}  {safe_line(follower.transcript.title or follower.path.name)}"
        yield f"   {figures_line(timings.session)}"
    yield ""
    rows = []
    for name in _names(*pair):
        mine, theirs = (timings.tools.get(name) for timings in pair)
        rows.append(
            (
                safe_line(name)[:_NAME] or "unnamed",
                *(f"{figures.calls:,}" if figures else "" for figures in (mine, theirs)),
                *(_own(figures) for figures in (mine, theirs)),
                _signed(_difference(mine, theirs)),
                *(units.duration(figures.p50) if figures else "" for figures in (mine, theirs)),
            )
        )
    yield from table(_COLUMNS, rows)


def comparison_document(one: Follower, other: Follower) -> dict[str, Any]:
    """The same as JSON values: `a` and `b` are the sessions, `tools` has both and the
    difference of their own times (ms, null where one has none).
    """
    a, b = timings_of(one.transcript), timings_of(other.transcript)
    return {
        "a": {"title": one.transcript.title} | figures_document(a.session),
        "b": {"title": other.transcript.title} | figures_document(b.session),
        "tools": [
            {
                "name": name,
                "a": figures_document(a.tools[name]) if name in a.tools else None,
                "b": figures_document(b.tools[name]) if name in b.tools else None,
                "own_difference_ms": _difference(a.tools.get(name), b.tools.get(name)),
            }
            for name in _names(a, b)
        ],
    }


def _names(one: Timings, other: Timings) -> list[str]:
    def apart(name: str) -> tuple[int, str]:
        mine, theirs = (timings.tools.get(name) for timings in (one, other))
        return -abs((mine.own if mine else 0) - (theirs.own if theirs else 0)), name

    return sorted(one.tools.keys() | other.tools.keys(), key=apart)


def _own(figures: Figures | None) -> str:
    if figures is None or not figures.total:
        return ""
    return units.bounded(figures.own, "≤", inferred=figures.own_inferred)


def _difference(mine: Figures | None, theirs: Figures | None) -> int | None:
    """By how many ms B's calls took longer themselves; None unless both used the tool."""
    return None if mine is None or theirs is None else theirs.own - mine.own


def _signed(ms: int | None) -> str:
    if ms is None:
        return ""
    sign = "+" if ms > 0 else "−" if ms < 0 else ""
    return sign + units.duration(abs(ms))

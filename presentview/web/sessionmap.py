"""The map of a whole session: what lies where, in few enough marks for any length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from markupsafe import Markup

from presentview.limits import MAP_BUCKETS
from presentview.transcript.cards import BAD, Card, ToolCard
from presentview.web.rows import Row
from presentview.web.templating import render

__all__ = ["Tick", "map_of", "ticks"]

_RANKS: Final = {"bad": 3, "compaction": 2, "edit": 1, "warn": 0}


class Tick(NamedTuple):
    """A stretch of the map, from 0 to 199, and the most telling thing in it."""

    at: int
    css_class: str


def map_of(row: Row) -> Markup:
    """The marks of a row of cards as SVG, all of a kind in one path."""
    paths: dict[str, list[str]] = {}
    for tick in ticks(row):
        paths.setdefault(tick.css_class, []).append(f"M3 {tick.at}h8v1.4h-8z")
    return render(
        "_ticks.html", paths={name: "".join(path) for name, path in paths.items()}
    ).strip()


def ticks(row: Row) -> Iterator[Tick]:
    """The marks of a row: where errors, compactions, edits and warnings lie, by the heights its
    cards will have.
    """
    whole = sum(section.height for section in row.sections)
    found: dict[int, str] = {}
    y = 0
    for section in row.sections:
        for index in range(section.start, section.start + section.size):
            mark = _mark(row.cards[index])
            if mark:
                inside = section.height * (index - section.start) / section.size
                bucket = min(MAP_BUCKETS - 1, int((y + inside) * MAP_BUCKETS / max(whole, 1)))
                if _RANKS[mark] > _RANKS.get(found.get(bucket, ""), -1):
                    found[bucket] = mark
        y += section.height
    yield from (Tick(bucket, found[bucket]) for bucket in sorted(found))


def _mark(card: Card) -> str:
    if isinstance(card, ToolCard):
        if card.state in BAD or card.faults:
            return "bad"
        return "edit" if card.added or card.removed else ""
    if card.kind == "turn_error":
        return "bad"
    if card.kind == "compaction":
        return "compaction"
    return "warn" if card.kind == "notice" and card.level == "warn" else ""

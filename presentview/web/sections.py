"""Sections: a long row of cards in pieces that a page can fill and empty.

A page holds only the sections near what is being looked at; for all others it needs to know how
high they will be. That is estimated here, from what the fold kept of each card.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from presentview.limits import SECTION_CARDS, SECTION_WEIGHT
from presentview.transcript.cards import FAILED, OPEN, Card, Place, ToolCard
from presentview.web.faces import opens_diff

__all__ = ["Section", "estimate", "section_at", "split"]

_CLOSED: Final = 48
_ROW: Final = 34
_LINE: Final = 20
_TEXT_LINE: Final = 24
_LINE_BYTES: Final = 110
_MOST_LINES: Final = 400
_OUTPUT_LINES: Final = 24
_NODES: Final = {"notice": 8, "usage": 5, "phase": 8, "reasoning": 12, "prompt": 10, "message": 14}
_CALL_NODES: Final = 14
_LINE_NODES: Final = 6


class Section(NamedTuple):
    """A piece of a row of cards: the index of its first card, how many there are, and about how
    many px they will take.
    """

    start: int
    size: int
    height: int


class _Size(NamedTuple):
    height: int
    nodes: int


def split(cards: Sequence[Card], known: Sequence[Section] = ()) -> list[Section]:
    """Cut a row of cards into sections; those `known` stay as they are, but for the last."""
    sections = list(known[:-1])
    start = sections[-1].start + sections[-1].size if sections else 0
    height = weight = 0
    for index in range(start, len(cards)):
        size = estimate(cards[index])
        full = weight + size.nodes > SECTION_WEIGHT or index - start == SECTION_CARDS
        if full and index > start:
            sections.append(Section(start, index - start, height))
            start, height, weight = index, 0, 0
        height += size.height
        weight += size.nodes
    if start < len(cards):
        sections.append(Section(start, len(cards) - start, height))
    return sections


def section_at(sections: Sequence[Section], index: int) -> int:
    """The number of the section in which the card at `index` stands."""
    low, high = 0, len(sections)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sections[middle].start <= index else (low, middle)
    return low


def estimate(card: Card) -> _Size:
    """About how many px, and elements, a card takes as a page shows it at first."""
    kind = card.kind
    if isinstance(card, ToolCard):
        if opens_diff(card):
            lines = card.diff_lines
            return _Size(_CLOSED + 50 + lines * _LINE, _CALL_NODES + lines * _LINE_NODES)
        if card.state == FAILED:
            lines = min(card.lines, _OUTPUT_LINES)
            return _Size(_CLOSED + 90 + lines * _LINE, _CALL_NODES + 20 + lines)
        if card.state == OPEN and card.children:
            shown = min(len(card.children), SECTION_CARDS)
            return _Size(_CLOSED + 30 + shown * _CLOSED, _CALL_NODES * (1 + shown))
        return _Size(_CLOSED, _CALL_NODES)
    if kind in ("message", "prompt"):
        lines = min(_MOST_LINES, 1 + _bytes(card) // _LINE_BYTES)
        head = 70 if kind == "prompt" else 30
        return _Size(head + lines * _TEXT_LINE, _NODES[kind] + lines)
    height = _CLOSED if kind in ("compaction", "collab", "unknown") else _ROW
    return _Size(height, _NODES.get(kind, 12))


def _bytes(card: Card) -> int:
    return sum(part.length for part in card.parts if isinstance(part, Place))

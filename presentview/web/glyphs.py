"""The marks on a drawing of a session: errors, retries, compactions, output that was cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from presentview import units
from presentview.transcript.cards import BAD, Card, ToolCard
from presentview.transcript.timemap import TimeMap
from presentview.transcript.timings import Timings

__all__ = ["Glyph", "Marked", "glyphs_of", "marked_cards"]

_NOUNS: Final = {
    "error": ("error", "errors"),
    "compaction": ("compaction", "compactions"),
    "retry": ("retry", "retries"),
    "cut": ("output cut", "outputs cut"),
}
"""The marks, the most telling first, with the words for one and for several."""

_RANKS: Final = {kind: rank for rank, kind in enumerate(_NOUNS)}
_CLOSE: Final = 1.4
_FACE_CHARS: Final = 80


class Marked(NamedTuple):
    """A card with a mark, and when it got it."""

    at: int
    kind: str
    card: Card


class Glyph(NamedTuple):
    """A mark at `x` % that leads to a card; `label` says what all it stands for."""

    x: float
    kind: str
    card_id: str
    label: str


def marked_cards(cards: Iterable[Card], timings: Timings) -> dict[str, list[Marked]]:
    """The cards with a mark and a time, by the card of the agent they belong to."""
    found: dict[str, list[Marked]] = {}
    for card in cards:
        kind = _kind(card)
        if not kind:
            continue
        span = timings.span(card)
        at = timings.when(card) if span is None or span.end is None else span.end
        if at is not None:
            lane = card.parent.id if card.parent else ""
            found.setdefault(lane, []).append(Marked(at, kind, card))
    return found


def _kind(card: Card) -> str:
    if isinstance(card, ToolCard):
        if card.state in BAD:
            return "error"
        return "cut" if card.truncated else ""
    if card.kind == "turn_error":
        return "error" if card.state in BAD else ""
    return card.kind if card.kind in ("retry", "compaction") else ""


def glyphs_of(marked: Sequence[Marked], line: TimeMap, most: int) -> list[Glyph]:
    """The marks on one row, at most so many: those close to each other become one."""
    if not marked or most < 1:
        return []
    placed = sorted(((line.x(one.at), one) for one in marked), key=lambda pair: pair[0])
    close = _CLOSE
    while True:
        groups = _grouped(placed, close)
        if len(groups) <= most:
            return [_glyph(group) for group in groups]
        close *= 2


def _grouped(
    placed: Sequence[tuple[float, Marked]], close: float
) -> list[list[tuple[float, Marked]]]:
    groups: list[list[tuple[float, Marked]]] = []
    for x, one in placed:
        if groups and x - groups[-1][0][0] < close:
            groups[-1].append((x, one))
        else:
            groups.append([(x, one)])
    return groups


def _glyph(group: Sequence[tuple[float, Marked]]) -> Glyph:
    x, shown = min(group, key=lambda pair: _RANKS[pair[1].kind])
    card = shown.card
    named = " ".join(part for part in (getattr(card, "name", ""), card.face) if part)
    label = f"{_NOUNS[shown.kind][0].capitalize()}: {named[:_FACE_CHARS] or card.kind}"
    if len(group) > 1:
        counts = {kind: sum(1 for _, one in group if one.kind == kind) for kind in _NOUNS}
        words = [units.plural(n, *_NOUNS[kind]) for kind, n in counts.items() if n]
        label = f"{', '.join(words)}; first {label[0].lower()}{label[1:]}"
    return Glyph(round(x, 2), shown.kind, card.id, label)

"""Which cards a record of the file belongs to, found without an index of the whole file.

A record's turn is found by the prompts, which stand in the file in order. Most records belong to
cards that appeared in their own turn; the few that do not (the result of a call sent to the
background, a compaction that ended later) are collected when one is looked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from presentview.transcript.cards import Card, Place, ToolCard, Turn, places_of
from presentview.transcript.fold import Transcript

__all__ = ["Owned", "Owners"]


class Owned(NamedTuple):
    """A record by its place, and a card that shows something of it."""

    place: Place
    card: Card


class Owners:
    """The cards of `transcript` by the bytes of their records, as long as it does not change."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._by_turn: dict[int, list[Owned]] = {}
        self._late: list[Owned] | None = None

    def at(self, offset: int, *, late: bool = True) -> list[Owned]:
        """The cards that show something of the record at this byte, empty if none does.

        With `late` false only cards that appeared in the record's own turn are looked at.
        """
        turns = self._transcript.turns
        index = max(0, bisect_right(turns, offset, key=_begin) - 1)
        found = _around(self._of_turn(index), offset)
        return _around(self._latecomers(), offset) if late and not found else found

    def _of_turn(self, index: int) -> list[Owned]:
        """The records of the cards that appeared in a turn, by their places."""
        found = self._by_turn.get(index)
        if found is None:
            transcript = self._transcript
            turns = transcript.turns
            start = _first(turns[index]) or transcript.tree.first
            following = _first(turns[index + 1]) if index + 1 < len(turns) else 0
            end = following or transcript.tree.next_number
            cards = (transcript.card(f"c{number}") for number in range(start, end))
            found = _by_place(
                Owned(place, card)
                for card in cards
                if card is not None
                for place in places_of(card)
            )
            self._by_turn[index] = found
        return found

    def _latecomers(self) -> list[Owned]:
        """The records that came after the turn in which their card appeared."""
        if self._late is None:
            transcript = self._transcript
            turns = transcript.turns
            least = turns[0].number
            ends = [_begin(turn) for turn in turns[1:]]
            # Asked of every card there is: most are told by one look at their last record.
            late: list[Owned] = []
            for card in transcript.walk():
                index = card.turn - least
                if index >= len(ends):
                    continue
                end = ends[index]
                if card.kind == "tool" and type(card) is ToolCard:
                    last = card.result
                    is_simple = not card.progress and card.dispatch is not last
                    if is_simple and type(last) is Place and last.offset < end:
                        continue
                late += (Owned(place, card) for place in places_of(card) if place.offset >= end)
            self._late = _by_place(late)
        return self._late


def _begin(turn: Turn) -> int:
    part = turn.prompt.parts[0] if turn.prompt else None
    return part.offset if isinstance(part, Place) else -1


def _first(turn: Turn) -> int:
    return turn.prompt.number if turn.prompt else 0


def _by_place(found: Iterable[Owned]) -> list[Owned]:
    return sorted(found, key=lambda owned: (owned.place.offset, owned.card.number))


def _around(owned: list[Owned], offset: int) -> list[Owned]:
    """Those among `owned`, in order of their places, whose record holds the byte `offset`."""
    index = bisect_right(owned, offset, key=lambda one: one.place.offset)
    found: list[Owned] = []
    while index and (not found or owned[index - 1].place == found[0].place):
        index -= 1
        found.append(owned[index])
    if not found or offset >= found[0].place.offset + found[0].place.length:
        return []
    return found[::-1]

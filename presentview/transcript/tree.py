"""The cards in page order, and the one place where they are added, moved and counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from presentview.transcript.cards import Card, Change, ToolCard

__all__ = ["Tree", "condensed", "in_page_order"]


class Tree:
    """Every card of a transcript, by number and by place.

    `top` are the top-level cards in page order and `next_number` is that of the next card to be
    added. While `changes` is a list, each change is appended to it.
    """

    def __init__(self, first: int) -> None:
        self.top: list[Card] = []
        self.changes: list[Change] | None = None
        self.first = first
        self.next_number = first
        self._all: list[Card] = []

    def __len__(self) -> int:
        return len(self._all)

    def find(self, card_id: str) -> Card | None:
        """The card with this id, None if there is none."""
        try:
            index = int(card_id[1:]) - self.first
        except ValueError:
            return None
        if not 0 <= index < len(self._all) or self._all[index].id != card_id:
            return None
        return self._all[index]

    def walk(self) -> Iterator[Card]:
        """Every card in page order, parents before children."""
        return in_page_order(self.top)

    def add(
        self, card: Card, before: Card | None = None, *, parent: ToolCard | None = None
    ) -> None:
        """Put a new card last under `parent` (None: at the top), or in front of `before`."""
        self._all.append(card)
        self.next_number += 1
        if parent is None and before is None:
            self.top.append(card)
        else:
            self._insert(card, parent, before)
        if self.changes is not None:
            self._note("add", card, before)
        if parent is not None:
            self._count(card, 1)

    def move(self, card: Card, parent: ToolCard | None) -> None:
        """Put a card under another parent, among its children in order of appearance."""
        siblings = self._siblings(card.parent)
        siblings.remove(card)
        if card.parent is not None:
            self._count(card, -1)
        following = self._following(card, parent)
        self._insert(card, parent, following)
        if self.changes is not None:
            self._note("move", card, following)
        if parent is not None:
            self._count(card, 1)

    def changed(self, card: Card) -> None:
        """Note that `card` looks different now, and so do the cards that tell of it."""
        changes = self.changes
        if changes is None:
            return
        changes.append(Change("replace", card.id))
        changes += (Change("replace", outer.id) for outer in card.ancestors())
        changes += (
            Change("replace", child.id) for child in card.children or () if child.kind == "lane"
        )

    def _note(self, op: Literal["add", "move"], card: Card, before: Card | None) -> None:
        assert self.changes is not None
        outer = card.parent.id if card.parent else None
        self.changes.append(Change(op, card.id, outer, before.id if before else None))

    def _insert(self, card: Card, parent: ToolCard | None, before: Card | None) -> None:
        card.parent = parent
        siblings = self._siblings(parent)
        if before is None:
            siblings.append(card)
        elif siblings[-1] is before:
            siblings.insert(-1, card)
        else:
            siblings.insert(siblings.index(before), card)

    def _siblings(self, parent: ToolCard | None) -> list[Card]:
        if parent is None:
            return self.top
        if parent.children is None:
            parent.children = []
        return parent.children

    def _following(self, card: Card, parent: ToolCard | None) -> Card | None:
        """The sibling in front of which `card` belongs: by appearance, and in its own turn, whose
        footer stays last.
        """
        siblings = self._siblings(parent)
        if parent is not None and (not siblings or siblings[-1].number < card.number):
            return None
        footer: Card | None = None
        for other in siblings:
            if other.kind == "usage":
                footer = other if other.turn == card.turn else None
            elif other.number > card.number:
                return footer or other
            else:
                footer = None
        return footer

    def _count(self, card: Card, sign: int) -> None:
        """Add a nested card's calls and failures to all cards around it, or take them away."""
        if not isinstance(card, ToolCard):
            return
        steps = sign * (card.steps + (card.kind == "tool"))
        faults = sign * (card.faults + card.failed)
        for outer in card.ancestors():
            outer.steps += steps
            outer.faults += faults
            if self.changes is not None:
                self.changes.append(Change("replace", outer.id))


def in_page_order(cards: Sequence[Card]) -> Iterator[Card]:
    """Cards that stand side by side and all that is nested in them, parents before children,
    however deep they are nested.
    """
    stack = list(reversed(cards))
    while stack:
        card = stack.pop()
        yield card
        if card.children:
            stack += reversed(card.children)


def condensed(changes: list[Change]) -> tuple[Change, ...]:
    """`changes` with at most one replacement of each card, and none of one that was just added.

    A card is drawn as it is after the whole record, so one replacement is enough.
    """
    if len(changes) < 2:
        return tuple(changes)
    seen = {change.card for change in changes if change.op == "add"}
    kept: list[Change] = []
    for change in reversed(changes):
        if change.op == "replace":
            if change.card in seen:
                continue
            seen.add(change.card)
        kept.append(change)
    kept.reverse()
    return tuple(kept)

"""The model's answer as it comes in: streamed reasoning and text, and the whole message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from presentview.records import Record
from presentview.transcript.cards import DONE, INTERRUPTED, OPEN, Card, Part
from presentview.transcript.faces import first_line
from presentview.transcript.tree import Tree

__all__ = ["AddCard", "Answer"]


class AddCard(Protocol):
    """Puts a new card at the end of the turn."""

    def __call__(
        self,
        kind: str,
        record: Record,
        part: Part,
        *,
        state: str | None = None,
        face: str = "",
        before: Card | None = None,
    ) -> Card:
        """A new card of a record, in front of another one if that is given."""
        ...


class Answer:
    """The `reasoning` and the message that are being streamed, if any are."""

    def __init__(self, tree: Tree, add: AddCard) -> None:
        self._tree = tree
        self._add = add
        self._message: Card | None = None
        self.reasoning: Card | None = None

    def unfinished(self) -> Iterator[Card]:
        """The cards to which something may be added."""
        return (c for c in (self.reasoning, self._message) if c and c.state == OPEN)

    def text_delta(self, record: Record, part: Part) -> None:
        """Add a piece of the message."""
        self.end_thought(record.at)
        if record.text:
            self._message = self._streamed("message", self._message, record, part)

    def reasoning_delta(self, record: Record, part: Part) -> None:
        """Add a piece of the reasoning."""
        if record.text:
            self.reasoning = card = self._streamed("reasoning", self.reasoning, record, part)
            if not card.face:
                card.face = first_line(record.text)

    def whole_message(self, record: Record, part: Part) -> None:
        """Take the whole of what was streamed, or was not."""
        self.end_thought(record.at)
        if record.reasoning:
            if self.reasoning is None:
                self.reasoning = self._add("reasoning", record, part, before=self._message)
            self.reasoning.parts = (part,)
            self.reasoning.face = first_line(record.reasoning)
        if record.text:
            if self._message is None:
                self._message = self._add("message", record, part)
            self._message.parts = (part,)
        if self._message is not None:
            self._message.ended_at = record.at
        self.end(DONE)

    def end_thought(self, at: int) -> None:
        """Say that something else follows the reasoning, if there is any."""
        card = self.reasoning
        if card is not None and card.state == OPEN:
            card.state = DONE
            card.ended_at = at
            self._tree.changed(card)

    def end(self, state: str) -> None:
        """Close the streamed reasoning and message: nothing is added to them any more."""
        for card in (self.reasoning, self._message):
            if card is not None:
                if card.state != DONE:
                    card.state = state
                if type(card.parts) is list:
                    card.parts = tuple(card.parts)
                self._tree.changed(card)
        self.reasoning = self._message = None

    def cut(self) -> None:
        """Close an answer that never came to its end; what was streamed of it stays."""
        self.end(INTERRUPTED)

    def _streamed(self, kind: str, card: Card | None, record: Record, part: Part) -> Card:
        """Add a piece to the streamed `card`, which it begins if there is none."""
        if card is None:
            return self._add(kind, record, part, state=OPEN)
        parts = card.parts
        if type(parts) is list:
            parts.append(part)
        else:
            card.parts = [*parts, part]
        if self._tree.changes is not None:
            self._tree.changed(card)
        return card

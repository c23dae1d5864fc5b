"""The rows of cards that pages of one session show, and where a card stands in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from presentview.limits import VIEWS_KEPT
from presentview.transcript.cards import Card, Change
from presentview.transcript.fold import Transcript
from presentview.web.sections import Section, split
from presentview.web.views import EVERYTHING, View, cards_of

__all__ = ["END", "Row", "Rows"]

END: Final = "end"
"""Names the last card of a row, whichever that is."""


class Row:
    """The cards at the top of a page, in page order, and the sections they come in."""

    def __init__(self, cards: Sequence[Card], sections: Sequence[Section]) -> None:
        self.cards = cards
        self.sections = sections

    @cached_property
    def table(self) -> str:
        """All sections for a page: by how much the number of the first card differs from that of
        the section before, and the height in px.
        """
        numbers = [self.cards[section.start].number for section in self.sections]
        steps = [number - before for before, number in zip([0, *numbers], numbers, strict=False)]
        pairs = zip(steps, self.sections, strict=True)
        return " ".join(f"{step},{section.height}" for step, section in pairs)

    def index_of(self, wanted: str, transcript: Transcript) -> int:
        """Where the card with this id stands, or the one it is nested in, or else the next one
        there is; 0 if the id is none.
        """
        if wanted == END:
            return max(0, len(self.cards) - 1)
        card = transcript.card(wanted)
        if card is None:
            return 0
        for outer in (card, *card.ancestors()):
            try:
                return self.cards.index(outer)
            except ValueError:
                continue
        top = next((outer for outer in card.ancestors() if outer.parent is None), card)
        later = (i for i, other in enumerate(self.cards) if other.number > top.number)
        return next(later, max(0, len(self.cards) - 1))


class Rows:
    """The row of each view that was asked for since the cards last changed.

    The sections of everything are kept while cards are only added at its end, so that a page of
    a long session that is being recorded costs what is new.
    """

    def __init__(self) -> None:
        self._rows: dict[View, Row] = {}
        self._sections: list[Section] = []

    def of(self, view: View, transcript: Transcript, *, alive: bool) -> Row:
        """The row of a view of `transcript`, which is always the same one between resets."""
        row = self._rows.get(view)
        if row is None:
            cards = cards_of(view, transcript, alive=alive)
            if view == EVERYTHING:
                self._sections = sections = split(cards, self._sections)
            else:
                sections = split(cards)
            row = Row(cards, sections)
            if len(self._rows) >= VIEWS_KEPT:
                # An address can name more views than anybody looks at.
                self._rows.pop(next(one for one in self._rows if one != EVERYTHING))
            self._rows[view] = row
        return row

    def reset(self) -> None:
        """Forget everything: the transcript is another one."""
        self._rows.clear()
        self._sections = []

    def take(self, changes: Iterable[Change], transcript: Transcript) -> None:
        """Take in what changed."""
        self._rows.clear()
        footer = transcript.turn.footer
        at_end = (None, footer.id if footer else None)
        for change in changes:
            if change.op == "move" or (change.op == "add" and change.before not in at_end):
                self._sections = []
                return

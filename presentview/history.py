"""The records of one session in order, and how many turns and cards went before them.

Turns and cards are never renumbered: whatever is taken away from the front is counted, and the
count goes into the file's header. Nothing here reads or writes files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from presentview.droppable import Droppable
from presentview.keeping import Kept
from presentview.records import Kind, Record
from presentview.sidecar import Entry

__all__ = ["History"]

_FEW_ENTRIES: Final = 256
# A member of an enum takes long to look up, and this is asked for each record.
_TURN_STARTED: Final = Kind.TURN_STARTED


class History:
    """What is recorded of a session so far.

    `entries` are the records with their bytes; with `max_turns` those in front of the last so
    many turns are out of sight and go at the next cut. `turns_dropped` and `cards_dropped` came
    before the first entry. `only_grew` turns False with any change but an added entry: a file
    that held the entries before must be rewritten then. `droppable` estimates what a rewrite
    would leave out. `dropped_edits` are the records of edits that went, until somebody keeps them.
    """

    def __init__(
        self, *, max_turns: int | None = None, turns_dropped: int = 0, cards_dropped: int = 0
    ) -> None:
        self.dropped_edits: list[Kept] = []
        self.entries: list[Entry] = []
        self.turns_dropped = turns_dropped
        self.cards_dropped = cards_dropped
        self.only_grew = True
        self.droppable = Droppable()
        self._max_turns = max_turns
        self._starts: list[int] = []
        self._first = 0

    @property
    def records(self) -> tuple[Record, ...]:
        """The records in sight, oldest first."""
        return tuple(entry.record for entry in self.entries[self._first :])

    @property
    def has_hidden(self) -> bool:
        """Whether more than `max_turns` turns are held."""
        return self._first > 0

    def add(self, entry: Entry, size: int) -> None:
        """Take in one more record, `size` bytes long in a file."""
        self.entries.append(entry)
        self.droppable.add(entry.record, size)
        if entry.record.kind == _TURN_STARTED:
            self._begin_turn()

    def drop_all(self) -> None:
        """Take every record away."""
        self._cut(len(self.entries))

    def drop_hidden(self) -> None:
        """Take away what is in front of the last `max_turns` turns."""
        self._cut(self._first)

    def drop_before_turn(self, turn: int) -> None:
        """Take away what is in front of `turn`, or of the current turn if that comes first."""
        first = self.turns_dropped + 1
        index = min(turn - first, len(self._starts) - 1)
        if index >= 0:
            self._cut(max(self._starts[index], self._first))

    def place_first(self, record: Record) -> None:
        """Put `record`, which begins a card, in front of all others.

        Its card takes the number of the last one that went, so that the others keep theirs.
        """
        self.drop_hidden()
        if self.entries:
            self.cards_dropped -= 1
        self._hold([Entry(record), *self.entries])
        self.only_grew = False

    def leave_only(self, indexes: Sequence[int]) -> None:
        """Keep the entries at `indexes`, which are those that a rewritten file holds."""
        self._hold([self.entries[index] for index in indexes])
        self.droppable = Droppable()
        self.only_grew = True

    def _begin_turn(self) -> None:
        self._starts.append(len(self.entries) - 1)
        if self._max_turns is not None and len(self._starts) > self._max_turns:
            self._first = self._starts[-self._max_turns]
            if self._first > 2 * (len(self.entries) - self._first) + _FEW_ENTRIES:
                self.drop_hidden()

    def _cut(self, index: int) -> None:
        if index == 0:
            return
        # A recording has loaded it; importing this module does not.
        from presentview.covering import cut_before
        from presentview.droppededits import edits_among
        from presentview.transcript.fold import Transcript

        transcript = Transcript(turns_dropped=self.turns_dropped, cards_dropped=self.cards_dropped)
        cut = cut_before(self.entries, index, transcript)
        self.dropped_edits += edits_among(transcript, self.entries, cut.kept)
        self._hold(cut.kept)
        self.turns_dropped, self.cards_dropped = cut.turns, cut.cards
        self.only_grew = False

    def _hold(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._starts = [
            index for index, entry in enumerate(entries) if entry.record.kind == _TURN_STARTED
        ]
        self._first = 0

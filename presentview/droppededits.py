"""Which of the records that a recorder drops tell of edits, and have to be kept elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from presentview.keeping import Kept, kept_from
from presentview.sidecar import Entry
from presentview.transcript.cards import Part, Place, ToolCard
from presentview.transcript.faces import is_edit_call
from presentview.transcript.fold import Transcript

__all__ = ["edits_among"]


def edits_among(
    transcript: Transcript, entries: Sequence[Entry], left: Sequence[Entry]
) -> list[Kept]:
    """The records of `entries` that are not `left` and tell of edits, in order: the calls that
    edit files with their results, those of which only the result was there, and the calls of the
    sub-agents that made them.

    `transcript` has all of the entries, each at its index as a byte offset.
    """
    stays = set(map(id, left))
    told: dict[int, ToolCard] = {}
    for card in transcript.walk():
        if isinstance(card, ToolCard) and card.kind == "tool" and _edits(card):
            told |= ((index, card) for index in _indexes(card.dispatch, card.diff, card.result))
            for outer in card.ancestors():
                told |= ((index, outer) for index in _indexes(outer.dispatch))
    return [
        kept_from(entries[index].record, told[index].turn, told[index].number)
        for index in sorted(told)
        if id(entries[index]) not in stays
    ]


def _edits(card: ToolCard) -> bool:
    if card.diff is not None or card.dispatch is None:
        return True
    return is_edit_call(card.tool_face, card.face, read_only=card.read_only)


def _indexes(*parts: Part | None) -> Iterator[int]:
    return (part.offset for part in parts if isinstance(part, Place))

"""Which records a rewrite can leave out, so that the cards stay exactly as they are.

The fold itself is asked: what no card refers to any more is covered. Nothing here writes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from presentview.droppable import ANSWER, ANSWER_ENDS
from presentview.records import Kind, Record, Tool
from presentview.sidecar import Entry
from presentview.transcript.cards import Card, Change, Place, ToolCard
from presentview.transcript.fold import Transcript

__all__ = ["Cut", "cut_before", "uncovered"]

_CALL_ENDS: Final = frozenset({Kind.TOOL_DISPATCH, Kind.TOOL_RESULT})
_CALLS: Final = _CALL_ENDS | {Kind.TOOL_PROGRESS}


def uncovered(records: Sequence[Record]) -> list[int]:
    """The indexes of the records to keep: all but the deltas that a later record covers.

    The first delta of each run stays: it holds the card's place and its start.
    """
    transcript = Transcript()
    for index, record in enumerate(records):
        transcript.feed(record, index, 0, 0)
    used = {part.offset for card in transcript.walk() for part in _parts(card)}
    runs = _Runs()
    return [index for index, record in enumerate(records) if runs.begins(record) or index in used]


def _parts(card: Card) -> list[Place]:
    parts = list(card.parts)
    if isinstance(card, ToolCard):
        parts += card.progress
    return [part for part in parts if isinstance(part, Place)]


class _Runs:
    """Follows the streamed answer and the progress of each call: where a run of deltas begins."""

    def __init__(self) -> None:
        self._answer = ""
        self._calls: set[str] = set()

    def begins(self, record: Record) -> bool:
        """Whether `record` is no delta, or the first of its run that says something or one of
        the empty ones in front of it.
        """
        kind = record.kind
        if kind in ANSWER:
            if kind == self._answer:
                return False
            if record.text:
                self._answer = kind
        elif kind == Kind.TOOL_PROGRESS:
            tool = record.tool or Tool()
            if tool.id in self._calls:
                return False
            if tool.output:
                self._calls.add(tool.id)
        elif kind in _CALL_ENDS:
            self._calls.discard(record.tool.id if record.tool else "")
        elif kind in ANSWER_ENDS:
            self._answer = ""
            if kind == Kind.TURN_STARTED:
                self._calls.clear()
        return True


class Cut(NamedTuple):
    """What is left when everything before an index goes.

    `turns` and `cards` say how many turns and cards have gone in all, so that those that stay
    keep their numbers.
    """

    kept: list[Entry]
    turns: int
    cards: int


def cut_before(entries: Sequence[Entry], index: int, transcript: Transcript) -> Cut:
    """Take away the entries before `index`, and later ones that only go on with their cards.

    `transcript` is that of what went before; afterwards it has all of the entries, each at its
    index as a byte offset. A result that comes after the cut for a call in front of it would
    otherwise begin a card of its own and shift the numbers of all others; so would a sub-agent's
    calls whose lane is not made any more, because the call it belongs to has gone: a record of its
    own stands in for it.
    """
    turns = transcript.turn.number
    for at, entry in enumerate(entries[:index]):
        transcript.feed(entry.record, at, 0, 0)
    gone = transcript.tree.next_number - 1
    turn = transcript.turn.number
    starts = index < len(entries) and entries[index].record.kind == Kind.TURN_STARTED
    kept: list[Entry | ToolCard] = []
    for at, entry in enumerate(entries[index:], index):
        changes = transcript.apply(entry.record, Place(at, 0, 0))
        kept += _orphaned_lanes(changes, transcript, gone)
        if _own_card(entry.record, changes, transcript) > gone:
            kept.append(entry)
    left = [Entry(_stand_in(item)) if isinstance(item, ToolCard) else item for item in kept]
    return Cut(left, turn if starts or index == len(entries) else turns, gone)


def _own_card(record: Record, changes: Sequence[Change], transcript: Transcript) -> float:
    """The number of the card that `record` begins or goes on with; infinite if it has none."""
    touched = [card for change in changes if (card := transcript.card(change.card or ""))]
    if record.kind in _CALLS:
        # Others are those around it, which may have the same id, or lanes made for it.
        call = record.tool.id if record.tool else ""
        mine = [card for card in touched if isinstance(card, ToolCard) and card.call == call]
        return max((card.number for card in mine), default=math.inf)
    added = {change.card for change in changes if change.op == "add"}
    return next((card.number for card in touched if not added or card.id in added), math.inf)


def _orphaned_lanes(
    changes: Sequence[Change], transcript: Transcript, gone: int
) -> Iterator[ToolCard]:
    """The lanes just made for a call that has gone."""
    for change in changes:
        card = transcript.card(change.card or "") if change.op == "add" else None
        if isinstance(card, ToolCard) and card.kind == "lane":
            assert card.parent is not None
            if card.parent.number <= gone:
                yield card


def _stand_in(lane: ToolCard) -> Record:
    """A record that begins a card where `lane` did."""
    return Record(kind=Kind.TOOL_RESULT, tool=Tool(id=lane.call, name=lane.name))

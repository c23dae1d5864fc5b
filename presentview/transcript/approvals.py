"""Who was asked whether something may be done: at the call it is about, or by itself."""

from __future__ import annotations

from collections.abc import Callable

from presentview.limits import SUBJECT_CHARS
from presentview.records import Record, Tool
from presentview.transcript.answer import AddCard
from presentview.transcript.cards import DONE, INTERRUPTED, OPEN, Approval, Card, Part, ToolCard
from presentview.transcript.faces import first_line
from presentview.transcript.tree import Tree

__all__ = ["Approvals"]

_EMPTY = Tool()


class Approvals:
    """The questions that have cards of their own, and those that calls have.

    `find` gives the call with an id that a record speaks of, `take` gives a call its approval.
    """

    def __init__(
        self,
        tree: Tree,
        add: AddCard,
        find: Callable[[str], ToolCard | None],
        take: Callable[[ToolCard, Approval], None],
    ) -> None:
        self._tree = tree
        self._add = add
        self._find = find
        self._take = take
        self._asked: dict[str, Card] = {}

    @property
    def unanswered(self) -> list[Card]:
        """The cards of questions that nobody has answered yet."""
        return list(self._asked.values())

    def request(self, record: Record, part: Part) -> None:
        """Somebody is asked."""
        tool = record.tool or _EMPTY
        call = self._call_of(tool)
        if call is not None:
            known = call.approval
            self._take(call, known.asked_again(record.at) if known else Approval(record.at))
            return
        older = self._asked.pop(tool.id, None)
        if older is not None:
            self._interrupt(older)
        card = self._add("approval", record, part, state=OPEN)
        card.face = first_line(record.text or tool.name)
        self._asked[tool.id] = card

    def answer(self, record: Record, part: Part) -> None:
        """Somebody has answered."""
        tool = record.tool or _EMPTY
        answer = first_line(record.text, SUBJECT_CHARS)
        card = self._asked.pop(tool.id, None)
        if card is not None:
            card.state = DONE
            card.ended_at = record.at
            card.level = answer
            self._tree.changed(card)
            return
        call = self._call_of(tool)
        if call is not None:
            self._take(call, (call.approval or Approval()).answered(record.at, answer))
            return
        self._add("approval", record, part, state=DONE).level = answer

    def interrupt(self) -> None:
        """Say that no question will be answered any more."""
        for card in self._asked.values():
            self._interrupt(card)
        self._asked.clear()

    def _interrupt(self, card: Card) -> None:
        card.state = INTERRUPTED
        self._tree.changed(card)

    def _call_of(self, tool: Tool) -> ToolCard | None:
        card = self._find(tool.id) if tool.id else None
        return card if card is not None and card.kind != "lane" else None

"""Which call a record speaks of, and which call that is nested in.

Call ids are what the agent's model makes up: they are reused, left empty, point to parents that
come later, never, or to themselves. The rules: a dispatch joins the newest open call with its id
unless both have different arguments; results and progress go to the oldest open call with their
id; if none is open, to the last one of the turn, else to one that was interrupted. A parent is
the longest part of the id in front of a `/` that is a call, else the recorded parent id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from presentview.records import Tool
from presentview.transcript.cards import BAD, INTERRUPTED, OPEN, ToolCard
from presentview.transcript.faces import first_line
from presentview.transcript.tree import Tree

__all__ = ["Calls", "Parent"]

MakeLane = Callable[[str, ToolCard], ToolCard]
Moved = Callable[[ToolCard], None]

_LANE: Final = re.compile(r"(.+)/p\d+", re.DOTALL)
_MOST_SEGMENTS: Final = 200


class Parent(NamedTuple):
    """The call another is nested in, or None with the reason if one is named but not there."""

    card: ToolCard | None
    note: str = ""


class Calls:
    """The tool calls of a transcript by their ids, and what is still open of them.

    `newest` has the last call of each id, nearly always the only one of them that can be open.
    Where two were open at once, `_rivals` has all that still are, in order of appearance.
    `moved` is told of each call that is nested in another than before.
    """

    def __init__(self, tree: Tree, make_lane: MakeLane, moved: Moved) -> None:
        self._tree = tree
        self._make_lane = make_lane
        self._moved = moved
        self.newest: dict[str, ToolCard] = {}
        self._rivals: dict[str, list[ToolCard]] = {}
        self._open: dict[int, ToolCard] = {}
        self._open_in_main_lane: dict[int, ToolCard] = {}
        self._awaiting: dict[str, list[ToolCard]] = {}
        self.lanes: list[ToolCard] = []
        self.count = 0
        self.errors = 0

    @property
    def any_open(self) -> bool:
        """Whether there is a call without a result."""
        return bool(self._open)

    def open(self) -> list[ToolCard]:
        """The calls without a result, in order of appearance."""
        return list(self._open.values())

    def open_in_main_lane(self) -> list[ToolCard]:
        """Those of them the agent itself waits for."""
        main = {n: card for n, card in self._open_in_main_lane.items() if card.in_main_lane}
        self._open_in_main_lane = main
        return list(main.values())

    def joined_by_dispatch(self, tool: Tool, key: int | None, turn: int) -> ToolCard | None:
        """The call that a dispatch with arguments of this hash belongs to; None: a new one."""
        call = tool.id
        card = self.newest.get(call)
        if card is None or card.kind == "lane":
            return card
        if call in self._rivals:
            card = self._rivals[call][-1]
        # A result that came before its dispatch waits for it until the turn ends.
        elif card.state != OPEN and (card.dispatch is not None or card.turn != turn):
            return None
        if not call and card.name and tool.name and card.name != tool.name:
            return None
        same = key is None or card.args_key is None or key == card.args_key
        return card if same else None

    def target_of(self, call: str, turn: int) -> ToolCard | None:
        """The call that a result or progress with this id belongs to; None: nobody's."""
        card = self.newest.get(call)
        if card is None or card.kind == "lane":
            return card
        if call in self._rivals:
            return self._rivals[call][0]
        return card if card.turn == turn or card.state in (OPEN, INTERRUPTED) else None

    def opened(self, card: ToolCard) -> None:
        """Take in a new call, and give it the calls that have been waiting for it as parent."""
        call = card.call
        self.count += 1
        older = self.newest.get(call)
        if older is not None:
            self._compete(older, card)
        self.newest[call] = self._open[card.number] = card
        if self._awaiting:
            for waiting in self._awaiting.pop(call, ()):
                self._nest(waiting, waiting.parent_id)
        if card.parent_id or "/" in call:
            self._await_parents(card)
        else:
            self._open_in_main_lane[card.number] = card

    def _compete(self, older: ToolCard, card: ToolCard) -> None:
        """Note that `card` is open beside those of its id that are."""
        rivals = self._rivals.get(card.call)
        if rivals is not None:
            rivals.append(card)
        elif older.state == OPEN:
            self._rivals[card.call] = [older, card]

    def becomes_call(self, lane: ToolCard) -> None:
        """Make a call of a lane whose own dispatch came after those of its sub-agent."""
        lane.kind = "tool"
        lane.name = ""
        self.lanes.remove(lane)
        self.count += 1
        self._open[lane.number] = lane
        for outer in lane.ancestors():
            outer.steps += 1

    def set_state(self, card: ToolCard, state: str) -> int:
        """Give a call its state; by how much that changes the number of failed calls."""
        old = card.state
        if old == OPEN and state != OPEN:
            del self._open[card.number]
            self._open_in_main_lane.pop(card.number, None)
            if card.call in self._rivals:
                self._retire(card)
        card.state = state
        fault = (state in BAD) - (old in BAD)
        if fault:
            self.errors += fault
            for outer in card.ancestors():
                outer.faults += fault
        if self._tree.changes is not None:
            self._tree.changed(card)
        return fault

    def _retire(self, card: ToolCard) -> None:
        rivals = self._rivals[card.call]
        rivals.remove(card)
        if not rivals:
            del self._rivals[card.call]

    def parent_of(self, tool: Tool) -> Parent:
        """The call that a new one with this id and parent id is nested in."""
        return self._find_parent(tool.id, tool.parent_id, None)

    def nest(self, card: ToolCard, parent_id: str) -> None:
        """Nest a call anew whose parent id was recorded later than the call."""
        card.parent_id = parent_id
        self._nest(card, parent_id)
        self._await_parents(card)

    def _nest(self, card: ToolCard, parent_id: str) -> None:
        parent = self._find_parent(card.call, parent_id, card)
        card.note = parent.note
        if parent.card is not card.parent:
            self._tree.move(card, parent.card)
            self._moved(card)
        self._tree.changed(card)

    def _await_parents(self, card: ToolCard) -> None:
        """Remember the calls this one would be nested in if they came later."""
        for prefix in _prefixes(card.call):
            if card.parent is not None and card.parent.call == prefix:
                return
            self._awaiting.setdefault(prefix, []).append(card)
        if card.parent is None and card.parent_id:
            self._awaiting.setdefault(card.parent_id, []).append(card)

    def _find_parent(self, call: str, parent_id: str, card: ToolCard | None) -> Parent:
        for prefix in _prefixes(call) if "/" in call else ():
            found = self._known(prefix)
            if found is not None and not _inside(found, card):
                return Parent(found)
        if not parent_id:
            lost = call.rpartition("/")[0]
            return Parent(None, _unrecorded(lost) if lost else "")
        if parent_id == call:
            return Parent(None, "names itself as its parent")
        found = self._known(parent_id)
        if found is None:
            return Parent(None, _unrecorded(parent_id))
        if _inside(found, card):
            return Parent(None, "its parents form a circle")
        return Parent(found)

    def _known(self, call: str) -> ToolCard | None:
        """The newest call with this id; a lane is made for the n-th sub-agent of a known call."""
        card = self.newest.get(call)
        if card is None and (shape := _LANE.fullmatch(call)):
            outer = self.newest.get(shape.group(1))
            if outer is not None and outer.kind != "lane":
                card = self._make_lane(call, outer)
                self.newest[call] = card
                self.lanes.append(card)
        return card


def _prefixes(call: str) -> Iterator[str]:
    """The proper parts of a call id that end in front of a `/`, the longest first."""
    end = len(call)
    for _ in range(_MOST_SEGMENTS):
        end = call.rfind("/", 0, end)
        if end <= 0:
            return
        yield call[:end]


def _inside(outer: ToolCard, card: ToolCard | None) -> bool:
    """Whether `outer` is `card` or nested in it."""
    return card is not None and (outer is card or card in outer.ancestors())


def _unrecorded(call: str) -> str:
    return f"its parent {first_line(call, 80)} is not recorded"

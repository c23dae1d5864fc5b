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

_LANE: Final = re.compile(r"(.+)/p\d+", re.DOTALL)
_MOST_SEGMENTS: Final = 200


class Parent(NamedTuple):
    """The call another is nested in, or None with the reason if one is named but not there."""

    card: ToolCard | None
    note: str = ""


class Calls:
    """The tool calls of a transcript by their ids, and what is still open of them."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._newest: dict[str, ToolCard] = {}
        self._open_by_id: dict[str, list[ToolCard]] = {}
        self._open: dict[int, ToolCard] = {}
        self._open_in_main_lane: dict[int, ToolCard] = {}
        self._awaiting: dict[str, list[ToolCard]] = {}
        self.lanes: list[ToolCard] = []
        self.count = 0
        self.errors = 0

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
        candidates = self._open_by_id.get(tool.id)
        card = candidates[-1] if candidates else self._newest.get(tool.id)
        if card is None or card.kind == "lane":
            return card
        # A result that came before its dispatch waits for it until the turn ends.
        if not candidates and (card.dispatch is not None or card.turn != turn):
            return None
        if not tool.id and card.name and tool.name and card.name != tool.name:
            return None
        same = key is None or card.args_key is None or key == card.args_key
        return card if same else None

    def target_of(self, call: str, turn: int) -> ToolCard | None:
        """The call that a result or progress with this id belongs to; None: nobody's."""
        candidates = self._open_by_id.get(call)
        if candidates:
            return candidates[0]
        card = self._newest.get(call)
        if card is None or card.kind == "lane":
            return card
        return card if card.turn == turn or card.state == INTERRUPTED else None

    def opened(self, card: ToolCard, make_lane: MakeLane) -> None:
        """Take in a new call, and give it the calls that have been waiting for it as parent."""
        call = card.call
        self.count += 1
        self._newest[call] = card
        self._open[card.number] = card
        if card.in_main_lane:
            self._open_in_main_lane[card.number] = card
        same = self._open_by_id.get(call)
        if same is None:
            self._open_by_id[call] = [card]
        else:
            same.append(card)
        if self._awaiting:
            for waiting in self._awaiting.pop(call, ()):
                self._nest(waiting, waiting.parent_id, make_lane)
        if card.parent_id or "/" in call:
            self._await_parents(card)

    def becomes_call(self, lane: ToolCard) -> None:
        """Make a call of a lane whose own dispatch came after those of its sub-agent."""
        lane.kind = "tool"
        lane.name = ""
        self.lanes.remove(lane)
        self.count += 1
        self._open[lane.number] = lane
        self._open_by_id.setdefault(lane.call, []).append(lane)
        for outer in lane.ancestors():
            outer.steps += 1

    def set_state(self, card: ToolCard, state: str) -> int:
        """Give a call its state; by how much that changes the number of failed calls."""
        old = card.state
        if old == OPEN and state != OPEN:
            del self._open[card.number]
            self._open_in_main_lane.pop(card.number, None)
            same = self._open_by_id[card.call]
            if len(same) == 1:
                del self._open_by_id[card.call]
            else:
                same.remove(card)
        card.state = state
        fault = (state in BAD) - (old in BAD)
        if fault:
            self.errors += fault
            for outer in card.ancestors():
                outer.faults += fault
        self._tree.changed(card)
        return fault

    def parent_of(self, tool: Tool, make_lane: MakeLane) -> Parent:
        """The call that a new one with this id and parent id is nested in."""
        return self._find_parent(tool.id, tool.parent_id, make_lane, None)

    def nest(self, card: ToolCard, parent_id: str, make_lane: MakeLane) -> None:
        """Nest a call anew whose parent id was recorded later than the call."""
        card.parent_id = parent_id
        self._nest(card, parent_id, make_lane)
        self._await_parents(card)

    def _nest(self, card: ToolCard, parent_id: str, make_lane: MakeLane) -> None:
        parent = self._find_parent(card.call, parent_id, make_lane, card)
        card.note = parent.note
        if parent.card is not card.parent:
            self._tree.move(card, parent.card)
        self._tree.changed(card)

    def _await_parents(self, card: ToolCard) -> None:
        """Remember the calls this one would be nested in if they came later."""
        for prefix in _prefixes(card.call):
            if card.parent is not None and card.parent.call == prefix:
                return
            self._awaiting.setdefault(prefix, []).append(card)
        if card.parent is None and card.parent_id:
            self._awaiting.setdefault(card.parent_id, []).append(card)

    def _find_parent(
        self, call: str, parent_id: str, make_lane: MakeLane, card: ToolCard | None
    ) -> Parent:
        for prefix in _prefixes(call):
            found = self._known(prefix, make_lane)
            if found is not None and not _inside(found, card):
                return Parent(found)
        if not parent_id:
            lost = call.rpartition("/")[0]
            return Parent(None, _unrecorded(lost) if lost else "")
        if parent_id == call:
            return Parent(None, "names itself as its parent")
        found = self._known(parent_id, make_lane)
        if found is None:
            return Parent(None, _unrecorded(parent_id))
        if _inside(found, card):
            return Parent(None, "its parents form a circle")
        return Parent(found)

    def _known(self, call: str, make_lane: MakeLane) -> ToolCard | None:
        """The newest call with this id; a lane is made for the n-th sub-agent of a known call."""
        card = self._newest.get(call)
        if card is None and (shape := _LANE.fullmatch(call)):
            outer = self._newest.get(shape.group(1))
            if outer is not None and outer.kind != "lane":
                card = make_lane(call, outer)
                self._newest[call] = card
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

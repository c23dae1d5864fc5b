"""Which rows a waterfall has: turns, calls in them, and calls in calls, as far as unfolded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

import msgspec

from presentview.limits import TIMING_ROWS, TIMING_ROWS_OPEN, TIMING_SIBLINGS
from presentview.transcript.cards import ToolCard, Turn
from presentview.transcript.fold import Transcript
from presentview.web.timed import Timed
from presentview.web.timeview import TimeView, Window

__all__ = ["Items", "Node", "Tree", "tree_of", "turns_shown", "unfolded"]

_MOST_PARTS: Final = 100
_SMALLEST_PART: Final = 50

Item: TypeAlias = Turn | ToolCard
Items: TypeAlias = Sequence[Item]


class Node(NamedTuple):
    """One row: a turn, a call or lane, or part of many such that stand side by side.

    `key` names it in addresses, `items` are what it is or, of a part, what is in it, the first
    of which is number `first` (from 1) of its siblings. `extent` says from when to when
    anything of it was there.
    """

    key: str
    items: Items
    depth: int
    first: int
    extent: tuple[int, int] | None
    has_more: bool
    is_open: bool

    @property
    def is_part(self) -> bool:
        """Whether it stands for several rows."""
        return "-" in self.key

    @property
    def turn(self) -> Turn | None:
        """The turn it is, if it is one."""
        item = self.items[0]
        return item if isinstance(item, Turn) and not self.is_part else None

    @property
    def card(self) -> ToolCard | None:
        """The card of the call or lane it is, if it is one."""
        item = self.items[0]
        return item if isinstance(item, ToolCard) and not self.is_part else None


class Tree(NamedTuple):
    """The rows in order, and whether there would be more than are drawn."""

    rows: list[Node]
    is_cut: bool


def tree_of(transcript: Transcript, found: Timed, view: TimeView, window: Window) -> Tree:
    """The rows of a waterfall that shows a part of the session's line."""
    walker = _Walker(transcript, found, view, window)
    rows: list[Node] = []
    for node in walker.walk():
        if len(rows) == TIMING_ROWS:
            return Tree(rows, is_cut=True)
        rows.append(node)
    return Tree(rows, is_cut=False)


def turns_shown(transcript: Transcript, found: Timed) -> list[Turn]:
    """The turns that have a row: all but an empty stretch before the first."""
    tops = found.tops(transcript)
    return [turn for turn in transcript.turns if turn.prompt is not None or turn.number in tops]


class _Walker:
    def __init__(
        self, transcript: Transcript, found: Timed, view: TimeView, window: Window
    ) -> None:
        self._tops = found.tops(transcript)
        self._found = found
        self._turn_extents = found.turn_extents(transcript)
        self._view = view
        self._window = window
        self._turns = turns_shown(transcript, found)
        calls = transcript.calls
        many = len(self._turns) + calls.count + len(calls.lanes)
        self._all_open = many <= TIMING_ROWS_OPEN
        self._wanted = _around(transcript, view.at)
        self._default = self._wanted | self._longest()

    def _longest(self) -> set[str]:
        """The turn that took longest, which is unfolded when not all can be."""
        windows = self._found.timings.turn_windows
        known = [turn for turn in self._turns if turn.number in windows]
        longest = max(known, key=lambda turn: windows[turn.number].length, default=None)
        longest = longest or (self._turns[0] if self._turns else None)
        return {f"t{longest.number}"} if longest else set()

    def walk(self) -> Iterator[Node]:
        stack = self._nodes("s", self._turns, 0, 1)
        stack.reverse()
        while stack:
            node = stack.pop()
            yield node
            if node.is_open:
                stack += reversed(self._inside(node))

    def _inside(self, node: Node) -> list[Node]:
        if node.is_part:
            return self._nodes(node.key, node.items, node.depth + 1, node.first)
        return self._nodes(node.key, self._children(node.items[0]), node.depth + 1, 1)

    def _children(self, item: Item) -> Items:
        if isinstance(item, Turn):
            return self._tops.get(item.number, ())
        return [card for card in item.children or () if isinstance(card, ToolCard)]

    def _nodes(self, key: str, items: Items, depth: int, first: int) -> list[Node]:
        """The rows of what stands side by side, those that are to be seen."""
        count = len(items)
        size = max(_SMALLEST_PART, -(-count // _MOST_PARTS))
        if count > TIMING_SIBLINGS and size < count:
            nodes = [
                self._part(f"{key}-{i // size}", items[i : i + size], depth, first + i)
                for i in range(0, count, size)
            ]
        else:
            nodes = [self._single(item, depth, first + i) for i, item in enumerate(items)]
        return nodes if self._window.is_whole else [node for node in nodes if self._shows(node)]

    def _part(self, key: str, items: Items, depth: int, first: int) -> Node:
        extents = [extent for item in items if (extent := self._extent(item)) is not None]
        extent = (min(e[0] for e in extents), max(e[1] for e in extents)) if extents else None
        keys = {_key(item) for item in items}
        is_open = not keys.isdisjoint(self._wanted) or self._view.is_open(
            key, by_default=not keys.isdisjoint(self._default)
        )
        return Node(key, items, depth, first, extent, has_more=True, is_open=is_open)

    def _single(self, item: Item, depth: int, first: int) -> Node:
        key = _key(item)
        has_more = bool(self._children(item))
        by_default = self._all_open or key in self._default
        is_open = has_more and self._view.is_open(key, by_default=by_default)
        return Node(key, (item,), depth, first, self._extent(item), has_more, is_open)

    def _extent(self, item: Item) -> tuple[int, int] | None:
        extents = self._found.extents if isinstance(item, ToolCard) else self._turn_extents
        return extents.get(item.number)

    def _shows(self, node: Node) -> bool:
        return node.extent is not None and self._window.shows(*node.extent)


def unfolded(view: TimeView, transcript: Transcript) -> TimeView:
    """The view with everything around the card it looks for unfolded."""
    around = sorted(_around(transcript, view.at) - {view.at})
    if not around:
        return view
    opened = (*(row for row in view.opened if row not in around), *around)
    shut = tuple(row for row in view.shut if row not in around)
    return msgspec.structs.replace(view, opened=opened, shut=shut)


def _around(transcript: Transcript, at: str) -> set[str]:
    """The row of a card and those it is nested in."""
    card = transcript.card(at) if at else None
    if card is None:
        return set()
    return {at, f"t{card.turn}", *(outer.id for outer in card.ancestors())}


def _key(item: Item) -> str:
    return f"t{item.number}" if isinstance(item, Turn) else item.id

"""Which message stands for which turn: the plan by which two files are joined.

Turns are anchored to the messages whose calls or full texts they hold. What is not anchored is
placed only where there is no choice: between two anchors, when there are as many prompts as turns
without one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from presentview.joining.outline import CALL, Key, Said, TurnOutline
from presentview.joining.rests import Rests, with_rest
from presentview.joining.stretches import Insert, Stretch, stretches_of

__all__ = ["Plan", "plan"]


class Plan(NamedTuple):
    """How to join: for each turn of the sidecar the index of its prompt's message, and what goes
    in front of it. Both begin with what stands before the first turn; `inserts` has one more
    entry, for the end.
    """

    prompts: tuple[int | None, ...]
    inserts: tuple[tuple[Insert, ...], ...]


class _Anchor(NamedTuple):
    message: int
    turn: int


def plan(
    turns: Sequence[TurnOutline],
    said: Sequence[Said],
    *,
    from_start: bool,
    growing: bool = False,
) -> Plan:
    """Join the `turns` of a sidecar (index 0: before the first) and what the other log has `said`.

    `from_start` says that the sidecar holds its session from the beginning on, so that the
    beginnings of both are anchored to each other. While it is `growing`, what its last turn lacks
    may be about to come.
    """
    anchors = _anchors(turns, said)
    steers = _steers(turns, said, anchors)
    stretches = stretches_of(said, steers)
    calls = [_calls(key for one in said[s.start : s.end] for key in one.keys) for s in stretches]
    in_turns = [_calls(turn.keys) for turn in turns]

    def may_be_same(turn: int, stretch: int) -> bool:
        """Whether nothing says that a turn and a stretch are not the same: other calls would."""
        mine, theirs = in_turns[turn], calls[stretch]
        return not mine or not theirs or not mine.isdisjoint(theirs)

    joiner = _Joiner(len(turns), stretches, anchors, may_be_same, from_start=from_start)
    made = joiner.plan()
    rests = Rests(turns, said)
    inserts = list(map(list, made.inserts))
    for number, stretch in joiner.last_stretches():
        if not (growing and number == len(turns) - 1):
            rest = rests.of(turns[number], stretch) or rests.end(turns[number], stretch)
            inserts[number + 1] = with_rest(inserts[number + 1], rest)
    return Plan(made.prompts, tuple(map(tuple, inserts)))


def _anchors(turns: Sequence[TurnOutline], said: Sequence[Said]) -> list[_Anchor]:
    """Messages and the turns that hold them, in the order of both files.

    A key that one file holds more often than the other says nothing: it is not known which of
    them are the same.
    """
    in_turns: dict[Key, list[int]] = {}
    for number, turn in enumerate(turns):
        for key in turn.keys:
            in_turns.setdefault(key, []).append(number)
    in_messages: dict[Key, list[int]] = {}
    for index, one in enumerate(said):
        for key in one.keys:
            if key in in_turns:
                in_messages.setdefault(key, []).append(index)
    pairs = {
        _Anchor(message, turn)
        for key, messages in in_messages.items()
        if len(messages) == len(in_turns[key])
        for message, turn in zip(messages, in_turns[key], strict=True)
    }
    return _monotone(sorted(pairs))


def _monotone(pairs: Sequence[_Anchor]) -> list[_Anchor]:
    """The longest part of `pairs`, sorted by message, in which the turns ascend too."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, pair in enumerate(pairs):
        length = bisect_right(ends, pair.turn)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(pair.turn)
            last.append(index)
        else:
            ends[length], last[length] = pair.turn, index
    chain: list[_Anchor] = []
    at = last[-1] if last else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _steers(
    turns: Sequence[TurnOutline], said: Sequence[Said], anchors: Sequence[_Anchor]
) -> set[int]:
    """The messages in which the user said something in the middle of a turn.

    Best is one between messages of that turn, then one behind them: the same words in front of
    a turn are its prompt.
    """
    found: set[int] = set()
    by_text: dict[str, list[int]] = {}
    for index, one in enumerate(said):
        if one.what == "prompt" and one.text:
            by_text.setdefault(one.text, []).append(index)
    places = [anchor.message for anchor in anchors]
    for number, turn in enumerate(turns):
        for text in turn.steers:
            fitting: list[tuple[bool, bool, int]] = []
            for index in by_text.get(text, ()):
                at = bisect_right(places, index)
                earliest = anchors[at - 1].turn if at else 0
                latest = anchors[at].turn if at < len(anchors) else len(turns)
                if index not in found and earliest <= number <= latest:
                    fitting.append((latest != earliest, earliest != number, index))
            if fitting:
                found.add(min(fitting)[2])
    return found


def _calls(keys: Iterable[Key]) -> set[Key]:
    return {key for key in keys if key[0] == CALL}


class _Joiner:
    """Works out a plan from the anchors."""

    def __init__(
        self,
        turns: int,
        stretches: Sequence[Stretch],
        anchors: Sequence[_Anchor],
        may_be_same: Callable[[int, int], bool],
        *,
        from_start: bool,
    ) -> None:
        self._stretches = stretches
        self._may_be_same = may_be_same
        self._from_start = from_start
        self._prompts: list[int | None] = [None] * turns
        self._inserts: list[list[Insert]] = [[] for _ in range(turns + 1)]
        self._paired: dict[int, int] = {}
        starts = [stretch.start for stretch in stretches]
        # The stretches in which each anchored turn begins and ends.
        self._spans: dict[int, tuple[int, int]] = {}
        for anchor in anchors:
            # The first stretch may be empty: two begin at the same message then.
            number = bisect_right(starts, anchor.message) - 1
            first, _ = self._spans.get(anchor.turn, (number, number))
            self._spans[anchor.turn] = (first, number)

    def plan(self) -> Plan:
        """The plan."""
        turn, stretch = 0, 0 if self._spans.get(0) is None else self._spans[0][1]
        for before in self._stretches[: stretch + 1] if 0 in self._spans else ():
            self._lasting(1, before)
        is_anchored = self._from_start or 0 in self._spans
        if 0 not in self._spans:
            self._insert(0, self._stretches[0])
        for number in sorted(self._spans):
            if not number:
                continue
            first, last = self._spans[number]
            self._fill(turn, number, stretch, first, is_anchored=is_anchored)
            if first > stretch:
                self._prompts[number] = self._stretches[first].prompt
                self._lasting(number + 1, self._stretches[first])
            for inner in range(max(first, stretch) + 1, last + 1):
                self._unplaced(number + 1, self._stretches[inner])
            turn, stretch, is_anchored = number, max(last, stretch), True
        self._fill(turn, len(self._prompts), stretch, len(self._stretches), is_anchored=is_anchored)
        return Plan(tuple(self._prompts), tuple(map(tuple, self._inserts)))

    def _fill(
        self, turn: int, following: int, stretch: int, first: int, *, is_anchored: bool
    ) -> None:
        """Place the stretches between two anchored turns, or in front of the first."""
        between = range(turn + 1, following)
        free = range(stretch + 1, first)
        fits = len(between) == len(free) and all(map(self._may_be_same, between, free))
        if is_anchored and between and fits:
            for number, index in zip(between, free, strict=True):
                self._prompts[number] = self._stretches[index].prompt
                self._paired[number] = index
                self._lasting(number + 1, self._stretches[index])
            return
        # In front of all anchors the message list reaches further back.
        at = following if is_anchored else min(turn + 1, following)
        for index in free:
            found = self._stretches[index]
            if between and not found.has_reply:
                self._unplaced(at, found)
            else:
                self._insert(at, found)

    def last_stretches(self) -> Iterator[tuple[int, Stretch]]:
        """Each turn of the sidecar, by its number, with the stretch that it ends in, as far as
        that is known and no other turn may go on in it.
        """
        ends = self._paired | {turn: last for turn, (_, last) in self._spans.items()}
        turns = len(self._prompts)
        for number, last in sorted(ends.items()):
            following = number + 1
            is_last = following == turns
            begins = self._spans.get(following, (self._paired.get(following, last), 0))[0]
            if is_last or begins > last:
                yield number, self._stretches[last]

    def _insert(self, turn: int, stretch: Stretch) -> None:
        if stretch.end > stretch.start:
            self._inserts[turn].append(Insert(stretch.start, stretch.end))

    def _unplaced(self, turn: int, stretch: Stretch) -> None:
        if stretch.prompt is not None:
            self._inserts[turn].append(Insert(stretch.prompt, stretch.prompt + 1, unplaced=True))
        self._lasting(turn, stretch)

    def _lasting(self, turn: int, stretch: Stretch) -> None:
        self._inserts[turn] += (Insert(i, i + 1, lasting=True) for i in stretch.lasting)

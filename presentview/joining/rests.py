"""What a sidecar lacks at the end of a turn, and the other log tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from presentview.joining.outline import CALL, TEXT, Said, TurnOutline
from presentview.joining.stretches import Insert, Stretch

__all__ = ["Rests", "with_rest"]

_REPLIES: Final = frozenset({CALL, TEXT})


def with_rest(inserts: Sequence[Insert], rest: Insert | None) -> list[Insert]:
    """`inserts` and the rest of a turn among them, which holds some of them already."""
    if rest is None:
        return list(inserts)
    kept = (one for one in inserts if not rest.start <= one.start < rest.end)
    return sorted([*kept, rest])


class Rests:
    """Finds what a turn lacks at its end: what the other log goes on with where the sidecar tells
    nothing more.
    """

    def __init__(self, turns: Sequence[TurnOutline], said: Sequence[Said]) -> None:
        self._said = said
        self._in_turns = {key for turn in turns for key in turn.keys}
        self._in_said = {key for one in said for key in one.keys}

    def of(self, turn: TurnOutline, stretch: Stretch) -> Insert | None:
        """The rest of a turn that ends in `stretch`, None if there is none.

        Where both go on, with something else each, the sidecar's word is what a person saw.
        """
        replies = [key for key in turn.keys if key[0] in _REPLIES]
        if replies and replies[-1] not in self._in_said:
            return None
        shared = stretch.start
        for index in range(stretch.end - 1, stretch.start, -1):
            if not self._in_turns.isdisjoint(self._said[index].keys):
                shared = index
                break
        for index in range(shared + 1, stretch.end):
            if any(key[0] in _REPLIES for key in self._said[index].keys):
                return Insert(index, stretch.end)
        return None

    def end(self, turn: TurnOutline, stretch: Stretch) -> Insert | None:
        """How a turn ended that ends in `stretch`, if only the other log tells that."""
        for index in range(stretch.end - 1, stretch.start, -1):
            if self._said[index].what == "end" and not turn.has_end:
                return Insert(index, index + 1, lasting=True)
        return None

"""The entries of the agent's own log as turns, and which of them are told beside a sidecar's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from presentview.joining.outline import Said

__all__ = ["Insert", "Stretch", "stretches_of"]


class Insert(NamedTuple):
    """Entries from index `start` up to `end` that no turn of the sidecar holds: a turn of their
    own, or, `unplaced`, a prompt of which it is not known to which turn it belongs, or, `lasting`,
    what is told of a turn besides.
    """

    start: int
    end: int
    unplaced: bool = False
    lasting: bool = False


class Stretch(NamedTuple):
    """The entries from a prompt up to the next one, and which of them are `lasting`."""

    start: int
    end: int
    prompt: int | None
    has_reply: bool
    lasting: tuple[int, ...]


def stretches_of(said: Sequence[Said], steers: Iterable[int]) -> list[Stretch]:
    """The messages as turns; the first stretch, which may be empty, has no prompt."""
    steered = set(steers)
    starts = [i for i, one in enumerate(said) if one.what == "prompt" and i not in steered]
    bounds = [0, *starts, len(said)]
    return [
        Stretch(
            start,
            end,
            start if number else None,
            any(said[i].what in ("assistant", "tool") for i in range(start, end)),
            tuple(i for i in range(start, end) if said[i].lasting),
        )
        for number, (start, end) in enumerate(pairwise(bounds))
    ]

"""Which files of a session have to be played together: those that were made of each other."""

from __future__ import annotations

from collections.abc import Iterable

from presentview.transcript.changes.step import Step

__all__ = ["Families"]


class Families:
    """The files that steps are about, in families: a file, and all that by renames and copies
    came of it or went into it. No step on one family tells anything of another.
    """

    def __init__(self, steps: Iterable[Step]) -> None:
        self._leaders: dict[str, str] = {}
        self._members: dict[str, set[str]] = {}
        self._steps: dict[str, list[Step]] = {}
        kept = tuple(steps)
        for step in kept:
            for move in step.moves:
                self._join(move.old, move.new)
        for step in kept:
            for leader in dict.fromkeys(map(self._leader, step.paths)):
                self._steps.setdefault(leader, []).append(step)

    def of(self, path: str) -> frozenset[str]:
        """The paths of a file's family, its own included."""
        return frozenset(self._members.get(self._leader(path), (path,)))

    def steps(self, path: str) -> list[Step]:
        """The steps on a file's family, in order of effect."""
        return self._steps.get(self._leader(path), [])

    def _leader(self, path: str) -> str:
        return self._leaders.get(path, path)

    def _join(self, one: str, other: str) -> None:
        first, second = self._leader(one), self._leader(other)
        if first == second:
            return
        inner = self._members.setdefault(first, {first})
        outer = self._members.setdefault(second, {second})
        if len(inner) > len(outer):
            first, second, inner, outer = second, first, outer, inner
        # The smaller family joins the larger one, so that none is moved often.
        for path in inner:
            self._leaders[path] = second
        outer |= self._members.pop(first)

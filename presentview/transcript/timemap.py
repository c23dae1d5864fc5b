"""Where a moment lies on a line of a given length, with the times when nothing happened cut
short.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, NamedTuple

__all__ = ["Break", "TimeMap"]

IDLE_MS: Final = 5 * 60 * 1000
_BREAK: Final = 1.6
_ALL_BREAKS: Final = 25.0


class Break(NamedTuple):
    """A time of `idle` ms in which nothing happened, drawn from `x` on, `width` wide (%)."""

    x: float
    width: float
    idle: int


class TimeMap:
    """A line from 0 to 100 % for the time that some stretches cover.

    Between two of them more than five minutes apart the line breaks off: such a gap is drawn
    equally wide whatever its length, and all of them together take a quarter at the most.
    """

    def __init__(self, stretches: Iterable[tuple[int, int]]) -> None:
        busy = _joined(stretches)
        gaps = max(0, len(busy) - 1)
        self._gap = min(_BREAK, _ALL_BREAKS / gaps) if gaps else 0.0
        self._busy = busy
        self._starts = [start for start, _ in busy]
        length = sum(end - start for start, end in busy)
        self._scale = (100.0 - gaps * self._gap) / length if length else 0.0
        self._x: list[float] = []
        x = 0.0
        for start, end in busy:
            self._x.append(x)
            x += (end - start) * self._scale + self._gap
        self.length = length

    def __bool__(self) -> bool:
        """Whether there is anything to draw."""
        return self.length > 0

    @property
    def end(self) -> int:
        """The last moment on the line."""
        return self._busy[-1][1] if self._busy else 0

    def x(self, at: int) -> float:
        """Where a moment lies, in %."""
        index = bisect_right(self._starts, at) - 1
        if index < 0:
            return 0.0
        start, end = self._busy[index]
        return min(100.0, self._x[index] + (min(at, end) - start) * self._scale)

    def breaks(self, most: int) -> list[Break]:
        """The longest gaps, at most so many, in order."""
        pairs = zip(self._busy, self._busy[1:], self._x[1:], strict=False)
        found = [
            Break(x - self._gap, self._gap, after[0] - before[1]) for before, after, x in pairs
        ]
        longest = sorted(found, key=lambda one: -one.idle)[:most]
        return sorted(longest, key=lambda one: one.x)


def _joined(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches, in order, joined where no more than an idle time lies between them."""
    joined: list[tuple[int, int]] = []
    first = last = None
    for start, end in sorted(stretches):
        if first is None or last is None:
            first, last = start, max(start, end)
        elif start - last > IDLE_MS:
            joined.append((first, last))
            first, last = start, max(start, end)
        elif end > last:
            last = end
    if first is not None and last is not None:
        joined.append((first, last))
    return joined

"""Where a moment lies on a line of a given length, with the times when nothing happened cut
short.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

__all__ = ["IDLE_MS", "Break", "TimeMap"]

IDLE_MS: Final = 5 * 60 * 1000
_BREAK: Final = 1.6
_ALL_BREAKS: Final = 25.0
_OUTLIERS: Final = 5
_FLAT: Final = 9
_LEFT: Final = 3
_OTHERS: Final = 3


class Break(NamedTuple):
    """A time of `idle` ms that is drawn from `x` on, `width` wide (%), as if it were shorter:
    nothing happened in it, or, if it `is_busy`, what ran went on.
    """

    x: float
    width: float
    idle: int
    is_busy: bool = False


class _Piece(NamedTuple):
    """From `start` to `end` (ms), drawn as long as `length` ms, or, of an idle time, as a gap."""

    start: int
    end: int
    length: float
    is_idle: bool = False


class TimeMap:
    """A line from 0 to 100 % for the time that some stretches cover.

    Between two of them more than five minutes apart the line breaks off: such a gap is drawn
    equally wide whatever its length, and all of them together take a quarter at the most.

    With `cuts_outliers` so does a stretch without beginning or end of any other that is so long
    that all others would lie in a tenth of the line: they get a quarter of it.
    """

    def __init__(
        self, stretches: Iterable[tuple[int, int]], *, cuts_outliers: bool = False
    ) -> None:
        ordered = sorted(stretches)
        busy = _joined(ordered)
        pieces = _with_outliers_cut(busy, ordered) if cuts_outliers else _whole(busy)
        gaps = sum(1 for piece in pieces if piece.is_idle)
        gap = min(_BREAK, _ALL_BREAKS / gaps) if gaps else 0.0
        length = sum(piece.length for piece in pieces)
        scale = (100.0 - gaps * gap) / length if length else 0.0
        self._pieces = pieces
        self._starts = [piece.start for piece in pieces]
        self._x: list[float] = []
        x = 0.0
        for piece in pieces:
            self._x.append(x)
            x += gap if piece.is_idle else piece.length * scale
        self._x.append(x)
        self.length = sum(end - start for start, end in busy)

    def __bool__(self) -> bool:
        """Whether there is anything to draw."""
        return self.length > 0

    @property
    def start(self) -> int:
        """The first moment on the line."""
        return self._pieces[0].start if self._pieces else 0

    @property
    def end(self) -> int:
        """The last moment on the line."""
        return self._pieces[-1].end if self._pieces else 0

    def x(self, at: int) -> float:
        """Where a moment lies, in %."""
        index = bisect_right(self._starts, at) - 1
        if index < 0:
            return 0.0
        piece = self._pieces[index]
        begin = self._x[index]
        if piece.is_idle:
            # A moment within a pause is drawn at its beginning, its end at its end.
            return begin if at < piece.end else self._x[index + 1]
        width = self._x[index + 1] - begin
        part = (min(at, piece.end) - piece.start) / max(1, piece.end - piece.start)
        return min(100.0, begin + part * width)

    def at(self, x: float) -> int:
        """The moment that lies at `x` %; in a pause the one at its end."""
        index = min(max(0, bisect_right(self._x, x) - 1), len(self._pieces) - 1)
        if index < 0:
            return 0
        piece = self._pieces[index]
        width = self._x[index + 1] - self._x[index]
        if piece.is_idle or not width:
            return piece.end
        part = min(1.0, max(0.0, (x - self._x[index]) / width))
        return piece.start + round(part * (piece.end - piece.start))

    def pieces(self) -> list[tuple[int, int]]:
        """From when to when the line goes evenly, in order, without its pauses."""
        return [(piece.start, piece.end) for piece in self._pieces if not piece.is_idle]

    def breaks(self, most: int) -> list[Break]:
        """The longest times cut short, at most so many, in order."""
        found = [
            Break(x, following - x, piece.end - piece.start, not piece.is_idle)
            for piece, x, following in zip(self._pieces, self._x, self._x[1:], strict=False)
            if piece.is_idle or piece.length < piece.end - piece.start
        ]
        longest = sorted(found, key=lambda one: -one.idle)[:most]
        return sorted(longest, key=lambda one: one.x)


def _joined(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches, joined where no more than an idle time lies between them."""
    joined: list[tuple[int, int]] = []
    first = last = None
    for start, end in stretches:
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


def _whole(busy: Sequence[tuple[int, int]]) -> list[_Piece]:
    pieces: list[_Piece] = []
    for start, end in busy:
        if pieces:
            pieces.append(_Piece(pieces[-1].end, start, 0, is_idle=True))
        pieces.append(_Piece(start, end, end - start))
    return pieces


def _with_outliers_cut(
    busy: Sequence[tuple[int, int]], stretches: Sequence[tuple[int, int]]
) -> list[_Piece]:
    """The pieces of a line, of which those that would flatten all others are drawn shorter."""
    moments = sorted({moment for start, end in stretches for moment in (start, max(start, end))})
    # Between two busy times lies one that is none; it is never among these.
    idle = {end for _, end in busy}
    steps = [(end - start, start, end) for start, end in pairwise(moments) if start not in idle]
    steps.sort(reverse=True)
    outliers = _outliers(steps, stretches)
    if not outliers:
        return _whole(busy)
    left = sum(length for length, _, _ in steps[len(outliers) :])
    most = _LEFT * left / len(outliers)
    pieces: list[_Piece] = []
    for piece in _whole(busy):
        at = piece.start
        for start, end in outliers:
            if not piece.is_idle and piece.start <= start < piece.end:
                pieces += [_Piece(at, start, start - at)] if start > at else []
                pieces.append(_Piece(start, end, min(end - start, most)))
                at = end
        if piece.end > at or at == piece.start:
            pieces.append(piece._replace(start=at, length=0 if piece.is_idle else piece.end - at))
    return pieces


def _outliers(
    steps: Sequence[tuple[int, int, int]], stretches: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The longest steps without which there is enough to see, in order."""
    left = sum(length for length, _, _ in steps)
    taken = found = 0
    for index, (length, _, _) in enumerate(steps[:_OUTLIERS], 1):
        taken += length
        left -= length
        if taken > _FLAT * left > 0:
            # Without these; of the rest others may stand out as much.
            taken, found = 0, index
    cut = sorted((start, end) for _, start, end in steps[:found])
    around = sum(
        1
        for start, end in stretches
        if end > start and not any(start <= first and last <= end for first, last in cut)
    )
    return cut if around >= _OTHERS else []

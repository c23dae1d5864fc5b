"""The ruler over a waterfall: ticks at round times, and what is cut short between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from presentview import units
from presentview.web.timeview import Window

__all__ = ["Cut", "Tick", "cuts_of", "ticks_of"]

_S: Final = 1000
_M: Final = 60 * _S
_H: Final = 60 * _M
_D: Final = 24 * _H
_STEPS: Final = (
    *(1, 2, 5, 10, 20, 50, 100, 200, 500),
    *(_S, 2 * _S, 5 * _S, 10 * _S, 15 * _S, 30 * _S),
    *(_M, 2 * _M, 5 * _M, 10 * _M, 15 * _M, 30 * _M),
    *(_H, 2 * _H, 3 * _H, 6 * _H, 12 * _H),
    *(_D, 2 * _D, 7 * _D, 30 * _D, 365 * _D),
)
_APART: Final = 9.0
_LAST: Final = 94.0
_MOST: Final = 12
_MOST_CUTS: Final = 12
_MOST_PIECES: Final = 200


class Tick(NamedTuple):
    """A tick at `x` %, and the time since the beginning of the session in words (empty at the
    right edge, where there is no room for them).
    """

    x: float
    label: str


class Cut(NamedTuple):
    """A time cut short, from `x` on, `width` wide (%), with how long it is in words; `label`
    says that something went on in it, or nothing did.
    """

    x: float
    width: float
    time: str
    label: str


def ticks_of(window: Window) -> list[Tick]:
    """The ticks of the part of a line that is shown, no two of them too close to be read."""
    ticks: list[Tick] = []
    for x, at, step in sorted(_candidates(window)):
        if ticks and x - ticks[-1].x < _APART:
            continue
        ticks.append(Tick(round(x, 2), _label(at, step) if x <= _LAST else ""))
    return ticks[:_MOST]


def _candidates(window: Window) -> Iterator[tuple[float, int, int]]:
    """Where there could be a tick, how far that is from the beginning of the line, and how far
    ticks are from each other there (ms).
    """
    line = window.line
    for start, end in line.pieces()[:_MOST_PIECES]:
        if not window.shows(start, end):
            continue
        first, last = window.place(line.x(start)), window.place(line.x(end))
        if last <= first:
            continue
        per_percent = (end - start) / (last - first)
        step = next((s for s in _STEPS if s >= per_percent * _APART), _STEPS[-1])
        begin = max(start, line.at(window.low)) - line.start
        for count in range(_MOST + 1):
            at = -(-begin // step) * step + count * step
            x = window.place(line.x(line.start + at))
            if line.start + at > end or x > 100:
                break
            if x >= 0:
                yield x, at, step


def _label(ms: int, step: int) -> str:
    if ms == 0:
        return "0"
    if ms >= _H and step < _M:
        return f"{ms // _H}:{ms % _H // _M:02}:{ms % _M // _S:02}"
    text = units.duration(ms)
    return text.replace(".0 s", " s").removesuffix(" 00 s").removesuffix(" 00 m")


def cuts_of(window: Window) -> list[Cut]:
    """The times cut short that are to be seen."""
    cuts: list[Cut] = []
    for one in window.line.breaks(_MOST_CUTS):
        first, last = window.place(one.x), window.place(one.x + one.width)
        if last < 0 or first > 100:
            continue
        first, last = max(0.0, first), min(100.0, last)
        what = "drawn shorter" if one.is_busy else "pause"
        time = units.duration(one.idle)
        cuts.append(Cut(round(first, 2), round(last - first, 2), time, f"{time} {what}"))
    return cuts

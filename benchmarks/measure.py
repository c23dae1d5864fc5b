"""Two things in turn, several times over, and what their times say."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Figure", "compare"]

_PAIRS = 5


class Figure(NamedTuple):
    """One figure: `value` against the `target` it is to stay below (or above, if `at_least`)."""

    name: str
    value: float
    target: float
    unit: str
    raw: str
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the target is reached."""
        return self.value >= self.target if self.at_least else self.value <= self.target


def compare(
    name: str,
    one: Callable[[], object],
    other: Callable[[], object],
    *,
    target: float,
    at_least: bool = False,
    pairs: int = _PAIRS,
) -> Figure:
    """How many times as long `one` takes as `other`: the median over pairs run in turn.

    Times are the process's CPU times, which other processes disturb less.
    """
    ratios: list[float] = []
    times: list[tuple[float, float]] = []
    for _ in range(pairs):
        first, second = _seconds(one), _seconds(other)
        times.append((first, second))
        ratios.append(first / second)
    mine, theirs = (statistics.median(column) for column in zip(*times, strict=True))
    spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
    raw = f"{mine * 1000:,.1f} ms against {theirs * 1000:,.1f} ms, ratios {spread}"
    return Figure(name, statistics.median(ratios), target, "x", raw, at_least)


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    result = work()
    took = time.process_time() - began
    del result  # only now: what a result costs to throw away is not its making
    return took

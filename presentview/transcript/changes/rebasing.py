"""Hunks told by the lines of an older state of their file, moved to where those lines are now.

Two calls that were sent at once both name the lines they saw. When the second takes effect the
first has moved them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from presentview.transcript.changes.edits import PlacedHunk, Row
from presentview.transcript.changes.sheet import Run

__all__ = ["Conflict", "moved_range", "rebased"]


class Conflict(Exception):
    """Both edits change the same lines, or add lines at the same place."""


def rebased(hunks: Sequence[PlacedHunk], stages: Iterable[Sequence[Run]]) -> tuple[PlacedHunk, ...]:
    """The hunks as they apply after the changes of all `stages`, kept lines that have changed
    left out.

    Raises `Conflict` where their place is not certain.
    """
    for runs in stages:
        hunks = [moved for hunk in hunks for moved in _moved(hunk, runs)]
    return tuple(hunks)


def _moved(hunk: PlacedHunk, runs: Sequence[Run]) -> list[PlacedHunk]:
    assert hunk.at is not None
    if not hunk.before:
        return [PlacedHunk(_gap(hunk.at, runs), hunk.rows)]
    made: list[PlacedHunk] = []
    group: list[Row] = []
    added: list[Row] = []
    start, at, after_changed = -1, hunk.at, False
    for row in hunk.rows:
        if row.sign == "+":
            added.append(row)
            continue
        now = _line(at, runs)
        follows = bool(group) and now == start + _kept(group)
        if not follows and group:
            _close(group, added, certain=now is None)
            made.append(PlacedHunk(start, tuple(group)))
            group = []
        if now is None:
            if row.sign == "-" or added:
                raise Conflict
        elif follows:
            group += [*added, row]
        else:
            if added and not after_changed and _put_before(at, runs):
                raise Conflict
            group, start = [*added, row], now
        if now is not None:
            added = []
        after_changed = now is None
        at += 1
    if group:
        _close(group, added, certain=not _put_before(at, runs))
        made.append(PlacedHunk(start, tuple(group)))
    elif added:
        raise Conflict
    return made


def _kept(group: Sequence[Row]) -> int:
    """How many lines of the old file a group has."""
    return sum(row.sign != "+" for row in group)


def _close(group: list[Row], added: list[Row], *, certain: bool) -> None:
    """Put added lines behind a group; where others follow it too, only if they replace a line."""
    if added and not certain and group[-1].sign == " ":
        raise Conflict
    group += added
    added.clear()


def _line(at: int, runs: Sequence[Run]) -> int | None:
    """Where a line is now, None if it was changed."""
    shift = 0
    for run in runs:
        if at < run.at:
            break
        if at < run.at + run.old:
            return None
        shift += run.new - run.old
    return at + shift


def _gap(at: int, runs: Sequence[Run]) -> int:
    """Where the gap after the first `at` lines is now."""
    shift = 0
    for run in runs:
        if run.at <= at <= run.at + run.old:
            raise Conflict
        if at > run.at:
            shift += run.new - run.old
    return at + shift


def _put_before(at: int, runs: Sequence[Run]) -> bool:
    """Whether lines were put in front of a line that were not there before."""
    return any(run.at + run.old == at and run.new for run in runs)


def moved_range(start: int, end: int, runs: Sequence[Run]) -> tuple[int, int] | None:
    """Where the lines from `start` up to `end` are now; None if a change reaches into them.

    An empty range, where lines were removed, is reached by lines that were put there.
    """
    shift = 0
    for run in runs:
        last = run.at + run.old
        if start == end:
            touched = run.new > 0 and run.at <= start <= last
        elif run.old:
            touched = run.at < end and last > start
        else:
            touched = start < run.at < end
        if touched:
            return None
        if start == end and run.at < start < last:
            return run.at + shift, run.at + shift
        if run.at >= end:
            break
        shift += run.new - run.old
    return start + shift, end + shift

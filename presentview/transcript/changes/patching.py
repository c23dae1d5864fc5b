"""One patch of what a session did, for `git apply` on the files as they were before it.

A step goes in only if its place is certain and git takes each of its hunks without options; a
step that shares lines with one that is left out is left out with it. All of a step goes in, or
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from presentview.transcript.changes.composing import Region, file_header, region_text, regions
from presentview.transcript.changes.edits import FileEdit
from presentview.transcript.changes.filestate import FileState
from presentview.transcript.changes.names import inside
from presentview.transcript.changes.playback import Playback, Trace
from presentview.transcript.changes.sheet import Sheet
from presentview.transcript.changes.walk import Piece

__all__ = ["Composed", "LeftOut", "composed", "joined_files", "line_changes", "written"]

_OUTSIDE: Final = "it is outside the workspace"
_INEXACT: Final = "it has characters that were not recorded as they are"
_NOT_ALL: Final = "not all of the file is recorded"
_NO_CONTEXT: Final = "git needs lines around it, and none are recorded"


class LeftOut(NamedTuple):
    """A step that is not in a patch, because of what in which file."""

    step: int
    path: str
    reason: str


class Composed(NamedTuple):
    """The text of a patch, the steps that are in it, and those that are not."""

    text: str
    steps: tuple[int, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


class _File:
    """One file of a patch: its last state that can be told as a change of the base."""

    def __init__(self, traces: Sequence[Trace]) -> None:
        self.state: FileState | None = None
        self.traces: list[Trace] = []
        self.late: list[LeftOut] = []
        for number, trace in enumerate(traces):
            reason = _reason(trace)
            if reason:
                first = trace.step.number
                self.late.append(LeftOut(first, trace.path, reason))
                builds = f"it builds on step {first}, which is left out"
                self.late += (
                    LeftOut(later.step.number, later.path, builds) for later in traces[number + 1 :]
                )
                return
            self.state = trace.state
            self.traces.append(trace)

    @property
    def shape(self) -> set[int]:
        """The steps that did more to the file than change lines."""
        return {
            trace.step.number
            for trace in self.traces
            if trace.edit.action != "modify" or trace.edit.new_mode
        }

    def regions(self) -> list[Region]:
        """The changes of lines."""
        assert self.state is not None
        return line_changes(self.state)

    def problem(self) -> str:
        """Why nothing of the file can go into a patch."""
        state = self.state
        assert state is not None
        if not (inside(state.path) and inside(state.base_path)):
            return _OUTSIDE
        if state.exists and state.base == "absent" and not state.sheet.is_full:
            return _NOT_ALL
        return ""

    def problem_of(self, region: Region) -> str:
        """Why git would not take a region, or might put it elsewhere."""
        if region.problem or region.trailing or region.followed_by == "end":
            return region.problem
        # A diff that keeps lines in front of a change and none behind it ends with the file.
        hunks = (h for t in self.traces if t.step.number in region.by for h in t.edit.hunks)
        at_end = any(hunk.rows[0].sign == " " != hunk.rows[-1].sign for hunk in hunks)
        return "" if at_end and region.followed_by == "rest" else _NO_CONTEXT


def composed(playback: Playback, wanted: Callable[[Trace], bool] = lambda _: True) -> Composed:
    """The patch of the files of a playback, of those only that a `wanted` edit is about."""
    groups = [t for t in playback.lineages.values() if any(map(wanted, t))]
    files = [_File(traces) for traces in groups]
    left = _Left()
    for file in files:
        left.add(file.late)
        if file.state is not None and (problem := file.problem()):
            left.add(LeftOut(t.step.number, t.path, problem) for t in file.traces)
    whole = [file for file in files if file.state is not None]
    while left.grew:
        left.grew = False
        for file in whole:
            _leave_out(file, left)
    kept = [file for file in whole if not file.shape & left.steps and not file.problem()]
    texts = [(file.state, _text(file, left)) for file in kept if file.state is not None]
    every = {trace.step.number for file in files for trace in file.traces}
    return Composed(joined_files(texts), tuple(sorted(every - left.steps)), left.sorted())


class _Left:
    """The steps that are left out so far; `grew` since it was last set to False."""

    def __init__(self) -> None:
        self.grew = True
        self._why: dict[int, LeftOut] = {}

    @property
    def steps(self) -> set[int]:
        return set(self._why)

    def add(self, more: Iterable[LeftOut]) -> None:
        for one in more:
            if one.step not in self._why:
                self._why[one.step] = one
                self.grew = True

    def sorted(self) -> tuple[LeftOut, ...]:
        return tuple(self._why[step] for step in sorted(self._why))


def _leave_out(file: _File, left: _Left) -> None:
    """Leave out what cannot go in any more because of what is left out already."""
    assert file.state is not None
    path = file.state.path
    if gone := file.shape & left.steps:
        reason = f"it goes with step {min(gone)}, which is left out"
        left.add(LeftOut(trace.step.number, path, reason) for trace in file.traces)
        return
    for region in file.regions():
        problem = file.problem_of(region)
        gone = set(region.by) & left.steps
        if gone and not problem:
            problem = f"it shares lines with step {min(gone)}, which is left out"
        if problem:
            left.add(LeftOut(step, path, problem) for step in sorted(region.by))


def _text(file: _File, left: _Left) -> str:
    assert file.state is not None
    kept = [region for region in file.regions() if not region.by & left.steps]
    return written(file.state, kept)


def written(state: FileState, kept: Sequence[Region]) -> str:
    """The part of a patch that is about one file, empty if nothing became of it."""
    came = state.base == "absent"
    if came and not state.exists:
        return ""
    moved = state.path != state.base_path and not came
    moded = bool(state.mode and state.base_mode and state.mode != state.base_mode)
    if not kept and not (came or moved or moded or not state.exists):
        return ""
    hunks: list[str] = []
    shift = 0
    for region in kept:
        hunks.append(region_text(region, shift))
        shift += region.growth
    return file_header(state, has_hunks=bool(hunks)) + "".join(hunks)


def line_changes(state: FileState) -> list[Region]:
    """What changed in the lines of a file, all of them if it is gone."""
    sheet = state.sheet
    if not state.exists:
        by = frozenset[int]().union(*(piece.by for piece in sheet.pieces))
        lines = sheet.base_lines()
        sheet = Sheet((Piece(lines, (), by=by | {0}),) if lines else ())
    return list(regions(sheet))


def _reason(trace: Trace) -> str:
    if trace.state.unpatchable:
        return trace.state.unpatchable
    return "" if trace.edit.is_exact and _plain(trace.edit) else _INEXACT


def _plain(edit: FileEdit) -> bool:
    return "\ufffd" not in edit.path + edit.old_path


def joined_files(texts: Iterable[tuple[FileState, str]]) -> str:
    """A patch of its parts, those first that make room for others: files that go, or get another
    name.
    """

    def rank(state: FileState) -> int:
        if not state.exists:
            return 0
        return 3 if state.base == "absent" else 2 if state.path == state.base_path else 1

    return "".join(text for _, text in sorted(texts, key=lambda one: rank(one[0])))

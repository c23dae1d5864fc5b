"""One patch of the steps that are not on the disk, for the files as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from presentview.transcript.changes.edits import FileEdit, split_lines
from presentview.transcript.changes.filestate import FileState
from presentview.transcript.changes.patching import (
    Composed,
    LeftOut,
    joined_files,
    line_changes,
    written,
)
from presentview.transcript.changes.playback import Edits, Playback
from presentview.transcript.changes.playing import play, renamed
from presentview.transcript.changes.sheet import Sheet, blank
from presentview.transcript.changes.standing import sides_of, standing
from presentview.transcript.changes.step import Step
from presentview.transcript.changes.verdicts import FileVerdict, Judge, Verdict

__all__ = ["missing"]

_LOST: Final = frozenset({Verdict.FILE_GONE, Verdict.NOT_ON_DISK, Verdict.PARTLY})
_UNTOLD: Final = "the file is gone, and not all of it is recorded"
_NO_PLACE: Final = "its lines do not stand in just one place of the file"


def missing(
    playback: Playback, edits: Edits, judge: Judge, steps: Iterable[Step], file: str = ""
) -> Composed:
    """The patch of those of `steps` that are lost, of one `file` only if that is named."""
    work = _Work(playback, judge)
    left: list[LeftOut] = []
    done: list[int] = []
    for step in steps:
        found = judge.verdict(step)
        before = dict(work.states)
        problems: list[LeftOut] = []
        took = False
        for edit, verdict in zip(edits.edits(step), found.files, strict=True):
            if file and file not in (edit.path, verdict.path):
                continue
            if work.may_follow(verdict):
                took |= not work.take(edit, verdict, step.number)
            elif verdict.verdict in _LOST:
                problem = work.take(edit, verdict, step.number)
                took |= not problem
                if problem:
                    problems.append(LeftOut(step.number, verdict.path, problem))
        if problems:
            work.states = before
            left.append(problems[0])
        elif took:
            done.append(step.number)
    states = work.states.values()
    text = joined_files((state, written(state, line_changes(state))) for state in states)
    return Composed(text, tuple(done), tuple(left))


class _Work:
    """The files of the disk, with what is put into them again."""

    def __init__(self, playback: Playback, judge: Judge) -> None:
        self._playback = playback
        self._judge = judge
        self.states: dict[str, FileState] = {}
        self._whole: set[str] = set()

    def may_follow(self, verdict: FileVerdict) -> bool:
        """Whether an edit, whose lines the disk has neither before nor after, may go into what
        others that are lost make of the file.
        """
        return verdict.verdict is Verdict.CHANGED_SINCE and verdict.path in self.states

    def take(self, edit: FileEdit, verdict: FileVerdict, step: int) -> str:
        """Put an edit in; why that cannot be done, if it cannot."""
        path = verdict.path
        if verdict.verdict is Verdict.FILE_GONE and not self._is_elsewhere(path):
            return self._bring_back(path, step)
        moves = edit.action == "rename" and path not in self.states
        state = self._state(edit.source if moves else path)
        if state is None:
            return "the file is no UTF-8"
        edit = self._without_what_stands(edit, state)
        played = play(renamed(state, path), edit._replace(path=path), step).state
        if played.broken or played.unpatchable:
            return _NO_PLACE
        self.states.pop(state.path, None)
        self.states[path] = played
        return ""

    def _is_elsewhere(self, path: str) -> bool:
        """Whether a file that is gone is there under the name it had before the session, so that
        it can be given the other one, and its edits.
        """
        known = self._known(path)
        if known is None or known.base_path == path or path in self._whole:
            return False
        if path not in self.states:
            state = self._state(known.base_path)
            if state is None or not state.exists:
                return False
            self.states.pop(known.base_path, None)
            self.states[path] = renamed(state, path)
        return True

    def _known(self, path: str) -> FileState | None:
        """What the session's last step on the file at a path made of it."""
        traces = reversed(self._playback.traces)
        return next((t.state for t in traces if t.path == path and t.step.took_effect), None)

    def _bring_back(self, path: str, step: int) -> str:
        """Make a file that is gone as it is known to have been."""
        if path in self.states:
            return ""
        known = self._known(path)
        if known is None or not known.is_full:
            return _UNTOLD
        gone = FileState(path, path, 0, Sheet(()), exists=False, base="absent")
        content = FileEdit(path, "create", content=known.sheet.lines(), new_mode=known.mode)
        self.states[path] = play(gone, content, step).state
        self._whole.add(path)
        return ""

    def _state(self, path: str) -> FileState | None:
        known = self.states.get(path)
        if known is not None:
            return known
        content = self._judge.found(path).content
        if content is None:
            return FileState(path, path, 0, Sheet(()), exists=False, base="absent")
        try:
            lines = split_lines(content.decode())
        except UnicodeDecodeError:
            return None
        return FileState(path, path, 0, blank().told(lines, whole=True))

    @staticmethod
    def _without_what_stands(edit: FileEdit, state: FileState) -> FileEdit:
        """An edit with each hunk to be found by its lines, those left out that stand already."""
        if not edit.hunks or edit.action not in ("modify", "rename") or not state.is_full:
            return edit
        content = state.content
        hunks = edit._replace(swaps=(), content=None, original=None)
        stand = [standing(sides, content).what for sides in sides_of(hunks, None)]
        kept = (
            hunk._replace(at=None)
            for hunk, what in zip(edit.hunks, stand, strict=True)
            if what != "after"
        )
        return edit._replace(hunks=tuple(kept), content=None, original=None)

"""Steps compared with the workspace, as a page shows it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from presentview.changelisting import verdict_text
from presentview.limits import WATCHED_FOLDERS
from presentview.transcript.changes.names import inside
from presentview.transcript.changes.step import Step
from presentview.transcript.changes.verdicts import (
    FileVerdict,
    Judge,
    StepVerdict,
    Verdict,
    verdict_of,
)
from presentview.web.changed import Changed
from presentview.worktree import Worktree

__all__ = ["Check", "VerdictWord", "touched_folders", "word_of"]

_CLASSES: Final = {
    Verdict.ON_DISK: "good",
    Verdict.OVERWRITTEN: "good",
    Verdict.FILE_GONE: "bad",
    Verdict.NOT_ON_DISK: "bad",
    Verdict.PARTLY: "bad",
    Verdict.CHANGED_SINCE: "warn",
    Verdict.CANNOT_TELL: "warn",
    Verdict.NOT_CHECKED: "quiet",
}


class VerdictWord(NamedTuple):
    """A verdict in words, and a CSS class for how good that is."""

    text: str
    css_class: str


def word_of(verdict: StepVerdict | FileVerdict) -> VerdictWord:
    """The words for a verdict."""
    return VerdictWord(verdict_text(verdict.verdict, verdict.by), _CLASSES[verdict.verdict])


class Check:
    """Compares steps with the files below `root` as they are now: each file is read once."""

    def __init__(self, found: Changed, root: Path) -> None:
        self._found = found
        self._look = Worktree(root).look
        self._judges: dict[frozenset[str], Judge] = {}

    def verdict(self, step: Step, until: float) -> StepVerdict | None:
        """The verdict on a step; None if what it takes was not played by `until`."""
        edits = self._found.edits(step)
        files: dict[frozenset[str], Iterator[FileVerdict]] = {}
        found: list[FileVerdict] = []
        for edit in edits:
            judge = self._judge(edit.path, until)
            if judge is None:
                return None
            family = self._found.families.of(edit.path)
            if family not in files:
                files[family] = iter(judge.files(step))
            found.append(next(files[family]))
        return verdict_of(found)

    def _judge(self, path: str, until: float) -> Judge | None:
        family = self._found.families.of(path)
        judge = self._judges.get(family)
        if judge is None:
            player = self._found.player(path)
            if not player.is_done and not player.reach(self._found.steps[-1].number, until):
                return None
            steps = self._found.changes.steps
            judge = self._judges[family] = Judge(player.playback, steps, self._look)
        return judge


def touched_folders(root: Path, steps: Iterable[Step]) -> list[Path]:
    """The folders below `root` in which steps touched files, the first ones of them; none that a
    link leads to. One that is not there stands for itself in the nearest that is.
    """
    top = os.path.realpath(root)
    found: dict[Path, None] = {}
    names = dict.fromkeys(p.rpartition("/")[0] for s in steps for p in s.paths if inside(p))
    for name in names:
        folder = os.path.join(top, name) if name else top
        while folder != top and not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        if os.path.realpath(folder) == folder:
            found[Path(folder)] = None
        if len(found) >= WATCHED_FOLDERS:
            break
    return list(found)

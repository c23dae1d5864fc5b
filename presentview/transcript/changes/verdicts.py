"""Whether the steps of a session are on the disk.

Each verdict says the first that fits. What a file holds is compared with what the session
recorded; nothing else of it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Final, NamedTuple

from presentview.transcript.changes.edits import FileEdit
from presentview.transcript.changes.fates import fates_of, overwriter
from presentview.transcript.changes.filestate import FileState
from presentview.transcript.changes.names import inside
from presentview.transcript.changes.playback import Edits, Playback, Trace
from presentview.transcript.changes.standing import Standing, sides_of, standing
from presentview.transcript.changes.step import Step

__all__ = [
    "FileVerdict",
    "Found",
    "Judge",
    "Look",
    "StepVerdict",
    "Verdict",
    "exit_code",
    "verdict_of",
]


class Verdict(Enum):
    """What became of a step, by the disk."""

    NOT_CHECKED = "not checked"
    FILE_GONE = "file gone"
    ON_DISK = "on disk"
    OVERWRITTEN = "overwritten"
    NOT_ON_DISK = "not on disk"
    PARTLY = "partly"
    CHANGED_SINCE = "changed since"
    CANNOT_TELL = "can't tell"


_ON_DISK: Final = frozenset({Verdict.ON_DISK, Verdict.OVERWRITTEN})
_LOST: Final = frozenset({Verdict.FILE_GONE, Verdict.NOT_ON_DISK, Verdict.PARTLY})
_UNSURE: Final = frozenset({Verdict.CANNOT_TELL, Verdict.NOT_CHECKED})
# Of the verdicts on the files of one step the most serious is the step's.
_SERIOUS: Final = (
    Verdict.FILE_GONE,
    Verdict.PARTLY,
    Verdict.NOT_ON_DISK,
    Verdict.CHANGED_SINCE,
    Verdict.CANNOT_TELL,
    Verdict.NOT_CHECKED,
    Verdict.OVERWRITTEN,
    Verdict.ON_DISK,
)


class Found(NamedTuple):
    """What is at a path: its `content`, None where there is nothing, or a `reason` why nobody
    looked.
    """

    content: bytes | None = None
    reason: str = ""
    executable: bool = False


Look = Callable[[str], Found]
"""Looks at the file at a path below the workspace."""


class FileVerdict(NamedTuple):
    """The verdict on one file of a step: `path` is where the file is to be found now, `by` the
    step that overwrote it, `reason` why it was not checked, `hunks` how each of its hunks stands.
    """

    path: str
    verdict: Verdict
    by: int = 0
    reason: str = ""
    hunks: tuple[Standing, ...] = ()


class StepVerdict(NamedTuple):
    """The verdict on a step, and on each of its files."""

    verdict: Verdict
    by: int
    files: tuple[FileVerdict, ...]


class Judge:
    """Judges the steps of a playback, which has those in flight, against the disk."""

    def __init__(self, playback: Playback, edits: Edits, look: Look) -> None:
        self._playback = playback
        self._edits = edits
        self._look = look
        self._seen: dict[str, Found] = {}
        self._known: dict[tuple[int, int], FileVerdict] = {}
        self._same: dict[int, list[int]] = {}
        self._traces: dict[int, list[tuple[int, Trace]]] = {}
        counts = dict.fromkeys(playback.lineages, 0)
        for trace in playback.traces:
            index = counts[trace.lineage]
            counts[trace.lineage] += 1
            self._traces.setdefault(trace.step.number, []).append((index, trace))

    def verdict(self, step: Step) -> StepVerdict:
        """The verdict on a step all of whose files are played."""
        return verdict_of(self.files(step))

    def files(self, step: Step) -> tuple[FileVerdict, ...]:
        """The verdicts on those files of a step that are played, in the order of its edits."""
        played = self._traces.get(step.number)
        if played is not None:
            return tuple(self._file(trace.lineage, index) for index, trace in played)
        edits = self._edits.edits(step)
        return tuple(self._unplayed(edit) for edit in edits if self._playback.covers(edit.path))

    def forget(self, paths: Iterable[str] | None = None) -> None:
        """Look again at these files, or at all, the next time."""
        self._known.clear()
        self._same.clear()
        for path in list(self._seen) if paths is None else paths:
            self._seen.pop(path, None)

    def found(self, path: str) -> Found:
        """What is at a path, looked at once."""
        found = self._seen.get(path)
        if found is None:
            outside = Found(reason="outside the workspace")
            found = self._seen[path] = self._look(path) if inside(path) else outside
        return found

    # one file of a step

    def _file(self, lineage: int, index: int) -> FileVerdict:
        """The verdict on the edit that is number `index` of those of its file."""
        traces = self._playback.lineages[lineage]
        chain: list[tuple[int, FileVerdict, int]] = []
        at = index
        while (lineage, at) not in self._known:
            verdict, by = self._by_itself(lineage, at)
            chain.append((at, verdict, by))
            if not by:
                break
            at = by
        for number, verdict, by in reversed(chain):
            if by and _hides(self._known[lineage, by].verdict, verdict):
                step = traces[by].step.number
                verdict = verdict._replace(verdict=Verdict.OVERWRITTEN, by=step)  # noqa: PLW2901
            self._known[lineage, number] = verdict
        return self._known[lineage, index]

    def _by_itself(self, lineage: int, index: int) -> tuple[FileVerdict, int]:
        """The verdict on an edit unless a later one, by its index, overwrote it; 0: none can."""
        traces = self._playback.lineages[lineage]
        trace = traces[index]
        last = _last_applied(traces)
        path = trace.path if last is None or trace.step.in_flight else last.path
        found = self.found(path)
        reason = _unchecked(trace.edit, found)
        if reason:
            return FileVerdict(path, Verdict.NOT_CHECKED, reason=reason), 0
        if found.content is None and last is not None and last.state.exists:
            moves = trace.edit.action == "rename" and trace.step.in_flight
            if not moves and trace.edit.action != "delete":
                return FileVerdict(path, Verdict.FILE_GONE), 0
        if self._is_in_known_state(lineage, index, found):
            return FileVerdict(path, Verdict.ON_DISK), 0
        plain = self._plain(trace.edit, path, found, _whole_before(traces, index))
        by = 0 if plain.verdict is Verdict.ON_DISK else overwriter(traces, index)
        return plain, by

    def _unplayed(self, edit: FileEdit) -> FileVerdict:
        """The verdict on an edit that is said to have had no effect."""
        found = self.found(edit.path)
        reason = _unchecked(edit, found)
        if reason:
            return FileVerdict(edit.path, Verdict.NOT_CHECKED, reason=reason)
        state = self._playback.state(edit.path)
        if found.content is None and edit.action != "delete" and state and state.exists:
            return FileVerdict(edit.path, Verdict.FILE_GONE)
        return self._plain(edit, edit.path, found, None)

    def _plain(self, edit: FileEdit, path: str, found: Found, earlier: str | None) -> FileVerdict:
        """The verdict by the hunks of an edit alone."""
        content = found.content
        if edit.action == "delete" and content is None:
            return FileVerdict(path, Verdict.ON_DISK)
        sides = sides_of(edit, earlier)
        if not sides:
            return FileVerdict(path, self._without_hunks(edit, found))
        if content is None:
            # Nothing was made of it yet, or another file went before it could be.
            created = edit.action in ("create", "write", "copy", "rename")
            return FileVerdict(path, Verdict.NOT_ON_DISK if created else Verdict.CANNOT_TELL)
        hunks = tuple(standing(one, content) for one in sides)
        return FileVerdict(path, _of_hunks(hunks), hunks=hunks)

    def _without_hunks(self, edit: FileEdit, found: Found) -> Verdict:
        """The verdict on an edit that changed no line: a rename, or a mode."""
        if edit.opaque:
            return Verdict.CANNOT_TELL
        if edit.action == "rename":
            old = self.found(edit.source)
            if old.reason or (old.content is None) == (found.content is None):
                return Verdict.CANNOT_TELL
            return Verdict.NOT_ON_DISK if found.content is None else Verdict.ON_DISK
        if edit.new_mode and found.content is not None:
            wanted = edit.new_mode.endswith("755")
            return Verdict.ON_DISK if wanted == found.executable else Verdict.NOT_ON_DISK
        changes_nothing = edit.action == "modify" and found.content is not None
        return Verdict.ON_DISK if changes_nothing else Verdict.CANNOT_TELL

    # with what the other steps did

    def _is_in_known_state(self, lineage: int, index: int, found: Found) -> bool:
        """Whether the file is, byte for byte, as it is known to have been at a time when the step
        had taken effect and none of its lines had been changed again.
        """
        traces = self._playback.lineages[lineage]
        content = found.content
        if content is None or traces[index].edit.opaque:
            return False
        same = self._same.get(lineage)
        if same is None:
            states = [trace.state for trace in traces]
            same = self._same[lineage] = [
                n for n, state in enumerate(states) if _is(state, content)
            ]
        if not same or same[-1] < index:
            return False
        return any(
            fate.kept and at in same for at, fate in enumerate(fates_of(traces, index), index)
        )


def exit_code(verdicts: Iterable[StepVerdict]) -> int:
    """1 if any is lost, else 2 if any is not certain, else 0."""
    found = {verdict.verdict for verdict in verdicts}
    return 1 if found & _LOST else 2 if found & _UNSURE else 0


def _hides(later: Verdict, earlier: FileVerdict) -> bool:
    """Whether a later edit, by its verdict, is why the lines of an earlier one do not stand. One
    that cannot be told is, unless something stands as it was before the earlier one.
    """
    if later is Verdict.CANNOT_TELL:
        return not any(hunk.what == "before" for hunk in earlier.hunks)
    return later in _ON_DISK


def verdict_of(files: Sequence[FileVerdict]) -> StepVerdict:
    """The verdict on a step by those on all of its files."""
    found = {file.verdict for file in files}
    if found & _ON_DISK and Verdict.NOT_ON_DISK in found and Verdict.FILE_GONE not in found:
        verdict = Verdict.PARTLY
    else:
        verdict = next((v for v in _SERIOUS if v in found), Verdict.CANNOT_TELL)
    by = max((file.by for file in files if file.verdict is verdict), default=0)
    return StepVerdict(verdict, by, tuple(files))


def _unchecked(edit: FileEdit, found: Found) -> str:
    if found.reason:
        return found.reason
    binary = edit.is_binary or (found.content is not None and b"\0" in found.content)
    return "binary" if binary else ""


def _of_hunks(hunks: Sequence[Standing]) -> Verdict:
    kinds = {hunk.what for hunk in hunks}
    if kinds == {"after"}:
        at = [hunk.at for hunk in hunks]
        return Verdict.ON_DISK if at == sorted(at) else Verdict.CHANGED_SINCE
    if kinds == {"before"}:
        return Verdict.NOT_ON_DISK
    if kinds == {"neither"}:
        return Verdict.CHANGED_SINCE
    if "before" in kinds or {"after", "neither"} <= kinds:
        return Verdict.PARTLY
    return Verdict.CANNOT_TELL


def _last_applied(traces: Sequence[Trace]) -> Trace | None:
    return next((trace for trace in reversed(traces) if trace.step.took_effect), None)


def _is(state: FileState, content: bytes) -> bool:
    return (
        state.is_full and state.size <= len(content) <= 4 * state.size and state.content == content
    )


def _whole_before(traces: Sequence[Trace], index: int) -> str | None:
    """All of the file before an edit, where that is known."""
    if index == 0 or not traces[index - 1].state.is_full:
        return None
    return "".join(traces[index - 1].state.sheet.lines())

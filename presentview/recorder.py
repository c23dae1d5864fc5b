"""The recorder: keeps what a person is shown of a session, in memory and in its sidecar.

Every record is in the file when `append` returns, so the death of the process loses nothing;
it is on the disk at every turn's start and end and after `save`. What a sidecar holds never
feeds a model: it is for people.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from presentview.errors import PresentviewError, SaveError
from presentview.events import Event, record_of
from presentview.recording import Fsync, Recording, Settings, now
from presentview.records import Record
from presentview.sidecar import Problem

__all__ = ["Recorder", "Snapshot"]

StrPath = str | os.PathLike[str]
OnError = Callable[[PresentviewError], None]


class Snapshot(NamedTuple):
    """The records and the rewrite version they belong to, taken at one moment."""

    records: tuple[Record, ...]
    rewrite_version: int


class Recorder:
    """Accumulates a session's records; bound to a session, also writes them to its sidecar.

    `Recorder()` keeps them in memory until `save(path)`; `Recorder.open(session_path)` appends
    each to the file; `Recorder.null()` does nothing. All methods may be called from any thread.

    With `extensions` records carry their time, turns their prompt and end, and the header what
    the session list needs; without them the file is byte for byte what the Go program would
    write. `drop_deltas` lets a rewrite leave out streamed pieces that a final record repeats.
    `max_turns` keeps only the last so many turns. Of the turns that go, the edits are kept in
    `X.changes.jsonl` beside the sidecar, unless `keep_changes` is False.
    """

    def __init__(
        self,
        *,
        extensions: bool = True,
        drop_deltas: bool = True,
        max_turns: int | None = None,
        keep_changes: bool = True,
    ) -> None:
        if max_turns is not None and max_turns < 1:
            raise ValueError("max_turns must be at least 1, or None to keep all")
        self._settings = Settings(extensions, drop_deltas, max_turns, keep_changes=keep_changes)
        self._on_error: OnError | None = None
        self._telling = False
        self._lock = threading.RLock()
        self._null = False
        self._closed = False
        self._recording = Recording(self._settings)

    @classmethod
    def open(
        cls,
        session_path: StrPath,
        *,
        workspace: StrPath | None = None,
        session_version: int = 0,
        extensions: bool = True,
        drop_deltas: bool = True,
        max_turns: int | None = None,
        keep_changes: bool = True,
        fsync: Fsync = "turn",
        on_error: OnError | None = None,
    ) -> Self:
        """A recorder that goes on with the sidecar of the session at `session_path`.

        The sidecar is found under either of its names; a torn last line is cut off, and a turn
        that a dead process left unfinished is closed as interrupted. `workspace` is the folder
        the agent works in, `session_version` the session's own rewrite version. `fsync` says
        when records are forced to the disk: "turn" (at each turn's start and end), "always" or
        "never". A failure to write raises `SaveError`, or is handed to `on_error`.

        Raises `SidecarLocked` if another recorder has it open and `SidecarError` if the file is
        there and cannot be read. An empty path gives a recorder that does nothing.
        """
        if fsync not in ("always", "turn", "never"):
            raise ValueError(f"fsync is 'always', 'turn' or 'never', not {fsync!r}")
        if not os.fspath(session_path):
            return cls.null()
        recorder = cls(
            extensions=extensions,
            drop_deltas=drop_deltas,
            max_turns=max_turns,
            keep_changes=keep_changes,
        )
        recorder._settings = recorder._settings._replace(
            fsync=fsync, workspace=os.path.abspath(workspace) if workspace else ""
        )
        recorder._recording = Recording(recorder._settings)
        recorder._on_error = on_error
        recorder._bind(Path(session_path), session_version)
        return recorder

    @classmethod
    def null(cls) -> Self:
        """A recorder that records nothing: every method may be called and does nothing."""
        recorder = cls()
        recorder._null = True
        return recorder

    # what is recorded

    @property
    def records(self) -> tuple[Record, ...]:
        """The records so far, oldest first."""
        with self._lock:
            return self._recording.history.records

    @property
    def rewrite_version(self) -> int:
        """How often the session's messages were rewritten, as the file counts it."""
        return self._recording.version

    @property
    def path(self) -> Path | None:
        """The sidecar this recorder appends to, None if it is bound to none."""
        journal = self._recording.journal
        return journal.path if journal else None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of the file this recorder went on with."""
        return self._recording.problems

    def snapshot(self) -> Snapshot:
        """The records and the rewrite version, as they are at one moment."""
        with self._lock:
            return Snapshot(self.records, self.rewrite_version)

    # recording

    def append(self, event: Event) -> None:
        """Record `event` if it is something a person is shown.

        After return the record is in memory and, for a bound recorder, in the file. Raises
        `SaveError` (unless there is an `on_error`) if it could not be written; it is kept, and
        the next call writes it. Raises `RuntimeError` after `close`.
        """
        if self._null:
            return
        record = self._recorded(event)
        if record is None:
            return
        with self._lock:
            self._must_be_open()
            try:
                self._recording.add(record)
            except SaveError as error:
                if self._on_error is None:
                    raise
                self._tell(self._on_error, error)

    def _recorded(self, event: Event) -> Record | None:
        return record_of(event, now(), extensions=self._settings.extensions)

    # keeping step with the session

    def set_rewrite_version(self, version: int) -> None:
        """Take `version` as the session's rewrite version, dropping nothing."""
        if self._null:
            return
        with self._lock:
            self._recording.tell(version)

    def sync_before_save(self, current_version: int, last_done: Event | None = None) -> None:
        """Bring the records in step with a session that may have been rewritten.

        A `current_version` greater than the last one told means that the model's messages were
        rewritten: the records go, unless `truncate_to_turn` has said since what stays. The
        compaction `last_done`, if it has a summary and is not among them, is placed first. A
        smaller version is a new process counting from its own start: nothing goes.
        """
        if self._null:
            return
        with self._lock:
            self._must_be_open()
            done = self._recorded(last_done) if last_done is not None else None
            self._recording.sync(current_version, done)

    def truncate_to_turn(self, turn: int) -> None:
        """Drop everything before `turn`, which counts from 1 and is never renumbered.

        The running turn always stays: a `turn` beyond it keeps it and drops the rest. The file
        is cut at the next `save`.
        """
        if self._null:
            return
        with self._lock:
            self._must_be_open()
            self._recording.truncate(turn)

    # files

    def save(self, path: StrPath | None = None) -> None:
        """Make the file hold every record, safe from a power cut.

        Without `path`: the sidecar this recorder is bound to, synced if nothing but appends
        happened, else rewritten. With `path`: that file, always rewritten; a crash leaves the
        old or the new one, whole. An empty path is a no-op. Raises `SaveError` with the old
        file as it was, `SaveNotDurable` if only its folder could not be synced, `ValueError`
        if there is no path to save to.
        """
        if self._null or (path is not None and not os.fspath(path)):
            return
        with self._lock:
            recording = self._recording
            journal = recording.journal
            if path is not None and not (journal and journal.is_at(Path(path))):
                self._attempt(lambda: recording.save_as(Path(path)))
                return
            self._must_be_open()
            if journal is None:
                raise ValueError("a recorder that is bound to no session needs a path to save to")
            journal.must_rewrite |= path is not None
            self._attempt(recording.save)

    def _attempt(self, action: Callable[[], None]) -> None:
        """Do `action`; its failure is raised, or told to `on_error`."""
        try:
            action()
        except SaveError as error:
            if self._on_error is None:
                raise
            self._tell(self._on_error, error)

    def _tell(self, on_error: OnError, error: SaveError) -> None:
        # What `on_error` wants recorded fails like the rest: to tell of that would never end.
        if self._telling:
            return
        self._telling = True
        try:
            on_error(error)
        finally:
            self._telling = False

    # beginning, going on, ending

    def seed_from_path(self, path: StrPath) -> None:
        """Take over the records and the version of the sidecar at `path`.

        A missing file or an empty path is a no-op, and so is a recorder that has records or a
        version already. Raises `SidecarError` if the file cannot be read; `save` to that path
        is refused from then on.
        """
        if self._null or not os.fspath(path):
            return
        with self._lock:
            self._recording.seed(Path(path))

    def reset(self) -> None:
        """Forget all records and versions and let the file go. The file itself stays as it is."""
        with self._lock:
            self._let_go()
            self._recording = Recording(self._settings)

    def rebind(self, session_path: StrPath) -> None:
        """`reset`, then go on with the sidecar of another session. Raises what `open` raises."""
        if self._null:
            return
        with self._lock:
            self._must_be_open()
            self.reset()
            if os.fspath(session_path):
                self._bind(Path(session_path), 0)

    def close(self) -> None:
        """Save and let the file go. Closing twice does nothing; recording after it raises.

        Raises what `save` raises, after the file has been let go.
        """
        with self._lock:
            if self._closed or self._null:
                return
            recording = self._recording
            journal = recording.journal
            try:
                if journal is not None and (recording.history.entries or journal.exists):
                    self._attempt(recording.save)
            finally:
                self._closed = True
                self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _must_be_open(self) -> None:
        if self._closed:
            raise RuntimeError("this recorder is closed")

    def _bind(self, session_path: Path, session_version: int) -> None:
        recording = self._recording
        try:
            self._attempt(lambda: recording.bind(session_path, session_version))
        except BaseException:
            recording.let_go()
            raise
        _bound.add(self)

    def _let_go(self) -> None:
        _bound.discard(self)
        self._recording.let_go()

    def _forget_file(self) -> None:
        """Let go of the parent's file and lock in a forked child, which would share both."""
        # Another thread of the parent may have held this one; here nobody would release it.
        self._lock = threading.RLock()
        self._recording.forget_file()


_bound: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _after_fork() -> None:
    for recorder in list(_bound):
        recorder._forget_file()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

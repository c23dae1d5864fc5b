"""One session's records on their way into a sidecar: which are in memory, which in the file.

A `Recorder` has one of these at a time and takes a new one for another session. Nothing here
knows of threads, events or `on_error`; whatever cannot be written raises and stays pending.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from presentview import atomic
from presentview._version import __version__
from presentview.errors import SaveError, SaveNotDurable, SidecarError
from presentview.history import History
from presentview.journal import Journal, line_of
from presentview.keeping import Keeper
from presentview.lock import LOCKING_WRITER, Lock
from presentview.records import INT64_MAX, Header, Kind, Record, decode, encode, encode_header
from presentview.sidecar import Entry, Problem, Scan, find_sidecar

__all__ = ["Fsync", "Recording", "Settings", "now"]

Fsync = Literal["always", "turn", "never"]

_TURN_EDGES: Final = frozenset({Kind.TURN_STARTED, Kind.TURN_DONE})
_UNCHANGING: Final = (str, bytes, int, float)
_WRITER: Final = f"presentview {__version__}"


class Settings(NamedTuple):
    """How a recorder records; `Recorder` says what each of these means."""

    extensions: bool = True
    drop_deltas: bool = True
    max_turns: int | None = None
    fsync: Fsync = "turn"
    workspace: str = ""
    keep_changes: bool = True


class Recording:
    """A session's records, the versions they belong to, and the file they go to once bound.

    `version` is the file's rewrite version, `problems` what could not be read of the file.
    """

    def __init__(self, settings: Settings) -> None:
        # The fold is loaded with the first recorder: not by a mere import, and not when it is
        # needed, for then there may be no descriptor left to read it with.
        import_module("presentview.droppededits")
        import_module("presentview.covering")
        self.version = 0
        self.problems: tuple[Problem, ...] = ()
        self.history = History(max_turns=settings.max_turns)
        self.journal: Journal | None = None
        self._settings = settings
        self._lock: Lock | None = None
        self._told: int | None = None
        self._truncated = False
        self._header = Header(started_at=now() if settings.extensions else 0)
        self._keeper = Keeper(keeps=settings.keep_changes)
        self._seeded = False
        self._damaged = False
        self._unreadable: set[str] = set()

    # beginning and ending

    def seed(self, path: Path) -> None:
        """Take over what the sidecar at `path` holds, unless something is held already.

        A missing file holds nothing. Raises `SidecarError` if it cannot be read; it is never
        saved to then.
        """
        if self.history.entries or self.version or self._seeded:
            return
        found = self._read(path)
        if found is not None:
            self._take(*found)

    def bind(self, session_path: Path, session_version: int) -> None:
        """Lock the session's sidecar and go on with what it holds.

        Raises `SidecarLocked` or `SidecarError`, and `SaveError` when it is bound and seeded but
        something could not be written.
        """
        found = find_sidecar(session_path)
        path = found.path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(path)
        except OSError as error:
            raise SidecarError(f"cannot be locked: {error.strerror}", path=path) from error
        atomic.sweep(path)
        self.journal = journal = Journal(path)
        failure = self._go_on_with(journal)
        if found.other is not None:
            reason = f"a second sidecar of this session; {path.name} is used"
            self.problems += (Problem(found.other, 1, 0, reason),)
        if self._seeded and session_version > self.version:
            self.history.drop_all()
        self.tell(session_version)
        self._close_interrupted_turn()
        if failure is not None and journal.must_rewrite:
            raise failure

    def let_go(self) -> None:
        """Close the file and release the lock; what is pending stays unwritten."""
        self._leave(Lock.release)

    def forget_file(self) -> None:
        """Close the file and the lock file in a forked child without giving up the lock."""
        self._leave(Lock.forget)

    def _leave(self, unlock: Callable[[Lock], None]) -> None:
        if self.journal is not None:
            self.journal.close()
            self.journal = None
        if self._lock is not None:
            unlock(self._lock)
            self._lock = None

    def _go_on_with(self, journal: Journal) -> SaveError | None:
        """Seed from the file and take it over; what prevents writing to it."""
        found = self._read(journal.path)
        if found is None:
            return None
        scan, entries = found
        self._take(scan, entries)
        failure = None
        try:
            journal.take_over(scan.offset, len(entries))
        except SaveError as error:
            failure = error
        settings = self._settings
        moved = settings.extensions and settings.workspace not in ("", self._header.workspace)
        journal.must_rewrite |= moved or scan.header is None
        return failure

    def _read(self, path: Path) -> tuple[Scan, list[Entry]] | None:
        scan = Scan(path)
        name = os.path.realpath(path)
        self._unreadable.add(name)
        try:
            with open(path, "rb") as file:
                entries = list(scan.entries(file))
        except FileNotFoundError:
            self._unreadable.discard(name)
            return None
        except OSError as error:
            raise SidecarError(f"cannot be read: {error.strerror}", path=path) from error
        self._unreadable.discard(name)
        return scan, entries

    def _take(self, scan: Scan, entries: list[Entry]) -> None:
        self._seeded = True
        self.problems = scan.problems
        self._damaged = scan.damaged
        self._header = scan.header or Header()
        self._keeper.go_on_with(scan.path, self._header)
        self.version = self._header.rewrite_version
        # A reader of the file counts from the first header on.
        first = scan.first_header or Header()
        self.history = History(
            max_turns=self._settings.max_turns,
            turns_dropped=max(0, first.turns_dropped),
            cards_dropped=first.cards_dropped,
        )
        for entry in entries:
            self.history.add(entry, len(entry.raw or b""))

    def _close_interrupted_turn(self) -> None:
        """End a turn that a dead process left open, when that process last gave a sign."""
        if not self._settings.extensions or not self.history.entries:
            return
        from presentview.transcript.fold import INTERRUPTION, Transcript

        transcript = Transcript()
        for entry in self.history.entries:
            transcript.feed(entry.record, 0, 0, 0)
        # The start of a turn may have gone with a rewrite; what is open in it has not.
        cut = not transcript.turn.ended and transcript.calls.open()
        at = transcript.last_at
        if transcript.is_unfinished or cut:
            self.add(Record(kind=Kind.TURN_DONE, text=INTERRUPTION, level="error", at=at))
        elif transcript.calls.open():
            self.add(Record(kind=Kind.TURN_DONE, level=INTERRUPTION, at=at))

    # recording

    def add(self, record: Record) -> None:
        """Take `record` into memory and write it, with everything that is not written yet.

        Raises `SaveError` if that fails; the record is in memory all the same.
        """
        line = encode(record)
        history, journal = self.history, self.journal
        entry = Entry(record) if record.collab is None else _settled(record, line)
        history.add(entry, len(line) + 1)
        if journal is None:
            return
        edge = record.kind in _TURN_EDGES
        if edge:
            journal.check()
        in_step = history.only_grew and journal.written == len(history.entries) - 1
        if not (in_step and journal.append(line + b"\n")):
            self._write_pending()
        fsync = self._settings.fsync
        if fsync == "always" or (edge and fsync == "turn"):
            journal.sync()

    # keeping step with the session

    def tell(self, version: int) -> None:
        """Take `version` as the session's, dropping nothing. The file's own only grows."""
        self._told = version
        self._grow(version)

    def sync(self, version: int, last_done: Record | None) -> None:
        """Drop what a session at `version` has forgotten, and place `last_done` first."""
        told, self._told = self._told, version
        if told is None:
            rewritten = self._seeded and version > self.version
            if rewritten or not self._seeded:
                self._grow(version)
        else:
            rewritten = version > told
            if rewritten:
                self._grow(self.version + version - told)
        if rewritten:
            if not self._truncated:
                self.history.drop_all()
            self._place_first(last_done)
        if rewritten or told is None:
            self._truncated = False

    def truncate(self, turn: int) -> None:
        """Drop what is in front of `turn`; the next rewrite of the session drops no more."""
        self._truncated = True
        self.history.drop_before_turn(turn)

    def _grow(self, version: int) -> None:
        if version > self.version:
            self.version = min(version, INT64_MAX)
            if self.journal is not None:
                self.journal.must_rewrite = True

    def _place_first(self, done: Record | None) -> None:
        if done is None or done.kind != Kind.COMPACTION_DONE or done.compaction is None:
            return
        known = (entry.record.compaction for entry in self.history.entries)
        if done.compaction.summary and done.compaction not in known:
            self.history.place_first(done)

    # saving

    def save(self) -> None:
        """Make the file this is bound to hold every record. Raises `SaveError`."""
        journal, history = self.journal, self.history
        assert journal is not None
        journal.check()
        droppable = history.droppable.bytes if self._settings.drop_deltas else 0
        journal.must_rewrite |= history.has_hidden or 2 * droppable > journal.size
        rewrites = journal.must_rewrite or not history.only_grew
        if rewrites or journal.written < len(history.entries):
            self._write_pending()
        if not rewrites and self._settings.fsync != "never":
            journal.sync()

    def save_as(self, path: Path) -> None:
        """Write every record to `path`, whatever is there. Raises `SaveError`."""
        if os.path.realpath(path) in self._unreadable:
            raise SaveError("not saved: it would erase what could not be read of it", path=path)
        self.history.drop_hidden()
        self._keeper.keep(self.history.dropped_edits, path, self._header)
        lines, _ = self._composed(_WRITER)
        fd = atomic.replace(path, lines)
        with contextlib.suppress(OSError):
            os.close(fd)

    def _write_pending(self) -> None:
        """Write what the file does not hold yet: by appending where that is enough."""
        journal, history = self.journal, self.history
        assert journal is not None
        if history.only_grew and not journal.must_rewrite:
            journal.append_all(history.entries[journal.written :])
            return
        if self._damaged:
            # The sync of the folder after the rewrite is good for the copy too.
            with contextlib.suppress(SaveNotDurable):
                atomic.copy_aside(journal.path, Path(f"{journal.path}.damaged"))
            self._damaged = False
        history.drop_hidden()
        self._keeper.keep(history.dropped_edits, journal.path, self._header)
        # Until memory is what the file holds, whatever interrupts.
        history.only_grew = False
        lines, kept = self._composed(_WRITER + LOCKING_WRITER)
        journal.rewrite(lines, len(kept))
        history.leave_only(kept)

    def _composed(self, writer: str) -> tuple[list[bytes], list[int]]:
        """The lines of a whole file, and which of the entries they hold."""
        entries = self.history.entries
        kept = list(range(len(entries)))
        if self._settings.drop_deltas:
            from presentview.covering import uncovered

            kept = uncovered([entry.record for entry in entries])
        lines = [encode_header(self._full_header(writer)) + b"\n"]
        lines += (line_of(entries[index]) for index in kept)
        return lines, kept

    def _full_header(self, writer: str) -> Header:
        header = msgspec.structs.replace(self._header, rewrite_version=self.version)
        if self._settings.extensions:
            workspace = self._settings.workspace or header.workspace
            header = msgspec.structs.replace(header, writer=writer, workspace=workspace)
        if self._settings.extensions or header.turns_dropped or header.cards_dropped:
            header = msgspec.structs.replace(
                header,
                turns_dropped=min(self.history.turns_dropped, INT64_MAX),
                cards_dropped=min(self.history.cards_dropped, INT64_MAX),
                edits_kept=self._edits_kept(header),
                edit_lines=min(self._keeper.lines + len(self.history.dropped_edits), INT64_MAX),
            )
        return header

    def _edits_kept(self, header: Header) -> int:
        """Of how many of the cards that went every edit is kept; -1 if some are lost."""
        if not self._keeper.is_whole:
            return -1
        return min(max(self.history.cards_dropped, header.edits_kept), INT64_MAX)


def now() -> int:
    """The time in unix ms."""
    return time.time_ns() // 1_000_000


def _settled(record: Record, line: bytes) -> Entry:
    """An entry that stays as it is, whatever the agent does to its collab value afterwards."""
    if isinstance(record.collab, _UNCHANGING):
        return Entry(record)
    return Entry(decode(line), line)

"""The file of a session log: appended to by any number of processes, never rewritten.

Each append takes the lock on the file, finds out what others have added, and writes its events
with one write. Whatever goes wrong, the file ends after a whole line or the next append cuts off
what is not one. The file is opened for each append, so that a store survives a fork and may be
used by several threads.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, NamedTuple, Self, get_args

import msgspec

from presentview import atomic, lock
from presentview.errors import SaveError
from presentview.eventlog.events import EventType, SessionEvent, encode_event, now
from presentview.eventlog.reading import Loaded, Scan, load
from presentview.eventlog.wire import encode_raw
from presentview.records import INT64_MAX
from presentview.sidecar import Problem

__all__ = ["Fsync", "Store"]

Fsync = Literal["always", "turn", "never"]

_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT
_MODE: Final = 0o600
_TURN_EDGES: Final = frozenset({EventType.TURN_START, EventType.TURN_END})


class _Identity(NamedTuple):
    device: int
    inode: int


class Store:
    """The log of one session at `path`.

    `session_id` is written into each event (default: the file's name without its ending).
    `fsync` says when events are forced to the disk: "always" before `append` returns, "turn" when
    a turn starts or ends and on `close`, "never". They are in the file, and survive the death of
    the process, as soon as `append` returns.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, session_id: str = "", fsync: Fsync = "turn"
    ) -> None:
        """Make no file yet. Raises `ConfigError` where the system has no `flock`."""
        if fsync not in get_args(Fsync):
            raise ValueError(f"fsync must be one of {', '.join(get_args(Fsync))}, not {fsync!r}")
        lock.check_can_lock()
        self.path = Path(path)
        self.session_id = session_id or self.path.stem
        self._fsync = fsync
        self._scan = Scan(self.path)
        self._identity: _Identity | None = None
        self._seq = 0
        self._unsynced = False
        self._sync_failed = False
        self._name_synced = False
        self._closed = False
        self._inside: set[int] = set()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of the file when it was last appended to, and what was cut off
        its end.
        """
        return self._scan.problems

    def load(self) -> Loaded:
        """Every event that is in the file now, and what cannot be read. Raises `SidecarError`."""
        return load(self.path)

    def append(self, event: SessionEvent) -> SessionEvent:
        """Add `event` and return it as it is stored: with its number, session and time.

        Raises `SaveError` if it could not be written; the file holds what it held then. With
        `SaveNotDurable` it is in the file, but a power cut may undo it.
        """
        return self.append_all((event,))[0]

    def append_all(
        self, events: Iterable[SessionEvent], *, only_after: int | None = None
    ) -> tuple[SessionEvent, ...]:
        """Add `events` with one write, as `append` does: all of them or none.

        With `only_after`, nothing is added, and nothing returned, unless the greatest number in
        the file is that one.
        """
        if self._closed:
            raise RuntimeError("this store is closed")
        with self._locked() as fd:
            self._catch_up(fd)
            if only_after is not None and only_after != self._seq:
                return ()
            stored = self._stamped(events)
            if not stored:
                return ()
            lines = b"".join(encode_event(event) + b"\n" for event in stored)
            self._write(fd, b"\n" * self._scan.mid_line + lines, len(stored))
            edge = any(event.type in _TURN_EDGES for event in stored)
            if self._fsync == "always" or (edge and self._fsync == "turn"):
                self._sync(fd)
            return stored

    def close(self) -> None:
        """Force to the disk what is not there yet, unless `fsync` is "never".

        Calling it again does nothing. Raises `SaveNotDurable`.
        """
        if self._closed:
            return
        self._closed = True
        if self._unsynced and self._fsync != "never" and self.path.exists():
            with self._locked() as fd:
                self._catch_up(fd)
                self._sync(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[int]:
        """The open file, while nobody else appends to it."""
        me = threading.get_ident()
        if me in self._inside:
            # A signal handler: to wait for what it interrupts would be to wait for ever.
            raise SaveError("cannot be written: it is being written just now", path=self.path)
        with contextlib.ExitStack() as stack:
            stack.callback(self._inside.discard, me)
            self._inside.add(me)
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                fd = stack.enter_context(lock.locked(self.path, _FLAGS, _MODE))
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise SaveError("is no regular file", path=self.path)
            except OSError as error:
                raise self._error(error) from error
            yield fd

    def _catch_up(self, fd: int) -> None:
        """Read what others have added and cut off what a dead writer left of an event."""
        found = os.fstat(fd)
        identity = _Identity(found.st_dev, found.st_ino)
        if identity != self._identity or found.st_size < self._scan.offset:
            self._scan = Scan(self.path)
            self._seq = 0
            self._name_synced = False
        scan = self._scan
        if found.st_size != scan.offset:
            # Whatever interrupts this, the next append begins anew.
            self._identity = None
            try:
                with open(fd, "rb", closefd=False) as file:
                    for placed in scan.read(file):
                        self._seq = max(self._seq, placed.event.seq)
                if scan.torn:
                    scan.cut(found.st_size - scan.offset)
                    os.ftruncate(fd, scan.offset)
            except OSError as error:
                raise self._error(error) from error
        self._identity = identity

    def _stamped(self, events: Iterable[SessionEvent]) -> tuple[SessionEvent, ...]:
        stored = tuple(
            msgspec.structs.replace(
                event,
                data=encode_raw(event.data),
                seq=seq,
                session_id=self.session_id,
                created_at=event.created_at or now(),
            )
            for seq, event in enumerate(events, self._seq + 1)
        )
        if self._seq + len(stored) > INT64_MAX:
            raise SaveError(f"no number comes after {self._seq:,}", path=self.path)
        return stored

    def _write(self, fd: int, data: bytes, count: int) -> None:
        """Add `data`, which holds `count` events, or nothing."""
        try:
            atomic.write_all(fd, data)
        except OSError as error:
            # Where even this fails, the next append cuts the rest off.
            with contextlib.suppress(OSError):
                os.ftruncate(fd, self._scan.offset)
            raise self._error(error) from error
        # In this order: an interrupt in between makes the next append read them again.
        self._unsynced = True
        self._seq += count
        self._scan.step_over(data)

    def _sync(self, fd: int) -> None:
        """Force the file to the disk; where that failed before, a copy that takes its place."""
        failed, self._sync_failed = self._sync_failed, True
        with atomic.may_not_last(self.path):
            if failed:
                self._replace(fd)
            else:
                atomic.sync(fd)
            self._sync_failed = False
            if not self._name_synced:
                atomic.sync_folder(Path(os.path.realpath(self.path)).parent)
        self._name_synced = True
        self._unsynced = False

    def _replace(self, fd: int) -> None:
        new = atomic.take_its_place(self.path, fd)
        found = os.fstat(new)
        self._identity = _Identity(found.st_dev, found.st_ino)
        os.close(new)

    def _error(self, error: OSError) -> SaveError:
        return SaveError(f"cannot be written: {error.strerror}", path=self.path)

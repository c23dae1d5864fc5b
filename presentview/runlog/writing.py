"""Writing a run log: each call adds one record, which is on the disk when it returns.

One run has one log and one writer; the file must be new. Several threads may write. Whatever
goes wrong, the file ends after a whole record, or the next call cuts off what is not one.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from presentview import atomic
from presentview.errors import LogClosed, LogError, LogExists, SaveError
from presentview.limits import RUNS_A_SECOND
from presentview.runlog import times
from presentview.runlog.naming import id_of, log_path
from presentview.runlog.records import (
    Event,
    Kind,
    Message,
    Meta,
    Record,
    Result,
    encode,
    encode_record,
)

__all__ = ["Writer", "create", "start"]

_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
_FOLDER_MODE: Final = 0o700
_MODE: Final = 0o600


def create(
    folder: str | os.PathLike[str], run_id: str, meta: Meta, *, now: datetime | None = None
) -> Writer:
    """Make the log of the run `run_id`, opened by `meta` with that id.

    The folder is made if need be; only its owner may enter it. `now` is when the run starts
    (default: now). Raises `LogExists` if there is such a log, `LogError` for an id that is
    refused, and `SaveError`.
    """
    path = log_path(folder, run_id)
    ns = time.time_ns() if now is None else times.ns_of(now)
    try:
        _make_folder(path.parent)
        fd = os.open(path, _FLAGS, _MODE)
    except FileExistsError as error:
        raise LogExists(path=path) from error
    except OSError as error:
        raise SaveError(f"cannot be made: {error.strerror}", path=path) from error
    writer = Writer(path, fd)
    try:
        with contextlib.suppress(OSError):
            atomic.sync_folder(path.parent)
        opening = msgspec.structs.replace(meta, id=run_id)
        writer.append(Record(Kind.META, times.rfc3339(ns), meta=opening))
    except BaseException:
        writer.close()
        raise
    return writer


def start(folder: str | os.PathLike[str], meta: Meta, now: datetime | None = None) -> Writer:
    """Make the log of a run that starts at `now` (default: now), under an id that nobody has.

    That is the second it starts in, with `-2`, `-3`, … for those that start in the same one.
    Raises what `create` raises.
    """
    now = times.moment(time.time_ns()) if now is None else now
    base = times.new_id(now)
    for number in range(1, RUNS_A_SECOND + 1):
        with contextlib.suppress(LogExists):
            return create(folder, base if number == 1 else f"{base}-{number}", meta, now=now)
    raise LogError(f"{folder}: {RUNS_A_SECOND:,} runs have started in this second")


def _make_folder(folder: Path) -> None:
    """Make `folder` and those it is in, for their owner only."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=_FOLDER_MODE)


class Writer:
    """The log of one run, made by `create` or `start`; its `id` and `path`.

    Everything that writes raises `LogClosed` after `result` or `close`, and `SaveError` if the
    record could not be written: the file holds what it held then. With `SaveNotDurable` it is in
    the file, but a power cut may undo it. Used in a `with` statement it is closed at the end.
    """

    def __init__(self, path: Path, fd: int) -> None:
        """Take over `fd`, the new file at `path`."""
        self.path = path
        self.id = id_of(path)
        self._fd = fd
        self._size = 0
        self._torn = False
        self._sync_failed = False
        self._closed = False
        self._lock = threading.Lock()
        self._owner = 0
        self._recorded: list[bytes] = []

    @property
    def recorded(self) -> tuple[bytes, ...]:
        """The messages written since the last reset, each as its JSON."""
        return tuple(self._recorded)

    def message(self, message: Message) -> None:
        """Add one message of the conversation."""
        self._add(Kind.MESSAGE, message=message)

    def event(self, event: Event) -> None:
        """Add something that happened."""
        self._add(Kind.EVENT, event=event)

    def reset(self) -> None:
        """Discard the messages so far. Events stay."""
        self._add(Kind.RESET)

    def result(self, result: Result) -> None:
        """Add how the run ended, and close the log."""
        self._add(Kind.RESULT, result=result)
        self.close()

    def append(self, record: Record) -> None:
        """Add any record as it is, `stamp` included."""
        line = encode_record(record) + b"\n"
        message = encode(record.message) if record.message is not None else b""
        me = threading.get_ident()
        if self._owner == me:
            # A signal handler: to wait for what it interrupts would be to wait for ever.
            raise SaveError("cannot be written: it is being written just now", path=self.path)
        with self._lock:
            self._owner = me
            try:
                self._append(line, record.kind, message)
            finally:
                self._owner = 0

    def close(self) -> None:
        """Let the file go. Calling it again does nothing."""
        with self._lock:
            if not self._closed:
                self._closed = True
                with contextlib.suppress(OSError):  # each record is on the disk already
                    os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _add(
        self,
        kind: Kind,
        *,
        message: Message | None = None,
        event: Event | None = None,
        result: Result | None = None,
    ) -> None:
        stamp = times.rfc3339(time.time_ns())
        self.append(Record(kind, stamp, message=message, event=event, result=result))

    def _append(self, line: bytes, kind: str, message: bytes) -> None:
        if self._closed:
            raise LogClosed(f"{self.path}: the log is closed")
        try:
            if self._torn:
                os.ftruncate(self._fd, self._size)
            self._torn = True
            atomic.write_all(self._fd, line)
        except OSError as error:
            # Where even this fails, the next call cuts the rest off.
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._size)
            raise SaveError(f"cannot be written: {error.strerror}", path=self.path) from error
        self._size += len(line)
        self._torn = False
        if kind == Kind.RESET:
            self._recorded.clear()
        elif message:
            self._recorded.append(message)
        self._sync()

    def _sync(self) -> None:
        """Force the file to the disk; where that failed before, a copy that takes its place."""
        failed, self._sync_failed = self._sync_failed, True
        with atomic.may_not_last(self.path):
            if failed:
                new = atomic.take_its_place(self.path, self._fd)
                os.close(self._fd)
                self._fd = new
            else:
                atomic.sync(self._fd)
        self._sync_failed = False

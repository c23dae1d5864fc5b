"""Who is recording: an advisory lock on a file beside the sidecar.

The sidecar itself is replaced on a rewrite and so cannot carry the lock; `<sidecar>.lock` can.
The lock is the kernel's (`flock`): it works between threads and processes and dies with its
process. A clean close removes the file, so that a file without lock means: the recorder died.
On systems without `flock` (Windows) sidecars can be read but not recorded, and whether a lock is
held cannot be told: there a file with a lock file counts as live while it changes.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from presentview.errors import ConfigError, SidecarLocked
from presentview.limits import ALIVE_SECONDS

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["LOCKING_WRITER", "Lock", "check_can_lock", "is_alive", "lock_path", "locked"]

LOCKING_WRITER: Final = " with lock"
"""The end of a header's `writer` that always holds a lock while it records."""

# A viewer that looks whether somebody records holds the lock for microseconds.
_TRIES: Final = 50
_PAUSE_SECONDS: Final = 0.002


def lock_path(sidecar: str | os.PathLike[str]) -> Path:
    """The lock file of a sidecar."""
    return Path(os.fspath(sidecar) + ".lock")


def check_can_lock() -> None:
    """Raise `ConfigError` where the system has no `flock`."""
    if fcntl is None:
        raise ConfigError("recording needs flock, which this system does not have")


class Lock:
    """The exclusive right to record into one sidecar, held until `release` or process end."""

    def __init__(self, sidecar: Path) -> None:
        """Take the lock.

        Raises `SidecarLocked` (with who holds it) if it is taken, `OSError` if the lock file
        cannot be made, `ConfigError` where the system has no `flock`.
        """
        check_can_lock()
        self.path = lock_path(sidecar)
        for attempt in range(_TRIES):
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_current(fd, self.path):
                    _describe_self(fd)
                    self._fd: int | None = fd
                    return
            except BlockingIOError:
                if attempt == _TRIES - 1:
                    raise _locked(sidecar, fd) from None
                time.sleep(_PAUSE_SECONDS)
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
        raise SidecarLocked(path=sidecar)

    def release(self) -> None:
        """Give the lock up and remove its file. Calling it again does nothing."""
        fd, self._fd = self._fd, None
        if fd is not None:
            with contextlib.suppress(OSError):
                if _is_current(fd, self.path):
                    self.path.unlink()
            with contextlib.suppress(OSError):
                os.close(fd)

    def forget(self) -> None:
        """Close the lock file without removing it: for a child process that must not keep it."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


@contextlib.contextmanager
def locked(path: Path, flags: int, mode: int) -> Iterator[int]:
    """An open descriptor of the file at `path` that nobody else has this way, while it lasts.

    For files that are never replaced while they are written, or only by who has them; waits for
    others as long as it takes. Raises `OSError`, `ConfigError` where the system has no `flock`.
    """
    check_can_lock()
    while True:
        fd = os.open(path, flags | os.O_CLOEXEC, mode)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if _is_current(fd, path):
                yield fd
                return
        finally:
            # Closing gives up the lock, and nothing that matters can be lost by it.
            with contextlib.suppress(OSError):
                os.close(fd)


def is_alive(sidecar: str | os.PathLike[str], *, writer: str = "") -> bool:
    """Whether somebody is recording into `sidecar`.

    A held lock says yes, a lock file that nobody holds says no. Without a lock file a `writer`
    (from the header) that always locks is gone; any other counts as alive while the file
    changed within `ALIVE_SECONDS`, and so does a file with a lock file where there is no
    `flock`. A missing file is not alive.
    """
    try:
        fd = os.open(lock_path(sidecar), os.O_RDONLY)
    except OSError:
        return not writer.endswith(LOCKING_WRITER) and _changed_lately(sidecar)
    try:
        if fcntl is None:
            return _changed_lately(sidecar)
        return _is_held(fd)
    finally:
        os.close(fd)


def _changed_lately(sidecar: str | os.PathLike[str]) -> bool:
    try:
        return time.time() - os.stat(sidecar).st_mtime < ALIVE_SECONDS
    except OSError:
        return False


def _is_held(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _is_current(fd: int, path: Path) -> bool:
    """Whether `path` still names the file behind `fd`: its last holder may have removed it."""
    try:
        named = os.stat(path)
    except FileNotFoundError:
        return False
    opened = os.fstat(fd)
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)


def _describe_self(fd: int) -> None:
    about = {"pid": os.getpid(), "host": os.uname().nodename, "since": int(time.time() * 1000)}
    # Only for the message of whoever finds the lock taken: a full disk must not prevent it.
    with contextlib.suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps(about).encode(), 0)


def _locked(sidecar: Path, fd: int) -> SidecarLocked:
    about: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(os.pread(fd, 4096, 0))
        about = found if isinstance(found, dict) else {}
    os.close(fd)
    pid, host, since = about.get("pid"), about.get("host"), about.get("since")
    return SidecarLocked(
        path=sidecar,
        pid=pid if isinstance(pid, int) else None,
        host=host if isinstance(host, str) else "",
        since=since if isinstance(since, int) else None,
    )

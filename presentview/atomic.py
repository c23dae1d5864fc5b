"""Replacing a file so that a crash leaves either the old one or the new one, whole.

The steps: make a temp file in the same folder that did not exist before, write everything, sync
it, rename it over the old file, sync the folder. Accepted: readers of the old file keep the old
content; hard links to it are not followed; a process that dies in between leaves a temp file,
which `sweep` removes later. This and `sync` are the only places that call fsync or rename.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from presentview.errors import SaveError, SaveNotDurable
from presentview.limits import MIB, STALE_TEMP_SECONDS

__all__ = ["copy_aside", "may_not_last", "replace", "sweep", "sync", "take_its_place", "write_all"]

NEW_FILE_MODE: Final = 0o600
_GATHER_BYTES: Final = 4 * MIB


def replace(path: Path, chunks: Iterable[bytes]) -> int:
    """Make `chunks` the content of `path` and return an open descriptor at the end of it.

    The descriptor reads and appends. A symlink is followed and kept; an existing file keeps its
    mode, a new one gets 0600. After return the content survives a power cut. Raises `SaveError`
    with the old file as it was and no temp file left; only if syncing the folder failed,
    `SaveNotDurable`: the new content is in place, but a power cut may undo it.
    """
    target = Path(os.path.realpath(path))
    try:
        fd, temp = _new_temp(target)
    except OSError as error:
        raise SaveError(f"cannot be saved: {error.strerror}", path=path) from error
    try:
        for chunk in _gathered(chunks):
            write_all(fd, chunk)
        _keep_mode(fd, target)
        os.fsync(fd)
        os.rename(temp, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temp)
        with contextlib.suppress(OSError):
            os.close(fd)
        if isinstance(error, OSError):
            raise SaveError(f"cannot be saved: {error.strerror}", path=path) from error
        raise
    try:
        sync_folder(target.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.close(fd)
        raise SaveNotDurable(
            f"saved, but its folder could not be synced: {error.strerror}", path=path
        ) from error
    return fd


def write_all(fd: int, data: bytes) -> None:
    """Write `data`, going on after short writes. Raises `OSError`, having written a part or
    nothing.
    """
    written = os.write(fd, data)
    while written < len(data):
        written += os.write(fd, memoryview(data)[written:])


def sync(fd: int) -> None:
    """Force what was written to `fd` to the disk. Raises `OSError`; never try again on the same
    file after that, since the system may have forgotten what it failed to write.
    """
    os.fsync(fd)


def sync_folder(folder: Path) -> None:
    """Force the names in `folder` to the disk. Raises `OSError`."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        # Nothing was written through it, so nothing can be lost by closing it.
        with contextlib.suppress(OSError):
            os.close(fd)


def take_its_place(path: Path, fd: int) -> int:
    """Put a copy of the file open at `fd` in its place at `path`, and return a descriptor of that.

    For a file of which a failed sync may have made the system forget something. Raises what
    `replace` raises, and `OSError`.
    """
    with open(fd, "rb", closefd=False) as file:
        file.seek(0)
        return replace(path, iter(lambda: file.read(MIB), b""))


@contextlib.contextmanager
def may_not_last(path: Path) -> Iterator[None]:
    """Say, by `SaveNotDurable`, that what was written to `path` could not be forced to the disk."""
    try:
        yield
    except (OSError, SaveError) as error:
        why = error.reason if isinstance(error, SaveError) else error.strerror
        raise SaveNotDurable(
            f"written, but could not be forced to the disk: {why}", path=path
        ) from error


def copy_aside(path: Path, aside: Path) -> None:
    """Keep a copy of `path` at `aside`, once: an existing `aside` stays as it is.

    Raises `SaveError` if the copy cannot be made whole; nothing is left of it then.
    """
    if aside.exists():
        return
    try:
        with open(path, "rb") as file:
            os.close(replace(aside, iter(lambda: file.read(MIB), b"")))
    except (OSError, SaveError) as error:
        if isinstance(error, SaveNotDurable):
            raise
        why = error.strerror if isinstance(error, OSError) else error.reason
        raise SaveError(f"cannot be kept as {aside.name}: {why}", path=path) from error


def sweep(path: Path) -> None:
    """Remove temp files that dead writers of `path` left behind long ago."""
    target = Path(os.path.realpath(path))
    prefix = temp_prefix(target)
    oldest = time.time() - STALE_TEMP_SECONDS
    with contextlib.suppress(OSError):
        for entry in os.scandir(target.parent):
            mine = entry.name.startswith(prefix) and entry.name.endswith(".tmp")
            with contextlib.suppress(OSError):
                if mine and entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)


def temp_prefix(target: Path) -> str:
    """How the temp files of `target` are named up to their random part.

    A hash stands for its name, which may itself be as long as a name can be.
    """
    # Unlike hashlib's, zlib's checksum is there without loading OpenSSL; a chance hit does no
    # more than sweep what another dead writer left.
    return f".presentview-{zlib.crc32(os.fsencode(target.name)):08x}."


def _new_temp(target: Path) -> tuple[int, str]:
    target.parent.mkdir(parents=True, exist_ok=True)
    temp = str(target.with_name(f"{temp_prefix(target)}{os.urandom(8).hex()}.tmp"))
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
    return os.open(temp, flags, NEW_FILE_MODE), temp


def _keep_mode(fd: int, target: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(target).st_mode)
        if mode != NEW_FILE_MODE:
            os.fchmod(fd, mode)


def _gathered(chunks: Iterable[bytes]) -> Iterable[bytes]:
    """The same bytes in fewer, larger pieces."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size >= _GATHER_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)

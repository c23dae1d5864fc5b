"""A file that stays readable when it is replaced or removed: by its open descriptor."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from presentview.errors import SidecarError
from presentview.limits import COMPARE_CHUNK, READ_CHUNK

__all__ = ["READ_ONLY", "Line", "OpenFile", "Stamp", "read_at", "write_at"]

# Without O_NONBLOCK a pipe would wait for somebody to write into it; without O_BINARY Windows
# would change line ends.
READ_ONLY: Final[int] = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", "O_BINARY")
)
"""The flags to open a file for reading with."""

# On Windows a file that anybody has open cannot be replaced: a page must not make its recorder
# fail, so there a file is open only while it is being read.
_STAYS_OPEN: Final = os.name != "nt"
_moving = threading.Lock()


class Stamp(NamedTuple):
    """What cannot stay the same when the content of a file changes, except within one tick of
    the file system's clock.
    """

    size: int
    modified_ns: int
    changed_ns: int


class Line(NamedTuple):
    """One line of a file: its `number` from 1, the byte `offset` it begins at, how many bytes
    it has with its line end, and its first bytes.
    """

    number: int
    offset: int
    size: int
    head: bytes


class OpenFile:
    """A regular file opened for reading. `identity` tells it from every other file.

    Where an open file could not be replaced, `rest` closes it until it is read again.
    """

    def __init__(self, path: Path) -> None:
        """Open the file at `path`.

        Raises `OSError` if that fails and `SidecarError` if it is a folder, a pipe or a device.
        """
        self.path = path
        self._file: BinaryIO | None = None
        fd = os.open(path, READ_ONLY)
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            os.close(fd)
            raise SidecarError("is no regular file", path=path)
        self._file = open(fd, "rb")  # noqa: SIM115
        self.identity = (found.st_dev, found.st_ino)

    @property
    def is_open(self) -> bool:
        """Whether it can be read even if it was replaced or removed."""
        return self._file is not None

    @property
    def file(self) -> BinaryIO:
        """The file, for reading from any position.

        Raises `OSError` if it had to be opened again and is not there any more.
        """
        if self._file is None:
            again = OpenFile(self.path)
            if again.identity != self.identity:
                again.close()
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            self._file = again.file
        return self._file

    def rest(self) -> None:
        """Say that nothing is read for now."""
        if not _STAYS_OPEN:
            self.close()

    def close(self) -> None:
        """Let the file go."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def stamp(self) -> Stamp:
        """The file's stamp now."""
        found = os.fstat(self.file.fileno())
        return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    def duplicate(self) -> int:
        """A descriptor of its own for this file, to be closed by whoever asked for it."""
        if hasattr(os, "pread"):
            return os.dup(self.file.fileno())
        # Two descriptors made by dup share one position, which reading would have to move.
        return os.open(self.path, READ_ONLY)

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes from byte `offset`, fewer at the end of the file."""
        return read_at(self.file.fileno(), length, offset)

    def same_bytes(self, start: int, other: OpenFile, other_start: int, length: int) -> bool:
        """Whether `length` bytes from `start` are there and stand in `other` from `other_start`."""
        for at in range(0, length, COMPARE_CHUNK):
            size = min(COMPARE_CHUNK, length - at)
            mine = self.read(start + at, size)
            if len(mine) != size or mine != other.read(other_start + at, size):
                return False
        return True

    def lines(self, first: int, count: int, most: int) -> list[Line]:
        """Up to `count` lines from line `first` (from 1) on, of each its first `most` bytes."""
        found: list[Line] = []
        offset = self._start_of(first)
        while len(found) < count and (head := self.read(offset, most)):
            size = head.find(b"\n") + 1 or self._end_of(offset + len(head)) - offset
            found.append(Line(first + len(found), offset, size, head[:size]))
            offset += size
        return found

    def _start_of(self, wanted: int) -> int:
        """The byte at which line `wanted` begins, the end of the file if it has fewer lines."""
        line, offset = 1, 0
        while line < wanted and (chunk := self.read(offset, READ_CHUNK)):
            ends = chunk.count(b"\n")
            if line + ends < wanted:
                line += ends
                offset += len(chunk)
                continue
            while line < wanted:
                size = chunk.index(b"\n") + 1
                chunk = chunk[size:]
                offset += size
                line += 1
        return offset

    def _end_of(self, offset: int) -> int:
        """The byte after the line that goes on at `offset`."""
        while chunk := self.read(offset, READ_CHUNK):
            end = chunk.find(b"\n") + 1
            if end:
                return offset + end
            offset += len(chunk)
        return offset


def read_at(fd: int, length: int, offset: int) -> bytes:
    """`length` bytes of an open file from byte `offset`, fewer at its end.

    May be called from several threads. Where the system has no `pread` it moves the position of
    `fd`, which nobody else may count on then. Raises `OSError`.
    """
    if hasattr(os, "pread"):
        return os.pread(fd, length, offset)
    with _moving:
        os.lseek(fd, offset, os.SEEK_SET)
        return os.read(fd, length)


def write_at(fd: int, data: memoryview, offset: int) -> int:
    """Write `data` at byte `offset` of an open file; how many bytes of it were written.

    Moves the position of `fd` only where `read_at` does. Raises `OSError`.
    """
    if hasattr(os, "pwrite"):
        return os.pwrite(fd, data, offset)
    with _moving:
        os.lseek(fd, offset, os.SEEK_SET)
        return os.write(fd, data)

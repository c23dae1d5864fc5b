"""A file that stays readable when it is replaced or removed: by its open descriptor."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from presentview.errors import SidecarError
from presentview.limits import COMPARE_CHUNK, READ_CHUNK

__all__ = ["Line", "OpenFile", "Stamp"]


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
    """A regular file opened for reading. `identity` tells it from every other open file."""

    def __init__(self, path: Path) -> None:
        """Open the file at `path`.

        Raises `OSError` if that fails and `SidecarError` if it is a folder, a pipe or a device.
        """
        # Without O_NONBLOCK a pipe would wait here for somebody to write into it.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            os.close(fd)
            raise SidecarError("is no regular file", path=path)
        self.file = open(fd, "rb")  # noqa: SIM115
        self.identity = (found.st_dev, found.st_ino)

    def close(self) -> None:
        """Let the file go."""
        self.file.close()

    def stamp(self) -> Stamp:
        """The file's stamp now."""
        found = os.fstat(self.file.fileno())
        return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    def duplicate(self) -> int:
        """A descriptor of its own for this file, to be closed by whoever asked for it."""
        return os.dup(self.file.fileno())

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes from byte `offset`, fewer at the end of the file."""
        return os.pread(self.file.fileno(), length, offset)

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

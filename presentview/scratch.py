"""A file without a name: room for records that were made from other files."""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path

from presentview.limits import READ_CHUNK
from presentview.openfile import OpenFile, write_at

__all__ = ["ScratchFile"]


class ScratchFile(OpenFile):
    """A temporary file that nobody else can open and that is gone when it is closed, however the
    process ends. `path` is what it stands for.
    """

    def __init__(self, path: Path) -> None:
        """Make an empty file. Raises `OSError`."""
        self.path = path
        made = tempfile.TemporaryFile(prefix="presentview-", buffering=0)  # noqa: SIM115
        found = os.fstat(made.fileno())
        self.identity = (found.st_dev, found.st_ino)
        # Kept for where it is a wrapper, whose end would close the file.
        self._made = made
        # Lines of a file without a buffer are read byte by byte.
        self._file = io.BufferedReader(getattr(made, "file", made), READ_CHUNK)
        self._size = 0

    def add(self, data: bytes) -> None:
        """Write `data` at the end. Raises `OSError`."""
        fd = self.file.fileno()
        rest = memoryview(data)
        while rest:
            written = write_at(fd, rest, self._size)
            self._size += written
            rest = rest[written:]

    def begins_with(self, data: bytes, at: int) -> bool:
        """Whether `data` stands at byte `at`, or as much of it as there is from there on."""
        held = self.read(at, len(data))
        return data.startswith(held)

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return self._size

    def duplicate(self) -> int:
        """A descriptor of its own for this file, to be closed by whoever asked for it."""
        return os.dup(self.file.fileno())

    def rest(self) -> None:
        """Nothing to do: it has no name by which it could be opened again."""

"""One sidecar file that is being recorded into: appended to, synced, replaced.

A journal knows which of the recorder's entries are in the file. Whatever goes wrong, the file
stays as it was or ends after a whole line, and the next call writes what is missing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from presentview import atomic
from presentview.errors import SaveError, SaveNotDurable
from presentview.records import encode
from presentview.sidecar import Entry

__all__ = ["Journal", "line_of"]


def line_of(entry: Entry) -> bytes:
    """The line for an entry: its own bytes where it has them, else encoded."""
    return (encode(entry.record) if entry.raw is None else entry.raw) + b"\n"


class Journal:
    """The file at `path` and how much of the recorder's list is in it.

    `size` is its length in bytes, `written` how many entries it holds. `must_rewrite` says that
    only a full rewrite brings it back in step.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.written = 0
        self.must_rewrite = True
        self.ends_in_line = False
        self._fd: int | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a file yet: a session in which nothing happened gets none."""
        return self._fd is not None

    def is_at(self, path: Path) -> bool:
        """Whether `path` is another name of this file."""
        return os.path.realpath(path) == os.path.realpath(self.path)

    def take_over(self, size: int, written: int) -> None:
        """Go on with the existing file, of which the first `size` bytes hold `written` entries.

        What follows them is a torn line and is cut off. Raises `SaveError`.
        """
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
            self._fd = fd
            if os.fstat(fd).st_size > size:
                os.ftruncate(fd, size)
            self.ends_in_line = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        except OSError as error:
            self.close()
            raise self._error(error) from error
        self.size = size
        self.written = written
        self.must_rewrite = False

    def append(self, line: bytes) -> bool:
        """Add one whole line with one write; False where the file needs more than that.

        Never leaves a part of the line behind, and raises only what a signal handler raises.
        """
        if self.must_rewrite or self.ends_in_line or self._fd is None:
            return False
        # An interrupt may come before or after the bytes got there: then only a rewrite is sure.
        self.must_rewrite = True
        try:
            written = os.write(self._fd, line)
        except OSError:
            written = -1
        if written != len(line):
            self._cut_back()
            return False
        self.size += written
        self.written += 1
        self.must_rewrite = False
        return True

    def append_all(self, entries: Sequence[Entry]) -> None:
        """Add the lines of all `entries`. Raises `SaveError`, having added none of them."""
        fd = self._fd
        assert fd is not None
        data = b"\n" * self.ends_in_line + b"".join(map(line_of, entries))
        self.must_rewrite = True
        try:
            atomic.write_all(fd, data)
        except OSError as error:
            self._cut_back()
            raise self._error(error) from error
        self.ends_in_line = False
        self.size += len(data)
        self.written += len(entries)
        self.must_rewrite = False

    def sync(self) -> None:
        """Force everything to the disk. Raises `SaveError`; then only a rewrite can help, and
        until then this does nothing.
        """
        if self._fd is None or self.must_rewrite:
            return
        try:
            atomic.sync(self._fd)
        except OSError as error:
            self.must_rewrite = True
            raise self._error(error) from error

    def rewrite(self, lines: Sequence[bytes], written: int) -> None:
        """Replace the file by `lines`, which hold `written` entries, in one step.

        Raises `SaveError` with the old file in place; with `SaveNotDurable` the new one is.
        """
        try:
            fd = atomic.replace(self.path, lines)
        except SaveNotDurable:
            self.must_rewrite = True
            raise
        self.close()
        self._fd = fd
        self.size = sum(map(len, lines))
        self.written = written
        self.must_rewrite = self.ends_in_line = False

    def check(self) -> None:
        """Note if the file was removed or replaced by somebody: it must be written anew then."""
        if self._fd is None or self.must_rewrite:
            return
        try:
            named, mine = os.stat(self.path), os.fstat(self._fd)
            same = (named.st_dev, named.st_ino) == (mine.st_dev, mine.st_ino)
            self.must_rewrite = not same or mine.st_size != self.size
        except OSError:
            self.must_rewrite = True

    def close(self) -> None:
        """Close the file. What was written to it stays."""
        fd, self._fd = self._fd, None
        if fd is not None:
            with contextlib.suppress(OSError):
                os.close(fd)

    def _cut_back(self) -> None:
        """Take away the part of a line that a failed write left."""
        assert self._fd is not None
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, self.size)
            self.must_rewrite = False

    def _error(self, error: OSError) -> SaveError:
        return SaveError(f"cannot be written: {error.strerror}", path=self.path)

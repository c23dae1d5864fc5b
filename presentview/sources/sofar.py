"""How far a file was read, and whether it still is the one that was read."""

from __future__ import annotations

import hashlib
from typing import Final

from presentview.openfile import OpenFile

__all__ = ["SoFar"]

_BYTES: Final = 4096


class SoFar:
    """Remembers the first and the last bytes that were read of a file."""

    def __init__(self) -> None:
        self._offset = 0
        self._fingerprint: bytes | None = None

    def stands_in(self, opened: OpenFile) -> bool:
        """Whether what was read still stands in front of what was not."""
        if self._fingerprint is None or opened.stamp().size < self._offset:
            return False
        return self._mark(opened) == self._fingerprint

    def note(self, opened: OpenFile, offset: int) -> None:
        """Say that the file was read up to byte `offset`."""
        self._offset = offset
        self._fingerprint = self._mark(opened)

    def _mark(self, opened: OpenFile) -> bytes:
        size = min(self._offset, _BYTES)
        head, tail = opened.read(0, size), opened.read(self._offset - size, size)
        return hashlib.blake2b(head + b"\0" + tail).digest()

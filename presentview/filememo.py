"""What was read from files, for as long as they are as they were."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

from presentview.errors import SidecarError
from presentview.openfile import OpenFile, Stamp

__all__ = ["FileMemo"]

T = TypeVar("T")
_MOST_KNOWN: Final = 16_384


class _Known(NamedTuple, Generic[T]):
    """What was found in a file that was like this."""

    identity: tuple[int, int]
    stamp: Stamp
    found: T


class FileMemo(Generic[T]):
    """What `read` finds in files, read again only where a file is another one or was written to."""

    def __init__(self, read: Callable[[OpenFile, Stamp], T]) -> None:
        self._read = read
        self._known: dict[str, _Known[T]] = {}

    def of(self, path: Path) -> T | None:
        """What there is in the file at `path`; None if it cannot be opened or read."""
        try:
            opened = OpenFile(path)
        except (OSError, SidecarError):
            return None
        try:
            stamp = opened.stamp()
            known = self._known.get(os.fspath(path))
            if known is None or (known.identity, known.stamp) != (opened.identity, stamp):
                known = _Known(opened.identity, stamp, self._read(opened, stamp))
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[os.fspath(path)] = known
            return known.found
        except OSError:
            return None
        finally:
            opened.close()

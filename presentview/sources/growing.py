"""A log that is read on each time somebody looks, and anew when it is another."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from presentview.logscan import LogScan
from presentview.openfile import OpenFile
from presentview.sidecar import Problem

__all__ = ["Growing", "Grown"]

P = TypeVar("P")

_BYTES: Final = 4096


class Grown(NamedTuple, Generic[P]):
    """What follows what was read of a log; all of it if it is another one, `restarted`."""

    restarted: bool
    placed: Iterator[P]


class Growing(Generic[P]):
    """The log at `path`, read by a `scan` for as long as what was read stands in front of what
    was not: the first and the last bytes of it tell.
    """

    def __init__(self, path: Path, scan: Callable[[Path], LogScan[Any, P]]) -> None:
        self._path = path
        self._new_scan = scan
        self._scan = scan(path)
        self._fingerprint: bytes | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, in the order of the file."""
        return self._scan.problems

    @contextlib.contextmanager
    def reading(self, *, alive: bool) -> Iterator[Grown[P]]:
        """What is new, to be gone through to its end; a writer that is `alive` may be in the
        middle of the last line. Raises `OSError`.
        """
        # If this fails half way, it is not known how far it got.
        known, self._fingerprint = self._fingerprint, None
        opened = OpenFile(self._path)
        try:
            restarted = not self._goes_on(opened, known)
            if restarted:
                self._scan = self._new_scan(self._path)
            yield Grown(restarted, self._scan.read(opened.file, alive=alive))
            self._fingerprint = self._mark(opened)
        finally:
            opened.close()

    def _goes_on(self, opened: OpenFile, known: bytes | None) -> bool:
        if known is None or opened.stamp().size < self._scan.offset:
            return False
        return self._mark(opened) == known

    def _mark(self, opened: OpenFile) -> bytes:
        offset = self._scan.offset
        size = min(offset, _BYTES)
        head, tail = opened.read(0, size), opened.read(offset - size, size)
        return hashlib.blake2b(head + b"\0" + tail).digest()

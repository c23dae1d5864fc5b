"""Reading a log that is told one entry at a time, as the records of a sidecar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from presentview.lock import is_alive
from presentview.openfile import OpenFile
from presentview.records import Header, Kind, Record
from presentview.sidecar import Problem
from presentview.sources.base import Origin, Placed, Poll
from presentview.sources.sofar import SoFar

__all__ = ["NarratedReader", "Narrator", "Scan", "notice"]


class Scan(Protocol):
    """A reading position in a log that goes on where it stopped."""

    offset: int

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read so far."""
        ...

    def read(self, file: BinaryIO, *, alive: bool = False) -> Iterator[Any]:
        """Each further entry with its byte offset, length in bytes, and line."""
        ...


class Narrator(Protocol):
    """Tells the entries of one log, given one by one, as records."""

    header: Header

    def tell(self, entry: Any, /) -> Iterable[Record]:
        """The records of the next entry."""
        ...


class NarratedReader:
    """Reads the log at `path` (a `presentview.sources.base.Reader`)."""

    def __init__(
        self, path: Path, scan: Callable[[Path], Scan], narrator: Callable[[], Narrator]
    ) -> None:
        self.paths = (path,)
        self.note = ""
        self._new_scan, self._new_narrator = scan, narrator
        self._scan = scan(path)
        self._narrator = narrator()
        self._so_far = SoFar()

    @property
    def header(self) -> Header:
        """What the log tells of its session."""
        return self._narrator.header

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, in the order of the file."""
        return self._scan.problems

    def is_alive(self) -> bool:
        """Whether the file changed a moment ago: nothing else tells."""
        return is_alive(self.paths[0])

    def poll(self) -> Poll:
        """Read what is new; see `presentview.sources.base.Reader.poll`."""
        opened = OpenFile(self.paths[0])
        try:
            restarted = not self._so_far.stands_in(opened)
            if restarted:
                self._scan = self._new_scan(self.paths[0])
                self._narrator = self._new_narrator()
            told = list(self._told(opened))
            self._so_far.note(opened, self._scan.offset)
        finally:
            opened.close()
        return Poll(told, restarted)

    def _told(self, opened: OpenFile) -> Iterator[Placed]:
        for entry, offset, length, line in self._scan.read(opened.file, alive=self.is_alive()):
            origin = Origin(0, offset, length, line)
            for record in self._narrator.tell(entry):
                yield Placed(record, origin)

    def close(self) -> None:
        """Nothing is held between looks."""


def notice(text: str, at: int, level: str = "warn") -> Record:
    """One slim row; a warning unless another `level` is given."""
    return Record(Kind.NOTICE, text=text, level=level, at=at)

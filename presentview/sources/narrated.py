"""Reading a log that is told one entry at a time, as the records of a sidecar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from presentview.limits import REPEATED_CALLS
from presentview.lock import is_alive
from presentview.logscan import LogScan
from presentview.records import Header, Kind, Record
from presentview.sidecar import Problem
from presentview.sources.base import Origin, Placed, Poll
from presentview.sources.growing import Growing

__all__ = ["NarratedReader", "Narrator", "Repeats", "notice"]


class Narrator(Protocol):
    """Tells the entries of one log, given one by one, as records."""

    header: Header

    def tell(self, entry: Any, /) -> Iterable[Record]:
        """The records of the next entry."""
        ...

    def is_lasting(self, entry: Any, record: Record, /) -> bool:
        """Whether a record of an entry tells of the run what no sidecar tells."""
        ...


class NarratedReader:
    """Reads the log at `path` (a `presentview.sources.base.Reader`)."""

    def __init__(
        self,
        path: Path,
        scan: Callable[[Path], LogScan[Any, Any]],
        narrator: Callable[[], Narrator],
        *,
        note: str = "",
    ) -> None:
        """Have what `scan` reads told by a `narrator`, a new one whenever it begins anew."""
        self.paths = (path,)
        self.note = note
        self._log = Growing(path, scan)
        self._new_narrator = narrator
        self._narrator = narrator()

    @property
    def header(self) -> Header:
        """What the log tells of its session."""
        return self._narrator.header

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, in the order of the file."""
        return self._log.problems

    def is_alive(self) -> bool:
        """Whether the file changed a moment ago: nothing else tells."""
        return is_alive(self.paths[0])

    def poll(self) -> Poll:
        """Read what is new; see `presentview.sources.base.Reader.poll`."""
        with self._log.reading(alive=self.is_alive()) as grown:
            if grown.restarted:
                self._narrator = self._new_narrator()
            return Poll(list(self._told(grown.placed)), grown.restarted)

    def _told(self, placed: Iterable[Any]) -> Iterator[Placed]:
        for entry, offset, length, line in placed:
            origin = Origin(0, offset, length, line)
            for record in self._narrator.tell(entry):
                yield Placed(record, origin, self._narrator.is_lasting(entry, record))

    def close(self) -> None:
        """Nothing is held between looks."""


def notice(text: str, at: int, level: str = "warn") -> Record:
    """One slim row; a warning unless another `level` is given."""
    return Record(Kind.NOTICE, text=text, level=level, at=at)


class Repeats:
    """Counts how often the same call is made in a row: the cheapest sign that an agent is stuck."""

    def __init__(self) -> None:
        self._last = ("", "")
        self._count = 0

    def warnings(self, name: str, arguments: str, at: int) -> Iterator[Record]:
        """The warning that the next call is worth, if it is one more of many; `arguments` are
        equal for calls that mean the same.
        """
        made = (name, arguments)
        self._count = self._count + 1 if made == self._last else 1
        self._last = made
        if self._count == REPEATED_CALLS:
            times = f"{REPEATED_CALLS} times in a row with the same arguments"
            yield notice(f"{name} was called {times}", at)

"""What a source is: a format that sessions are found in, read as the records of a sidecar.

Past this border nobody asks where a record came from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from presentview.records import Header, Record
from presentview.sidecar import Problem

__all__ = ["Origin", "Placed", "Poll", "Reader", "Source"]


class Origin(NamedTuple):
    """Where a record came from: the index of its file among the reader's `paths`, and the byte
    `offset` from 0, `length` in bytes and `line` from 1 in that file.
    """

    file: int
    offset: int
    length: int
    line: int


class Placed(NamedTuple):
    """A record, where it came from, and whether it is `lasting`: it tells of the run what no
    sidecar tells.
    """

    record: Record
    origin: Origin
    lasting: bool = False


class Poll(NamedTuple):
    """What a look at the files found: `records` to go on with, or, `restarted`, all there are.

    They can be gone through more than once, until the next look.
    """

    records: Iterable[Placed]
    restarted: bool


class Reader(Protocol):
    """Reads one session from files in a foreign format."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files it reads, the session's own first."""
        ...

    @property
    def header(self) -> Header:
        """What a sidecar of the session would begin with."""
        ...

    @property
    def note(self) -> str:
        """What a person should know of how the session was read; empty for nothing."""
        ...

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of the files so far."""
        ...

    def is_alive(self) -> bool:
        """Whether somebody is writing the session."""
        ...

    def poll(self) -> Poll:
        """Read what is new; a writer that is alive may be in the middle of the last line.

        What all polls since the last restart gave is the same as what one reading of the whole
        would give. Raises `OSError` if the session's own file cannot be opened or read.
        """
        ...

    def close(self) -> None:
        """Let the files go."""
        ...


class Source(NamedTuple):
    """A format: its `name` as a person is told it, whether a JSON object is what a line of it
    holds, how a line `begins` that is torn, and how to read a file.
    """

    name: str
    fits: Callable[[dict[str, Any]], bool]
    begins: re.Pattern[bytes]
    open: Callable[[Path], Reader]

"""A run log read back: what the run was, said and did, and how it ended."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from presentview.errors import SidecarError
from presentview.openfile import OpenFile
from presentview.runlog.reading import Placed, Scan
from presentview.runlog.records import Event, Kind, Message, Meta, Record, Result
from presentview.sidecar import Problem

__all__ = ["Openings", "Session", "load", "read"]


class Session(NamedTuple):
    """What a run log holds.

    `messages` are those since the last reset, `events` all there are. `result` is None while the
    run goes on, and for ever if it was killed. `started_ns` and `ended_ns` are the times of the
    meta record and of the result, None where they are not recorded. `problems` says what could
    not be read as it stands, and where.
    """

    meta: Meta = Meta()
    messages: tuple[Message, ...] = ()
    events: tuple[Event, ...] = ()
    result: Result | None = None
    problems: tuple[Problem, ...] = ()
    started_ns: int | None = None
    ended_ns: int | None = None

    @property
    def complete(self) -> bool:
        """Whether the run recorded how it ended."""
        return self.result is not None

    @property
    def truncated(self) -> bool:
        """Whether any record could not be read as it stands, be it the last one or another."""
        return bool(self.problems)

    def agent_messages(self) -> list[Message]:
        """The conversation, for another run to go on with."""
        return list(self.messages)


class Openings:
    """Which meta record tells how the run started.

    One opens the log. Of several that do, the last counts; one that comes later counts only where
    none opens the log, and is a problem.
    """

    def __init__(self) -> None:
        self.record = Record()
        self.settled = False
        self.late: list[Placed] = []

    def take(self, placed: Placed) -> None:
        """Look at the next record of the log."""
        record = placed.record
        if record.kind != Kind.META:
            self.settled = self.settled or record.kind in _KINDS
        elif record.meta is not None:
            if self.settled:
                self.late.append(placed)
            if not self.settled or self.record.meta is None:
                self.record = record


_KINDS = frozenset(Kind)


def load(path: str | os.PathLike[str]) -> Session:
    """Everything that can be read from the run log at `path`.

    Raises `SidecarError` if the file cannot be opened or read.
    """
    path = Path(path)
    try:
        opened = OpenFile(path)
        try:
            return read(opened.file, path=path)
        finally:
            opened.close()
    except OSError as error:
        raise SidecarError(f"cannot be read: {error.strerror}", path=path) from error


def read(stream: BinaryIO, *, path: Path | None = None) -> Session:
    """Everything that can be read from an open file or any other stream of bytes, from where it
    stands; `path` is what problems name.
    """
    name = getattr(stream, "name", "")
    scan = Scan(path or Path(name if isinstance(name, str) else ""))
    return _session(scan, scan.feed(stream))


def _session(scan: Scan, records: Iterable[Placed]) -> Session:
    openings = Openings()
    messages: list[Message] = []
    events: list[Event] = []
    last = Record()
    for placed in records:
        record = placed.record
        if record.kind == Kind.MESSAGE and record.message is not None:
            messages.append(record.message)
        elif record.kind == Kind.EVENT and record.event is not None:
            events.append(record.event)
        elif record.kind == Kind.RESET:
            messages.clear()
        elif record.kind == Kind.RESULT and record.result is not None:
            last = record
        if not openings.settled or record.kind == Kind.META:
            openings.take(placed)
    reason = "a meta record behind others, where none belongs"
    late = (Problem(scan.path, each.line, each.offset, reason) for each in openings.late)
    return Session(
        openings.record.meta or Meta(),
        tuple(messages),
        tuple(events),
        last.result,
        tuple(sorted((*scan.problems, *late), key=lambda problem: problem.offset)),
        openings.record.at_ns,
        last.at_ns,
    )

"""Reading a session log: every event with its place, and what could not be read.

Nothing here raises on content. A line that is damaged costs only itself and is named; what is
whole on it is kept. A line may be as long as it likes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from presentview.errors import SidecarError
from presentview.eventlog.events import SessionEvent, decode_line
from presentview.logscan import LogScan
from presentview.objects import Found
from presentview.openfile import OpenFile
from presentview.sidecar import Problem

__all__ = [
    "Loaded",
    "Placed",
    "Scan",
    "decode_event",
    "load",
    "read_events",
    "read_line",
]


class Placed(NamedTuple):
    """An event and where it lies in its file: its byte `offset`, its `length` in bytes and its
    `line`, from 1.
    """

    event: SessionEvent
    offset: int
    length: int
    line: int


class Loaded(NamedTuple):
    """What a session log holds: its events in the order of the file, and what could not be read."""

    events: tuple[SessionEvent, ...] = ()
    problems: tuple[Problem, ...] = ()


def load(path: str | os.PathLike[str]) -> Loaded:
    """Everything that can be read from the session log at `path`; a missing file holds nothing.

    Raises `SidecarError` if the file exists and cannot be opened or read.
    """
    scan = Scan(Path(path))
    try:
        opened = OpenFile(scan.path)
    except FileNotFoundError:
        return Loaded()
    except OSError as error:
        raise SidecarError(f"cannot be read: {error.strerror}", path=scan.path) from error
    try:
        events = tuple(placed.event for placed in scan.read(opened.file))
    except OSError as error:
        raise SidecarError(f"cannot be read: {error.strerror}", path=scan.path) from error
    finally:
        opened.close()
    return Loaded(events, scan.problems)


def read_events(file: BinaryIO, scan: Scan | None = None) -> Iterator[Placed]:
    """Every event of an open file with its place; with a `scan` from where that one stands, which
    then knows the problems.
    """
    name = getattr(file, "name", "")
    return (scan or Scan(Path(name if isinstance(name, str) else ""))).read(file)


def decode_event(line: bytes) -> SessionEvent | None:
    """The event on one line, however it is spelled; None where there is none."""
    return next((found.item for found in read_line(line) if found.item is not None), None)


def read_line(line: bytes, *, first: bool = False) -> Iterator[Found[SessionEvent]]:
    """Every piece of one line in order, with the bytes it takes of it and what is wrong with it.

    `first` says that it is the first of a file, where a byte order mark may stand before it.
    """
    try:
        event = decode_line(line)
    except (ValueError, RecursionError):
        # Most files are whole, and this takes long to load.
        from presentview.eventlog.mending import EVENTS
        from presentview.objects import find_objects

        yield from find_objects(line, EVENTS, first=first)
    else:
        yield Found(event, 0, len(line.rstrip(b" \t\r\n")), exact=True)


class Scan(LogScan[SessionEvent, Placed]):
    """A reading position in a session log."""

    def __init__(self, path: Path) -> None:
        """Read the events of the file at `path`."""
        super().__init__(path, decode_line, read_line, Placed)

    def _is_torn(self, end: bytes) -> bool:
        """Whether it may be the beginning of an event, or what a crash leaves of one.

        Nothing else may be cut off by the next writer.
        """
        from presentview.loosejson import container

        begun = end[:1] == b"\0" or re.match(rb'\{\s*(?:"|$)', end)
        return bool(begun) and container(end.decode("utf-8", "replace"), 0).members is None

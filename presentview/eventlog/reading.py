"""Reading a session log: every event with its place, and what could not be read.

Nothing here raises on content. A line that is damaged costs only itself and is named; what is
whole on it is kept. A line may be as long as it likes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from presentview.errors import SidecarError
from presentview.eventlog.events import SessionEvent, decode_line
from presentview.objects import Found
from presentview.openfile import OpenFile
from presentview.sidecar import Problem

__all__ = [
    "Loaded",
    "Placed",
    "Scan",
    "decode_event",
    "is_event_log",
    "load",
    "read_events",
    "read_line",
]

_NEWLINE: Final = 0x0A
_TORN: Final = "torn at the end of the file"


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


def is_event_log(head: bytes) -> bool:
    """Whether a file that begins with `head` is a session event log, told by its first events.

    A line that `head` holds only the beginning of counts too.
    """
    from presentview.eventlog.mending import EVENTS

    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        if EVENTS.start.match(line.decode("utf-8", "replace").lstrip()):
            return True
        event = decode_event(line)
        if event is not None and event.seq and event.type and event.data:
            return True
    return False


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


class Scan:
    """A reading position in one file, which goes on where it stopped.

    `offset` is the byte up to which the file has been read and `line` the line that goes on
    there. `pending` says that an unfinished line of a living writer waits at `offset`, `torn`
    that the file ends there in the middle of an event, and `mid_line` that what was read last
    had no line end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self.line = 1
        self.pending = False
        self.mid_line = False
        self._problems: list[Problem] = []
        self._tail: list[Problem] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read so far, in order."""
        return (*self._problems, *self._tail)

    @property
    def torn(self) -> bool:
        """Whether the file ends at `offset` in the middle of an event."""
        return bool(self._tail)

    def read(self, file: BinaryIO, *, alive: bool = False) -> Iterator[Placed]:
        """Read on to the end of `file`.

        The unfinished event at its end stays unread: `pending` while the writer is `alive`,
        otherwise a problem. Raises only what reading raises.
        """
        file.seek(self.offset)
        self._tail = []
        self.pending = False
        for raw in file:
            try:
                event = decode_line(raw)
            except (ValueError, RecursionError):
                yield from self._read_carefully(raw, alive=alive)
                continue
            self.mid_line = raw[-1] != _NEWLINE
            placed = Placed(event, self.offset, len(raw) - (not self.mid_line), self.line)
            self.offset += len(raw)
            self.line += not self.mid_line
            yield placed

    def step_over(self, data: bytes) -> None:
        """Move on behind bytes that stand at `offset` and hold no problem."""
        self.offset += len(data)
        self.line += data.count(b"\n")
        self.mid_line = not data.endswith(b"\n")

    def cut(self, size: int) -> None:
        """Say that the torn end of the file, `size` bytes of it, is being taken away."""
        for problem in self._tail:
            reason = f"{problem.reason}; these {size:,} bytes are cut off"
            self._problems.append(problem._replace(reason=reason))
        self._tail = []

    def _read_carefully(self, raw: bytes, *, alive: bool) -> Iterator[Placed]:
        pieces = list(read_line(raw, first=self.offset == 0))
        offset, line, end = self.offset, self.line, len(raw)
        if raw[-1] != _NEWLINE and any(piece.item is None for piece in pieces):
            # What looks damaged, with whole objects in it, may be an event not yet written whole.
            if alive:
                self.pending = True
                return
            if pieces[-1].item is None and _is_torn(raw[pieces[-1].offset :]):
                end = pieces[-1].offset
                self._tail = self._named(pieces.pop(), f"{_TORN}: ")
        for piece in pieces:
            self._problems += self._named(piece)
        if end:
            self.step_over(raw[:end])
        for piece in pieces:
            if piece.item is not None:
                yield Placed(piece.item, offset + piece.offset, piece.length, line)

    def _named(self, piece: Found[SessionEvent], before: str = "") -> list[Problem]:
        return [
            Problem(self.path, self.line, self.offset + flaw.offset, before + flaw.reason)
            for flaw in piece.flaws
        ]


def _is_torn(end: bytes) -> bool:
    """Whether the end of a file may be the beginning of an event, or what a crash leaves of one.

    Nothing else may be cut off by the next writer.
    """
    from presentview.loosejson import container

    begun = end[:1] == b"\0" or re.match(rb'\{\s*(?:"|$)', end)
    return bool(begun) and container(end.decode("utf-8", "replace"), 0).members is None

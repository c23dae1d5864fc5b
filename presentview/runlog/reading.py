"""Reading a run log: every record with its place, and what could not be read.

Nothing here raises on content. A line that is damaged costs only itself and is named; what is
whole on it is kept. A line may be as long as it likes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from presentview.objects import Found
from presentview.runlog.records import Record, decode_line
from presentview.sidecar import Problem

__all__ = ["Placed", "Scan", "decode_record", "is_run_log", "read_line"]

_NEWLINE: Final = 0x0A
_TORN: Final = "torn at the end of the file"


class Placed(NamedTuple):
    """A record and where it lies in its file: its byte `offset`, its `length` in bytes and its
    `line`, from 1. Its time in unix ms is `record.at`.
    """

    record: Record
    offset: int
    length: int
    line: int


def decode_record(line: bytes) -> Record | None:
    """The record on one line, however it is spelled; None where there is none."""
    return next((found.item for found in read_line(line) if found.item is not None), None)


def is_run_log(head: bytes) -> bool:
    """Whether a file that begins with `head` is a run log, told by its first records.

    A line that `head` holds only the beginning of counts too.
    """
    from presentview.runlog.mending import RECORDS

    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if RECORDS.start.match(line.decode("utf-8", "replace").lstrip()):
            return True
        record = decode_record(line) if line.lstrip()[:1] == b"{" else None
        if record is not None and (record.meta or record.message):
            return True
    return False


def read_line(line: bytes, *, first: bool = False) -> Iterator[Found[Record]]:
    """Every piece of one line in order, with the bytes it takes of it and what is wrong with it.

    `first` says that it is the first of a file, where a byte order mark may stand before it.
    """
    try:
        record = decode_line(line)
    except (ValueError, RecursionError):
        # Most files are whole, and this takes long to load.
        from presentview.runlog.mending import read_carefully

        yield from read_carefully(line, first=first)
    else:
        yield Found(record, 0, len(line.rstrip(b" \t\r\n")), exact=True)


class Scan:
    """A reading position in one file, which goes on where it stopped.

    `offset` is the byte up to which the file has been read and `line` the line that goes on
    there. `pending` says that an unfinished line of a living writer waits at `offset`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self.line = 1
        self.pending = False
        self._problems: list[Problem] = []
        self._tail: list[Problem] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read so far, in order."""
        return (*self._problems, *self._tail)

    def read(self, file: BinaryIO, *, alive: bool = False) -> Iterator[Placed]:
        """Read on to the end of `file`.

        The unfinished record at its end stays unread: `pending` while the writer is `alive`,
        otherwise a problem. Raises only what reading raises.
        """
        file.seek(self.offset)
        return self.feed(file, alive=alive)

    def feed(self, lines: Iterable[bytes], *, alive: bool = False) -> Iterator[Placed]:
        """The same for the lines from `offset` on, wherever they come from."""
        self._tail = []
        self.pending = False
        for raw in lines:
            try:
                record = decode_line(raw)
            except (ValueError, RecursionError):
                yield from self._read_carefully(raw, alive=alive)
                continue
            ended = raw[-1] == _NEWLINE
            placed = Placed(record, self.offset, len(raw) - ended, self.line)
            self.offset += len(raw)
            self.line += ended
            yield placed

    def _read_carefully(self, raw: bytes, *, alive: bool) -> Iterator[Placed]:
        pieces = list(read_line(raw, first=self.offset == 0))
        offset, line, end = self.offset, self.line, len(raw)
        if raw[-1] != _NEWLINE and any(piece.item is None for piece in pieces):
            # What looks damaged, with whole objects in it, may be a record not yet written whole.
            if alive:
                self.pending = True
                return
            if pieces[-1].item is None:
                end = pieces[-1].offset
                self._tail = self._named(pieces.pop(), f"{_TORN}: ")
        for piece in pieces:
            self._problems += self._named(piece)
        self.offset += end
        self.line += end == len(raw) and raw[-1] == _NEWLINE
        for piece in pieces:
            if piece.item is not None:
                yield Placed(piece.item, offset + piece.offset, piece.length, line)

    def _named(self, piece: Found[Record], before: str = "") -> list[Problem]:
        return [
            Problem(self.path, self.line, self.offset + flaw.offset, before + flaw.reason)
            for flaw in piece.flaws
        ]

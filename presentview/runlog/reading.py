"""Reading a run log: every record with its place, and what could not be read.

Nothing here raises on content. A line that is damaged costs only itself and is named; what is
whole on it is kept. A line may be as long as it likes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from presentview.logscan import LogScan
from presentview.objects import Found
from presentview.runlog.records import Record, decode_line

__all__ = ["Placed", "Scan", "decode_record", "read_line"]


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


class Scan(LogScan[Record, Placed]):
    """A reading position in a run log."""

    def __init__(self, path: Path) -> None:
        """Read the records of the file at `path`."""
        super().__init__(path, decode_line, read_line, Placed)

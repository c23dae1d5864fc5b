"""A row of the list from the beginning and the end of its file, until all of it is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from presentview.errors import SidecarError
from presentview.limits import PEEK_BYTES
from presentview.openfile import OpenFile
from presentview.records import Header, Record, decode, decode_header
from presentview.sessions import SessionRef
from presentview.transcript.fold import Transcript
from presentview.transcript.summary import summarize
from presentview.web.listquery import UNREAD, Listed
from presentview.web.overview import row_of

__all__ = ["Glance", "glance"]


class Glance(NamedTuple):
    """A row that says what a look at a file told, and who writes the file."""

    listed: Listed
    writer: str


class _Ends(NamedTuple):
    head: bytes
    tail: bytes


def glance(ref: SessionRef, path: str, size: int, changed_at: int) -> Glance:
    """A look at the session's file at `path`, which has `size` bytes and was last changed at
    `changed_at` (unix ms).
    """
    head, tail = _ends(path, size)
    first, *lines = head.split(b"\n")
    header = _header(first)
    transcript = Transcript()
    for record in _records(lines if header else [first, *lines]):
        transcript.feed(record, 0, 0, 0)
        if transcript.title:
            break
    header = header or Header()
    last = next((record.at for record in _records(reversed(tail.split(b"\n"))) if record.at), 0)
    transcript.last_at = last
    summary = summarize(transcript, alive=False)
    row = row_of(ref.id, ref.path, header, summary, changed_at)
    row = msgspec.structs.replace(row, state=UNREAD, state_label="not read yet", totals=())
    return Glance(Listed.of(row, summary, size), header.writer)


def _ends(path: str, size: int) -> _Ends:
    """The beginning and the end of a file, empty if it cannot be read."""
    try:
        file = OpenFile(Path(path))
        try:
            return _Ends(file.read(0, PEEK_BYTES), file.read(max(0, size - PEEK_BYTES), PEEK_BYTES))
        finally:
            file.close()
    except (OSError, SidecarError):
        return _Ends(b"", b"")


def _header(line: bytes) -> Header | None:
    try:
        return decode_header(line)
    except (ValueError, RecursionError):
        return None


def _records(lines: Iterable[bytes]) -> Iterator[Record]:
    """What can be read of some lines, the first or last of which may be cut."""
    for line in lines:
        try:
            yield decode(line)
        except (ValueError, RecursionError):
            continue

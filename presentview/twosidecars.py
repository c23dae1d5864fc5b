"""Which sidecar is shown where a session has one under either name.

The recorder goes on with the documented one. Whoever looks sees the one that tells of later: the
one whose last record is later. That depends on what the two hold, not on when they were written.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from presentview.filememo import FileMemo
from presentview.limits import LAST_RECORD_BYTES, PEEK_BYTES
from presentview.openfile import OpenFile, Stamp
from presentview.records import Record
from presentview.sidecar import Found, find_sidecar, pieces_of
from presentview.units import path_text

__all__ = ["second_notice", "shown_sidecar"]


class _Last(NamedTuple):
    """How far a sidecar goes; of two the greater goes further. `at` is when its last record was
    made (unix ms, 0: not recorded).
    """

    at: int = 0
    has_records: bool = False


_WIDER: Final = 8


def shown_sidecar(session_path: str | os.PathLike[str]) -> Found:
    """The sidecar of a session to show: of two the one whose last record is later, and the
    documented one where that is not recorded or the same.
    """
    found = find_sidecar(session_path)
    if found.other is None or _last_of(found.other) <= _last_of(found.path):
        return found
    return Found(found.other, found.path)


def second_notice(found: Found) -> str:
    """What a person is told of the sidecar that is not shown; empty where there is none."""
    if found.other is None:
        return ""
    other, shown = path_text(found.other.name), path_text(found.path.name)
    return (
        f"This session has two sidecars: {shown} is shown, {other} is not. The one whose last "
        "record is later is shown."
    )


def _last_of(path: Path) -> _Last:
    return _lasts.of(path) or _Last()


def _read_last(opened: OpenFile, stamp: Stamp) -> _Last:
    """Look at the end of a file, and at more of it until there is a record."""
    size, length = stamp.size, PEEK_BYTES
    while True:
        start = max(0, size - length)
        lines = opened.read(start, size - start).split(b"\n")
        # The first may be the end of a line only.
        for number in range(len(lines) - 1, 0 if start else -1, -1):
            pieces = list(pieces_of(lines[number], first=not (start or number)))
            records = [piece.item for piece in pieces if isinstance(piece.item, Record)]
            if records:
                return _Last(records[-1].at, has_records=True)
        if not start or length >= LAST_RECORD_BYTES:
            return _Last(has_records=bool(start))
        length *= _WIDER


_lasts: Final = FileMemo(_read_last)

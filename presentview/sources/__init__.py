"""The formats in which sessions are found besides the sidecar, each turned into its records.

A format is told by what stands in a file, never by its name alone. A new one is a module with a
`Source` in it and a line in `SOURCES`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from presentview.limits import DETECT_BYTES, DETECT_LINE_BYTES
from presentview.openfile import OpenFile
from presentview.sources.base import Origin, Placed, Poll, Reader, Source
from presentview.sources.eventlog import SOURCE as EVENT_LOG
from presentview.sources.messages import SOURCE as MESSAGES
from presentview.sources.plain import dicts_in
from presentview.sources.runlog import SOURCE as RUN_LOG

__all__ = [
    "EVENT_LOG",
    "MESSAGES",
    "RUN_LOG",
    "SOURCES",
    "Origin",
    "Placed",
    "Poll",
    "Reader",
    "Source",
    "detect",
]

SOURCES: Final[tuple[Source, ...]] = (MESSAGES, EVENT_LOG, RUN_LOG)
_VALUES: Final = 9


def detect(path: str | os.PathLike[str]) -> Source | None:
    """The format of the file at `path`: that of most of the first JSON objects in it; None if
    there is none. Of a file that holds no whole object the beginning of one tells.

    Raises `OSError` if the file cannot be opened and `SidecarError` if it is no regular file.
    """
    opened = OpenFile(Path(path))
    try:
        head = opened.read(0, DETECT_BYTES)
        if len(head) == DETECT_BYTES and b"\n" not in head:
            # One line says what the file is, however long it is: a system prompt may be.
            head = opened.read(0, DETECT_LINE_BYTES)
    finally:
        opened.close()
    values = _first_values(head)
    if not values:
        begun = [line.lstrip() for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
        return next((one for one in SOURCES if any(map(one.begins.match, begun))), None)
    return next((one for one in SOURCES if 2 * sum(map(one.fits, values)) > len(values)), None)


def _first_values(head: bytes) -> list[dict[str, Any]]:
    """The first JSON objects in the beginning of a file."""
    found: list[dict[str, Any]] = []
    lines = head.split(b"\n")
    if len(lines) > 1:
        # The last one may be cut off where reading stopped.
        lines.pop()
    for number, line in enumerate(lines[: 4 * _VALUES]):
        found += dicts_in(line, first=number == 0)
        if len(found) >= _VALUES:
            break
    return found[:_VALUES]

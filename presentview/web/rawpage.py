"""The raw page: lines of the file as they stand."""

from __future__ import annotations

from typing import Any, NamedTuple

from presentview.follow import Follower
from presentview.limits import RAW_LINE_BYTES, RAW_LINES
from presentview.units import path_text

__all__ = ["RawLine", "raw_context"]


class RawLine(NamedTuple):
    """One line: its `number` from 1, byte `offset`, text, how many bytes of it are not shown,
    and what is wrong with it; `pretty` if it can be laid out as JSON.
    """

    number: int
    offset: int
    text: str
    cut: int
    reason: str
    pretty: bool


def raw_context(follower: Follower, wanted: int, file: int = 0) -> dict[str, Any]:
    """What the raw page with line `wanted` of a file on it shows, as its template wants it.

    `file` is the index of one of the follower's `paths`; for any other the first is shown.
    """
    paths = follower.paths
    file = file if file < len(paths) else 0
    reasons: dict[int, str] = {}
    for problem in follower.problems:
        if problem.path == paths[file]:
            reasons.setdefault(problem.line, problem.reason)
    first = max(1, wanted - (wanted - 1) % RAW_LINES)
    found = follower.lines(first, RAW_LINES + 1, RAW_LINE_BYTES, file)
    lines = [
        RawLine(
            line.number,
            line.offset,
            line.head.decode("utf-8", "replace").rstrip("\r\n"),
            line.size - len(line.head),
            reasons.get(line.number, ""),
            line.size == len(line.head) and line.number not in reasons,
        )
        for line in found[:RAW_LINES]
    ]
    return {
        "path": path_text(paths[file]),
        "file": file,
        "others": [(n, path_text(path.name)) for n, path in enumerate(paths) if n != file],
        "size": follower.size,
        "lines": lines,
        "previous": first - RAW_LINES if first > 1 else 0,
        "following": first + RAW_LINES if len(found) > RAW_LINES else 0,
    }

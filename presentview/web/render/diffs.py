"""Unified diffs as they are shown: their changed words marked, and never too many lines."""

from __future__ import annotations

from collections.abc import Sequence

from presentview.limits import DIFF_LINES
from presentview.transcript.changes.parsing import parse_patch
from presentview.transcript.changes.patch import FilePatch, PatchHunk, PatchLine
from presentview.web.render.diff_model import (
    Diff,
    DiffLine,
    FileChange,
    Hunk,
    Segment,
    SplitRow,
    split_rows,
)
from presentview.web.render.word_marks import WordMarker

__all__ = [
    "Diff",
    "DiffLine",
    "FileChange",
    "Hunk",
    "Segment",
    "SplitRow",
    "parse_diff",
    "split_rows",
]


def parse_diff(text: str, *, path: str = "") -> Diff:
    """Read the unified diff in text.

    path names the file where the diff itself does not. At most `limits.DIFF_LINES` lines are
    kept; the rest is counted.
    """
    patch = parse_patch(text, path=path, most_lines=DIFF_LINES)
    marker = WordMarker()
    files = tuple(_shown(file, marker) for file in patch.files)
    return Diff(files, patch.added, patch.removed, patch.cut)


def _shown(file: FilePatch, marker: WordMarker) -> FileChange:
    return FileChange(
        path=file.path,
        old_path=file.old_path,
        hunks=tuple(_marked(hunk, marker) for hunk in file.hunks),
        added=file.added,
        removed=file.removed,
        note="\n".join(file.notes),
    )


def _marked(hunk: PatchHunk, marker: WordMarker) -> Hunk:
    start = hunk.range
    lines = marker.mark([_plain(line) for line in _without_line_ends(hunk.lines)])
    if start is None:
        return Hunk(hunk.header, 0, 0, lines)
    return Hunk(hunk.header, start.old_start, start.new_start, lines)


def _plain(line: PatchLine) -> DiffLine:
    return DiffLine(line.kind, line.old, line.new, (Segment(line.text, marked=False),))


def _without_line_ends(lines: Sequence[PatchLine]) -> Sequence[PatchLine]:
    """Drop the carriage returns of a file with CRLF line ends; keep those that only some have."""
    texts = [line.text for line in lines if line.kind != "note"]
    if not all(text.endswith("\r") or not text for text in texts):
        return lines
    return [line._replace(text=line.text.removesuffix("\r")) for line in lines]

"""Files and hunks of a diff while they are being read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from presentview.web.render.diff_headers import DEV_NULL, HunkRange, PathPair, without_prefixes
from presentview.web.render.diff_model import DiffLine, FileChange, Hunk, LineKind, Segment
from presentview.web.render.word_marks import WordMarker

__all__ = ["NO_PATHS", "OpenFile", "OpenHunk"]

NO_PATHS = PathPair("", "")


@dataclass(slots=True)
class OpenHunk:
    """A hunk that is being read. Without a range, its line numbers are unknown."""

    header: str
    range: HunkRange | None
    lines: list[DiffLine] = field(default_factory=list)
    old_seen: int = 0
    new_seen: int = 0

    @property
    def old_left(self) -> int:
        """How many lines of the old file are missing by the header's count."""
        return self.range.old_count - self.old_seen if self.range else 0

    @property
    def new_left(self) -> int:
        """How many lines of the new file are missing by the header's count."""
        return self.range.new_count - self.new_seen if self.range else 0

    @property
    def wants_more(self) -> bool:
        """Whether lines of either file are missing."""
        return self.old_left > 0 or self.new_left > 0

    @property
    def is_complete(self) -> bool:
        """Whether the hunk has just the lines that the header claims."""
        return self.range is not None and self.old_left == 0 == self.new_left

    def next_line(self, kind: LineKind, text: str) -> DiffLine:
        """Return the line with its numbers, and count it."""
        old = new = None
        if kind in {"context", "del"}:
            old = self.range.old_start + self.old_seen if self.range else None
            self.old_seen += 1
        if kind in {"context", "add"}:
            new = self.range.new_start + self.new_seen if self.range else None
            self.new_seen += 1
        return DiffLine(kind, old, new, (Segment(text, marked=False),))

    def closed(self, marker: WordMarker) -> Hunk:
        """Return the hunk as read, its words marked."""
        start = self.range or HunkRange(0, 0, 0, 0)
        lines = marker.mark(_without_line_ends(self.lines))
        return Hunk(self.header, start.old_start, start.new_start, lines)


@dataclass(slots=True)
class OpenFile:
    """A file whose hunks are being read."""

    paths: PathPair
    hunks: list[OpenHunk] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    added: int = 0
    removed: int = 0
    is_named: bool = False  # by a `---` and `+++` pair

    @property
    def is_blank(self) -> bool:
        """Whether nothing is known yet but text that stood before."""
        return not self.hunks and not self.is_named and self.paths == NO_PATHS

    def closed(self, default_path: str, marker: WordMarker) -> FileChange:
        """Return the file as read."""
        old, new = without_prefixes(self.paths)
        if old == DEV_NULL and "new file" not in self.notes:
            self.notes.insert(0, "new file")
        if new == DEV_NULL and "deleted file" not in self.notes:
            self.notes.insert(0, "deleted file")
        known = [path for path in (new, old) if path not in {"", DEV_NULL}]
        path = known[0] if known else default_path
        return FileChange(
            path=path,
            old_path=old if len(known) == 2 and old != new else "",
            hunks=tuple(hunk.closed(marker) for hunk in self.hunks),
            added=self.added,
            removed=self.removed,
            note="\n".join(self.notes),
        )


def _without_line_ends(lines: list[DiffLine]) -> list[DiffLine]:
    """Drop the carriage returns of a file with CRLF line ends; keep those that only some have."""
    texts = [line.text for line in lines if line.kind != "note"]
    if not all(text.endswith("\r") or not text for text in texts):
        return lines
    return [
        replace(line, segments=(Segment(line.text.removesuffix("\r"), marked=False),))
        for line in lines
    ]

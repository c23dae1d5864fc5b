"""Files and hunks of a diff while they are being read."""

from __future__ import annotations

from dataclasses import dataclass, field

from presentview.transcript.changes.headers import (
    DEV_NULL,
    HunkRange,
    PathPair,
    without_prefixes,
)
from presentview.transcript.changes.patch import FilePatch, LineKind, PatchHunk, PatchLine

__all__ = ["NO_PATHS", "OpenFile", "OpenHunk"]

NO_PATHS = PathPair("", "")


@dataclass(slots=True)
class OpenHunk:
    """A hunk that is being read. Without a range, its line numbers are unknown."""

    header: str
    range: HunkRange | None
    lines: list[PatchLine] = field(default_factory=list)
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

    def next_line(self, kind: LineKind, text: str) -> PatchLine:
        """Return the line with its numbers, and count it."""
        old = new = None
        if kind in {"context", "del"}:
            old = self.range.old_start + self.old_seen if self.range else None
            self.old_seen += 1
        if kind in {"context", "add"}:
            new = self.range.new_start + self.new_seen if self.range else None
            self.new_seen += 1
        return PatchLine(kind, old, new, text)

    def closed(self) -> PatchHunk:
        """Return the hunk as read."""
        return PatchHunk(self.header, self.range, tuple(self.lines))


@dataclass(slots=True)
class OpenFile:
    """A file whose hunks are being read."""

    paths: PathPair
    hunks: list[OpenHunk] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    added: int = 0
    removed: int = 0
    is_named: bool = False  # by a `---` and `+++` pair
    verb: str = ""
    is_new: bool = False
    is_deleted: bool = False
    is_binary: bool = False
    old_mode: str = ""
    new_mode: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether nothing is known yet but text that stood before."""
        return not self.hunks and not self.is_named and self.paths == NO_PATHS

    def closed(self, default_path: str) -> FilePatch:
        """Return the file as read."""
        old, new = without_prefixes(self.paths)
        self._note_missing(old, new)
        known = [path for path in (new, old) if path not in {"", DEV_NULL}]
        path = known[0] if known else default_path
        return FilePatch(
            path=path,
            old_path=old if len(known) == 2 and old != new else "",
            hunks=tuple(hunk.closed() for hunk in self.hunks),
            added=self.added,
            removed=self.removed,
            notes=tuple(self.notes),
            verb=self.verb,
            is_new=self.is_new,
            is_deleted=self.is_deleted,
            is_binary=self.is_binary,
            old_mode=self.old_mode,
            new_mode=self.new_mode,
        )

    def _note_missing(self, old: str, new: str) -> None:
        """Say where one of the two files is not there by its name alone."""
        if old == DEV_NULL and not self.is_new:
            self.is_new = True
            self.notes.insert(0, "new file")
        if new == DEV_NULL and not self.is_deleted:
            self.is_deleted = True
            self.notes.insert(0, "deleted file")

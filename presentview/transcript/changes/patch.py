"""What a unified diff says, exactly: files, hunks and lines, with nothing changed in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from presentview.transcript.changes.headers import HunkRange

__all__ = ["FilePatch", "LineKind", "Patch", "PatchHunk", "PatchLine"]

LineKind = Literal["context", "add", "del", "note"]


class PatchLine(NamedTuple):
    """One line of a hunk, without its sign and line feed but with a carriage return, and its
    numbers in the old and the new file, as far as they are known.

    Notes are lines of the diff that stand in neither file; `is_end` says of one that the line in
    front of it is the last of its file and has no line feed.
    """

    kind: LineKind
    old: int | None
    new: int | None
    text: str
    is_end: bool = False


class PatchHunk(NamedTuple):
    """Lines that belong together, and the range that the header claims, if it can be read."""

    header: str
    range: HunkRange | None
    lines: tuple[PatchLine, ...]

    @property
    def is_miscounted(self) -> bool:
        """Whether the header claims other numbers of lines than there are."""
        if self.range is None:
            return False
        old = sum(line.kind in ("context", "del") for line in self.lines)
        new = sum(line.kind in ("context", "add") for line in self.lines)
        return (old, new) != (self.range.old_count, self.range.new_count)


class FilePatch(NamedTuple):
    """What a diff says of one file.

    `old_path` is set when the file had another name before, and `verb` is "rename" or "copy"
    where the diff says how it got the new one. `notes` holds what stands in the diff besides
    hunks. `old_mode` and `new_mode` are octal digits, empty where they are not told.
    """

    path: str
    old_path: str
    hunks: tuple[PatchHunk, ...]
    added: int
    removed: int
    notes: tuple[str, ...]
    verb: str = ""
    is_new: bool = False
    is_deleted: bool = False
    is_binary: bool = False
    old_mode: str = ""
    new_mode: str = ""

    def remarks(self) -> Iterator[str]:
        """What is wrong with it: hunks that do not have the lines that their headers claim."""
        for hunk in self.hunks:
            if hunk.is_miscounted:
                yield f"{hunk.header.partition(' @@')[0]} @@ counts other lines than it has"


class Patch(NamedTuple):
    """All files of a diff, with the added and removed lines counted in the text itself.

    `cut` is how many lines were left out of the hunks; they are counted, too.
    """

    files: tuple[FilePatch, ...]
    added: int
    removed: int
    cut: int

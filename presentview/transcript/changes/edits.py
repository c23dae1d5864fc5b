"""One edit of one file: what a step says it did to it, from whatever told it.

A line here is a text with its line feed; only the last one of a file may have none. A carriage
return belongs to the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from presentview.transcript.changes.patch import FilePatch, Patch, PatchHunk

__all__ = [
    "Action",
    "FileEdit",
    "Lines",
    "PlacedHunk",
    "Row",
    "Sign",
    "Swap",
    "edits_of",
    "split_lines",
]

Lines = tuple[str, ...]
Sign = Literal[" ", "-", "+"]
Action = Literal["modify", "write", "create", "delete", "rename", "copy"]

_SIGNS: dict[str, Sign] = {"context": " ", "del": "-", "add": "+"}


class Row(NamedTuple):
    """One line of a hunk: kept (" "), removed ("-") or added ("+")."""

    sign: Sign
    line: str


class PlacedHunk(NamedTuple):
    """Rows that stand together. `at` is how many lines of the old file come before them; None
    where that is not known.
    """

    at: int | None
    rows: tuple[Row, ...]

    @property
    def before(self) -> Lines:
        """The lines as they stood in the old file: kept and removed ones."""
        return tuple(row.line for row in self.rows if row.sign != "+")

    @property
    def after(self) -> Lines:
        """The lines as they stand in the new file: kept and added ones."""
        return tuple(row.line for row in self.rows if row.sign != "-")

    @property
    def is_enclosed(self) -> bool:
        """Whether it has kept lines on both sides of what it changes."""
        return bool(self.rows) and self.rows[0].sign == " " == self.rows[-1].sign


class Swap(NamedTuple):
    """A text that another takes the place of: where it stands, or everywhere (`every`)."""

    old: str
    new: str
    every: bool = False


class FileEdit(NamedTuple):
    """What one step did to one file.

    `path` is the file's name afterwards, as recorded, `old_path` the one before, if another.
    `content` is all of the file afterwards and `original` all of it before, where recorded;
    "write" says that only the content is known, not whether there was a file before. `derived`:
    told by the call's arguments. `opaque` says why what it did is not known at all.
    """

    path: str
    action: Action = "modify"
    old_path: str = ""
    hunks: tuple[PlacedHunk, ...] = ()
    swaps: tuple[Swap, ...] = ()
    content: Lines | None = None
    original: Lines | None = None
    old_mode: str = ""
    new_mode: str = ""
    derived: bool = False
    is_binary: bool = False
    opaque: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def counts(self) -> tuple[int, int]:
        """How many lines it adds and removes, as far as that is told."""
        if self.hunks or not self.content:
            signs = [row.sign for hunk in self.hunks for row in hunk.rows]
            removed = len(self.original or ()) if self.action == "delete" and not signs else 0
            added, removed = signs.count("+"), signs.count("-") + removed
        else:
            added, removed = len(self.content), len(self.original or ())
        for swap in self.swaps:
            added += len(split_lines(swap.new))
            removed += len(split_lines(swap.old))
        return added, removed

    @property
    def source(self) -> str:
        """The file's name before the step."""
        return self.old_path or self.path

    @property
    def is_exact(self) -> bool:
        """Whether every line is recorded as it was, none with U+FFFD for what could not be."""
        rows = (row.line for hunk in self.hunks for row in hunk.rows)
        texts = (text for swap in self.swaps for text in (swap.old, swap.new))
        return not any("\ufffd" in text for text in (*rows, *texts, *(self.content or ())))


def split_lines(text: str) -> Lines:
    """The lines of a text, each with its line feed; only LF ends a line."""
    lines = text.split("\n")
    last = lines.pop()
    return (*(f"{line}\n" for line in lines), *((last,) if last else ()))


def edits_of(patch: Patch, *, derived: bool = False) -> tuple[FileEdit, ...]:
    """What a diff does to each of its files. Text that names no file and has no hunk does
    nothing.
    """
    named = (file for file in patch.files if file.path)
    return tuple(_edit(file)._replace(derived=derived) for file in named if not _says_nothing(file))


def _says_nothing(file: FilePatch) -> bool:
    told = file.hunks or file.verb or file.is_new or file.is_deleted or file.is_binary
    return not (told or file.old_mode or file.new_mode)


def _edit(file: FilePatch) -> FileEdit:
    hunks = tuple(placed for hunk in file.hunks if (placed := _placed(hunk)).rows)
    edit = FileEdit(
        file.path,
        hunks=hunks,
        old_mode=file.old_mode,
        new_mode=file.new_mode,
        is_binary=file.is_binary,
        remarks=tuple(file.remarks()),
    )
    if file.is_binary:
        edit = edit._replace(opaque="a binary file")
    elif not all(map(_is_sane, hunks)):
        edit = edit._replace(opaque="its diff contradicts itself", hunks=())
    if file.verb in ("rename", "copy") and file.old_path:
        action: Action = "rename" if file.verb == "rename" else "copy"
        return edit._replace(action=action, old_path=file.old_path)
    if file.is_new:
        return edit._replace(action="create", content=_whole(file, hunks, "+"))
    if file.is_deleted:
        return edit._replace(action="delete", original=_whole(file, hunks, "-"))
    return edit


def _placed(hunk: PatchHunk) -> PlacedHunk:
    rows = tuple(_rows(hunk))
    if hunk.range is None or hunk.is_miscounted:
        return PlacedHunk(None, rows)
    start, count = hunk.range.old_start, hunk.range.old_count
    return PlacedHunk(start if count == 0 else start - 1 if start else None, rows)


def _rows(hunk: PatchHunk) -> Iterator[Row]:
    """The rows up to a remark in the middle: what follows it need not be the next line."""
    lines = hunk.lines
    for line, following in zip(lines, (*lines[1:], None), strict=False):
        if line.kind != "note":
            ends = following is not None and following.is_end
            yield Row(_SIGNS[line.kind], line.text if ends else f"{line.text}\n")
        elif not line.is_end:
            return


def _is_sane(hunk: PlacedHunk) -> bool:
    """Whether no line but the last of each side is without a line feed."""
    return all(line.endswith("\n") for side in (hunk.before, hunk.after) for line in side[:-1])


def _whole(file: FilePatch, hunks: tuple[PlacedHunk, ...], sign: Sign) -> Lines | None:
    """All lines of a file that came or went, None where the diff does not hold all of them."""
    if file.is_binary or len(hunks) != len(file.hunks) or len(hunks) > 1:
        return None
    if not hunks:
        return None if file.added or file.removed else ()
    (hunk,) = hunks
    complete = hunk.at == 0 and all(row.sign == sign for row in hunk.rows)
    return tuple(row.line for row in hunk.rows) if complete else None

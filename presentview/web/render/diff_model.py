"""What a diff is once it has been read: files, hunks, lines and the marked words in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from presentview.transcript.changes.patch import LineKind

__all__ = [
    "Diff",
    "DiffLine",
    "FileChange",
    "Hunk",
    "IndexPair",
    "Segment",
    "SplitRow",
    "split_indexes",
    "split_rows",
]


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a line; `marked` says that this is what differs from the line's counterpart."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a hunk with its numbers in the old and the new file, as far as they are known.

    Notes are lines of the diff that stand in neither file.
    """

    kind: LineKind
    old: int | None
    new: int | None
    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The whole line, without its sign."""
        return "".join(segment.text for segment in self.segments)

    @property
    def has_marks(self) -> bool:
        """Whether a part of the line is marked."""
        return any(segment.marked for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that belong together. The starts are 0 where the header does not tell them."""

    header: str
    old_start: int
    new_start: int
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    """What changed in one file.

    `old_path` is set when the file had another name before; `note` holds what the diff says
    besides its hunks (new file, changed mode, binary), one remark a line.
    """

    path: str
    old_path: str
    hunks: tuple[Hunk, ...]
    added: int
    removed: int
    note: str


@dataclass(frozen=True, slots=True)
class Diff:
    """All files of a diff, with the added and removed lines counted in the text itself.

    `cut` is how many lines were left out of the hunks; they are counted, too.
    """

    files: tuple[FileChange, ...]
    added: int
    removed: int
    cut: int


@dataclass(frozen=True, slots=True)
class SplitRow:
    """One row of the side-by-side view; None where a side has no line."""

    left: DiffLine | None
    right: DiffLine | None


class IndexPair(NamedTuple):
    """Which two lines stand in one row; None where a side has no line."""

    left: int | None
    right: int | None


def split_rows(hunk: Hunk) -> tuple[SplitRow, ...]:
    """Return the lines of hunk side by side, removed lines next to the added ones after them."""
    return tuple(
        SplitRow(
            None if pair.left is None else hunk.lines[pair.left],
            None if pair.right is None else hunk.lines[pair.right],
        )
        for pair in split_indexes(hunk.lines)
    )


def split_indexes(lines: Sequence[DiffLine]) -> Iterator[IndexPair]:
    """Yield which lines stand side by side, as indexes into lines."""
    removed: list[int] = []
    added: list[int] = []
    for index, line in enumerate(lines):
        if line.kind == "del" and not added:
            removed.append(index)
        elif line.kind == "add":
            added.append(index)
        else:
            yield from itertools.starmap(IndexPair, itertools.zip_longest(removed, added))
            removed, added = [], []
            if line.kind == "del":
                removed.append(index)
            else:
                yield IndexPair(index, index)
    yield from itertools.starmap(IndexPair, itertools.zip_longest(removed, added))

"""The file so far: what is known of one file after a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from presentview.transcript.changes.edits import Lines
from presentview.transcript.changes.rebasing import moved_range
from presentview.transcript.changes.sheet import Run, Sheet, blank

__all__ = ["Base", "Block", "Break", "FileState", "Floating", "Played"]

Base = Literal["file", "absent", "unknown"]


class Floating(NamedTuple):
    """Lines known to have been in the file at `step`; where they stand now is not known."""

    lines: Lines
    step: int


class Break(NamedTuple):
    """At `step` what was known of the file ended, and why."""

    step: int
    reason: str


class FileState(NamedTuple):
    """What is known of one file after a step.

    `exists`: False once it was deleted. The sheet's base is what stood in the file `base_path`
    before the session ("file"), nothing ("absent": a file made in the session), or not known.
    `unpatchable` says why no patch can be made of what comes from here on, `lineage` tells a
    file through its renames from all others. Modes are octal digits, empty where not told.
    """

    path: str
    base_path: str
    lineage: int
    sheet: Sheet = blank()
    exists: bool = True
    base: Base = "file"
    floating: tuple[Floating, ...] = ()
    broken: Break | None = None
    unpatchable: str = ""
    mode: str = ""
    base_mode: str = ""

    @property
    def is_full(self) -> bool:
        """Whether every byte of it is known."""
        return self.exists and self.sheet.is_full

    def as_base(self) -> FileState:
        """The file as if it had been like this before the session."""
        return FileState(
            self.path,
            self.path,
            self.lineage,
            self.sheet.as_base() if self.exists else Sheet(()),
            exists=self.exists,
            base="file" if self.exists else "absent",
            mode=self.mode,
            base_mode=self.mode,
        )

    @property
    def size(self) -> int:
        """How many bytes a file that `is_full` has, at least: exactly, if it is all ASCII."""
        return sum(sum(map(len, piece.lines or ())) for piece in self.sheet.pieces)

    @property
    def content(self) -> bytes:
        """The bytes of a file that `is_full`."""
        return "".join(self.sheet.lines()).encode("utf-8", "surrogatepass")


class Block(NamedTuple):
    """Where the lines of a hunk stand after its step: the first `start` lines come before it, and
    it ends before line `end` + 1. `changed` are the ranges in it that are new.
    """

    start: int
    end: int
    changed: tuple[tuple[int, int], ...]

    def moved(self, runs: Sequence[Run]) -> Block | None:
        """The block after other changes; None if they reach into what it changed."""
        inner = [moved_range(*part, runs) for part in self.changed]
        if None in inner:
            return None
        outer = moved_range(self.start, self.end, runs) or (-1, -1)
        return Block(*outer, tuple(part for part in inner if part is not None))

    @property
    def is_whole(self) -> bool:
        """Whether no later change reached into the lines around what it changed."""
        return self.start >= 0


class Played(NamedTuple):
    """What an edit did: the `state` after it, the `stages` in which lines changed, each by the
    lines of the one before, and the `blocks` of its hunks. Both are None where it was not placed
    among the lines that were known.
    """

    state: FileState
    stages: tuple[tuple[Run, ...], ...] | None = None
    blocks: tuple[Block, ...] | None = None

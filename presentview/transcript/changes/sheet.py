"""A file as far as it is known, now and as it was at the base: pieces from top to bottom.

Each piece says what stands in the base and what stands there now: the same lines, other lines,
or lines nobody recorded. Line numbers of the base and of now follow from the pieces in front, so
that one table tells what is known, what changed, and where.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from presentview.transcript.changes.edits import Lines, PlacedHunk
from presentview.transcript.changes.walk import UNKNOWN, Piece, Walk, joined, size_of

__all__ = ["Placed", "Run", "Sheet", "Stretch", "blank", "filled"]


class Run(NamedTuple):
    """Lines that others took the place of: `old` lines after the first `at` became `new` ones."""

    at: int
    old: int
    new: int


class Stretch(NamedTuple):
    """Known lines that stand together, the first of them line `start` (from 1)."""

    start: int
    lines: Lines
    read: bool = False


class Placed(NamedTuple):
    """What became of a sheet: the new one, what changed by lines of the old one, and for each
    hunk where its lines stand in the new one.
    """

    sheet: Sheet
    runs: tuple[Run, ...]
    blocks: tuple[tuple[int, int], ...]


class Sheet(NamedTuple):
    """The pieces of one file from top to bottom."""

    pieces: tuple[Piece, ...]

    @property
    def is_full(self) -> bool:
        """Whether all of the file is known as it is now, and by edits alone."""
        return not any(piece.lines is None or piece.read for piece in self.pieces)

    @property
    def has_base(self) -> bool:
        """Whether all of the base is known, and by edits alone."""
        return not any(piece.base is None or piece.read for piece in self.pieces)

    @property
    def has_gaps(self) -> bool:
        """Whether there are lines that nobody knows."""
        return any(piece.lines is None for piece in self.pieces)

    @property
    def end(self) -> int | None:
        """How many lines the file has now, None if that is not known."""
        if any(piece.extent < 0 for piece in self.pieces):
            return None
        return sum(size_of(piece) for piece in self.pieces)

    def lines(self) -> Lines:
        """The lines of a file that `is_full`."""
        return tuple(line for piece in self.pieces for line in piece.lines or ())

    def base_lines(self) -> Lines:
        """The lines of a base that is known (`has_base`)."""
        return tuple(line for piece in self.pieces for line in piece.base or ())

    def stretches(self) -> Iterator[Stretch]:
        """What is known of the file now, as long stretches as possible."""
        at, start, read = 0, 0, False
        held: list[str] = []
        for piece in self.pieces:
            if held and (piece.lines is None or (piece.lines and piece.read != read)):
                yield Stretch(start + 1, tuple(held), read)
                held = []
            if piece.lines:
                if not held:
                    start, read = at, piece.read
                held += piece.lines
            at += max(0, size_of(piece))
        if held:
            yield Stretch(start + 1, tuple(held), read)

    def edited(self, hunks: Sequence[PlacedHunk], step: int = 0, *, read: bool = False) -> Placed:
        """The sheet after the hunks of `step`, whose places, in ascending order, are all known;
        `read` if only because of what was read.

        Raises `Disagrees` if a line they keep or remove is known to be another, if they overlap,
        or reach beyond the end.
        """
        walk = Walk(self.pieces, frozenset((step,)))
        runs: list[Run] = []
        blocks: list[tuple[int, int]] = []
        shift = 0
        for hunk in hunks:
            assert hunk.at is not None
            walk.advance_to(hunk.at)
            before = len(runs)
            runs += _runs(hunk)
            walk.take(hunk.rows, read=read)
            blocks.append((hunk.at + shift, hunk.at + shift + len(hunk.after)))
            shift += sum(run.new - run.old for run in runs[before:])
        return Placed(Sheet(walk.finished()), tuple(runs), tuple(blocks))

    def told(self, lines: Lines, at: int = 0, *, whole: bool = False, read: bool = False) -> Sheet:
        """The sheet with these lines known to stand after the first `at` ones, and to be all of
        the file if `whole`.

        Raises `Disagrees` if others are known.
        """
        walk = Walk(self.pieces)
        walk.advance_to(at)
        walk.learn(lines, read=read)
        if whole:
            walk.must_end()
        return Sheet(walk.finished())

    def as_base(self) -> Sheet:
        """The sheet as if nothing had been changed yet."""
        pieces = (
            Piece(piece.lines, piece.lines, piece.extent, piece.read)
            for piece in self.pieces
            if piece.lines or piece.lines is None
        )
        return Sheet(tuple(joined(pieces)))

    def unread(self) -> Sheet:
        """The sheet without what was only read."""
        pieces = (
            Piece(None, None, size_of(piece)) if piece.read and piece.is_same else piece
            for piece in self.pieces
        )
        return Sheet(tuple(joined(pieces)))


def blank() -> Sheet:
    """The sheet of a file of which nothing is known."""
    return Sheet((UNKNOWN,))


def filled(lines: Lines, step: int, base: Lines | None = ()) -> Sheet:
    """The sheet of a file with these lines, which took the place of those of `base` in `step`."""
    piece = Piece(base, lines, by=frozenset((step,)))
    return Sheet((piece,) if lines or base or base is None else ())


def _runs(hunk: PlacedHunk) -> Iterator[Run]:
    """The changed lines of a hunk as they stand together."""
    assert hunk.at is not None
    at, old, new = hunk.at, 0, 0
    for row in hunk.rows:
        if row.sign == " ":
            if old or new:
                yield Run(at, old, new)
            at, old, new = at + old + 1, 0, 0
        else:
            old += row.sign == "-"
            new += row.sign == "+"
    if old or new:
        yield Run(at, old, new)

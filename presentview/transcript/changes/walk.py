"""The pieces a file is known by, and going down them once to make those of the next state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from presentview.transcript.changes.edits import Lines, Row

__all__ = ["UNKNOWN", "Disagrees", "Piece", "Walk", "joined", "size_of"]

_TO_THE_END = -1


class Disagrees(Exception):
    """What an edit says of a file is not what is known of it."""


class Piece(NamedTuple):
    """Lines that stand together: in the `base`, and now. None: not known.

    Of lines that are not known on either side, which are the same on both, there are `extent`,
    or -1 for all to the end of the file. `read`: told by what the agent read, not by an edit,
    so that white space at the ends of lines may be another. `by`: the steps that made it another.
    """

    base: Lines | None
    lines: Lines | None
    extent: int = 0
    read: bool = False
    by: frozenset[int] = frozenset()

    @property
    def is_same(self) -> bool:
        """Whether it is known and the same in the base."""
        return self.lines is not None and self.base is self.lines and not self.by


UNKNOWN = Piece(None, None, _TO_THE_END)
"""All lines to the end of the file."""


def size_of(piece: Piece) -> int:
    """How many lines of the file, as it is now, a piece has; negative: all to its end."""
    return piece.extent if piece.lines is None else len(piece.lines)


def joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces with those of one kind that stand side by side made one."""
    held: Piece | None = None
    for piece in pieces:
        if held is None:
            held = piece
            continue
        both = _both(held, piece)
        if both is None:
            yield held
            held = piece
        else:
            held = both
    if held is not None:
        yield held


def _both(first: Piece, second: Piece) -> Piece | None:
    """Two pieces as one, None if they are of different kinds."""
    if first.read != second.read:
        return None
    if first.lines is None or second.lines is None:
        if first.lines is not second.lines or first.extent == _TO_THE_END:
            return None
        both = second.extent == _TO_THE_END
        return Piece(None, None, _TO_THE_END if both else first.extent + second.extent)
    if first.is_same != second.is_same or first.base is None or second.base is None:
        return None
    lines = first.lines + second.lines
    if first.is_same:
        return Piece(lines, lines, read=first.read)
    return Piece(first.base + second.base, lines, read=first.read, by=first.by | second.by)


class Walk:
    """Goes down the pieces of a sheet once and builds those of the next."""

    def __init__(self, pieces: tuple[Piece, ...], by: frozenset[int] = frozenset()) -> None:
        self._pieces = pieces
        self._by = by
        self._next = 0
        self._rest: Piece | None = None
        self._at = 0
        self._done: list[Piece] = []
        self._kept: int = len(pieces)

    def advance_to(self, at: int) -> None:
        """Keep the lines up to the first `at` of the old sheet as they are."""
        wanted = at - self._at
        if wanted < 0:
            raise Disagrees
        while wanted:
            piece = self._piece()
            size = size_of(piece)
            if size == _TO_THE_END or size > wanted:
                head, self._rest = _cut(piece, wanted)
                self._done.append(head)
                size = wanted
            else:
                self._done.append(piece)
            wanted -= size
        self._at = at
        self._kept = min(self._kept, len(self._done))

    def take(self, rows: Sequence[Row], *, read: bool = False) -> None:
        """Apply the rows of a hunk here."""
        ends = False
        for sign, group in _grouped(rows):
            if sign == "+":
                self._done.append(Piece((), group, read=read, by=self._by))
            elif sign == "-":
                self._remove(group, read=read)
            else:
                self.learn(group, read=read)
            ends = ends or not group[-1].endswith("\n")
        if ends:
            self.must_end()

    def learn(self, lines: Lines, *, read: bool = False) -> None:
        """Pass over lines that are these."""
        for known, part in self._matched(lines, read=read):
            if known.lines is None:
                self._done.append(Piece(part, part, read=read))
            elif known.read and known.is_same and not read:
                self._done.append(Piece(part, part))
            else:
                self._done.append(known)

    def must_end(self) -> None:
        """Say that nothing follows."""
        while (piece := self._piece_or_none()) is not None:
            if piece.lines or piece.extent > 0:
                raise Disagrees
            if piece.lines is not None:
                self._done.append(piece)

    def finished(self) -> tuple[Piece, ...]:
        """All pieces, those that were not come to as they were."""
        # Where nothing was touched there is nothing to join: a long file has many pieces.
        first = max(0, self._kept - 1)
        touched = self._done[first:]
        if self._rest is not None:
            touched.append(self._rest)
        after = self._next + 1
        touched += self._pieces[self._next : after]
        found = [*joined(piece for piece in touched if _is_something(piece))]
        # Only the last line of a file has no line feed.
        with_lines = [piece for piece in found if piece.lines or piece.lines is None]
        for piece, _ in pairwise(with_lines):
            if piece.lines and not piece.lines[-1].endswith("\n"):
                raise Disagrees
        return (*self._done[:first], *found, *self._pieces[after:])

    def _remove(self, lines: Lines, *, read: bool) -> None:
        for known, part in self._matched(lines):
            base = part if known.is_same or known.lines is None else known.base
            read_base = known.read and not known.is_same
            by = known.by | self._by
            self._done.append(Piece(base, (), read=read or read_base, by=by))

    def _matched(self, lines: Lines, *, read: bool = False) -> Iterator[tuple[Piece, Lines]]:
        """The pieces that hold these lines, cut to fit, each with its part of them."""
        left = lines
        while left:
            piece = self._piece()
            size = size_of(piece)
            if size == _TO_THE_END or size > len(left):
                piece, self._rest = _cut(piece, len(left))
                size = len(left)
            part, left = left[:size], left[size:]
            if piece.lines is not None and piece.lines != part:
                inexact = (piece.read and piece.is_same) or read
                if not inexact or not _alike(piece.lines, part):
                    raise Disagrees
            self._at += size
            yield piece, part

    def _piece(self) -> Piece:
        piece = self._piece_or_none()
        if piece is None:
            raise Disagrees
        return piece

    def _piece_or_none(self) -> Piece | None:
        if self._rest is not None:
            piece, self._rest = self._rest, None
            return piece
        if self._next == len(self._pieces):
            return None
        self._next += 1
        return self._pieces[self._next - 1]


def _is_something(piece: Piece) -> bool:
    if piece.lines is None:
        return piece.extent != 0
    # Lines that came and went leave nothing but who made them.
    return bool(piece.lines or piece.base or piece.by) or piece.base is None


def _cut(piece: Piece, size: int) -> tuple[Piece, Piece]:
    """The first `size` lines of a piece, and the rest. What its base has goes with the first."""
    if piece.lines is None:
        rest = piece.extent if piece.extent == _TO_THE_END else piece.extent - size
        return Piece(None, None, size), Piece(None, None, rest)
    head, tail = piece.lines[:size], piece.lines[size:]
    if piece.is_same:
        return Piece(head, head, read=piece.read), Piece(tail, tail, read=piece.read)
    rest_base = None if piece.base is None else ()
    first = Piece(piece.base, head, read=piece.read, by=piece.by)
    return first, Piece(rest_base, tail, read=piece.read, by=piece.by)


def _alike(known: Lines, told: Lines) -> bool:
    return all(a.rstrip() == b.rstrip() for a, b in zip(known, told, strict=True))


def _grouped(rows: Sequence[Row]) -> Iterator[tuple[str, Lines]]:
    """The rows of each sign that stand together."""
    held: list[str] = []
    for row, following in zip(rows, (*rows[1:], None), strict=False):
        held.append(row.line)
        if following is None or following.sign != row.sign:
            yield row.sign, tuple(held)
            held = []

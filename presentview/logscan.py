"""Reading a log of one JSON object a line: every entry with its place, and what could not be read.

Nothing here raises on content. A line that is damaged costs only itself and is named; what is
whole on it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, Generic, Protocol, TypeVar

from presentview.objects import Found
from presentview.sidecar import Problem

__all__ = ["LogScan", "ReadLine"]

T = TypeVar("T")
P = TypeVar("P")

NEWLINE: Final = 0x0A
_TORN: Final = "torn at the end of the file"


class ReadLine(Protocol[T]):
    """What reads one line."""

    def __call__(self, line: bytes, /, *, first: bool = False) -> Iterator[Found[T]]:
        """Every piece of `line`; `first` says that it is the first of its file."""
        ...


class LogScan(Generic[T, P]):
    """A reading position in one file, which goes on where it stopped.

    `offset` is the byte up to which the file has been read and `line` the line that goes on
    there. `pending` says that an unfinished line of a living writer waits at `offset`, and
    `mid_line` that what was read last had no line end.
    """

    def __init__(
        self,
        path: Path,
        decode: Callable[[bytes], T],
        read_line: ReadLine[T],
        place: Callable[[T, int, int, int], P],
    ) -> None:
        """Read entries of the file at `path`.

        `decode` reads a whole line as it is mostly written, and raises a `ValueError` or
        `RecursionError` for any other; `read_line` reads that. `place` joins an entry with its
        byte offset, its length in bytes and its line.
        """
        self.path = path
        self.offset = 0
        self.line = 1
        self.pending = False
        self.mid_line = False
        self._decode = decode
        self._read_line = read_line
        self._place = place
        self._problems: list[Problem] = []
        self._tail: list[Problem] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read so far, in order."""
        return (*self._problems, *self._tail)

    @property
    def torn(self) -> bool:
        """Whether the file ends at `offset` in the middle of an entry."""
        return bool(self._tail)

    def read(self, file: BinaryIO, *, alive: bool = False) -> Iterator[P]:
        """Read on to the end of `file`.

        The unfinished entry at its end stays unread: `pending` while the writer is `alive`,
        otherwise a problem. Raises only what reading raises.
        """
        file.seek(self.offset)
        return self.feed(file, alive=alive)

    def feed(self, lines: Iterable[bytes], *, alive: bool = False) -> Iterator[P]:
        """The same for the lines from `offset` on, wherever they come from."""
        self._tail = []
        self.pending = False
        decode, place = self._decode, self._place
        for raw in lines:
            try:
                entry = decode(raw)
            except (ValueError, RecursionError):
                yield from self._read_carefully(raw, alive=alive)
                continue
            self.mid_line = raw[-1] != NEWLINE
            placed = place(entry, self.offset, len(raw) - (not self.mid_line), self.line)
            self.offset += len(raw)
            self.line += not self.mid_line
            yield placed

    def step_over(self, data: bytes) -> None:
        """Move on behind bytes that stand at `offset` and hold no problem."""
        self.offset += len(data)
        self.line += data.count(b"\n")
        self.mid_line = not data.endswith(b"\n")

    def cut(self, size: int) -> None:
        """Say that the torn end of the file, `size` bytes of it, is being taken away."""
        for problem in self._tail:
            reason = f"{problem.reason}; these {size:,} bytes are cut off"
            self._problems.append(problem._replace(reason=reason))
        self._tail = []

    def _is_torn(self, _end: bytes) -> bool:
        """Whether the end of a file, of which nothing could be read, may be the beginning of an
        entry.
        """
        return True

    def _read_carefully(self, raw: bytes, *, alive: bool) -> Iterator[P]:
        pieces = list(self._read_line(raw, first=self.offset == 0))
        offset, line, end = self.offset, self.line, len(raw)
        if raw[-1] != NEWLINE and any(piece.item is None for piece in pieces):
            # What looks damaged, with whole objects in it, may be an entry not yet written whole.
            if alive:
                self.pending = True
                return
            if pieces[-1].item is None and self._is_torn(raw[pieces[-1].offset :]):
                end = pieces[-1].offset
                self._tail = self._named(pieces.pop(), f"{_TORN}: ")
        for piece in pieces:
            self._problems += self._named(piece)
        if end:
            self.step_over(raw[:end])
        for piece in pieces:
            if piece.item is not None:
                yield self._place(piece.item, offset + piece.offset, piece.length, line)

    def _named(self, piece: Found[T], before: str = "") -> list[Problem]:
        return [
            Problem(self.path, self.line, self.offset + flaw.offset, before + flaw.reason)
            for flaw in piece.flaws
        ]

"""The sidecar file: where it lies, and reading it without losing what is good.

`<session>.present.jsonl` holds one header and then one record on each line. Reading never
raises on content: what cannot be read is named as a `Problem` with its line and byte, and
everything around it is kept.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, cast, overload

import msgspec

from presentview import limits, lock
from presentview.errors import HeaderError, LineTooLong, RecordError, SidecarError
from presentview.pieces import Piece
from presentview.records import HEADER_KIND, Header, Kind, Record, decode, decode_header

__all__ = [
    "Entry",
    "Found",
    "Loaded",
    "Lying",
    "Problem",
    "ReadLong",
    "Scan",
    "find_sidecar",
    "load",
    "pieces_of",
    "present_path",
    "session_named_by",
    "session_path_of",
]

SUFFIX: Final = ".present.jsonl"
SESSION_SUFFIX: Final = ".jsonl"
CHANGES_SUFFIX: Final = ".changes.jsonl"
NEWLINE: Final = 0x0A
WHITE: Final = b" \t\r\n"
NO_HEADER: Final = "no header line"
TOO_LONG: Final = "a line of more than"
TORN: Final = "torn at the end of the file"
HEADER_START: Final = b'{"kind":"_header"'


class Problem(NamedTuple):
    """Something in a file that could not be read as it stands.

    `line` counts from 1, `offset` is a byte of the file from 0.
    """

    path: Path
    line: int
    offset: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.offset}: {self.reason}"


class Loaded(msgspec.Struct, frozen=True):
    """What a sidecar holds: its records in order, the last header's rewrite version (0 without
    one) and what could not be read. `stale` says that the session is at a later version.
    """

    records: tuple[Record, ...] = ()
    rewrite_version: int = 0
    problems: tuple[Problem, ...] = ()
    has_header: bool = False
    stale: bool = False


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A record with the bytes it was read from; `raw` is None where it must be written anew.

    Like a record it can be in no cycle, so that the collector need not walk all of a session.
    """

    record: Record
    raw: bytes | None = None


class Lying(NamedTuple):
    """A record and where it lies: byte `offset` from 0, `length` in bytes, `line` from 1."""

    record: Record
    offset: int
    length: int
    line: int


class Found(NamedTuple):
    """The sidecar to use for a session, and the one under the other name if both exist."""

    path: Path
    other: Path | None = None


@overload
def present_path(session_path: str) -> str: ...
@overload
def present_path(session_path: os.PathLike[str]) -> Path: ...
def present_path(session_path: str | os.PathLike[str]) -> str | Path:
    """The documented path of a session's sidecar: `X.jsonl` has `X.present.jsonl`.

    A path that does not end in `.jsonl` gets `.present.jsonl` appended; an empty one stays
    empty. A `str` gives a `str`, any other path a `Path`.
    """
    path = os.fspath(session_path)
    renamed = path.removesuffix(SESSION_SUFFIX) + SUFFIX if path else ""
    return renamed if isinstance(session_path, str) else Path(renamed)


def session_path_of(path: Path) -> Path:
    """The session a file belongs to: itself, or for a sidecar under either name its session."""
    if not path.name.endswith(SUFFIX) or path.name == SUFFIX:
        return path
    stem = path.name.removesuffix(SUFFIX).removesuffix(SESSION_SUFFIX)
    return path.with_name(stem + SESSION_SUFFIX)


def session_named_by(path: Path) -> Path:
    """The session that a person means who names a file of it: the session, its sidecar, or what
    was kept of its edits.
    """
    session = session_path_of(path)
    if not session.name.endswith(CHANGES_SUFFIX) or os.path.exists(find_sidecar(session).path):
        return session
    return session.with_name(session.name.removesuffix(CHANGES_SUFFIX) + SESSION_SUFFIX)


def find_sidecar(session_path: str | os.PathLike[str]) -> Found:
    """The sidecar of a session under the documented name or the Go program's own.

    `X.present.jsonl` wins over `X.jsonl.present.jsonl`; where neither exists it is the path to
    create.
    """
    documented = present_path(Path(session_path))
    actual = Path(os.fspath(session_path) + SUFFIX)
    # A name too long for the other spelling is no name of a file, not an error.
    if actual == documented or not os.path.exists(actual):
        return Found(documented)
    return Found(documented, actual) if os.path.exists(documented) else Found(actual)


def load(
    path: str | os.PathLike[str], *, session_version: int | None = None, strict: bool = False
) -> Loaded:
    """Everything that can be read from the sidecar at `path`.

    A missing file, like an empty path, holds nothing. `session_version` is the session's own
    rewrite version: if it is greater than the file's, the result is `stale` (its records are
    there all the same). Raises `SidecarError` if the file exists and cannot be opened or read;
    with `strict` also for the first problem, as `HeaderError`, `RecordError` or `LineTooLong`.
    """
    if not os.fspath(path):
        return Loaded()
    records: list[Record] = []
    scan = Scan(Path(path))
    try:
        with open(path, "rb") as file:
            scan.take_header(file)
            writer = scan.first_header.writer if scan.first_header else ""
            alive = lock.is_alive(path, writer=writer)
            scan.feed(file, lambda record, *_: records.append(record), alive=alive)
    except FileNotFoundError:
        return Loaded()
    except OSError as error:
        raise SidecarError(f"cannot be read: {error.strerror}", path=Path(path)) from error
    problems = scan.problems
    if strict and problems:
        _raise(problems[0])
    version = scan.header.rewrite_version if scan.header else 0
    return Loaded(
        tuple(records),
        version,
        problems,
        scan.header is not None,
        session_version is not None and session_version > version,
    )


def _raise(problem: Problem) -> None:
    kinds = {NO_HEADER: HeaderError, TOO_LONG: LineTooLong}
    kind = next((k for text, k in kinds.items() if problem.reason.startswith(text)), RecordError)
    raise kind(problem.reason, path=problem.path, line=problem.line, offset=problem.offset)


Apply = Callable[[Record, int, int, int], Any]
"""Takes a record, its byte offset and length in the file, and its line."""

ReadLong = Callable[[BinaryIO, int, int, bool], Iterable[Piece]]
"""Gives what is on the line at a byte offset of a file, so many bytes long, wherever it is read;
the last argument says that it is the first line. Moves the position of the file and raises only
what reading does.
"""


class Scan:
    """A reading position in one file, which goes on where it stopped.

    `offset` is the byte up to which the file has been read and `line` the line that goes on
    there. `header` is the last header seen, `first_header` the first, `body` the byte after it
    where it is the first line (else 0). `pending` says that an unfinished line of a living
    writer waits at `offset`.
    """

    def __init__(self, path: Path, read_long: ReadLong | None = None) -> None:
        """Read the file at `path`, lines of more than `LONG_LINE_BYTES` with `read_long`."""
        self.path = path
        self._read_long = read_long
        self.offset = 0
        self.line = 1
        self.body = 0
        self.header: Header | None = None
        self.first_header: Header | None = None
        self.pending = False
        self._problems: list[Problem] = []
        self._tail: list[Problem] = []
        self._overlong: Problem | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read so far, in order; first, where it applies, a missing header."""
        missing: tuple[Problem, ...] = ()
        if self.first_header is None and not self.pending:
            reason = f"{NO_HEADER}: the rewrite version is taken as 0"
            missing = (Problem(self.path, 1, 0, reason),)
        return (*missing, *self._problems, *self._tail)

    @property
    def damaged(self) -> bool:
        """Whether something in front of the end could not be read as it stands."""
        return bool(self._problems)

    def feed(self, file: BinaryIO, apply: Apply, *, alive: bool = False) -> None:
        """Read on to the end of `file` and give each record to `apply`.

        An unfinished last line stays unread: `pending` while the writer is `alive`, otherwise a
        problem. Raises only what reading and `apply` raise.
        """
        size = file.seek(0, io.SEEK_END) - self.offset
        file.seek(self.offset)
        self._begin()
        lines: Iterable[bytes] = file
        longest = limits.LINE_BYTES
        if self._read_long is not None:
            self._end_overlong(file)
            longest = limits.LONG_LINE_BYTES
            lines = iter(partial(file.readline, longest + 1), b"")
        elif size > limits.LINE_BYTES or self._overlong is not None:
            for lying in self.records(file, alive=alive):
                apply(*lying)
            return
        offset, line = self.offset, self.line
        for raw in lines:
            size = len(raw)
            if size > longest:
                self.offset, self.line = offset, line
                self._feed_long(file, raw, apply, alive=alive)
                offset, line = self.offset, self.line
                continue
            try:
                record = decode(raw)
                usual = record.kind != HEADER_KIND and raw[-1] == NEWLINE
            except (ValueError, RecursionError):
                usual = False
            if usual:
                apply(record, offset, size - 1, line)
                offset += size
                line += 1
            else:
                self.offset, self.line = offset, line
                self._feed_line(raw, apply, alive=alive)
                offset, line = self.offset, self.line
        self.offset, self.line = offset, line

    def take_header(self, file: BinaryIO) -> None:
        """Read the header if it is the first line of `file`, and nothing else."""
        file.seek(0)
        raw = file.readline(limits.LONG_LINE_BYTES)
        pieces = list(pieces_of(raw, first=True))
        if len(pieces) == 1 and isinstance(pieces[0].item, Header) and raw[-1] == NEWLINE:
            self._begin()
            self._take_pieces(raw, alive=False)

    def entries(self, file: BinaryIO) -> Iterator[Entry]:
        """Every record from here to the end of `file`, with the bytes it was read from.

        An unfinished last line stays unread and is a problem.
        """
        file.seek(self.offset)
        self._begin()
        while raw := self._next_line(file):
            for piece in self._take_pieces(raw, alive=False):
                yield _entry(piece, raw)

    def _begin(self) -> None:
        self._tail = []
        self.pending = False

    def records(self, file: BinaryIO, *, alive: bool = False) -> Iterator[Lying]:
        """Read on to the end of `file`, one record at a time; see `feed`.

        Whoever stops before the end can go on with another call.
        """
        file.seek(self.offset)
        self._begin()
        while raw := self._next_line(file):
            offset, line = self.offset, self.line
            for piece in self._take_pieces(raw, alive=alive):
                record = cast("Record", piece.item)
                yield Lying(record, offset + piece.offset, piece.length, line)

    def _next_line(self, file: BinaryIO) -> bytes:
        """The next line that is not too long, b"" at the end of `file`."""
        while raw := file.readline(limits.LINE_BYTES + 1):
            if len(raw) <= limits.LINE_BYTES and self._overlong is None:
                break
            self._pass_over(file, raw)
        return raw

    def _pass_over(self, file: BinaryIO, raw: bytes) -> None:
        """Name the line too long to be read that begins, or since the last time goes on, with
        `raw`.
        """
        begun = self._overlong
        start = self.offset if begun is None else begun.offset
        self.offset += len(raw)
        while raw[-1] != NEWLINE and (more := file.readline(limits.READ_CHUNK)):
            raw = more
            self.offset += len(raw)
        reason = f"{TOO_LONG} {limits.LINE_BYTES:,} bytes ({self.offset - start:,}); not read"
        problem = Problem(self.path, self.line, start, reason)
        if begun is not None:
            self._problems.pop()
        self._problems.append(problem)
        ended = raw[-1] == NEWLINE
        self._overlong = None if ended else problem
        self.line += ended

    def _end_overlong(self, file: BinaryIO) -> None:
        """Pass over the rest of a line too long to be read, if there is one."""
        if self._overlong is not None and (raw := file.readline(limits.READ_CHUNK)):
            self._pass_over(file, raw)

    def _feed_line(self, raw: bytes, apply: Apply, *, alive: bool) -> None:
        offset, line = self.offset, self.line
        self._apply(self._take_pieces(raw, alive=alive), apply, offset, line)

    def _feed_long(self, file: BinaryIO, raw: bytes, apply: Apply, *, alive: bool) -> None:
        """Read the long line that begins with `raw`; the file is at the end of that."""
        assert self._read_long is not None
        offset, line = self.offset, self.line
        size, last = len(raw), raw[-1]
        while last != NEWLINE and (more := file.readline(limits.READ_CHUNK)):
            size += len(more)
            last = more[-1]
        if size > limits.LINE_BYTES:
            file.seek(offset + len(raw))
            self._pass_over(file, raw)
            return
        pieces = list(self._read_long(file, offset, size, offset == 0))
        found = self._take(pieces, size, ended=last == NEWLINE, alive=alive)
        self._apply(found, apply, offset, line)
        file.seek(offset + size)

    @staticmethod
    def _apply(pieces: list[Piece], apply: Apply, offset: int, line: int) -> None:
        for piece in pieces:
            apply(cast("Record", piece.item), offset + piece.offset, piece.length, line)

    def _take_pieces(self, raw: bytes, *, alive: bool) -> list[Piece]:
        """Take the line `raw` at `offset`, see `_take`."""
        pieces = list(pieces_of(raw, first=self.offset == 0))
        return self._take(pieces, len(raw), ended=raw[-1] == NEWLINE, alive=alive)

    def _take(self, pieces: list[Piece], size: int, *, ended: bool, alive: bool) -> list[Piece]:
        """The records of the line at `offset`; notes its headers and problems and moves on.

        Of an unfinished line (one that is not `ended`) nothing is taken while its writer may be
        in the middle of it, and else what is whole.
        """
        end = self.offset + size
        torn: Piece | None = None
        if not ended and any(piece.item is None for piece in pieces):
            # What looks damaged, with whole objects in it, may be a record not yet written whole.
            if alive:
                self.pending = True
                return []
            if pieces[-1].item is None:
                torn = pieces.pop()
                end = self.offset + torn.offset
                self._tail = self._named(torn, f"{TORN}: ")
        for piece in pieces:
            self._problems += self._named(piece)
            if isinstance(piece.item, Header):
                self._take_header(piece.item, alone=len(pieces) == 1 and torn is None, end=end)
        self.offset = end
        self.line += ended
        return [piece for piece in pieces if isinstance(piece.item, Record)]

    def _named(self, piece: Piece, before: str = "") -> list[Problem]:
        return [
            Problem(self.path, self.line, self.offset + flaw.offset, before + flaw.reason)
            for flaw in piece.flaws
        ]

    def _take_header(self, header: Header, *, alone: bool, end: int) -> None:
        if self.first_header is None:
            self.first_header = header
            if self.offset == 0 and alone:
                self.body = end
        self.header = header


def _entry(piece: Piece, raw: bytes) -> Entry:
    """The record of a piece of the line `raw`, with its bytes."""
    kept = raw[piece.offset : piece.offset + piece.length]
    record = piece.item
    assert isinstance(record, Record)
    if record.kind == Kind.EXPERT_COLLAB or record.collab is not None:
        from presentview.salvage import verbatim

        record = verbatim(record, kept)
    return Entry(record, kept if piece.exact else None)


def pieces_of(raw: bytes, *, first: bool) -> Iterator[Piece]:
    """What is on one line: read as this package writes it, or else saved piece by piece."""
    item = _as_written(raw)
    if item is not None:
        yield Piece(item, 0, len(raw.rstrip(WHITE)), True)
        return
    # Most files are whole, and this takes long to load.
    from presentview.salvage import read_pieces

    yield from read_pieces(raw, first=first)


def _as_written(raw: bytes) -> Record | Header | None:
    """The record or header on a line that is spelled as this package spells it, else None."""
    is_header = raw.startswith(HEADER_START)
    try:
        item = decode_header(raw) if is_header else decode(raw)
    except (ValueError, RecursionError):
        return None
    return item if (item.kind == HEADER_KIND) == is_header else None

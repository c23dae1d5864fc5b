"""Following a session whose records are made from files in another format.

The records are written, as a sidecar would hold them, into a file without a name, and that file is
followed like any sidecar: bodies stay on disk, a session that only grew costs what is new, and the
page is what it would be for the sidecar those records make.
"""

from __future__ import annotations

import contextlib
import os
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from presentview.errors import SidecarError
from presentview.follow import Follower, Update, What
from presentview.limits import READ_CHUNK
from presentview.openfile import READ_ONLY, Line, OpenFile
from presentview.records import encode, encode_header
from presentview.scratch import ScratchFile
from presentview.sidecar import Found, Problem, ReadLong
from presentview.sources.base import Origin, Placed, Reader
from presentview.transcript.cards import Place

__all__ = ["DerivedFollower"]

_FIELDS: Final = 4


class DerivedFollower(Follower):
    """The transcript of what `reader` reads, as of the last `refresh`."""

    def __init__(
        self,
        session_path: Path,
        reader: Reader,
        *,
        second: Path | None = None,
        read_long: ReadLong | None = None,
    ) -> None:
        """Follow the session that `reader` reads; it is closed with the follower. `second` is a
        sidecar that is not shown. Long records are read with `read_long`.
        """
        self.reader = reader
        self._second = second
        self._scratch: ScratchFile | None = None
        # The origin of the record on each line behind the header, four numbers each.
        self._origins = array("q")
        super().__init__(session_path, read_long=read_long)

    def _find(self) -> Found:
        return Found(self.reader.paths[0], self._second)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that are read, the one at `path` first."""
        return self.reader.paths

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of how the session was read."""
        note = self.reader.note
        return (*([note] if note else []), *super().notes)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of the files."""
        if self.problem:
            return (Problem(self.path, 1, 0, self.problem), *self.reader.problems)
        return self.reader.problems

    def close(self) -> None:
        """Let the files go."""
        super().close()
        self.reader.close()

    # looking

    def _is_alive(self) -> bool:
        return self.reader.is_alive()

    def _stat(self) -> os.stat_result:
        poll = self.reader.poll()
        if self._scratch is None or not self._scratch.is_open:
            self._begin(poll.records)
        elif poll.restarted:
            self._begin_again(poll.records)
        else:
            self._go_on(poll.records)
        assert self._scratch is not None
        return os.fstat(self._scratch.file.fileno())

    def _begin(self, records: Iterable[Placed]) -> None:
        scratch = ScratchFile(self.path)
        self._scratch = scratch
        self._origins = array("q")
        scratch.add(encode_header(self.reader.header) + b"\n")
        self._go_on(records)

    def _begin_again(self, records: Iterable[Placed]) -> None:
        """Take all records anew: what was shown stays if they only go on from it."""
        scratch, size = self._scratch, self._scratch.size if self._scratch else 0
        assert scratch is not None
        head = encode_header(self.reader.header) + b"\n"
        fits = scratch.begins_with(head, 0)
        at = len(head)
        origins = array("q")
        for chunk in _chunks(records):
            fits = fits and (at >= size or scratch.begins_with(chunk.lines, at))
            if not fits:
                break
            scratch.add(chunk.lines[max(0, size - at) :])
            origins.extend(chunk.origins)
            at += len(chunk.lines)
        if not fits or at < size:
            self._begin(records)
        else:
            self._origins = origins

    def _go_on(self, records: Iterable[Placed]) -> None:
        scratch = self._scratch
        assert scratch is not None
        for chunk in _chunks(records):
            scratch.add(chunk.lines)
            self._origins.extend(chunk.origins)

    def _open(self) -> OpenFile:
        assert self._scratch is not None
        return self._scratch

    def _note(self, _: os.stat_result, /) -> None:
        self.size = 0
        for path in self.reader.paths:
            with contextlib.suppress(OSError):
                stamp = os.stat(path)
                self.changed_at = max(self.changed_at, stamp.st_mtime_ns // 1_000_000)
                self.size += stamp.st_size

    def _gone(self) -> Update:
        update = super()._gone()
        if update.what is What.GONE:
            self._scratch = None
        return update

    # the files themselves

    def origin(self, place: Place) -> Origin | None:
        """Where in the reader's files the record at a place came from."""
        at = (place.line - 2) * _FIELDS
        found = self._origins[at : at + _FIELDS] if at >= 0 else None
        return Origin(*found) if found else None

    def original(self, file: int = 0) -> int | None:
        """A descriptor of a file of `paths`, to be closed by the caller; None if there is none."""
        try:
            return os.open(self.paths[file], READ_ONLY)
        except (OSError, IndexError):
            return None

    def lines(self, first: int, count: int, most: int, file: int = 0) -> list[Line]:
        """Up to `count` lines of a file of `paths` from line `first` (from 1), of each `most`
        bytes.
        """
        try:
            opened = OpenFile(self.paths[file])
        except (OSError, IndexError, SidecarError):
            return []
        try:
            return opened.lines(first, count, most)
        finally:
            opened.close()


class _Chunk(NamedTuple):
    """Some records as the lines of a sidecar, and the origins of them all."""

    lines: bytes
    origins: array[int]


def _chunks(records: Iterable[Placed]) -> Iterator[_Chunk]:
    """All records, so many at a time that their lines make about a megabyte."""
    lines: list[bytes] = []
    origins = array("q")
    size = 0
    for placed in records:
        line = encode(placed.record)
        lines.append(line)
        origins.extend(placed.origin)
        size += len(line)
        if size > READ_CHUNK:
            yield _Chunk(b"\n".join(lines) + b"\n", origins)
            lines, origins, size = [], array("q"), 0
    if lines:
        yield _Chunk(b"\n".join(lines) + b"\n", origins)

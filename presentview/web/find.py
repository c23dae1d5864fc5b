"""Finding a text in a whole session: the bytes of its file are searched, not its cards.

Only records that hold a part of the text are decoded. An answer holds the hits in the order of
the file, up to a number of them or until it took too long, and says where to go on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from presentview.follow import Follower
from presentview.limits import FIND_CHUNK, FIND_HITS, FIND_QUERY_CHARS
from presentview.openfile import read_at
from presentview.records import Kind
from presentview.web.attachments import SessionFiles
from presentview.web.hits import Hit
from presentview.web.needle import Needle
from presentview.web.owners import Owned, Owners
from presentview.web.reading import Reader

__all__ = ["Found", "find"]

_KIND: Final = b'{"kind":"'
_KINDS: Final = frozenset(kind.value.encode() for kind in Kind)
# A collab of which nothing is known is shown as it stands in the file.
_SHOWN_BY_TEXTS: Final = _KINDS - {Kind.EXPERT_COLLAB.value.encode()}
_LATE_KINDS: Final = frozenset(
    kind.value.encode()
    for kind in (
        *(Kind.TOOL_DISPATCH, Kind.TOOL_PROGRESS, Kind.TOOL_RESULT),
        *(Kind.COMPACTION_DONE, Kind.EXPERT_COLLAB),
    )
)
_MOST_BYTES: Final = 40  # no key of a record, and no kind, is longer
_COLON: Final = 0x3A
_MOST_SECONDS: Final = 0.15
_SECONDS_WITH_HITS: Final = 0.05  # whoever has something to look at can ask for more


class Found(msgspec.Struct, frozen=True):
    """Hits in the order of the file, one for each card. `next` is the byte to go on from, None
    at the end; `share` is how much of the file lies before it, from 0 to 1.
    """

    hits: Sequence[Hit] = ()
    next: int | None = None
    share: float = 1.0


def find(
    follower: Follower,
    query: str,
    start: int = 0,
    *,
    most: int = FIND_HITS,
    seconds: float = _MOST_SECONDS,
    reader: Reader | None = None,
) -> Found:
    """Look for `query` from byte `start` on, counted as the places of cards are.

    At most `most` cards are found, by what `reader` reads, and the search ends after about
    `seconds`. A query that is
    empty, only white space, or longer than `FIND_QUERY_CHARS` is found nowhere. Raises `OSError`.
    """
    if not query.strip() or len(query) > FIND_QUERY_CHARS:
        return Found()
    with follower.reading:
        reader = reader or Reader(follower, SessionFiles(follower.session_path))
        fd = follower.duplicate()
        if fd is None:
            return Found()
        try:
            return _Search(follower, reader, fd, Needle(query), most, seconds).run(start)
        finally:
            os.close(fd)


class _Search:
    """One search; offsets are those of the file, `shift` more than the places of cards."""

    def __init__(
        self, follower: Follower, reader: Reader, fd: int, needle: Needle, most: int, seconds: float
    ) -> None:
        self._reader = reader
        self._fd = fd
        self._needle = needle
        self._most = most
        self._latest = time.monotonic() + seconds
        self._soon = min(self._latest, time.monotonic() + _SECONDS_WITH_HITS)
        self._owners = Owners(follower.transcript)
        self._shift = follower.shift
        self._hits: dict[str, Hit] = {}
        self._stopped = False

    def run(self, start: int) -> Found:
        """Search from the place `start` on."""
        needle = self._needle
        at = max(0, start + self._shift)
        overlap = max(map(len, needle.forms)) - 1
        while chunk := read_at(self._fd, FIND_CHUNK, at):
            if needle.folds:
                chunk = chunk.lower()
            # Whole lines, of which the beginning tells the kind, but for those that are too long.
            is_last = len(chunk) < FIND_CHUNK
            lines = 0 if is_last else chunk.rfind(b"\n") + 1
            size = lines or len(chunk)
            end = self._search(chunk, size, at)
            done = size if lines or is_last else size - overlap
            at = end if self._stopped else max(end, at + done)
            if self._is_over():
                return self._found(at)
        return Found(tuple(self._hits.values()))

    def _search(self, chunk: bytes, size: int, at: int) -> int:
        """Search the first `size` bytes of a chunk, which lies at `at`. Returns the end of the
        last record looked at; `_stopped` says that the search was over before the end.
        """
        end = 0
        for index in _occurrences(chunk, size, self._needle.forms):
            if index < end:
                continue
            kind = _kind_at(chunk, index)
            if kind in _SHOWN_BY_TEXTS and _is_structure(chunk, index):
                continue
            stays = kind in _KINDS and kind not in _LATE_KINDS
            owned = self._owners.at(at + index - self._shift, late=not stays)
            if owned:
                self._look_at(owned)
                place = owned[0].place
                end = place.offset + place.length + self._shift - at
            if end < size and self._is_over():
                self._stopped = True
                return at + max(end, index + 1)
        return at + end

    def _look_at(self, owned: list[Owned]) -> None:
        """Note the cards that show the text, among those of one record."""
        for hit in self._reader.hits(owned[0].place, [card for _, card in owned], self._needle):
            known = self._hits.get(hit.card.id)
            count = known.count + hit.count if known else hit.count
            self._hits[hit.card.id] = msgspec.structs.replace(known or hit, count=count)

    def _is_over(self) -> bool:
        if len(self._hits) >= self._most:
            return True
        return time.monotonic() > (self._soon if self._hits else self._latest)

    def _found(self, end: int) -> Found:
        size = os.fstat(self._fd).st_size
        if end >= size:
            return Found(tuple(self._hits.values()))
        return Found(tuple(self._hits.values()), end - self._shift, end / size)


def _occurrences(chunk: bytes, size: int, forms: Sequence[bytes]) -> Iterator[int]:
    """Where any of `forms` stands in the first `size` bytes of a chunk, in order."""
    waiting = [(index, form) for form in forms if (index := chunk.find(form, 0, size)) >= 0]
    while waiting:
        index, form = min(waiting)
        yield index
        waiting.remove((index, form))
        following = chunk.find(form, index + 1, size)
        if following >= 0:
            waiting.append((following, form))


def _kind_at(chunk: bytes, index: int) -> bytes:
    """The kind of the record whose line holds this byte; empty if it is not in the chunk."""
    start = chunk.rfind(b"\n", 0, index) + 1
    if not chunk.startswith(_KIND, start):
        return b""
    start += len(_KIND)
    return chunk[start : chunk.find(b'"', start, start + _MOST_BYTES)]


def _is_structure(chunk: bytes, index: int) -> bool:
    """Whether the byte lies in a key, or in a record's kind: told from the quotes around it,
    for those inside of a text have a backslash before them.
    """
    start = chunk.rfind(b'"', max(0, index - _MOST_BYTES), index + 1)
    if start < 1 or chunk[start - 1] not in b"{,:":
        return False
    if chunk.endswith(_KIND, 0, start + 1):
        return True
    end = chunk.find(b'"', max(index, start + 1), index + _MOST_BYTES)
    return chunk[start - 1] != _COLON and chunk.startswith(b'":', end) and end > 0

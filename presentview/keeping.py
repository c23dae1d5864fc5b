"""The edits that outlive their turns: `X.changes.jsonl` beside the sidecar of a session.

When a compaction or a limit takes turns away, the records of the calls that edited files are
appended here first. Each line is a record as in a sidecar, with its turn and the number of its
card. Each time some are added a header comes first, which says of which session they are: a file
that is left from another session of the same name never mixes with this one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from presentview import atomic
from presentview.errors import SaveError, SaveNotDurable
from presentview.records import HEADER_KIND, Header, Int64, Record, encode, encode_header
from presentview.sidecar import CHANGES_SUFFIX, SESSION_SUFFIX, session_path_of

__all__ = [
    "Keeper",
    "Kept",
    "KeptLine",
    "append_kept",
    "changes_path",
    "decode_kept",
    "kept_from",
    "read_kept",
]

_HEADER_START: Final = b'{"kind":"_header"'
_MODE: Final = 0o600


class Kept(Record, frozen=True):
    """A record of a turn that is gone from the sidecar: the number of its `turn`, and of the
    `card` it belongs to.
    """

    turn: Int64 = 0
    card: Int64 = 0


class KeptLine(NamedTuple):
    """A kept record and where its line lies: byte `offset`, `length` without the line feed."""

    record: Kept
    offset: int
    length: int


_decoder = msgspec.json.Decoder(Kept)


def changes_path(sidecar: Path) -> Path:
    """Where the edits are kept that a sidecar, under either of its names, has dropped."""
    session = session_path_of(sidecar)
    return session.with_name(session.name.removesuffix(SESSION_SUFFIX) + CHANGES_SUFFIX)


def append_kept(path: Path, records: Iterable[Kept], header: Header) -> None:
    """Add records of the session that `header` begins to the file at `path`, safe from a power
    cut.

    Raises `SaveError` with the file as it was, `SaveNotDurable` if a new one may not survive a
    power cut; to add the same records again does no harm.
    """
    begins = Header(started_at=header.started_at, writer=header.writer)
    lines = [encode_header(begins), *map(encode, records)]
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, _MODE)
    except OSError as error:
        raise _failed(path, error) from error
    try:
        _append(fd, path, b"\n".join(lines) + b"\n")
    finally:
        with contextlib.suppress(OSError):
            os.close(fd)
    try:
        atomic.sync_folder(path.parent)
    except OSError as error:
        said = f"saved, but its folder could not be synced: {error.strerror}"
        raise SaveNotDurable(said, path=path) from error


def _append(fd: int, path: Path, data: bytes) -> None:
    size = os.fstat(fd).st_size
    try:
        # What a writer that died left of a line is no part of the next one.
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        atomic.write_all(fd, b"\n" * torn + data)
        atomic.sync(fd)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.ftruncate(fd, size)
        raise _failed(path, error) from error


def _failed(path: Path, error: OSError) -> SaveError:
    return SaveError(f"cannot be written: {error.strerror}", path=path)


def read_kept(path: Path, started_at: int) -> Iterator[KeptLine]:
    """The records in a file that are of the session which began at `started_at` (unix ms; 0: not
    recorded), each once. A missing file has none; a line that cannot be read is passed over.

    Raises `OSError` if the file cannot be read.
    """
    seen: set[int] = set()
    mine = False
    offset = 0
    try:
        file = open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        return
    with file:
        for raw in file:
            length = len(raw.rstrip(b"\n"))
            if raw.startswith(_HEADER_START):
                mine = _started_at(raw) == started_at
            elif mine and hash(raw) not in seen:
                seen.add(hash(raw))
                record = decode_kept(raw)
                if record is not None:
                    yield KeptLine(record, offset, length)
            offset += len(raw)


def decode_kept(raw: bytes) -> Kept | None:
    """The record on a line, None if there is none."""
    record: Kept | None
    try:
        record = _decoder.decode(raw)
    except (ValueError, RecursionError):
        record = _saved(raw)
    return None if record is None or record.kind == HEADER_KIND else record


def _saved(raw: bytes) -> Kept | None:
    """What can be saved of a line that is not spelled as it should be."""
    from presentview.salvage import read_pieces

    found = next((p.item for p in read_pieces(raw) if isinstance(p.item, Record)), None)
    if found is None:
        return None
    extra = dict(found.extra or {})
    turn, card = (_number(extra.get(key, "")) for key in ("turn", "card"))
    return kept_from(found, turn, card)


def kept_from(record: Record, turn: int, card: int) -> Kept:
    """A record with its turn and the number of its card."""
    fields: dict[str, Any] = {name: getattr(record, name) for name in Record.__struct_fields__}
    return Kept(**fields, turn=turn, card=card)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _started_at(raw: bytes) -> int:
    try:
        return msgspec.json.decode(raw, type=Header).started_at
    except (ValueError, RecursionError):
        return -1


class Keeper:
    """Keeps the edits of one session beside its sidecar, and knows whether all are there.

    `is_whole`: no edit that left the sidecar is lost. `lines` counts the kept records.
    """

    def __init__(self, *, keeps: bool) -> None:
        self._keeps = keeps
        self._path: Path | None = None
        self._copied: dict[Path, int] = {}
        self.is_whole = True
        self.lines = 0

    def go_on_with(self, sidecar: Path, header: Header) -> None:
        """Go on with what was kept of the session of a sidecar that has this header."""
        self._path = changes_path(sidecar)
        self.lines = header.edit_lines
        foreign = not header.writer and header.rewrite_version > 0
        self.is_whole = header.edits_kept >= max(0, header.cards_dropped) and not foreign

    def keep(self, dropped: list[Kept], sidecar: Path, header: Header) -> None:
        """Put records that are about to leave a sidecar, or are not in it any more, beside it;
        `dropped` is empty then. Raises `SaveError`, and `dropped` is as it was.
        """
        if not self._keeps:
            self.is_whole &= not dropped
            dropped.clear()
            return
        target = changes_path(sidecar)
        if self._path is None and dropped:
            self._path = target
        if self._path is None or target == self._path:
            if dropped:
                append_kept(target, dropped, header)
                self.lines += len(dropped)
                dropped.clear()
            return
        self._copy(dropped, target, header)

    def _copy(self, dropped: list[Kept], target: Path, header: Header) -> None:
        """Keep beside another sidecar of the same session what is kept beside its own."""
        assert self._path is not None
        try:
            kept = [line.record for line in read_kept(self._path, header.started_at)]
        except OSError as error:
            raise SaveError(f"cannot be read: {error.strerror}", path=self._path) from error
        more = [*kept, *dropped][self._copied.get(target, 0) :]
        if more:
            append_kept(target, more, header)
            self._copied[target] = len(kept) + len(dropped)

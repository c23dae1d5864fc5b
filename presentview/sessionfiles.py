"""What files a session consists of, and how to follow them together.

One session is what lies in one folder under one stem: the agent's own log `X.jsonl`, and its
sidecar under either name. Which of them there are may change while somebody looks.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from presentview.errors import SidecarError
from presentview.follow import Follower
from presentview.sidecar import ReadLong
from presentview.sources import Source, detect
from presentview.twosidecars import shown_sidecar

__all__ = ["Parts", "follow", "parts_of", "source_of"]


class Parts(NamedTuple):
    """What a session is read from: its `sidecar` (where there is neither, the one to come), the
    format of its own log, None where that is not read, and a `second` sidecar, not shown.
    """

    session: Path
    sidecar: Path | None
    source: Source | None
    second: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files to read, the one that is shown as the session's first."""
        files = (self.sidecar, self.session if self.source else None)
        return tuple(path for path in files if path is not None)


class _Known(NamedTuple):
    """What was found in a file that had this identity and at least this size."""

    identity: tuple[int, int]
    size: int
    source: Source | None


_known: dict[str, _Known] = {}
_MOST_KNOWN = 65_536


def source_of(path: str | os.PathLike[str], found: os.stat_result | None = None) -> Source | None:
    """The format of a session's own log; None if it is not there or in no known format.

    Looked for again only when the file was replaced, has shrunk, or was in none before. `found`
    is what the file is like now, for whoever has asked already.
    """
    name = os.fspath(path)
    try:
        found = found or os.stat(name)
    except OSError:
        _known.pop(name, None)
        return None
    identity = (found.st_dev, found.st_ino)
    known = _known.get(name)
    if known is not None and known.identity == identity:
        is_told = known.source is not None and found.st_size >= known.size
        if is_told or found.st_size == known.size:
            return known.source
    try:
        source = detect(name)
    except (OSError, SidecarError):
        source = None
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[name] = _Known(identity, found.st_size, source)
    return source


def parts_of(session_path: Path) -> Parts:
    """What there is of a session now."""
    sidecar, second = shown_sidecar(session_path)
    source = source_of(session_path)
    if not os.path.exists(sidecar):
        return Parts(session_path, None if source else sidecar, source)
    return Parts(session_path, sidecar, source, second)


def follow(
    session_path: Path, parts: Parts | None = None, *, read_long: ReadLong | None = None
) -> Follower:
    """A follower of the session as far as it has `parts` (default: those it has now); long
    records are read with `read_long`.
    """
    has = parts or parts_of(session_path)
    if has.source is None:
        return Follower(session_path, read_long=read_long)
    from presentview.derived import DerivedFollower

    if has.sidecar:
        from presentview.joining.reader import JoinedReader

        joined = JoinedReader(session_path, has.sidecar, has.source)
        return DerivedFollower(session_path, joined, second=has.second, read_long=read_long)
    return DerivedFollower(session_path, has.source.open(session_path), read_long=read_long)

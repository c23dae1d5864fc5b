"""The runs of a folder, of each log only its beginning and its end being read.

What is said of a log is what loading it would say: where beginning and end do not tell, more of
it is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from presentview.errors import LogError, PresentviewError
from presentview.limits import FIND_CHUNK, RUN_TAIL_BYTES
from presentview.openfile import OpenFile
from presentview.runlog import times
from presentview.runlog.naming import SUFFIX, id_of
from presentview.runlog.reading import Scan, read_line
from presentview.runlog.records import Kind, Meta, Record, Result
from presentview.runlog.session import Openings, Session, load
from presentview.sidecar import CHANGES_SUFFIX
from presentview.sidecar import SUFFIX as SIDECAR

__all__ = ["Entry", "StartedBy", "entry_of", "list_runs", "meta_of"]

StartedBy: TypeAlias = Literal["meta", "id", "mtime"]
"""What tells when a run started: its meta record, its id, or when its log was last written."""

_NUMBER: Final = re.compile(r"[0-9]{8}-[0-9]{6}-([0-9]{1,9})", re.ASCII)
# Without one of these no record of a file is a result: how its kind is spelled, or the letters
# of it that an escape may stand for.
_ENDINGS: Final = (b'"result"', rb"\u006", rb"\u007")
_ESCAPE: Final = rb"\u00"


class Entry(NamedTuple):
    """A run and what its log says in short.

    `started` is its start in UTC, `started_ns` the same in unix ns, `started_by` what tells it.
    `ended_ns` is when the result was recorded, `result` that result; `unreadable` says why the
    file could not be read at all.
    """

    id: str
    path: Path
    task: str
    started: datetime
    complete: bool
    reason: str
    started_ns: int
    started_by: StartedBy
    meta: Meta = Meta()
    result: Result | None = None
    ended_ns: int | None = None
    unreadable: str = ""

    @property
    def resumed_from(self) -> str:
        """The run that this one continues, empty if none."""
        return self.meta.resumed_from

    @property
    def duration_ms(self) -> int | None:
        """How long the run took; None where its end or its own start is not recorded."""
        if self.ended_ns is None or self.started_by != "meta":
            return None
        return max(0, (self.ended_ns - self.started_ns) // times.MS)


class _Ends(NamedTuple):
    """The meta record and the result of a log, each an empty record where there is none."""

    opening: Record
    ending: Record


def list_runs(folder: str | os.PathLike[str]) -> list[Entry]:
    """The runs whose logs lie in `folder`, the one that started last first.

    A log that cannot be read is listed all the same. A folder that does not exist has no runs;
    raises `LogError` if it cannot be read.
    """
    try:
        with os.scandir(folder) as found:
            paths = [Path(each.path) for each in found if _is_log(each)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LogError(f"{os.fspath(folder)}: cannot be read: {error.strerror}") from error
    return newest_first(map(entry_of, paths))


def newest_first(entries: Iterable[Entry]) -> list[Entry]:
    """`entries` by their start, those of the same moment by the number that their ids end in."""
    return sorted(entries, key=_order, reverse=True)


def entry_of(path: Path, session: Session | None = None) -> Entry:
    """What the log at `path` says in short, or `session`, which was loaded from it."""
    unreadable = ""
    meta, result, started, ended = Meta(), None, None, None
    try:
        if session is None:
            session = _glance(path)
        meta, result, started, ended = (
            session.meta,
            session.result,
            session.started_ns,
            session.ended_ns,
        )
    except PresentviewError as error:
        unreadable = getattr(error, "reason", str(error))
    except OSError as error:
        unreadable = f"cannot be read: {error.strerror}"
    run_id = id_of(path)
    by: StartedBy = "meta"
    if started is None:
        by, started = "id", times.id_ns(run_id)
    if started is None:
        by, started = "mtime", _modified(path)
    return Entry(
        run_id,
        path,
        meta.task,
        times.moment(started),
        result is not None,
        result.reason if result is not None else "",
        started,
        by,
        meta,
        result,
        ended,
        unreadable,
    )


def meta_of(path: Path) -> Meta:
    """What the log at `path` says of its run, an empty one where it says nothing.

    Raises `OSError` and `SidecarError` if the file cannot be opened or read.
    """
    opened = OpenFile(path)
    try:
        return _opening(opened).record.meta or Meta()
    finally:
        opened.close()


def _is_log(found: os.DirEntry[str]) -> bool:
    name = found.name
    if not name.endswith(SUFFIX) or name.endswith((SIDECAR, CHANGES_SUFFIX)):
        return False
    try:
        return not found.is_dir()
    except OSError:
        return True


def _order(entry: Entry) -> tuple[int, int, str]:
    number = _NUMBER.fullmatch(entry.id)
    return entry.started_ns, int(number[1]) if number else 0, entry.id


def _modified(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _glance(path: Path) -> Session:
    """What loading the log would say of its meta record and its result, and nothing else."""
    opened = OpenFile(path)
    try:
        ends = _ends(opened)
    finally:
        opened.close()
    if ends is None:
        return load(path)
    opening, ending = ends
    return Session(
        meta=opening.meta or Meta(),
        result=ending.result,
        started_ns=opening.at_ns,
        ended_ns=ending.at_ns,
    )


def _ends(opened: OpenFile) -> _Ends | None:
    """None where all of the log has to be loaded to tell."""
    size = opened.stamp().size
    openings = _opening(opened)
    if openings.record.meta is None and openings.settled:
        return None
    ending = _ending(opened, size)
    if ending is None and size > RUN_TAIL_BYTES and _may_end(opened):
        return None
    return _Ends(openings.record, ending or Record())


def _opening(opened: OpenFile) -> Openings:
    """How the log begins, read as far as that tells."""
    openings = Openings()
    for placed in Scan(opened.path).read(opened.file):
        openings.take(placed)
        if openings.settled:
            break
    return openings


def _ending(opened: OpenFile, size: int) -> Record | None:
    """The last result in the end of the file, None if there is none."""
    start = max(0, size - RUN_TAIL_BYTES)
    tail = opened.read(start, size - start)
    first, *lines = tail.split(b"\n")
    if not start:
        lines.insert(0, first)
    for number, line in reversed(list(enumerate(lines))):
        if not any(mark in line for mark in _ENDINGS):
            continue
        for piece in reversed(list(read_line(line, first=not (start or number)))):
            record = piece.item
            if record is not None and record.kind == Kind.RESULT and record.result is not None:
                return record
    return None


def _may_end(opened: OpenFile) -> bool:
    """Whether any record of the file may be a result."""
    overlap = max(map(len, _ENDINGS))
    offset, before = 0, b""
    while chunk := opened.read(offset, FIND_CHUNK):
        offset += len(chunk)
        chunk = before + chunk
        if _says_result(chunk):
            return True
        if _ESCAPE in chunk and any(mark in chunk for mark in _ENDINGS[1:]):
            return True
        before = chunk[-overlap:]
    return False


def _says_result(chunk: bytes) -> bool:
    """Whether `"result"` stands anywhere in `chunk` other than as the name of a member."""
    at = -1
    mark = _ENDINGS[0]
    while (at := chunk.find(mark, at + 1)) >= 0:
        if chunk[at + len(mark) : at + len(mark) + 1] != b":":
            return True
    return False

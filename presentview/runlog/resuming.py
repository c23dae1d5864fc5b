"""Which run is meant, where it came from, and going on with it."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from presentview.errors import LogAmbiguous, LogError, LogNotFound
from presentview.eventlog.gotext import trim
from presentview.runlog.listing import Entry, entry_of, list_runs, newest_first
from presentview.runlog.naming import SUFFIX, id_of, log_path
from presentview.runlog.records import Meta
from presentview.runlog.session import load
from presentview.runlog.writing import Writer, start

__all__ = ["Broken", "Link", "chain", "resolve", "resume"]

LAST: Final = "last"

Broken: TypeAlias = Literal["", "missing", "cycle"]
"""Why a chain of runs ends before its first one: the next one's log is not there, or it stands
in the chain already."""


class Link(NamedTuple):
    """A run in a chain of runs that continue one another; `entry` is None where `broken` says
    that the chain does not go on.
    """

    id: str
    entry: Entry | None = None
    broken: Broken = ""


def resolve(folder: str | os.PathLike[str], ref: str) -> Path:
    """The log of the run that `ref` means.

    That is `last` for the one that started last, the path of a log, an id (with `.jsonl` or
    without), or how the id of one run only begins. Raises `LogAmbiguous` if it may be several,
    `LogNotFound` if none, and `LogError` if the folder cannot be read.
    """
    ref = trim(ref)
    if not ref:
        raise LogNotFound("no run is named")
    if ref == LAST:
        entries = list_runs(folder)
        if not entries:
            raise LogNotFound(f"{os.fspath(folder)}: there are no runs")
        return entries[0].path
    if _is_path(ref):
        if "\0" not in ref and os.path.exists(ref):
            return Path(ref)
        raise LogNotFound(f"{ref!r} is no log of a run")
    wanted = ref.removesuffix(SUFFIX)
    exact = _path_of(folder, wanted)
    if exact is not None:
        return exact
    found = [entry for entry in list_runs(folder) if wanted and entry.id.startswith(wanted)]
    if len(found) == 1:
        return found[0].path
    if found:
        raise LogAmbiguous(ref, tuple(entry.id for entry in newest_first(found)))
    raise LogNotFound(f"{os.fspath(folder)}: there is no run {ref!r}")


def chain(folder: str | os.PathLike[str], ref: str) -> tuple[Link, ...]:
    """The run that `ref` means, the one it continues, and so on to the first.

    Where the log of one is missing, or one would come again, a last link says so. Raises what
    `resolve` raises for `ref` itself.
    """
    entry = entry_of(resolve(folder, ref))
    links = [Link(entry.id, entry)]
    seen = {entry.id}
    while before := entry.resumed_from:
        if before in seen:
            return (*links, Link(before, broken="cycle"))
        path = _path_of(folder, before)
        if path is None:
            return (*links, Link(before, broken="missing"))
        entry = entry_of(path)
        seen.add(before)
        links.append(Link(before, entry))
    return tuple(links)


def resume(
    folder: str | os.PathLike[str],
    ref: str,
    *,
    meta: Meta | None = None,
    now: datetime | None = None,
) -> Writer:
    """Start the log of a run in `folder` that continues the one `ref` means.

    It has the messages of that one since its last reset, `meta` (default: what that one started
    with), and says which run it continues. The other log is only read. Raises what `resolve`,
    `load` and `start` raise; where a message cannot be written, the new log stays as it is.
    """
    path = resolve(folder, ref)
    session = load(path)
    opening = msgspec.structs.replace(meta or session.meta, resumed_from=id_of(path))
    writer = start(folder, opening, now)
    try:
        for message in session.messages:
            writer.message(message)
    except BaseException:
        writer.close()
        raise
    return writer


def _is_path(ref: str) -> bool:
    return os.sep in ref or bool(os.altsep and os.altsep in ref)


def _path_of(folder: str | os.PathLike[str], run_id: str) -> Path | None:
    """The log of exactly this run, None if there is none."""
    try:
        path = log_path(folder, run_id)
    except LogError:
        return None
    return path if path.exists() else None

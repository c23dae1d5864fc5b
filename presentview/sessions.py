"""Which sessions there are: sidecars and agents' logs in folders, and the ids that name them.

A session is known by its own path, whether or not its file exists: both names of its sidecar
and a later session file share one id, and the id is the same in every run. Ids are looked up,
never turned into paths.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from presentview.errors import ConfigError
from presentview.sessionfiles import source_of
from presentview.sidecar import (
    CHANGES_SUFFIX,
    SESSION_SUFFIX,
    SUFFIX,
    session_named_by,
    session_path_of,
)
from presentview.subagents import SUB_AGENTS, parent_path

__all__ = ["Roots", "SessionRef", "find_sessions", "session_id"]

_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "site-packages"})
_DEEPEST: Final = 8
_ID_CHARS: Final = 16
_REMEMBERED: Final = 16_384


class SessionRef(NamedTuple):
    """One session: its `id`, the path of the session (whose sidecar is read), and the id of the
    session it belongs to, if it is the transcript of a sub-agent.
    """

    id: str
    path: Path
    parent: str = ""


class Roots(NamedTuple):
    """Where to look: `folders` to search and single `sessions`, which may not exist yet."""

    folders: tuple[Path, ...]
    sessions: tuple[Path, ...]

    @classmethod
    def of(cls, paths: Iterable[str | os.PathLike[str]]) -> Roots:
        """Sort what a person named into folders and sessions.

        A path that does not exist is a session that is waited for, if its name ends in
        `.jsonl`. Raises `ConfigError` for any other path that is not there.
        """
        folders: list[Path] = []
        sessions: list[Path] = []
        for given in paths:
            path = Path(given)
            if path.is_dir():
                folders.append(path.resolve())
            elif path.exists() or path.name.endswith(".jsonl"):
                sessions.append(session_named_by(_resolved(path)))
            else:
                raise ConfigError(
                    f"{given} does not exist; name a folder with sessions, a sidecar, or a "
                    "session file (ending in .jsonl) that will be written"
                )
        return cls(tuple(folders), tuple(sessions))


def session_id(session_path: Path) -> str:
    """The id of the session at `session_path`: 16 hexadecimal digits, the same in every run."""
    return _id_of(_resolved(session_path))


def _id_of(resolved: Path) -> str:
    return hashlib.blake2b(os.fsencode(resolved), digest_size=_ID_CHARS // 2).hexdigest()


def find_sessions(roots: Roots) -> dict[str, SessionRef]:
    """Every session under `roots` by its id; folders are searched, hidden ones left out.

    What cannot be listed is passed over. Transcripts of sub-agents are among them, and say which
    session they belong to, but for those that were named themselves.
    """
    found: dict[str, SessionRef] = {}
    for path in roots.sessions:
        ref = SessionRef(session_id(path), path)
        found[ref.id] = ref
    for folder in roots.folders:
        # Below it no linked folder is entered: what is found is resolved as the folder is.
        for file in _session_files(os.fspath(folder.resolve()), 0):
            ref = _ref_of(file)
            found.setdefault(ref.id, ref)
    named = frozenset(map(session_id, roots.sessions))
    beside = {os.path.join(path.parent, SUB_AGENTS) for path in roots.sessions}
    near = (_ref_of(file) for folder in sorted(beside) for file in _session_files(folder, _DEEPEST))
    return found | _sub_agents(found, [*found.values(), *near], named)


def _sub_agents(
    found: Mapping[str, SessionRef], refs: Iterable[SessionRef], named: frozenset[str]
) -> dict[str, SessionRef]:
    """Those of `refs`, but for the `named` ones, that belong to a session that was `found`."""
    by_path = {os.fspath(ref.path): ref for ref in found.values()}
    belonging: dict[str, SessionRef] = {}
    for ref in refs:
        parent = parent_path(ref.path, by_path) if ref.id not in named else ""
        if parent:
            belonging[ref.id] = ref._replace(parent=by_path[parent].id)
    return belonging


@lru_cache(_REMEMBERED)
def _ref_of(file: str) -> SessionRef:
    """The session of a file whose folder is resolved. Remembered: the list asks often."""
    path = session_path_of(Path(file))
    return SessionRef(_id_of(path), path)


def _session_files(folder: str, depth: int) -> Iterator[str]:
    """The sidecars and the agents' own logs below a folder."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = entry.name
        if name.endswith(SESSION_SUFFIX) and not name.startswith("."):
            is_sidecar = name.endswith(SUFFIX) and name != SUFFIX
            is_log = not name.endswith((SUFFIX, CHANGES_SUFFIX))
            if _is_file(entry) and (is_sidecar or (is_log and source_of(entry.path) is not None)):
                yield entry.path
        elif depth < _DEEPEST and not _is_skipped(name) and _is_folder(entry):
            yield from _session_files(entry.path, depth + 1)


def _is_skipped(name: str) -> bool:
    return name in _SKIPPED or name.startswith(".")


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    # A linked folder may lead anywhere, also back to here.
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _resolved(path: Path) -> Path:
    """`path` with its folder resolved: the file itself may be a link to elsewhere."""
    return path.parent.resolve() / path.name

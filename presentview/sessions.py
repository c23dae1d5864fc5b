"""Which sessions there are: sidecars in folders, and the ids by which pages name them.

A session is known by its own path, whether or not its file exists: both names of its sidecar
and a later session file share one id, and the id is the same in every run. Ids are looked up,
never turned into paths.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from presentview.errors import ConfigError
from presentview.sidecar import SUFFIX, session_path_of

__all__ = ["Roots", "SessionRef", "find_sessions", "session_id"]

_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "site-packages"})
_DEEPEST: Final = 8
_ID_CHARS: Final = 16
_REMEMBERED: Final = 16_384


class SessionRef(NamedTuple):
    """One session: its `id` and the path of the session (whose sidecar is read)."""

    id: str
    path: Path


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
                sessions.append(session_path_of(_resolved(path)))
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

    What cannot be listed is passed over.
    """
    found: dict[str, SessionRef] = {}
    for path in roots.sessions:
        ref = SessionRef(session_id(path), path)
        found[ref.id] = ref
    for folder in roots.folders:
        # Below it no linked folder is entered: what is found is resolved as the folder is.
        for sidecar in _sidecars(os.fspath(folder.resolve()), 0):
            ref = _ref_of(sidecar)
            found.setdefault(ref.id, ref)
    return found


@lru_cache(_REMEMBERED)
def _ref_of(sidecar: str) -> SessionRef:
    """The session of a sidecar whose folder is resolved. Remembered: the list asks often."""
    path = session_path_of(Path(sidecar))
    return SessionRef(_id_of(path), path)


def _sidecars(folder: str, depth: int) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = entry.name
        if name.endswith(SUFFIX) and name != SUFFIX and not name.startswith("."):
            if _is_file(entry):
                yield entry.path
        elif depth < _DEEPEST and not _is_skipped(name) and _is_folder(entry):
            yield from _sidecars(entry.path, depth + 1)


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

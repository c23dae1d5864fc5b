"""Watches the folders in which sessions touched files, while somebody compares them.

Only these folders are watched, none below them, and no more than `limits.WATCHED_FOLDERS`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from presentview.limits import WATCHED_FOLDERS
from presentview.web.folderwatch import FolderWatch

__all__ = ["TreeWatch", "is_tree", "tree_topic"]

_SUFFIX: Final = ".tree"
_STEP_MS: Final = 50
_DEBOUNCE_MS: Final = 400
_LOADING_SECONDS: Final = 20.0

Send = Callable[[str, dict[str, Any]], None]


def tree_topic(session: str) -> str:
    """The topic of the files that a session touched."""
    return f"{session}{_SUFFIX}"


def is_tree(topic: str) -> bool:
    """Whether a topic is that of touched files."""
    return topic.endswith(_SUFFIX)


class _Wanted(NamedTuple):
    """The folders that a session's pages are about, and when one was last asked for."""

    folders: frozenset[Path]
    at: float


class TreeWatch:
    """Tells the pages of sessions when files in folders that they touched change."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._wanted: dict[str, _Wanted] = {}
        self._counter = itertools.count(1)
        self._watch = FolderWatch(self._folders, self._tell, step=_STEP_MS, debounce=_DEBOUNCE_MS)

    def want(self, session: str, folders: Sequence[Path]) -> None:
        """Watch these folders for a session, the first ones if they are too many."""
        before = self._wanted.get(session)
        found = frozenset(folders[:WATCHED_FOLDERS])
        if found or before is not None:
            self._wanted[session] = _Wanted(found, time.monotonic())
        if before is None or before.folders != found:
            self._watch.again()

    def keep(self, topics: Iterable[str]) -> None:
        """Go on for those sessions only whose pages listen, or will when they are loaded."""
        listening = set(topics)
        old = time.monotonic() - _LOADING_SECONDS
        gone = [
            session
            for session, wanted in self._wanted.items()
            if wanted.at < old and tree_topic(session) not in listening
        ]
        for session in gone:
            del self._wanted[session]
        if gone:
            self._watch.again()

    def close(self) -> None:
        """Stop watching."""
        self._watch.close()

    async def run(self) -> None:
        """Watch until `close`."""
        await self._watch.run()

    async def _folders(self) -> list[Path]:
        every = dict.fromkeys(f for wanted in self._wanted.values() for f in wanted.folders)
        return list(every)[:WATCHED_FOLDERS]

    async def _tell(self, changed: set[Path]) -> None:
        folders = {path.parent for path in changed}
        for session, wanted in self._wanted.items():
            if wanted.folders & folders:
                topic = tree_topic(session)
                self._send(topic, {"s": topic, "pos": str(next(self._counter))})

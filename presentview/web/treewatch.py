"""Watches the folders in which sessions touched files, while somebody compares them.

Only these folders are watched, none below them, and no more than `limits.WATCHED_FOLDERS`.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio
from watchfiles import awatch

from presentview.limits import WATCHED_FOLDERS

__all__ = ["TreeWatch", "is_tree", "tree_topic"]

_SUFFIX: Final = ".tree"
_STEP_MS: Final = 50
_DEBOUNCE_MS: Final = 400
_PAUSE_SECONDS: Final = 1.0
_LOADING_SECONDS: Final = 20.0
_log = logging.getLogger(__name__)

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
        self._is_closed = False
        self._rewatch = anyio.Event()

    def want(self, session: str, folders: Sequence[Path]) -> None:
        """Watch these folders for a session, the first ones if they are too many."""
        before = self._wanted.get(session)
        found = frozenset(folders[:WATCHED_FOLDERS])
        if found or before is not None:
            self._wanted[session] = _Wanted(found, time.monotonic())
        if before is None or before.folders != found:
            self._rewatch.set()

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
            self._rewatch.set()

    def close(self) -> None:
        """Stop watching."""
        self._is_closed = True
        self._rewatch.set()

    async def run(self) -> None:
        """Watch until `close`."""
        while not self._is_closed:
            self._rewatch = anyio.Event()
            every = dict.fromkeys(f for wanted in self._wanted.values() for f in wanted.folders)
            folders = list(every)[:WATCHED_FOLDERS]
            if not folders:
                await self._rewatch.wait()
                continue
            try:
                async for changes in awatch(
                    *folders,
                    step=_STEP_MS,
                    debounce=_DEBOUNCE_MS,
                    recursive=False,
                    watch_filter=None,
                    stop_event=self._rewatch,
                ):
                    self._tell({Path(path).parent for _, path in changes})
            except (OSError, RuntimeError) as error:
                # A folder is gone, or the system has no watches left.
                _log.debug("cannot watch: %s", error)
                with anyio.move_on_after(_PAUSE_SECONDS):
                    await self._rewatch.wait()

    def _tell(self, changed: set[Path]) -> None:
        for session, wanted in self._wanted.items():
            if wanted.folders & changed:
                topic = tree_topic(session)
                self._send(topic, {"s": topic, "pos": str(next(self._counter))})

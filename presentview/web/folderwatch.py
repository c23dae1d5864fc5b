"""Watching folders, whichever they are at the moment, until somebody has enough."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Final

import anyio
from watchfiles import Change, awatch

__all__ = ["FolderWatch"]

_PAUSE_SECONDS: Final = 1.0
_log = logging.getLogger(__name__)

Wanted = Callable[[Change, str], bool]


class FolderWatch:
    """Watches the folders that `find` names, none below them, and tells `heard` which paths in
    them changed: those that are `wanted`, if that is given. `step` and `debounce` are ms.
    """

    def __init__(
        self,
        find: Callable[[], Awaitable[Collection[Path]]],
        heard: Callable[[set[Path]], Awaitable[None]],
        *,
        step: int,
        debounce: int,
        wanted: Wanted | None = None,
    ) -> None:
        self._find = find
        self._heard = heard
        self._step = step
        self._debounce = debounce
        self._wanted = wanted
        self._is_closed = False
        self._interrupted = anyio.Event()

    def again(self) -> None:
        """Ask anew which folders to watch: they may be others now."""
        self._interrupted.set()

    def close(self) -> None:
        """Stop watching."""
        self._is_closed = True
        self._interrupted.set()

    async def run(self) -> None:
        """Watch until `close`."""
        while not self._is_closed:
            self._interrupted = anyio.Event()
            folders = await self._find()
            if not folders:
                await self._interrupted.wait()
                continue
            try:
                async for changes in awatch(
                    *folders,
                    watch_filter=self._wanted,
                    step=self._step,
                    debounce=self._debounce,
                    recursive=False,
                    stop_event=self._interrupted,
                ):
                    await self._heard({Path(path) for _, path in changes})
            except (OSError, RuntimeError) as error:
                # A folder vanished, or the system has no watches left.
                _log.debug("cannot watch: %s", error)
                with anyio.move_on_after(_PAUSE_SECONDS):
                    await self._interrupted.wait()

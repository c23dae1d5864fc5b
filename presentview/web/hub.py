"""The one place that watches: files change, pages hear of it.

Folders are watched, not files (a replaced file is a new one), and every second a backstop looks
at what somebody is looking at. Each stream has a bounded queue; a reader too slow for it is told
to ask for what it missed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
from watchfiles import Change

from presentview.limits import FEEDS, STREAM_QUEUE, STREAMS
from presentview.sessions import Roots, session_id
from presentview.sidecar import SESSION_SUFFIX, SUFFIX, session_path_of
from presentview.web.apart import Apart
from presentview.web.feeds import Feed, Snapshot, batches_json
from presentview.web.folderwatch import FolderWatch
from presentview.web.listing import Listing
from presentview.web.treewatch import TreeWatch, is_tree
from presentview.workspaces import Workspaces

__all__ = ["LIST", "Hub", "Stream"]

LIST: Final = "list"
"""The topic of the list of sessions; every other topic is a session's id."""

_BACKSTOP_SECONDS: Final = 1.0
_STEP_MS: Final = 5
_DEBOUNCE_MS: Final = 20
_SCAN_SHARE: Final = 20
_SCAN_PAUSE_MOST_SECONDS: Final = 4
_log = logging.getLogger(__name__)

T = TypeVar("T")


class Stream:
    """One reader of the event stream and what it wants to hear of."""

    def __init__(self, topics: Iterable[str]) -> None:
        self.topics = frozenset(topics)
        self._queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(STREAM_QUEUE)

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message; a full queue is emptied and replaced by the word to catch up."""
        if self._queue.full():
            self._drain()
            message = {"lost": True}
        self._queue.put_nowait(message)

    def end(self) -> None:
        """Close the stream once the reader has what is queued."""
        if self._queue.full():
            self._drain()
        self._queue.put_nowait(None)

    def _drain(self) -> None:
        while not self._queue.empty():
            self._queue.get_nowait()

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """The messages as they come, until the stream ends."""
        while (message := await self._queue.get()) is not None:
            yield message


class Hub:
    """Sessions, their feeds and the streams that carry them to the pages."""

    def __init__(
        self, roots: Roots, allowed: Sequence[Path] = (), workspace: Path | None = None
    ) -> None:
        """Files below the `allowed` folders may be shown as attachments of any session. With the
        `workspace`, these folders and those among `roots` sessions may be compared.
        """
        self._allowed = allowed
        self.workspaces = Workspaces((*roots.folders, *allowed), workspace)
        self.epoch = os.urandom(4).hex()
        self.apart = Apart()
        self.listing = Listing(roots, self.epoch, self.apart)
        self._feeds: dict[str, Feed] = {}
        self._busy: dict[str, asyncio.Lock] = {}
        self._streams: set[Stream] = set()
        self._stop = anyio.Event()
        self._watch = FolderWatch(
            self._find_folders,
            self._touched,
            step=_STEP_MS,
            debounce=_DEBOUNCE_MS,
            wanted=_concerns_sessions,
        )
        self._watched: dict[Path, int] = {}
        self._next_scan = 0.0
        self._has_new = False
        self.trees = TreeWatch(self._send)

    # pages

    async def feed(self, session: str) -> Feed | None:
        """The feed of a session, up to date; None for an id that no session has."""
        feed = self._feeds.get(session)
        if feed is None:
            ref = self.listing.refs.get(session)
            if ref is None:
                ref = (await _in_thread(self.listing.scan)).get(session)
            if ref is None:
                return None
            made = Feed(ref, self.epoch, self._allowed, self.apart, lambda: self.listing.refs)
            feed = self._feeds.setdefault(session, made)
        # The last one asked for is the last to go.
        self._feeds[session] = self._feeds.pop(session)
        await self._look(session)
        self._evict()
        return feed

    async def working(self, topic: str, work: Callable[[], T]) -> T:
        """Do `work` on a session's feed, or on the list, in a thread, while nothing else works
        on it.
        """
        async with self._lock(topic):
            return await _in_thread(work)

    async def list_now(self) -> Snapshot:
        """The list of sessions, up to date."""
        await self._look(LIST)
        return await self.working(LIST, self.listing.snapshot)

    def _evict(self) -> None:
        wanted = self._wanted()
        spare = [
            session
            for session in self._feeds
            if session not in wanted and not self._lock(session).locked()
        ]
        for session in spare[: max(0, len(self._feeds) - FEEDS)]:
            self._feeds.pop(session).follower.close()
            del self._busy[session]

    def _lock(self, topic: str) -> asyncio.Lock:
        return self._busy.setdefault(topic, asyncio.Lock())

    async def _look(self, topic: str) -> None:
        """Look at one page's files and send what changed to those who show it."""
        source = self.listing if topic == LIST else self._feeds.get(topic)
        if source is None:
            return
        async with self._lock(topic):
            batch = await _in_thread(source.look)
            if batch is not None:
                self._send(topic, batches_json(topic, [batch])[0])

    # streams

    @contextlib.asynccontextmanager
    async def stream(self, topics: Iterable[str]) -> AsyncIterator[Stream | None]:
        """A stream for `topics`, None if there are too many streams already.

        It begins with the position of each topic, so that a page knows what it missed.
        """
        if len(self._streams) >= STREAMS or self._stop.is_set():
            yield None
            return
        stream = Stream(topics)
        self._streams.add(stream)
        try:
            for topic in sorted(stream.topics):
                await _guarded(self._greet(topic, stream))
            await self._watch_all()
            yield stream
        finally:
            self._streams.discard(stream)

    async def _greet(self, topic: str, *streams: Stream) -> None:
        """Tell streams the position of a topic, which they may be the first to ask for."""
        if is_tree(topic):
            return
        if topic == LIST:
            await self._look(LIST)
            position = self.listing.log.position
        elif (feed := await self.feed(topic)) is not None:
            position = feed.log.position
        else:
            return
        for stream in streams:
            stream.send({"s": topic, "pos": position})

    def _send(self, topic: str, message: dict[str, Any]) -> None:
        for stream in self._streams:
            if topic in stream.topics:
                stream.send(message)

    def _wanted(self) -> set[str]:
        return {topic for stream in self._streams for topic in stream.topics}

    def close(self) -> None:
        """End all streams and stop watching."""
        self._stop.set()
        self._watch.close()
        self.trees.close()
        for stream in self._streams:
            stream.end()

    # watching

    async def run(self) -> None:
        """Watch until `close`: folders for changes, and by the backstop what is shown."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch.run)
            tasks.start_soon(self._backstop)
            tasks.start_soon(self.trees.run)
            await self._stop.wait()
            tasks.cancel_scope.cancel()
        await _in_thread(self.apart.close)
        self.listing.close()
        for feed in self._feeds.values():
            feed.follower.close()

    async def _find_folders(self) -> dict[Path, int]:
        self._watched = await _in_thread(self._folders)
        return self._watched

    async def _watch_all(self) -> None:
        """Begin to watch anew if there are folders that are not watched."""
        if await _in_thread(self._folders) != self._watched:
            self._watch.again()

    def _folders(self) -> dict[Path, int]:
        """The folders to watch that are there, with what tells one made again from the old."""
        wanted = set(self.listing.roots.folders)
        wanted |= {ref.path.parent for ref in self.listing.refs.values()}
        wanted |= {path.parent for path in self.listing.roots.sessions}
        found: dict[Path, int] = {}
        for folder in wanted:
            with contextlib.suppress(OSError):
                if folder.is_dir():
                    found[folder] = folder.stat().st_ino
        return found

    async def _touched(self, paths: set[Path]) -> None:
        sessions = {_session_of(path) for path in paths}
        self._has_new = self._has_new or not sessions <= self.listing.refs.keys()
        for session in self._feeds.keys() & sessions:
            await _guarded(self._look(session))
        await _guarded(self._search())

    async def _backstop(self) -> None:
        """Look at what is shown each second: notifications get lost, and writers die silently."""
        while True:
            await anyio.sleep(_BACKSTOP_SECONDS)
            for session in self._feeds.keys() & self._wanted():
                await _guarded(self._look(session))
            await _guarded(self._search())
            await self._watch_all()
            self.trees.keep(self._wanted())
            await _in_thread(self.apart.rest)

    async def _search(self) -> None:
        """Look for new sessions if somebody shows the list, or a session that is not there yet,
        or if there is a new one, which may have to do with one that is shown.

        A large tree is searched a small share of the time, but again after seconds even where
        one search takes that long.
        """
        wanted = self._wanted()
        awaited = {t for t in wanted - self._feeds.keys() - {LIST} if not is_tree(t)}
        began = time.monotonic()
        is_due = awaited or LIST in wanted or (self._has_new and wanted)
        if began < self._next_scan or not is_due:
            return
        self._has_new = False
        if LIST in wanted:
            await self._look(LIST)
        else:
            await _in_thread(self.listing.scan)
        for session in awaited & self.listing.refs.keys():
            await self._greet(session, *(s for s in self._streams if session in s.topics))
        ended = time.monotonic()
        self._next_scan = ended + min(_SCAN_SHARE * (ended - began), _SCAN_PAUSE_MOST_SECONDS)


def _concerns_sessions(_change: Change, path: str) -> bool:
    return path.endswith((SESSION_SUFFIX, SUFFIX + ".lock"))


def _session_of(path: Path) -> str:
    return session_id(session_path_of(path.with_name(path.name.removesuffix(".lock"))))


async def _guarded(looking: Awaitable[None]) -> None:
    """One session that cannot be shown must not end the watching of all others."""
    try:
        await looking
    except Exception:  # noqa: BLE001 - whatever it is, it is told
        _log.exception("while looking at a session")


async def _in_thread(work: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(work)

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from presentview.limits import STREAM_QUEUE
from presentview.records import Kind, Record, encode
from presentview.sessions import Roots, session_id
from presentview.web import folderwatch
from presentview.web import hub as hub_module
from presentview.web.feeds import Batch, Feed
from presentview.web.hub import LIST, Hub, Stream

pytestmark = pytest.mark.anyio

WAIT_SECONDS = 30


def line(text: str) -> bytes:
    return encode(Record(kind=Kind.NOTICE, text=text)) + b"\n"


class Sessions:
    """Sessions in a folder, and how one goes on."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder
        for name in names:
            self.write(name, "begin")

    def write(self, name: str, text: str) -> None:
        with open(self.folder / f"{name}.present.jsonl", "ab") as file:
            file.write(line(text))

    def id(self, name: str) -> str:
        return session_id(self.folder / f"{name}.jsonl")


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path.resolve(), "a", "b", "c")


@pytest.fixture
async def hub(sessions: Sessions) -> AsyncIterator[Hub]:
    """A hub that watches."""
    hub = Hub(Roots((sessions.folder,), ()))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hub.run)
        yield hub
        hub.close()


async def show(hub: Hub, *sessions: str) -> None:
    """Open the page of each session: only what is shown somewhere is kept in step."""
    for session in sessions:
        feed = await hub.feed(session)
        assert feed is not None
        await hub.working(session, feed.frame)


class Reader:
    """What a stream brings, message by message."""

    def __init__(self, stream: Stream | None) -> None:
        assert stream is not None
        self._messages = stream.messages()

    async def next(self) -> dict[str, Any]:
        with anyio.fail_after(WAIT_SECONDS):
            return await anext(self._messages)


async def test_a_stream_begins_with_positions_and_goes_on_with_changes(
    hub: Hub, sessions: Sessions
) -> None:
    await show(hub, sessions.id("a"))
    async with hub.stream([sessions.id("a"), "0" * 16]) as stream:
        reader = Reader(stream)
        start = await reader.next()
        assert start.keys() == {"s", "pos"}
        for text in ("one", "two"):
            sessions.write("a", text)
            batch = await reader.next()
            assert (batch["s"], batch["prev"]) == (start["s"], start["pos"])
            assert text in batch["ops"][0]["html"]
            start = batch


async def test_changes_are_found_without_any_notification(
    hub: Hub, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(*_: Any, stop_event: anyio.Event, **__: Any) -> AsyncIterator[Any]:
        await stop_event.wait()
        return
        yield

    monkeypatch.setattr(folderwatch, "awatch", silent)
    hub._watch.again()
    await show(hub, sessions.id("a"))
    async with hub.stream([sessions.id("a"), LIST]) as stream:
        reader = Reader(stream)
        assert {(await reader.next())["s"], (await reader.next())["s"]} == {
            sessions.id("a"),
            LIST,
        }
        sessions.write("a", "news")
        sessions.write("d", "a new one")
        assert {(await reader.next())["s"], (await reader.next())["s"]} == {
            sessions.id("a"),
            LIST,
        }


async def test_no_watches_left_is_no_reason_to_stop(
    hub: Hub, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folderwatch, "awatch", none_left)
    hub._watch.again()
    await show(hub, sessions.id("a"))
    async with hub.stream([sessions.id("a")]) as stream:
        reader = Reader(stream)
        await reader.next()
        sessions.write("a", "news")
        assert (await reader.next())["ops"]


async def test_one_session_that_cannot_be_drawn_does_not_stop_the_others(
    hub: Hub, sessions: Sessions, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = Feed.look

    def look(self: Feed) -> Any:
        if self.ref.id == sessions.id("a"):
            raise ZeroDivisionError("a bug of ours")
        return real(self)

    await show(hub, sessions.id("b"))
    monkeypatch.setattr(Feed, "look", look)
    async with hub.stream([sessions.id("a"), sessions.id("b")]) as stream:
        reader = Reader(stream)
        assert (await reader.next())["s"] == sessions.id("b")
        sessions.write("a", "news")
        sessions.write("b", "news")
        assert (await reader.next())["s"] == sessions.id("b")
    assert "a bug of ours" in caplog.text


async def test_a_session_that_comes_later_is_found_for_who_waits_for_it(
    hub: Hub, sessions: Sessions
) -> None:
    async with hub.stream([sessions.id("later")]) as stream:
        reader = Reader(stream)
        sessions.write("later", "here")
        assert (await reader.next()).keys() == {"s", "pos"}
        await show(hub, sessions.id("later"))
        sessions.write("later", "and on")
        batch = await reader.next()
        assert "and on" in batch["ops"][0]["html"]


async def test_a_reader_that_is_too_slow_is_told_so(hub: Hub, sessions: Sessions) -> None:
    async with hub.stream([sessions.id("a")]) as stream:
        assert stream is not None
        reader = Reader(stream)
        await reader.next()
        for number in range(STREAM_QUEUE + 1):
            stream.send({"n": number})
        assert await reader.next() == {"lost": True}
        stream.send({"n": "after"})
        assert await reader.next() == {"n": "after"}


async def test_only_so_many_transcripts_are_kept(
    hub: Hub, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "FEEDS", 2)
    async with hub.stream([sessions.id("a")]):
        for number in range(6):
            sessions.write(f"more{number}", "begin")
            assert await hub.feed(sessions.id(f"more{number}")) is not None
        assert len(hub._feeds) <= 2
        assert sessions.id("a") in hub._feeds, "somebody looks at it"
        assert len(hub._busy) <= len(hub._feeds) + 1
        again = await hub.feed(sessions.id("more0"))
        assert again is not None
        assert again.follower.exists


async def test_the_end_of_the_hub_is_the_end_of_all_streams(hub: Hub, sessions: Sessions) -> None:
    async with hub.stream([sessions.id("a")]) as stream:
        assert stream is not None
        hub.close()
        with anyio.fail_after(WAIT_SECONDS):
            assert [message["s"] async for message in stream.messages()] == [sessions.id("a")]
    async with hub.stream([LIST]) as stream:
        assert stream is None


def open_files(folder: Path) -> list[str]:
    """The files below `folder` that this process has open."""
    fds = "/proc/self/fd"
    if not os.path.isdir(fds):
        pytest.skip("this system does not tell")
    found: list[str] = []
    for name in os.listdir(fds):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"{fds}/{name}"))
    return [path for path in found if path.startswith(os.fspath(folder))]


async def test_a_list_whose_search_takes_minutes_is_searched_again_within_seconds(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub(Roots((sessions.folder,), ()))
    clock = SimpleNamespace(now=1000.0, looks=0)
    look = hub.listing.look

    def slow_look() -> Batch | None:
        clock.now += 120
        clock.looks += 1
        return look()

    monkeypatch.setattr(hub_module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(hub.listing, "look", slow_look)
    async with hub.stream([LIST]):
        await hub._search()
        before = clock.looks
        await hub._search()
        assert clock.looks == before, "it is searched all the time"
        clock.now += 10
        await hub._search()
        assert clock.looks == before + 1
    hub.listing.close()


async def test_no_file_stays_open(sessions: Sessions) -> None:
    hub = Hub(Roots((sessions.folder,), ()))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hub.run)
        async with hub.stream([sessions.id("a"), sessions.id("b"), LIST]):
            assert open_files(sessions.folder)
        hub.close()
    assert open_files(sessions.folder) == []

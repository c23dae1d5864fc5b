from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Request, Route, expect

from presentview import Recorder
from presentview.events import Event, EventKind
from presentview.sessions import session_id
from tests.browser.conftest import Serve, Server, page_of

TIMEOUT = 20_000


class Streams:
    """The event streams of a browser that are open, and the tabs they belong to."""

    def __init__(self, context: BrowserContext) -> None:
        self.open: list[Request] = []
        context.on("request", self._opened)
        context.on("requestfinished", self._closed)
        context.on("requestfailed", self._closed)

    def _opened(self, request: Request) -> None:
        if "/events" in request.url:
            self.open.append(request)

    def _closed(self, request: Request) -> None:
        if request in self.open:
            self.open.remove(request)

    def wait_for(self, tab: Page, *topics: str, count: int = 1) -> None:
        """Wait until as many streams are open, and each is for these topics."""
        deadline = time.monotonic() + TIMEOUT / 1000
        while True:
            urls = [one.url for one in self.open if not one.frame.page.is_closed()]
            if len(urls) == count and all(topic in url for topic in topics for url in urls):
                return
            assert time.monotonic() < deadline, urls
            # Whatever happens in the browser next lets us look again.
            tab.evaluate("() => new Promise(requestAnimationFrame)")


@pytest.fixture
def streams(context: BrowserContext) -> Streams:
    return Streams(context)


class Sessions:
    """Sessions that are being recorded."""

    def __init__(self, folder: Path, count: int) -> None:
        self.paths = [folder / f"s{number}.jsonl" for number in range(count)]
        self.recorders = [Recorder.open(path, fsync="never") for path in self.paths]
        for recorder in self.recorders:
            recorder.append(Event(kind=EventKind.TURN_STARTED, text="begin"))

    def say(self, number: int, text: str) -> None:
        self.recorders[number].append(Event(kind=EventKind.NOTICE, text=text))

    def close(self) -> None:
        for recorder in self.recorders:
            recorder.close()


@pytest.fixture
def sessions(folder: Path) -> Iterator[Sessions]:
    sessions = Sessions(folder, 3)
    yield sessions
    sessions.close()


def open_tabs(context: BrowserContext, server: Server, paths: list[str]) -> list[Page]:
    tabs: list[Page] = []
    for path in paths:
        tab = context.new_page()
        tab.goto(server.url(path))
        tabs.append(tab)
    return tabs


def assert_live(tabs: list[Page], sessions: Sessions, word: str) -> None:
    """Each session says a word, and the tab that shows it has it."""
    for number in range(len(sessions.paths)):
        sessions.say(number, f"{word} {number}")
    for number, tab in enumerate(tabs):
        of = number % len(sessions.paths)
        expect(tab.locator("#cards")).to_contain_text(f"{word} {of}", timeout=TIMEOUT)


def test_three_tabs_share_one_stream_and_another_leads_when_the_first_is_closed(
    server: Server, folder: Path, context: BrowserContext, streams: Streams, sessions: Sessions
) -> None:
    ids = [session_id(path) for path in sessions.paths]
    tabs = open_tabs(context, server, [page_of(path) for path in sessions.paths])
    streams.wait_for(tabs[0], *ids)
    assert_live(tabs, sessions, "first")
    tabs[0].close()
    streams.wait_for(tabs[1], *ids[1:])
    for number, tab in enumerate(tabs[1:], start=1):
        sessions.say(number, "second")
        expect(tab.locator("#cards")).to_contain_text("second", timeout=TIMEOUT)
    again = open_tabs(context, server, ["/"])[0]
    streams.wait_for(again, *ids[1:], "list=1")
    row = again.locator(f"#s{ids[0]} .pill")
    expect(row).to_have_text("● live")
    sessions.recorders[0].append(Event(kind=EventKind.TURN_DONE))
    expect(row).to_have_text("✓ finished", timeout=TIMEOUT)


def test_a_second_tab_of_the_same_session_learns_what_it_missed_while_it_was_loaded(
    server: Server, folder: Path, context: BrowserContext, streams: Streams, sessions: Sessions
) -> None:
    path = page_of(sessions.paths[0])
    first = open_tabs(context, server, [path])[0]
    streams.wait_for(first, session_id(sessions.paths[0]))
    second = context.new_page()

    def late(route: Route) -> None:
        # Between the page and its scripts the session goes on, and then says no more.
        sessions.say(0, "meanwhile")
        expect(first.locator("#cards")).to_contain_text("meanwhile", timeout=TIMEOUT)
        route.continue_()

    second.route("**/static/stream.js", late)
    second.goto(server.url(path))
    expect(second.locator("#cards")).to_contain_text("meanwhile", timeout=TIMEOUT)


def test_twelve_tabs_are_all_live(
    server: Server, folder: Path, context: BrowserContext, streams: Streams, sessions: Sessions
) -> None:
    tabs = open_tabs(context, server, [page_of(path) for path in sessions.paths] * 4)
    streams.wait_for(tabs[-1], *(session_id(path) for path in sessions.paths))
    assert_live(tabs, sessions, "all of you")


def test_where_a_browser_has_no_locks_each_tab_has_a_stream_of_its_own(
    server: Server, folder: Path, context: BrowserContext, streams: Streams, sessions: Sessions
) -> None:
    context.add_init_script("Object.defineProperty(navigator, 'locks', { value: undefined })")
    tabs = open_tabs(context, server, [page_of(sessions.paths[0])] * 2)
    streams.wait_for(tabs[0], session_id(sessions.paths[0]), count=2)
    sessions.say(0, "to both")
    for tab in tabs:
        expect(tab.locator("#cards")).to_contain_text("to both", timeout=TIMEOUT)


def test_two_browsers_have_a_stream_each(
    server: Server, folder: Path, context: BrowserContext, streams: Streams, sessions: Sessions
) -> None:
    path = page_of(sessions.paths[0])
    mine = open_tabs(context, server, [path])[0]
    assert context.browser is not None
    other = context.browser.new_context()
    theirs = open_tabs(other, server, [path])[0]
    sessions.say(0, "to both")
    for tab in (mine, theirs):
        expect(tab.locator("#cards")).to_contain_text("to both", timeout=TIMEOUT)
    other.close()


def test_tabs_are_told_that_they_must_sign_in_again(
    serve: Serve, tmp_path: Path, context: BrowserContext
) -> None:
    session = tmp_path / "s.jsonl"
    with Recorder.open(session, fsync="never") as recorder:
        recorder.append(Event(kind=EventKind.TURN_STARTED, text="begin"))
    server = serve(tmp_path)
    tabs = open_tabs(context, server, [page_of(session)] * 2)
    port = str(server.port)
    assert server.end() == 0
    server.arguments = ["--port", port, "--new-token", str(tmp_path)]
    server.start()
    for tab in tabs:
        note = tab.locator("[data-live-note]")
        expect(note).to_contain_text("signed out", timeout=TIMEOUT)
        note.get_by_role("link").click()
        expect(tab.locator("h1")).to_have_text("This browser is not signed in")
    tabs[0].goto(server.url(page_of(session)))
    expect(tabs[0].locator("#cards")).to_contain_text("begin")

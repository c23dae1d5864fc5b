from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from presentview import Recorder
from presentview.events import Event, EventKind
from presentview.limits import MIB, PAGE_ROWS
from presentview.lock import LOCKING_WRITER
from presentview.records import Header, Kind, Record, encode, encode_header
from tests.browser.conftest import Proxy, Serve
from tests.browser.watching import LOOKS, violations

MANY = PAGE_ROWS + 5
START = 1_760_000_000_000


def write(
    folder: Path, name: str, text: str, at: int, *, end: str | None = "", fill: int = 0
) -> None:
    """A session with one prompt; `end` is the error it ended with, None if it was cut off."""
    records = [Record(kind=Kind.TURN_STARTED, text=text, at=START + at)]
    if fill:
        records.append(Record(kind=Kind.NOTICE, text="x" * fill, at=START + at))
    if end is not None:
        level = "error" if end else ""
        records.append(Record(kind=Kind.TURN_DONE, text=end, level=level, at=START + at + 60_000))
    header = Header(workspace="/src/lobby", writer="test" + LOCKING_WRITER)
    lines = [encode_header(header), *map(encode, records)]
    (folder / f"{name}.present.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))


@pytest.fixture
def many(folder: Path) -> Path:
    """More sessions than a page holds; the oldest are about a door, and one of these failed."""
    for number in range(MANY):
        what = "door" if number < 3 else "greeting"
        end = "no key" if number == 1 else ""
        write(folder, f"s{number}", f"the {what} {number}", number * 1000, end=end)
    return folder


def test_typing_finds_among_all_sessions(serve: Serve, many: Path, page: Page) -> None:
    page.goto(serve(many).url())
    rows, titles = page.locator("#sessions > li"), page.locator("#sessions .title")
    expect(rows).to_have_count(PAGE_ROWS)
    expect(page.locator("#listed")).to_have_text(f"1–{PAGE_ROWS} of {MANY} sessions")
    page.keyboard.press("/")
    page.keyboard.type("lobby door")
    expect(titles).to_have_text(["the door 2", "the door 1", "the door 0"])
    expect(page.locator("#listed")).to_have_text(f"3 of {MANY} sessions")
    expect(page).to_have_url(re.compile(r"/\?q=lobby%20door$"))
    page.locator("#choices").get_by_role("link", name="Failed").click()
    expect(titles).to_have_text(["the door 1"])
    page.locator("#choices").get_by_role("link", name="Size").click()
    expect(page).to_have_url(re.compile(r"q=lobby\+door&state=failed&sort=size$"))
    page.locator("#q").fill("lobby nothing")
    expect(page.locator("#empty")).to_contain_text("No session is like that")
    page.locator("#empty a").click()
    expect(rows).to_have_count(PAGE_ROWS)
    expect(page.locator("#empty")).to_be_hidden()


def test_a_page_that_shows_some_sessions_stays_true(serve: Serve, many: Path, page: Page) -> None:
    server = serve(many)
    page.goto(server.url())
    titles = page.locator("#sessions .title")
    page.locator("#q").fill("door")
    expect(titles).to_have_count(3)
    page.evaluate("() => { window.kept = document.querySelector('#sessions > li'); }")
    write(many, "more", "another greeting", 1_000_000)
    write(many, "one", "one more door", 2_000_000, end=None)
    expect(titles).to_have_text(["one more door", "the door 2", "the door 1", "the door 0"])
    expect(page.locator("#sessions .pill").first).to_have_text("⚡ interrupted")
    (many / "s0.present.jsonl").unlink()
    expect(titles).to_have_text(["one more door", "the door 2", "the door 1"])
    assert page.evaluate("() => window.kept.isConnected")
    page.locator("#q").fill("")
    expect(titles).to_have_count(PAGE_ROWS)
    expect(titles.first).to_have_text("one more door")
    write(many, "last", "the very last", 3_000_000)
    expect(titles.first).to_have_text("the very last")
    expect(titles).to_have_count(PAGE_ROWS)


def test_what_does_not_fit_is_on_the_next_page(serve: Serve, many: Path, page: Page) -> None:
    page.goto(serve(many).url())
    titles = page.locator("#sessions .title")
    page.get_by_role("link", name="Next").click()
    shown = ["the greeting 4", "the greeting 3", "the door 2", "the door 1", "the door 0"]
    expect(titles).to_have_text(shown)
    expect(page.locator("#pager")).to_contain_text("Page 2 of 2")
    write(many, "new", "brand new", 1_000_000)
    expect(titles).to_have_text(["the greeting 5", *shown])
    page.get_by_role("link", name="Previous").click()
    expect(titles.first).to_have_text("brand new")


def test_sessions_are_found_without_scripts(serve: Serve, many: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(serve(many).url())
    page.locator("#choices").get_by_role("link", name="Duration").click()
    page.get_by_role("searchbox").fill("door")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("#sessions > li")).to_have_count(3)
    expect(page).to_have_url(re.compile(r"\?q=door&sort=duration$"))
    context.close()


def test_a_session_opens_in_the_view_that_was_left(serve: Serve, folder: Path, page: Page) -> None:
    write(folder, "one", "the one", 0)
    write(folder, "other", "the other", 1000)
    server = serve(folder)
    page.goto(server.url())
    link = page.get_by_role("link", name="the one")
    link.click()
    transcript = re.compile(r"/s/\w+$")
    expect(page).to_have_url(transcript)
    page.get_by_role("link", name="Raw").click()
    page.wait_for_load_state("domcontentloaded")
    expect(page.locator(".lines")).to_be_visible()
    here = page.url.removesuffix("/raw")
    page.goto(server.url())
    link.click()
    expect(page).to_have_url(f"{here}/raw")
    page.goto(server.url())
    link.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{here}/raw")
    page.goto(f"{here}#c1")
    expect(page.locator("#c1")).to_be_visible()
    page.goto(server.url())
    link.click()
    expect(page).to_have_url(here)
    page.get_by_role("link", name="Raw").click()
    page.goto(server.url())
    page.get_by_role("link", name="the other").click()
    expect(page).to_have_url(transcript)
    page.goto(here)
    expect(page.locator("#c1")).to_be_visible()


def test_sessions_are_read_while_one_looks(serve: Serve, folder: Path, page: Page) -> None:
    for number in range(4):
        write(folder, f"s{number}", f"task {number}", number * 1000, fill=5 * MIB)
    page.goto(serve(folder).url())
    rows = page.locator("#sessions > li")
    expect(rows).to_have_count(4)
    expect(rows.locator(".turns")).to_have_text(["1 turn"] * 4)
    expect(page.locator("#listed")).to_have_text("4 sessions")
    expect(rows.locator(".size.large")).to_have_text(["5.2 MB"] * 4)
    expect(rows.locator(".wall").first).to_have_text("1 m 00 s")


def test_a_list_says_when_it_is_cut_off(
    serve: Serve, folder: Path, page: Page, proxy: Proxy
) -> None:
    write(folder, "one", "the first", 0)
    server = serve(folder, arguments=["--port", "0", "--allow-host", f"127.0.0.1:{proxy.port}"])
    proxy.target = server.port
    page.goto(server.url(port=proxy.port))
    expect(page.locator("#sessions > li")).to_have_count(1)
    proxy.cut()
    expect(page.locator("[data-live-note]")).to_have_text("Connection lost; trying again…")
    write(folder, "two", "the second", 1000)
    proxy.mend()
    expect(page.locator("#sessions > li")).to_have_count(2, timeout=20_000)
    expect(page.locator("[data-live-note]")).to_be_hidden()


@pytest.fixture
def every_state(folder: Path) -> Path:
    write(folder, "finished", "a task that was done", 4000)
    write(folder, "failed", "a task that failed", 3000, end="no key")
    write(folder, "cut", "a task that was cut off", 2000, end=None)
    write(folder, "large", "a task with much to show", 1000, fill=6 * MIB)
    return folder


def test_nothing_keeps_anybody_from_using_the_list(
    serve: Serve, every_state: Path, browser: Browser
) -> None:
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    server = serve(every_state)

    def assert_usable() -> None:
        for width, scheme in LOOKS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert (width, scheme, violations(page)) == (width, scheme, [])
            assert page.evaluate("() => document.documentElement.scrollWidth") == width

    with Recorder.open(every_state / "live.jsonl", fsync="never") as recorder:
        recorder.append(Event(kind=EventKind.TURN_STARTED, text="a task that goes on"))
        recorder.save()
        page.goto(server.url())
        expect(page.locator("#sessions .pill.live")).to_have_count(1)
        assert_usable()
        # However a row looks that was not read yet: its turn comes too soon to see it here.
        page.evaluate(
            """() => {
              const row = document.querySelector("#sessions > li");
              row.classList.add("unread");
              row.querySelector(".pill").className = "pill unread";
            }"""
        )
        assert_usable()
        page.locator("#q").fill("nothing like it")
        expect(page.locator("#empty")).to_be_visible()
        assert_usable()
    context.close()

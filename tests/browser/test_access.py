"""Whoever reads a session can: with a screen reader, zoomed in, on paper, anywhere on earth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from presentview import Recorder
from presentview.records import Kind, Record, Tool, encode
from tests.browser.conftest import Server, page_of, settled
from tests.browser.watching import assert_upright, open_everything, violations
from tests.random_session import random_events
from tests.sidecars import write_session

DAY = 86_400_000
START = 1_760_000_400_000  # 2025-10-09, 09:00 UTC

LONG = "x" * 300
WIDE = f"| a | b |\n|---|---|\n| {LONG} | {LONG} |\n\n```python\nx = '{LONG}'\n```\n"

Browse = Callable[..., Page]


@pytest.fixture
def browse(browser: Browser) -> Iterator[Browse]:
    """Pages of contexts of their own: `browse(color_scheme="dark", …)`."""
    contexts = []

    def start(width: int = 1440, **options: object) -> Page:
        viewport = {"width": width, "height": 900}
        context = browser.new_context(viewport=viewport, **options)  # type: ignore[arg-type]
        contexts.append(context)
        return context.new_page()

    yield start
    for context in contexts:
        context.close()


@pytest.fixture
def of_all_kinds(folder: Path) -> Path:
    """Cards of all kinds in all states, and the files that a list or a find may show."""
    session = folder / "s.jsonl"
    with Recorder.open(session, fsync="never") as recorder:
        for event in random_events(11, 60):
            recorder.append(event)
    records = [
        Record(kind=Kind.MESSAGE, text=WIDE),
        Record(kind=Kind.TURN_STARTED, text="the last prompt", at=START),
        Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="a", name="task", args='{"prompt":"go"}')),
        Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="a/b", name="bash")),
        Record(kind=Kind.TOOL_RESULT, tool=Tool(id="a/b", output=LONG, err=LONG)),
        *(
            Record(kind=kind, tool=Tool(id=f"r{n}", name="read_file", read_only=True, output="o"))
            for n in range(3)
            for kind in (Kind.TOOL_DISPATCH, Kind.TOOL_RESULT)
        ),
    ]
    with open(session.with_suffix(".present.jsonl"), "ab") as file:
        file.write(b"".join(encode(record) + b"\n" for record in records))
    return session


MOST_UNLIKE = ((1440, "light"), (390, "dark"))


def assert_usable(page: Page, name: str, looks: Sequence[tuple[int, str]] = MOST_UNLIKE) -> None:
    """By axe-core, on a desk and on a phone, light and dark; and no wider than those."""
    for width, scheme in looks:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert (name, width, scheme, violations(page)) == (name, width, scheme, [])
        assert_upright(page)


def test_nothing_keeps_anybody_from_using_a_session(
    server: Server, of_all_kinds: Path, browse: Browse
) -> None:
    page = browse(bypass_csp=True)
    here = page_of(of_all_kinds)
    root = server.url("").partition("?")[0]
    page.goto(root + here)
    expect(page.get_by_role("heading")).to_have_text("This browser is not signed in")
    assert_usable(page, "not signed in")
    page.goto(server.url(here))
    settled(page)
    last = page.locator("#cards .agent").last.get_attribute("id")
    page.evaluate("() => presentview.rows.goTo('c1')")
    open_everything(page)
    assert_usable(page, "everything opened")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    assert_usable(page, "the keys")
    pages = {
        "a filter": f"{here}?state=failed&depth=tools",
        "a turn": f"{here}?focus=t1",
        "a sub-agent": f"{here}?focus={last}",
        "nothing": f"{here}?focus=c99999",
        "raw": f"{here}/raw",
        "changes": f"{here}/changes",
        "a card": f"{here}/card/{last}",
        "finding": f"{here}/find?q=e",
        "no page": "/nowhere",
    }
    for name, path in pages.items():
        page.goto(root + path, wait_until="domcontentloaded")
        page.evaluate(
            "() => document.querySelectorAll('.lines details').forEach((l) => { l.open = true; })"
        )
        assert_usable(page, name)


def test_at_twice_the_size_nothing_is_cut_off(
    server: Server, of_all_kinds: Path, browse: Browse
) -> None:
    page = browse(720, device_scale_factor=2)
    for path in ("", "/changes", "/raw", "/find", ""):
        page.goto(server.url(page_of(of_all_kinds) + path))
        assert_upright(page)
    open_everything(page)
    assert_upright(page)


def test_on_paper_stands_what_was_opened_and_nothing_to_press(
    server: Server, of_all_kinds: Path, browse: Browse
) -> None:
    page = browse()
    page.goto(server.url(f"{page_of(of_all_kinds)}?all"))
    page.wait_for_selector("body[data-restored]")
    agent = page.locator("#cards .agent").last
    agent.locator("> details > summary").click()
    inner = agent.locator(".kids .card")
    expect(inner).to_have_count(1)
    agent.locator("> details > summary").click()
    expect(inner).to_be_hidden()
    expect(page.locator(".run").last).not_to_have_attribute("open", "")
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    expect(inner).to_be_visible()
    expect(page.locator(".run .card").last).to_be_visible()
    controls = ".rail, .view, .find, .tabs, .map, .new, .gap, .focus, button, select, input"
    for control in page.locator(controls).all():
        expect(control).to_be_hidden()
    assert page.get_by_text("Open this card").locator("visible=true").count() == 0
    assert page.evaluate("() => document.querySelector('.top').getBoundingClientRect().left") == 0
    page.emulate_media(media="screen")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    expect(inner).to_be_hidden()


MOVING = """() => document.getAnimations()
  .filter((one) => one.playState === "running" && one.effect.getTiming().duration > 0).length"""


def test_nothing_moves_for_who_does_not_want_that(
    server: Server, folder: Path, browse: Browse
) -> None:
    with Recorder.open(folder / "s.jsonl", fsync="never") as recorder:
        for event in random_events(3, 5):
            recorder.append(event)
        running = Tool(id="x", name="bash", args='{"command":"sleep 9"}')
        with open(folder / "s.present.jsonl", "ab") as file:
            file.write(encode(Record(kind=Kind.TOOL_DISPATCH, tool=running)) + b"\n")
        moving = {}
        for wish in ("no-preference", "reduce"):
            page = browse(reduced_motion=wish)
            page.goto(server.url(page_of(folder / "s.jsonl")))
            settled(page)
            expect(page.locator(".running .state", has_text="running").last).to_be_visible()
            moving[wish] = page.evaluate(MOVING) > 0
        assert moving == {"no-preference": True, "reduce": False}


def test_times_are_those_of_the_reader_and_say_so(
    server: Server, folder: Path, browse: Browse
) -> None:
    hours = (0, 1, 14, 16, 40)  # in Tokyo it is 18:00, 19:00, 08:00 and 10:00 the next day, …
    turns = [
        Record(kind=Kind.TURN_STARTED, text=f"{hour}", at=START + hour * DAY // 24)
        for hour in hours
    ]
    session = write_session(folder, turns)
    page = browse(timezone_id="Asia/Tokyo", locale="en-GB")
    page.goto(server.url(page_of(session)))
    settled(page)
    times = page.locator("#cards time")
    expect(times).to_have_text(
        [
            "9 Oct 2025, 18:00 GMT+9",
            "19:00 GMT+9",
            "10 Oct 2025, 08:00 GMT+9",
            "10:00 GMT+9",
            "11 Oct 2025, 10:00 GMT+9",
        ]
    )
    titles = [time.get_attribute("title") for time in times.all()]
    assert titles[0] == "2025-10-09T09:00:00.000Z"
    assert len(set(titles)) == len(hours)
    for other in page.locator("time").all():
        expect(other).to_contain_text("GMT+9")

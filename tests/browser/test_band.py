"""The band under the top bar in a browser: it leads to cards, is remembered, and goes along."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from presentview.records import Kind, Record, Tool, encode
from tests.browser.conftest import Server, open_session, page_of, settled
from tests.browser.watching import LOOKS, violations
from tests.sidecars import write_session, write_sidecar

START = 1_700_000_000_000


def call(
    name: str, at: int, ms: int, *inner: Record, tool: str = "bash", err: str = ""
) -> list[Record]:
    args = json.dumps({"description": f"agent {name}"} if tool == "task" else {"command": name})
    ended = Tool(id=name, output="out\n", err=err)
    return [
        Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id=name, name=tool, args=args), at=START + at),
        *inner,
        Record(kind=Kind.TOOL_RESULT, tool=ended, at=START + at + ms),
    ]


RECORDS = [
    Record(kind=Kind.TURN_STARTED, text="go", at=START),  # c1
    *(Record(kind=Kind.PHASE, text=f"phase {n}", at=START + n) for n in range(150)),  # c2-c151
    *call(
        "p",  # c152
        1_000,
        9_000,
        *call("p/a", 2_000, 2_000),  # c153
        *call("p/b", 5_000, 2_000, err="exit status 1"),  # c154
        tool="task",
    ),
    Record(kind=Kind.RETRYING, at=START + 15_000),  # c155
    *(Record(kind=Kind.PHASE, text=f"phase {n}", at=START + 15_000 + n) for n in range(100)),
    Record(kind=Kind.MESSAGE, text="the end", at=START + 20_000),
]


@pytest.fixture
def session(folder: Path) -> Path:
    return write_session(folder, RECORDS)


@pytest.fixture
def opened(server: Server, session: Path, page: Page) -> Page:
    return open_session(page, server, session)


def test_a_glyph_leads_to_its_card_wherever_it_is(opened: Page) -> None:
    page = opened
    page.get_by_role("link", name="Error: bash p/b").click()
    expect(page.locator("#c154 > details")).to_have_attribute("open", "")
    expect(page.locator("#c154")).to_be_in_viewport()


def test_a_name_shows_its_agent_alone_and_a_link_leads_back(opened: Page) -> None:
    page = opened
    page.get_by_role("link", name="Sub-agent agent p: 9.0 s, 2 steps, 1 error").click()
    settled(page)
    expect(page.locator("#cards > .sec > .card")).to_have_count(2)
    expect(page.locator("#band .lane")).to_have_count(2)
    page.get_by_role("navigation", name="Focus").get_by_role("link", name="Whole session").click()
    settled(page)
    expect(page.locator("#c152")).to_be_in_viewport()


def test_the_band_stays_as_it_was_left(opened: Page, server: Server, folder: Path) -> None:
    page = opened
    details = page.locator("#band > details")
    expect(details).to_have_attribute("open", "")
    details.locator("summary").click()
    expect(details).not_to_have_attribute("open", "")
    page.reload()
    settled(page)
    expect(details).not_to_have_attribute("open", "")
    details.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(details).to_have_attribute("open", "")
    write_sidecar(folder / "other.present.jsonl", [RECORDS[0], *call("x", 1_000, 4_000)])
    page.goto(server.url(page_of(folder / "other.jsonl")))
    settled(page)
    expect(details).to_have_attribute("open", "")


def test_the_band_of_a_session_without_sub_agents_is_one_line(
    server: Server, folder: Path, page: Page
) -> None:
    write_sidecar(folder / "s.present.jsonl", [RECORDS[0], *call("x", 1_000, 4_000)])
    page.goto(server.url(page_of(folder / "s.jsonl")))
    settled(page)
    box = page.locator("#band").bounding_box()
    assert box is not None
    assert box["height"] < 40
    expect(page.locator("#band .strip")).to_be_visible()


def test_the_band_goes_along_and_nothing_moves_below_it(opened: Page, session: Path) -> None:
    page = opened
    page.evaluate("() => presentview.open('c155')")
    settled(page)
    before = page.locator("#c155").bounding_box()
    sidecar = session.with_name("s.present.jsonl")
    more = call("q", 21_000, 5_000, *call("q/a", 22_000, 900), tool="task")
    with sidecar.open("ab") as file:
        file.write(b"".join(encode(record) + b"\n" for record in more))
    expect(page.locator("#band .lane")).to_have_count(3, timeout=20_000)
    assert page.locator("#c155").bounding_box() == before
    expect(page.locator("#tools li")).to_have_count(2)


def test_nothing_keeps_anybody_from_using_the_band(
    server: Server, session: Path, browser: Browser
) -> None:
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(server.url(page_of(session)))
    settled(page)
    expect(page.locator("#band .lane")).to_have_count(2)
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert (width, scheme, violations(page, "#band, #tools")) == (width, scheme, [])
        assert page.evaluate("() => document.documentElement.scrollWidth") == width
    context.close()


def test_the_band_can_be_read_without_scripts(
    server: Server, session: Path, browser: Browser
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.url(page_of(session)))
    expect(page.get_by_role("link", name="Sub-agent agent p")).to_be_visible()
    page.get_by_role("link", name="Sub-agent agent p").click()
    expect(page.locator("#c154")).to_be_visible()
    context.close()

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    expect,
)

from presentview import Recorder
from presentview.records import Kind, Record, Tool, encode
from tests.browser.conftest import Server, page_of
from tests.browser.watching import Watcher, open_everything
from tests.random_session import random_events
from tests.sidecars import write_session

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg=="
)


@pytest.fixture
def watcher(context: BrowserContext, server: Server) -> Watcher:
    return Watcher(context, server)


def record_random(session: Path, count: int = 250) -> None:
    (session.parent / "a.png").write_bytes(base64.b64decode(PIXEL))
    with Recorder.open(session, fsync="never") as recorder:
        for event in random_events(7, count):
            recorder.append(event)


NESTED = [
    Record(kind=Kind.TURN_STARTED, text="go"),
    Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="a", name="task", args='{"prompt":"do it"}')),
    Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="a/b", name="task", args='{"prompt":"you"}')),
    Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="a/b/c", name="bash", args='{"command":"ls"}')),
    Record(kind=Kind.TOOL_RESULT, tool=Tool(id="a/b/c", output="the innermost output\n")),
    Record(kind=Kind.TOOL_RESULT, tool=Tool(id="a/b", output="the inner output\n")),
    Record(kind=Kind.TOOL_RESULT, tool=Tool(id="a", output="the outer output\n")),
    Record(kind=Kind.TURN_DONE),
]


@pytest.fixture
def nested(folder: Path) -> Path:
    return write_session(folder, NESTED)


def test_no_page_complains_or_asks_another_host(
    server: Server, folder: Path, page: Page, watcher: Watcher
) -> None:
    session = folder / "s.jsonl"
    record_random(session)
    here = page_of(session)
    # Among all the sessions of other tests.
    page.goto(server.url(f"/?q={folder.parent.name}/{folder.name}"))
    expect(page.locator(f"a[href='{here}']")).to_be_visible()
    page.goto(server.url(here))
    open_everything(page)
    card = page.locator(".lazy").first.evaluate("element => element.closest('.card').id")
    for path in (f"{here}/raw", f"{here}/raw?line=200", f"{here}/card/{card}"):
        page.goto(server.url(path))
        expect(page.locator("main")).to_be_visible()
    assert "token" not in page.url
    watcher.assert_quiet()


def test_a_card_that_is_opened_fetches_its_body_once(
    server: Server, nested: Path, page: Page, watcher: Watcher
) -> None:
    page.goto(server.url(page_of(nested)))
    card = page.locator("#c2")
    for _ in range(3):
        card.locator("> details > summary").click()
    expect(card.locator("> details > .in")).to_contain_text("the outer output")
    for _ in range(3):
        card.locator("> details > summary").click()
    assert [url for url in watcher.addresses if "/body/" in url] == [
        f"http://{watcher.own}{page_of(nested)}/body/c2"
    ]
    watcher.assert_quiet()


@pytest.mark.parametrize("how", ["opened", "followed"])
def test_a_link_to_a_card_opens_what_hides_it(
    server: Server, nested: Path, page: Page, how: str
) -> None:
    address = server.url(page_of(nested))
    if how == "opened":
        page.goto(address)
        page.goto("about:blank")
        page.goto(f"{address.partition('?')[0]}#c4")
    else:
        page.goto(address)
        page.evaluate("() => { location.hash = '#c4'; }")
    body = page.locator("#c4 .out").first
    expect(body).to_have_text("the innermost output")
    expect(body).to_be_in_viewport()
    for card in ("c2", "c3", "c4"):
        expect(page.locator(f"#{card} > details")).to_have_attribute("open", "")


@pytest.fixture
def plain_page(browser: Browser) -> Iterator[Page]:
    """A page of a browser without JavaScript."""
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


def test_a_session_can_be_read_without_javascript(
    server: Server, nested: Path, plain_page: Page
) -> None:
    plain_page.goto(server.url(page_of(nested)))
    expect(plain_page.locator("#cards .card")).to_have_count(2)
    expect(plain_page.locator("#cards .prompt")).to_contain_text("go")
    plain_page.locator("#c2 > details > summary").click()
    plain_page.locator("#c2").get_by_role("link", name="1 step").click()
    for card in ("c3", "c4"):
        plain_page.locator(f"#{card} > details > summary").click()
    plain_page.locator("#c4").get_by_role("link", name="Open this card").click()
    expect(plain_page.locator(".in .out").first).to_have_text("the innermost output")
    plain_page.get_by_role("link", name="Transcript").click()
    expect(plain_page.locator("#cards .card")).to_have_count(2)
    plain_page.get_by_role("link", name="Raw").click()
    expect(plain_page.locator(".lines > li")).to_have_count(1 + len(NESTED))


def test_a_long_output_is_shown_in_steps(server: Server, folder: Path, page: Page) -> None:
    output = "".join(f"line {number} 😀\n" for number in range(40_000))
    call = Tool(id="a", name="bash", args='{"command":"yes"}')
    done = Tool(id="a", output=output)
    records = [Record(kind=Kind.TOOL_DISPATCH, tool=call), Record(kind=Kind.TOOL_RESULT, tool=done)]
    (folder / "s.present.jsonl").write_bytes(b"".join(encode(one) + b"\n" for one in records))
    page.goto(server.url(page_of(folder / "s.jsonl")))
    card = page.locator("#c1")
    card.locator("summary").first.click()
    more = card.locator(".more .step")
    expect(card.locator(".more")).to_contain_text(f"{len(output) - 65_536:,} more characters")
    more.click()
    expect(more).to_be_enabled()
    more.click()
    expect(more).to_have_count(0)
    shown = card.locator(".more .out").evaluate_all(
        "all => all.map((pre) => pre.textContent).join('')"
    )
    assert (shown == output[65_536:]) is True, "what is shown is not what was recorded"

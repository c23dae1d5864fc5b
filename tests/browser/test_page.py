from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    BrowserType,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    expect,
)

from presentview import Recorder
from presentview.records import Kind, Record, Tool, encode
from tests.browser.conftest import Server, page_of
from tests.browser.payloads import PAYLOADS, hostile_session
from tests.random_session import random_events

# Every element that our templates and renderers write.
_WRITTEN = """
a article aside bdi blockquote body br button caption circle code col colgroup dd del details
dialog div dl dt em form h1 h2 h3 h4 h5 h6 head header hr html i img input kbd label li link main
mark meta nav ol p path pre rect s script section small span strong summary sup svg symbol table
tbody td th thead time title tr ul use defs
"""
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg=="
)
_LISTEN = """() => addEventListener("securitypolicyviolation", (event) => {
  console.error("refused by the policy:", event.violatedDirective, event.blockedURI);
})"""


class Watcher:
    """Everything a browser complains of, and every host it asks."""

    def __init__(self, context: BrowserContext, server: Server) -> None:
        self.own = f"127.0.0.1:{server.port}"
        self.complaints: list[str] = []
        self.addresses: list[str] = []
        context.add_init_script(f"({_LISTEN})()")
        context.on("console", self._said)
        context.on("request", self._asked)
        context.on("dialog", self._dialog)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _asked(self, request: Request) -> None:
        self.addresses.append(request.url)

    def _dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def assert_quiet(self) -> None:
        assert self.complaints == []
        hosts = {urlsplit(url).netloc for url in self.addresses}
        assert hosts == {self.own}


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
    lines = [b'{"kind":"_header"}', *map(encode, NESTED)]
    (folder / "s.present.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return folder / "s.jsonl"


def open_everything(page: Page) -> None:
    """Open every card and wait until all bodies are there."""
    page.evaluate(
        """() => {
          for (const details of document.querySelectorAll("details")) details.open = true;
        }"""
    )
    page.wait_for_function(
        """() => !document.querySelector(".lazy > a[href*='/card/']:only-child")
                 && !document.querySelector(".htmx-request")""",
        timeout=60_000,
    )


def test_no_page_complains_or_asks_another_host(
    server: Server, folder: Path, page: Page, watcher: Watcher
) -> None:
    session = folder / "s.jsonl"
    record_random(session)
    here = page_of(session)
    page.goto(server.url("/"))
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
    expect(plain_page.locator("#cards > .card")).to_have_count(2)
    expect(plain_page.locator("#cards > .prompt")).to_contain_text("go")
    for card in ("c2", "c3", "c4"):
        plain_page.locator(f"#{card} > details > summary").click()
    plain_page.locator("#c4").get_by_role("link", name="Open this card").click()
    expect(plain_page.locator(".in .out").first).to_have_text("the innermost output")
    plain_page.get_by_role("link", name="Transcript").click()
    expect(plain_page.locator("#cards > .card")).to_have_count(2)
    plain_page.get_by_role("link", name="Raw").click()
    expect(plain_page.locator(".lines > li")).to_have_count(1 + len(NESTED))


# A session that wants more than to be read

_STRANGE = """(known) => {
  const strange = [];
  for (const element of document.querySelectorAll("*")) {
    if (!known.includes(element.localName)) strange.push(`<${element.localName}>`);
    for (const { name, value } of element.attributes) {
      const lazy = element.matches(".lazy > a");
      if (name.startsWith("on") || name === "style" || name === "srcdoc"
        || (/^(data-)?hx-/.test(name) && !lazy)) strange.push(`${name}=${value}`);
      if (["href", "src", "action", "xlink:href"].includes(name)
        && !/^(\\/(s\\/|static\\/|$)|#|\\?line=|https?:|mailto:)/.test(value)) {
        strange.push(`${name}=${value}`);
      }
    }
    if (element.matches(".card.kids, .card.in, .card.visually-hidden, .card:not([data-kind])")
      && !element.matches(".opened")) strange.push(`class=${element.className}`);
    if (element.localName === "script" && !element.src) strange.push("a script");
    if (element.localName === "img" && !element.getAttribute("src").startsWith("/s/")) {
      strange.push(element.outerHTML);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size !== ids.length) strange.push("an id twice");
  return [window.__xss, strange];
}"""


def assert_tame(page: Page) -> None:
    assert page.evaluate(_STRANGE, _WRITTEN.split()) == [None, []]


def test_a_hostile_session_is_only_text(
    server: Server, folder: Path, page: Page, watcher: Watcher
) -> None:
    session = folder / "s.jsonl"
    (folder / "s.present.jsonl").write_bytes(hostile_session())
    here = page_of(session)
    page.goto(server.url(here))
    expect(page.locator("#outline > li")).to_have_count(len(PAYLOADS))
    open_everything(page)
    assert_tame(page)
    page.mouse.move(300, 300)
    for path in ("/", f"{here}/raw", f"{here}/raw?line=900", f"{here}/card/c2"):
        page.goto(server.url(path))
        assert_tame(page)
    missing = [text for text in watcher.complaints if "404" not in text]
    assert missing == [], "only images that are not there may be missing"
    watcher.complaints.clear()
    watcher.assert_quiet()


def test_a_hostile_session_is_only_text_while_it_is_written_too(
    server: Server, folder: Path, page: Page, watcher: Watcher
) -> None:
    session = folder / "s.jsonl"
    sidecar = folder / "s.present.jsonl"
    lines = hostile_session().splitlines(keepends=True)
    sidecar.write_bytes(lines[0])
    page.goto(server.url(page_of(session)))
    for line in lines[1:250]:
        with open(sidecar, "ab") as file:
            file.write(line)
    expect(page.locator("#outline > li").nth(8)).to_be_attached()
    assert_tame(page)
    assert "a dialog" not in "".join(watcher.complaints)
    watcher.complaints.clear()
    watcher.assert_quiet()


# A name that is not ours


def test_a_foreign_name_for_this_machine_gets_nothing(
    server: Server,
    nested: Path,
    browser_type: BrowserType,
    browser_type_launch_args: dict[str, Any],
) -> None:
    arguments = [
        *browser_type_launch_args["args"],
        "--host-resolver-rules=MAP evil.test 127.0.0.1",
    ]
    browser = browser_type.launch(**{**browser_type_launch_args, "args": arguments})
    try:
        page = browser.new_page()
        for path in ("/", page_of(nested), "/static/live.js"):
            answer = page.goto(f"http://evil.test:{server.port}{path}?{server.token}")
            assert answer is not None
            assert answer.status == 400
            assert "the outer output" not in answer.text()
            assert "presentview" not in answer.text().replace("start it with", "")
            assert page.context.cookies() == []
    finally:
        browser.close()

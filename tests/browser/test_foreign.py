"""Pages of others, and a name of theirs that leads to this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, BrowserType, Response

from presentview.records import Kind, Record
from tests.browser.conftest import Server, page_of
from tests.sidecars import write_session

SECRET = "what only its owner may read"
PATHS = ("", ".json", "/raw", "/changes", "/file", "/cards", "/body/c1", "/text/c1", "/since/none")


class _Page(BaseHTTPRequestHandler):
    """A page of somebody else."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>theirs</title>")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def their_port() -> Iterator[int]:
    theirs = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=theirs.serve_forever)
    thread.start()
    yield theirs.server_address[1]
    theirs.shutdown()
    theirs.server_close()
    thread.join()


@pytest.fixture
def session(folder: Path) -> Path:
    return write_session(folder, [Record(Kind.MESSAGE, text=SECRET)])


@pytest.fixture(scope="module")
def misled(
    browser_type: BrowserType, browser_type_launch_args: dict[str, Any]
) -> Iterator[Browser]:
    """A browser for which a name of others leads to this machine."""
    arguments = [
        *browser_type_launch_args["args"],
        "--host-resolver-rules=MAP evil.test 127.0.0.1",
    ]
    browser = browser_type.launch(**{**browser_type_launch_args, "args": arguments})
    yield browser
    browser.close()


@pytest.fixture
def signed_in(misled: Browser, server: Server, session: Path) -> Iterator[BrowserContext]:
    """A context in which this browser has signed in under the server's own name."""
    context = misled.new_context()
    page = context.new_page()
    page.goto(server.url(page_of(session)))
    assert SECRET in page.content()
    page.close()
    yield context
    context.close()


def test_a_foreign_name_for_this_machine_gets_nothing(
    server: Server, session: Path, signed_in: BrowserContext
) -> None:
    page = signed_in.new_page()
    known = signed_in.cookies()
    paths = ["/", "/events?list=1", "/static/live.js", *(page_of(session) + end for end in PATHS)]
    for path in paths:
        separator = "&" if "?" in path else "?"
        answer = page.goto(f"http://evil.test:{server.port}{path}{separator}{server.token}")
        assert answer is not None
        assert answer.status == 400
        shown = page.locator("body").inner_text()
        assert f"evil.test:{server.port}" in shown, "it says what was asked for"
        assert "--allow-host" in shown, "and what to do about it"
        assert SECRET not in answer.text()
        assert "set-cookie" not in answer.headers
    assert signed_in.cookies() == known


# Each way in which a page can ask another origin, and what it can tell of the answer.
_ASK = """async (url) => {
  const told = {};
  const read = async (name, options) => {
    try {
      const answer = await fetch(url, options);
      told[name] = (await answer.text()) + answer.status;
    } catch (error) { told[name] = error.name; }
  };
  await read("cors", { credentials: "include" });
  await read("no-cors", { credentials: "include", mode: "no-cors" });
  await read("bearer", { headers: { Authorization: "Bearer x" } });
  await read("post", { method: "POST", credentials: "include", mode: "no-cors", body: "x" });
  const loads = (name, element) => new Promise((done) => {
    element.onload = () => { told[name] = "loaded"; done(); };
    element.onerror = () => { told[name] = "failed"; done(); };
    element.src = url;
    document.head.append(element);
  });
  await loads("img", new Image());
  await loads("script", document.createElement("script"));
  const frame = document.createElement("iframe");
  frame.src = url;
  await new Promise((done) => { frame.onload = done; document.body.append(frame); });
  told.frame = frame.contentDocument?.body.innerText ?? "closed";
  told.events = await new Promise((done) => {
    const source = new EventSource(url, { withCredentials: true });
    source.onmessage = (event) => done(event.data);
    source.onerror = () => { source.close(); done("failed"); };
  });
  return told;
}"""


@pytest.mark.parametrize("host", ["evil.test", "127.0.0.1"])
def test_a_page_of_another_origin_learns_nothing(
    server: Server, session: Path, signed_in: BrowserContext, their_port: int, host: str
) -> None:
    page = signed_in.new_page()
    page.goto(f"http://{host}:{their_port}/")
    answers: list[Response] = []

    def answered(answer: Response) -> None:
        answers.append(answer)

    page.on("response", answered)
    here = page_of(session)
    events = f"/events?s={here.rpartition('/')[2]}"
    for asked in (here, f"{here}.json", f"{here}/text/c1", events):
        told = page.evaluate(_ASK, f"http://127.0.0.1:{server.port}{asked}")
        assert told.pop("no-cors") in ("0", "TypeError"), "an answer that cannot be looked into"
        assert told.pop("post") in ("0", "TypeError")
        assert told.pop("frame") == "closed"
        assert set(told.values()) <= {"TypeError", "failed"}
    refused = {answer.status for answer in answers if f":{server.port}/" in answer.url}
    assert refused
    assert refused <= {400, 401, 403, 405}
    page.close()

"""A real server, a real Chromium, and a connection between them that can be cut."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page

from presentview.sessions import session_id

ROOT = Path(__file__).resolve().parents[2]
WAIT_SECONDS = 60


class Server:
    """A running `presentview serve`."""

    def __init__(self, arguments: Sequence[str], state: Path) -> None:
        self.arguments = arguments
        self.state = state
        self.folder = Path()
        self.process: subprocess.Popen[str] | None = None
        self.address = ""
        self.start()

    def start(self) -> None:
        """Start, and wait until the address is printed."""
        command = [sys.executable, "-m", "presentview", "serve", "--no-open", *self.arguments]
        environment = {**os.environ, "PRESENTVIEW_STATE": os.fspath(self.state)}
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), "the server did not start"

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port is not None
        return port

    @property
    def token(self) -> str:
        return urlsplit(self.address).query

    def url(self, path: str = "/", *, port: int | None = None) -> str:
        """The address of a page, which may have a query, with the token that signs in."""
        separator = "&" if "?" in path else "?"
        return f"http://127.0.0.1:{port or self.port}{path}{separator}{self.token}"

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """End the server and return its exit code."""
        process, self.process = self.process, None
        if process is None:
            return 0
        process.send_signal(number)
        process.communicate(timeout=WAIT_SECONDS)
        return process.returncode


Serve = Callable[..., Server]


def _started(state: Path, paths: Sequence[Path], arguments: Sequence[str]) -> Server:
    state.chmod(0o700)
    return Server([*arguments, *map(os.fspath, paths)], state)


@pytest.fixture
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Start servers of one's own: `serve(path, …, arguments=[…])`."""
    with contextlib.ExitStack() as stack:

        def start(*paths: Path, arguments: Sequence[str] = ("--port", "0")) -> Server:
            server = _started(tmp_path_factory.mktemp("state"), paths, arguments)
            stack.callback(server.end)
            return server

        yield start


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests, which shows whatever lies in any `folder`."""
    top = tmp_path_factory.mktemp("shared")
    server = _started(tmp_path_factory.mktemp("state"), [top], ["--port", "0"])
    server.folder = top.resolve()
    yield server
    server.end()


@pytest.fixture(autouse=True)
def no_script_fails(context: BrowserContext) -> Iterator[None]:
    """Scripts that raise are faults, whatever the page looks like."""
    raised: list[str] = []
    context.on("weberror", lambda error: raised.append(str(error.error.stack or error.error)))
    yield
    assert raised == []


@pytest.fixture
def folder(server: Server) -> Path:
    """A folder for sessions."""
    folder = server.folder / f"{len(os.listdir(server.folder))}"
    folder.mkdir()
    return folder


class Proxy:
    """Hands connections on to a server, until it drops them all and takes no more."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.target = 0
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._up = True
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Drop every connection, and from now on each new one."""
        with self._lock:
            self._up = False
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Take connections again."""
        with self._lock:
            self._up = True

    def close(self) -> None:
        self.cut()
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            server = socket.create_connection(("127.0.0.1", self.target))
            with server:
                with self._lock:
                    if not self._up:
                        return
                    self._open |= {client, server}
                try:
                    _pass_on(client, server)
                finally:
                    with self._lock:
                        self._open -= {client, server}


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with selectors.DefaultSelector() as ready:
        ready.register(one, selectors.EVENT_READ, other)
        ready.register(other, selectors.EVENT_READ, one)
        while True:
            for key, _ in ready.select():
                assert isinstance(key.fileobj, socket.socket)
                data = key.fileobj.recv(65536)
                if not data:
                    return
                key.data.sendall(data)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    proxy = Proxy()
    yield proxy
    proxy.close()


# What a page shows

_FRAME = """() => {
  const shown = {};
  for (const id of ["head", "problems", "vitals"]) {
    shown[id] = document.getElementById(id).outerHTML;
  }
  return shown;
}"""

# The cards that are in the page now: what each stands in, and its HTML alone, without what
# scripts may change in a card.
_CARDS = """() => [...document.querySelectorAll("#cards .card")].map((card) => {
  const outer = card.parentElement.closest(".card");
  const copy = card.cloneNode(true);
  for (const kids of copy.querySelectorAll(".kids")) kids.replaceChildren();
  for (const part of [copy, ...copy.querySelectorAll("[open]")]) part.removeAttribute("open");
  for (const clock of copy.querySelectorAll("[data-clock]")) clock.replaceChildren();
  return [card.id, outer?.id ?? "", copy.outerHTML];
})"""

# Where the sections begin for this page, and where for one that is opened now.
_BEGINNINGS = """async () => {
  const answer = await presentview.ask("cards", { at: "" });
  let number = 0;
  const now = answer.table.split(" ").filter(Boolean)
    .map((pair) => `c${number += Number(pair.split(",")[0])}`);
  return [...presentview.rows.beginnings(), ...now];
}"""


class Shown(NamedTuple):
    """What a page shows: the HTML of what stands around the cards, by id; and of each card, in
    page order, with the id of the card it is nested in.
    """

    frame: dict[str, str]
    cards: dict[str, tuple[str, str]]


def settled(page: Page) -> None:
    """Wait until the page is back in its place and has fetched what belongs there."""
    page.wait_for_selector("body[data-restored]")
    page.wait_for_function(
        "() => presentview.rows.ready && !document.querySelector('.htmx-request')"
    )


def shown(page: Page) -> Shown:
    """What a page shows, section by section, without what its scripts may change."""
    settled(page)
    cards: dict[str, tuple[str, str]] = {}
    for first in page.evaluate(_BEGINNINGS):
        page.evaluate("id => presentview.rows.goTo(id)", first)
        settled(page)
        for card, outer, html in page.evaluate(_CARDS):
            assert cards.setdefault(card, (outer, html)) == (outer, html)
    return Shown(page.evaluate(_FRAME), cards)


def assert_same(live: Shown, opened: Shown) -> None:
    """The same cards in the same places with the same HTML. Which nested ones are in the page
    depends on what was opened: those of a page that was just opened are all in one that was
    there the whole time.
    """
    assert live.frame.keys() == opened.frame.keys()
    for name, html in opened.frame.items():
        assert live.frame[name].split("\n") == html.split("\n")
    tops = [[card for card, (outer, _) in one.cards.items() if not outer] for one in (live, opened)]
    assert tops[0] == tops[1]
    for card, of_card in opened.cards.items():
        assert live.cards[card] == of_card


def shown_anew(context: BrowserContext, page: Page) -> Shown:
    """What another tab shows that opens the same address now."""
    tab = context.new_page()
    tab.goto(page.url)
    found = shown(tab)
    tab.close()
    return found


def open_session(page: Page, server: Server, session: Path, *, height: int = 700) -> Page:
    """Show a session in a window of this height."""
    page.set_default_timeout(15_000)
    page.set_viewport_size({"width": 1200, "height": height})
    page.goto(server.url(page_of(session)))
    settled(page)
    return page


def page_of(session: Path) -> str:
    """The path of the page of a session."""
    return f"/s/{session_id(session)}"


def position_now(page: Page) -> str:
    """The position of a page that is opened now: the server looks at the file for it."""
    address = page.url.partition("#")[0].partition("?")[0]
    answer: dict[str, Any] = page.request.get(f"{address}/since/none").json()
    return str(answer["pos"])


def wait_for_position(page: Page, position: str | None = None) -> None:
    """Wait until a live page shows everything that is in the file now."""
    page.wait_for_function(
        "position => document.body.dataset.position === position",
        arg=position or position_now(page),
        timeout=WAIT_SECONDS * 1000,
    )

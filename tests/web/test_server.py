from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from presentview import limits
from presentview.errors import ConfigError
from presentview.web.server import bind, serve

ROOT = Path(__file__).resolve().parents[2]
WAIT_SECONDS = 30

# The kinds of stream an app may hold open: one that sse-starlette ends, one that the app ends when
# it is told to, and one that nobody ends.
SCRIPT = """
import asyncio, json, sys
from pathlib import Path
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from presentview.web.server import serve

def make(policy):
    over = asyncio.Event()

    async def page(request):
        return PlainTextResponse("a page at " + policy.url)

    async def until_cancelled():
        yield {"data": "here"}
        await asyncio.Event().wait()

    async def until_told():
        yield b"data: here\\n\\n"
        await over.wait()
        yield b"data: goodbye\\n\\n"

    async def for_ever():
        yield b"data: here\\n\\n"
        await asyncio.Event().wait()

    async def events(request):
        return EventSourceResponse(until_cancelled())

    async def polite(request):
        return StreamingResponse(until_told(), media_type="text/event-stream")

    async def stubborn(request):
        return StreamingResponse(for_ever(), media_type="text/event-stream")

    async def broken(request):
        raise ZeroDivisionError("said in the log")

    paths = {"/page": page, "/events": events, "/polite": polite, "/stubborn": stubborn,
             "/broken": broken}
    app = Starlette(routes=[Route(path, endpoint) for path, endpoint in paths.items()])
    app.state.begin_shutdown = over.set
    return app

options = json.loads(sys.argv[1])
sys.exit(serve(make, state=Path(sys.argv[2]), **options))
"""


class Running:
    """One server process, and what a client needs to talk to it."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self.host, self.port = parts.hostname, parts.port
        self.sign_in = f"{parts.path}?{parts.query}"

    @contextmanager
    def connect(self, path: str, **headers: str) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=WAIT_SECONDS)
        with closing(connection):
            connection.request("GET", path, headers=headers)
            with connection.getresponse() as response:
                yield response

    def get(self, path: str, **headers: str) -> tuple[int, str, http.client.HTTPMessage]:
        with self.connect(path, **headers) as response:
            return response.status, response.read().decode(), response.headers

    def cookie(self) -> str:
        status, body, headers = self.get(self.sign_in)
        assert (status, body, headers["Location"]) == (303, "", "/page")
        return str(headers["Set-Cookie"]).partition(";")[0]

    def end(self, number: signal.Signals) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WAIT_SECONDS)
        return self.process.returncode, out, err


Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    script = tmp_path / "small_app.py"
    script.write_text(SCRIPT)
    processes: list[subprocess.Popen[str]] = []

    def begin(options: str = '{"port": 0, "path": "/page"}') -> Running:
        process = subprocess.Popen(
            [sys.executable, str(script), options, str(tmp_path / "state")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.endswith("\n"), process.communicate(timeout=WAIT_SECONDS)
        return Running(process, line.rstrip("\n"))

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def free_port() -> int:
    with bind("127.0.0.1", 0) as listener:
        return int(listener.getsockname()[1])


def test_the_printed_address_signs_in_and_the_cookie_opens_the_pages(start: Start) -> None:
    server = start()
    assert server.get("/page")[0] == 401
    status, body, headers = server.get("/page", Cookie=server.cookie())
    assert (status, body) == (200, f"a page at http://127.0.0.1:{server.port}")
    assert "Server" not in headers


def test_a_script_may_use_the_printed_token_as_bearer(start: Start) -> None:
    server = start()
    token = server.sign_in.partition("token=")[2]
    assert server.get("/page", Authorization=f"Bearer {token}")[0] == 200


def test_a_cookie_outlives_a_restart_but_not_a_new_token(start: Start) -> None:
    port = free_port()
    options = f'{{"port": {port}, "path": "/page"}}'
    first = start(options)
    cookie = first.cookie()
    assert first.end(signal.SIGINT)[0] == 0

    second = start(options)
    assert second.url == first.url
    assert second.get("/page", Cookie=cookie)[0] == 200
    assert second.end(signal.SIGTERM)[0] == 0

    third = start(options.replace("}", ', "new_token": true}'))
    assert third.get("/page", Cookie=cookie)[0] == 401
    assert third.get(first.sign_in)[0] == 401
    assert third.get("/page", Cookie=third.cookie())[0] == 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("path", ["/events", "/polite", "/stubborn"])
def test_a_server_with_open_streams_ends_quietly(
    start: Start, path: str, number: signal.Signals
) -> None:
    server = start()
    cookie = server.cookie()
    with ExitStack() as stack:
        streams = [stack.enter_context(server.connect(path, Cookie=cookie)) for _ in range(3)]
        for stream in streams:
            assert stream.readline().rstrip() == b"data: here"
        code, out, err = server.end(number)
    assert (code, out, err) == (0, "", "")


def test_the_app_itself_ends_quietly_with_eight_streams_open(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    process = subprocess.Popen(
        [sys.executable, "-m", "presentview", "serve", "--no-open", "--port", "0", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PRESENTVIEW_STATE": str(state)},
    )
    with process, ExitStack() as stack:
        stack.callback(process.kill)
        assert process.stdout is not None
        server = Running(process, process.stdout.readline().rstrip("\n"))
        bearer = f"Bearer {server.sign_in.partition('token=')[2]}"
        for _ in range(8):
            path = "/events?list=1"
            stream = stack.enter_context(server.connect(path, Authorization=bearer))
            assert stream.readline().startswith(b"id: ")
        assert server.end(signal.SIGINT) == (0, "", "")


def test_a_stream_can_say_goodbye(start: Start) -> None:
    server = start()
    with server.connect("/polite", Cookie=server.cookie()) as stream:
        assert stream.readline() == b"data: here\n"
        server.process.send_signal(signal.SIGINT)
        assert stream.read() == b"\ndata: goodbye\n\n"


def test_an_error_in_the_app_is_still_in_the_log(start: Start) -> None:
    server = start()
    assert server.get("/broken", Cookie=server.cookie())[0] == 500
    code, _, err = server.end(signal.SIGINT)
    assert code == 0
    assert "ZeroDivisionError: said in the log" in err
    assert server.sign_in.partition("token=")[2] not in err


def raw_status(server: Running, request: bytes) -> bytes:
    with socket.create_connection((server.host, server.port), timeout=WAIT_SECONDS) as link:
        link.sendall(request)
        received = b""
        while chunk := link.recv(65536):
            received += chunk
    return received.partition(b"\r\n")[0].split(b" ")[1]


def test_requests_no_browser_sends_are_refused_on_the_wire(start: Start) -> None:
    server = start()
    own = f"Host: 127.0.0.1:{server.port}\r\n".encode()
    close = b"Connection: close\r\n\r\n"
    cookie = b"Cookie: " + server.cookie().encode() + b"\r\n"
    page = b"GET /page HTTP/1.1\r\n" + cookie
    assert raw_status(server, page + own + close) == b"200"
    assert raw_status(server, page + own + b"Host: evil.test\r\n" + close) == b"400"
    assert raw_status(server, page + own + own + close) == b"400"
    assert raw_status(server, page + b"Host: evil.test\r\n" + close) == b"400"
    assert raw_status(server, page + close) == b"400"
    assert raw_status(server, page.replace(b"1.1", b"1.0") + close) == b"400"
    assert raw_status(server, page.replace(b"/page", b"http://evil.test/page") + own + close) == (
        b"400"
    )
    big = b"X-Big: " + b"a" * limits.HEADER_BYTES + b"\r\n"
    assert raw_status(server, page + own + big + close) == b"431"


def test_a_websocket_handshake_gets_no_websocket(start: Start) -> None:
    server = start()
    handshake = (
        f"GET /page HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: Upgrade, close\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    assert raw_status(server, handshake.encode()) == b"401"


def test_a_name_other_machines_use_is_printed_with_its_port(start: Start) -> None:
    options = '{"port": 0, "host": "0.0.0.0", "allowed_hosts": ["localhost"], "path": "/page"}'
    server = start(options)
    assert server.host == "localhost"
    assert server.get("/page", Cookie=server.cookie())[0] == 200


def test_without_a_token_none_is_printed(start: Start) -> None:
    server = start('{"port": 0, "token": false, "path": "/page"}')
    assert server.url == f"http://127.0.0.1:{server.port}/page"
    assert server.get("/page")[0] == 200


def never(*_: object) -> Any:
    raise AssertionError


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(tmp_path: Path) -> None:
    with bind("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} is taken"):
            serve(never, port=port, state=tmp_path, new_token=True)
    assert not list(tmp_path.iterdir())


def test_without_a_port_the_next_free_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with bind("127.0.0.1", 0) as first:
        taken = first.getsockname()[1]
        monkeypatch.setattr(limits, "DEFAULT_PORT", taken)
        with bind("127.0.0.1", None) as second:
            assert taken < second.getsockname()[1] < taken + 20


def test_when_every_port_is_taken_the_options_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with bind("127.0.0.1", 0) as first:
        monkeypatch.setattr(limits, "DEFAULT_PORT", first.getsockname()[1])
        monkeypatch.setattr("presentview.web.server._PORTS_TRIED", 1)
        with pytest.raises(ConfigError, match="--port 0"):
            bind("127.0.0.1", None)


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(ConfigError, match="no address of this machine"):
        bind("192.0.2.1", 0)


def test_a_name_without_an_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(ConfigError, match="no address of this machine"):
        bind("nowhere.invalid", 0)


def test_settings_that_cannot_work_fail_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--allow-host"):
        serve(never, host="0.0.0.0", port=0, state=tmp_path / "state")
    assert not list(tmp_path.iterdir())


def test_the_browser_is_opened_only_when_asked_and_may_be_missing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)  # so that reading waits for the browser
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > "{told}"\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    server = start('{"port": 0, "open_browser": true}')
    assert told.read_text() == server.url
    assert server.end(signal.SIGINT)[0] == 0

    monkeypatch.setenv("BROWSER", "/nowhere/browser %s")
    missing = start('{"port": 0, "open_browser": true, "path": "/page"}')
    assert missing.get("/page", Cookie=missing.cookie())[0] == 200

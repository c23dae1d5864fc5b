"""More clients than there is room for, and clients that do not read."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from presentview import limits
from presentview.records import Kind, Record, encode
from presentview.sessions import session_id
from tests.browser.conftest import Server, _started
from tests.sidecars import write_sidecar

WAIT_SECONDS = 60
MIB = 1024 * 1024


class Client:
    """A connection that asks one thing and reads no more than it is told to."""

    def __init__(self, server: Server, path: str, *, buffer: int = 0) -> None:
        self.socket = socket.socket()
        self.socket.settimeout(WAIT_SECONDS)
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.connect(("127.0.0.1", server.port))
        token = server.token.partition("=")[2]
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            f"Authorization: Bearer {token}",
        ]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.seen = b""

    def read_until(self, mark: bytes) -> bytes:
        """Everything up to and with the mark."""
        while mark not in self.seen:
            more = self.socket.recv(65536)
            assert more, self.seen[:500]
            self.seen += more
        found, _, self.seen = self.seen.partition(mark)
        return found + mark

    def status(self) -> int:
        """The status of the answer, once its headers are here."""
        return int(self.read_until(b"\r\n\r\n").split()[1])

    def drop(self) -> None:
        """Vanish without a word."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def until(come: Callable[[], bool], what: str) -> None:
    """Ask the server, which takes its time, until something is so."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not come():
        assert time.monotonic() < deadline, what


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "state").mkdir()
    (tmp_path / "sessions").mkdir()
    small = tmp_path / "sessions" / "small.present.jsonl"
    write_sidecar(small, [Record(Kind.MESSAGE, text="short")])
    with open(tmp_path / "sessions" / "large.present.jsonl", "wb") as file:
        file.writelines([encode(Record(Kind.MESSAGE, text="x" * MIB)) + b"\n"] * 64)
    server = _started(tmp_path / "state", [tmp_path / "sessions"], ["--port", "0"])
    server.folder = (tmp_path / "sessions").resolve()
    yield server
    server.end()


def page(server: Server, name: str) -> str:
    return f"/s/{session_id(server.folder / f'{name}.jsonl')}"


def answers(server: Server, path: str) -> int:
    client = Client(server, path)
    try:
        return client.status()
    finally:
        client.socket.close()


class Process:
    """What the system says of the server."""

    def __init__(self, server: Server) -> None:
        assert server.process is not None
        self._folder = f"/proc/{server.process.pid}"
        if not os.path.isdir(f"{self._folder}/fd"):
            pytest.skip("this system does not tell")

    def files(self) -> int:
        return len(os.listdir(f"{self._folder}/fd"))

    def threads(self) -> int:
        return len(os.listdir(f"{self._folder}/task"))

    def memory(self) -> int:
        """Bytes that are in memory."""
        with open(f"{self._folder}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def stream(server: Server) -> Client:
    """A stream that has begun."""
    client = Client(server, "/events?list=1")
    assert client.status() == 200
    client.read_until(b"data: ")
    return client


def test_one_stream_too_many_is_refused_with_the_reason_and_a_place_is_free_again_soon(
    server: Server,
) -> None:
    with ExitStack() as stack:
        streams = [stream(server) for _ in range(limits.STREAMS)]
        for one in streams:
            stack.callback(one.socket.close)
        extra = Client(server, "/events?list=1")
        head = extra.read_until(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nretry-after: 10\r\n" in head.lower()
        extra.read_until(b"32 event streams are open already; close a tab and try again")
        extra.socket.close()
        assert answers(server, page(server, "small")) == 200, "pages are there all the same"
        streams.pop().drop()
        until(lambda: answers(server, "/events?list=1") == 200, "its place becomes free")


def test_two_hundred_clients_that_read_nothing_take_nothing_from_the_others(
    server: Server,
) -> None:
    process = Process(server)
    assert answers(server, page(server, "small")) == 200
    assert answers(server, f"{page(server, 'large')}/file") == 200
    until(lambda: answers(server, "/") == 200, "it answers")
    files, memory = process.files(), process.memory()
    slow = [Client(server, f"{page(server, 'large')}/file", buffer=4096) for _ in range(200)]
    try:
        for one in slow:
            assert one.status() == 200
        assert answers(server, page(server, "small")) == 200
        assert answers(server, f"{page(server, 'small')}/raw") == 200
        stream(server).socket.close()
        assert process.memory() - memory < 100 * MIB
    finally:
        for one in slow:
            one.drop()
    until(lambda: process.files() <= files + 2, "their files and sockets are closed")


def test_a_thousand_connections_leave_nothing_behind(server: Server) -> None:
    process = Process(server)
    paths = [page(server, "small"), "/", f"{page(server, 'small')}/file", "/static/live.js"]
    for path in paths:
        assert answers(server, path) == 200
    stream(server).drop()
    files, memory = process.files(), process.memory()
    for number in range(250):
        for path in ("/events?list=1", f"/events?s={'0' * 16}", paths[number % 4], "/nowhere"):
            client = Client(server, path)
            if number % 3:
                client.read_until(b"\r\n\r\n")
            client.drop()
    until(lambda: process.files() <= files + 2, "everything is closed")
    assert process.threads() < 60, "a pool of 40, and what the server and the watcher need"
    assert process.memory() - memory < 20 * MIB
    streams = [stream(server) for _ in range(limits.STREAMS)]
    for one in streams:
        one.drop()

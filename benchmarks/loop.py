"""How long the server's event loop stands still while it shows a session."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import uvicorn

from benchmarks.measure import Figure
from benchmarks.serving import page_path
from presentview.sessions import Roots
from presentview.web.app import create_app

__all__ = ["blocking"]

_PAGES: Final = 60
_TICK_SECONDS: Final = 0.001
# A reader of its own process, so that it takes no time of the server's.
_READER: Final = """
import sys, urllib.request
for address in sys.argv[2:]:
    for _ in range(int(sys.argv[1])):
        urllib.request.urlopen(address).read()
"""


class _Probe:
    """Wakes up all the time, and notes by how much too late it did, and what CPU time the process
    took meanwhile: what it did not take, others did.
    """

    def __init__(self) -> None:
        self.late: list[float] = []
        self.held: list[float] = []

    async def run(self) -> None:
        while True:
            began, worked = time.perf_counter(), time.process_time()
            await asyncio.sleep(_TICK_SECONDS)
            late = time.perf_counter() - began - _TICK_SECONDS
            self.late.append(late)
            self.held.append(min(late, time.process_time() - worked))

    def take(self) -> _Delays:
        """The longest that were noted since the last time, in ms."""
        found = _Delays(max(self.late) * 1000, max(self.held) * 1000)
        self.late, self.held = [], []
        return found


class _Delays(NamedTuple):
    late: float
    held: float


def blocking(path: Path) -> Iterator[Figure]:
    """The longest time for which the server's work kept its event loop from going on: while a
    session is opened, and while its pages are fetched.
    """
    collections: list[float] = []
    with _collections_timed(collections):
        idle, opening, fetching = asyncio.run(_probed(path))
    for name, found in (("opening", opening), ("fetching pages", fetching)):
        raw = (
            f"late by up to {found.late:.1f} ms, with nothing to do by {idle.late:.1f} ms; "
            f"longest garbage collection {max(collections, default=0) * 1000:.1f} ms"
        )
        yield Figure(f"loop blocked, {name}", found.held, 20, "ms", raw)


@contextlib.contextmanager
def _collections_timed(seconds: list[float]) -> Iterator[None]:
    began = 0.0

    def note(phase: str, _: dict[str, int]) -> None:
        nonlocal began
        if phase == "start":
            began = time.thread_time()
        else:
            seconds.append(time.thread_time() - began)

    gc.callbacks.append(note)
    try:
        yield
    finally:
        gc.callbacks.remove(note)


async def _probed(path: Path) -> tuple[_Delays, _Delays, _Delays]:
    probe = _Probe()
    server = uvicorn.Server(uvicorn.Config(create_app(Roots.of([path])), log_level="warning"))
    listener = socket.create_server(("127.0.0.1", 0))  # takes connections before it serves
    port = listener.getsockname()[1]
    serving = asyncio.create_task(server.serve([listener]))
    page = f"http://127.0.0.1:{port}{page_path(path)}"
    probing = asyncio.create_task(probe.run())
    await _read(1, f"http://127.0.0.1:{port}/static/icon.svg")
    await asyncio.sleep(3)
    idle = probe.take()
    await _read(1, page)
    opening = probe.take()
    await _read(_PAGES, page, f"{page}?at=end", f"{page}/cards?at=c5000")
    fetching = probe.take()
    probing.cancel()
    server.should_exit = True
    await serving
    return idle, opening, fetching


async def _read(times: int, *addresses: str) -> None:
    reader = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _READER, str(times), *addresses
    )
    if await reader.wait():
        raise RuntimeError("a page could not be read")

"""A running `presentview serve`, asked as a browser would ask it, and what it takes."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from presentview.sessions import session_id
from presentview.sidecar import session_path_of

__all__ = ["Answer", "Server", "compiled", "page_path", "serving"]

_ROOT: Final = Path(__file__).resolve().parent.parent
_WAIT_SECONDS: Final = 120


class Answer(NamedTuple):
    """The body of an answer and how many seconds it took to come, whole."""

    body: bytes
    seconds: float


class Server:
    """One server process; `began` is the `time.perf_counter` of its start."""

    def __init__(self, process: subprocess.Popen[str], address: str, began: float) -> None:
        self.process = process
        self.address = address.rstrip("/")
        self.began = began
        at = urlsplit(address)
        assert at.hostname is not None
        self._connection = http.client.HTTPConnection(at.hostname, at.port, timeout=_WAIT_SECONDS)

    def get(self, path: str) -> Answer:
        """Ask for a page, over the connection that is open already."""
        began = time.perf_counter()
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - began
        if answer.status != 200:
            raise RuntimeError(f"{path} answered {answer.status}")
        return Answer(body, took)

    def cpu_seconds(self) -> float:
        """The processor time the process's threads took up to now; 0 where nothing tells it."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def memory(self) -> int:
        """The bytes of memory that are the process's own, without what it maps from files."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("this system does not tell")


@contextlib.contextmanager
def serving(*paths: Path, bytecode: str) -> Iterator[Server]:
    """Start a server that shows these sessions, and end it; `bytecode` as for `compiled`."""
    command = [sys.executable, "-m", "presentview", "serve", "--no-open", "--no-token"]
    began = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--port", "0", *map(os.fspath, paths)],
        cwd=_ROOT,
        env=compiled(bytecode),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield Server(process, process.stdout.readline().strip(), began)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=_WAIT_SECONDS)


def compiled(folder: str) -> dict[str, str]:
    """The environment of a process that keeps its bytecode in a folder, as if installed."""
    environment = dict(os.environ, PYTHONPYCACHEPREFIX=folder)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def page_path(path: Path) -> str:
    """The path of the page of a sidecar's session."""
    return f"/s/{session_id(session_path_of(path.resolve()))}"

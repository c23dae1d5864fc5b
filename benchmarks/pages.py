"""What it takes a server to show a session: the first page, later ones, memory, what is new."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from benchmarks.generate import more_lines, write_session
from benchmarks.measure import Figure
from benchmarks.serving import Server, compiled, page_path, serving
from presentview.sessions import SessionRef, session_id
from presentview.sidecar import session_path_of
from presentview.web.feeds import Feed

__all__ = ["first_page", "looking", "middle_of", "server_memory", "warm_page"]

_ROUNDS: Final = 5
_WARM: Final = 30
_LOOKS: Final = 400
_LOOKS_BEFORE: Final = 100
# The server's imports, and then each line parsed and dropped: the times of both, and CPU times.
_PARSE: Final = """
import sys, time
import presentview.cli, presentview.web.app, presentview.web.server, uvicorn
import uvicorn.protocols.http.h11_impl, uvicorn.lifespan.on
imports, began = time.process_time(), time.perf_counter()
import orjson
with open(sys.argv[1], "rb") as file:
    for line in file:
        orjson.loads(line)
print(time.perf_counter() - began, imports, time.process_time() - imports)
"""


class _Opening(NamedTuple):
    """Seconds from a process's start: to a page, for the imports alone, for parsing alone."""

    page: float
    imports: float
    parse: float

    @property
    def ratio(self) -> float:
        return (self.page - self.imports) / self.parse


def first_page(path: Path) -> Iterator[Figure]:
    """From the start of the server's process to a whole page, without what Python takes to start
    and import as much, against parsing the lines alone.
    """
    walls: list[_Opening] = []
    cpus: list[_Opening] = []
    with tempfile.TemporaryDirectory() as bytecode:
        _run(_PARSE, str(path), bytecode=bytecode)  # compiles everything
        for _ in range(_ROUNDS):
            with serving(path, bytecode=bytecode) as server:
                server.get(page_path(path))
                page, page_cpu = time.perf_counter() - server.began, server.cpu_seconds()
            began = time.perf_counter()
            answer = _run(_PARSE, str(path), bytecode=bytecode)
            took = time.perf_counter() - began
            parse, imports_cpu, parse_cpu = map(float, answer.split())
            walls.append(_Opening(page, took - parse, parse))
            cpus.append(_Opening(page_cpu, imports_cpu, parse_cpu))
    for name, openings in (("clock", walls), ("CPU time", cpus)):
        if not all(opening.page for opening in openings):
            continue  # not told here
        ratios = [opening.ratio for opening in openings]
        page, imports, parse = (statistics.median(c) for c in zip(*openings, strict=True))
        raw = f"({page:.2f} s - {imports:.2f} s of imports) / {parse:.2f} s, {_spread(ratios)}"
        value = statistics.median(ratios)
        yield Figure(f"(first page - imports) / parsing, {name}", value, 3.0, "x", raw)


def warm_page(path: Path) -> Iterator[Figure]:
    """A page of a session that the server has open: at its start, and around its middle."""
    with tempfile.TemporaryDirectory() as bytecode, serving(path, bytecode=bytecode) as server:
        page = page_path(path)
        middle = f"{page}?at={middle_of(server, page)}"
        starts, middles = [], []
        for _ in range(_WARM):
            starts.append(_asked(server, page))
            middles.append(_asked(server, middle))
    for name, answers in (("start", starts[1:]), ("middle", middles[1:])):
        times = sorted(answer.clock * 1000 for answer in answers)
        cpu = statistics.median(answer.cpu * 1000 for answer in answers)
        raw = f"{times[0]:.1f}-{times[-1]:.1f} ms, CPU time {cpu:.1f} ms"
        yield Figure(f"warm page, {name}", statistics.median(times), 60, "ms", raw)
        size = max(answer.size for answer in answers)
        yield Figure(f"its size, {name}", size / 1000, 200, "KB", "")
    pairs = list(zip(middles, starts, strict=True))[1:]
    ratios = [one.clock / other.clock for one, other in pairs]
    cpu = statistics.median(one.cpu / other.cpu for one, other in pairs if other.cpu)
    raw = f"{_spread(ratios)}, of CPU times {cpu:.2f}"
    yield Figure("warm page, middle / start", statistics.median(ratios), 1.3, "x", raw)


class _Asked(NamedTuple):
    clock: float
    cpu: float
    size: int


def _asked(server: Server, path: str) -> _Asked:
    before = server.cpu_seconds()
    answer = server.get(path)
    return _Asked(answer.seconds, server.cpu_seconds() - before, len(answer.body))


def server_memory(path: Path) -> Iterator[Figure]:
    """What the server holds after it showed a session at several places."""
    if sys.platform != "linux":
        print("server-memory: only Linux tells what it is to be compared with", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as bytecode, serving(path, bytecode=bytecode) as server:
        page = page_path(path)
        server.get(page)
        once = server.memory()
        for _ in range(10):
            for address in (page, f"{page}?at={middle_of(server, page)}", f"{page}?at=end"):
                server.get(address)
        used = server.memory()
    size = path.stat().st_size
    raw = (
        f"{used / 1e6:.1f} MB for a file of {size / 1e6:.1f} MB, {once / 1e6:.1f} MB after one page"
    )
    yield Figure("server / (0.4 x file + 80 MB)", used / (0.4 * size + 80e6), 1.0, "x", raw)


def looking(path: Path) -> Iterator[Figure]:
    """The server's work for one appended record, against that in a session of 1 MB."""
    with tempfile.TemporaryDirectory() as folder:
        long, short = (Path(folder) / f"{name}.present.jsonl" for name in ("long", "short"))
        long.write_bytes(path.read_bytes())
        write_session(short, 1_000_000)
        looks = [_look_after_append(one) for one in (long, short)]
        times: list[list[float]] = [[], []]
        lines = more_lines()
        for _ in range(_LOOKS_BEFORE):  # whatever is done once is done then
            line = next(lines)
            for look in looks:
                look(line)
        for turn in range(_LOOKS):
            line = next(lines)
            # What is highlighted for one is known for the other: each is first as often.
            for which in (turn % 2, 1 - turn % 2):
                times[which].append(looks[which](line) * 1000)
    ratio = statistics.median(one / other for one, other in zip(*times, strict=True))
    medians = [statistics.median(taken) for taken in times]
    means = [statistics.fmean(taken) for taken in times]
    raw = f"{medians[0]:.2f} ms against {medians[1]:.2f} ms"
    yield Figure("look at one record, long / 1 MB", ratio, 1.3, "x", raw)
    raw = f"{means[0]:.2f} and {means[1]:.2f} ms, longest {max(times[0]):.1f} and "
    raw += f"{max(times[1]):.1f} ms"
    yield Figure("the same, means", means[0] / means[1], 1.3, "x", raw)


def _look_after_append(path: Path) -> Callable[[bytes], float]:
    """Open a session as if a page showed it: the CPU seconds of a look after a line is added."""
    session = session_path_of(path)
    feed = Feed(SessionRef(session_id(session), session), "epoch")
    feed.look()
    feed.frame()

    def look(line: bytes) -> float:
        with path.open("ab") as file:
            file.write(line)
        began = time.thread_time()
        feed.look()
        return time.thread_time() - began

    return look


def middle_of(server: Server, page: str) -> str:
    """The id of about the middle card of a session, which the server has to open for it."""
    last = orjson.loads(server.get(f"{page}/cards?at=end").body)["nearest"]
    found = re.fullmatch(r"c(\d+)", last)
    assert found is not None
    return f"c{int(found[1]) // 2}"


def _run(code: str, *arguments: str, bytecode: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=compiled(bytecode)
    )
    return done.stdout


def _spread(ratios: list[float]) -> str:
    return f"ratios {min(ratios):.2f}-{max(ratios):.2f}"

"""The figures themselves."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import orjson

if sys.platform != "win32":
    import resource

from benchmarks import browser, changes, loop, pages, runs, timings
from benchmarks.measure import Figure, compare
from presentview import Event, EventKind, Recorder, Tool
from presentview.follow import Follower
from presentview.records import Kind, Record, encode
from presentview.transcript.opening import read_transcript
from presentview.web.find import find

__all__ = ["FIGURES"]

_APPENDS: Final = 20_000
_KB_OUTPUT: Final = "tests/test_greet.py::test_a_guest PASSED\n" * 21 + "<b>1 & 2</b>\n"
_MEMORY: Final = """
import sys
from presentview.transcript.opening import read_transcript
opened = read_transcript(sys.argv[1])
for line in open("/proc/self/status"):
    if line.startswith("RssAnon"):
        print(int(line.split()[1]) * 1024)
"""
_IMPORTS: Final = """
import time
began = time.process_time()
import presentview
print(time.process_time() - began)
presentview.Recorder
print(time.process_time() - began)
import sys
print([name for name in ("starlette", "jinja2", "uvicorn", "orjson") if name in sys.modules])
"""


def opening(path: Path) -> Iterator[Figure]:
    """From a file to a transcript that can be shown, against parsing its lines alone."""
    yield compare(
        "open / orjson.loads of each line, dropped",
        lambda: read_transcript(path),
        lambda: _parse_and_drop(path),
        target=2.2,
    )
    size = path.stat().st_size
    if sys.platform == "linux":
        used = int(_python(_MEMORY, str(path)).split()[0])
        allowed = 0.4 * size + 60e6
        raw = f"{used / 1e6:.1f} MB for a file of {size / 1e6:.1f} MB"
        yield Figure("memory / (0.4 x file + 60 MB)", used / allowed, 1.0, "x", raw)


def _parse_and_drop(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)


def appending(path: Path) -> Iterator[Figure]:
    """One record of 1 KB into the file, against encoding and writing it."""
    del path
    tool = Tool(id="call_1", name="bash", args='{"command":"ls"}', output=_KB_OUTPUT, duration_ms=9)
    event = Event(kind=EventKind.TOOL_RESULT, tool=tool)
    with tempfile.TemporaryDirectory() as folder:
        plain = os.open(Path(folder) / "plain", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with Recorder.open(Path(folder) / "s.jsonl", fsync="never", drop_deltas=False) as recorder:
            recorder.append(event)
            value = orjson.loads(encode(recorder.records[0]))

            def append() -> None:
                for _ in range(_APPENDS):
                    recorder.append(event)

            def write() -> None:
                for _ in range(_APPENDS):
                    os.write(plain, orjson.dumps(value))

            yield compare("append of 1 KB / orjson.dumps + os.write", append, write, target=3.5)
        os.close(plain)


def refreshing(path: Path) -> Iterator[Figure]:
    """Opening, against bringing a followed file up to date after one more record."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "s.present.jsonl"
        copy.write_bytes(path.read_bytes())
        follower = Follower(Path(folder) / "s.jsonl")
        follower.refresh()

        def refresh() -> None:
            with copy.open("ab") as file:
                file.write(b'{"kind":"notice","text":"one more","level":"info"}\n')
            follower.refresh()

        yield compare(
            "open / refresh after one appended record",
            lambda: read_transcript(copy),
            refresh,
            target=10,
            at_least=True,
        )
        follower.close()


def importing(path: Path) -> Iterator[Figure]:
    """The CPU time of `import presentview` and of the recorder's first use, and what they load.

    As installed, which is with its bytecode: a first run that is not counted compiles it.
    """
    del path
    with tempfile.TemporaryDirectory() as folder:
        answers = [_python(_IMPORTS, bytecode=folder).splitlines() for _ in range(6)][1:]
    raw = f"loads besides: {answers[0][2]}"
    for index, name in enumerate(("import presentview", "the same and presentview.Recorder")):
        seconds = statistics.median(float(answer[index]) for answer in answers)
        yield Figure(name, seconds * 1000, 100, "ms", raw)


def finding(path: Path) -> Iterator[Figure]:
    """A rare word that stands only at the very end of a session, against `grep -c` that counts as
    many: the CPU time of both, grep's start included. A word without capitals is found however
    it is written, as `grep -i` does.
    """
    word = "quizzical"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "s.present.jsonl"
        copy.write_bytes(path.read_bytes())
        with copy.open("ab") as file:
            file.write(encode(Record(Kind.NOTICE, text=f"{word} {word.title()}")) + b"\n")
        follower = Follower(Path(folder) / "s.jsonl")
        follower.refresh()
        for query, option in ((word.title(), "-c"), (word, "-ci")):
            ratios: list[float] = []
            times: list[tuple[float, float]] = []
            for _ in range(9):
                mine = _cpu_seconds(lambda: _first_hits(follower, query))  # noqa: B023
                theirs = _cpu_seconds(lambda: _grep(option, query, copy))  # noqa: B023
                times.append((mine, theirs))
                ratios.append(mine / theirs)
            mine, theirs = (statistics.median(column) for column in zip(*times, strict=True))
            raw = f"{mine * 1000:,.0f} ms against {theirs * 1000:,.0f} ms, "
            raw += f"ratios {min(ratios):.2f}-{max(ratios):.2f}"
            name = f"first hits of {query!r} / grep {option}"
            yield Figure(name, statistics.median(ratios), 1.5, "x", raw)
        follower.close()


def _first_hits(follower: Follower, query: str) -> None:
    """Ask as a page does, answer by answer, until there is something to show."""
    start: int | None = 0
    while start is not None:
        answer = find(follower, query, start)
        if answer.hits:
            return
        start = answer.next
    raise AssertionError("it was not found")


def _grep(option: str, word: str, path: Path) -> None:
    subprocess.run(["grep", option, word, os.fspath(path)], check=True, stdout=subprocess.DEVNULL)


def _cpu_seconds(work: Callable[[], object]) -> float:
    """The CPU time of this process and of those it ran and awaited."""
    own, others = time.process_time(), _children()
    work()
    return time.process_time() - own + _children() - others


def _children() -> float:
    if sys.platform == "win32":
        return 0.0  # not told there
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _python(code: str, *arguments: str, bytecode: str | None = None) -> str:
    """What a fresh interpreter prints; its bytecode is written to and read from a folder."""
    environment = dict(os.environ)
    if bytecode is not None:
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = bytecode
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return done.stdout


def _live(path: Path) -> Iterator[Figure]:
    """One appended record: the server's work, and all of the way into the page."""
    yield from pages.looking(path)
    yield from browser.arriving(path)


FIGURES: Final[dict[str, Callable[[Path], Iterator[Figure]]]] = {
    "open": opening,
    "append": appending,
    "refresh": refreshing,
    "import": importing,
    "find": finding,
    "runs": runs.listing,
    "page": pages.first_page,
    "warm": pages.warm_page,
    "timings": timings.working_out,
    "timings-page": timings.timing_page,
    "changes": changes.changes_page,
    "server-memory": pages.server_memory,
    "loop": loop.blocking,
    "nodes": browser.nodes,
    "scale": browser.loading,
    "scroll": browser.scrolling,
    "timings-scroll": browser.timing_rows,
    "live": _live,
}

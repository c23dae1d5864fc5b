"""What it takes to show the edits of a session: the page, each step of it, a very long diff."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.generate import write_edits
from benchmarks.measure import Figure
from benchmarks.serving import Server, page_path, serving
from presentview.units import plural

__all__ = ["changes_page"]

_EDITS: Final = 5_000
_LINES: Final = 200
_ROUNDS: Final = 15
_LONG_LINES: Final = 100_000


def changes_page(path: Path) -> Iterator[Figure]:
    """The changes page of 5,000 edits of 200 lines against the transcript's page, both of which
    the server has open; any step of it, and what is known of its file; a diff of about 5 MB. Of
    50 files, and of a single one.
    """
    del path
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as bytecode:
        for files in (50, 1):
            session = Path(folder) / f"of{files}.present.jsonl"
            write_edits(session, _EDITS, _LINES, files=files)
            with serving(session, bytecode=bytecode) as server:
                yield from _pages(server, page_path(session), plural(files, "file"))
        long = Path(folder) / "long.present.jsonl"
        write_edits(long, 2, _LONG_LINES, files=1)
        with serving(long, bytecode=bytecode) as server:
            page = f"{page_path(long)}/changes"
            server.get(page_path(long))
            answers = [server.get(f"{page}?step=2") for _ in range(3)]
            size = len(answers[-1].body) / 1e6
            raw = f"{size:.2f} MB, the first time {answers[0].seconds * 1000:,.0f} ms"
            yield Figure("step with a diff of 5 MB", answers[-1].seconds * 1000, 400, "ms", raw)


def _pages(server: Server, page: str, what: str) -> Iterator[Figure]:
    addresses = (f"{page}/changes?step=1", page)
    first = server.get(f"{page}/changes").seconds
    for address in addresses:
        server.get(address)
    pairs = [tuple(_asked(server, address) for address in addresses) for _ in range(_ROUNDS)]
    ratios = [one[0] / other[0] for one, other in pairs]
    mine, theirs = (
        statistics.median(c[0] for c in column) * 1000 for column in zip(*pairs, strict=True)
    )
    cpu = [statistics.median(c[1] for c in column) * 1000 for column in zip(*pairs, strict=True)]
    raw = f"{mine:.1f} ms against {theirs:.1f} ms, ratios {min(ratios):.2f}-{max(ratios):.2f}, "
    raw += f"CPU times {cpu[0]:.1f} and {cpu[1]:.1f} ms, the first time {first:.2f} s"
    yield Figure(f"changes page / page, {what}", statistics.median(ratios), 2.0, "x", raw)
    steps = range(7, _EDITS, _EDITS // 40)
    for name, address in (("any step", "part"), ("what is known of its file", "known")):
        asked = [_asked(server, f"{page}/changes/{address}?step={step}") for step in steps]
        yield _spread(f"{name}, {what}", asked)


def _asked(server: Server, address: str) -> tuple[float, float]:
    """The seconds an answer took, and the CPU seconds of them."""
    before = server.cpu_seconds()
    took = server.get(address).seconds
    return took, server.cpu_seconds() - before


def _spread(name: str, asked: Sequence[tuple[float, float]]) -> Figure:
    times = sorted(took * 1000 for took, _ in asked)
    cpu = statistics.median(cpu * 1000 for _, cpu in asked)
    raw = f"{times[0]:.0f}-{times[-1]:.0f} ms, CPU time {cpu:.0f} ms"
    return Figure(name, statistics.median(times), 100, "ms", raw)

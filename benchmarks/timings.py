"""What the times of a session cost: to work them out, and to show them."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.generate import write_calls
from benchmarks.measure import Figure, compare
from benchmarks.serving import page_path, serving
from presentview.transcript.opening import read_transcript
from presentview.transcript.timings import timings_of

__all__ = ["timing_page", "working_out"]

_CALLS: Final = 100_000
_ROUNDS: Final = 20


def working_out(path: Path) -> Iterator[Figure]:
    """All figures and the critical path of 100,000 calls, against opening their file; with every
    time recorded, and with none.
    """
    del path
    with tempfile.TemporaryDirectory() as folder:
        for name in ("recorded", "inferred"):
            file = Path(folder) / f"{name}.present.jsonl"
            write_calls(file, _CALLS, timed=name == "recorded")
            transcript = read_transcript(file).transcript

            def work() -> None:
                timings = timings_of(transcript)  # noqa: B023
                for figures in (timings.session, timings.turns, timings.agents, timings.tools):
                    assert figures
                timings.critical_path()

            yield compare(
                f"timings of 100,000 calls, {name} / open",
                work,
                lambda: read_transcript(file),  # noqa: B023
                target=1.0,
            )


def timing_page(path: Path) -> Iterator[Figure]:
    """The timings page of a session that the server has open, against its transcript's page."""
    with tempfile.TemporaryDirectory() as bytecode, serving(path, bytecode=bytecode) as server:
        page = page_path(path)
        pages = (f"{page}/timings", page)
        for address in pages:
            server.get(address)
        pairs = [tuple(server.get(address).seconds for address in pages) for _ in range(_ROUNDS)]
        ratios = [one / other for one, other in pairs]
        mine, theirs = (statistics.median(column) * 1000 for column in zip(*pairs, strict=True))
        raw = f"{mine:.1f} ms against {theirs:.1f} ms, ratios {min(ratios):.2f}-{max(ratios):.2f}"
        yield Figure("timings page / page", statistics.median(ratios), 1.5, "x", raw)
        size = len(server.get(pages[0]).body)
        yield Figure("its size", size / 1000, 500, "KB", "")

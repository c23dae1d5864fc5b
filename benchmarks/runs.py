"""Listing the runs of a folder against loading all of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from benchmarks.measure import Figure, compare
from presentview.runlog import (
    Activity,
    Message,
    Meta,
    Record,
    Result,
    encode_record,
    list_runs,
    load,
)
from presentview.runlog import Kind as LogKind

__all__ = ["listing"]

_LOGS: Final = 1_000
_MADE: Final = 10
_BYTES: Final = 1_000_000
_AT: Final = "2026-01-01T00:00:00Z"
_PLAIN: Final = "tests/test_greet.py::test_a_guest PASSED\n" * 40
_MARKUP: Final = '<p class="a">1 & 2</p><br>\n' * 60


def listing(path: Path) -> Iterator[Figure]:
    """A list of 1,000 logs of 1 MB, against loading them: of runs that ended, of runs that were
    killed, and of killed ones whose output is dense in markup, which JSON escapes.

    There are ten files, each under a hundred names: what is read of the disk is not measured.
    """
    del path
    cases = (
        ("runs that ended", _PLAIN, True),
        ("killed runs", _PLAIN, False),
        ("killed runs full of markup", _MARKUP, False),
    )
    for name, output, ends in cases:
        with tempfile.TemporaryDirectory() as folder:
            paths = _logs(Path(folder), output, ends=ends)
            yield compare(
                f"list {_LOGS:,} {name} / load them",
                lambda: list_runs(folder),
                lambda: _load_all(paths),  # noqa: B023
                target=0.1,
                pairs=3,
            )


def _load_all(paths: Iterable[Path]) -> None:
    for path in paths:
        load(path)


def _logs(folder: Path, output: str, *, ends: bool) -> list[Path]:
    made = [_log(folder / f"20260101-{number:06}.jsonl", output, ends) for number in range(_MADE)]
    paths = list(made)
    for number in range(_MADE, _LOGS):
        path = folder / f"20260101-{number:06}.jsonl"
        os.link(made[number % _MADE], path)
        paths.append(path)
    return paths


def _log(path: Path, output: str, ends: bool) -> Path:
    records = [Record(LogKind.META, _AT, meta=Meta(path.stem, "a task"))]
    size = 0
    while size < _BYTES:
        call = f"call_{len(records)}"
        asked = Activity("request", call, "shell", '{"command":"pytest"}')
        answer = Activity("response", call, "shell", "", result=output)
        for activity in (asked, answer):
            said = Message("activity", activity=activity)
            records.append(Record(LogKind.MESSAGE, _AT, message=said))
        size += len(encode_record(records[-1]))
    if ends:
        records.append(Record(LogKind.RESULT, _AT, result=Result("settled")))
    path.write_bytes(b"".join(encode_record(record) + b"\n" for record in records))
    return path

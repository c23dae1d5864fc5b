"""A session of 200 kB, damaged in one place, and what must still be there of it."""

from __future__ import annotations

import functools
import io
import tempfile
from bisect import bisect_left
from pathlib import Path
from typing import NamedTuple

from presentview import Recorder
from presentview.records import Record
from presentview.sidecar import Problem, Scan, present_path
from presentview.transcript.cards import Card
from presentview.transcript.fold import Transcript
from tests.random_session import random_events

__all__ = ["BYTES", "Read", "flipped", "has_the_rest", "read", "whole"]

BYTES = 200_000


class Read(NamedTuple):
    """What reading gave: each record with the byte at which it stands, the problems, the cards."""

    records: tuple[tuple[int, Record], ...]
    problems: tuple[Problem, ...]
    cards: tuple[Card, ...]


@functools.cache
def whole(size: int = BYTES) -> bytes:
    """A session as the recorder writes it, of `size` bytes or a line more."""
    if size != BYTES:
        content = whole()
        return content[: content.index(b"\n", size) + 1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        with Recorder.open(path, fsync="never", max_turns=10_000) as recorder:
            for event in random_events(11, 4_000):
                recorder.append(event)
        content = present_path(path).read_bytes()
    end = content.index(b"\n", BYTES) + 1
    return content[:end]


def read(content: bytes, *, alive: bool = False) -> Read:
    """Read and fold a whole file."""
    scan = Scan(Path("s.present.jsonl"))
    transcript = Transcript()
    records: list[tuple[int, Record]] = []

    def take(record: Record, offset: int, length: int, line: int) -> None:
        records.append((offset, record))
        transcript.feed(record, offset, length, line)

    file = io.BytesIO(content)
    scan.take_header(file)
    scan.feed(file, take, alive=alive)
    return Read(tuple(records), scan.problems, tuple(transcript.walk()))


def flipped(content: bytes, at: int, value: int) -> tuple[bytes, range]:
    """The content with another byte at one place, and the bytes of the lines that touches."""
    damaged = bytearray(content)
    damaged[at] = value
    start = content.rfind(b"\n", 0, at) + 1
    end = content.find(b"\n", at) + 1
    if content[at] == 0x0A:  # two lines became one
        end = content.find(b"\n", at + 1) + 1
    return bytes(damaged), range(start, end or len(content))


def has_the_rest(found: Read, good: Read, lines: range) -> bool:
    """Whether all records in front of, and behind, the bytes of some lines are still there."""
    starts = [offset for offset, _ in good.records]
    before = bisect_left(starts, lines.start)
    behind = len(starts) - bisect_left(starts, lines.stop)
    end = len(found.records) - behind
    return (
        end >= before
        and found.records[:before] == good.records[:before]
        and found.records[end:] == good.records[len(starts) - behind :]
    )

"""The process beside the server: it does the jobs that come through its standard input."""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
from collections.abc import Iterator
from typing import BinaryIO

from presentview import limits
from presentview.pieces import Piece
from presentview.records import Record
from presentview.sidecar import pieces_of
from presentview.transcript.digest import digest_of
from presentview.web.apart import Done, Job, read_chunks, read_frame, write_frame

__all__ = ["digested", "main"]


def main(memory: int) -> None:
    """Do jobs until the standard input ends, with no more than `memory` bytes."""
    # Control-C in a terminal is for the server, which ends this process then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(memory)
    # What is made here is in no cycles, and to look for some takes half of the time.
    gc.disable()
    source, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    with contextlib.suppress(EOFError, OSError):
        while True:
            _do(read_frame(source), source, answers)


def digested(raw: bytes, first: bool) -> Iterator[list[Piece]]:
    """What is on the line `raw`, some at a time, with digests for records."""
    batch: list[Piece] = []
    start = 0
    for piece in pieces_of(raw, first=first):
        if isinstance(piece.item, Record):
            piece = piece._replace(item=digest_of(piece.item))  # noqa: PLW2901
        batch.append(piece)
        end = piece.offset + piece.length
        if len(batch) >= limits.LONG_LINE_PIECES or end - start > limits.LONG_LINE_BYTES:
            yield batch
            batch, start = [], end
    if batch:
        yield batch


def _limit_memory(wanted: int) -> None:
    try:
        import resource
    except ImportError:  # there is no such thing on Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or wanted < most:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (wanted, most))


def _do(job: Job, source: BinaryIO, answers: BinaryIO) -> None:
    no_memory = False
    try:
        raws = [read_chunks(source) for _ in range(job.records)]
        for answer in _answers(job, raws):
            write_frame(answers, answer)
    except MemoryError:
        no_memory = True
    write_frame(answers, Done(no_memory))
    answers.flush()
    if no_memory:
        # What is left of the job may be in the way of the next one.
        raise EOFError


def _answers(job: Job, raws: list[bytes]) -> Iterator[object]:
    if job.name == "pieces":
        return digested(raws[0], *job.arguments)
    # To load what draws a page takes longer than most lines.
    from presentview.web.reading import JOBS

    return JOBS[job.name](raws, *job.arguments)

"""Opening a sidecar: all of a file becomes a transcript in one go."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from presentview.records import Header
from presentview.sidecar import Scan
from presentview.transcript.fold import Transcript

__all__ = ["Opened", "gc_paused", "read_transcript"]


_READ_BUFFER: Final = 1 << 16
"""Bytes read at once; with fewer a good part of the time goes into asking for the next."""


class Opened(NamedTuple):
    """A file's transcript, and the position up to which it was read."""

    transcript: Transcript
    scan: Scan


def read_transcript(path: str | os.PathLike[str], *, alive: bool = False) -> Opened:
    """The transcript of the sidecar at `path`, its numbers going on from the header's.

    While the writer is `alive` an unfinished last line is no problem. Raises `OSError` if the
    file cannot be read, and nothing for what stands in it.
    """
    scan = Scan(Path(path))
    with open(path, "rb", buffering=_READ_BUFFER) as file, gc_paused():
        scan.take_header(file)
        header = scan.first_header or Header()
        transcript = Transcript(
            turns_dropped=header.turns_dropped, cards_dropped=header.cards_dropped
        )
        scan.feed(file, transcript.feed, alive=alive)
    return Opened(transcript, scan)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Keep the garbage collector away while many objects are made that stay.

    It would look at all of them again and again, which is half of what making them costs.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():
                # Thawed objects count as old: the next collection does not begin with all of them.
                gc.freeze()
                gc.unfreeze()
            gc.enable()

"""Whether a file is still the one that was read, and whether another one goes on from it."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

from presentview.openfile import OpenFile, Stamp
from presentview.records import Header
from presentview.sidecar import TOO_LONG, Scan

__all__ = ["Extension", "Mark", "extension", "mark_of"]

_FINGERPRINT_BYTES: Final = 4096


class Mark(NamedTuple):
    """What a file was like when it was last read: its stamp before that, a hash of its header
    line and of the bytes read last, and whether those end in the middle of a line.
    """

    stamp: Stamp
    fingerprint: bytes
    mid_line: bool

    def holds(self, scan: Scan, opened: OpenFile) -> bool:
        """Whether the header and the bytes read last stand where they stood."""
        return mark_of(scan, opened, self.stamp) == self


class Extension(NamedTuple):
    """How a file goes on from another: its header, and by how many bytes the rest of what both
    hold was moved.
    """

    header: Header
    shift: int


def mark_of(scan: Scan, opened: OpenFile, stamp: Stamp) -> Mark:
    """The mark of a file that has been read up to where `scan` stands."""
    start = max(0, scan.offset - _FINGERPRINT_BYTES)
    before = opened.read(start, scan.offset - start)
    fingerprint = hashlib.blake2b(opened.read(0, scan.body) + b"\0" + before).digest()
    # A line too long to be read is only counted, wherever it stops.
    counted = scan.damaged and scan.problems[-1].reason.startswith(TOO_LONG)
    return Mark(stamp, fingerprint, before[-1:] not in (b"", b"\n") and not counted)


def extension(old_scan: Scan, mark: Mark, old: OpenFile, new: OpenFile) -> Extension | None:
    """How `new` goes on from `old`, None unless it holds all that was read of it.

    The header may differ, except for the numbers that cards and turns are counted from. A file
    that was not read without problems up to the end of a line is never gone on from.
    """
    if old_scan.problems or mark.mid_line or not _is_as_it_was(old_scan, mark, old):
        return None
    scan = Scan(old_scan.path)
    scan.take_header(new.file)
    mine, theirs = old_scan.first_header, scan.first_header
    if not old_scan.body or not scan.body or mine is None or theirs is None:
        return None
    base = (theirs.turns_dropped, theirs.cards_dropped)
    if base != (mine.turns_dropped, mine.cards_dropped):
        return None
    length = old_scan.offset - old_scan.body
    if not old.same_bytes(old_scan.body, new, scan.body, length):
        return None
    return Extension(theirs, scan.body - old_scan.body)


def _is_as_it_was(scan: Scan, mark: Mark, old: OpenFile) -> bool:
    """Whether what was read of the file that was replaced is still what stands in it."""
    stamp = old.stamp()
    written_over = stamp.size == mark.stamp.size and stamp.modified_ns != mark.stamp.modified_ns
    return not written_over and mark.holds(scan, old)

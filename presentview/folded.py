"""One sidecar as far as it has been read: the open file and the transcript of its records.

Reading goes on where it stopped, in the same file or in one that replaced it and holds all that
was read. Whether that may be done is found out here; whoever is told that it may not, reads the
file anew.
"""

from __future__ import annotations

import os
from pathlib import Path

from presentview import lock
from presentview.continuity import Mark, extension, mark_of
from presentview.openfile import Line, OpenFile
from presentview.records import Header, Record
from presentview.sidecar import ReadLong, Scan
from presentview.transcript.cards import Change, Place
from presentview.transcript.fold import Transcript
from presentview.transcript.opening import gc_paused

__all__ = ["FoldedFile"]


class FoldedFile:
    """The `transcript` of the file at `path`, how far it was read (`scan`), and the file itself.

    The places of cards stay what they were when the file is replaced by one that goes on from it.
    """

    def __init__(
        self, path: Path, opened: OpenFile | None = None, read_long: ReadLong | None = None
    ) -> None:
        """Read all of `opened`; without it this stands for a file that is not there. Long lines
        are read with `read_long`.

        Raises `OSError`, and leaves `opened` open then.
        """
        self.scan = Scan(path, read_long)
        self.transcript = Transcript()
        self.opened = opened
        self._shift = 0
        self._mark: Mark | None = None
        if opened is not None:
            self._read_all(opened)

    @property
    def header(self) -> Header:
        """The file's last header, an empty one where there is none."""
        return self.scan.header or Header()

    @property
    def shift(self) -> int:
        """How many bytes further on a record lies in the file than the places of cards say."""
        return self._shift

    def is_of(self, found: os.stat_result) -> bool:
        """Whether this is the file that was `found`."""
        identity = (found.st_dev, found.st_ino)
        return self.opened is not None and self.opened.identity == identity

    def close(self) -> None:
        """Let the file go."""
        if self.opened is not None:
            self.opened.close()
            self.opened = None

    def rest(self) -> None:
        """Say that nothing is read for now."""
        if self.opened is not None:
            self.opened.rest()

    # reading

    def _read_all(self, opened: OpenFile) -> None:
        stamp = opened.stamp()
        scan = self.scan
        scan.take_header(opened.file)
        first = scan.first_header or Header()
        self.transcript = Transcript(
            turns_dropped=first.turns_dropped, cards_dropped=first.cards_dropped
        )
        alive = lock.is_alive(scan.path, writer=first.writer)
        with gc_paused():
            scan.feed(opened.file, self.transcript.feed, alive=alive)
        self._mark = mark_of(scan, opened, stamp)

    def read_on(self, *, alive: bool, flipped: bool) -> tuple[Change, ...] | None:
        """What was added to the file since; None if it has to be read anew.

        `flipped` says that the writer was not `alive` before, or was.
        """
        opened, scan, mark = self.opened, self.scan, self._mark
        assert opened is not None
        stamp = opened.stamp()
        if mark is None or stamp.size < scan.offset or not mark.holds(scan, opened):
            return None
        touched = stamp != mark.stamp
        ended = stamp.size == scan.offset and not scan.pending
        if ended and stamp.size > mark.stamp.size:
            # It was written while we read the last time, and read then.
            self._mark = mark._replace(stamp=stamp)
            return ()
        if not touched and (ended or not flipped):
            return ()
        # Written to, but no longer: something in front of the end was written over. A first line
        # that was not whole may have become the header, and what follows the middle of a line
        # may make something else of its beginning.
        written_over = touched and stamp.size == mark.stamp.size
        if written_over or scan.line == 1 or mark.mid_line:
            return None
        return self._take_rest(opened, alive=alive)

    def go_on_in(self, opened: OpenFile, *, alive: bool) -> tuple[Change, ...] | None:
        """What `opened`, which took the file's place, has more; it is held from now on.

        None, and nothing is changed, unless it holds all that was read. Raises `OSError`.
        """
        old, scan, mark = self.opened, self.scan, self._mark
        if old is None or not old.is_open or mark is None:
            return None
        found = extension(scan, mark, old, opened)
        if found is None:
            return None
        old.close()
        self.opened = opened
        if scan.header is scan.first_header:
            scan.header = found.header
        scan.first_header = found.header
        scan.path = opened.path
        scan.offset += found.shift
        scan.body += found.shift
        self._shift += found.shift
        return self._take_rest(opened, alive=alive)

    def _take_rest(self, opened: OpenFile, *, alive: bool) -> tuple[Change, ...]:
        changes: list[Change] = []
        apply = self.transcript.apply
        shift = self._shift

        def take(record: Record, offset: int, length: int, line: int) -> None:
            changes.extend(apply(record, Place(offset - shift, length, line)))

        # If reading fails half way, it is not known how far it got: the next look starts over.
        self._mark = None
        stamp = opened.stamp()
        self.scan.feed(opened.file, take, alive=alive)
        self._mark = mark_of(self.scan, opened, stamp)
        return tuple(changes)

    # what stands in the file

    def raw(self, part: Place) -> bytes:
        """The bytes of the record at a place. Raises `OSError`."""
        if self.opened is None:
            return b""
        return self.opened.read(part.offset + self._shift, part.length)

    def lines(self, first: int, count: int, most: int) -> list[Line]:
        """Up to `count` lines from line `first` (from 1), of each `most` bytes.

        Raises `OSError`.
        """
        return [] if self.opened is None else self.opened.lines(first, count, most)

"""Following one sidecar while it is written, replaced, truncated, removed and made again.

A `Follower` holds the transcript of the file and brings it up to date when asked. It reads only
what is new: an append by its own bytes, a rewrite that only extends by comparing it with the
old file, which stays readable through its open descriptor. Anything else starts anew.

Trade-off accepted: when a file grows in place, only its first line and the bytes just before the
new ones are checked for having changed too. Whoever rewrites a sidecar replaces it or shortens it
first; to compare all of it on each append would make long sessions slow.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from presentview import lock
from presentview.continuity import Mark, extension, mark_of
from presentview.errors import SidecarError
from presentview.openfile import Line, OpenFile
from presentview.records import Header, Record, decode
from presentview.salvage import read_pieces
from presentview.sidecar import Found, Problem, Scan, find_sidecar, present_path
from presentview.transcript.cards import Change, Part, Place
from presentview.transcript.fold import Transcript

__all__ = ["Follower", "Update", "What"]


class What(Enum):
    """What became of the file since the last look."""

    SAME = "same"
    GREW = "grew"
    RESET = "reset"
    GONE = "gone"


class Update(NamedTuple):
    """The outcome of one look: what happened, and for a file that grew, what changed."""

    what: What
    changes: tuple[Change, ...] = ()


class Follower:
    """The transcript of one session's sidecar, as of the last `refresh`.

    `alive` says whether the file's writer lives, `exists` whether the file is there, `changed_at`
    (unix ms) when it was last written and `size` how many bytes it had then.
    Safe to use from several threads; `reading` is held while the transcript changes.
    """

    def __init__(self, session_path: Path, *, sidecar: Path | None = None) -> None:
        """Follow the sidecar of a session, under either name, or the given `sidecar` alone."""
        self.session_path = session_path
        self._sidecar = sidecar
        self._found = self._find()
        self.reading = threading.RLock()
        self.transcript = Transcript()
        self.exists = False
        self.alive = False
        self.changed_at = 0
        self.size = 0
        self.problem = ""
        self._scan = Scan(self.path)
        self._opened: OpenFile | None = None
        self._shift = 0
        self._mark: Mark | None = None

    @property
    def path(self) -> Path:
        """The sidecar, under the name it has or, where there is none, will have."""
        return self._found.path

    @property
    def header(self) -> Header:
        """The file's header, an empty one where there is none."""
        return self._scan.header or Header()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of the file; a second sidecar of the session is named too."""
        other = self._found.other
        found = self._scan.problems if self.exists else ()
        if self.problem:
            found = (Problem(self.path, 1, 0, self.problem), *found)
        if other is not None:
            reason = f"a second sidecar of this session; {self.path.name} is shown"
            found = (*found, Problem(other, 1, 0, reason))
        return found

    def _find(self) -> Found:
        if self._sidecar is not None:
            return Found(self._sidecar)
        try:
            return find_sidecar(self.session_path)
        except OSError:
            return Found(present_path(self.session_path))

    def close(self) -> None:
        """Let the file go."""
        with self.reading:
            self._hold(None)

    # looking

    def refresh(self) -> Update:
        """Look at the file again and bring the transcript up to date.

        Never raises for what the file system does: a file that cannot be read any more keeps
        its transcript and says why in `problems`.
        """
        with self.reading:
            self.problem = ""
            self._found = self._find()
            try:
                found = os.stat(self.path)
            except (FileNotFoundError, NotADirectoryError):
                return self._gone()
            except OSError as error:
                self.problem = _unreadable(error)
                return Update(What.SAME)
            return self._look_at(found)

    def _look_at(self, found: os.stat_result) -> Update:
        was_alive, writer = self.alive, self.header.writer
        self.alive = lock.is_alive(self.path, writer=writer)
        try:
            update = self._read(found, flipped=self.alive != was_alive)
        except SidecarError as error:
            self.problem = error.reason
            update = Update(What.SAME)
        except OSError as error:
            self.problem = _unreadable(error)
            update = Update(What.SAME)
        if update.what is not What.RESET and self.header.writer != writer:
            # Only the header tells how this writer shows that it lives.
            self.alive = lock.is_alive(self.path, writer=self.header.writer)
        if self.alive != was_alive and update.what is not What.RESET:
            return Update(What.GREW, (*update.changes, *self._all_unfinished()))
        return update

    def _all_unfinished(self) -> Iterator[Change]:
        seen: set[str] = set()
        for card in self.transcript.unfinished():
            for shown in (card, *card.ancestors()):
                if shown.id not in seen:
                    seen.add(shown.id)
                    yield Change("replace", shown.id)

    def _gone(self) -> Update:
        if not self.exists:
            return Update(What.SAME)
        self._hold(None)
        self.transcript = Transcript()
        self._scan = Scan(self.path)
        self.exists = self.alive = False
        self.size = 0
        return Update(What.GONE)

    def _read(self, found: os.stat_result, *, flipped: bool) -> Update:
        if not stat.S_ISREG(found.st_mode):
            raise SidecarError("is no regular file", path=self.path)
        opened = self._opened
        if opened is None or opened.identity != (found.st_dev, found.st_ino):
            update = self._other_file()
        else:
            update = self._same_file(opened, flipped=flipped)
        self.changed_at = found.st_mtime_ns // 1_000_000
        self.size = found.st_size
        return update

    def _same_file(self, opened: OpenFile, *, flipped: bool) -> Update:
        scan, mark = self._scan, self._mark
        stamp = opened.stamp()
        if mark is None or stamp.size < scan.offset or not mark.holds(scan, opened):
            return self._start_over(opened)
        touched = stamp != mark.stamp
        ended = stamp.size == scan.offset and not scan.pending
        if ended and stamp.size > mark.stamp.size:
            # It was written while we read the last time, and read then.
            self._mark = mark._replace(stamp=stamp)
            return Update(What.SAME)
        if not touched and (ended or not flipped):
            return Update(What.SAME)
        # Written to, but no longer: something in front of the end was written over. A first line
        # that was not whole may have become the header, and what follows the middle of a line
        # may make something else of its beginning.
        written_over = touched and stamp.size == mark.stamp.size
        if written_over or scan.line == 1 or mark.mid_line:
            return self._start_over(opened)
        return self._read_on(opened)

    def _other_file(self) -> Update:
        opened = OpenFile(self.path)
        try:
            old, mark = self._opened, self._mark
            found = extension(self._scan, mark, old, opened) if old and mark else None
        except BaseException:
            opened.close()
            raise
        if found is None:
            return self._start_over(opened)
        self._hold(opened)
        if self._scan.header is self._scan.first_header:
            self._scan.header = found.header
        self._scan.first_header = found.header
        self._scan.path = self.path
        self._scan.offset += found.shift
        self._scan.body += found.shift
        self._shift += found.shift
        return self._read_on(opened)

    def _start_over(self, opened: OpenFile) -> Update:
        """Read all of a file; only when that succeeded it takes the place of what was shown."""
        scan = Scan(self.path)
        try:
            stamp = opened.stamp()
            scan.take_header(opened.file)
            first = scan.first_header or Header()
            transcript = Transcript(
                turns_dropped=first.turns_dropped, cards_dropped=first.cards_dropped
            )
            alive = lock.is_alive(self.path, writer=first.writer)
            scan.feed(opened.file, transcript.feed, alive=alive)
        except BaseException:
            if opened is not self._opened:
                opened.close()
            raise
        self._hold(opened)
        self._scan, self.transcript = scan, transcript
        self._shift = 0
        self._mark = mark_of(self._scan, opened, stamp)
        self.exists = True
        self.alive = lock.is_alive(self.path, writer=self.header.writer)
        return Update(What.RESET)

    def _read_on(self, opened: OpenFile) -> Update:
        changes: list[Change] = []
        apply = self.transcript.apply
        shift = self._shift

        def take(record: Record, offset: int, length: int, line: int) -> None:
            changes.extend(apply(record, Place(offset - shift, length, line)))

        # If reading fails half way, it is not known how far it got: the next look starts over.
        self._mark = None
        stamp = opened.stamp()
        self._scan.feed(opened.file, take, alive=self.alive)
        self._mark = mark_of(self._scan, opened, stamp)
        return Update(What.GREW if changes else What.SAME, tuple(changes))

    def _hold(self, opened: OpenFile | None) -> None:
        """Keep this file open instead of the one before."""
        if self._opened is not None and self._opened is not opened:
            self._opened.close()
        self._opened = opened
        self._mark = None

    # bodies

    def record(self, part: Part) -> Record | None:
        """The record a card's part stands for, read from the file; None if it is not there any
        more.
        """
        return part if isinstance(part, Record) else _parsed(self.raw(part))

    def raw(self, part: Place) -> bytes:
        """The bytes of the record at a place, empty if they are not there any more."""
        with self.reading:
            if self._opened is None:
                return b""
            return self._opened.read(part.offset + self._shift, part.length)

    def duplicate(self) -> int | None:
        """A descriptor of the file as it is now, to be closed by the caller; None if there is
        no file.
        """
        with self.reading:
            return None if self._opened is None else self._opened.duplicate()

    def lines(self, first: int, count: int, most: int) -> list[Line]:
        """Up to `count` lines of the file from line `first` (from 1), of each `most` bytes."""
        with self.reading:
            return [] if self._opened is None else self._opened.lines(first, count, most)


def _unreadable(error: OSError) -> str:
    return f"cannot be read: {error.strerror}"


def _parsed(raw: bytes) -> Record | None:
    try:
        return decode(raw)
    except (ValueError, RecursionError):
        return next((p.item for p in read_pieces(raw) if isinstance(p.item, Record)), None)

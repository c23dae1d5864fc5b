"""Following one sidecar while it is written, replaced, truncated, removed and made again.

A `Follower` holds the transcript of the file and brings it up to date when asked. It reads only
what is new: an append by its own bytes, a rewrite that only extends by comparing it with the
old file, which stays readable through its open descriptor. Anything else starts anew, and so does
each rewrite on Windows, where files are not kept open.

Trade-off accepted: when a file grows in place, only its first line and the bytes just before the
new ones are checked for having changed too. Whoever rewrites a sidecar replaces it or shortens it
first; to compare all of it on each append would make long sessions slow.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Self

from presentview import lock
from presentview.errors import SidecarError
from presentview.folded import FoldedFile
from presentview.openfile import Line, OpenFile
from presentview.records import Header, Record, decode
from presentview.salvage import read_pieces
from presentview.sidecar import Found, Problem, ReadLong, present_path
from presentview.transcript.cards import Change, Part, Place
from presentview.transcript.fold import Transcript
from presentview.transcript.summary import Tally
from presentview.twosidecars import second_notice, shown_sidecar

__all__ = ["Follower", "Update", "What", "parsed"]


class What(Enum):
    """What became of the file since the last look."""

    SAME = "same"
    GREW = "grew"
    RESET = "reset"
    GONE = "gone"


class Update(NamedTuple):
    """The outcome of one look: what happened, and for a file that grew, what changed: cards, and
    the numbers of the turns that may look different, told once there is a `tally`.
    """

    what: What
    changes: tuple[Change, ...] = ()
    turns: frozenset[int] = frozenset()


class Follower:
    """The transcript of one session's sidecar, as of the last `refresh`.

    `alive` says whether the file's writer lives, `exists` whether the file is there, `changed_at`
    (unix ms) when it was last written and `size` how many bytes it had then.
    Safe to use from several threads; `reading` is held while the transcript changes.
    """

    def __init__(
        self,
        session_path: Path,
        *,
        sidecar: Path | None = None,
        read_long: ReadLong | None = None,
    ) -> None:
        """Follow the sidecar of a session, under either name, or the given `sidecar` alone; its
        long lines are read with `read_long`.
        """
        self.session_path = session_path
        self._sidecar = sidecar
        self._read_long = read_long
        self._found = self._find()
        self.reading = threading.RLock()
        self._file = FoldedFile(self.path, read_long=self._read_long)
        self.exists = False
        self.alive = False
        self.changed_at = 0
        self.size = 0
        self.problem = ""
        self._tally: Tally | None = None

    @property
    def tally(self) -> Tally:
        """The session's figures, from now on kept up to date by each look."""
        if self._tally is None:
            self._tally = Tally(self.transcript)
        return self._tally

    @property
    def path(self) -> Path:
        """The sidecar, under the name it has or, where there is none, will have."""
        return self._found.path

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that are read, the one at `path` first."""
        return (self.path,)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of how the session was read; mostly nothing."""
        second = second_notice(self._found)
        return (second,) if second else ()

    @property
    def header(self) -> Header:
        """The file's header, an empty one where there is none."""
        return self._file.header

    @property
    def shift(self) -> int:
        """How many bytes further on a record lies in the file than the places of cards say."""
        return self._file.shift

    @property
    def transcript(self) -> Transcript:
        """What the file tells; another object after each reset."""
        return self._file.transcript

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of the file."""
        found = self._file.scan.problems if self.exists else ()
        if self.problem:
            found = (Problem(self.path, 1, 0, self.problem), *found)
        return found

    def _find(self) -> Found:
        if self._sidecar is not None:
            return Found(self._sidecar)
        try:
            return shown_sidecar(self.session_path)
        except OSError:
            return Found(present_path(self.session_path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go."""
        with self.reading:
            self._file.close()

    # looking

    def refresh(self) -> Update:
        """Look at the file again and bring the transcript up to date.

        Never raises for what the file system does: a file that cannot be read any more keeps
        its transcript and says why in `problems`.
        """
        with self._held():
            self.problem = ""
            self._found = self._find()
            try:
                found = self._stat()
            except (FileNotFoundError, NotADirectoryError):
                return self._tallied(self._gone())
            except OSError as error:
                self.problem = _unreadable(error)
                return Update(What.SAME)
            return self._tallied(self._look_at(found))

    def _stat(self) -> os.stat_result:
        """The file that is folded, as it is now. Raises `OSError`."""
        return os.stat(self.path)

    def _open(self) -> OpenFile:
        """The file that is folded, opened anew. Raises `OSError`."""
        return OpenFile(self.path)

    def _is_alive(self) -> bool:
        """Whether somebody is writing what is followed."""
        return lock.is_alive(self.path, writer=self.header.writer)

    def _tallied(self, update: Update) -> Update:
        """Keep the figures in step with the transcript."""
        if update.what in (What.RESET, What.GONE):
            self._tally = None
        elif self._tally is not None:
            return update._replace(turns=frozenset(self._tally.take(update.changes)))
        return update

    def _look_at(self, found: os.stat_result) -> Update:
        was_alive, writer = self.alive, self.header.writer
        self.alive = self._is_alive()
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
            self.alive = self._is_alive()
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
        self._file.close()
        self._file = FoldedFile(self.path, read_long=self._read_long)
        self.exists = self.alive = False
        self.size = 0
        return Update(What.GONE)

    def _read(self, found: os.stat_result, *, flipped: bool) -> Update:
        if not stat.S_ISREG(found.st_mode):
            raise SidecarError("is no regular file", path=self.path)
        file = self._file
        if file.opened is not None and file.is_of(found):
            changes = file.read_on(alive=self.alive, flipped=flipped)
            update = self._start_over(file.opened) if changes is None else _grown(changes)
        else:
            update = self._other_file()
        self._note(found)
        return update

    def _note(self, found: os.stat_result, /) -> None:
        """Keep when the file was written and how large it is."""
        self.changed_at = found.st_mtime_ns // 1_000_000
        self.size = found.st_size

    def _other_file(self) -> Update:
        opened = self._open()
        try:
            changes = self._file.go_on_in(opened, alive=self.alive)
        except BaseException:
            if self._file.opened is not opened:
                opened.close()
            raise
        return self._start_over(opened) if changes is None else _grown(changes)

    def _start_over(self, opened: OpenFile) -> Update:
        """Read all of a file; only when that succeeded it takes the place of what was shown."""
        old = self._file
        try:
            file = FoldedFile(self.path, opened, self._read_long)
        except BaseException:
            if opened is not old.opened:
                opened.close()
            raise
        if opened is not old.opened:
            old.close()
        self._file = file
        self.exists = True
        self.alive = self._is_alive()
        return Update(What.RESET)

    @contextlib.contextmanager
    def _held(self) -> Iterator[FoldedFile]:
        """The file, for reading from it."""
        with self.reading:
            try:
                yield self._file
            finally:
                self._file.rest()

    # bodies

    def record(self, part: Part) -> Record | None:
        """The record a card's part stands for, read from the file; None if it is not there any
        more.
        """
        return part if isinstance(part, Record) else parsed(self.raw(part))

    def raw(self, part: Place) -> bytes:
        """The bytes of the record at a place, empty if they are not there any more."""
        with self._held() as file:
            try:
                return file.raw(part)
            except FileNotFoundError:
                return b""

    def original(self, file: int = 0) -> int | None:
        """A descriptor of a file of `paths`, to be closed by the caller; None if there is none."""
        return None if file else self.duplicate()

    def duplicate(self) -> int | None:
        """A descriptor of the file whose records are shown, as it is now, to be closed by the
        caller; None if there is no file.
        """
        with self._held() as file:
            try:
                return None if file.opened is None else file.opened.duplicate()
            except FileNotFoundError:
                return None

    def lines(self, first: int, count: int, most: int, file: int = 0) -> list[Line]:
        """Up to `count` lines of a file of `paths` from line `first` (from 1), of each `most`
        bytes.
        """
        if file:
            return []
        with self._held() as held:
            try:
                return held.lines(first, count, most)
            except FileNotFoundError:
                return []


def _grown(changes: tuple[Change, ...]) -> Update:
    return Update(What.GREW if changes else What.SAME, changes)


def _unreadable(error: OSError) -> str:
    return f"cannot be read: {error.strerror}"


def parsed(raw: bytes) -> Record | None:
    """The record spelled by the bytes of its place; None if it is not there any more."""
    try:
        return decode(raw)
    except (ValueError, RecursionError):
        return next((p.item for p in read_pieces(raw) if isinstance(p.item, Record)), None)

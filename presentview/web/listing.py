"""The list of sessions: a row for each, kept up to date without keeping their transcripts."""

from __future__ import annotations

import os
from typing import NamedTuple

from markupsafe import Markup

from presentview import lock
from presentview.follow import Follower
from presentview.limits import ROWS_FOLLOWED
from presentview.sessions import Roots, SessionRef, find_sessions
from presentview.sidecar import find_sidecar
from presentview.web.feeds import Batch, BatchLog, Op, Snapshot
from presentview.web.overview import Row, row_of, summary_of
from presentview.web.templating import render

__all__ = ["Listing"]


class _Stamp(NamedTuple):
    """What must be the same for a row to be still true."""

    path: str
    size: int
    changed_ns: int
    identity: int
    alive: bool


class _Shown(NamedTuple):
    """A row and what it was made from; the `writer` is how that one shows that it lives."""

    stamp: _Stamp
    row: Row
    writer: str
    html: Markup


class Listing:
    """The sessions under some roots and their rows, newest first.

    `look` and `snapshot` may take long: call them in a thread, one at a time. The transcripts of
    sessions that are being recorded are kept for a while, so that their rows cost only what is
    new.
    """

    def __init__(self, roots: Roots, epoch: str) -> None:
        self.roots = roots
        self.log = BatchLog(epoch)
        self.refs: dict[str, SessionRef] = {}
        self._shown: dict[str, _Shown] = {}
        self._order: list[str] = []
        self._followers: dict[str, Follower] = {}

    def scan(self) -> dict[str, SessionRef]:
        """Look for sessions again; all there are, by id."""
        self.refs = find_sessions(self.roots)
        return self.refs

    def look(self) -> Batch | None:
        """Bring the rows up to date and return the changes to the list, None if there are none."""
        refs = self.scan()
        before = dict(self._shown)
        for gone in before.keys() - refs.keys():
            del self._shown[gone]
            self._drop(gone)
        for ref in refs.values():
            self._refresh(ref)
        ops = self._ops(before)
        return self.log.add(ops) if ops else None

    def snapshot(self) -> Snapshot:
        """All rows, as of the last `look`."""
        rows = Markup("").join(self._shown[session].html for session in self._order)
        return Snapshot(self.log.position, {"sessions": rows})

    def close(self) -> None:
        """Let all files go."""
        for session in list(self._followers):
            self._drop(session)

    def _drop(self, session: str) -> None:
        if follower := self._followers.pop(session, None):
            follower.close()

    def _refresh(self, ref: SessionRef) -> None:
        shown = self._shown.get(ref.id)
        stamp = _stamp(ref, shown.writer if shown else "")
        if shown is not None and shown.stamp == stamp:
            return
        follower = self._followers.pop(ref.id, None) or Follower(ref.path)
        follower.refresh()
        writer = follower.header.writer
        row = row_of(ref.id, ref.path, follower.header, summary_of(follower), follower.changed_at)
        html = render("_row.html", row=row).strip()
        self._shown[ref.id] = _Shown(stamp, row, writer, html)
        if not follower.alive:
            follower.close()
            return
        self._followers[ref.id] = follower
        if len(self._followers) > ROWS_FOLLOWED:
            self._drop(next(iter(self._followers)))

    def _ops(self, before_look: dict[str, _Shown]) -> list[Op]:
        shown = self._shown
        order = sorted(shown, key=lambda session: (-shown[session].row.when, session))
        ops = [Op("remove", f"s{session}") for session in self._order if session not in shown]
        # Rows keep their places but for those that changed. From the end, so that the row to
        # stand in front of is always in its place already.
        before = ""
        for session in reversed(order):
            old, new = before_look.get(session), shown[session]
            if old is None or (old.html, old.row.when) != (new.html, new.row.when):
                row = f"s{session}"
                ops.append(Op("add", row, parent="sessions", before=before, html=new.html))
            before = f"s{session}"
        self._order = order
        return ops


def _stamp(ref: SessionRef, writer: str) -> _Stamp:
    path = ref.path
    try:
        path = find_sidecar(ref.path).path
        found = os.stat(path)
    except OSError:
        return _Stamp(os.fspath(path), -1, 0, 0, False)
    alive = lock.is_alive(path, writer=writer)
    return _Stamp(os.fspath(path), found.st_size, found.st_mtime_ns, found.st_ino, alive)

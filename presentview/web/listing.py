"""The list of sessions: a row for each, kept up to date without keeping their transcripts.

What a row says is found by folding the whole file. Where there are many files that is done a few
at a time; until its turn comes a row shows what the beginning and the end of its file tell.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from presentview import lock
from presentview.follow import Follower
from presentview.limits import LISTING_READ_BYTES, PAGE_ROWS, ROWS_FOLLOWED
from presentview.sessionfiles import follow, parts_of, source_of
from presentview.sessions import Roots, SessionRef, find_sessions
from presentview.sidecar import SUFFIX, present_path
from presentview.twosidecars import shown_sidecar
from presentview.web.apart import Apart
from presentview.web.feeds import Batch, BatchLog, Op, Snapshot
from presentview.web.glance import glance
from presentview.web.listquery import SORTS, STATES, Listed, Query
from presentview.web.overview import row_of, summary_of
from presentview.web.templating import environment, render

__all__ = ["Listing"]

_FRAGMENTS: Final = ("choices", "listed", "empty", "pager")


class _Stamp(NamedTuple):
    """What must be the same for a row to be still true."""

    path: str
    size: int
    changed_ns: int
    identity: int
    alive: bool


class _Shown:
    """A row and what it was made from; the `writer` is how that one shows that it lives."""

    __slots__ = ("_html", "listed", "stamp", "writer")

    def __init__(self, stamp: _Stamp, listed: Listed, writer: str) -> None:
        self.stamp = stamp
        self.listed = listed
        self.writer = writer
        self._html: Markup | None = None

    @property
    def html(self) -> Markup:
        """The row, drawn when it is first shown."""
        if self._html is None:
            self._html = render("_row.html", row=self.listed.row, listed=self.listed).strip()
        return self._html


class _Stale(NamedTuple):
    """A session whose row is missing or no longer true, and its file as it is now."""

    ref: SessionRef
    stamp: _Stamp


class Listing:
    """The sessions under some roots and their rows, newest first; what belongs to a session, as
    the transcripts of its sub-agents do, has no row of its own.

    `look`, `snapshot` and `page` may take long: call them in a thread, one at a time. The
    transcripts of sessions that are being recorded are kept for a while, so that their rows cost
    only what is new. A page that is live shows the first rows of all.
    """

    def __init__(
        self,
        roots: Roots,
        epoch: str,
        apart: Apart | None = None,
        *,
        read_at_once: int = LISTING_READ_BYTES,
    ) -> None:
        """List what is under `roots`; each look reads about `read_at_once` bytes of new files."""
        self.roots = roots
        self.log = BatchLog(epoch)
        self.refs: dict[str, SessionRef] = {}
        self.unread = 0
        self._read_at_once = read_at_once
        self._apart = apart
        self._shown: dict[str, _Shown] = {}
        self._followers: dict[str, Follower] = {}
        self._top: dict[str, Listed] = {}
        self._fragments: dict[str, Markup] = {}

    def scan(self) -> dict[str, SessionRef]:
        """Look for sessions again; all there are, by id."""
        self.refs = find_sessions(self.roots)
        return self.refs

    def look(self) -> Batch | None:
        """Bring the rows up to date and return the changes to the list, None if there are none.

        After it `unread` sessions have a row that waits for their file to be read.
        """
        refs = {ref.id: ref for ref in self.scan().values() if not ref.parent}
        gone = self._shown.keys() - refs.keys()
        for session in gone:
            del self._shown[session]
            self._drop(session)
        stale = [found for ref in refs.values() if (found := self._stale(ref)) is not None]
        if not (stale or gone) and self._fragments:
            return None
        self._renew(stale)
        self.unread = sum(1 for shown in self._shown.values() if not shown.listed.is_read)
        ops = self._ops()
        return self.log.add(ops) if ops else None

    def snapshot(self) -> Snapshot:
        """The first rows and what stands around them, as of the last `look`."""
        rows = Markup("").join(self._shown[session].html for session in self._top)
        fragments = self._fragments or self._drawn(Query())[1]
        return Snapshot(self.log.position, {"sessions": rows, **fragments})

    def page(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """What the page shows that answers an address, as of the last `look`."""
        query = Query.of(asked)
        rows, fragments = self._drawn(query)
        html = Markup("").join(self._shown[listed.row.id].html for listed in rows)
        return {
            "query": query,
            "position": self.log.position,
            "rows": html,
            "fragments": fragments,
        }

    def close(self) -> None:
        """Let all files go."""
        for session in list(self._followers):
            self._drop(session)

    def _drop(self, session: str) -> None:
        if follower := self._followers.pop(session, None):
            follower.close()

    # reading

    def _stale(self, ref: SessionRef) -> _Stale | None:
        shown = self._shown.get(ref.id)
        stamp = _stamp(ref, shown.writer if shown else "")
        if shown is not None and shown.stamp == stamp and shown.listed.is_read:
            return None
        return _Stale(ref, stamp)

    def _renew(self, stale: list[_Stale]) -> None:
        """Read what is new of followed sessions, and of the others the newest, as many as go."""
        others: list[_Stale] = []
        for found in stale:
            if found.ref.id in self._followers:
                self._read(found)
            else:
                others.append(found)
        budget = self._read_at_once
        all_fit = sum(found.stamp.size for found in others) <= budget
        may_be_late = all_fit or not self._peek(others)
        others.sort(key=lambda found: -self._when(found))
        for found in others:
            if budget <= 0 or (found.stamp.size > budget and not may_be_late):
                continue
            self._read(found)
            budget -= max(found.stamp.size, 1)

    def _when(self, found: _Stale) -> int:
        shown = self._shown.get(found.ref.id)
        return shown.listed.row.when if shown else found.stamp.changed_ns // 1_000_000

    def _peek(self, stale: list[_Stale]) -> bool:
        """Give a row to each session that was never read; whether there was a new one."""
        peeked = False
        for ref, stamp in stale:
            shown = self._shown.get(ref.id)
            if shown is None or (shown.stamp != stamp and not shown.listed.is_read):
                seen = glance(ref, stamp.path, stamp.size, stamp.changed_ns // 1_000_000)
                self._shown[ref.id] = _Shown(stamp, seen.listed, seen.writer)
                peeked = True
        return peeked

    def _read(self, found: _Stale) -> None:
        ref = found.ref
        follower = self._followers.pop(ref.id, None)
        if follower is not None and follower.paths != parts_of(ref.path).paths:
            follower.close()
            follower = None
        follower = follower or self._follower(ref)
        follower.refresh()
        summary = summary_of(follower)
        row = row_of(ref.id, ref.path, follower.header, summary, follower.changed_at)
        listed = Listed.of(row, summary, follower.size)
        self._shown[ref.id] = _Shown(found.stamp, listed, follower.header.writer)
        if not follower.alive:
            follower.close()
            return
        self._followers[ref.id] = follower
        if len(self._followers) > ROWS_FOLLOWED:
            self._drop(next(iter(self._followers)))

    def _follower(self, ref: SessionRef) -> Follower:
        return follow(ref.path, read_long=self._apart.pieces if self._apart else None)

    # what a page shows

    def _drawn(self, query: Query) -> tuple[list[Listed], dict[str, Markup]]:
        """The rows that answer a query, and what stands around them."""
        every = [shown.listed for shown in self._shown.values()]
        found = query.found(every)
        in_state = [one for one in found if query.state in ("", one.row.state)]
        pages = max(1, -(-len(in_state) // PAGE_ROWS))
        query = query._replace(page=min(query.page, pages))
        first = (query.page - 1) * PAGE_ROWS
        rows = query.ordered(in_state)[first : first + PAGE_ROWS]
        states = [one.row.state for one in found]
        values = {
            "query": query,
            "states": [("", len(found)), *((state, states.count(state)) for state in STATES)],
            "sorts": [(name, label) for name, (label, _) in SORTS.items()],
            "count": len(in_state),
            "every": len(every),
            "first": first,
            "shown": len(rows),
            "pages": pages,
            "unread": self.unread,
        }
        return rows, {name: _fragment(name, values) for name in _FRAGMENTS}

    def _ops(self) -> list[Op]:
        """What brings a page that shows the first rows up to date.

        Rows keep their places but for those that changed. From the end, so that the row to stand
        in front of is always in its place already.
        """
        rows, fragments = self._drawn(Query())
        old, new = self._top, {listed.row.id: listed for listed in rows}
        ops = [Op("remove", f"s{session}") for session in old if session not in new]
        before = ""
        for session in reversed(new):
            row = f"s{session}"
            if old.get(session) != new[session]:
                html = self._shown[session].html
                ops.append(Op("add", row, parent="sessions", before=before, html=html))
            before = row
        for name, html in fragments.items():
            if self._fragments.get(name) != html:
                ops.append(Op("replace", name, html=html))
        self._top, self._fragments = new, fragments
        return ops


def _fragment(name: str, values: Mapping[str, Any]) -> Markup:
    """One block of the list's page."""
    template = environment().get_template("list.html")
    written = template.blocks[name](template.new_context(dict(values)))
    # Written by a template that escapes.
    return Markup("".join(written)).strip()  # noqa: S704


def _stamp(ref: SessionRef, writer: str) -> _Stamp:
    """What a session's files are like now, its own log among them where it is read."""
    session = os.fspath(ref.path)
    sidecars = [found for path in _sidecars(session) if (found := _found(path))]
    sidecar = sidecars[0] if sidecars else None
    if len(sidecars) > 1:
        shown = os.fspath(shown_sidecar(session).path)
        sidecar = next((found for found in sidecars if found.path == shown), sidecar)
    own = _found(session)
    if own is not None and source_of(session, own.stat) is None:
        own = None
    first = sidecar or own
    if first is None:
        return _Stamp(session, -1, 0, 0, False)
    alive = lock.is_alive(first.path, writer=writer)
    stat = first.stat
    size, changed, identity = stat.st_size, stat.st_mtime_ns, stat.st_ino
    if sidecar is not None and own is not None:
        size += own.stat.st_size
        changed = max(changed, own.stat.st_mtime_ns)
        identity ^= own.stat.st_ino
    return _Stamp(first.path, size, changed, identity, alive)


class _File(NamedTuple):
    """A file that is there."""

    path: str
    stat: os.stat_result


def _sidecars(session: str) -> tuple[str, str]:
    """The documented name and the Go program's."""
    return present_path(session), session + SUFFIX


def _found(path: str) -> _File | None:
    try:
        return _File(path, os.stat(path))
    except OSError:
        return None

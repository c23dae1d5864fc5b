"""What is asked of the list of sessions: which rows, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import msgspec

from presentview.limits import LARGE_FILE, LIST_QUERY_CHARS
from presentview.transcript.summary import Summary
from presentview.web.numbers import number_of
from presentview.web.overview import Row

__all__ = ["SORTS", "STATES", "UNREAD", "Listed", "Query"]

STATES: Final = ("live", "failed", "interrupted", "finished")
"""The states that rows can be chosen by."""

UNREAD: Final = "unread"
"""The state of a row whose file was not read yet."""


class Listed(msgspec.Struct, frozen=True):
    """A row of the list and what it is found and sorted by. `wall_ms` is -1 where it is not
    recorded, and so is `errors` in a row that was not read yet; `size` is the file's, in bytes.
    """

    row: Row
    wall_ms: int
    errors: int
    size: int

    @classmethod
    def of(cls, row: Row, summary: Summary, size: int) -> Listed:
        """A row with the figures of its session."""
        wall = -1 if summary.wall_ms is None else summary.wall_ms
        return cls(row, wall, -1 if row.state == UNREAD else summary.errors, size)

    @property
    def is_read(self) -> bool:
        """Whether all of the file was read."""
        return self.row.state != UNREAD

    @property
    def is_large(self) -> bool:
        """Whether the file is so large that opening it takes a moment."""
        return self.size >= LARGE_FILE


SORTS: Final[Mapping[str, tuple[str, Callable[[Listed], int]]]] = {
    "last": ("Last event", lambda _: 0),
    "duration": ("Duration", lambda listed: listed.wall_ms),
    "errors": ("Errors", lambda listed: listed.errors),
    "size": ("Size", lambda listed: listed.size),
}
"""The orders there are: what each is called, and the amount of which the most comes first."""


class Query(NamedTuple):
    """Which rows a page shows: those that hold all of the `words` and are in the `state` (empty:
    any), in the order of `sort`, the most first, and of them the `page`, from 1.
    """

    words: str = ""
    state: str = ""
    sort: str = "last"
    page: int = 1

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> Query:
        """The query of an address; what it does not say, or what makes no sense, is the default."""
        state, sort = asked.get("state", ""), asked.get("sort", "")
        return cls(
            words=asked.get("q", "").strip()[:LIST_QUERY_CHARS],
            state=state if state in STATES else "",
            sort=sort if sort in SORTS else "last",
            page=max(1, number_of(asked, "page", 1, digits=6)),
        )

    @property
    def is_default(self) -> bool:
        """Whether this shows the newest of all sessions, as `/` does."""
        return self == Query()

    def address(self, **other: Any) -> str:
        """Where this query is answered, or with something `other` the one changed so. Unless
        the page is named, it is the first.
        """
        wanted = self._replace(**{"page": 1, **other})
        named = {"q": wanted.words, "state": wanted.state}
        named["sort"] = "" if wanted.sort == "last" else wanted.sort
        named["page"] = str(wanted.page) if wanted.page > 1 else ""
        filled = {key: value for key, value in named.items() if value}
        return f"/?{urlencode(filled, errors='replace')}" if filled else "/"

    def found(self, rows: Iterable[Listed]) -> list[Listed]:
        """Those of `rows` that hold all of the words, whatever their state."""
        words = self.words.casefold().split()
        if not words:
            return list(rows)
        return [listed for listed in rows if all(word in _text(listed.row) for word in words)]

    def ordered(self, rows: Iterable[Listed]) -> list[Listed]:
        """`rows` in the order asked for; where that leaves it open, the newest first."""
        amount = SORTS[self.sort][1]
        return sorted(rows, key=lambda one: (-amount(one), -one.row.when, one.row.id))


def _text(row: Row) -> str:
    return f"{row.title}\n{row.where}\n{row.state}\n{row.state_label}".casefold()

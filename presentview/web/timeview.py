"""What of a session's times a page shows: from when to when, and which rows are unfolded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

import msgspec

from presentview.limits import TIMING_FOLDS
from presentview.transcript.timemap import TimeMap

__all__ = ["SORTS", "TimeView", "Window", "acted", "time_view_of", "window_of"]

SORTS: Final = ("own", "sum", "calls", "errors", "p50", "p95", "max", "share", "name")
"""What the table of tools can be sorted by, the first one by default."""

_ROW: Final = re.compile(r"(?:s|[tc]\d{1,12})(?:-\d{1,9})*")
_CARD: Final = re.compile(r"c\d{1,12}")
_SPAN: Final = re.compile(r"(\d{1,3}(?:\.\d{1,9})?):(\d{1,3}(?:\.\d{1,9})?)")
_MOMENT: Final = re.compile(r"-?\d{1,15}")
_ZOOM: Final = 2.0
_PAN: Final = 0.5
_NARROWEST: Final = 1e-5


class TimeView(msgspec.Struct, frozen=True):
    """What an address asks for; fields that ask for nothing are None or empty.

    `start` and `end` are ms from the beginning of the session's line. `opened` and `shut` are
    the rows that are unfolded or folded other than `base` ("all", "none", or "" for what fits)
    says. `sort` is one of `SORTS`, `at` a card whose row is to be seen.
    """

    start: int | None = None
    end: int | None = None
    base: str = ""
    opened: tuple[str, ...] = ()
    shut: tuple[str, ...] = ()
    sort: str = ""
    at: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """The view as the fields of a query, without `at`."""
        values = {
            "from": "" if self.start is None else str(self.start),
            "to": "" if self.end is None else str(self.end),
            "rows": self.base,
            "open": ".".join(self.opened),
            "shut": ".".join(self.shut),
            "sort": self.sort,
        }
        return {name: value for name, value in values.items() if value}

    @property
    def query(self) -> str:
        """The view as a query, empty for what a page shows at first."""
        return urlencode(self.fields)

    def but(self, **changes: str) -> str:
        """The query of this view with other values for some fields."""
        return urlencode({k: v for k, v in (self.fields | changes).items() if v})

    def is_open(self, row: str, *, by_default: bool) -> bool:
        """Whether a row is unfolded."""
        if row in self.opened:
            return True
        if row in self.shut or self.base == "none":
            return False
        return by_default or self.base == "all"


def time_view_of(query: Mapping[str, str]) -> TimeView:
    """The view an address asks for; what means nothing is left out."""
    base, sort, at = query.get("rows", ""), query.get("sort", ""), query.get("at", "")
    return TimeView(
        start=_moment(query.get("from", "")),
        end=_moment(query.get("to", "")),
        base=base if base in ("all", "none") else "",
        opened=_rows(query.get("open", "")),
        shut=_rows(query.get("shut", "")),
        sort=sort if sort in SORTS[1:] else "",
        at=at if _CARD.fullmatch(at) else "",
    )


def acted(view: TimeView, act: str, line: TimeMap) -> TimeView:
    """The view after what a button does: `open:<row>`, `shut:<row>`, `rows:all`, `rows:none`,
    `zoom:in`, `zoom:out`, `zoom:all`, `pan:left`, `pan:right`, and `span:<low>:<high>` for a part
    of the line (%). Anything else does nothing.
    """
    verb, _, what = act.partition(":")
    if verb == "rows" and what in ("all", "none"):
        return msgspec.structs.replace(view, base=what, opened=(), shut=())
    if verb in ("open", "shut") and _ROW.fullmatch(what):
        opened = tuple(row for row in view.opened if row != what)
        shut = tuple(row for row in view.shut if row != what)
        if verb == "open":
            opened = (*opened, what)[-TIMING_FOLDS:]
        else:
            shut = (*shut, what)[-TIMING_FOLDS:]
        return msgspec.structs.replace(view, opened=opened, shut=shut)
    if verb in ("zoom", "pan"):
        return _moved(view, what, line)
    if verb == "span" and (found := _SPAN.fullmatch(what)):
        return _showing(view, float(found[1]), float(found[2]), line)
    return view


def _moved(view: TimeView, what: str, line: TimeMap) -> TimeView:
    shown = window_of(view, line)
    width, middle = shown.high - shown.low, (shown.low + shown.high) / 2
    if what == "all":
        return msgspec.structs.replace(view, start=None, end=None)
    if what in ("in", "out"):
        width = min(100.0, width / _ZOOM if what == "in" else width * _ZOOM)
    elif what in ("left", "right"):
        middle += width * _PAN * (-1 if what == "left" else 1)
    return _showing(view, middle - width / 2, middle + width / 2, line)


def _showing(view: TimeView, low: float, high: float, line: TimeMap) -> TimeView:
    """The view with the part of the line from `low` to `high` %, moved to where there is one."""
    width = max(high - low, _NARROWEST)
    if width >= 100 - _NARROWEST:
        return msgspec.structs.replace(view, start=None, end=None)
    low = min(max(0.0, low), 100.0 - width)
    start, end = line.at(low) - line.start, line.at(low + width) - line.start
    return msgspec.structs.replace(view, start=start, end=max(end, start + 1))


class Window:
    """The part of a line that is shown: it lies from `low` to `high` % on the whole."""

    def __init__(self, line: TimeMap, low: float, high: float) -> None:
        self.line = line
        self.low = low
        self.high = high
        self._scale = 100.0 / (high - low)

    @property
    def is_whole(self) -> bool:
        """Whether all of the line is shown."""
        return self.low <= 0 and self.high >= 100

    def x(self, at: int) -> float:
        """Where a moment lies in the window, in %; at its edge if it is not in it."""
        return min(100.0, max(0.0, self.place(self.line.x(at))))

    def place(self, x: float) -> float:
        """Where in the window lies what is at `x` % of the line; outside 0 to 100 if nowhere."""
        return (x - self.low) * self._scale

    def shows(self, start: int, end: int) -> bool:
        """Whether something that lasted from `start` to `end` is to be seen."""
        return self.line.x(end) >= self.low and self.line.x(start) <= self.high


def window_of(view: TimeView, line: TimeMap) -> Window:
    """The part of the line a view shows; all of it if the view names none that is there."""
    low = 0.0 if view.start is None else line.x(line.start + view.start)
    high = 100.0 if view.end is None else line.x(line.start + view.end)
    if high - low < _NARROWEST:
        middle = min(max((low + high) / 2, _NARROWEST), 100 - _NARROWEST)
        low, high = middle - _NARROWEST / 2, middle + _NARROWEST / 2
    return Window(line, low, high)


def _moment(text: str) -> int | None:
    return int(text) if _MOMENT.fullmatch(text) else None


def _rows(text: str) -> tuple[str, ...]:
    rows = text[: 16 * TIMING_FOLDS].split(".")[:TIMING_FOLDS]
    return tuple(row for row in rows if _ROW.fullmatch(row))

"""What a person reads instead of raw values: durations, sizes, counts, times, paths."""

from __future__ import annotations

import os
from datetime import UTC, datetime

__all__ = ["bounded", "duration", "instant", "iso", "path_text", "percent", "plural", "size"]

_SECOND = 1000
_MINUTE = 60 * _SECOND
_HOUR = 60 * _MINUTE


def bounded(ms: int | None, sign: str, *, inferred: bool) -> str:
    """`ms` as `duration` spells it, behind the `sign` of a bound if it is `inferred`."""
    return (f"{sign} " if inferred and ms else "") + duration(ms)


def duration(ms: int | None) -> str:
    """`ms` as `412 ms`, `12.3 s`, `2 m 05 s` or `1 h 02 m`; empty for None.

    Always rounded down, so that a running clock never shows time that has not passed.
    """
    if ms is None or ms < 0:
        return ""
    if ms < _SECOND:
        return f"{ms} ms"
    if ms < _MINUTE:
        return f"{ms // 100 / 10:.1f} s"
    if ms < _HOUR:
        return f"{ms // _MINUTE} m {ms % _MINUTE // _SECOND:02} s"
    return f"{ms // _HOUR:,} h {ms % _HOUR // _MINUTE:02} m"


def percent(part: float | None) -> str:
    """A part of 1 as `12 %` or `< 1 %`; empty for None."""
    return "" if part is None else "< 1 %" if 0 < part < 0.01 else f"{100 * part:.0f} %"


def size(count: int) -> str:
    """`count` bytes as `812 B`, `64.0 kB` or `2.1 MB`, in steps of 1000."""
    if count < 1000:
        return f"{count} B"
    value = count / 1000
    for unit in ("kB", "MB"):
        if value < 1000:
            return f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 turn`, `2 turns`, `1,234 calls`; `nouns` where the plural is irregular."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def iso(ms: int) -> str:
    """Unix ms as an ISO 8601 time in UTC, to the millisecond; empty for 0 and for what no
    calendar holds.
    """
    moment = _moment(ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z") if moment else ""


def instant(ms: int) -> str:
    """Unix ms as `30 Nov 2026, 14:02 UTC`; empty for 0 and for what no calendar holds."""
    moment = _moment(ms)
    return f"{moment.day} {moment:%b %Y, %H:%M} UTC" if moment else ""


def _moment(ms: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(ms / 1000, UTC) if ms > 0 else None
    except (OverflowError, OSError, ValueError):
        return None


def path_text(path: str | os.PathLike[str]) -> str:
    """`path` as text that can be sent: bytes of a file name that are no UTF-8 become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")

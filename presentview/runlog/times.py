"""Moments as a run log spells them, to the nanosecond: in records, and in the ids of runs."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ["MS", "SECOND", "id_ns", "moment", "new_id", "ns_of", "parse_ns", "rfc3339"]

MS: Final = 1_000_000
"""Nanoseconds in a millisecond."""
SECOND: Final = 1_000_000_000
"""Nanoseconds in a second."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ID_FORMAT: Final = "%Y%m%d-%H%M%S"
_ID: Final = re.compile(r"([0-9]{8}-[0-9]{6})(?:-[0-9]+)?", re.ASCII)
_TIME: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)


def rfc3339(ns: int) -> str:
    """Unix `ns` as a time in UTC, with as many digits of the second as it needs."""
    seconds, rest = divmod(ns, SECOND)
    text = (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat()
    return f"{text}.{rest:09}".rstrip("0").rstrip(".") + "Z"


def parse_ns(text: str) -> int | None:
    """The unix ns of an RFC 3339 time, which may be before 1970; None for anything else."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    day, fraction, sign, hours, minutes = found.groups()
    if sign and (int(hours) > 23 or int(minutes) > 59):
        return None
    try:
        seconds = (datetime.fromisoformat(day + "+00:00") - _EPOCH) // timedelta(seconds=1)
    except ValueError:
        return None
    if sign:
        offset = int(hours) * 3600 + int(minutes) * 60
        seconds += offset if sign == "-" else -offset
    return seconds * SECOND + int((fraction or "")[:9].ljust(9, "0"))


def ns_of(when: datetime) -> int:
    """`when` in unix ns; one without a zone is taken as UTC."""
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return (when - _EPOCH) // timedelta(microseconds=1) * 1000


def moment(ns: int) -> datetime:
    """Unix `ns` as a time in UTC, cut to the microsecond; the nearest one a calendar holds."""
    try:
        return _EPOCH + timedelta(microseconds=ns // 1000)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if ns > 0 else datetime.min.replace(tzinfo=UTC)


def new_id(now: datetime) -> str:
    """The id of a run that starts at `now`: `20261130-144854`, in UTC. A time without a zone is
    taken as UTC.
    """
    return moment(ns_of(now)).strftime(_ID_FORMAT)


def id_ns(run_id: str) -> int | None:
    """The unix ns of the second that `run_id` is named by, None if it is named otherwise."""
    found = _ID.fullmatch(run_id)
    try:
        return ns_of(datetime.strptime(found[1], _ID_FORMAT)) if found else None  # noqa: DTZ007
    except ValueError:
        return None

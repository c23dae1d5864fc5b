"""How long one call took, by what is recorded of it, and whether that can be true.

A duration that cannot be true is shown as it stands in the file, and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from presentview.transcript.cards import Card, ToolCard

__all__ = [
    "ABSURD",
    "BACKWARD",
    "LONGEST_MS",
    "Ran",
    "counted_ms",
    "is_absurd",
    "longest_call",
    "ran",
    "ran_as_recorded",
]

ABSURD: Final = "absurd"
"""Marks a call whose duration cannot be true."""

BACKWARD: Final = "backward"
"""Marks a call one of whose times lies before one that was recorded earlier."""

LONGEST_MS: Final = 30 * 24 * 3600 * 1000
"""Longer than this no call takes."""

_ROUNDING_MS: Final = 1
_CLOCK_DRIFT: Final = 1000


class Ran(NamedTuple):
    """When a call ran, in unix ms; None where that is not recorded.

    From `asked` to `end` it lasted for the agent; in the last `duration` ms of that, from `start`
    on, it ran, and before it waited for approval or its turn.
    """

    asked: int | None
    start: int | None
    end: int | None
    duration: int | None
    absurd: bool = False


def is_absurd(duration: int, earliest: int | None = None, latest: int | None = None) -> bool:
    """Whether a call cannot have taken `duration` ms: a negative time, more than 30 days, or
    more than lies between `earliest` and `latest`, the recorded times around it.

    Rounding to ms is allowed for, and a clock that was set right slowly meanwhile.
    """
    if not 0 <= duration <= LONGEST_MS:
        return True
    if earliest is None or latest is None:
        return False
    room = latest - earliest
    return duration > room and duration > room + room // _CLOCK_DRIFT + _ROUNDING_MS


def ran(
    recorded: int,
    asked: int | None,
    end: int | None,
    earliest: int | None,
    latest: int | None,
    *,
    ended: bool,
    begun: int | None = None,
) -> Ran:
    """When a call ran that was `asked` for and came to its `end` at these times.

    `recorded` is its recorded duration, 0 for none, in whose place the time from `earliest` to
    `latest` is taken if those are the recorded times of its dispatch and result; from `begun`
    on, if it was only allowed to run then. Without a result (`ended` is False) it has neither
    an end nor a duration.
    """
    if not ended:
        return Ran(asked, None, None, None)
    duration = _taken(recorded, earliest if begun is None else begun, latest)
    if duration is None:
        return Ran(asked, None, end, None)
    if is_absurd(duration, earliest, latest):
        return Ran(asked, None, end, None, absurd=True)
    return Ran(asked, None if end is None else end - duration, end, duration)


def ran_as_recorded(card: ToolCard) -> Ran:
    """When a call ran by its own records alone."""
    asked, end = card.at or None, card.ended_at or None
    begun = card.begins_at or None
    return ran(card.recorded_ms, asked, end, asked, end, ended=card.result is not None, begun=begun)


def counted_ms(card: ToolCard) -> int | None:
    """How long a call took in ms by its own records, None where that is not known or cannot be
    true.

    What adds up or compares durations uses this; `ToolCard.duration_ms` is what is shown.
    """
    if card.result is None:
        return None
    asked, end = card.at or None, card.ended_at or None
    duration = _taken(card.recorded_ms, card.begins_at or None, end)
    return None if duration is None or is_absurd(duration, asked, end) else duration


def longest_call(cards: Iterable[Card | None]) -> ToolCard | None:
    """The call at the top among these that took longest, the first of equal ones; None while
    none is known to have ended.
    """
    found: ToolCard | None = None
    most = 0
    for card in cards:
        if not isinstance(card, ToolCard) or card.kind != "tool" or card.parent is not None:
            continue
        took = counted_ms(card) or 0
        if took > most or (found is not None and took == most and card.number < found.number):
            found, most = card, took
    return found


def _taken(recorded: int, earliest: int | None, latest: int | None) -> int | None:
    """The recorded duration, else the time from the first moment to the last."""
    if recorded or earliest is None or latest is None:
        return recorded or None
    return latest - earliest

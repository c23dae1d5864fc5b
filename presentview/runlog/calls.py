"""Calls that a run which was cut off has left without a response: models refuse such messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from presentview.eventlog.recovery import INTERRUPTED_TEXT
from presentview.runlog.records import Activity, Message

__all__ = ["answered", "unanswered"]

ACTIVITY: Final = "activity"


def unanswered(messages: Sequence[Message]) -> list[int]:
    """The numbers, from 0, of the messages with a request that no response answers.

    A response answers one request with its id, the nearest in front of it that is still open.
    """
    waiting: dict[str, list[int]] = {}
    for number, message in enumerate(messages):
        activity = message.activity
        if activity is not None and activity.kind == "request":
            waiting.setdefault(activity.id, []).append(number)
        elif activity is not None and activity.kind == "response" and waiting.get(activity.id):
            waiting[activity.id].pop()
    return sorted(number for numbers in waiting.values() for number in numbers)


def answered(messages: Sequence[Message]) -> list[Message]:
    """`messages` with a response for each request that none answers: it failed, interrupted.

    It stands behind the requests and responses that follow one another there.
    """
    missing = frozenset(unanswered(messages))
    whole: list[Message] = []
    waiting: list[Message] = []
    for number, message in enumerate(messages):
        if message.activity is None:
            whole += waiting
            waiting = []
        whole.append(message)
        if number in missing and message.activity is not None:
            waiting.append(_interrupted(message.activity))
    return whole + waiting


def _interrupted(call: Activity) -> Message:
    response = Activity("response", call.id, call.name, call.arguments, failure=INTERRUPTED_TEXT)
    return Message(ACTIVITY, "", response)

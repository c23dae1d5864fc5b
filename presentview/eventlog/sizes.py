"""How large messages are for the model, in bytes of text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from presentview.eventlog.events import EventType, SessionEvent
from presentview.eventlog.gotext import byte_count, is_data_url
from presentview.eventlog.payloads import METADATA_LOGICAL_CHARS, ContentPart, ModelMessage
from presentview.limits import VISION_CHARS

__all__ = [
    "estimate_logical_chars",
    "estimate_messages_chars",
    "metadata_int",
    "recorded_chars",
    "sum_logical_chars_from_events",
]


def estimate_logical_chars(message: ModelMessage) -> int:
    """About how large `message` is for the model, in bytes, before anything is stripped of it."""
    return (
        byte_count(message.role)
        + sum(map(_part_chars, message.content))
        + sum(byte_count(call.name) + len(call.input) for call in message.tool_calls)
        + sum(byte_count(each.name) + byte_count(each.content) for each in message.tool_results)
    )


def estimate_messages_chars(messages: Iterable[ModelMessage]) -> int:
    """The sum of `estimate_logical_chars` over `messages`."""
    return sum(map(estimate_logical_chars, messages))


def sum_logical_chars_from_events(events: Iterable[SessionEvent], agent_id: str = "") -> int:
    """The size of all messages of users and assistants, as it was before they were stored.

    With an `agent_id` only its events count.
    """
    total = 0
    for event in events:
        if event.type not in (EventType.USER_MESSAGE, EventType.ASSISTANT_MESSAGE):
            continue
        if agent_id and event.agent_id != agent_id:
            continue
        recorded = metadata_int(event.metadata, METADATA_LOGICAL_CHARS)
        if recorded <= 0:
            message = event.payload(ModelMessage)
            recorded = 0 if message is None else estimate_logical_chars(message)
        total += recorded
    return total


def recorded_chars(event: SessionEvent, message: ModelMessage) -> int:
    """The size of the `message` of an event: as it was before it was stored, where that is
    recorded.
    """
    recorded = metadata_int(event.metadata, METADATA_LOGICAL_CHARS)
    return recorded if recorded > 0 else estimate_logical_chars(message)


def metadata_int(metadata: Mapping[str, Any] | None, key: str) -> int:
    """A number in an event's metadata without its fraction, 0 where there is none."""
    value = (metadata or {}).get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if math.isfinite(value) else 0


def _part_chars(part: ContentPart) -> int:
    chars = byte_count(part.text) + byte_count(part.source)
    if is_data_url(part.url) and part.type in ("image", "image_url", "attachment_ref"):
        return chars + (0 if part.type == "attachment_ref" else VISION_CHARS)
    return chars + byte_count(part.url)

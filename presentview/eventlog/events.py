"""One event of a session log, and how it stands as one line of JSON."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import msgspec

from presentview.eventlog.decoding import decode, in_usual_case
from presentview.eventlog.wire import ClassOf, Json, Untagged, W, as_bytes, encode
from presentview.records import Int64

__all__ = ["EventType", "SessionEvent", "decode_line", "encode_event", "now"]


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class EventType(StrEnum):
    """The types of event there are. An event may carry any other string as its type."""

    TURN_START = "turn/start"
    TURN_END = "turn/end"
    STEP_START = "step/start"
    STEP_END = "step/end"
    USER_MESSAGE = "user/message"
    MESSAGE_START = "message/start"
    MESSAGE_UPDATE = "message/update"
    MESSAGE_END = "message/end"
    ASSISTANT_MESSAGE = "assistant/message"
    TOOL_CALL = "tool/call"
    TOOL_RESULT = "tool/result"
    COMPACTION = "session/compaction"
    SKILL_LOAD = "skill/load"
    RETRY_START = "retry/start"
    RETRY_END = "retry/end"
    SUMMARIZATION_RETRY_START = "summarization/retry/start"
    SUMMARIZATION_RETRY_END = "summarization/retry/end"
    OVERFLOW_RECOVERY = "overflow/recovery"
    TURN_CONTINUE = "turn/continue"
    USAGE = "usage"
    TODO_UPDATE = "todo/update"
    RUN_FINISH = "run/finish"
    RECOVERY = "session/recovery"
    SUBAGENT_START = "subagent/start"
    SUBAGENT_END = "subagent/end"
    PERMISSION_REQUEST = "permission/request"
    PERMISSION_RESOLVED = "permission/resolved"


class SessionEvent(Untagged, frozen=True):
    """One event: one line of a session log.

    `seq` counts the events of a session from 1; 0 means that it has none yet. `data` is the
    payload as JSON text, read by `payload` when it is wanted; empty where there is none.
    `created_at` is in UTC, as which a time without a zone is taken; None where it was not
    recorded, which the Go store never does.
    """

    id: str = ""
    seq: Int64 = 0
    session_id: str = ""
    agent_id: str = ""
    type: str = ""
    data: Json = b""
    created_at: datetime | None = None
    user_id: str = ""
    metadata: dict[str, Any] | None = msgspec.field(default=None, name="metadata")

    def __post_init__(self) -> None:
        as_bytes(self, "data")
        moment = self.created_at
        if moment is not None and (moment.tzinfo is not UTC or moment.year <= 1):
            msgspec.structs.force_setattr(self, "created_at", _in_utc(moment))

    @property
    def at(self) -> int:
        """When it happened, in unix ms; 0: not recorded."""
        moment = self.created_at
        return 0 if moment is None else (moment - _EPOCH) // timedelta(milliseconds=1)

    def payload(self, kind: ClassOf[W]) -> W | None:
        """The payload as a `kind`, one of the `...Data` types, `ModelMessage`, `ToolCall` or
        `ToolResult`; None where it is undecodable.
        """
        return decode(self.data, kind)


def _in_utc(moment: datetime) -> datetime | None:
    """`moment` in UTC; None for the zero of Go and for what no calendar holds."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        return None
    return None if moment.year <= 1 else moment


_decoder: Final = msgspec.json.Decoder(SessionEvent)


def decode_line(line: bytes) -> SessionEvent:
    """The event on one line that is spelled as `encode_event` spells it, keys in any case.

    Raises a `ValueError` or `RecursionError` for anything else: what can be saved of another line
    is the business of `presentview.eventlog.reading`.
    """
    if not line.isascii():
        line.decode()  # the payload is passed over unread, whatever its strings hold
    try:
        event = _decoder.decode(line)
    except msgspec.ValidationError:
        event = _decoder.decode(in_usual_case(line, SessionEvent))
    if not event.type and not event.seq:
        raise ValueError("perhaps some other object")
    return event


def encode_event(event: SessionEvent) -> bytes:
    """The line that holds `event`, without its newline, in the Go store's spelling.

    Never fails on content; a payload that is no JSON becomes a JSON string of its text.
    """
    return encode(event)


def now() -> datetime:
    """The time, as events carry it."""
    return datetime.now(UTC)

"""The vocabulary of a run log: one record, and how it stands as one line of JSON.

Keys, their order and what is left out are those of the Go package `session` of zot, including
what its later versions added.
"""

from __future__ import annotations

import json
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Final

import msgspec

from presentview.compact import go_escapes
from presentview.eventlog.gotext import spelled
from presentview.eventlog.wire import Encoded, Json, Wire, as_bytes, encode_raw, json_text
from presentview.records import Int64, fields_of
from presentview.runlog import times

__all__ = [
    "Activity",
    "Event",
    "Kind",
    "Message",
    "Meta",
    "Record",
    "Result",
    "decode_line",
    "encode",
    "encode_record",
]


class Kind(StrEnum):
    """The kinds of record. A file may hold others, which count for nothing."""

    META = "meta"
    """Opens a log: the task, and with what the run started."""
    MESSAGE = "message"
    """One message of the conversation."""
    EVENT = "event"
    """Something that happened; not needed to go on with the run."""
    RESULT = "result"
    """Closes a log: how the run ended."""
    RESET = "reset"
    """Discards the messages in front of it, not the events."""


class _Part(Wire, frozen=True):
    """A struct of which the keys in `always` are written even when empty."""

    always: ClassVar[frozenset[str]] = frozenset()


class Meta(_Part, frozen=True):
    """How a run started.

    `provider` names the connection and `driver` what speaks to it; `workdir` is where the tools
    worked, `resumed_from` the run that this one continues. `backend` is what logs of old versions
    have in the place of provider and driver.
    """

    always = frozenset({"id", "task", "model", "provider", "driver", "workdir"})

    id: str = ""
    task: str = ""
    model: str = ""
    provider: str = ""
    driver: str = ""
    workdir: str = ""
    resumed_from: str = msgspec.field(default="", name="resumedFrom")
    backend: str = ""


class Activity(_Part, frozen=True):
    """A call of a tool inside a message: its `kind` is `request`, `response` or `trigger`.

    `arguments` is JSON text as the model wrote it, `result` any JSON value (None: there is none),
    `failure` why there is none. The rest is JSON text of what later versions keep of a model's
    reasoning, empty where there is none.
    """

    always = frozenset({"kind"})

    kind: str = ""
    id: str = ""
    name: str = ""
    arguments: str = ""
    result: Any = None
    failure: str = ""
    reasoning_items: Json = b""
    reasoning_details: Json = b""

    def __post_init__(self) -> None:
        _as_bytes(self, "reasoning_items", "reasoning_details")


class Message(_Part, frozen=True):
    """One message of the conversation.

    `type` is `user`, `bot`, `reasoning`, `activity`, `instructions` or `checkpoint`; `images` is
    JSON text of what later versions say about the images that came with it.
    """

    always = frozenset({"type", "text"})

    type: str = ""
    text: str = ""
    activity: Activity | None = None
    images: Json = b""

    def __post_init__(self) -> None:
        _as_bytes(self, "images")


class Event(_Part, frozen=True):
    """Something that happened, such as an `iteration`, a `toolCallStart` or a `retry`."""

    always = frozenset({"kind"})

    kind: str = ""
    tool: str = ""
    text: str = ""
    iteration: Int64 = 0


class Result(_Part, frozen=True):
    """How a run ended: the `reason` (`settled`, `failed`, `stop`, `iterations`, `time`, …), the
    exit `code`, and how often what happened.

    `error`, `failure` (JSON text of the answer that failed) and the tokens are of later versions.
    """

    always = frozenset(
        {"reason", "code", "iterations", "calls", "continuations", "cycles", "settles"}
    )

    reason: str = ""
    message: str = ""
    code: Int64 = 0
    iterations: Int64 = 0
    calls: Int64 = 0
    continuations: Int64 = 0
    cycles: Int64 = 0
    settles: Int64 = 0
    error: str = ""
    failure: Json = b""
    input_tokens: Int64 = msgspec.field(default=0, name="inputTokens")
    output_tokens: Int64 = msgspec.field(default=0, name="outputTokens")

    def __post_init__(self) -> None:
        _as_bytes(self, "failure")


class Record(_Part, frozen=True):
    """One line of a run log: a `kind`, and what belongs to it (None where the file has none).

    `stamp` is when it was written as the file spells it, to the nanosecond; empty: not recorded.
    """

    always = frozenset({"kind", "stamp"})

    kind: str = ""
    stamp: str = msgspec.field(default="", name="at")
    meta: Meta | None = None
    message: Message | None = None
    event: Event | None = None
    result: Result | None = None

    @property
    def at_ns(self) -> int | None:
        """When it was written, in unix ns; None where that was not recorded."""
        return times.parse_ns(self.stamp) if self.stamp != _NEVER else None

    @property
    def at(self) -> int:
        """When it was written, in unix ms; 0: not recorded."""
        ns = self.at_ns
        return 0 if ns is None else max(0, ns // times.MS)

    @property
    def moment(self) -> datetime | None:
        """When it was written, to the microsecond; None where that was not recorded."""
        ns = self.at_ns
        return None if ns is None else times.moment(ns)


_NEVER: Final = "0001-01-01T00:00:00Z"
_decoder: Final = msgspec.json.Decoder(Record)


def decode_line(line: bytes) -> Record:
    """The record on one line that is spelled as `encode_record` spells it.

    Raises a `ValueError` or `RecursionError` for anything else.
    """
    record = _decoder.decode(line)
    if record.stamp and times.parse_ns(record.stamp) is None:
        raise ValueError("not a time")
    return record


def encode_record(record: Record) -> bytes:
    """The line that holds `record`, without its newline. Never fails on content."""
    return encode(record)


def encode(part: _Part) -> Encoded:
    """A record, or a part of one, as JSON on one line. Never fails on content."""
    return Encoded(go_escapes(_object(part).encode("utf-8", "surrogatepass")))


def _object(part: _Part) -> str:
    members = []
    for field in fields_of(type(part)):
        value = getattr(part, field.name)
        is_value = type(part) is Activity and field.name == "result"
        if field.name in part.always or (value is not None if is_value else value):
            text = _any(value) if is_value else _text(field.name, value)
            members.append(f'"{field.encode_name}":{text}')
    return "{" + ",".join(members) + "}"


def _text(name: str, value: Any) -> str:
    if isinstance(value, _Part):
        return _object(value)
    if isinstance(value, bytes):
        return encode_raw(value).decode()
    if name == "stamp":
        return json_text(value or _NEVER)
    return json_text(value)


def _any(value: Any) -> str:
    """The JSON text of a result: keys sorted, numbers spelled as Go does."""
    text = json_text(value)
    if type(value) in (str, bool, int):
        return text
    try:
        return spelled(json.loads(text))
    except (RecursionError, ValueError):
        return text


def _as_bytes(part: _Part, *names: str) -> None:
    as_bytes(part, *names)
    for name in names:
        if getattr(part, name).strip() == b"null":
            msgspec.structs.force_setattr(part, name, b"")

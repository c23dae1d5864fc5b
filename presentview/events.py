"""What an agent emits while it works, and how it becomes a record.

`Event` mirrors the Go package's event, its fields in Python's spelling. `from_event` keeps what
a frontend shows; what only drives live interaction (questions to the user) is not recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, Final

import msgspec

from presentview.compact import plain_text
from presentview.records import (
    INT64_MAX,
    INT64_MIN,
    Attachment,
    Collab,
    Compaction,
    FileDiff,
    Kind,
    Profile,
    Record,
    Retry,
    Tool,
    Usage,
)

__all__ = ["Event", "EventKind", "from_event", "record_of"]


class EventKind(IntEnum):
    """The kinds of event, numbered as the Go package numbers them; it has no `APPROVAL_ANSWER`."""

    TURN_STARTED = 0
    REASONING = 1
    TEXT = 2
    MESSAGE = 3
    TOOL_DISPATCH = 4
    TOOL_RESULT = 5
    USAGE = 6
    NOTICE = 7
    PHASE = 8
    APPROVAL_REQUEST = 9
    ASK_REQUEST = 10
    TURN_DONE = 11
    COMPACTION_STARTED = 12
    COMPACTION_DONE = 13
    TOOL_PROGRESS = 14
    MCP_SURFACE_READY = 15
    RETRYING = 16
    STEER = 17
    PAUSED = 18
    RESUMED = 19
    EXPERT_COLLAB = 20
    APPROVAL_ANSWER = 1_000


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One thing an agent did, as its frontends are told.

    `kind` says which of the other fields mean something. `text` is a delta of text or reasoning,
    a whole message, a notice, a phase, a steer, or at the start of a turn the user's prompt.
    `level` is "info" or "warn". `err` is what a turn failed with. `partial` marks a dispatch
    whose arguments are still being streamed. `at` (unix ms) is when it happened; a recorder
    fills in its own clock where it is None. `pricing`, `cache_diagnostics`, `session_hit`,
    `session_miss`, `approval` and `ask` are for live frontends and never recorded.

    An approval that is asked for, and its answer, name the call by `tool.id`; `text` is what it
    is asked for, or "approved" or "denied". Usage with a `tool.id` is that of the call's sub-agent.
    """

    kind: EventKind
    text: str = ""
    reasoning: str = ""
    tool: Tool | None = None
    usage: Usage | None = None
    pricing: Any = None
    cache_diagnostics: Any = None
    session_hit: int = 0
    session_miss: int = 0
    level: str = "info"
    approval: Any = None
    ask: Any = None
    err: str | BaseException | None = None
    compaction: Compaction | None = None
    retry_attempt: int = 0
    retry_max: int = 0
    collab: Collab = None
    partial: bool = False
    at: int | None = None


def from_event(event: Event, *, extensions: bool = True) -> Record | None:
    """The record of `event`, or None for a kind that a transcript does not show.

    With `extensions` the end of a turn, the prompt at its start, approvals and whose usage it is
    are kept, and `event.at`, if given, is recorded; without them the result is exactly what the
    Go package would write.
    """
    return record_of(event, 0, extensions=extensions)


def record_of(event: Event, now: int, *, extensions: bool) -> Record | None:
    """`from_event`, with `now` (unix ms) as the time of an event that has none of its own."""
    kind = _KINDS.get(event.kind)
    if kind is None or (not extensions and kind in _EXTENSIONS):
        return None
    fields = _FIELDS.get(kind, _text_only)(event, extensions)
    if not extensions:
        return Record(kind, **fields)
    at = now if event.at is None else _int(event.at)
    return Record(kind, at=at or now, **fields)


_EXTENSIONS: Final = frozenset({Kind.TURN_DONE, Kind.APPROVAL_REQUEST, Kind.APPROVAL_ANSWER})
_KINDS: Final = {
    EventKind[kind.name]: kind.value for kind in Kind if kind.name in EventKind.__members__
}


def _text_only(event: Event, _: bool) -> dict[str, Any]:
    return {"text": _text(event.text)}


def _nothing(_event: Event, _: bool) -> dict[str, Any]:
    return {}


def _turn_started(event: Event, extensions: bool) -> dict[str, Any]:
    return {"text": _text(event.text)} if extensions else {}


def _turn_done(event: Event, _: bool) -> dict[str, Any]:
    err = event.err
    text = _text(err)
    if isinstance(err, BaseException):
        text = text or type(err).__name__
    return {"text": text, "level": "error"} if text else {}


def _message(event: Event, _: bool) -> dict[str, Any]:
    return {"text": _text(event.text), "reasoning": _text(event.reasoning)}


def _notice(event: Event, _: bool) -> dict[str, Any]:
    warns = event.level in ("warn", "warning", 1)
    return {"text": _text(event.text), "level": "warn" if warns else "info"}


_PLAIN: Final = (str, str, str, str, str, str, bool, bool, int)


def _is_plain(tool: Any) -> bool:
    """Whether every field is of its own type and there is nothing inside others to look at."""
    types = (
        type(tool.output),
        type(tool.args),
        type(tool.id),
        type(tool.name),
        type(tool.err),
        type(tool.parent_id),
        type(tool.read_only),
        type(tool.truncated),
        type(tool.duration_ms),
    )
    return (
        types == _PLAIN
        and INT64_MIN <= tool.duration_ms <= INT64_MAX
        and tool.profile is None
        and tool.file_diff is None
        and tool.extra is None
        and tool.attachments == ()
    )


def _tool(event: Event, _: bool) -> dict[str, Any]:
    tool = event.tool or Tool()
    if _is_plain(tool):
        return {"tool": tool}
    diff, profile = tool.file_diff, tool.profile
    if diff is not None:
        diff = FileDiff(diff=_text(diff.diff), added=_int(diff.added), removed=_int(diff.removed))
    if profile is not None:
        profile = Profile(model=_text(profile.model), effort=_text(profile.effort))
    kept = Tool(
        id=_text(tool.id),
        name=_text(tool.name),
        args=_text(tool.args),
        output=_text(tool.output),
        err=_text(tool.err),
        read_only=bool(tool.read_only),
        truncated=bool(tool.truncated),
        duration_ms=_int(tool.duration_ms),
        parent_id=_text(tool.parent_id),
        attachments=tuple(
            Attachment(path=_text(item.path), kind=_text(item.kind))
            for item in tool.attachments or ()
        ),
        profile=profile,
        file_diff=None if diff == FileDiff() else diff,
    )
    return {"tool": kept}


def _progress(event: Event, _: bool) -> dict[str, Any]:
    tool = event.tool or Tool()
    return {"tool": Tool(id=_text(tool.id), output=_text(tool.output))}


def _usage(event: Event, extensions: bool) -> dict[str, Any]:
    usage = event.usage
    if usage is None:
        return {}
    fields: dict[str, Any] = {
        "usage": Usage(
            input_tokens=_int(usage.input_tokens),
            output_tokens=_int(usage.output_tokens),
            total_tokens=_int(usage.total_tokens),
            cache_read=max(0, _int(usage.cache_read)),
            steps=max(0, _int(usage.steps)) if extensions else 0,
        )
    }
    if extensions and event.tool is not None and (call := _text(event.tool.id)):
        fields["tool"] = Tool(id=call)
    return fields


def _approval_request(event: Event, _: bool) -> dict[str, Any]:
    tool = event.tool or Tool()
    return {"text": _text(event.text), "tool": Tool(id=_text(tool.id), name=_text(tool.name))}


def _approval_answer(event: Event, _: bool) -> dict[str, Any]:
    tool = event.tool or Tool()
    return {"text": _text(event.text), "tool": Tool(id=_text(tool.id))}


def _compaction_started(event: Event, _: bool) -> dict[str, Any]:
    compaction = event.compaction or Compaction()
    return {"compaction": Compaction(trigger=_text(compaction.trigger))}


def _compaction_done(event: Event, _: bool) -> dict[str, Any]:
    compaction = event.compaction or Compaction()
    kept = Compaction(
        trigger=_text(compaction.trigger),
        messages=_int(compaction.messages),
        summary=_text(compaction.summary),
        archive=_text(compaction.archive),
    )
    return {"compaction": kept}


def _retrying(event: Event, _: bool) -> dict[str, Any]:
    return {"retry": Retry(attempt=_int(event.retry_attempt), max=_int(event.retry_max))}


def _collab(event: Event, _: bool) -> dict[str, Any]:
    # Go writes a nil collab as the JSON word null.
    return {"collab": b"null" if event.collab is None else event.collab}


_FIELDS: Final[dict[str, Callable[[Event, bool], dict[str, Any]]]] = {
    Kind.TURN_STARTED: _turn_started,
    Kind.TURN_DONE: _turn_done,
    Kind.MESSAGE: _message,
    Kind.NOTICE: _notice,
    Kind.TOOL_DISPATCH: _tool,
    Kind.TOOL_RESULT: _tool,
    Kind.TOOL_PROGRESS: _progress,
    Kind.USAGE: _usage,
    Kind.APPROVAL_REQUEST: _approval_request,
    Kind.APPROVAL_ANSWER: _approval_answer,
    Kind.COMPACTION_STARTED: _compaction_started,
    Kind.COMPACTION_DONE: _compaction_done,
    Kind.RETRYING: _retrying,
    Kind.EXPERT_COLLAB: _collab,
    Kind.PAUSED: _nothing,
    Kind.RESUMED: _nothing,
}


def _text(value: object) -> str:
    """`value` as text: an agent must not die of what it hands to its recorder."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    return plain_text(value)


def _int(value: object) -> int:
    """`value` as a 64-bit integer, 0 for what is no number."""
    try:
        return min(max(int(value), INT64_MIN), INT64_MAX)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError, OverflowError):
        return 0

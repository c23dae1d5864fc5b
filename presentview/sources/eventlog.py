"""Session event logs (`presentview.eventlog`), as what a person would have seen of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from presentview.eventlog import (
    CompactionData,
    EventType,
    ModelMessage,
    OverflowRecoveryData,
    RecoveryData,
    RetryEndData,
    RetryStartData,
    RunFinishData,
    Scan,
    SessionEvent,
    SkillLoadData,
    SubagentEndData,
    SubagentStartData,
    TodoUpdateData,
    ToolCall,
    ToolResult,
    TurnContinueData,
    TurnEndData,
    UsageData,
    flatten_text_parts,
)
from presentview.eventlog.gotext import normalized
from presentview.records import (
    Attachment,
    Compaction,
    Header,
    Kind,
    Record,
    Retry,
    Tool,
    Usage,
)
from presentview.sources.base import Reader, Source
from presentview.sources.narrated import NarratedReader, Repeats, notice

__all__ = ["SOURCE", "EventNarrator"]

_QUIET: Final = frozenset(
    {
        EventType.STEP_START,
        EventType.MESSAGE_START,
        EventType.MESSAGE_UPDATE,
        EventType.MESSAGE_END,
    }
)
"""What says nothing that another event does not say: a step its end, pieces of a message the whole
of it."""

_LASTING: Final = frozenset({EventType.RUN_FINISH, EventType.RECOVERY})

_Tell = Callable[[SessionEvent], Iterator[Record]]


class EventNarrator:
    """Tells the events of one log, given one by one, as records."""

    def __init__(self) -> None:
        self.header = Header()
        self._in_turn = False
        self._prompted = False
        self._steps = 0
        self._repeats = Repeats()
        self._tellers: dict[str, _Tell] = {
            EventType.TURN_END: self._turn_end,
            EventType.STEP_END: self._step_end,
            EventType.USER_MESSAGE: self._user_message,
            EventType.ASSISTANT_MESSAGE: self._assistant_message,
            EventType.TOOL_CALL: self._tool_call,
            EventType.TOOL_RESULT: _tool_result,
            EventType.COMPACTION: _compaction,
            EventType.SKILL_LOAD: _skill_load,
            EventType.RETRY_START: _retry_start,
            EventType.RETRY_END: _retry_end,
            EventType.SUMMARIZATION_RETRY_START: _summary_retry_start,
            EventType.SUMMARIZATION_RETRY_END: _retry_end,
            EventType.OVERFLOW_RECOVERY: _overflow,
            EventType.TURN_CONTINUE: _turn_continue,
            EventType.USAGE: _usage,
            EventType.TODO_UPDATE: _todo_update,
            EventType.RUN_FINISH: _run_finish,
            EventType.RECOVERY: _recovery,
            EventType.SUBAGENT_START: _subagent_start,
            EventType.SUBAGENT_END: _subagent_end,
            EventType.PERMISSION_REQUEST: _permission_request,
            EventType.PERMISSION_RESOLVED: _permission_resolved,
        }

    def tell(self, event: SessionEvent) -> Iterator[Record]:
        """The records of the next event."""
        if event.type in _QUIET:
            return
        if event.type == EventType.TURN_START:
            # Its prompt is the next event: the turn is told with that.
            self._in_turn, self._prompted = True, False
            self._steps = 0
            return
        if self._in_turn and not self._prompted and event.type != EventType.USER_MESSAGE:
            self._prompted = True
            yield Record(Kind.TURN_STARTED, at=event.at)
        told = list(self._tellers.get(event.type, _unknown)(event))
        yield from told or _unknown(event)

    @staticmethod
    def is_lasting(event: SessionEvent, record: Record) -> bool:
        """Whether it is an outcome, a repair, or a warning of calls that repeat.

        To-do lists are the work of calls, which a sidecar tells.
        """
        return event.type in _LASTING or (
            event.type == EventType.TOOL_CALL and record.kind == Kind.NOTICE
        )

    def _turn_end(self, event: SessionEvent) -> Iterator[Record]:
        data = event.payload(TurnEndData) or TurnEndData(0)
        self._in_turn = False
        said = [f"Stopped: {data.stop_reason}"] if data.stop_reason else []
        if data.step_limit:
            said.append(f"limit {data.step_limit:,} steps")
        if said:
            yield notice(" · ".join(said), event.at, "info")
        if data.steps > self._steps:
            # Steps whose end was not written, or is not here any more.
            yield from _steps(data.steps - self._steps, event.at)
        error = "cancelled" if data.cancelled else "failed" if data.failed else ""
        level = "error" if error else ""
        yield Record(Kind.TURN_DONE, text=error, level=level, at=event.at)

    def _step_end(self, event: SessionEvent) -> Iterator[Record]:
        self._steps += 1
        return _steps(1, event.at)

    def _user_message(self, event: SessionEvent) -> Iterator[Record]:
        message = event.payload(ModelMessage)
        if message is None:
            return
        text = flatten_text_parts(message.content, "\n")
        if self._in_turn and self._prompted:
            yield Record(Kind.STEER, text=text, at=event.at)
            return
        self._in_turn = self._prompted = True
        images = tuple(
            Attachment(path=part.url or part.source, kind="image")
            for part in message.content
            if part.url or part.source
        )
        yield Record(Kind.TURN_STARTED, text=text, images=images, at=event.at)

    @staticmethod
    def _assistant_message(event: SessionEvent) -> Iterator[Record]:
        message = event.payload(ModelMessage)
        if message is None:
            return
        text = flatten_text_parts(message.content, "\n\n")
        yield Record(Kind.MESSAGE, text=text, at=event.at)
        for call in message.tool_calls:
            yield _dispatch(call, event.at)

    def _tool_call(self, event: SessionEvent) -> Iterator[Record]:
        call = event.payload(ToolCall)
        if call is None:
            return
        yield _dispatch(call, event.at)
        yield from self._repeats.warnings(call.name, normalized(call.input), event.at)


def _steps(count: int, at: int) -> Iterator[Record]:
    yield Record(Kind.USAGE, usage=Usage(steps=count), at=at)


def _dispatch(call: ToolCall, at: int) -> Record:
    """A call, which an assistant's message and an event of its own both tell."""
    args = call.input.decode("utf-8", "replace")
    args = "" if args == "null" else args
    return Record(Kind.TOOL_DISPATCH, tool=Tool(call.id, call.name, args), at=at)


def _tool_result(event: SessionEvent) -> Iterator[Record]:
    result = event.payload(ToolResult)
    if result is not None:
        tool = Tool(result.id, result.name, output=result.content)
        yield Record(Kind.TOOL_RESULT, tool=tool, at=event.at)


def _unknown(event: SessionEvent) -> Iterator[Record]:
    """An event that nobody knows, or whose payload cannot be read, as it stands."""
    yield Record(event.type, text=event.data.decode("utf-8", "replace"), at=event.at)


def _compaction(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(CompactionData)
    if data is not None:
        summary = flatten_text_parts(data.summary.content, "\n\n")
        done = Compaction(trigger=data.kind, summary=summary)
        yield Record(Kind.COMPACTION_DONE, compaction=done, at=event.at)


def _skill_load(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(SkillLoadData)
    if data is not None:
        said = f"Skill loaded: {data.name}"
        text = f"{said} · {data.description}" if data.description else said
        yield Record(Kind.PHASE, text=text, at=event.at)


def _retry_start(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(RetryStartData)
    if data is not None:
        retry = Retry(data.attempt, max=data.max_attempts)
        yield Record(Kind.RETRYING, text=data.error_message, retry=retry, at=event.at)


def _summary_retry_start(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(RetryStartData)
    if data is not None:
        attempt = f"attempt {data.attempt:,} of {data.max_attempts:,}"
        yield notice(f"Summary tried again, {attempt}: {data.error_message}", event.at)


def _retry_end(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(RetryEndData)
    if data is not None:
        attempt = f"attempt {data.attempt:,}"
        if data.success:
            yield notice(f"Succeeded at {attempt}", event.at, "info")
        else:
            yield notice(f"Given up at {attempt}: {data.final_error}", event.at)


def _overflow(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(OverflowRecoveryData)
    if data is not None:
        said = [f"Context overflow: {data.applied:,} recoveries applied", data.reason, data.error]
        yield notice(" · ".join(filter(None, said)), event.at)


def _turn_continue(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(TurnContinueData)
    if data is not None:
        text = f"Turn goes on, part {data.segment:,}: {data.reason}"
        yield Record(Kind.PHASE, text=text, at=event.at)


def _usage(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(UsageData)
    if data is not None:
        usage = Usage(data.input_tokens, data.output_tokens, data.total_tokens)
        yield Record(Kind.USAGE, usage=usage, at=event.at)


def _todo_update(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(TodoUpdateData)
    if data is not None:
        call = f"todo {event.seq}"
        items = [{"content": item.title, "status": item.status} for item in data.items]
        args = json.dumps({"todos": items}, ensure_ascii=False)
        yield Record(Kind.TOOL_DISPATCH, tool=Tool(call, "todo", args), at=event.at)
        yield Record(Kind.TOOL_RESULT, tool=Tool(call, "todo"), at=event.at)


def _run_finish(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(RunFinishData)
    if data is not None:
        said = f"Run {data.status}"
        text = f"{said}: {data.summary}" if data.summary else said
        yield notice(text, event.at, "info" if data.status == "completed" else "warn")


def _recovery(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(RecoveryData)
    if data is not None:
        text = (
            f"An interrupted turn was repaired: {data.orphan_results:,} calls answered, "
            f"{data.steps:,} steps · {data.reason}"
        )
        yield notice(text, event.at)


def _subagent_start(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(SubagentStartData)
    if data is not None:
        asked: dict[str, Any] = {"description": data.task, "agent": data.agent}
        if data.is_async:
            asked["run_in_background"] = True
        args = json.dumps(asked, ensure_ascii=False)
        tool = Tool(data.session, "subagent", args)
        yield Record(Kind.TOOL_DISPATCH, tool=tool, at=event.at)


def _subagent_end(event: SessionEvent) -> Iterator[Record]:
    data = event.payload(SubagentEndData)
    if data is not None:
        err = data.error or ("" if data.status in ("completed", "done", "ok") else data.status)
        tool = Tool(data.session, "subagent", output=data.summary, err=err)
        yield Record(Kind.TOOL_RESULT, tool=tool, at=event.at)


def _permission_request(event: SessionEvent) -> Iterator[Record]:
    asked = _object(event.data)
    call = asked.get("toolCall")
    tool = Tool(_text(call, "id") or _text(call, "ID")) if isinstance(call, dict) else None
    text = _text(asked, "reason") or _text(asked.get("question"), "prompt")
    yield Record(Kind.APPROVAL_REQUEST, text=text, tool=tool, at=event.at)


def _permission_resolved(event: SessionEvent) -> Iterator[Record]:
    answered = _object(event.data)
    allowed = answered.get("allow")
    outcome = _text(answered, "outcome")
    answer = "approved" if allowed is True else "denied" if allowed is False else outcome
    yield Record(Kind.APPROVAL_ANSWER, text=answer or _text(answered, "answer"), at=event.at)


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(value: Any, key: str) -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


_KEYS: Final = frozenset({"seq", "type", "data"})


def _fits(value: dict[str, Any]) -> bool:
    """Whether a JSON object is an event: its keys count in any case."""
    return {key.lower() for key in value} >= _KEYS


def _open(path: Path) -> Reader:
    return NarratedReader(path, Scan, EventNarrator)


_BEGINS: Final = re.compile(rb'\{\s*"id"\s*:\s*"[^"\\]*"\s*,\s*"seq"\s*:', re.IGNORECASE)

SOURCE: Final = Source("event log", _fits, _BEGINS, _open)

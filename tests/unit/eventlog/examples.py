"""Events for tests: as the Go store writes them, and as odd as they come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from presentview.eventlog import (
    CompactionData,
    ContentPart,
    EventType,
    ModelMessage,
    OverflowRecoveryData,
    RecoveryData,
    RetryEndData,
    RetryStartData,
    RunFinishData,
    SessionEvent,
    SkillLoadData,
    StepEndData,
    StepStartData,
    SubagentEndData,
    SubagentStartData,
    Todo,
    TodoUpdateData,
    ToolCall,
    ToolResult,
    TurnContinueData,
    TurnEndData,
    TurnStartData,
    UsageData,
)
from presentview.eventlog.wire import Wire
from tests.strategies import int64s, json_values, texts

SAMPLE = Path(__file__).parents[2] / "data" / "event-logs" / "session.jsonl"


def event(seq: int, type_: str, data: Any = b"{}", **fields: Any) -> SessionEvent:
    """An event whose `data` is JSON text as bytes, or a value."""
    raw = data if isinstance(data, bytes) else json.dumps(data, separators=(",", ":")).encode()
    return SessionEvent(seq=seq, type=type_, data=raw, **fields)


def message(text: str, *calls: str, role: str = "assistant") -> dict[str, Any]:
    """The payload of a message with a text and calls of the given ids."""
    return {
        "Role": role,
        "Content": [{"type": "text", "text": text}],
        "ToolCalls": [{"ID": call, "Name": "read", "Input": {}} for call in calls] or None,
        "ToolResults": None,
    }


def calls() -> st.SearchStrategy[ToolCall]:
    inputs = json_values().map(lambda value: json.dumps(value).encode())
    return st.builds(ToolCall, id=texts(), name=texts(), input=inputs)


def results() -> st.SearchStrategy[ToolResult]:
    audits = st.none() | st.dictionaries(texts(), json_values(), max_size=2)
    return st.builds(ToolResult, id=texts(), name=texts(), content=texts(), audit=audits)


def parts() -> st.SearchStrategy[ContentPart]:
    types = st.sampled_from(
        ["text", "", "image_url", "image", "attachment_ref", "thinking", "file", "custom"]
    )
    urls = texts() | st.sampled_from(["data:image/png;base64,AAAA", " data:,x", "https://x/y"])
    return st.builds(
        ContentPart, type=types, text=texts() | urls, url=urls, mime=texts(), source=texts()
    )


def messages() -> st.SearchStrategy[ModelMessage]:
    return st.builds(
        ModelMessage,
        role=st.sampled_from(["user", "assistant", "tool", ""]),
        content=st.lists(parts(), max_size=3).map(tuple),
        tool_calls=st.lists(calls(), max_size=2).map(tuple),
        tool_results=st.lists(results(), max_size=2).map(tuple),
    )


def _payloads() -> dict[EventType, st.SearchStrategy[Wire]]:
    text, number, flag = texts(), int64s(), st.booleans()
    many = st.lists(messages(), max_size=2).map(tuple)
    retry_start = st.builds(
        RetryStartData, attempt=number, max_attempts=number, delay_ms=number, error_message=text
    )
    retry_end = st.builds(RetryEndData, success=flag, attempt=number, final_error=text)
    todos = st.lists(st.builds(Todo, id=text, title=text, status=text), max_size=3)
    return {
        EventType.TURN_START: st.just(TurnStartData()),
        EventType.TURN_END: st.builds(
            TurnEndData, number, text, number, cancelled=flag, failed=flag
        ),
        EventType.STEP_START: st.builds(StepStartData, number),
        EventType.STEP_END: st.builds(StepEndData, number),
        EventType.USER_MESSAGE: messages(),
        EventType.ASSISTANT_MESSAGE: messages(),
        EventType.TOOL_CALL: calls(),
        EventType.TOOL_RESULT: results(),
        EventType.COMPACTION: st.builds(
            CompactionData,
            before_seq=number,
            first_kept_seq=number,
            retained_tail=many,
            summary=messages(),
            kind=text,
        ),
        EventType.SKILL_LOAD: st.builds(SkillLoadData, text, text, text, text, text),
        EventType.RETRY_START: retry_start,
        EventType.RETRY_END: retry_end,
        EventType.OVERFLOW_RECOVERY: st.builds(OverflowRecoveryData, number, text, text),
        EventType.TURN_CONTINUE: st.builds(TurnContinueData, number, text, number, many),
        EventType.USAGE: st.builds(UsageData, number, number, number),
        EventType.TODO_UPDATE: st.builds(TodoUpdateData, todos.map(tuple)),
        EventType.RUN_FINISH: st.builds(RunFinishData, text, text),
        EventType.RECOVERY: st.builds(RecoveryData, number, number, number, number, text),
        EventType.SUBAGENT_START: st.builds(
            SubagentStartData, text, text, text, is_async=flag, job_id=text
        ),
        EventType.SUBAGENT_END: st.builds(
            SubagentEndData,
            agent=text,
            session=text,
            status=text,
            summary=text,
            steps=number,
            error=text,
            job_id=text,
        ),
    }


def payloads() -> st.SearchStrategy[tuple[EventType, Wire]]:
    """A type of event and a payload of that type."""
    return st.one_of([st.tuples(st.just(kind), each) for kind, each in _payloads().items()])


# Values that go wrong in every way, so that few payloads are decodable.
_ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, "x", 3, -1, 1.5, True, [], {}, [None], "done", " text ", "\u3000"]
)
_SMALL = st.integers(-1, 9)
_NAMES = st.sampled_from(["read", "write"])
_INPUTS: st.SearchStrategy[Any] = st.sampled_from(
    [{"n": 1}, {"n": 1.0}, {"b": 1, "a": "<"}, {"a": "<", "b": 1}, None, []]
)


def _loose_payloads() -> dict[str, st.SearchStrategy[Any]]:
    part = st.fixed_dictionaries(
        {}, optional={"type": st.sampled_from(["text", "", "image"]), "text": _ODD, "url": _ODD}
    )
    some_calls = st.none() | st.lists(
        st.fixed_dictionaries({"ID": st.sampled_from(["a", "b"]), "Name": _NAMES}), max_size=2
    )
    said = st.fixed_dictionaries(
        {"Role": st.sampled_from(["user", "assistant"])},
        optional={"Content": st.lists(part, max_size=3) | _ODD, "ToolCalls": some_calls | _ODD},
    )
    todo = st.fixed_dictionaries({}, optional={"id": _ODD, "title": _ODD, "status": _ODD})
    tokens = dict.fromkeys(("inputTokens", "outputTokens", "totalTokens"), _SMALL | _ODD)
    step = st.fixed_dictionaries({}, optional={"step": _SMALL | _ODD})
    return {
        "turn/start": st.just({}),
        "turn/end": st.just({"steps": 1}),
        "step/start": step,
        "step/end": step,
        "user/message": said,
        "assistant/message": said,
        "tool/call": st.fixed_dictionaries(
            {"Name": _NAMES, "Input": _INPUTS}, optional={"ID": _ODD}
        ),
        "tool/result": st.fixed_dictionaries(
            {"ID": st.sampled_from(["a", "b"])}, optional={"Content": _ODD}
        ),
        "usage": st.fixed_dictionaries({}, optional=tokens),
        "todo/update": st.fixed_dictionaries(
            {}, optional={"items": st.lists(todo, max_size=3) | _ODD}
        ),
        "run/finish": st.fixed_dictionaries(
            {"status": st.sampled_from(["completed", "blocked"]) | _ODD},
            optional={"summary": _ODD},
        ),
        "session/compaction": st.fixed_dictionaries(
            {"beforeSeq": _SMALL, "summary": said, "kind": st.just("summary")},
            optional={"retainedTail": st.lists(said, max_size=2) | _ODD},
        ),
        "skill/load": st.fixed_dictionaries({"name": st.just("s"), "body": _ODD}),
        "turn/continue": st.fixed_dictionaries(
            {}, optional={"messages": st.lists(said, max_size=2) | _ODD, "steps": _ODD}
        ),
        "": _ODD,
    }


def loose_events() -> st.SearchStrategy[SessionEvent]:
    """An event of any type, whose payload may be undecodable, numbered anyhow."""
    typed = st.one_of(
        [
            st.tuples(st.just(kind), each | _ODD if kind != "tool/call" else each)
            for kind, each in _loose_payloads().items()
        ]
    )
    metadata = st.none() | st.dictionaries(
        st.sampled_from(["logical_chars", "x"]), _ODD | _SMALL, max_size=2
    )
    return st.builds(
        lambda seq, agent, pair, extra: event(
            seq, pair[0], pair[1], agent_id=agent, metadata=extra
        ),
        st.integers(0, 12),
        st.sampled_from(["", "a", "b"]),
        typed,
        metadata,
    )


def logs(*, max_size: int = 12) -> st.SearchStrategy[list[SessionEvent]]:
    return st.lists(loose_events(), max_size=max_size)

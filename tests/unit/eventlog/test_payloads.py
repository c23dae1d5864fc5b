"""Payloads are written as Go would, and read however they are spelled."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
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
from presentview.eventlog.wire import Wire, encode
from tests.unit.eventlog.examples import payloads

HI = ModelMessage.of("user", "hi")
NO_CALLS = '"ToolCalls":null,"ToolResults":null}'
HI_JSON = '{"Role":"user","Content":[{"type":"text","text":"hi"}],' + NO_CALLS
SPELLINGS: list[tuple[Wire, str]] = [
    (TurnStartData(), "{}"),
    (TurnEndData(2), '{"steps":2}'),
    (
        TurnEndData(2, "end_turn", 5, cancelled=True, failed=True),
        '{"steps":2,"stopReason":"end_turn","stepLimit":5,"cancelled":true,"failed":true}',
    ),
    (StepStartData(0), '{"step":0}'),
    (
        TodoUpdateData((Todo("1", "写 <补丁>", "pending"),)),
        '{"items":[{"id":"1","title":"写 \\u003c补丁\\u003e","status":"pending"}]}',
    ),
    (TodoUpdateData(()), '{"items":null}'),
    (RunFinishData("completed"), '{"status":"completed"}'),
    (RunFinishData("", "s"), '{"status":"","summary":"s"}'),
    (TurnContinueData(1, "", 0), '{"segment":1,"reason":"","steps":0}'),
    (
        TurnContinueData(1, "more", 3, (HI,)),
        '{"segment":1,"reason":"more","steps":3,"messages":[' + HI_JSON + "]}",
    ),
    (UsageData(1, 0, 1), '{"inputTokens":1,"outputTokens":0,"totalTokens":1}'),
    (
        RetryStartData(1, 3, 500, "429"),
        '{"attempt":1,"maxAttempts":3,"delayMs":500,"errorMessage":"429"}',
    ),
    (RetryEndData(success=False, attempt=1), '{"success":false,"attempt":1}'),
    (OverflowRecoveryData(0, "r", "e"), '{"applied":0,"reason":"r","error":"e"}'),
    (
        RecoveryData(3, 1, 2, -1, "why"),
        '{"turnStartSeq":3,"steps":1,"orphanResults":2,"closedStep":-1,"reason":"why"}',
    ),
    (
        CompactionData(before_seq=4, summary=HI, kind="summary"),
        '{"beforeSeq":4,"summary":' + HI_JSON + ',"kind":"summary"}',
    ),
    (
        CompactionData(first_kept_seq=4, retained_tail=(HI,), summary=HI, kind="k"),
        f'{{"firstKeptSeq":4,"retainedTail":[{HI_JSON}],"summary":{HI_JSON},"kind":"k"}}',
    ),
    (
        SkillLoadData("n", "d", "b", "/s", "r"),
        '{"name":"n","description":"d","body":"b","resourceBase":"/s","rendered":"r"}',
    ),
    (
        SubagentStartData("a", "s", "t", is_async=True, job_id="j"),
        '{"agent":"a","session":"s","task":"t","async":true,"jobId":"j"}',
    ),
    (
        SubagentEndData(agent="a", session="s", status="ok", summary="x", steps=0),
        '{"agent":"a","session":"s","status":"ok","summary":"x","steps":0}',
    ),
    (ToolCall("c", "n", b'{ "a" : 9007199254740993,\n"b": 1.0 }'),
     '{"ID":"c","Name":"n","Input":{"a":9007199254740993,"b":1.0}}'),
    (ToolResult("c", "n", "x"), '{"ID":"c","Name":"n","Content":"x","Audit":null}'),
    (
        ToolResult("c", "n", "\u2028&", {"z": 1, "a": {"c": None, "b": "<"}}),
        r'{"ID":"c","Name":"n","Content":"\u2028\u0026","Audit":{"a":{"b":"\u003c","c":null},"z":1}}',
    ),
    (
        ModelMessage("a", (ContentPart("", url="u", mime="m", detail="d", source="s"),)),
        '{"Role":"a","Content":[{"type":"","url":"u","mime":"m","detail":"d","source":"s"}],'
        + NO_CALLS,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("payload", "text"), SPELLINGS, ids=[f"{type(p).__name__}-{len(t)}" for p, t in SPELLINGS]
)
def test_a_payload_has_the_keys_of_the_go_package_in_their_order(payload: Wire, text: str) -> None:
    assert encode(payload).decode() == text
    read = SessionEvent(data=text.encode()).payload(type(payload))
    assert read is not None
    assert encode(read) == encode(payload)


@given(payloads())
def test_what_is_written_is_read_back(pair: tuple[EventType, Wire]) -> None:
    payload = pair[1]
    raw = encode(payload)
    assert raw.count(b"\n") == 0
    assert SessionEvent(data=raw).payload(type(payload)) == msgspec.json.decode(
        raw, type=type(payload)
    )
    again = SessionEvent(data=raw).payload(type(payload))
    assert again is not None
    assert encode(again) == raw
    if not isinstance(payload, (ToolCall, ModelMessage, CompactionData, TurnContinueData)):
        assert again == payload


def _respelled(value: Any, change: Any) -> Any:
    if isinstance(value, dict):
        return {change(key): _respelled(inner, change) for key, inner in value.items()}
    return [_respelled(item, change) for item in value] if isinstance(value, list) else value


@given(payloads(), st.sampled_from([str.lower, str.upper, str.swapcase]))
def test_keys_count_in_any_case(pair: tuple[EventType, Wire], change: Any) -> None:
    payload = pair[1]
    if isinstance(payload, (ToolCall, ModelMessage, CompactionData, TurnContinueData, ToolResult)):
        return  # their values have keys of their own, which stay as they are
    odd = json.dumps(_respelled(json.loads(encode(payload)), change)).encode()
    assert SessionEvent(data=odd).payload(type(payload)) == payload


@pytest.mark.parametrize(
    ("data", "usage"),
    [
        (b"{}", UsageData(0, 0, 0)),
        (b"null", UsageData(0, 0, 0)),
        (b' {"INPUTTOKENS":1,"new":[{}]} ', UsageData(1, 0, 0)),
        (b'{"inputTokens":1,"inputtokens":2}', UsageData(1, 0, 0)),
        (b'{"inputtokens":2,"inputTokens":1}', UsageData(1, 0, 0)),
        (b'{"inputTokens":1,"inputTokens":2}', UsageData(2, 0, 0)),
        (b'{"inputTokens":null,"totalTokens":3}', UsageData(0, 0, 3)),
        (b'{"inputTokens":1e3}', UsageData(1000, 0, 0)),
        (b"", None),
        (b"3", None),
        (b"[]", None),
        (b'{"inputTokens":1} x', None),
        (b'{"inputTokens":"1"}', None),
        (b'{"inputTokens":true}', None),
        (b'{"inputTokens":1.5}', None),
        (b'{"inputTokens":9223372036854775808}', None),
        (b'{"inputTokens":1', None),
    ],
    ids=lambda value: value.decode() if isinstance(value, bytes) else "",
)
def test_a_payload_is_zero_where_it_is_silent_and_undecodable_where_it_is_wrong(
    data: bytes, usage: UsageData | None
) -> None:
    assert SessionEvent(data=data).payload(UsageData) == usage


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{}", ModelMessage()),
        (b'{"role":"user","content":null}', ModelMessage("user")),
        (
            b'{"Content":[null,{"Text":"a"}]}',
            ModelMessage("", (ContentPart(""), ContentPart("", "a"))),
        ),
        (
            b'{"toolcalls":[{"id":"a","INPUT":[1, 2]}]}',
            ModelMessage(tool_calls=(ToolCall("a", "", b"[1, 2]"),)),
        ),
        (b'{"ToolCalls":[{"Input":null}]}', ModelMessage(tool_calls=(ToolCall("", "", b"null"),))),
        (b'{"Role":"\\ud800"}', ModelMessage("\ufffd")),
        (b'{"Role":"\xff"}', ModelMessage("\ufffd")),
        (b'{"Role":"a\tb"}', ModelMessage("a\tb")),
        (b'{"Content":{}}', None),
        (b'{"Content":[3]}', None),
        (b'{"ToolResults":[{"Audit":3}]}', None),
    ],
)  # fmt: skip
def test_a_message_is_read_however_its_keys_are_spelled(
    data: bytes, message: ModelMessage | None
) -> None:
    assert SessionEvent(data=data).payload(ModelMessage) == message


def test_integers_keep_every_digit_and_inputs_their_spelling() -> None:
    raw = b'{"ID":"c","Name":"n","Input":{"n":12345678901234567890123, "f":1.50}}'
    call = SessionEvent(data=raw).payload(ToolCall)
    assert call == ToolCall("c", "n", b'{"n":12345678901234567890123, "f":1.50}')
    assert encode(call) == raw.replace(b", ", b",")


def test_what_is_no_json_is_written_as_text() -> None:
    inside = ModelMessage(tool_calls=(ToolCall("c", "n", b"{bad\n"),))
    assert encode(inside).count(b'"Input":"{bad\\n"') == 1
    deep = ToolCall("c", "n", b"[" * 501 + b"]" * 501)
    assert json.loads(encode(deep))["Input"] == "[" * 501 + "]" * 501
    odd: dict[str, Any] = {"a": float("nan"), "b": "\ud800", "c": b"\xff", "d": {1, 2}}
    odd["self"] = odd
    assert isinstance(json.loads(encode(ToolResult(audit=odd)))["Audit"], str)
    assert json.loads(encode(ToolResult(content="\ud800")))["Content"] == "\ufffd"


def test_a_call_takes_any_value_as_its_input() -> None:
    assert ToolCall.of("c", "n", {"a": [1, None]}).input == b'{"a":[1,null]}'
    assert ToolCall.of("c", "n", "text").input == b'"text"'
    assert ToolCall.of("c", "n", b" [1] ").input == b"[1]"
    assert ToolCall.of("c", "n", None).input == b"null"


def test_a_todo_is_done_only_if_it_says_exactly_so() -> None:
    assert [Todo("", "", status).done for status in ("done", "DONE", "", "pending")] == [
        True,
        False,
        False,
        False,
    ]

"""What the Go programs were seen to answer, and that our files are theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from presentview.eventlog import (
    RunFinishData,
    SessionEvent,
    Todo,
    ToolCall,
    UsageData,
    decode_event,
    encode_event,
    last_assistant_text,
    load,
    repeated_runs,
    repeated_tool_calls,
    run_start_seq,
    run_state_from_events,
    step_count,
    sum_logical_chars_from_events,
)
from presentview.eventlog.gotext import normalized
from presentview.eventlog.wire import encode
from tests.unit.eventlog.examples import SAMPLE, event

NORMALIZED = {
    '{"a":1e3}': '{"a":1000}',
    '{"a":1000}': '{"a":1000}',
    '{"a":12345678901234567890}': '{"a":12345678901234567000}',
    '{"b":1,"a":"<"}': '{"a":"\\u003c","b":1}',
    "null": "null",
    "": "",
    " {bad ": "{bad",
    '{"a":1,"a":2}': '{"a":2}',
    "[1.50, -0.0]": "[1.5,-0]",
}
# By the rules that are known of Go's encoder.
SPELLED = {
    "1e20": "100000000000000000000",
    "1e21": "1e+21",
    "1e-6": "0.000001",
    "1e-7": "1e-7",
    "-2.5e-9": "-2.5e-9",
    "9007199254740993": "9007199254740992",
    "1e400": "1e400",
    "NaN": "NaN",
    '"\\ud800"': '"\ufffd"',
    '"\\u00e9\u2028"': '"é\\u2028"',
    "\u00a0[1,]\u3000": "[1,]",
    "\x1c[1\x1c": "\x1c[1\x1c",
    '{"é":1,"z":2}': '{"z":2,"é":1}',
    "[true,false,null,{}]": "[true,false,null,{}]",
}


@pytest.mark.parametrize(("raw", "text"), [*NORMALIZED.items(), *SPELLED.items()])
def test_inputs_are_compared_as_go_spells_them(raw: str, text: str) -> None:
    assert normalized(raw.encode()) == text


def test_an_input_too_deep_to_be_parsed_is_compared_as_text() -> None:
    deep = b" " + b"[" * 100_000 + b"]" * 100_000
    assert normalized(deep) == deep.decode().strip()


def test_the_run_of_the_sample_is_what_was_observed() -> None:
    events, problems = load(SAMPLE)
    assert problems == ()
    assert [each.seq for each in events] == list(range(1, 25))
    assert run_state_from_events(events) == (
        2,
        (
            Todo("1", "read", "done"),
            Todo("2", "写补丁", "in_progress"),
            Todo("3", "weird", "DONE"),
        ),
        (Todo("2", "写补丁", "in_progress"), Todo("3", "weird", "DONE")),
        RunFinishData("completed", "shipped"),
        3,
        UsageData(250, 30, 280),
        150,
    )
    calls = [each.payload(ToolCall) for each in events if each.type == "tool/call"]
    assert [call and f"{call.name} {normalized(call.input)}" for call in calls] == [
        'read {"path":"a.go"}',
        *['read {"n":1,"path":"b.go"}'] * 3,
    ]
    assert (step_count(events, 2), last_assistant_text(events)) == (2, "all done")
    assert sum_logical_chars_from_events(events, "assistant") == 2816 + 37 + 18
    assert [(run.name, run.seqs) for run in repeated_runs(events, 3)] == [("read", (11, 13, 15))]
    assert repeated_runs(events) == ()


def test_the_sample_is_written_back_byte_for_byte() -> None:
    lines = SAMPLE.read_bytes().splitlines()
    assert [encode_event(each) for each in load(SAMPLE).events] == lines


def test_a_call_in_lower_case_is_read_and_one_without_input_written_as_null() -> None:
    line = b'{"seq":1,"type":"tool/call","data":{"id":"x","name":"lower","input":{"q":1}}}'
    found = decode_event(line)
    assert found is not None
    assert found.payload(ToolCall) == ToolCall("x", "lower", b'{"q":1}')
    assert encode(ToolCall("x")) == b'{"ID":"x","Name":"","Input":null}'


def test_the_shared_sample_is_the_one_kept_here(shared_dir: Path) -> None:
    folder = shared_dir / "samples" / "event-logs"
    assert (folder / "session.jsonl").read_bytes() == SAMPLE.read_bytes()
    lines = (folder / "OBSERVED.txt").read_text().splitlines()
    pairs = (line.partition(" -> ") for line in lines if " -> " in line)
    observed = {json.loads(raw): json.loads(text) for raw, _, text in pairs}
    assert observed == NORMALIZED


def _calls(*inputs: str) -> list[SessionEvent]:
    return [
        event(seq, "tool/call", b'{"ID":"c","Name":"read","Input":%s}' % text.encode())
        for seq, text in enumerate(inputs, 1)
    ]


@pytest.mark.parametrize(
    ("inputs", "seq", "count"),
    [
        ([], 0, 0),
        (["{}"], 0, 1),
        (["{}"], 1, 0),
        (['{"n":1}', '{"n":1.0}', '{ "n" : 1e0 }'], 0, 3),
        (['{"n":1}', '{"n":2}', '{"n":2}'], 0, 2),
        (['{"n":2}', '{"n":1}', '{"n":2}'], 0, 1),
        (["{}", "{}", "{}"], 2, 1),
        (['{"a":1,"b":"<"}', '{"b":"\\u003c","a":1}'], 0, 2),
        (["null", "null"], 0, 2),
    ],
)
def test_equal_calls_at_the_end_are_counted(inputs: list[str], seq: int, count: int) -> None:
    assert repeated_tool_calls(_calls(*inputs), seq) == count


def test_runs_of_five_equal_calls_are_found() -> None:
    events = _calls("1", *["2"] * 5, "1", *["3"] * 4, *["4"] * 6)
    events.insert(4, event(99, "usage"))
    events.insert(5, event(98, "tool/call", b"[]"))
    assert [(run.name, run.input, run.seqs) for run in repeated_runs(events)] == [
        ("read", "2", (2, 3, 4, 5, 6)),
        ("read", "4", (12, 13, 14, 15, 16, 17)),
    ]
    assert [len(run.seqs) for run in repeated_runs(events, 4)] == [5, 4, 6]


def test_a_run_starts_with_the_last_message_of_the_user_in_the_order_of_the_file() -> None:
    events = [event(7, "user/message"), event(3, "user/message"), event(9, "usage")]
    assert run_start_seq(events) == 3

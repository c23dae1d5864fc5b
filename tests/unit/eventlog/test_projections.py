"""Projections agree with slow models that were written without looking at them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview import eventlog
from presentview.eventlog import (
    ContentPart,
    RunFinishData,
    SessionEvent,
    Todo,
    UsageData,
)
from tests.unit.eventlog.examples import event, logs, loose_events, message

# As the fields of Go's structs: a value of another type makes the whole payload undecodable.
TEXT, NUMBER, RAW = object(), object(), object()
PART = {"type": TEXT, "text": TEXT, "url": TEXT, "mime": TEXT, "detail": TEXT, "source": TEXT}
CALL = {"id": TEXT, "name": TEXT, "input": RAW}
RESULT = {"id": TEXT, "name": TEXT, "content": TEXT}
MESSAGE = {"role": TEXT, "content": [PART], "toolcalls": [CALL], "toolresults": [RESULT]}
USAGE = {"inputtokens": NUMBER, "outputtokens": NUMBER, "totaltokens": NUMBER}
TODOS = {"items": [{"id": TEXT, "title": TEXT, "status": TEXT}]}
FINISH = {"status": TEXT, "summary": TEXT}
WHITE = "".join(chr(c) for c in range(0x3001) if chr(c).isspace() and not 0x1C <= c <= 0x1F)


class Undecodable(Exception):
    """A payload is not what its type wants."""


def shaped(shape: Any, value: Any) -> Any:
    """The value with zeros for what is missing, its keys in lower case."""
    if shape is RAW:
        return value
    if isinstance(shape, dict):
        given_ = {} if value is None else value
        if not isinstance(given_, dict):
            raise Undecodable
        lower = {key.lower(): inner for key, inner in given_.items()}
        return {key: shaped(inner, lower.get(key)) for key, inner in shape.items()}
    if isinstance(shape, list):
        if value is not None and not isinstance(value, list):
            raise Undecodable
        return [shaped(shape[0], item) for item in value or []]
    wanted = str if shape is TEXT else int
    if value is not None and type(value) is not wanted:
        raise Undecodable
    return wanted() if value is None else value


def decoded(events: Iterable[SessionEvent], kind: str, shape: Any) -> list[tuple[int, Any]]:
    found = []
    for each in events:
        if each.type == kind:
            try:
                found.append((each.seq, shaped(shape, json.loads(each.data))))
            except Undecodable:
                continue
    return found


def last(items: list[Any], otherwise: Any) -> Any:
    return items[-1] if items else otherwise


def model_todos(events: list[SessionEvent]) -> tuple[Todo, ...]:
    items = last([data["items"] for _, data in decoded(events, "todo/update", TODOS)], [])
    return tuple(Todo(item["id"], item["title"], item["status"]) for item in items)


def model_usages(events: list[SessionEvent], seq: int = -1) -> list[list[int]]:
    found = decoded(events, "usage", USAGE)
    return [list(data.values()) for number, data in found if number > seq]


def model_finish(events: list[SessionEvent], seq: int) -> RunFinishData | None:
    found = [data for number, data in decoded(events, "run/finish", FINISH) if number > seq]
    return RunFinishData(found[-1]["status"], found[-1]["summary"]) if found else None


def model_text(events: list[SessionEvent], seq: int) -> Any:
    found = [data for n, data in decoded(events, "assistant/message", MESSAGE) if n > seq]
    texts = [
        "".join(part["text"] for part in data["content"] if part["type"] == "text").strip(WHITE)
        for data in found
    ]
    return last([text for text in texts if text], "")


def model_repeats(events: list[SessionEvent], seq: int) -> int:
    calls = [data for number, data in decoded(events, "tool/call", CALL) if number > seq]
    same = [(call["name"], call["input"]) for call in reversed(calls)]
    count = 0
    while count < len(same) and same[count] == same[0]:
        count += 1
    return count


def size(text: str) -> int:
    return len(text.encode())


def model_size(data: Any, raw: bytes) -> int:
    total = size(data["role"])
    for part in data["content"]:
        total += size(part["text"]) + size(part["source"])
        inline = part["url"].strip(WHITE).startswith("data:")
        total += 256 if inline and part["type"] == "image" else size(part["url"])
    # The inputs of calls count as they are spelled; here they are never there.
    return total + sum(size(call["name"]) for call in data["toolcalls"])


def model_sum(events: list[SessionEvent], agent: str) -> int:
    total = 0
    for each in events:
        if each.type not in ("user/message", "assistant/message"):
            continue
        if agent and each.agent_id != agent:
            continue
        recorded = (each.metadata or {}).get("logical_chars", 0)
        if type(recorded) in (int, float) and int(recorded) > 0:
            total += int(recorded)
        else:
            for _, data in decoded([each], each.type, MESSAGE):
                total += model_size(data, each.data)
    return total


@given(logs(), st.integers(-1, 12))
def test_projections_agree_with_slow_models(events: list[SessionEvent], seq: int) -> None:
    users = [each.seq for each in events if each.type == "user/message"]
    start = last(users, 0)
    totals = [sum(column) for column in zip([0, 0, 0], *model_usages(events, seq), strict=True)]
    expected: dict[Callable[..., Any], Any] = {
        eventlog.step_count: sum(e.type == "step/end" and e.seq > seq for e in events),
        eventlog.finish_after: model_finish(events, seq),
        eventlog.last_assistant_text: model_text(events, seq),
        eventlog.total_usage: UsageData(*totals),
        eventlog.repeated_tool_calls: model_repeats(events, seq),
    }
    assert {function: function(iter(events), seq) for function in expected} == expected
    todos = model_todos(events)
    latest = UsageData(*last(model_usages(events), [0, 0, 0]))
    assert eventlog.latest_todos(iter(events)) == todos
    assert eventlog.latest_usage(iter(events)) == latest
    assert eventlog.run_start_seq(iter(events)) == start
    assert eventlog.latest_event_seq(iter(events)) == max([0, *(each.seq for each in events)])
    state = eventlog.run_state_from_events(iter(events))
    assert state.start_seq == start
    assert state.todos == todos
    assert state.pending == tuple(todo for todo in todos if todo.status != "done")
    assert state.finish == model_finish(events, start)
    assert state.repeats == model_repeats(events, start)
    assert state.usage == eventlog.total_usage(events, start)
    assert state.context == latest.input_tokens


@given(logs(), st.sampled_from(["", "a", "b"]))
def test_sizes_agree_with_a_slow_model(events: list[SessionEvent], agent: str) -> None:
    assert eventlog.sum_logical_chars_from_events(iter(events), agent) == model_sum(events, agent)


@given(logs(max_size=30), st.integers(1, 4))
def test_repeated_runs_are_the_runs_that_grow_call_by_call(
    events: list[SessionEvent], least: int
) -> None:
    counts = [model_repeats(events[:end], -1) for end in range(len(events) + 1)]
    calls = [i for i, each in enumerate(events) if decoded([each], "tool/call", CALL)]
    lengths = [counts[i + 1] for i in calls]
    ends = [n for n, after in zip(lengths, [*lengths[1:], 1], strict=False) if after == 1]
    found = [len(run.seqs) for run in eventlog.repeated_runs(iter(events), least)]
    assert found == [n for n in ends if n >= least]


@given(loose_events())
def test_no_projection_raises_on_a_payload(one: SessionEvent) -> None:
    for data in (one.data, b"", b"null", b"nul", b"[" * 9999, b"\xff", b'{"Content":1}'):
        events = [event(1, one.type, data)]
        eventlog.run_state_from_events(events)
        eventlog.index_messages(events)
        eventlog.scan_interrupted([event(0, "turn/start"), *events])
        eventlog.repeated_runs(events)
        eventlog.sum_logical_chars_from_events(events)


def test_an_undecodable_list_is_passed_over_and_an_absent_one_empties_it() -> None:
    todo = {"id": "1", "title": "t", "status": "pending"}
    whole = event(1, "todo/update", {"items": [todo]})
    assert eventlog.latest_todos([whole, event(2, "todo/update", {"items": 3})]) == (
        Todo("1", "t", "pending"),
    )
    assert eventlog.latest_todos([whole, event(2, "todo/update", {})]) == ()
    assert eventlog.latest_todos([whole, event(2, "todo/update", b"null")]) == ()


@pytest.mark.parametrize(
    ("parts", "separator", "text"),
    [
        ((), "\n", ""),
        ((ContentPart("text", " a "), ContentPart("", "b\n")), "-", "a-b"),
        ((ContentPart("text", " "), ContentPart("text", "a")), "-", "a"),
        ((ContentPart("image", "x"), ContentPart("text", "a")), "-", "a"),
        ((ContentPart("text", "a"), ContentPart("text", "b")), "", "ab"),
        ((ContentPart("text", "\x1ca\u2003"),), "", "\x1ca"),
    ],
)
def test_text_parts_are_joined(parts: tuple[ContentPart, ...], separator: str, text: str) -> None:
    assert eventlog.flatten_text_parts(parts, separator) == text


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3), (3.9, 3), (-3.9, -3), (2**60 + 1, 2**60 + 1), (True, 0), ("3", 0), (None, 0),
        ([3], 0), (float("nan"), 0), (float("inf"), 0),
    ],
)  # fmt: skip
def test_a_number_in_the_metadata_is_read_without_its_fraction(value: Any, number: int) -> None:
    assert eventlog.metadata_int({"n": value}, "n") == number
    assert eventlog.metadata_int({}, "n") == eventlog.metadata_int(None, "n") == 0


class Sessions:
    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer

    def active_session_id(self, entry_key: str) -> str:
        assert entry_key == "key"
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_a_key_means_the_session_that_was_begun_for_it_last() -> None:
    resolve = eventlog.resolve_active_session_id
    assert resolve(Sessions("new"), "key") == "new"
    assert resolve(Sessions("key"), "key") == resolve(Sessions(""), "key") == "key"
    assert resolve(object(), "key") == "key"
    assert resolve(Sessions(KeyError("must not be asked")), "") == ""
    with pytest.raises(KeyError):
        resolve(Sessions(KeyError("gone")), "key")


def test_a_message_without_text_leaves_the_one_before() -> None:
    events = [
        event(1, "assistant/message", message("first")),
        event(2, "assistant/message", message(" \n", "c1")),
        event(3, "assistant/message", {"Content": [{"text": "no type"}]}),
    ]
    assert eventlog.last_assistant_text(events) == "first"
    assert eventlog.last_assistant_text(events, 1) == ""

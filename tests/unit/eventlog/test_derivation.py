"""What a model sees of a log, and what of it was cut off."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.eventlog import (
    IndexedMessage,
    InterruptedTurn,
    ModelMessage,
    SessionEvent,
    ToolCall,
    ToolResult,
    answered,
    estimate_logical_chars,
    index_messages,
    interrupted_result,
    scan_interrupted,
    tool_message,
    unanswered,
)
from tests.unit.eventlog.examples import event, logs, message

SKILL = {"name": "s", "description": "", "body": "b", "rendered": " how to "}


def said(seq: int, text: str, *calls: str, role: str = "assistant", **fields: Any) -> SessionEvent:
    return event(seq, f"{role}/message", message(text, *calls, role=role), **fields)


def result(seq: int, call: str, **fields: Any) -> SessionEvent:
    return event(seq, "tool/result", {"ID": call, "Name": "read", "Content": "x"}, **fields)


def compaction(seq: int, **data: Any) -> SessionEvent:
    payload = {"summary": message("so far", role="user"), "kind": "summary", **data}
    return event(seq, "session/compaction", payload)


def shown(indexed: list[IndexedMessage]) -> list[str]:
    """Each message as `seq role text calls`, with a star where a turn may start."""
    lines = []
    for each in indexed:
        texts = [part.text for part in each.message.content]
        calls = [call.id for call in each.message.tool_calls]
        answers = [each.id for each in each.message.tool_results]
        words = [str(each.seq), each.message.role, *texts, *calls, *answers]
        lines.append(" ".join(words) + "*" * each.is_turn_start)
    return lines


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        ([], []),
        (
            [
                event(1, "turn/start"),
                said(2, "fix it", role="user"),
                said(3, "ok", "c1"),
                event(4, "tool/call", {"ID": "c1"}),
                result(5, "c1"),
                event(6, "usage"),
            ],
            ["2 user fix it*", "3 assistant ok c1", "5 tool c1"],
        ),
        (
            [
                said(1, "", "c1", "c2"),
                event(2, "skill/load", SKILL),
                result(3, "c1"),
                result(4, "c2"),
                event(5, "skill/load", SKILL),
            ],
            ["1 assistant  c1 c2", "3 tool c1", "2 user how to*", "4 tool c2", "5 user how to*"],
        ),
        (
            [event(1, "turn/continue", {"messages": [message("go", role="user"), message("on")]})],
            ["1 user go*", "1 assistant on"],
        ),
        (
            [
                said(1, "a", role="user"),
                said(2, "b"),
                said(3, "c", role="user"),
                compaction(4, beforeSeq=2),
                said(5, "d"),
            ],
            ["4 user so far", "3 user c*", "5 assistant d"],
        ),
        (
            [
                said(1, "a", role="user"),
                said(2, "b", role="user"),
                compaction(
                    3,
                    beforeSeq=1,
                    firstKeptSeq=2,
                    retainedTail=[message("kept", role="user"), message("tail")],
                ),
                said(4, "c"),
            ],
            ["3 user so far", "2 user kept*", "2 assistant tail", "4 assistant c"],
        ),
        (
            [
                compaction(1, beforeSeq=0),
                said(2, "a"),
                compaction(3, beforeSeq=2),
                event(4, "session/compaction", b"[]"),
                said(5, "b"),
            ],
            ["3 user so far", "5 assistant b"],
        ),
        (
            [said(1, "a"), event(2, "user/message", b"3"), event(3, "tool/result", b"[]")],
            ["1 assistant a"],
        ),
    ],
    ids=["none", "turn", "skills", "continued", "compacted", "tail", "twice", "undecodable"],
)
def test_a_model_sees_its_last_summary_and_what_follows(
    events: list[SessionEvent], lines: list[str]
) -> None:
    assert shown(index_messages(iter(events))) == lines


def test_events_of_other_agents_are_passed_over_unless_one_side_names_none() -> None:
    events = [
        said(1, "mine", agent_id="a"),
        said(2, "theirs", agent_id="b"),
        said(3, "anybody's"),
        event(4, "session/compaction", b'{"beforeSeq":9}', agent_id="b"),
    ]
    assert shown(index_messages(events, "a")) == ["1 assistant mine", "3 assistant anybody's"]
    assert shown(index_messages(events[:3])) == [
        "1 assistant mine",
        "2 assistant theirs",
        "3 assistant anybody's",
    ]


def test_the_size_that_was_recorded_counts() -> None:
    plain, recorded = index_messages(
        [said(1, "abc"), said(2, "abc", metadata={"logical_chars": 99})]
    )
    assert (plain.logical_chars, recorded.logical_chars) == (len("assistant") + 3, 99)


@given(logs(max_size=20), st.sampled_from(["", "a"]))
def test_every_message_comes_from_an_event_of_the_agent(
    events: list[SessionEvent], agent: str
) -> None:
    found = index_messages(iter(events), agent)
    mine = {each.seq for each in events if not agent or each.agent_id in ("", agent)}
    assert {each.seq for each in found} <= mine | {0}
    assert all(each.logical_chars >= 0 for each in found)
    # Only the end of the list may hold skills that no result follows.
    assert found == index_messages(events, agent)


@pytest.mark.parametrize(
    ("events", "turn"),
    [
        ([], None),
        ([event(1, "usage")], None),
        ([event(1, "turn/start"), event(2, "turn/end")], None),
        ([event(1, "turn/start"), event(2, "turn/end"), event(3, "turn/end")], None),
        ([event(1, "turn/start", agent_id="a")], InterruptedTurn(1, "a")),
        (
            [event(1, "turn/start"), event(2, "step/start", {"step": 4}), event(3, "turn/start")],
            InterruptedTurn(3),
        ),
        (
            [
                event(1, "step/start", {"step": 0}),
                event(2, "turn/start"),
                event(3, "step/start", {"step": 0}),
                event(4, "step/end", {"step": 0}),
                event(5, "step/start", {"step": 1}),
            ],
            InterruptedTurn(2, "", 2, 1, 1),
        ),
        (
            [event(1, "turn/start"), event(2, "step/start", b"[]"), event(3, "step/end", b"")],
            InterruptedTurn(1, "", 1, 1, None),
        ),
        (
            [
                said(1, "", "old"),
                event(2, "turn/start"),
                said(3, "", "c1", "c2"),
                result(4, "c2"),
                said(5, "", "c2"),
            ],
            InterruptedTurn(
                2, orphans=(ToolCall("c1", "read", b"{}"), ToolCall("c2", "read", b"{}"))
            ),
        ),
        (
            [
                event(2, "turn/start"),
                said(3, "", "c"),
                said(4, "", "c"),
                result(5, "c"),
                result(6, "c"),
            ],
            InterruptedTurn(2),
        ),
    ],
)  # fmt: skip
def test_a_turn_that_never_ended_is_found(
    events: list[SessionEvent], turn: InterruptedTurn | None
) -> None:
    assert scan_interrupted(iter(events)) == turn


@given(logs(max_size=20))
def test_a_repaired_turn_is_whole(events: list[SessionEvent]) -> None:
    from presentview.eventlog.recovery import repair_events

    numbered = [event(n, e.type, e.data, agent_id=e.agent_id) for n, e in enumerate(events, 1)]
    turn = scan_interrupted(numbered)
    if turn is None:
        return
    added = [
        event(n, e.type, e.data) for n, e in enumerate(repair_events(turn).events, len(events) + 1)
    ]
    assert scan_interrupted([*numbered, *added]) is None
    reopened = [each for each in [*numbered, *added] if each.type != "turn/end"]
    again = scan_interrupted(reopened)
    assert again is not None
    assert (again.orphans, again.open_step) == ((), None)


A, B, C = (ToolCall(name, "read") for name in "abc")


def asks(*calls: ToolCall) -> ModelMessage:
    return ModelMessage("assistant", tool_calls=calls)


def gives(call: ToolCall) -> ModelMessage:
    return tool_message(ToolResult(call.id, call.name, "x"))


def missing(call: ToolCall) -> ModelMessage:
    return tool_message(interrupted_result(call))


HI = ModelMessage.of("user", "hi")


def numbered(messages: list[ModelMessage]) -> list[IndexedMessage]:
    return [
        IndexedMessage(message, seq, False, estimate_logical_chars(message))
        for seq, message in enumerate(messages, 1)
    ]


def plain(indexed: list[IndexedMessage]) -> list[ModelMessage]:
    return [each.message for each in indexed]


def test_an_answer_bears_the_number_of_its_call() -> None:
    assert [each.seq for each in answered(numbered([HI, asks(A, B), gives(B), HI]))] == [
        *(1, 2, 3, 2, 4)
    ]


@pytest.mark.parametrize(
    ("messages", "whole"),
    [
        ([], []),
        ([HI], [HI]),
        ([asks(A), gives(A), HI], [asks(A), gives(A), HI]),
        ([asks(A)], [asks(A), missing(A)]),
        ([asks(A), HI], [asks(A), missing(A), HI]),
        ([asks(A, B, C), gives(B), HI], [asks(A, B, C), gives(B), missing(A), missing(C), HI]),
        ([asks(A), asks(A), gives(A)], [asks(A), missing(A), asks(A), gives(A)]),
        ([asks(A), HI, gives(A)], [asks(A), HI, gives(A)]),
        ([gives(A), asks(A)], [gives(A), asks(A), missing(A)]),
    ],
)
def test_calls_without_a_result_are_answered_behind_their_message(
    messages: list[ModelMessage], whole: list[ModelMessage]
) -> None:
    assert plain(answered(numbered(messages))) == whole
    assert unanswered(whole) == []
    assert len(unanswered(messages)) == len(whole) - len(messages)


@given(st.lists(st.sampled_from([HI, asks(A), asks(A, B), asks(B, C), gives(A), gives(B)])))
def test_an_answered_history_keeps_its_messages(messages: list[ModelMessage]) -> None:
    whole = plain(answered(numbered(messages)))
    assert unanswered(whole) == []
    assert [each for each in whole if each not in (missing(A), missing(B), missing(C))] == messages
    assert sum(map(estimate_logical_chars, messages)) <= sum(map(estimate_logical_chars, whole))

"""One method for each thing that can happen, and the smallest contract for each caller."""

from __future__ import annotations

from pathlib import Path

import pytest

from presentview import eventlog
from presentview.eventlog import (
    Compaction,
    CompactionData,
    ContentPart,
    Conversation,
    EventLog,
    Events,
    EventType,
    InterruptedTurn,
    ModelMessage,
    OverflowRecoveryData,
    RecoveryData,
    RetryEndData,
    RetryStartData,
    RunFinishData,
    RunLog,
    SessionEvent,
    SkillContent,
    Skills,
    Todo,
    ToolCall,
    ToolResult,
    TurnContinueData,
    TurnEndData,
    UsageData,
    load,
    scan_interrupted,
)
from presentview.eventlog.recovery import Repair, repair_events

HI = ModelMessage.of("user", "hi")
START, END = RetryStartData(1, 3, 500, "429"), RetryEndData(success=True, attempt=1)


@pytest.fixture
def log(tmp_path: Path) -> EventLog:
    return EventLog.open(tmp_path / "s.jsonl", session_id="S", fsync="never")


def everything(log: Events) -> None:
    """Ask for all that the contracts offer; mypy sees that an `EventLog` will do."""
    conversation: Conversation = log
    run: RunLog = log
    compaction: Compaction = log
    skills: Skills = log
    conversation.append_turn_start("a")
    conversation.append_message("a", "user/message", HI, user_id="u", metadata={"k": 1})
    conversation.append_step_start("a", 0)
    conversation.append_tool_call("a", ToolCall("c", "read"))
    conversation.append_tool_result("a", ToolResult("c", "read", "x"))
    conversation.append_step_end("a", 0)
    run.append_todo_update("a", [Todo("1", "t", "pending")])
    run.append_usage("a", UsageData(1, 2, 3))
    run.append_turn_continue("a", TurnContinueData(1, "more", 1, (HI,)))
    run.append_run_finish("a", RunFinishData("completed"))
    conversation.append_turn_end("a", TurnEndData(1))
    compaction.append_summarization_retry_start("a", START)
    compaction.append_summarization_retry_end("a", END)
    compaction.append_compaction("a", CompactionData(before_seq=2, summary=HI, kind="summary"))
    skills.append_skill_load("a", SkillContent("s", "d", "b", "/s"))
    log.append_auto_retry_start("a", START)
    log.append_auto_retry_end("a", END)
    log.append_overflow_recovery("a", OverflowRecoveryData(1))


def test_every_method_writes_its_event(log: EventLog) -> None:
    everything(log)
    events, problems = log.store.load()
    assert problems == ()
    assert [each.type for each in events] == [
        *("turn/start", "user/message", "step/start", "tool/call", "tool/result", "step/end"),
        *("todo/update", "usage", "turn/continue", "run/finish", "turn/end"),
        *("summarization/retry/start", "summarization/retry/end", "session/compaction"),
        *("skill/load", "retry/start", "retry/end", "overflow/recovery"),
    ]
    assert [each.seq for each in events] == list(range(1, 19))
    assert {(each.agent_id, each.session_id) for each in events} == {("a", "S")}
    assert (events[1].user_id, events[1].metadata) == ("u", {"k": 1})
    assert events[3].payload(ToolCall) == ToolCall("c", "read", b"{}")
    assert events[13].payload(CompactionData) is not None
    rendered = log.render_skill_content(SkillContent("s", "d", "b", "/s"))
    assert rendered.encode() not in events[14].data
    load_data = events[14].payload(eventlog.SkillLoadData)
    assert load_data == eventlog.SkillLoadData("s", "d", "b", "/s", rendered)


@pytest.mark.parametrize("contract", [Conversation, RunLog, Compaction, Skills, Events])
def test_a_log_satisfies_each_contract_at_run_time(contract: type, log: EventLog) -> None:
    assert isinstance(log, contract)
    assert not isinstance(object(), contract)


def test_the_smaller_contracts_are_no_larger_than_they_say() -> None:
    def members(contract: type) -> set[str]:
        return {name for name in dir(contract) if name.startswith(("append", "index", "render"))}

    small = [members(contract) for contract in (Conversation, RunLog, Compaction, Skills)]
    assert [len(each) for each in small] == [7, 4, 4, 2]
    assert members(Events) == set.union(*small) | {
        "append_auto_retry_start",
        "append_auto_retry_end",
        "append_overflow_recovery",
    }
    assert sum(map(len, small)) == len(set.union(*small))


def test_a_message_is_stored_without_media_and_its_size_before_is_recorded(log: EventLog) -> None:
    image = ContentPart("image_url", url="data:image/png;base64," + "A" * 9000, source="up/a.png")
    message = ModelMessage("user", (ContentPart("text", " see "), image))
    stored = log.append_message(
        "a", EventType.USER_MESSAGE, message, metadata={"logical_chars": 1, "channel": "C"}
    )
    assert stored.metadata == {"channel": "C", "logical_chars": 4 + 5 + 256 + 8}
    assert stored.payload(ModelMessage) == ModelMessage(
        "user", (ContentPart("text", "see"), ContentPart("attachment_ref", source="up/a.png"))
    )
    assert eventlog.sum_logical_chars_from_events([stored]) == 273
    plain = log.append_message("a", EventType.ASSISTANT_MESSAGE, HI)
    assert plain.metadata is None


def test_only_messages_of_users_and_assistants_are_messages(log: EventLog) -> None:
    with pytest.raises(ValueError, match="user/message, assistant/message, not 'tool/call'"):
        log.append_message("a", "tool/call", HI)


def test_a_skill_gives_the_text_that_rendering_gives(log: EventLog) -> None:
    content = SkillContent("<s>", "d", "Do.", "")
    assert log.append_skill_load("a", content) == log.render_skill_content(content)
    (indexed,) = log.index_for_compaction("a")
    assert indexed.message == ModelMessage.of("user", log.render_skill_content(content))


def test_an_interrupted_turn_is_repaired_once_with_an_event_that_says_so(log: EventLog) -> None:
    assert log.repair_interrupted_turn() is None
    log.append_turn_start("a")
    log.append_step_start("a", 0)
    log.append_step_end("a", 0)
    log.append_step_start("a", 1)
    calls = (ToolCall("c1", "read", b"{}"), ToolCall("c2", "write", b"{}"))
    log.append_message("a", EventType.ASSISTANT_MESSAGE, ModelMessage("assistant", (), calls))
    log.append_tool_result("a", ToolResult("c1", "read", "x"))
    data = RecoveryData(1, 1, 1, 1, "turn/start without turn/end")
    assert log.repair_interrupted_turn() == data
    added = log.store.load().events[6:]
    assert [(each.type, each.agent_id) for each in added] == [
        ("tool/result", "a"),
        ("step/end", "a"),
        ("turn/end", "a"),
        ("session/recovery", "a"),
    ]
    result = added[0].payload(ToolResult)
    assert result is not None
    assert (result.id, result.name, result.audit) == ("c2", "write", {"decision": "interrupted"})
    assert result.content.startswith("interrupted")
    assert added[2].payload(TurnEndData) == TurnEndData(1)
    assert added[3].payload(RecoveryData) == data
    assert log.repair_interrupted_turn() is None
    assert scan_interrupted(log.store.load().events) is None
    assert len(log.store.load().events) == 10


def test_a_turn_that_somebody_goes_on_with_is_not_repaired(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append_turn_start("a")

    def meanwhile(turn: InterruptedTurn) -> Repair:
        EventLog.open(log.store.path).append_step_start("a", 0)
        return repair_events(turn)

    monkeypatch.setattr("presentview.eventlog.log.repair_events", meanwhile)
    assert log.repair_interrupted_turn() is None
    assert [each.type for each in log.store.load().events] == ["turn/start", "step/start"]


def test_a_torn_end_does_not_keep_a_turn_from_being_repaired(log: EventLog) -> None:
    log.append_turn_start("a")
    with log.store.path.open("ab") as file:
        file.write(b'{"ID":"","Seq":2,')
    assert log.repair_interrupted_turn() is not None
    assert load(log.store.path).problems == ()
    assert len(log.store.problems) == 1


def test_the_example_of_the_package_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert eventlog.__doc__ is not None
    lines = [line[4:] for line in eventlog.__doc__.splitlines() if line.startswith("    ")]
    assert len(lines) <= 11
    exec(compile("\n".join(lines), "example", "exec"), {})
    assert capsys.readouterr().out.strip() == lines[-1].rpartition("# ")[2]
    events, problems = load("today.jsonl")
    assert (len(events), problems) == (5, ())


def test_every_name_of_the_package_is_there() -> None:
    assert sorted(set(eventlog.__all__), key=_like_ruff) == eventlog.__all__
    assert all(hasattr(eventlog, name) for name in eventlog.__all__)


def _like_ruff(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_an_event_may_have_a_type_nobody_knows(log: EventLog) -> None:
    stored = log.store.append(SessionEvent(type="future/kind", data=b'{"a":[1.0]}'))
    assert load(log.store.path).events == (stored,)

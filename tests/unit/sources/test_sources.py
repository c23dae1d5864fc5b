"""Logs in other formats open as transcripts of the same cards."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from presentview import eventlog, runlog
from presentview.cli import main
from presentview.eventlog import (
    EventLog,
    ModelMessage,
    RetryStartData,
    Todo,
    TurnEndData,
    UsageData,
)
from presentview.sessionfiles import follow, source_of
from presentview.sources import detect

USER = {"role": "user", "content": "fix it"}
ANSWER = {
    "role": "assistant",
    "content": "looking",
    "reasoning_content": "hm",
    "tool_calls": [{"id": "a", "name": "bash", "arguments": '{"command":"make"}'}],
}
OUTPUT = {"role": "tool", "content": "error: exit status 2\n", "tool_call_id": "a", "name": "bash"}
OPENAI = {
    "role": "assistant",
    "tool_calls": [{"id": "b", "function": {"name": "read", "arguments": '{"path":"x"}'}}],
}


def write(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def cards(path: Path) -> list[tuple[str, str, str | None]]:
    follower = follow(path)
    follower.refresh()
    found = [(c.kind, c.face, c.status(alive=False)) for c in follower.transcript.walk()]
    follower.close()
    return found


def make_run(folder: Path) -> Path:
    log = runlog.create(folder, "20260101-000000", runlog.Meta(task="fix it", workdir="/w"))
    with log:
        log.message(runlog.Message("user", "fix it"))
        log.event(runlog.Event("toolCallStart", tool="shell"))
        log.event(runlog.Event("toolCallEnd", tool="shell"))
        asked = runlog.Activity("request", "a", "shell", '{"command":"make"}')
        log.message(runlog.Message("activity", activity=asked))
        log.message(
            runlog.Message(
                "activity", activity=runlog.Activity("response", "a", "shell", result="")
            )
        )
        log.reset()
        log.message(runlog.Message("checkpoint", "what was before"))
        log.message(runlog.Message("activity", activity=asked))
        log.message(runlog.Message("bot", "Done."))
        log.result(runlog.Result("calls", message="too many", code=1, calls=1))
    return log.path


def make_events(path: Path) -> Path:
    log = EventLog.open(path)
    log.append_turn_start("main")
    log.append_message("main", "user/message", ModelMessage.of("user", "fix it"))
    for number in range(5):
        log.append_tool_call("main", eventlog.ToolCall.of(f"c{number}", "read", {"path": "x"}))
        log.append_tool_result("main", eventlog.ToolResult(f"c{number}", "read", "text"))
    log.append_todo_update("main", [Todo("1", "look", "done"), Todo("2", "mend", "pending")])
    log.append_usage("main", UsageData(10, 2, 12))
    log.append_turn_end("main", TurnEndData(5, failed=True))
    return path


def test_a_message_list_is_told_with_its_calls_and_failures(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", {"role": "system", "content": "be"}, USER, ANSWER, OUTPUT)
    assert cards(path) == [
        ("prompt", "fix it", None),
        ("reasoning", "hm", "done"),
        ("message", "", "done"),
        ("tool", "make", "failed"),
    ]


def test_calls_in_the_spelling_of_chat_requests_are_read_too(tmp_path: Path) -> None:
    assert cards(write(tmp_path / "s.jsonl", USER, OPENAI))[1] == ("tool", "x", "interrupted")


def test_a_run_log_is_told_once_though_its_conversation_was_written_again(tmp_path: Path) -> None:
    found = cards(make_run(tmp_path))
    assert [kind for kind, _, _ in found] == [
        *("prompt", "tool", "compaction", "message", "notice", "turn_error")
    ]
    assert found[1] == ("tool", "make", "done")
    assert found[4][1].startswith("Run ended: calls: too many · code 1 · 1 call")


def test_an_event_log_is_told_with_a_warning_of_calls_that_repeat(tmp_path: Path) -> None:
    found = cards(make_events(tmp_path / "s.jsonl"))
    kinds = [kind for kind, _, _ in found]
    assert kinds.count("tool") == 6
    assert ("notice", "read was called 5 times in a row with the same arguments", None) in found
    assert ("tool", "1 of 2 done", "done") in found
    assert "phase" not in kinds
    assert ("turn_error", "failed", "failed") in found


def footers(path: Path) -> list[tuple[int, int, int]]:
    """The steps, requests and input tokens of each turn's footer."""
    with follow(path) as follower:
        follower.refresh()
        turns = follower.transcript.turns
        return [(f.steps, f.requests, f.input) for turn in turns if (f := turn.footer) is not None]


def test_the_steps_of_a_turn_stand_beside_its_tokens(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    log = EventLog.open(path)
    for told in (0, 2, 5):
        log.append_turn_start("main")
        log.append_message("main", "user/message", ModelMessage.of("user", "go"))
        for step in range(2):
            log.append_step_start("main", step)
            log.append_usage("main", UsageData(10, 2, 12))
            log.append_step_end("main", step)
        if told:
            log.append_turn_end("main", TurnEndData(told, stop_reason="end_turn"))
    log.append_turn_start("main")
    log.append_turn_end("main", TurnEndData(0))
    assert footers(path) == [(2, 2, 20), (2, 2, 20), (5, 2, 20)]
    assert ("notice", "Stopped: end_turn", None) in cards(path)


def test_why_a_request_was_made_again_is_told(tmp_path: Path) -> None:
    with runlog.create(tmp_path, "20260101-000000", runlog.Meta()) as run:
        run.event(runlog.Event("retry", text="503 upstream"))
    assert ("retry", "503 upstream", None) in cards(run.path)
    log = EventLog.open(tmp_path / "s.jsonl")
    log.append_auto_retry_start("main", RetryStartData(1, 3, 500, "429\nslow down"))
    assert ("retry", "attempt 1 of 3: 429", None) in cards(tmp_path / "s.jsonl")


def test_the_iterations_of_a_run_are_its_steps(tmp_path: Path) -> None:
    with runlog.create(tmp_path, "20260101-000000", runlog.Meta()) as log:
        log.message(runlog.Message("user", "fix it"))
        for number in (1, 2, 2):
            log.event(runlog.Event("iteration", iteration=number))
        log.event(runlog.Event("retry", text="503", iteration=3))
        log.result(runlog.Result("settled", iterations=3, input_tokens=7))
    assert footers(log.path) == [(3, 1, 7)]


def test_a_format_is_told_by_content_not_by_name(tmp_path: Path) -> None:
    run = make_run(tmp_path / "runs")
    events = make_events(tmp_path / "any.txt")
    messages = write(tmp_path / "any.log", USER, ANSWER)
    found = [detect(path) for path in (run, events, messages)]
    names = [source.name for source in found if source]
    assert names == ["run log", "event log", "message list"]


def test_a_torn_or_damaged_beginning_tells_the_format_too(tmp_path: Path) -> None:
    path = tmp_path / "torn"
    wholes = [
        (make_run(tmp_path / "runs").read_bytes(), "run log"),
        (make_events(tmp_path / "events").read_bytes(), "event log"),
        (json.dumps(USER).encode() + b"\n", "message list"),
    ]
    for whole, name in wholes:
        first = whole.partition(b"\n")[0]
        for head in (whole, first, first[:-3], b"\xef\xbb\xbf" + whole, b"damaged\n\n" + whole):
            path.write_bytes(head)
            source = detect(path)
            assert source is not None, head[:80]
            assert source.name == name
    for other in (b"", b"{", b'{"kind":"_header"}', b'{"kind":"text","text":"a"}', b'{"seq":1}'):
        path.write_bytes(other)
        assert detect(path) is None


def test_a_first_line_of_any_usual_length_tells_the_format(tmp_path: Path) -> None:
    system = {"role": "system", "content": "be " * 100_000}
    source = detect(write(tmp_path / "s.jsonl", system, USER))
    assert source is not None
    assert source.name == "message list"


@pytest.mark.parametrize(
    "text", ["", "{}\n", "[1]\n", "not json\n", '{"kind":"turn_started"}\n', '{"role":7}\n']
)
def test_what_is_in_no_known_format_is_no_session(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(text)
    assert detect(path) is None
    assert source_of(path) is None


@pytest.mark.parametrize("damage", [b"garbage\n", b'{"role":"user","con\n', b"\xff\xfe\n", b"{}\n"])
def test_a_damaged_line_costs_only_itself_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: bytes
) -> None:
    path = write(tmp_path / "s.jsonl", USER, ANSWER)
    whole = path.read_bytes()
    path.write_bytes(whole + damage + json.dumps(OUTPUT).encode() + b"\n")
    assert cards(path)[-1] == ("tool", "make", "failed")
    assert main(["check", str(path)]) == 1
    assert f"s.jsonl:3:{len(whole)}: " in capsys.readouterr().out


def test_what_grows_goes_on_and_what_is_replaced_is_read_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", USER)
    follower = follow(path)
    assert follower.refresh().what.value == "reset"
    with path.open("a") as file:
        file.write(json.dumps(ANSWER) + "\n")
    assert follower.refresh().what.value == "grew"
    # A full rewrite that only goes on from what was there moves nothing.
    other = write(tmp_path / "other", USER, ANSWER, OUTPUT)
    other.replace(path)
    assert follower.refresh().what.value == "grew"
    write(path, {"role": "user", "content": "something else"})
    assert follower.refresh().what.value == "reset"
    assert [card.face for card in follower.transcript.walk()] == ["something else"]
    path.unlink()
    assert follower.refresh().what.value == "gone"
    write(path, USER)
    assert follower.refresh().what.value == "reset"
    follower.close()


@pytest.mark.parametrize("step", [1, 7, 40])
def test_what_is_read_in_steps_is_what_is_read_at_once(tmp_path: Path, step: int) -> None:
    whole = write(tmp_path / "whole.jsonl", USER, ANSWER, OUTPUT).read_bytes()
    # Two messages on one line, of which the second may be cut off anywhere.
    content = whole + whole.replace(b"}\n{", b"} {", 1)
    path = tmp_path / "s.jsonl"
    path.write_bytes(content[: len(whole)])
    with follow(path) as follower:
        for end in range(len(whole), len(content) + step, step):
            path.write_bytes(content[:end])
            os.utime(path, (0, 0))  # whoever wrote it is long gone
            follower.refresh()
        found = [card.kind for card in follower.transcript.walk()]
    assert found == [kind for kind, _, _ in cards(path)]
    assert found.count("prompt") == 2


def test_a_file_of_another_format_prints_as_a_transcript(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(make_run(tmp_path))]) == 0
    assert "[shell] make  (done" in capsys.readouterr().out

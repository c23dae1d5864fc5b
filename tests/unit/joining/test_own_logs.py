"""A run log or an event log beside a sidecar is one transcript with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from presentview import eventlog, lock, runlog
from presentview.eventlog import EventLog, ModelMessage, RunFinishData, TurnEndData
from presentview.follow import What
from presentview.records import Attachment, Record, Tool, encode
from presentview.sessionfiles import follow
from tests.sidecars import write_sidecar


class Turn(NamedTuple):
    """A turn as an agent's own log has it: what was asked, called and answered."""

    asked: str
    calls: tuple[str, ...] = ()
    answered: str = ""


def run_log(session: Path, turns: Iterable[Turn], outcome: str = "") -> None:
    session.unlink(missing_ok=True)
    log = runlog.create(session.parent, session.stem, runlog.Meta(task="t", resumed_from="before"))
    with log:
        for turn in turns:
            log.message(runlog.Message("user", turn.asked))
            for call in turn.calls:
                asked = runlog.Activity("request", call, "bash", "{}")
                log.message(runlog.Message("activity", activity=asked))
                answer = runlog.Activity("response", call, "bash", result="error: plain")
                log.message(runlog.Message("activity", activity=answer))
            if turn.answered:
                log.message(runlog.Message("bot", turn.answered))
        if outcome:
            log.result(runlog.Result(outcome))


def event_log(session: Path, turns: Iterable[Turn], outcome: str = "") -> None:
    session.unlink(missing_ok=True)
    log = EventLog.open(session)
    for turn in turns:
        log.append_turn_start("main")
        log.append_message("main", "user/message", ModelMessage.of("user", turn.asked))
        for call in turn.calls:
            asked = eventlog.ToolCall.of(call, "bash", {})
            said = ModelMessage("assistant", (), (asked,))
            log.append_message("main", "assistant/message", said)
            log.append_tool_call("main", asked)
            log.append_tool_result("main", eventlog.ToolResult(call, "bash", "error: plain"))
        if turn.answered:
            said = ModelMessage.of("assistant", turn.answered)
            log.append_message("main", "assistant/message", said)
        log.append_turn_end("main", TurnEndData(0))
    if outcome:
        log.append_run_finish("main", RunFinishData(outcome))


Write = Callable[..., None]
BOTH = pytest.mark.parametrize("write", [run_log, event_log], ids=["run log", "event log"])


def shown(*turns: Turn) -> list[Record]:
    """A sidecar's records of turns, whose prompts it does not tell."""
    records: list[Record] = []
    for turn in turns:
        records.append(Record("turn_started"))
        for call in turn.calls:
            records.append(Record("tool_dispatch", tool=Tool(call, "bash", "{}")))
            rich = Tool(call, "bash", output="rich", duration_ms=5)
            records.append(Record("tool_result", tool=rich))
        if turn.answered:
            records.append(Record("message", text=turn.answered))
    return records


def cards(session: Path) -> list[tuple[int, str, str]]:
    """The turn, the kind and the text of each card; of a call its output."""
    with follow(session) as follower:
        follower.refresh()
        found = []
        for card in follower.transcript.walk():
            text = card.face
            part = getattr(card, "result", None) or (card.parts[0] if card.parts else None)
            record = follower.record(part) if part is not None else None
            if record is not None:
                text = record.tool.output if record.tool else record.text
            found.append((card.turn, card.kind, text))
        return found


def dead(sidecar: Path) -> Path:
    """A lock file that nobody holds says that the recorder died."""
    lock.lock_path(sidecar).touch()
    return sidecar


ONE, TWO, THREE = Turn("p1", ("a",), "one"), Turn("p2", ("a",), "two"), Turn("p3", (), "three")


@BOTH
def test_turns_that_both_tell_are_the_sidecars_with_their_prompts(
    tmp_path: Path, write: Write
) -> None:
    session = tmp_path / "s.jsonl"
    write(session, [ONE, TWO, THREE])
    write_sidecar(tmp_path / "s.present.jsonl", shown(ONE, TWO, THREE))
    told = [card for card in cards(session) if card[1] != "phase"]
    assert told == [
        (1, "prompt", "p1"), (1, "tool", "rich"), (1, "message", "one"),
        (2, "prompt", "p2"), (2, "tool", "rich"), (2, "message", "two"),
        (3, "prompt", "p3"), (3, "message", "three"),
    ]  # fmt: skip


@BOTH
def test_what_only_one_of_them_tells_stays_where_it_was(tmp_path: Path, write: Write) -> None:
    session = tmp_path / "s.jsonl"
    write(session, [ONE, TWO])
    lost = Turn("", (), "only shown")
    write_sidecar(tmp_path / "s.present.jsonl", shown(TWO, lost))
    told = cards(session)
    prompts = [text for _, kind, text in told if kind == "prompt"]
    assert prompts == ["p1", "p2", ""]
    assert [text for _, kind, text in told if kind == "tool"] == ["error: plain", "rich"]
    (line,) = [text for _, _, text in told if text.startswith("Only in s.jsonl")]
    assert line.endswith("notices, diffs and the calls of sub-agents were not recorded")
    assert told[-1] == (3, "message", "only shown")
    with follow(session) as follower:
        follower.refresh()
        assert follower.transcript.calls.errors == 1


@BOTH
def test_turns_of_other_calls_are_not_the_same_though_there_are_as_many(
    tmp_path: Path, write: Write
) -> None:
    session = tmp_path / "s.jsonl"
    write(session, [ONE, Turn("p2", ("b",), "two"), THREE])
    write_sidecar(tmp_path / "s.present.jsonl", shown(ONE, Turn("", ("c",), "other"), THREE))
    told = [one for one in cards(session) if one[1] in ("prompt", "message")]
    assert told == [
        (1, "prompt", "p1"), (1, "message", "one"),
        (2, "prompt", ""), (2, "message", "other"),
        (3, "prompt", "p2"), (3, "message", "two"),
        (4, "prompt", "p3"), (4, "message", "three"),
    ]  # fmt: skip


@BOTH
def test_how_a_turn_ended_is_told_by_the_log_where_the_sidecar_does_not(
    tmp_path: Path, write: Write
) -> None:
    session, path = tmp_path / "s.jsonl", tmp_path / "s.present.jsonl"
    write(session, [ONE], "failed")
    write_sidecar(dead(path), shown(ONE))
    with follow(session) as follower:
        follower.refresh()
        assert follower.transcript.turn.ended
        assert bool(follower.transcript.turn.error) == (write is run_log)
    write_sidecar(path, [*shown(ONE), Record("turn_done", text="mine", level="error")])
    with follow(session) as follower:
        follower.refresh()
        assert follower.transcript.turn.error == "mine"


@BOTH
def test_how_the_run_ended_is_told_whatever_the_sidecar_tells(tmp_path: Path, write: Write) -> None:
    session = tmp_path / "s.jsonl"
    write(session, [ONE, TWO], "failed")
    write_sidecar(tmp_path / "s.present.jsonl", shown(ONE, TWO))
    told = cards(session)
    assert told[-1][:2] == (2, "notice")
    assert told[-1][2].startswith("Run ")
    assert told[-1][2].endswith("failed")
    if write is run_log:
        assert told[0] == (0, "phase", "Continues run before")


LINE = "Only in s.jsonl: notices, diffs and the calls of sub-agents were not recorded"


@BOTH
def test_what_a_sidecar_lacks_at_the_end_of_a_turn_is_told_there(
    tmp_path: Path, write: Write
) -> None:
    session, sidecar = tmp_path / "s.jsonl", tmp_path / "s.present.jsonl"
    write(session, [Turn("p1", ("a", "b"), "one"), Turn("p2", ("c",), "two")])
    write_sidecar(sidecar, shown(Turn("", ("a",)), Turn("")))
    rest = [(1, "notice", LINE), (1, "tool", "error: plain"), (1, "message", "one")]
    first = [(1, "prompt", "p1"), (1, "tool", "rich"), *rest, (2, "prompt", "p2")]
    assert [one for one in cards(session) if "before" not in one[2]] == first
    dead(sidecar)
    more = [(2, "notice", LINE), (2, "tool", "error: plain"), (2, "message", "two")]
    assert [one for one in cards(session) if "before" not in one[2]] == [*first, *more]


@BOTH
def test_where_both_go_on_differently_the_sidecar_is_right(tmp_path: Path, write: Write) -> None:
    session, sidecar = tmp_path / "s.jsonl", tmp_path / "s.present.jsonl"
    write(session, [Turn("p1", ("a",), "one"), Turn("p2", ("b",), "two")])
    write_sidecar(dead(sidecar), shown(Turn("", ("a",), "uno"), Turn("", (), "dos")))
    kept = [one for one in cards(session) if "before" not in one[2]]
    assert kept == [
        (1, "prompt", "p1"), (1, "tool", "rich"), (1, "message", "uno"),
        (2, "prompt", "p2"), (2, "message", "dos"),
    ]  # fmt: skip


@BOTH
def test_a_prompt_that_cannot_be_placed_is_told_in_a_row(tmp_path: Path, write: Write) -> None:
    session = tmp_path / "s.jsonl"
    write(session, [ONE, Turn("lost"), Turn("lost too"), THREE])
    unknown = [Record("turn_started"), Record("notice", text="x")]
    write_sidecar(tmp_path / "s.present.jsonl", [*shown(ONE), *unknown, *shown(THREE)])
    told = cards(session)
    assert [text for _, kind, text in told if kind == "prompt"] == ["p1", "", "p3"]
    rows = [text for _, kind, text in told if kind == "notice"]
    asked = [f"Asked in a turn that cannot be told: {text}" for text in ("lost", "lost too")]
    assert rows == ["x", *asked]


def test_images_of_a_prompt_come_from_the_event_log(tmp_path: Path) -> None:
    session = tmp_path / "s.jsonl"
    log = EventLog.open(session)
    log.append_turn_start("main")
    part = eventlog.ContentPart("attachment_ref", mime="image/png", source="shots/a.png")
    text = eventlog.ContentPart("text", "look")
    log.append_message("main", "user/message", ModelMessage("user", (text, part)))
    log.append_message("main", "assistant/message", ModelMessage.of("assistant", "seen"))
    write_sidecar(tmp_path / "s.present.jsonl", shown(Turn("", (), "seen")))
    with follow(session) as follower:
        follower.refresh()
        prompt = follower.transcript.turns[1].prompt
        assert prompt is not None
        record = follower.record(prompt.parts[0])
        assert record is not None
        assert (record.text, record.images) == ("look", (Attachment("shots/a.png", "image"),))


@BOTH
def test_a_log_that_is_written_anew_is_told_anew(tmp_path: Path, write: Write) -> None:
    session = tmp_path / "s.jsonl"
    write(session, [ONE, TWO])
    sidecar = tmp_path / "s.present.jsonl"
    write_sidecar(sidecar, shown(TWO))
    with follow(session) as follower:
        follower.refresh()
        write(session, [ONE._replace(asked="another"), TWO])
        assert follower.refresh().what is What.RESET
        (first, _) = [c.face for c in follower.transcript.walk() if c.kind == "prompt"]
        assert first == "another"
        with sidecar.open("ab") as file:
            file.write(encode(Record("notice", text="more")) + b"\n")
        assert follower.refresh().what is What.GREW

from __future__ import annotations

import ast
import os
import shlex
import shutil
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from presentview.demo import agent, project
from presentview.demo.chart import bar_chart
from presentview.demo.folder import DemoFolder
from presentview.demo.player import RealClock, check_speed
from presentview.demo.run import how_to_reopen, run_demo
from presentview.demo.script import HALF_WAY_CALLS, script, script_seconds
from presentview.demo.steps import HalfWay, Pause, Step, Written
from presentview.errors import ConfigError
from presentview.events import Event, EventKind, from_event
from presentview.lock import is_alive
from presentview.records import Header, Kind, Record, decode_header
from presentview.sidecar import load, present_path
from presentview.transcript.cards import Card, ToolCard, UsageCard
from presentview.transcript.collab import read_collab
from presentview.transcript.fold import Transcript


class Played(msgspec.Struct):
    """A demo that was played to its end without pauses."""

    folder: DemoFolder
    sidecar: Path
    header: Header
    records: tuple[Record, ...]
    transcript: Transcript

    def calls(self, **fields: Any) -> list[ToolCard]:
        cards = (card for card in self.transcript.walk() if isinstance(card, ToolCard))
        return [c for c in cards if all(getattr(c, key) == fields[key] for key in fields)]

    def cards(self, kind: str) -> list[Card]:
        return [card for card in self.transcript.walk() if card.kind == kind]


def steps() -> list[Step]:
    return list(script())


def events() -> list[Event]:
    return [step for step in script() if isinstance(step, Event)]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = DemoFolder(tmp_path_factory.mktemp("demo"))
    assert agent.main([str(folder.path), "--session=told", "--speed=0"]) == 0
    sidecar = present_path(folder.session("told"))
    header = decode_header(sidecar.read_bytes().partition(b"\n")[0])
    loaded = load(sidecar)
    assert (loaded.problems, loaded.has_header) == ((), True)
    transcript = Transcript(turns_dropped=header.turns_dropped, cards_dropped=header.cards_dropped)
    for record in loaded.records:
        transcript.apply(record)
    return Played(folder, sidecar, header, loaded.records, transcript)


# the script


def test_every_kind_of_record_is_played() -> None:
    assert {record.kind for event in events() if (record := from_event(event))} == set(Kind)


def test_the_script_takes_about_a_minute() -> None:
    assert 60 <= script_seconds() <= 75


def test_half_way_is_in_the_middle_and_finds_calls_running() -> None:
    played = steps()
    middle = played.index(HalfWay())
    before = sum(step.seconds for step in played[:middle] if isinstance(step, Pause))
    assert 0.4 <= before / script_seconds() <= 0.6
    transcript = fed(played[:middle])
    assert {card.call for card in transcript.calls.open()} == HALF_WAY_CALLS
    faces = {card.tool_face for card in transcript.calls.open() if card.parent is None}
    assert faces == {"shell", "agent"}


def test_streamed_pieces_add_up_to_the_message() -> None:
    said, thought = "", ""
    for event in events():
        match event.kind:
            case EventKind.TEXT:
                said += event.text
            case EventKind.REASONING:
                thought += event.text
            case EventKind.RETRYING | EventKind.TURN_STARTED:
                said = thought = ""
            case EventKind.MESSAGE:
                assert (said, thought) == (event.text, event.reasoning)
                said = thought = ""


def test_streamed_output_adds_up_to_the_result() -> None:
    printed: dict[str, str] = {}
    for event in events():
        if event.tool is not None and event.kind is EventKind.TOOL_PROGRESS:
            printed[event.tool.id] = printed.get(event.tool.id, "") + event.tool.output
        elif event.tool is not None and event.tool.id in printed:
            assert event.tool.output.startswith(printed[event.tool.id])
    assert set(printed) == {"call_test_1", "call_test_2", "call_trace"}


def test_reads_are_sent_off_together() -> None:
    open_reads: set[str] = set()
    most = 0
    for event in events():
        tool = event.tool
        if tool is None or not tool.read_only:
            continue
        change = open_reads.add if event.kind is EventKind.TOOL_DISPATCH else open_reads.discard
        change(tool.id)
        most = max(most, len(open_reads))
    assert most >= 4


@pytest.mark.parametrize("mark", ["\x1b[31m", "\x1b[32m", "\r", "\x1b[K"])
def test_terminal_output_is_coloured_and_rewrites_its_lines(mark: str) -> None:
    assert mark in "".join(event.tool.output for event in events() if event.tool)


@pytest.mark.parametrize(
    "mark",
    ["\n| ", "\n```python\n", "\n- ", "\n1. ", "](https://", "**"],
    ids=["table", "code", "list", "numbers", "link", "bold"],
)
def test_answers_are_written_in_markdown(mark: str) -> None:
    assert mark in "".join(e.text for e in events() if e.kind is EventKind.MESSAGE)


def test_an_edit_has_several_hunks_and_each_diff_counts_its_lines() -> None:
    diffs = {event.tool.id: event.tool.file_diff for event in events() if event.tool}
    found = [diff for diff in diffs.values() if diff is not None]
    assert max(diff.diff.count("\n@@ ") for diff in found) >= 2
    for diff in found:
        lines = diff.diff.splitlines()[2:]
        assert sum(line.startswith("+") for line in lines) == diff.added
        assert sum(line.startswith("-") for line in lines) == diff.removed


def test_the_committee_meets_twice_and_comes_to_an_end() -> None:
    collabs = [event.collab for event in events() if event.kind is EventKind.EXPERT_COLLAB]
    assert {collab["RunID"] for collab in collabs} == {"run-dear"}
    last = read_collab(collabs[-1])
    assert [len(said) for said in last.rounds] == [3, 3]
    assert all(statement.text for said in last.rounds for statement in said)
    assert last.synthesis


@pytest.mark.parametrize(
    ("code", "failing"),
    [
        (project.GREET_FIRST_TRY, {"test_nobody_is_sent_to_bed_on_arrival"}),
        (project.GREET_POLITE, set()),
    ],
    ids=["first try", "polite"],
)
def test_the_tests_of_the_story_fail_where_the_story_says(code: str, failing: set[str]) -> None:
    desk: dict[str, Any] = {}
    exec(code, desk)
    tests = ast.parse(project.TESTS)
    tests.body = [part for part in tests.body if isinstance(part, ast.FunctionDef)]
    exec(compile(tests, "the story", "exec"), desk)
    failed = set()
    for name in [name for name in desk if name.startswith("test_")]:
        try:
            desk[name]()
        except AssertionError:
            failed.add(name)
    assert failed == failing


def test_every_file_the_story_names_is_written(played: Played) -> None:
    written = [step for step in steps() if isinstance(step, Written)]
    last = {step.path: step.content for step in written}
    assert set(last) >= {"lobby/greet.py", "lobby/lift.py", "docs/greeters.md"}
    for path, content in last.items():
        assert (played.folder.workspace / path).read_bytes() == content
    archives = [r.compaction.archive for r in played.records if r.compaction]
    assert all((played.folder.workspace / archive).is_file() for archive in archives if archive)


# what is in the file when it has been played


def test_the_header_names_the_workspace(played: Played) -> None:
    assert played.header.workspace == str(played.folder.workspace)


def test_the_compaction_takes_the_first_turn_and_the_others_keep_their_numbers(
    played: Played,
) -> None:
    assert load(played.sidecar).rewrite_version == 1
    turns = [turn for turn in played.transcript.turns if turn.prompt is not None]
    assert [turn.number for turn in turns] == [2, 3, 4]
    assert [card.state for card in played.cards("compaction")] == ["done"]
    assert played.cards("compaction")[0].turn == 2


def test_one_turn_ends_badly_and_the_last_one_well(played: Played) -> None:
    endings = [turn.error for turn in played.transcript.turns if turn.ended]
    assert [bool(error) for error in endings] == [False, True, False]


def test_nothing_is_left_running(played: Played) -> None:
    assert played.transcript.calls.open() == []
    assert not played.transcript.is_unfinished
    assert not is_alive(played.sidecar, writer=played.header.writer)


@pytest.mark.parametrize("state", ["done", "failed", "blocked"])
def test_calls_end_in_every_way(played: Played, state: str) -> None:
    assert played.calls(state=state)


@pytest.mark.parametrize(
    "face",
    ["shell", "read", "search", "edit", "write", "todo", "agent", "fetch", "other"],
)
def test_every_face_of_a_tool_card_is_shown(played: Played, face: str) -> None:
    assert played.calls(kind="tool", tool_face=face)


def test_sub_agents_are_nested_three_deep_with_their_models(played: Played) -> None:
    deepest = max(played.calls(), key=lambda card: card.depth)
    assert deepest.depth >= 3
    agents = list(deepest.ancestors())
    assert all(card.model and card.effort for card in agents)
    assert not any(card.note for card in played.calls())


def test_parallel_sub_agents_have_lanes(played: Played) -> None:
    lanes = played.calls(kind="lane")
    assert [card.call for card in lanes] == ["call_ask/p1", "call_ask/p2"]
    assert all(card.children for card in lanes)


def test_an_answer_that_was_cut_off_stays_beside_its_retry(played: Played) -> None:
    retry = played.cards("retry")
    assert [card.face for card in retry] == ["attempt 1 of 3"]
    top = played.transcript.cards
    cut = top[top.index(retry[0]) - 1]
    assert (cut.kind, cut.state) == ("message", "interrupted")


def test_a_repeated_warning_is_one_card(played: Played) -> None:
    counts = {(card.level, card.count) for card in played.cards("notice")}
    assert counts == {("warn", 2), ("info", 1)}


@pytest.mark.parametrize("kind", ["steer", "paused", "resumed", "phase", "collab", "reasoning"])
def test_the_small_cards_are_there(played: Played, kind: str) -> None:
    assert played.cards(kind)


def test_calls_wait_for_a_person_who_allows_one_of_them(played: Played) -> None:
    asked = [card for card in played.calls() if card.approval is not None]
    assert [(card.name, card.approval.answer) for card in asked if card.approval] == [
        ("bash", "denied"),
        ("edit_file", "approved"),
    ]
    assert all(card.approval and card.approval.waited > 0 for card in asked)


def test_sub_agents_tell_their_tokens(played: Played) -> None:
    told = {card.call: card.tokens for card in played.calls() if card.tokens is not None}
    assert told == {"call_audit": 6_334, "call_audit/c3": 2_406}


def test_a_cut_output_says_so(played: Played) -> None:
    truncated = played.calls(truncated=True)
    assert [card.call for card in truncated] == ["call_log"]
    assert any("truncated" in card.face for card in played.cards("notice"))


def test_each_turn_has_its_tokens_added_up(played: Played) -> None:
    footers = [card for card in played.transcript.walk() if isinstance(card, UsageCard)]
    assert [card.turn for card in footers] == [2, 3, 4]
    assert all(card.requests >= 2 and card.cached for card in footers)


def test_the_to_do_list_changes(played: Played) -> None:
    todos = [c.result for c in played.calls(tool_face="todo") if isinstance(c.result, Record)]
    args = [record.tool.args for record in todos if record.tool]
    assert len(args) == len(set(args)) >= 3


def test_durations_are_the_time_that_passed(played: Played) -> None:
    began: dict[str, int] = {}
    for record in played.records:
        tool = record.tool
        if tool is None or record.kind in (Kind.TOOL_PROGRESS, Kind.USAGE):
            continue
        began.setdefault(tool.id, record.at)
        if record.kind == Kind.APPROVAL_ANSWER:
            began[tool.id] = record.at
        if record.kind == Kind.TOOL_RESULT:
            assert tool.duration_ms == record.at - began[tool.id] > 0
    assert began


def test_the_session_is_as_long_as_its_script_and_is_over_now(played: Played) -> None:
    turns = [turn for turn in played.transcript.turns if turn.prompt is not None]
    assert turns[-1].ended_at - turns[0].at > 50_000
    assert turns[-1].ended_at <= played.sidecar.stat().st_mtime * 1000 + 1000


def test_the_attachment_is_a_picture_in_the_workspace(played: Played) -> None:
    tools = [record.tool for record in played.records if record.tool]
    (file,) = [file for tool in tools for file in tool.attachments]
    assert file.kind == "image"
    assert pixels((played.folder.workspace / file.path).read_bytes())


# drawing


def pixels(png: bytes) -> list[bytes]:
    """The rows of a PNG of eight bits of RGB, its checksums verified."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        size, name = struct.unpack_from(">I4s", png, at)
        content = png[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", png, at + 8 + size)[0] == zlib.crc32(name + content)
        chunks[name] = content
        at += 12 + size
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    data = zlib.decompress(chunks[b"IDAT"])
    stride = 1 + 3 * width
    assert len(data) == stride * height
    rows = [data[start : start + stride] for start in range(0, len(data), stride)]
    assert {row[0] for row in rows} == {0}
    return [row[1:] for row in rows]


@pytest.mark.parametrize("values", [(1,), (0, 0), (3, 200, 41), (9,) * 12], ids=str)
def test_a_chart_is_a_whole_png_with_ink_on_it(values: tuple[int, ...]) -> None:
    rows = pixels(bar_chart(values))
    assert len({row[i : i + 3] for row in rows for i in range(0, len(row), 3)}) >= 2


def test_a_higher_value_has_a_higher_bar() -> None:
    assert b"".join(pixels(bar_chart((2, 4)))) != b"".join(pixels(bar_chart((4, 4))))


# folders and speeds


def test_a_folder_of_somebody_elses_is_left_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    precious = tmp_path / "workspace" / "README.md"
    precious.parent.mkdir()
    precious.write_text("mine")
    assert agent.main([str(tmp_path), "--speed=0"]) == 1
    out, err = capfd.readouterr()
    assert (out, err.count("\n"), precious.read_text()) == ("", 1, "mine")
    assert "choose another --folder" in err
    assert not (tmp_path / "sessions").exists()
    with pytest.raises(ConfigError, match="no demo made"):
        run_demo(folder=tmp_path)


def test_a_folder_that_cannot_be_made_is_an_error_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="choose another --folder"):
        DemoFolder(tmp_path / "file" / "demo").prepare()


def test_a_second_demo_finds_the_workspace_as_the_first_did(played: Played) -> None:
    folder = DemoFolder(played.folder.path)
    folder.prepare()
    try:
        assert (folder.workspace / "lobby/greet.py").read_text() == project.GREET_RUDE
    finally:
        for step in steps():
            if isinstance(step, Written):
                (folder.workspace / step.path).write_bytes(step.content)


def test_a_new_session_never_has_the_name_of_another(tmp_path: Path) -> None:
    folder = DemoFolder(tmp_path)
    folder.prepare()
    names = []
    for _ in range(4):
        names.append(folder.new_session())
        present_path(folder.session(names[-1])).touch()
    assert len(set(names)) == 4


def test_the_folder_is_beside_the_person_or_where_they_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert DemoFolder.choose(None).path == tmp_path / "presentview-demo"
    assert DemoFolder.choose(Path("there")).path == tmp_path / "there"


def test_where_nothing_can_be_written_the_folder_is_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    chosen = DemoFolder.choose(None).path
    assert chosen.is_dir()
    assert chosen.parent == tmp_path / "temporary"


@pytest.mark.parametrize(
    ("found", "command"),
    [("/usr/bin/presentview", ["presentview"]), (None, [sys.executable, "-m", "presentview"])],
    ids=["on PATH", "not on PATH"],
)
def test_the_last_lines_are_a_command_that_can_be_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: str | None, command: list[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: found)
    folder = DemoFolder(tmp_path / "a demo's folder")
    recorded, again, line = how_to_reopen(folder).splitlines()
    assert recorded == f"Recorded into {folder.path}"
    assert again == "Open it again with:"
    options = ["--workspace", str(folder.workspace)]
    assert shlex.split(line) == [*command, "serve", str(folder.sessions), *options]


@pytest.mark.parametrize("speed", [-1.0, float("nan"), float("inf")])
def test_what_is_no_speed_is_refused(speed: float, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--speed"):
        check_speed(speed)
    assert agent.main([str(tmp_path / "demo"), f"--speed={speed}"]) == 1
    assert not (tmp_path / "demo").exists()


def test_the_speed_divides_the_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    RealClock(4.0).pause(2.0)
    assert slept == [0.5]


def fed(played: list[Step]) -> Transcript:
    transcript = Transcript()
    for step in played:
        record = from_event(step) if isinstance(step, Event) else None
        if record is not None:
            transcript.apply(record)
    return transcript

"""The commands that list runs, show one, and print what a model would go on with."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from presentview.cli import main
from presentview.runlog import Activity, Event, Message, Meta, Result, create, resume
from tests.unit.runlog.logs import RESULT

NOW = datetime(2026, 8, 21, 2, 4, 5, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One run that was killed, one that continues it and has ended."""
    folder = tmp_path / "runs"
    killed = create(folder, "killed", Meta(task="Fix\x1b[31m\nit", model="m"), now=NOW)
    killed.message(Message("user", "gone"))
    killed.reset()
    killed.message(Message("user", "one\ntwo\u202e"))
    for call in ("c1", "c2"):
        killed.message(Message("activity", "", Activity("request", call, "shell", '{"a":1}')))
    killed.message(Message("activity", "", Activity("response", "c1", "shell", result={"n": 1})))
    killed.event(Event("retry", text="503", iteration=2))
    ended = resume(folder, "killed", now=NOW.replace(hour=3))
    ended.result(Result("failed", "why", code=1, iterations=3))
    return folder


def test_runs_are_listed_one_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", str(folder)]) == 0
    ended, killed = capsys.readouterr().out.splitlines()
    assert ended.startswith("20260821-030405  failed  21 Aug 2026, 03:04 UTC  ")
    assert ended.endswith("  Fix")
    assert killed == "killed  unfinished  21 Aug 2026, 02:04 UTC  –  Fix"
    assert main(["runs", "--dir", str(folder), "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["id"], run["outcome"], run["code"]) for run in runs] == [
        ("20260821-030405", "failed", 1),
        ("killed", "unfinished", None),
    ]
    assert runs[0]["resumed_from"] == "killed"
    assert (runs[1]["started"], runs[1]["started_by"]) == ("2026-08-21T02:04:05Z", "meta")


def test_the_folder_of_zot_is_listed_where_none_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZOT_SESSION_DIR", str(folder))
    assert main(["runs"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main(["runs", "show", "last"]) == 0
    monkeypatch.setenv("ZOT_SESSION_DIR", str(folder / "nowhere"))
    capsys.readouterr()
    assert (main(["runs"]), capsys.readouterr().out) == (0, "")


def test_an_unreadable_log_is_listed_and_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    assert main(["runs", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert [line.split()[:2] for line in out.splitlines()][-1] == ["loop", "unreadable"]
    assert err.startswith(f"{folder / 'loop.jsonl'}: cannot be read: ")


def test_a_run_is_shown_readably(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "show", "kil", "--dir", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "killed  unfinished  21 Aug 2026, 02:04 UTC  –  Fix",
        "m",
        "no result: the run goes on, or was killed",
        "",
        "4 messages since the last reset",
        "user",
        "    one",
        "    two<U+202E>",
        "activity",
        '    → shell {"a":1}  [c1]',
        "activity",
        '    → shell {"a":1}  [c2]  (interrupted)',
        "activity",
        "    ← shell  [c1]",
        '        {"n":1}',
        "",
        "1 event",
        "  2  retry  503",
    ]
    assert main(["runs", "show", "last", "--dir", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    counts = "iterations 3, calls 0, continuations 0, cycles 0, settles 0"
    assert lines[2:5] == [f"failed (code 1): {counts}", "    why", "continues killed  Fix it"]


def test_what_could_not_be_read_of_a_run_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "killed.jsonl"
    later = RESULT.replace(b'"settles":1', b'"settles":1,"failure":{"a":1},"inputTokens":1000')
    path.write_bytes(path.read_bytes() + b"noise\x1b]0;x\x07\n" + later + b"\n" + RESULT[:50])
    assert main(["runs", "show", str(path)]) == 1
    out, err = capsys.readouterr()
    assert [line.partition(": ")[0] for line in err.splitlines()] == [
        f"{path}:9:{path.read_bytes().index(b'noise')}",
        f"{path}:11:{path.read_bytes().rindex(RESULT[:50])}",
    ]
    assert "\x1b" not in err
    assert "tokens: 1,000 in, 0 out" in out
    assert '    {"a":1}' in out.splitlines()


def test_a_broken_chain_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create(tmp_path, "a", Meta(resumed_from="b"))
    assert main(["runs", "show", "a", "--dir", str(tmp_path)]) == 0
    assert "continues b  (missing)" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    "arguments",
    [["show"], ["show", "a", "b"], ["a", "b"], ["a", "--dir", "b"], ["show", "a", "--json"]],
)
def test_arguments_that_make_no_sense_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["runs", *arguments])
    assert raised.value.code == 2


def test_a_run_or_folder_that_is_not_there_is_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "show", "nope", "--dir", str(folder)]) == 2
    assert main(["runs", str(folder / "nope")]) == 2
    assert capsys.readouterr().out == ""


def test_the_messages_of_a_run_log_can_be_resumed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "killed.jsonl"
    before = path.read_bytes()
    assert main(["resume-messages", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["user", "    one", "    two<U+202E>"]
    assert [line for line in lines if "interrupted" in line] == [
        '    → shell {"a":1}  [c2]  (interrupted)'
    ]
    assert main(["resume-messages", str(path), "--repair"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2] == "    ← shell  [c2]"
    assert lines[-1].startswith("        interrupted: ")
    assert path.read_bytes() == before
    assert main(["resume-messages", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["interrupted"] for each in document["messages"]] == [[], [], ["c2"], []]
    assert document["messages"][3]["message"] == {
        "type": "activity",
        "text": "",
        "activity": {"kind": "response", "id": "c1", "name": "shell", "result": {"n": 1}},
    }
    assert main(["resume-messages", str(path), "--json", "--repair"]) == 0
    repaired = json.loads(capsys.readouterr().out)["messages"]
    assert [each["interrupted"] for each in repaired] == [[]] * 5
    assert repaired[4]["message"]["activity"]["failure"].startswith("interrupted")
    path.write_bytes(before + b"noise\n")
    assert main(["resume-messages", str(path)]) == 1

"""`presentview timings`: what a terminal is shown, and the document other programs read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.cli import main
from presentview.exporting.columns import Column, table
from presentview.exporting.timing_text import MOST_AGENTS, MOST_ROWS, timing_lines
from presentview.follow import Follower
from presentview.records import Profile, Record
from tests.sidecars import write_session
from tests.strategies import sessions
from tests.unit.transcript.story import dispatch, done, result, turn

STORY = [
    turn("audit it", at=1_000),
    dispatch("p", '{"description":"Audit"}', "task", at=2_000, profile=Profile("heron", "high")),
    dispatch("p/a", '{"command":"ls"}', at=3_000),
    dispatch("p/b", '{"command":"make"}', at=3_000),
    result("p/a", at=5_000, duration_ms=1_000),
    result("p/b", err="exit status 2", at=6_000),
    result("p", at=10_000),
    dispatch("q", '{"path":"x"}', "read_file", at=10_500),
    done(at=11_000),
]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of a known width."""
    monkeypatch.setenv("COLUMNS", "110")


def run(folder: Path, records: list[Record], *options: str) -> int:
    return main(["timings", str(write_session(folder, records)), *options])


def document(folder: Path, records: list[Record], capsys: pytest.CaptureFixture[str]) -> Any:
    assert run(folder, records, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_a_person_reads_figures_tools_agents_and_a_waterfall(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, STORY) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == "audit it"
    assert lines[1] == (
        "1 turn · 4 calls · 1 error · wall 10.0 s · own 9.0 s · parallelism 1.12 · "
        "outside tools 2.0 s · waited 1.0 s · 1 of unknown length"
    )
    assert "task           1          5.0 s  8.0 s  8.0 s  8.0 s  8.0 s   80 %" in lines
    assert "Audit           2       1   8.0 s     3.0 s          heron · high" in lines
    drawn = {line.split()[1]: line for line in lines[lines.index("turn 1") + 1 :]}
    waited, ran = (drawn["ls"].count(character) for character in "·█")
    assert ran > 5
    assert abs(waited - ran) <= 1, "waited as long as it ran"
    assert drawn["make"].endswith("3.0 s ✕")
    assert drawn["x"].split()[-2:] == ["»", "interrupted"]
    assert drawn["Audit"].count("█") > 5 * drawn["ls"].count("█")


def test_what_is_inferred_is_said_to_be_a_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        dispatch("a"),
        dispatch("b"),
        result("a", duration_ms=2_000),
        result("b", duration_ms=1_000),
    ]
    assert run(tmp_path, records) == 0
    out = capsys.readouterr().out
    assert "wall ≥ 2.0 s" in out
    assert "parallelism ≤ 1.50" in out
    assert "outside" not in out
    assert "▒" in out
    assert "█" not in out


def test_the_document_tells_every_span(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(tmp_path, STORY, capsys)
    assert set(found) == {"session", "spans", "turns", "agents", "tools", "critical_path"}
    session = found["session"]
    assert (session["wall_ms"], session["own_ms"], session["parallelism"]) == (10_000, 9_000, 1.125)
    assert (session["inferred"], session["unknown"], session["outside_ms"]) == (False, 1, 2_000)
    spans = {span["call"]: span for span in found["spans"]}
    assert spans["p/a"] | {"card": "", "parent_card": "", "lane": ""} == {
        "call": "p/a",
        "card": "",
        "name": "bash",
        "subject": "ls",
        "parent": "p",
        "parent_card": "",
        "lane": "",
        "turn": 1,
        "dispatched_ms": 3_000,
        "start_ms": 4_000,
        "end_ms": 5_000,
        "waited_ms": 1_000,
        "approval_ms": None,
        "duration_ms": 1_000,
        "own_ms": 1_000,
        "state": "done",
        "inferred": False,
        "own_inferred": False,
        "marks": [],
    }
    assert spans["q"]["start_ms"] == 10_500
    assert (spans["q"]["end_ms"], spans["q"]["duration_ms"], spans["q"]["own_ms"]) == (None,) * 3
    assert [tool["name"] for tool in found["tools"]] == ["task", "bash", "read_file"]
    assert [(run["name"], run["model"]) for run in found["agents"]] == [
        ("Main agent", None),
        ("Audit", "heron"),
    ]
    assert found["critical_path"][0] == {
        "start_ms": 1_000,
        "end_ms": 2_000,
        "call": None,
        "card": None,
        "within": None,
    }


@pytest.mark.parametrize(
    ("ended", "recorded", "shown"),
    [
        pytest.param(3_000, -5, -5, id="negative"),
        pytest.param(3_000, 9_000, 9_000, id="longer than there was"),
        pytest.param(500, 0, -500, id="ended before it began"),
    ],
)
def test_an_absurd_duration_is_shown_and_counts_for_nothing(
    ended: int, recorded: int, shown: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [dispatch("a", at=1_000), result("a", at=ended, duration_ms=recorded)]
    found = document(tmp_path, records, capsys)
    (span,) = found["spans"]
    assert span["duration_ms"] == shown
    assert "absurd" in span["marks"]
    assert (span["own_ms"], found["session"]["total_ms"]) == (None, 0)


def test_of_a_long_session_the_longest_calls_are_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [turn("go", at=1)]
    for n in range(MOST_ROWS + 20):
        records += [dispatch(f"c{n}", name="task", at=10 * n + 1)]
        records += [result(f"c{n}", at=10 * n + 2 + n % 7)]
    assert run(tmp_path, records) == 0
    out = capsys.readouterr().out
    assert "20 shorter calls not drawn (--all draws all)" in out
    assert f"{MOST_ROWS + 21 - MOST_AGENTS} shorter runs not shown (--all shows all)" in out
    assert run(tmp_path, records, "--all") == 0
    out = capsys.readouterr().out
    assert "--all" not in out
    assert sum("█" in line for line in out.splitlines()) == MOST_ROWS + 20


def test_nothing_of_a_session_acts_on_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "\x1b]0;owned\x07\x9b31m\n\r"
    records = [turn(evil, at=1), dispatch(evil, evil, evil, at=2), result(evil, at=9)]
    records += [dispatch("p", '{"description":"\\u001b[31m"}', "task", at=9), result("p", at=20)]
    assert run(tmp_path, records) == 0
    assert not {"\x1b", "\x07", "\x9b", "\r"} & set(capsys.readouterr().out)


def test_a_session_without_calls_has_figures_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, [turn("hello", at=1_000), done(at=3_000)]) == 0
    assert capsys.readouterr().out.splitlines()[1] == (
        "1 turn · 0 calls · wall 2.0 s · outside tools 2.0 s"
    )


@given(records=sessions(), width=st.integers(10, 200))
def test_any_session_can_be_printed(
    tmp_path_factory: pytest.TempPathFactory, records: list[Record], width: int
) -> None:
    follower = Follower(write_session(tmp_path_factory.mktemp("any"), records))
    follower.refresh()
    assert "".join(timing_lines(follower, width=width)).isprintable()
    follower.close()


def test_a_table_is_as_wide_as_what_stands_in_it() -> None:
    columns = (Column("name"), Column("n", is_number=True))
    assert list(table(columns, [("a", "1"), ("long name", "1,000")])) == [
        "name           n",
        "a              1",
        "long name  1,000",
    ]

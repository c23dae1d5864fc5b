"""Two sessions side by side, tool by tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from presentview.cli import main
from presentview.records import Record
from tests.sidecars import write_sidecar
from tests.unit.transcript.story import dispatch, result, turn


def call(name: str, at: int, ms: int) -> list[Record]:
    return [dispatch(f"{name}{at}", name=name, at=at), result(f"{name}{at}", at=at + ms)]


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    one = [turn("slow", at=1_000), *call("bash", 1_000, 8_000), *call("grep", 9_000, 500)]
    other = [turn("fast", at=1_000), *call("bash", 1_000, 2_000), *call("edit", 3_000, 900)]
    paths = [tmp_path / f"{name}.present.jsonl" for name in ("one", "other")]
    for path, records in zip(paths, (one, other), strict=True):
        write_sidecar(path, records)
    return [str(path) for path in paths]


def test_tools_stand_side_by_side_the_most_different_first(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["timings", *pair]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "A  slow"
    assert lines[2] == "B  fast"
    assert [line.split()[0] for line in lines[5:]] == ["tool", "bash", "edit", "grep"]
    assert lines[6].split() == [
        "bash",
        "1",
        "1",
        "8.0",
        "s",
        "2.0",
        "s",
        "−6.0",
        "s",
        "8.0",
        "s",
        "2.0",
        "s",
    ]
    assert " ".join(lines[7].split()) == "edit 1 900 ms 900 ms"


def test_the_document_has_both(pair: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timings", *pair, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["a"]["wall_ms"], found["b"]["title"]) == (8_500, "fast")
    bash, edit, _ = found["tools"]
    assert bash["own_difference_ms"] == -6_000
    assert (edit["a"], edit["own_difference_ms"]) == (None, None)
    assert edit["b"]["own_ms"] == 900


@pytest.mark.parametrize("name", ["chrome", "otlp"])
def test_two_sessions_are_no_trace(
    pair: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["timings", *pair, "--format", name]) == 2
    assert "compared as table or json" in capsys.readouterr().err

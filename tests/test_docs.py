"""What the README says is true."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from presentview import load
from presentview.cli import _parser

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in _parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_readme_mentions_the_command_and_all_its_options(name: str) -> None:
    parser = dict(commands())[name]
    options = {o for action in parser._actions for o in action.option_strings if o[:2] == "--"}
    assert f"presentview {name}" in README
    assert [option for option in sorted(options - {"--help"}) if f"`{option}" not in README] == []


def test_the_examples_record_read_and_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record, read, log = (block for block in BLOCKS if "import" in block)
    assert len(record.strip().splitlines()) <= 12
    monkeypatch.chdir(tmp_path)
    exec(compile(record, "README.md", "exec"), {})
    exec(compile(read, "README.md", "exec"), {})
    assert "tool done 2210" in capsys.readouterr().out
    exec(compile(log, "README.md", "exec"), {})
    assert "start_seq=1" in capsys.readouterr().out
    assert load(tmp_path / "sessions/today.present.jsonl").problems == ()

"""The session most tests of the recorder work on."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


@pytest.fixture
def sidecar(tmp_path: Path) -> Path:
    return tmp_path / "s.present.jsonl"

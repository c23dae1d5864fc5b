"""An agent is killed in the middle of its edits, and its tree is lost: everything comes back."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(not shutil.which("git"), reason="no git here"),
]

ROOT = Path(__file__).resolve().parents[2]
BASE = {
    "lib/a.py": "def f():\n    return 1\n\n" * 8,
    "b.txt": "one\r\ntwo\r\nthree\r\n",
    "c.md": "# words\n\nmore words here\n",
}
Files = dict[str, bytes]


def git(tree: Path, *arguments: str, given: bytes = b"") -> None:
    names = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.autocrlf=false")
    subprocess.run(
        ["git", *names, *arguments],
        cwd=tree,
        input=given,
        check=True,
        capture_output=True,
        timeout=30,
    )


def files_of(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def presentview(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "presentview", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=60,
    )


def killed(session: Path, tree: Path, seed: int) -> str:
    """Let an agent edit until it has said so many things, and kill it; the last it said."""
    process = subprocess.Popen(
        [sys.executable, ROOT / "tests/crash/editing.py", session, tree, str(seed)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    said = b""
    for _ in range(random.Random(seed).randint(40, 90)):
        said = process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    said = (said + process.stdout.read()).splitlines()[-1]
    process.wait(30)
    process.stdout.close()
    return said.decode()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_lost_tree_comes_back_byte_for_byte(tmp_path: Path, seed: int) -> None:
    tree, session = tmp_path / "tree", tmp_path / "s.jsonl"
    for path, text in BASE.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(text.encode())
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "base")
    said = killed(session, tree, seed)
    before = files_of(tree)

    there = presentview("changes", session, "--check", tree, "--json")
    document = json.loads(there.stdout)
    steps: list[dict[str, Any]] = document["steps"]
    assert document["complete"], document["gap"]
    flying = [step for step in steps if step["in_flight"]]
    deleting = any(file["action"] == "delete" for step in flying for file in step["files"])
    assert there.returncode in (0, 2) or deleting
    number = said.split()[1]
    assert len(steps) >= int(number) or said.startswith("sent")
    assert all(step["call"] == f"call {number}" or "done" in said for step in flying)

    git(tree, "checkout", "-q", "--", ".")
    git(tree, "clean", "-qfdx")
    lost = presentview("changes", session, "--check", tree)
    assert lost.returncode == 1

    made = presentview("changes", session, "--patch")
    assert (made.returncode, made.stderr) == (0, b"")
    git(tree, "apply", given=made.stdout)
    after = files_of(tree)
    touched = {file["path"] for step in flying for file in step["files"]}
    assert {p: c for p, c in after.items() if p not in touched} == {
        p: c for p, c in before.items() if p not in touched
    }
    again = presentview("changes", session, "--check", tree)
    assert again.returncode in (0, 2) or deleting

    restored = tmp_path / "restored"
    presentview("changes", session, "--restore", restored)
    whole = {p: c for p, c in files_of(restored).items() if not p.endswith(".partial")}
    assert whole or not any("new/" in path for path in after)
    assert all(after[path] == content for path, content in whole.items())

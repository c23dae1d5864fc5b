from __future__ import annotations

import os
from pathlib import Path

import pytest

from presentview import limits
from presentview.transcript.changes.verdicts import Found
from presentview.worktree import Worktree


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_bytes(b"a\n")
    (tmp_path / "secret").write_bytes(b"secret\n")
    return root


def test_a_file_below_the_folder_is_read(tree: Path) -> None:
    assert Worktree(tree).look("src/a.py") == Found(b"a\n")
    (tree / "src" / "a.py").chmod(0o755)
    assert Worktree(tree).look("src/a.py") == Found(b"a\n", executable=True)


@pytest.mark.parametrize("path", ["src/b.py", "none/b.py", "src/a.py/b"])
def test_what_is_not_there_is_nothing(tree: Path, path: str) -> None:
    assert Worktree(tree).look(path) == Found()


@pytest.mark.parametrize(
    "path", ["../secret", "/etc/passwd", "src/../../secret", "", ".", "src//a.py", "a\0b"]
)
def test_nothing_outside_is_looked_at(tree: Path, path: str) -> None:
    assert Worktree(tree).look(path) == Found(reason="outside the workspace")


def test_no_link_is_followed_wherever_it_is(tree: Path, tmp_path: Path) -> None:
    (tree / "link").symlink_to(tmp_path / "secret")
    (tree / "up").symlink_to(tmp_path)
    (tree / "inner").symlink_to("src")
    look = Worktree(tree).look
    assert {look(path).reason for path in ("link", "up/secret", "inner/a.py")} == {"a link"}


def test_the_folder_itself_may_be_reached_by_a_link_until_it_is_opened(
    tree: Path, tmp_path: Path
) -> None:
    (tmp_path / "to").symlink_to(tree)
    worktree = Worktree(tmp_path / "to")
    assert worktree.look("src/a.py").content == b"a\n"
    tree.rename(tmp_path / "moved")
    tree.symlink_to(tmp_path)
    assert worktree.look("secret").reason == "a link"


def test_what_is_no_file_or_too_large_is_not_read(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tree / "pipe")
    look = Worktree(tree).look
    assert look("pipe").reason == "no regular file"
    assert look("src").reason == "no regular file"
    monkeypatch.setattr("presentview.worktree.WORKTREE_FILE_BYTES", 1)
    assert look("src/a.py").reason.startswith("larger than")
    assert limits.WORKTREE_FILE_BYTES == 16 * limits.MIB

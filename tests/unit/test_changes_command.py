from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from presentview.cli import main
from presentview.lock import LOCKING_WRITER
from presentview.records import Header, Kind, Record
from tests.sidecars import write_sidecar
from tests.unit.transcript.changes.world import Story, git_diff

TEN = tuple(f"line number {n}\n" for n in range(1, 11))
FIVE = (*TEN[:4], "another five\n", *TEN[5:])
NINE = (*FIVE[:8], "another nine\n", *FIVE[9:])


class Said(NamedTuple):
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str


class Session:
    """A session in a folder, beside the workspace that it worked in."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.capture = capture
        self.workspace = folder / "work"
        self.workspace.mkdir()
        self.sidecar = folder / "s.present.jsonl"
        self.story = Story()
        self.story.add(Record(Kind.TURN_STARTED, "Do it"))
        self.header = Header(workspace=str(self.workspace), writer=f"test{LOCKING_WRITER}")

    def run(self, *options: str | Path) -> Said:
        write_sidecar(self.sidecar, self.story.records, self.header)
        code = main(["changes", str(self.sidecar), *map(str, options)])
        return Said(code, *self.capture.readouterr())

    def json(self, *options: str | Path) -> Any:
        return json.loads(self.run("--json", *options).out)

    def write(self, path: str, lines: tuple[str, ...]) -> None:
        (self.workspace / path).write_text("".join(lines))


@pytest.fixture
def session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Session:
    return Session(tmp_path, capsys)


def three_steps(session: Session) -> None:
    story = session.story
    story.edit(git_diff("f", TEN, FIVE))
    story.edit(args={"command": "make"}, name="bash")
    story.edit(git_diff("f", FIVE, NINE))
    story.result(story.dispatch(git_diff("g", None, ("x\n",))), err="blocked: no")
    story.dispatch(git_diff("h", None, ("in flight\n",)))


def test_steps_are_listed_with_their_states(session: Session) -> None:
    three_steps(session)
    said = session.run()
    assert said.code == 0
    assert said.out.splitlines() == [
        "    1 applied    turn 1  edit_file",
        "        f +1 -1",
        "      1 shell command ran between these steps",
        "    2 applied    turn 1  edit_file",
        "        f +1 -1",
        "    3 blocked    turn 1  edit_file",
        "        g (create) +1 -0",
        "    4 in flight  turn 1  edit_file",
        "        h (create) +1 -0",
        "4 steps, 2 applied, 1 in flight when the record ends",
    ]


@pytest.mark.parametrize(
    ("lines", "code", "last"),
    [
        pytest.param(NINE, 0, "; all on disk", id="there"),
        pytest.param(FIVE, 1, "; 1 of those applied are on disk", id="one lost"),
        pytest.param(TEN * 2, 2, "; 0 of those applied are on disk", id="not certain"),
        pytest.param((), 0, "; 0 of those applied are on disk", id="changed since"),
    ],
)
def test_check_tells_what_is_on_the_disk(
    session: Session, lines: tuple[str, ...], code: int, last: str
) -> None:
    three_steps(session)
    session.write("f", lines)
    said = session.run("--check", session.workspace)
    assert said.code == code
    assert last in said.out.splitlines()[-1]


def test_the_workspace_that_a_session_names_counts_only_below_the_current_folder(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_steps(session)
    session.write("f", NINE)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    said = session.run("--check")
    assert said.code == 2
    assert f"--check {session.workspace}" in said.err
    monkeypatch.chdir(tmp_path)
    assert session.run("--check").code == 0
    assert session.run("--check", tmp_path / "none").code == 2


def test_json_has_every_step_and_verdict(session: Session) -> None:
    three_steps(session)
    session.write("f", FIVE)
    document = session.json("--check", session.workspace)
    assert document["complete"] is True
    steps = document["steps"]
    assert [(s["step"], s["state"], s["verdict"], s["in_flight"]) for s in steps] == [
        (1, "applied", "on disk", False),
        (2, "applied", "not on disk", False),
        (3, "blocked", "not on disk", False),
        (4, "interrupted", "not on disk", True),
    ]
    assert steps[1]["shells_before"] == 1
    assert steps[0]["files"][0]["path"] == "f"
    assert session.json()["steps"][0]["verdict"] is None


@pytest.mark.parametrize(
    "header",
    [
        Header(turns_dropped=2, cards_dropped=9),
        Header(rewrite_version=1),
    ],
    ids=["dropped", "rewritten"],
)
def test_where_edits_may_be_missing_it_is_never_said_that_all_are_there(
    session: Session, header: Header
) -> None:
    session.header = header
    three_steps(session)
    session.write("f", NINE)
    said = session.run("--check", session.workspace)
    assert "edits before this point are not recorded" in said.out.splitlines()[0]
    assert "all on disk" not in said.out
    document = session.json()
    assert document["complete"] is False
    assert document["gap"].startswith("edits before this point are not recorded")


def test_counts_that_disagree_are_visible(session: Session) -> None:
    story = session.story
    story.edit(git_diff("f", TEN, FIVE))
    tool = story.records[1].tool
    assert tool is not None
    assert tool.file_diff is not None
    story.edit("--- a/g\n+++ b/g\n@@ -1,9 +1,9 @@\n-a\n+b\n")
    said = session.run()
    assert "@@ -1,9 +1,9 @@ counts other lines than it has" in said.out


def test_a_patch_goes_to_stdout_and_what_is_left_out_to_stderr(session: Session) -> None:
    three_steps(session)
    said = session.run("--patch")
    assert said.code == 0
    assert said.out.startswith("diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -2,9 +2,9 @@\n")
    assert said.err == ""
    assert "another nine" not in session.run("--patch", "--until", "1").out
    assert "+++ b/h" in session.run("--patch", "--with-in-flight").out
    assert session.run("--patch", "--file", "f").out == said.out
    assert session.run("--patch", "--file", "other") == Said(0, "", "there is nothing to write\n")
    session.story.edit(git_diff("g", TEN, FIVE, 0))
    said = session.run("--patch")
    assert said.code == 1
    assert said.err.startswith("step 4 is left out, because of g: git needs lines around it")


def test_only_missing_patches_the_files_as_they_are(session: Session) -> None:
    three_steps(session)
    session.write("f", FIVE)
    said = session.run("--patch", "--only", "missing", "--check", session.workspace)
    assert said.code == 0
    assert "-line number 9\n+another nine\n" in said.out
    assert "five" not in said.out.replace(" another five\n", "")


def test_what_is_about_a_patch_needs_one(session: Session) -> None:
    assert session.run("--until", "1").code == 2


def test_restoring_writes_what_is_known_into_a_new_folder(session: Session, tmp_path: Path) -> None:
    story = session.story
    story.edit(git_diff("dir/whole", None, ("a\r\n", "no end")))
    story.edit(git_diff("part", TEN, FIVE, 1))
    story.edit(git_diff("../out", None, ("x\n",)))
    story.edit(git_diff(".git/hooks/post-checkout", None, ("x\n",)))
    story.edit(git_diff("gone", TEN, None))
    new = tmp_path / "new"
    said = session.run("--restore", new)
    assert said.code == 1
    assert (new / "dir/whole").read_bytes() == b"a\r\nno end"
    assert (new / "part.partial").read_text() == (
        "[presentview: lines 1 to 3: not recorded]\n"
        "line number 4\nanother five\nline number 6\n"
        "[presentview: what follows line 6: not recorded]\n"
    )
    files = {path.relative_to(new).as_posix() for path in new.rglob("*") if path.is_file()}
    assert files == {"dir/whole", "part.partial"}
    assert "part (as part.partial): missing: lines 1 to 3; what follows line 6" in said.out
    assert "../out, not written: missing: it is outside the workspace" in said.out


@pytest.mark.parametrize("where", ["work", "work/in", ".", "full"])
def test_restoring_refuses_a_folder_that_may_hold_something(
    session: Session, tmp_path: Path, where: str
) -> None:
    three_steps(session)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    before = sorted(tmp_path.rglob("*"))
    said = session.run("--restore", tmp_path / where)
    assert said.code == 2
    assert {*tmp_path.rglob("*")} - {*before} <= {session.sidecar}


def test_no_name_that_two_files_share_is_written_twice(session: Session, tmp_path: Path) -> None:
    story = session.story
    story.edit(git_diff("a", None, ("file\n",)))
    story.edit(git_diff("a/b", None, ("below a file\n",)))
    said = session.run("--restore", tmp_path / "new")
    assert said.code == 1
    assert "a/b, not written: missing: it cannot be written" in said.out


def test_a_hostile_name_does_nothing_to_the_terminal(session: Session) -> None:
    story = session.story
    story.edit(args={"path": "a\x1b]0;title\x07b", "content": "x"}, name="write_file\x1b[2J")
    said = session.run()
    assert "\x1b" not in said.out
    assert "\x07" not in said.out

"""Patches, given to the real git."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presentview.transcript.changes.edits import Lines, split_lines
from presentview.transcript.changes.missing import missing
from presentview.transcript.changes.patching import Composed, composed
from presentview.transcript.changes.verdicts import Found, Judge
from tests.unit.transcript.changes.world import Story, git_diff

Tree = dict[str, Lines]

GIT = shutil.which("git") or ""
needs_git = pytest.mark.skipif(not GIT, reason="no git here")
TEN: Lines = tuple(f"line {n}\n" for n in range(1, 11))
BLOCK: Lines = ("def f():\n", "    return 1\n", "\n")


def changed(at: int, *new: str, old: int = 1, lines: Lines = TEN) -> Lines:
    return (*lines[:at], *new, *lines[at + old :])


def write_tree(folder: Path, tree: Tree) -> None:
    for path, lines in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes("".join(lines).encode())


def read_tree(folder: Path) -> Tree:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): split_lines(path.read_bytes().decode())
        for path in files
    }


def applied(tree: Tree, patch: str) -> Tree:
    """What git makes of a tree with a patch."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tree(folder, tree)
        if patch:
            done = subprocess.run(
                [GIT, "apply"],
                cwd=folder,
                input=patch.encode(),
                capture_output=True,
                check=False,
                timeout=20,
            )
            assert done.returncode == 0, done.stderr.decode() + patch
        return read_tree(folder)


def patch_of(story: Story, *, in_flight: bool = False) -> Composed:
    return composed(story.play(in_flight=in_flight))


def missing_of(story: Story, tree: Tree) -> Composed:
    steps = story.steps()
    disk = {path: "".join(lines).encode() for path, lines in tree.items()}
    playback = story.play(in_flight=True)
    judge = Judge(playback, steps, lambda path: Found(disk.get(path)))
    chosen = [step for step in steps.steps if step.took_effect]
    return missing(story.play(), steps, judge, chosen)


@needs_git
def test_edits_of_one_file_become_one_patch_in_order_of_effect() -> None:
    one, two = changed(1, "two\n"), changed(1, "zwei\n", "2½\n", lines=changed(1, "two\n"))
    story = Story()
    story.edit(git_diff("f", TEN, one))
    story.edit(git_diff("f", one, two))
    made = patch_of(story)
    assert made.text.count("diff --git") == 1
    assert (made.steps, made.left_out) == ((1, 2), ())
    assert applied({"f": TEN}, made.text) == {"f": two}


@needs_git
def test_a_hunk_goes_to_the_right_one_of_blocks_that_are_the_same() -> None:
    lines = BLOCK * 9
    after = changed(13, "    return 2\n", lines=lines)
    story = Story()
    story.edit(git_diff("f", lines, after))
    assert applied({"f": lines}, patch_of(story).text) == {"f": after}


@needs_git
def test_two_calls_sent_at_once_are_composed_by_the_lines_they_saw() -> None:
    lines = BLOCK * 9
    high = changed(1, "    x = 0\n", "    return x\n", lines=lines)
    low = changed(22, "    return 8\n", lines=lines)
    story = Story()
    calls = [story.dispatch(git_diff("f", lines, new)) for new in (high, low)]
    for call in calls:
        story.result(call)
    made = patch_of(story)
    assert not made.left_out
    both = changed(23, "    return 8\n", lines=high)
    assert applied({"f": lines}, made.text) == {"f": both}


@needs_git
def test_files_come_go_and_get_other_names() -> None:
    base: Tree = {"gone": TEN, "old name": TEN, "bare": ("no end",), "tür": ("a\r\n", "b\r\n")}
    story = Story()
    story.edit(git_diff("gone", TEN, None))
    story.edit(git_diff("dir/new", None, ("x\n",)))
    story.edit(git_diff("dir/new", ("x\n",), ("x\n", "y")))
    story.edit(git_diff("new name", TEN, changed(4, "5\n"), was="old name"))
    story.edit(git_diff("old name", None, ("again\n",)))
    story.edit(git_diff("bare", ("no end",), ("an end\n",)))
    story.edit(git_diff("tür", base["tür"], ("a\r\n", "B\r\n")))
    story.edit(git_diff("came", None, ("x\n",)))
    story.edit(git_diff("came", ("x\n",), None))
    story.edit(git_diff("empty", None, ()))
    made = patch_of(story)
    assert not made.left_out
    assert applied(base, made.text) == {
        "dir/new": ("x\n", "y"),
        "new name": changed(4, "5\n"),
        "old name": ("again\n",),
        "bare": ("an end\n",),
        "tür": ("a\r\n", "B\r\n"),
        "empty": (),
    }


@needs_git
def test_a_mode_goes_into_the_patch(tmp_path: Path) -> None:
    story = Story()
    story.edit("diff --git a/run b/run\nold mode 100644\nnew mode 100755\n")
    write_tree(tmp_path, {"run": TEN})
    patch = patch_of(story).text.encode()
    subprocess.run([GIT, "apply"], cwd=tmp_path, input=patch, check=True, timeout=20)
    assert (tmp_path / "run").stat().st_mode & 0o100


@pytest.mark.parametrize(
    ("tell", "reason"),
    [
        pytest.param(
            lambda story: story.edit(git_diff("f", TEN, changed(4, "5\n"), 0)),
            "git needs lines around it, and none are recorded",
            id="no context",
        ),
        pytest.param(
            lambda story: story.edit(args={"path": "f", "old_string": "a b", "new_string": "c"}),
            "where step 1 changed it is not known",
            id="place not known",
        ),
        pytest.param(
            lambda story: story.edit(args={"path": "f", "content": "x\n"}, name="write_file"),
            "what it held before was not recorded",
            id="written over",
        ),
        pytest.param(
            lambda story: story.edit(git_diff("../f", TEN, changed(4, "5\n"))),
            "it is outside the workspace",
            id="outside",
        ),
        pytest.param(
            lambda story: story.edit(git_diff("f", TEN, changed(4, "\ufffd\n"))),
            "it has characters that were not recorded as they are",
            id="not exact",
        ),
        pytest.param(
            lambda story: story.edit("diff --git a/f b/f\nBinary files a/f and b/f differ\n"),
            "a binary file",
            id="binary",
        ),
        pytest.param(
            lambda story: story.edit(args={"path": "f", "what": 1}),
            "its arguments do not tell what it changed",
            id="not told",
        ),
    ],
)
def test_what_is_not_certain_is_left_out(tell: object, reason: str) -> None:
    story = Story()
    assert callable(tell)
    tell(story)
    made = patch_of(story)
    assert made.text == ""
    assert [(one.step, one.reason) for one in made.left_out] == [(1, reason)]


@needs_git
def test_what_shares_lines_with_what_is_left_out_goes_with_it_and_nothing_else_does() -> None:
    wide = tuple(f"line {n}\n" for n in range(60))
    one = changed(10, "ten\n", lines=wide)
    two = changed(50, "fifty\n", lines=one)
    three = changed(50, "FIFTY\n", lines=two)
    story = Story()
    story.edit(git_diff("f", wide, one))
    story.edit(git_diff("f", one, two, 0))
    story.edit(git_diff("f", two, three, 0) + git_diff("g", TEN, changed(3, "4\n")))
    made = patch_of(story)
    assert [one.step for one in made.left_out] == [2, 3]
    assert applied({"f": wide, "g": TEN}, made.text) == {"f": one, "g": TEN}


@needs_git
def test_after_a_change_from_outside_what_came_before_it_still_goes_in() -> None:
    other = tuple(f"other {n}\n" for n in range(10))
    story = Story()
    story.edit(git_diff("f", TEN, changed(4, "5\n")))
    story.edit(git_diff("f", other, changed(5, "6\n", lines=other)))
    story.edit(git_diff("f", changed(5, "6\n", lines=other), other))
    made = patch_of(story)
    assert [(one.step, one.reason) for one in made.left_out] == [
        (2, "changed outside the recorded edits"),
        (3, "it builds on step 2, which is left out"),
    ]
    assert applied({"f": TEN}, made.text) == {"f": changed(4, "5\n")}


@needs_git
def test_what_is_missing_is_put_into_the_files_as_they_are() -> None:
    one = changed(1, "another two\n")
    two = changed(8, "another nine\n", lines=one)
    story = Story()
    story.edit(git_diff("f", TEN, one))
    story.edit(git_diff("f", one, two))
    story.edit(git_diff("new", None, ("made here\n",)))
    by_hand = ("a line by hand\n", *one)
    made = missing_of(story, {"f": by_hand})
    assert (made.steps, made.left_out) == ((2, 3), ())
    after = applied({"f": by_hand}, made.text)
    assert after == {"f": ("a line by hand\n", *two), "new": ("made here\n",)}
    assert missing_of(story, after).text == ""


def test_what_has_no_single_place_on_the_disk_is_left_out() -> None:
    one = changed(1, "another two\n")
    story = Story()
    story.edit(git_diff("f", TEN, one))
    story.edit(git_diff("f", one, TEN))
    story.edit(git_diff("g", TEN, one))
    made = missing_of(story, {"f": TEN})
    assert made.text == ""
    assert [(left.step, left.path) for left in made.left_out] == [(3, "g")]


# anything that may happen

WORDS = st.sampled_from(
    ["def f():\n", "    return 1\n", "\n", "}\n", "x = 1\r\n", "-- y\n", "++ z\n", " \n"]
)
FILES = st.lists(WORDS, min_size=1, max_size=14).map(tuple)


class Session:
    """Edits made for real, recorded, and some of them at the same time as others."""

    def __init__(self, data: st.DataObject, *, unique: bool = False) -> None:
        self.draw = data.draw
        self.story = Story()
        self.unique = unique
        self.count = 0
        self.base: Tree = {path: self.named(self.draw(FILES)) for path in ("a", "b c", "ü")}
        if self.draw(st.booleans()):
            self.base["a"] = (*self.base["a"], "no end")
        self.tree = dict(self.base)

    def named(self, lines: Lines) -> Lines:
        """The lines, none like any other if that is wanted."""
        if not self.unique:
            return lines
        self.count += len(lines)
        return tuple(f"unique {self.count - n}\n" for n in range(len(lines)))

    def change(self, lines: Lines) -> Lines:
        at = self.draw(st.integers(0, len(lines)))
        old = self.draw(st.integers(0, min(2, len(lines) - at)))
        # Lines that were only removed at an end leave no more than those around them to look for.
        fewest = 1 if self.unique else 0
        put = self.named(self.draw(st.lists(WORDS, min_size=fewest, max_size=3).map(tuple)))
        return split_lines("".join((*lines[:at], *put, *lines[at + old :])))

    def step(self, number: int) -> None:
        kind = self.draw(st.sampled_from(["edit"] * 5 + ["both", "new", "gone", "move", "swap"]))
        context = self.draw(st.sampled_from([3, 3, 1, 2, 0]))
        if kind == "new" or not self.tree:
            lines = self.named(self.draw(FILES))
            path = f"n{number}"
            self.story.edit(git_diff(path, None, lines, context))
            self.tree[path] = lines
            return
        path = self.draw(st.sampled_from(sorted(self.tree)))
        lines = self.tree[path]
        if kind == "gone":
            self.story.edit(git_diff(path, lines, None))
            del self.tree[path]
        elif kind == "move":
            new = self.change(lines)
            self.story.edit(git_diff(f"{path}'", lines, new, context, was=path))
            self.tree[f"{path}'"] = new
            del self.tree[path]
        elif kind == "both":
            self.two_at_once(path, lines, context)
        elif kind == "swap":
            self.swap(path, lines)
        elif (new := self.change(lines)) != lines:
            self.story.edit(git_diff(path, lines, new, context))
            self.tree[path] = new

    def two_at_once(self, path: str, lines: Lines, context: int) -> None:
        """One edit near the top and one near the end, both told by the lines as they were."""
        middle = len(lines) // 2
        if not middle:
            return
        high, low = self.change(lines[:middle]), self.change(lines[middle:])
        if not (high and low and high[-1].endswith("\n")) or high == lines[:middle]:
            return
        if low == lines[middle:] or high[-1] != lines[middle - 1] or low[0] != lines[middle]:
            return
        diffs = [git_diff(path, lines, new, context) for new in ((*high, *lines[middle:]),)]
        diffs.append(git_diff(path, lines, (*lines[:middle], *low), context))
        calls = [self.story.dispatch(diff) for diff in diffs]
        for call in self.draw(st.permutations(calls)):
            self.story.result(call)
        self.tree[path] = (*high, *low)

    def swap(self, path: str, lines: Lines) -> None:
        text = "".join(lines)
        start = self.draw(st.integers(0, max(0, len(text) - 1)))
        old = text[start : start + self.draw(st.integers(1, 12))]
        if old and text.count(old) == 1 and text.find(old, text.find(old) + 1) < 0:
            new = self.draw(st.sampled_from(["", "new", "n\nw\n"]))
            self.story.edit(args={"path": path, "old_string": old, "new_string": new})
            self.tree[path] = split_lines(text.replace(old, new))


@needs_git
@settings(max_examples=60)
@given(st.data())
def test_git_makes_of_the_base_what_the_session_made_of_it(data: st.DataObject) -> None:
    session = Session(data)
    for number in range(data.draw(st.integers(1, 6))):
        session.step(number)
    made = patch_of(session.story)
    after = applied(session.base, made.text)
    left = {path for one in made.left_out for path in paths_of(session.story, one.step)}
    if not left:
        assert after == session.tree
    for path, lines in session.tree.items():
        if not any(path.startswith(name.rstrip("'")) for name in left):
            assert after[path] == lines


@needs_git
@settings(max_examples=60)
@given(st.data())
def test_git_puts_back_what_is_missing(data: st.DataObject) -> None:
    session = Session(data, unique=True)
    trees = [dict(session.tree)]
    for number in range(data.draw(st.integers(1, 5))):
        session.step(number)
        trees.append(dict(session.tree))
    tree = data.draw(st.sampled_from(trees))
    made = missing_of(session.story, tree)
    after = applied(tree, made.text)
    left = {path for one in made.left_out for path in paths_of(session.story, one.step)}
    unsure = {path for path, told in verdicts_of(session.story, tree) if told == "can't tell"}
    for path, lines in session.tree.items():
        if not any(path.rstrip("'") == name.rstrip("'") for name in left | unsure):
            assert after[path] == lines
    # A file that has another name now is not there under the old one too.
    if not (left or unsure):
        assert not any(f"{path}'" in session.tree for path in {*after} - {*session.tree})


def verdicts_of(story: Story, tree: Tree) -> list[tuple[str, str]]:
    steps = story.steps()
    disk = {path: "".join(lines).encode() for path, lines in tree.items()}
    judge = Judge(story.play(in_flight=True), steps, lambda path: Found(disk.get(path)))
    verdicts = [judge.verdict(step) for step in steps.steps]
    return [(file.path, file.verdict.value) for found in verdicts for file in found.files]


def paths_of(story: Story, number: int) -> set[str]:
    steps = story.steps()
    edits = steps.edits(steps.steps[number - 1])
    return {path for edit in edits for path in (edit.path, edit.source)}

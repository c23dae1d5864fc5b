from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.transcript.changes.edits import Lines, split_lines
from presentview.transcript.changes.verdicts import Found, Judge, StepVerdict, exit_code
from tests.unit.transcript.changes.oracle import Oracle, Tree
from tests.unit.transcript.changes.world import Story, git_diff

TEN: Lines = tuple(f"line number {n}\n" for n in range(1, 11))


def changed(at: int, *new: str, old: int = 1, lines: Lines = TEN) -> Lines:
    return (*lines[:at], *new, *lines[at + old :])


def judged(story: Story, tree: Tree) -> list[StepVerdict]:
    steps = story.steps()
    disk = {path: "".join(lines).encode() for path, lines in tree.items()}
    judge = Judge(story.play(in_flight=True), steps, lambda path: Found(disk.get(path)))
    return [judge.verdict(step) for step in steps.steps]


def told(story: Story, tree: Tree) -> list[tuple[str, int]]:
    return [(found.verdict.value, found.by) for found in judged(story, tree)]


FIVE = changed(4, "another five\n")


def one_edit(after: Lines = FIVE) -> Story:
    story = Story()
    story.edit(git_diff("f", TEN, after))
    return story


@pytest.mark.parametrize(
    ("disk", "verdict"),
    [
        pytest.param(changed(4, "another five\n"), "on disk", id="there"),
        pytest.param(("moved\n", *changed(4, "another five\n")), "on disk", id="further down"),
        pytest.param(TEN, "not on disk", id="lost"),
        pytest.param(changed(4, "a third five\n"), "changed since", id="by hand"),
        pytest.param(TEN + TEN, "can't tell", id="twice"),
        pytest.param(None, "file gone", id="gone"),
    ],
)
def test_an_edit_is_looked_for_by_its_lines(disk: Lines | None, verdict: str) -> None:
    tree = {} if disk is None else {"f": disk}
    assert told(one_edit(), tree) == [(verdict, 0)]


def test_what_was_removed_at_the_end_is_not_taken_for_gone_because_its_context_stands() -> None:
    story = one_edit(TEN[:-1])
    assert told(story, {"f": TEN}) == [("not on disk", 0)]
    assert told(story, {"f": TEN[:-1]}) == [("on disk", 0)]


def test_lines_that_end_like_kept_ones_are_not_taken_for_them() -> None:
    before: Lines = ("\n", "alpha\n", "the last line\n")
    story = Story()
    story.edit(git_diff("f", before, ("\n", "the last line\n"), 1))
    assert told(story, {"f": before}) == [("not on disk", 0)]


def test_one_of_two_hunks_is_partly() -> None:
    long = tuple(f"line number {n}\n" for n in range(40))
    both = changed(30, "b here\n", lines=changed(5, "a here\n", lines=long))
    story = Story()
    story.edit(git_diff("f", long, both))
    assert told(story, {"f": changed(5, "a here\n", lines=long)}) == [("partly", 0)]


def test_an_edit_that_a_later_one_replaced_is_overwritten_by_it_if_that_is_there() -> None:
    one, two = changed(4, "first five\n"), changed(4, "second five\n")
    story = Story()
    story.edit(git_diff("f", TEN, one))
    story.edit(git_diff("f", one, two))
    assert told(story, {"f": two}) == [("overwritten", 2), ("on disk", 0)]
    assert told(story, {"f": one}) == [("on disk", 0), ("not on disk", 0)]
    assert told(story, {"f": TEN}) == [("not on disk", 0), ("changed since", 0)]


def test_a_step_with_several_files_is_as_bad_as_the_worst_of_them() -> None:
    story = Story()
    story.edit(
        git_diff("a", TEN, changed(1, "2 in a\n")) + git_diff("b", TEN, changed(2, "3 in b\n"))
    )
    there = {"a": changed(1, "2 in a\n"), "b": changed(2, "3 in b\n")}
    assert told(story, there) == [("on disk", 0)]
    assert told(story, {**there, "b": TEN}) == [("partly", 0)]
    assert told(story, {"a": there["a"]}) == [("file gone", 0)]
    (found,) = judged(story, {**there, "b": TEN})
    assert [(file.path, file.verdict.value) for file in found.files] == [
        ("a", "on disk"),
        ("b", "not on disk"),
    ]


def test_what_is_not_looked_at_is_not_checked() -> None:
    story = Story()
    for path in ("../up", "/etc/passwd", ".git/config", "a/../../b", "f"):
        story.edit(git_diff(path, TEN, changed(1, "x\n")))
    story.edit("diff --git a/i b/i\nBinary files a/i and b/i differ\n")
    found = judged(story, {"f": ("\0\n",), "i": ("text\n",)})
    assert {one.verdict.value for one in found} == {"not checked"}
    assert [one.files[0].reason for one in found][-2:] == ["binary", "binary"]


def test_a_rename_or_a_mode_alone_is_checked_too() -> None:
    story = Story()
    story.edit("diff --git a/old b/new\nrename from old\nrename to new\n")
    story.edit("diff --git a/run b/run\nold mode 100644\nnew mode 100755\n")
    steps = story.steps()
    for executable, verdict in ((True, "on disk"), (False, "not on disk")):
        disk = {"new": Found(b"x\n"), "run": Found(b"x\n", executable=executable)}
        judge = Judge(story.play(), steps, lambda path, disk=disk: disk.get(path, Found()))  # type: ignore[misc]
        assert [judge.verdict(step).verdict.value for step in steps.steps] == ["on disk", verdict]


def test_a_replacement_told_by_arguments_is_looked_for_as_a_text() -> None:
    story = Story()
    story.edit(args={"path": "f", "old_string": "number 5", "new_string": "number five"})
    assert told(story, {"f": TEN}) == [("not on disk", 0)]
    assert told(story, {"f": changed(4, "line number five\n")}) == [("on disk", 0)]
    assert told(story, {"f": TEN + TEN}) == [("can't tell", 0)]


def test_a_step_in_flight_is_judged_too_and_so_is_one_that_failed() -> None:
    story = Story()
    story.result(story.dispatch(git_diff("f", TEN, changed(1, "failed two\n"))), "error: no")
    story.dispatch(git_diff("f", TEN, changed(8, "nine in flight\n")))
    assert told(story, {"f": TEN}) == [("not on disk", 0), ("not on disk", 0)]
    there = {"f": changed(8, "nine in flight\n")}
    assert told(story, there) == [("not on disk", 0), ("on disk", 0)]


@pytest.mark.parametrize(
    ("tree", "code"), [({"f": TEN}, 1), ({"f": TEN + TEN}, 2), ({"f": changed(4, "other\n")}, 0)]
)
def test_the_exit_code_tells_of_the_worst(tree: Tree, code: int) -> None:
    assert exit_code(judged(one_edit(), tree)) == code


# against the definitions, worked out slowly

WORDS = st.sampled_from(
    ["alpha\n", "beta beta\n", "gamma\n", "}\n", "\n", "word 1\n", "word 2\r\n"]
)
FILES = st.lists(WORDS, min_size=1, max_size=9).map(tuple)


@st.composite
def sessions(draw: st.DrawFn) -> Oracle:
    base = {"f": draw(FILES), "g": draw(FILES)}
    if draw(st.booleans()):
        base["f"] = (*base["f"], "no line feed")
    oracle = Oracle(base, draw(st.integers(0, 3)))
    count = draw(st.integers(1, 6))
    for number in range(count):
        lost = number == count - 1 and draw(st.booleans())
        there = [path for path, file in oracle.files.items() if file.exists]
        kind = draw(st.sampled_from(["modify"] * 5 + ["create", "delete", "rename", "write"]))
        if kind == "create" or not there:
            gone = [path for path, file in oracle.files.items() if not file.exists]
            path = draw(st.sampled_from([f"n{number}", *gone]))
            oracle.act("create", path, draw(FILES), lost=lost)
            continue
        path = draw(st.sampled_from(there))
        lines = oracle.files[path].texts
        if kind == "delete":
            oracle.act("delete", path, lost=lost)
            continue
        new: Lines = draw(FILES)
        if kind != "write":
            at = draw(st.integers(0, len(lines)))
            old = draw(st.integers(0, min(2, len(lines) - at)))
            put = draw(st.lists(WORDS, max_size=2).map(tuple))
            new = (*lines[:at], *put, *lines[at + old :])
            new = split_lines("".join(new))
        if kind == "rename":
            oracle.act("rename", path, new, to=f"{path}'", lost=lost)
        elif new != lines or kind == "write":
            oracle.act(kind, path, new, lost=lost)
    return oracle


def agree(oracle: Oracle, tree: Tree) -> None:
    expected = [oracle.verdict(act.number, tree) for act, _ in oracle.acts]
    assert told(oracle.story, tree) == expected


@given(sessions())
def test_verdicts_on_every_prefix_are_what_the_definitions_say(oracle: Oracle) -> None:
    for tree in oracle.trees:
        agree(oracle, tree)


@given(sessions(), st.data())
def test_verdicts_on_every_subset_that_applies_are_what_the_definitions_say(
    oracle: Oracle, data: st.DataObject
) -> None:
    numbers = range(1, len(oracle.acts) + 1)
    for chosen in (some for n in numbers for some in combinations(numbers, n)):
        tree = applied(oracle, chosen)
        if tree is not None:
            agree(oracle, tree)


@given(sessions(), FILES, st.booleans())
def test_verdicts_on_any_tree_are_what_the_definitions_say(
    oracle: Oracle, lines: Lines, gone: bool
) -> None:
    last = dict(oracle.trees[-1])
    for path in [*last]:
        agree(oracle, {**last, path: (*last[path], *lines)})
        agree(oracle, {**last, path: (*lines, *last[path][1:])})
    if gone:
        agree(oracle, {})


def applied(oracle: Oracle, numbers: tuple[int, ...]) -> Tree | None:
    """The base with some of the steps applied, None if one does not fit."""
    tree = dict(oracle.trees[0])
    for number in numbers:
        before, after = oracle.trees[number - 1], oracle.trees[number]
        for path in {*before, *after}:
            if before.get(path) == after.get(path):
                continue
            if path in tree and path in before and path in after:
                act = oracle.acts[number - 1][0]
                text = "".join(tree[path])
                for old, new in act.sides if act.kind == "modify" else ():
                    if not old or new is None or text.count(old) != 1:
                        return None
                    text = text.replace(old, new)
                tree[path] = split_lines(text) if act.kind == "modify" else after[path]
            elif tree.get(path) != before.get(path):
                return None
            elif path in after:
                tree[path] = after[path]
            else:
                del tree[path]
    return tree

"""Playing the files of one family a little at a time tells the same as playing everything."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from presentview.transcript.changes.edits import Lines
from presentview.transcript.changes.families import Families
from presentview.transcript.changes.filestate import FileState
from presentview.transcript.changes.player import Player
from presentview.transcript.changes.steps import Steps
from presentview.transcript.changes.verdicts import FileVerdict, Found, Judge
from tests.unit.transcript.changes.world import Story, git_diff

PATHS = ("a", "b", "c", "d/e")
FIVE: Lines = tuple(f"line {n} of five\n" for n in range(5))


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Edits, renames, deletions and readings of a few files, in steps of one or two files."""
    story = Story()
    tree: dict[str, Lines] = {}

    def one(path: str) -> str:
        old = tree.get(path)
        what = draw(st.sampled_from(["edit", "edit", "move", "delete"]))
        free = [name for name in PATHS if name not in tree]
        if old is None:
            tree[path] = FIVE
            return git_diff(path, None, FIVE)
        if what == "delete":
            del tree[path]
            return git_diff(path, old, None)
        at = draw(st.integers(0, len(old) - 1))
        new = (*old[:at], f"new {draw(st.integers(0, 9))} here\n", *old[at + 1 :])
        if what == "move" and free:
            del tree[path]
            tree[free[0]] = new
            return git_diff(free[0], old, new, was=path)
        tree[path] = new
        return git_diff(path, old, new, draw(st.integers(0, 3)))

    for _ in range(draw(st.integers(1, 8))):
        paths = draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=2, unique=True))
        diff = one(paths[0])
        # What one diff says of its files must not be about the same file twice.
        if len(paths) > 1 and paths[1] in tree and f" b/{paths[1]}\n" not in diff:
            diff += one(paths[1])
        call = story.dispatch(diff)
        if draw(st.integers(0, 8)) > 0:
            story.result(call, err="" if draw(st.integers(0, 5)) else "it failed")
        if draw(st.booleans()) and tree:
            path = draw(st.sampled_from(sorted(tree)))
            numbered = "".join(f"{n}\t{line}" for n, line in enumerate(tree[path], 1))
            story.result(story.dispatch(args={"path": path}, name="read_file"), numbered)
    return story


def player_of(steps: Steps, families: Families, path: str) -> Player:
    return Player(families.of(path), families.steps(path), steps, steps.readings)


def without_reading(state: FileState) -> FileState:
    """A state as it is whatever was read since its last step."""
    return state._replace(lineage=0, sheet=state.sheet.unread())


@settings(max_examples=25)
@given(stories(), st.dictionaries(st.sampled_from(PATHS), st.just(FIVE)))
def test_a_family_alone_is_what_it_is_among_all_files(story: Story, disk: dict[str, Lines]) -> None:
    steps = story.steps()
    whole = story.play(in_flight=True)
    families = Families(steps.steps)

    def look(path: str) -> Found:
        return Found("".join(disk[path]).encode()) if path in disk else Found()

    judge = Judge(whole, steps, look)
    for step in steps.steps:
        alone: list[FileVerdict] = []
        edits = steps.edits(step)
        for path in {families.of(edit.path): edit.path for edit in edits}.values():
            player = player_of(steps, families, path)
            while not player.reach(step.number, 0.0):
                assert player.progress.played <= player.progress.of
            mine, theirs = player.playback.state(path, step.number), whole.state(path, step.number)
            if mine is not None and theirs is not None:
                assert without_reading(mine) == without_reading(theirs)
            player.reach(len(steps.steps), time.monotonic() + 60)
            alone += Judge(player.playback, steps, look).files(step)
        assert sorted(map(repr, alone)) == sorted(map(repr, judge.verdict(step).files))


@settings(max_examples=25)
@given(stories(), st.integers(0, 20))
def test_what_is_played_goes_on_when_more_is_recorded(story: Story, cut: int) -> None:
    records = list(story.records)
    earlier = Story()
    earlier.add(*records[: cut % (len(records) + 1)])
    before, after = earlier.steps(), story.steps()
    then, now = Families(before.steps), Families(after.steps)
    for path in PATHS:
        player = player_of(before, then, path)
        if not then.steps(path) or then.of(path) != now.of(path):
            continue
        player.reach(len(before.steps), time.monotonic() + 60)
        if not player.goes_on(now.steps(path), after, after.readings):
            continue
        player.reach(len(after.steps), time.monotonic() + 60)
        fresh = player_of(after, now, path)
        fresh.reach(len(after.steps), time.monotonic() + 60)
        assert player.playback.state(path) == fresh.playback.state(path)


def test_the_verdicts_on_the_files_of_a_step_stand_in_the_order_of_its_edits() -> None:
    story = Story()
    story.edit(git_diff("b", None, FIVE))
    story.edit(git_diff("a", None, FIVE) + git_diff("b", FIVE, (*FIVE, "six here\n")))
    story.edit(git_diff("b", (*FIVE, "six here\n"), FIVE) + git_diff("a", FIVE, FIVE[1:]))
    steps = story.steps()
    judge = Judge(story.play(), steps, lambda _: Found())
    told = [[file.path for file in judge.verdict(step).files] for step in steps.steps]
    assert told == [["b"], ["a", "b"], ["b", "a"]]


def test_files_that_were_made_of_each_other_are_one_family() -> None:
    story = Story()
    story.edit(git_diff("a", None, FIVE))
    story.edit(git_diff("b", FIVE, FIVE, was="a"))
    story.edit(git_diff("c", None, FIVE))
    story.edit(git_diff("d/e", FIVE, FIVE, was="b") + git_diff("c", FIVE, None))
    steps = story.steps().steps
    families = Families(steps)
    assert families.of("a") == families.of("d/e") == {"a", "b", "d/e"}
    assert families.of("c") == {"c"}
    assert families.of("never seen") == {"never seen"}
    assert [step.number for step in families.steps("b")] == [1, 2, 4]
    assert [step.number for step in families.steps("c")] == [3, 4]

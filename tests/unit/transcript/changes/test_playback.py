from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from presentview.transcript.changes.edits import Lines, split_lines
from presentview.transcript.changes.filestate import FileState
from presentview.transcript.changes.playing import OUTSIDE
from presentview.transcript.changes.sheet import Stretch
from tests.unit.transcript.changes.world import Story, git_diff, unified

TEN: Lines = tuple(f"line {n}\n" for n in range(1, 11))


def replaced(lines: Lines, at: int, old: int, new: Lines) -> Lines:
    return (*lines[:at], *new, *lines[at + old :])


def known(state: FileState | None) -> list[tuple[int, Lines]]:
    assert state is not None
    return [(stretch.start, stretch.lines) for stretch in state.sheet.stretches()]


def test_a_hunk_makes_its_lines_known_by_their_numbers() -> None:
    story = Story()
    story.edit(git_diff("f", TEN, replaced(TEN, 4, 1, ("five\n", "5½\n")), 1))
    state = story.play().state("f")
    assert known(state) == [(4, ("line 4\n", "five\n", "5½\n", "line 6\n"))]
    assert state is not None
    assert not state.is_full
    assert state.sheet.end is None


def test_edits_above_move_what_is_known_below() -> None:
    story = Story()
    two = replaced(TEN, 7, 1, ("eight\n",))
    story.edit(git_diff("f", TEN, two, 0))
    story.edit(git_diff("f", two, ("top\n", *two), 0))
    assert known(story.play().state("f")) == [(1, ("top\n",)), (9, ("eight\n",))]


def test_a_file_that_came_with_the_session_is_known_to_its_last_byte() -> None:
    story = Story()
    text = ("a\r\n", "b\n", "no end")
    story.edit(git_diff("f", None, text))
    later = ("a\r\n", "B\n", "c\n", "no end")
    story.edit(git_diff("f", text, later))
    state = story.play().state("f")
    assert state is not None
    assert state.is_full
    assert state.content == b"a\r\nB\nc\nno end"


def test_a_whole_write_tells_everything_and_its_diff_what_was_before() -> None:
    story = Story()
    new = replaced(TEN, 3, 2, ("x\n",))
    diff = git_diff("f", TEN, new, 1)
    story.edit(diff, {"path": "f", "content": "".join(new)}, "write_file")
    state = story.play().state("f")
    assert state is not None
    assert state.is_full
    assert state.sheet.base_lines() == TEN


def test_what_disagrees_wins_and_what_was_known_floats() -> None:
    story = Story()
    story.edit(git_diff("f", TEN, replaced(TEN, 1, 1, ("two\n",)), 1))
    other = tuple(f"other {n}\n" for n in range(10))
    story.edit(git_diff("f", other, replaced(other, 2, 1, ("three\n",)), 1))
    state = story.play().state("f")
    assert state is not None
    assert known(state) == [(2, ("other 1\n", "three\n", "other 3\n"))]
    assert state.broken is not None
    assert (state.broken.step, state.broken.reason) == (2, OUTSIDE)
    assert [piece.lines for piece in state.floating] == [("line 1\n", "two\n", "line 3\n")]


def test_two_calls_sent_at_once_are_both_placed() -> None:
    story = Story()
    low, high = replaced(TEN, 8, 1, ("nine\n",)), replaced(TEN, 1, 1, ("2\n", "2½\n", "2¾\n"))
    first = story.dispatch(git_diff("f", TEN, high))
    second = story.dispatch(git_diff("f", TEN, low))
    story.result(first)
    story.result(second)
    state = story.play().state("f")
    assert state is not None
    assert state.broken is None
    both = replaced(high, 10, 1, ("nine\n",))
    assert all(lines == both[at - 1 : at - 1 + len(lines)] for at, lines in known(state))
    assert {line for _, lines in known(state) for line in lines} >= {"2½\n", "nine\n"}


def test_the_order_is_that_of_the_results_and_what_is_in_flight_is_last() -> None:
    story = Story()
    slow = story.dispatch(git_diff("slow", None, ("s\n",)))
    lost = story.dispatch(git_diff("lost", None, ("l\n",)))
    story.edit(git_diff("quick", None, ("q\n",)))
    story.result(slow)
    steps = story.steps().steps
    assert [(step.call, step.state) for step in steps] == [
        ("e3", "applied"),
        (slow, "applied"),
        (lost, "interrupted"),
    ]
    assert story.steps(alive=True).steps[-1].state == "running"
    assert story.play().state("lost") is None
    assert story.play(in_flight=True).state("lost") is not None


def test_failed_and_blocked_steps_do_nothing() -> None:
    story = Story()
    story.result(story.dispatch(git_diff("f", None, ("x\n",))), "error: no")
    story.result(story.dispatch(git_diff("f", None, ("x\n",))), err="blocked: no")
    assert [step.state for step in story.steps().steps] == ["failed", "blocked"]
    assert story.play().state("f") is None


@pytest.mark.parametrize(
    ("args", "after"),
    [
        pytest.param({"old_string": "line 4", "new_string": "4"}, "4", id="claude"),
        pytest.param({"oldText": "line 4\n", "newText": "4\n"}, "4", id="pi"),
        pytest.param({"edits": [{"oldString": "line 4", "newString": "4"}]}, "4", id="several"),
        pytest.param({"old_str": "e 4\nline", "new_str": "e 4"}, "line 4 5", id="across lines"),
        pytest.param({"insert_line": 3, "insert_text": "4"}, "4\nline 4", id="insert"),
        pytest.param(
            {
                "patch": "*** Begin Patch\n*** Update File: f\n@@\n line 3\n-line 4\n+4\n"
                "*** End Patch"
            },
            "4",
            id="patch",
        ),
        pytest.param(
            {"diff": "<<<<<<< SEARCH\nline 4\n=======\n4\n>>>>>>> REPLACE"}, "4", id="search block"
        ),
    ],
)
def test_what_only_the_arguments_tell_is_placed_by_its_text(
    args: dict[str, object], after: str
) -> None:
    story = Story()
    story.edit(git_diff("f", None, TEN))
    story.edit(args={"path": "f", **args})
    steps = story.steps().steps
    assert steps[1].derived
    state = story.play().state("f")
    assert state is not None
    assert state.is_full
    lines = "".join(TEN)
    old = "line 4\nline 5" if after == "line 4 5" else "line 4"
    assert state.content.decode() == lines.replace(old, after)


def test_a_text_that_stands_twice_is_not_placed() -> None:
    story = Story()
    story.edit(git_diff("f", None, ("a\n", "b\n", "a\n")))
    story.edit(args={"path": "f", "old_string": "a", "new_string": "c"})
    state = story.play().state("f")
    assert state is not None
    assert known(state) == []
    assert state.broken is not None
    assert state.broken.step == 2


def test_replacing_everywhere_claims_nothing_that_is_not_known() -> None:
    story = Story()
    story.edit(git_diff("f", TEN, replaced(TEN, 1, 1, ("two\n",)), 2))
    swap = {"path": "f", "old_string": "line", "new_string": "new\nline", "replace_all": True}
    story.edit(args=swap)
    state = story.play().state("f")
    # The lines up to the first unknown one are certain; what follows it may have moved.
    assert known(state) == [
        (1, ("new\n", "line 1\n", "two\n", "new\n", "line 3\n", "new\n", "line 4\n"))
    ]
    story.edit(args={"path": "f", "old_string": "zzz", "new_string": "y"})
    assert story.play().state("f") is not None


def test_an_edit_in_an_unknown_stretch_leaves_certain_what_is_above_it() -> None:
    story = Story()
    first = replaced(TEN, 0, 1, ("one\n",))
    story.edit(git_diff("f", TEN, first, 1))
    story.edit(git_diff("f", first, replaced(first, 8, 1, ("nine\n",)), 0))
    story.edit(args={"path": "f", "old_string": "line 5\n", "new_string": "5\n6\n"})
    state = story.play().state("f")
    assert state is not None
    assert known(state) == [(1, ("one\n", "line 2\n"))]
    assert ("nine\n",) in [piece.lines for piece in state.floating]
    assert ("5\n", "6\n") in [piece.lines for piece in state.floating]


def test_a_rename_takes_what_is_known_along() -> None:
    story = Story()
    story.edit(git_diff("old", None, TEN))
    new = replaced(TEN, 2, 1, ("3\n",))
    story.edit(git_diff("new", TEN, new, was="old"))
    playback = story.play()
    state, gone = playback.state("new"), playback.state("old")
    assert state is not None
    assert gone is not None
    assert state.content == "".join(new).encode()
    assert not gone.exists
    assert playback.state("old", 1) is not None
    assert playback.state("new", 1) is None


def test_a_deletion_ends_a_file_and_a_creation_begins_it_again() -> None:
    story = Story()
    story.edit(git_diff("f", TEN, None))
    story.edit(git_diff("f", None, ("again\n",)))
    playback = story.play()
    first, second = playback.state("f", 1), playback.state("f", 2)
    assert first is not None
    assert second is not None
    assert not first.exists
    assert second.content == b"again\n"
    assert second.sheet.base_lines() == TEN


def test_reads_fill_in_and_are_marked() -> None:
    story = Story()
    story.edit(git_diff("f", TEN, replaced(TEN, 4, 1, ("five\n",)), 0))
    call = story.dispatch(name="read_file")
    now = replaced(TEN, 4, 1, ("five\n",))
    story.result(call, "".join(f"{n:6}→{line}" for n, line in enumerate(now, 1)))
    story.edit(args={"path": "f", "old_string": "line 9", "new_string": "nine"})
    state = story.play().state("f")
    assert state is not None
    lines = replaced(now, 8, 1, ("nine\n",))
    assert {line for _, part in known(state) for line in part} == set(lines)
    assert not state.is_full
    assert Stretch(5, ("five\n",)) in list(state.sheet.stretches())
    assert state.unpatchable


# properties

WORDS = st.sampled_from(["a\n", "b\n", "c\r\n", "word\n", "}\n", "\n", "x" * 9 + "\n"])
FILES = st.lists(WORDS, max_size=12).map(tuple)


@st.composite
def histories(draw: st.DrawFn, *, outside: bool) -> list[tuple[str, Lines, Lines]]:
    """What a file was before and after each of its edits, and whether nobody recorded it."""
    now: Lines = draw(FILES)
    found: list[tuple[str, Lines, Lines]] = []
    for _ in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, len(now)))
        old = draw(st.integers(0, min(3, len(now) - at)))
        new = draw(st.lists(WORDS, max_size=3).map(tuple))
        after = replaced(now, at, old, new)
        kind = "outside" if outside and draw(st.integers(0, 3)) == 0 else "edit"
        found.append((kind, now, after))
        now = after
    return found


def chopped(lines: Lines, ends: bool) -> Lines:
    """The file with or without a line feed at its end."""
    if ends or not lines:
        return lines
    return (*lines[:-1], lines[-1].rstrip("\n") or "z")


def chopped_all(
    history: list[tuple[str, Lines, Lines]], ends: bool
) -> list[tuple[str, Lines, Lines]]:
    return [(kind, chopped(old, ends), chopped(new, ends)) for kind, old, new in history]


@given(histories(outside=True), st.integers(0, 4), st.booleans())
def test_the_known_parts_are_right_unless_something_came_from_outside(
    history: list[tuple[str, Lines, Lines]], context: int, ends: bool
) -> None:
    history = chopped_all(history, ends)
    story = Story()
    truth: list[tuple[Lines, bool]] = []
    outside = False
    for kind, old, new in history:
        if kind == "outside":
            outside = outside or old != new
        elif old != new:
            story.edit(git_diff("f", old, new, context))
            truth.append((new, outside))
    playback = story.play()
    for number, (new, touched) in enumerate(truth, 1):
        state = playback.state("f", number)
        assert state is not None
        hunks = [
            (block.start, new[block.start : block.end])
            for block in playback.traces[number - 1].blocks or ()
        ]
        stretches = known(state)
        if not touched:
            assert all(lines == new[at - 1 : at - 1 + len(lines)] for at, lines in stretches)
            assert state.broken is None
            assert state.sheet.end in (None, len(new))
        # What the step itself told is right, whatever happened before.
        for start, lines in hunks:
            inside = [part for at, part in stretches if at - 1 <= start <= at - 1 + len(part)]
            held = "".join("".join(part) for part in inside)
            assert "".join(lines) in held


@given(histories(outside=False), st.booleans())
@example([("edit", ("a\n",), ())], True)
def test_whole_diffs_of_a_file_that_came_with_the_session_rebuild_it(
    history: list[tuple[str, Lines, Lines]], ends: bool
) -> None:
    history = chopped_all(history, ends)
    story = Story()
    first = history[0][1]
    story.edit(git_diff("f", None, first))
    truth = [first]
    for _, old, new in history:
        if old != new:
            story.edit(git_diff("f", old, new, 1000))
            truth.append(new)
    playback = story.play()
    for number, lines in enumerate(truth, 1):
        state = playback.state("f", number)
        assert state is not None
        assert state.is_full
        assert state.sheet.lines() == lines


@given(histories(outside=False), st.integers(0, 3), st.booleans())
def test_any_context_rebuilds_a_file_that_is_known_to_begin_with(
    history: list[tuple[str, Lines, Lines]], context: int, ends: bool
) -> None:
    history = chopped_all(history, ends)
    story = Story()
    first = history[0][1]
    story.edit(args={"path": "f", "content": "".join(first)}, name="write_file")
    last = first
    for _, old, new in history:
        if old != new:
            story.edit(git_diff("f", old, new, context))
            last = new
    state = story.play().state("f")
    assert state is not None
    assert state.content == "".join(last).encode()


@given(histories(outside=True), st.data())
def test_derived_edits_never_claim_what_is_wrong(
    history: list[tuple[str, Lines, Lines]], data: st.DataObject
) -> None:
    story = Story()
    now = "".join(history[0][1])
    for kind, old, new in history:
        if kind == "edit" and "".join(old) == now and old != new:
            story.edit(git_diff("f", old, new, data.draw(st.integers(0, 2))))
            now = "".join(new)
        elif now:
            start = data.draw(st.integers(0, len(now) - 1))
            piece = now[start : start + data.draw(st.integers(1, 6))]
            every = data.draw(st.booleans())
            with_ = data.draw(st.sampled_from(["", "\n", "new", "n\nw\n"]))
            if every or (now.count(piece) == 1 and now.find(piece, now.find(piece) + 1) < 0):
                swap = {"path": "f", "old_string": piece, "new_string": with_}
                story.edit(args={**swap, "replace_all": every})
                now = now.replace(piece, with_)
        state = story.play().state("f")
        if state is not None:
            lines = split_lines(now)
            for at, part in known(state):
                assert part == lines[at - 1 : at - 1 + len(part)]


ANYTHING = st.text(st.sampled_from("@-+ \\\n\rabc123,/"), max_size=60)


@given(st.lists(ANYTHING, min_size=1, max_size=4), st.lists(ANYTHING, max_size=3))
def test_nothing_a_diff_or_arguments_hold_raises(diffs: list[str], args: list[str]) -> None:
    story = Story()
    for diff in diffs:
        story.edit(f"--- a/f\n+++ b/f\n{diff}")
        story.edit(diff or "x")
    for text in args:
        story.edit(args=text)
        story.edit(args={"path": "f", "old_string": text or "q", "new_string": diffs[0]})
        story.edit(
            args={"input": f"*** Begin Patch\n*** Update File: f\n{text}"}, name="apply_patch"
        )
    playback = story.play(in_flight=True)
    for path in playback.paths:
        assert playback.state(path) is not None


@pytest.mark.parametrize(
    "args",
    [
        {"command": ["a", {"b": [1]}]},
        {"command": {"a": 1}, "path": ["f"]},
        {"path": "f", "edits": [1, {"old_string": 1, "new_string": []}], "insert_line": "x"},
        {"path": "f", "old_string": "a", "new_string": "b", "expected_replacements": [2]},
    ],
)
@pytest.mark.parametrize("name", ["edit_file", "write_file", "bash", "apply_patch"])
def test_arguments_of_any_shape_are_read(args: dict[str, object], name: str) -> None:
    story = Story()
    story.edit(args=args, name=name)
    assert len(story.play().traces) <= 1


def test_hunks_are_written_as_they_are_read() -> None:
    new = replaced(TEN, 0, 0, ("-- top\n",))
    assert unified(TEN, new, 1) == "@@ -1,1 +1,2 @@\n+-- top\n line 1\n"

from __future__ import annotations

import pytest

from presentview.records import Record
from presentview.transcript.cards import DONE, FAILED, INTERRUPTED, OPEN, Place, ToolCard
from presentview.transcript.fold import Transcript
from tests.unit.transcript.story import (
    dispatch,
    done,
    folded,
    message,
    progress,
    result,
    text,
    tools,
    turn,
)

LS, PWD, BACKGROUND = '{"command":"ls"}', '{"command":"pwd"}', '{"background":true}'


def calls(*records: Record) -> list[ToolCard]:
    return tools(folded(*records))


def states(*records: Record) -> list[str | None]:
    return [card.state for card in calls(*records)]


# which dispatches are one call


@pytest.mark.parametrize(
    ("records", "count"),
    [
        ([dispatch("a"), dispatch("a", LS)], 1),
        ([dispatch("a", LS), dispatch("a")], 1),
        ([dispatch("a", LS), dispatch("a", LS)], 1),
        ([dispatch("a"), dispatch("a")], 1),
        ([dispatch("a", LS), dispatch("a", PWD)], 2),
        ([dispatch("a", LS), dispatch("a", PWD), dispatch("a", LS)], 3),
        ([dispatch("a"), dispatch("a", LS), dispatch("a", PWD), dispatch("a")], 2),
        ([dispatch("a"), dispatch("b")], 2),
        ([dispatch("a"), result("a"), dispatch("a")], 2),
        ([dispatch("a", LS), result("a"), dispatch("a", LS)], 2),
        ([dispatch("a"), turn(), dispatch("a")], 2),
        ([dispatch("a", BACKGROUND), turn(), dispatch("a", BACKGROUND)], 1),
        ([dispatch("", name="bash"), dispatch("", LS, name="bash")], 1),
        ([dispatch("", name="bash"), dispatch("", name="grep")], 2),
    ],
)
def test_a_dispatch_joins_the_newest_open_call_unless_both_have_different_arguments(
    records: list[Record], count: int
) -> None:
    assert len(calls(*records)) == count


def test_an_early_dispatch_without_arguments_is_completed_by_the_full_one() -> None:
    (card,) = calls(dispatch("a", at=1), dispatch("a", LS, at=2), dispatch("a", at=3))
    assert (card.face, card.at, card.dispatch) == ("ls", 1, Place(1, 1, 2))


def test_a_dispatch_that_comes_after_its_result_completes_the_call() -> None:
    (card,) = calls(result("a", at=5), dispatch("a", LS, at=3))
    assert (card.state, card.face, card.note) == (DONE, "ls", "")
    assert len(calls(result("a"), turn(), dispatch("a", LS))) == 2


# whose result it is


def test_fault_11_an_id_used_again_in_a_later_turn_is_a_call_of_its_own() -> None:
    first, second = calls(
        turn(), dispatch("call_0", LS, at=1), result("call_0", "one\n", at=2), done(),
        turn(), dispatch("call_0", PWD, at=5), result("call_0", "1\n2\n", err="no", at=9),
    )  # fmt: skip
    assert (first.face, first.state, first.lines, first.duration_ms) == ("ls", DONE, 1, 1)
    assert (second.face, second.state, second.lines, second.duration_ms) == ("pwd", FAILED, 2, 4)


def test_fault_11_an_id_used_twice_in_a_turn_is_two_calls_whose_results_come_in_order() -> None:
    first, second = calls(
        turn(), dispatch("a", LS), dispatch("a", PWD), result("a", "1\n"), result("a", "1\n2\n")
    )
    assert (first.face, first.lines, second.face, second.lines) == ("ls", 1, "pwd", 2)


def test_fault_11_one_after_the_other_they_are_two_calls_as_well() -> None:
    first, second = calls(
        turn(), dispatch("a", LS), result("a", "1\n"), dispatch("a", LS), result("a", "1\n2\n")
    )
    assert (first.lines, second.lines) == (1, 2)


def test_progress_goes_to_the_oldest_open_call() -> None:
    first, second = calls(
        dispatch("a", LS), dispatch("a", PWD), progress("a", "x"), result("a"), progress("a", "y")
    )
    assert (len(first.progress), first.state) == (0, DONE)
    assert (list(second.progress), second.state) == ([Place(4, 1, 5)], OPEN)


def test_without_an_open_call_a_result_updates_the_last_one_of_its_turn() -> None:
    (card,) = calls(turn(), dispatch("a"), result("a", "1\n"), result("a", "1\n2\n", err="late"))
    assert (card.lines, card.state, card.err) == (2, FAILED, "late")


def test_in_another_turn_it_is_a_call_whose_dispatch_is_not_recorded() -> None:
    first, orphan = calls(turn(), dispatch("a"), result("a"), turn(), result("a", err="no"))
    assert (first.state, first.note) == (DONE, "")
    assert (orphan.state, orphan.note) == (FAILED, "its dispatch is not recorded")
    assert orphan.turn == 2


@pytest.mark.parametrize("record", [result("a", args=LS, name="bash"), progress("a", "x")])
def test_what_has_no_dispatch_at_all_is_shown_and_marked(record: Record) -> None:
    (card,) = calls(record)
    assert card.note == "its dispatch is not recorded"
    if record.kind == "tool_result":
        assert (card.name, card.face, card.dispatch) == ("bash", "ls", Place(0, 1, 1))


def test_an_empty_result_leaves_the_output_that_was_streamed() -> None:
    (card,) = calls(dispatch("a"), progress("a", "x"), progress("a", "y"), result("a", ""))
    assert (card.state, tuple(card.progress)) == (DONE, (Place(1, 1, 2), Place(2, 1, 3)))
    (card,) = calls(dispatch("a"), progress("a", "x"), result("a", "whole"))
    assert (card.progress, card.result, card.lines) == ((), Place(2, 1, 3), 1)


def test_an_empty_result_leaves_the_output_of_an_earlier_one() -> None:
    (card,) = calls(dispatch("a"), result("a", "1\n2\n", duration_ms=5), result("a", ""))
    assert (card.result, card.lines) == (Place(1, 1, 2), 2)


def test_progress_after_the_whole_output_shows_nothing_new() -> None:
    transcript = folded(dispatch("a"), result("a", "whole"))
    assert transcript.apply(progress("a", "late")) == ()


# turns


def test_a_new_turn_interrupts_what_the_agent_itself_was_waiting_for() -> None:
    records = [
        turn(), dispatch("a", LS), dispatch("b", BACKGROUND), dispatch("t", name="task"),
        dispatch("t/x"), dispatch("y", parent="t"), dispatch("z", parent="gone"),
    ]  # fmt: skip
    before = {card.call: card.state for card in calls(*records)}
    assert set(before.values()) == {OPEN}
    for end in (turn(), done()):
        after = {card.call: card.state for card in calls(*records, end)}
        assert {call for call, state in after.items() if state == INTERRUPTED} == {"a", "t"}
        assert {call for call, state in after.items() if state == OPEN} == {"b", "t/x", "y", "z"}


def test_a_late_result_revives_an_interrupted_call_in_any_later_turn() -> None:
    (card,) = calls(turn(), dispatch("a", at=1), turn(), turn(), result("a", "x", at=9))
    assert (card.state, card.turn, card.duration_ms, card.lines) == (DONE, 1, 8, 1)
    transcript = folded(turn(), dispatch("a"), turn(), result("a", err="no"))
    assert [one.errors for one in transcript.turns] == [0, 1, 0]


def test_late_progress_is_shown_and_leaves_a_call_interrupted() -> None:
    (card,) = calls(turn(), dispatch("a"), turn(), progress("a", "x"))
    assert (card.state, len(card.progress)) == (INTERRUPTED, 1)


def test_an_interrupted_call_does_not_take_the_result_of_a_new_one_with_its_id() -> None:
    old, new = calls(turn(), dispatch("a", LS), turn(), dispatch("a", LS), result("a"))
    assert (old.state, new.state) == (INTERRUPTED, DONE)


def test_a_call_in_the_background_may_end_in_a_later_turn() -> None:
    (card,) = calls(turn(), dispatch("b", BACKGROUND, at=1), turn(), result("b", at=5))
    assert (card.state, card.turn, card.background) == (DONE, 1, True)


def test_unfinished_cards_are_those_that_wait_for_something() -> None:
    transcript = folded(turn(), dispatch("a"), dispatch("b"), result("a"), text("x"))
    assert [card.id for card in transcript.unfinished()] == ["c3", "c4"]
    for record in (result("b"), message("x")):
        transcript.apply(record)
    assert transcript.unfinished() == []


def test_the_time_in_tools_is_that_of_the_calls_the_agent_waits_for() -> None:
    def time(*records: Record) -> int:
        return folded(turn(), *records).turns[1].tool_ms

    first = (dispatch("a", at=1), result("a", duration_ms=100))
    assert time(*first) == 100
    assert time(*first, result("a", duration_ms=30)) == 30
    assert time(dispatch("b", BACKGROUND), result("b", duration_ms=100)) == 0
    assert time(dispatch("a/x"), result("a/x", duration_ms=100)) == 0
    assert time(dispatch("a"), result("a", duration_ms=100, parent_id="p")) == 0
    assert time(result("a", duration_ms=100), dispatch("a", parent="p")) == 0
    assert time(result("a", at=150), dispatch("a", at=100)) == 50


def test_counts_over_the_whole_transcript() -> None:
    transcript = Transcript()
    for record in (turn(), dispatch("a"), dispatch("a/p1/x"), result("a/p1/x", err="no")):
        transcript.apply(record)
    assert (transcript.calls.count, transcript.calls.errors) == (2, 1)
    transcript.apply(result("a/p1/x", "fine"))
    assert (transcript.calls.count, transcript.calls.errors) == (2, 0)

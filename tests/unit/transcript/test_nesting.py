from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from presentview.records import Profile, Record
from presentview.transcript.cards import DONE, INTERRUPTED, RUNNING, Change, ToolCard
from presentview.transcript.fold import Transcript
from tests.unit.transcript.story import (
    dispatch,
    folded,
    notice,
    outline,
    progress,
    result,
    tools,
    turn,
)


def nested(*records: Record) -> list[Any]:
    return outline(folded(*records).cards)


def call(transcript: Transcript, name: str) -> ToolCard:
    return next(card for card in tools(transcript) if card.call == name)


# parents


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([dispatch("a"), dispatch("b", parent="a")], ["a", ["b"]]),
        ([dispatch("a"), dispatch("a/b")], ["a", ["a/b"]]),
        ([dispatch("a"), dispatch("a/b"), dispatch("a/b/c")], ["a", ["a/b", ["a/b/c"]]]),
        ([dispatch("a"), dispatch("a/b/c")], ["a", ["a/b/c"]]),
        ([dispatch("a"), dispatch("b"), dispatch("a/x", parent="b")], ["a", ["a/x"], "b"]),
        ([dispatch("b"), dispatch("gone/x", parent="b")], ["b", ["gone/x"]]),
        ([dispatch("a/b"), dispatch("a"), dispatch("a/b/c")], ["a", ["a/b", ["a/b/c"]]]),
        ([dispatch("a"), result("a"), dispatch("a/b")], ["a", ["a/b"]]),
        ([dispatch("a"), result("a/b")], ["a", ["a/b"]]),
        ([dispatch("a"), progress("a/b", "x")], ["a", ["a/b"]]),
        ([dispatch("/"), dispatch("a//b"), dispatch("a/")], ["/", "a/", ["a//b"]]),
        ([dispatch("a"), dispatch("a"), dispatch("b", parent="a")], ["a", ["b"]]),
    ],
)
def test_a_call_is_nested_in_the_longest_known_part_of_its_id_else_in_its_parent(
    records: list[Record], expected: list[Any]
) -> None:
    assert nested(*records) == expected


def test_fault_13_three_levels_flattened_by_the_agent_are_nested_by_their_ids() -> None:
    transcript = folded(
        dispatch("P", name="task"),
        dispatch("P/C", name="task", parent="P"),
        dispatch("P/C/G", parent="P"),
        result("P/C/G", parent_id="P"),
        result("P/C", parent_id="P"),
        result("P"),
    )
    assert outline(transcript.cards) == ["P", ["P/C", ["P/C/G"]]]
    assert [(card.depth, card.state) for card in tools(transcript)] == [
        (0, DONE), (1, DONE), (2, DONE),
    ]  # fmt: skip


@pytest.mark.parametrize("by_id", [True, False], ids=["by id", "by parent id"])
def test_fault_13_calls_nest_to_any_depth(by_id: bool) -> None:
    transcript = Transcript()
    depth = 400
    for level in range(depth):
        if by_id:
            transcript.apply(dispatch("/".join("x" * (level + 1))))
        else:
            transcript.apply(dispatch(f"x{level}", parent=f"x{level - 1}" if level else ""))
    transcript.apply(result("/".join("x" * depth) if by_id else f"x{depth - 1}", err="no"))
    cards = tools(transcript)
    assert [card.depth for card in cards] == list(range(depth))
    assert [card.steps for card in cards] == list(range(depth - 1, -1, -1))
    assert [card.faults for card in cards] == [1] * (depth - 1) + [0]


def test_the_newest_call_of_an_id_that_is_used_again_is_the_parent() -> None:
    assert nested(
        dispatch("a", '{"n":1}'), result("a"), dispatch("a", '{"n":2}'), dispatch("a/x")
    ) == ["a", "a", ["a/x"]]  # fmt: skip


def test_a_sub_agent_may_go_on_after_its_parent_in_a_later_turn() -> None:
    transcript = folded(turn(), dispatch("a"), result("a"), turn(), dispatch("a/x"))
    assert outline(transcript.cards) == ["prompt", "a", ["a/x"], "prompt"]
    assert (call(transcript, "a/x").turn, call(transcript, "a").steps) == (2, 1)


# parents that come late, or never


@pytest.mark.parametrize("order", list(permutations(["a", "a/b", "a/b/c"])), ids="-".join)
def test_a_parent_that_appears_later_adopts_its_children(order: tuple[str, ...]) -> None:
    transcript = folded(*map(dispatch, order))
    assert outline(transcript.cards) == ["a", ["a/b", ["a/b/c"]]]
    assert [card.note for card in tools(transcript)] == ["", "", ""]
    assert [card.steps for card in tools(transcript)] == [2, 1, 0]


@pytest.mark.parametrize("order", list(permutations(["a", "b", "c"])), ids="-".join)
def test_whatever_the_order_parent_ids_give_the_same_tree(order: tuple[str, ...]) -> None:
    parents = {"a": "", "b": "a", "c": "b"}
    transcript = folded(*(dispatch(name, parent=parents[name]) for name in order))
    assert outline(transcript.cards) == ["a", ["b", ["c"]]]


def test_adopted_children_stand_in_order_of_appearance() -> None:
    assert nested(
        dispatch("a/1"), notice("n"), dispatch("x", parent="a"), dispatch("a"), dispatch("a/2"),
        dispatch("y", parent="a"),
    ) == ["notice", "a", ["a/1", "x", "a/2", "y"]]  # fmt: skip


def test_an_id_is_a_better_parent_than_the_recorded_one_even_if_it_comes_late() -> None:
    transcript = folded(dispatch("a"), dispatch("b/x", parent="a"))
    assert outline(transcript.cards) == ["a", ["b/x"]]
    changes = transcript.apply(dispatch("b"))
    assert outline(transcript.cards) == ["a", "b", ["b/x"]]
    assert changes == (
        Change("add", "c3"),
        Change("replace", "c1"),
        Change("move", "c2", "c3", None),
        Change("replace", "c2"),
    )


@pytest.mark.parametrize(
    ("record", "note"),
    [
        (dispatch("x", parent="gone"), "its parent gone is not recorded"),
        (dispatch("gone/x"), "its parent gone is not recorded"),
        (dispatch("gone/p1/x"), "its parent gone/p1 is not recorded"),
        (dispatch("x", parent="x"), "names itself as its parent"),
        (dispatch("x", parent="p" * 500), f"its parent {'p' * 79}… is not recorded"),
    ],
)
def test_a_call_whose_parent_is_not_there_stands_at_the_top_and_says_so(
    record: Record, note: str
) -> None:
    (card,) = tools(folded(record))
    assert (card.parent, card.note) == (None, note)


def test_calls_that_name_each_other_stand_at_the_top_with_the_first_marked() -> None:
    transcript = folded(
        dispatch("a", parent="c"), dispatch("b", parent="a"), dispatch("c", parent="b")
    )
    assert outline(transcript.cards) == ["a", ["b", ["c"]]]
    assert [card.note for card in tools(transcript)] == ["its parents form a circle", "", ""]


def test_a_circle_made_by_a_parent_recorded_later_is_marked() -> None:
    transcript = folded(dispatch("a"), dispatch("b", parent="a"), dispatch("a", parent="b"))
    assert outline(transcript.cards) == ["a", ["b"]]
    assert call(transcript, "a").note == "its parents form a circle"


def test_a_parent_recorded_later_moves_the_call() -> None:
    transcript = folded(dispatch("a"), dispatch("b"), dispatch("x", parent="a"))
    transcript.apply(dispatch("x", parent="b"))
    assert outline(transcript.cards) == ["a", "b", ["x"]]
    transcript.apply(result("x", parent_id="a"))
    assert outline(transcript.cards) == ["a", ["x"], "b"]


def test_a_call_that_comes_back_to_the_top_stays_in_its_turn() -> None:
    transcript = folded(
        turn(), dispatch("a"), dispatch("x", parent="a"), turn(), notice("n"),
        dispatch("x", parent="gone"),
    )  # fmt: skip
    assert outline(transcript.cards) == ["prompt", "a", "x", "prompt", "notice"]
    assert call(transcript, "x").note == "its parent gone is not recorded"


# lanes


def test_a_sub_agent_without_a_record_of_its_own_is_a_lane() -> None:
    transcript = folded(dispatch("P", name="task"), dispatch("P/p1/x"), dispatch("P/p2/x"),
                        dispatch("P/p1/y"))  # fmt: skip
    assert outline(transcript.cards) == ["P", ["P/p1", ["P/p1/x", "P/p1/y"], "P/p2", ["P/p2/x"]]]
    lane = call(transcript, "P/p1")
    assert (lane.kind, lane.name, lane.face) == ("lane", "p1", "p1")
    assert (lane.steps, call(transcript, "P").steps) == (2, 3)
    assert transcript.calls.count == 4


def test_calls_of_a_lane_wait_for_the_call_that_has_it() -> None:
    assert nested(dispatch("P/p1/x"), dispatch("P")) == ["P", ["P/p1", ["P/p1/x"]]]


@pytest.mark.parametrize("name", ["P/q1/x", "P/p/x", "P/p1x/y", "P/x1"])
def test_only_a_p_and_a_number_make_a_lane(name: str) -> None:
    assert nested(dispatch("P"), dispatch(name)) == ["P", [name]]


def test_a_lane_of_a_call_in_a_lane() -> None:
    assert nested(dispatch("P"), dispatch("P/p1/x"), dispatch("P/p1/x/p2/y")) == [
        "P", ["P/p1", ["P/p1/x", ["P/p1/x/p2", ["P/p1/x/p2/y"]]]],
    ]  # fmt: skip


def test_a_lane_has_no_lanes_of_its_own() -> None:
    transcript = folded(dispatch("P"), dispatch("P/p1/x"), dispatch("P/p1/p2/y"))
    assert outline(transcript.cards) == ["P", ["P/p1", ["P/p1/x", "P/p1/p2/y"]]]
    assert [card.status(alive=True) for card in tools(transcript)] == [RUNNING] * 4


def test_a_lane_runs_while_anything_in_it_or_around_it_does() -> None:
    transcript = folded(dispatch("P"), dispatch("P/p1/x"))
    lane = call(transcript, "P/p1")
    assert (lane.status(alive=True), lane.status(alive=False)) == (RUNNING, INTERRUPTED)
    transcript.apply(result("P/p1/x", err="no"))
    assert (lane.status(alive=True), lane.status(alive=False)) == (RUNNING, INTERRUPTED)
    assert lane in transcript.unfinished()
    changes = transcript.apply(result("P"))
    assert (lane.status(alive=True), lane.status(alive=False)) == (DONE, DONE)
    assert Change("replace", lane.id) in changes
    changes = transcript.apply(dispatch("P/p1/z"))
    assert lane.status(alive=True) == RUNNING
    assert Change("replace", lane.id) in changes


@pytest.mark.parametrize(
    "record",
    [dispatch("P/p1", '{"prompt":"go"}', "task"), result("P/p1", name="task"),
     progress("P/p1", "x")],
    ids=lambda record: record.kind,
)  # fmt: skip
def test_a_lane_whose_own_record_comes_becomes_a_call(record: Record) -> None:
    transcript = folded(turn(), dispatch("P"), dispatch("P/p1/x"), record)
    card = call(transcript, "P/p1")
    assert (card.kind, card.steps, call(transcript, "P").steps) == ("tool", 1, 2)
    assert outline(transcript.cards) == ["prompt", "P", ["P/p1", ["P/p1/x"]]]
    assert card not in transcript.calls.lanes
    assert (transcript.calls.count, transcript.turns[1].calls) == (3, 3)
    transcript.apply(result("P/p1", err="no"))
    assert (call(transcript, "P").faults, transcript.turns[1].errors) == (1, 1)


def test_a_sub_agent_tells_its_model() -> None:
    transcript = folded(dispatch("P", profile=Profile("m", "high")), dispatch("P/x"))
    assert (call(transcript, "P").model, call(transcript, "P").effort) == ("m", "high")

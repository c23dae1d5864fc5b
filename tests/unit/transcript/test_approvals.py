"""Approvals: what a call waited for, told from what it ran."""

from __future__ import annotations

import pytest

from presentview.records import Record
from presentview.transcript.cards import Approval, ToolCard
from presentview.transcript.timings import timings_of
from presentview.web.faces import face_of
from tests.unit.transcript.story import (
    answers,
    asks,
    dispatch,
    done,
    folded,
    kinds,
    result,
    tools,
    turn,
    usage,
)


def call(*records: Record) -> ToolCard:
    (card,) = tools(folded(*records))
    return card


def badges(card: ToolCard, *, alive: bool = False) -> list[str]:
    return [badge.text for badge in face_of(card, alive=alive).badges]


def test_a_call_says_how_long_it_waited_for_an_approval() -> None:
    card = call(
        dispatch("a", at=1_000),
        asks("a", at=1_500),
        answers("a", at=13_500),
        result("a", at=14_000),
    )
    assert card.approval == Approval(1_500, 13_500, 12_000, "approved")
    assert badges(card) == ["waited 12.0 s for approval"]
    assert card.duration_ms == 500, "without what it waited"


@pytest.mark.parametrize(
    ("records", "alive", "badge"),
    [
        pytest.param([asks("a", at=2_000)], True, "waits for approval", id="still waiting"),
        pytest.param([asks("a", at=2_000)], False, "approval not answered", id="never answered"),
        pytest.param(
            [asks("a", at=2_000), answers("a", "denied", at=3_000)],
            True,
            "waited 1.0 s for approval: denied",
            id="denied",
        ),
        pytest.param([answers("a", "denied", at=3_000)], True, "approval: denied", id="no request"),
        pytest.param(
            [asks("a", at=2_000), answers("a", "for ever", at=2_400)],
            True,
            "waited 400 ms for approval: for ever",
            id="in other words",
        ),
    ],
)
def test_what_a_card_says_of_an_approval(records: list[Record], alive: bool, badge: str) -> None:
    assert badges(call(dispatch("a", at=1_000), *records), alive=alive) == [badge]


def test_an_approval_without_times_that_was_given_is_not_worth_a_word() -> None:
    assert badges(call(dispatch("a"), asks("a"), answers("a"), result("a"))) == []


def test_an_approval_that_is_asked_for_twice_adds_up() -> None:
    card = call(
        dispatch("a", at=1_000),
        asks("a", at=1_000),
        answers("a", at=2_000),
        asks("a", at=5_000),
        answers("a", at=5_500),
    )
    assert card.approval == Approval(5_000, 5_500, 1_500, "approved")


def test_an_approval_of_a_call_nobody_knows_is_a_row() -> None:
    transcript = folded(
        turn("go", at=1_000), asks("x", "rm -rf build", at=2_000), answers("x", at=5_000)
    )
    row = transcript.cards[1]
    face = face_of(row, alive=True)
    assert (face.label, face.subject) == ("Approval", "rm -rf build")
    assert [badge.text for badge in face.badges] == ["approved", "waited 3.0 s"]


def test_a_row_that_nobody_answered_waits_until_its_turn_is_over() -> None:
    transcript = folded(turn("go", at=1_000), asks("x", at=2_000))
    assert face_of(transcript.cards[1], alive=True).label == "Asks for approval"
    transcript.apply(done(at=3_000))
    assert transcript.cards[1].state == "interrupted"
    transcript.apply(answers("x", at=4_000))
    assert kinds(transcript)[1:] == ["approval", "approval"]


def test_the_figures_keep_approvals_apart() -> None:
    timings = timings_of(
        folded(
            turn("go", at=1_000),
            dispatch("a", at=1_000),
            asks("a", at=1_000),
            answers("a", at=11_000),
            result("a", at=16_000, duration_ms=3_000),
            dispatch("b", at=16_000),
            result("b", at=20_000, duration_ms=1_000),
            done(at=20_000),
        )
    )
    a, b = timings.spans
    assert (a.start, a.duration, a.waited, a.approval_waited) == (13_000, 3_000, 12_000, 10_000)
    assert (b.waited, b.approval_waited) == (3_000, None)
    assert (timings.session.approval, timings.session.waited) == (10_000, 5_000)
    assert timings.tools["bash"].approval == 10_000


def test_tokens_of_a_sub_agent_are_its_calls_and_the_turns() -> None:
    transcript = folded(
        turn("go"),
        dispatch("p", name="task"),
        usage(call="p", input_tokens=700, output_tokens=20),
        usage(call="p", total_tokens=80),
        usage(input_tokens=5),
        usage(call="gone", input_tokens=1),
    )
    (card,) = tools(transcript)
    assert card.tokens == 800
    footer = transcript.turn.footer
    assert footer is not None
    assert (footer.input, footer.requests) == (706, 4)

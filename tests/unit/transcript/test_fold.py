from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.records import Attachment, FileDiff, Kind, Profile, Record, Retry, Usage
from presentview.transcript.cards import (
    ABORTED,
    BLOCKED,
    DONE,
    FAILED,
    INTERRUPTED,
    OPEN,
    RUNNING,
    Card,
    Change,
    Place,
    ToolCard,
    UsageCard,
)
from presentview.transcript.fold import Transcript
from presentview.transcript.summary import Tally
from tests.strategies import session_records, sessions
from tests.unit.transcript.story import (
    Page,
    collab,
    compaction_done,
    compaction_started,
    dispatch,
    done,
    folded,
    kinds,
    message,
    notice,
    progress,
    reasoning,
    result,
    retrying,
    shown,
    text,
    tools,
    turn,
    usage,
)

SESSIONS = sessions()
LS = '{"command":"ls"}'


def only(*records: Record) -> Card:
    (card,) = folded(*records).walk()
    return card


def states(transcript: Transcript) -> list[tuple[str, str | None]]:
    return [(card.kind, card.state) for card in transcript.walk()]


def at(number: int) -> Place:
    """Where the record of this number lies in a folded transcript."""
    return Place(number, 1, number + 1)


# a card for everything a person saw

CARDS = {
    "a prompt": (turn("fix it\nplease"), "prompt", "fix it"),
    "a turn without its prompt": (turn(), "prompt", ""),
    "a message": (message("hello"), "message", ""),
    "text": (text("hel"), "message", ""),
    "reasoning": (reasoning("hm\nwell"), "reasoning", "hm"),
    "a call": (dispatch("a", LS), "tool", "ls"),
    "a result": (result("a"), "tool", ""),
    "progress": (progress("a", "x"), "tool", ""),
    "a notice": (notice("look\nhere"), "notice", "look"),
    "a phase": (Record(Kind.PHASE, "planning"), "phase", "planning"),
    "a blank phase": (Record(Kind.PHASE, "  "), "phase", ""),
    "a steer": (Record(Kind.STEER, "also tests"), "steer", "also tests"),
    "a pause": (Record(Kind.PAUSED), "paused", ""),
    "a resume": (Record(Kind.RESUMED), "resumed", ""),
    "a retry": (retrying(1, 3), "retry", "attempt 1 of 3"),
    "a retry of nobody knows how many": (retrying(2), "retry", "attempt 2"),
    "a retry without its numbers": (Record(Kind.RETRYING), "retry", ""),
    "a compaction begun": (compaction_started(), "compaction", "auto"),
    "a compaction done": (compaction_done("sum", 4), "compaction", "auto"),
    "tokens": (usage(input_tokens=1), "usage", ""),
    "a failed turn": (done("boom\nbang"), "turn_error", "boom"),
    "a turn that failed without a word": (Record(Kind.TURN_DONE, level="error"), "turn_error",
                                          "error"),
    "a collab": (collab({"TeamName": "t", "Mode": "debate"}), "collab", "t · debate"),
    "an unknown kind": (Record("future_kind", "x"), "unknown", "future_kind"),
    "no kind": (Record(""), "unknown", ""),
}  # fmt: skip


@pytest.mark.parametrize(("record", "kind", "face"), CARDS.values(), ids=CARDS.keys())
def test_each_record_that_shows_something_has_a_card(record: Record, kind: str, face: str) -> None:
    card = only(record)
    assert (card.id, card.kind, card.face, card.turn) == ("c1", kind, face, card.turn)
    assert card.depth == 0
    assert card.parent is None


@pytest.mark.parametrize(
    "record",
    [
        done(),
        Record(Kind.TEXT),
        Record(Kind.REASONING),
        Record(Kind.MESSAGE),
        Record(Kind.USAGE),
        Record(Kind.USAGE, usage=Usage()),
        progress("a", ""),
    ],
    ids=lambda record: record.kind,
)
def test_a_record_that_says_nothing_has_no_card(record: Record) -> None:
    transcript = Transcript()
    assert transcript.apply(record) == ()
    assert list(transcript.walk()) == []


def test_cards_are_numbered_in_order_of_appearance_and_found_by_their_ids() -> None:
    transcript = folded(turn(), reasoning("r"), message("m"), dispatch("a"), notice("n"))
    assert [card.id for card in transcript.walk()] == ["c1", "c2", "c3", "c4", "c5"]
    assert [transcript.card(f"c{n}") for n in range(1, 6)] == list(transcript.walk())
    for wrong in ("c0", "c6", "c-1", "c", "", "x1", "c1 ", "c01", "c١", "c" + "9" * 5000):
        assert transcript.card(wrong) is None


def test_turns_and_cards_go_on_from_what_was_dropped() -> None:
    transcript = Transcript(turns_dropped=7, cards_dropped=41)
    transcript.apply(notice("before"))
    changes = transcript.apply(turn("next"))
    assert changes == (Change("add", "c43"),)
    assert [(card.id, card.turn) for card in transcript.walk()] == [("c42", 7), ("c43", 8)]
    assert [t.number for t in transcript.turns] == [7, 8]
    assert transcript.turn_of(transcript.cards[1]).prompt is transcript.cards[1]
    assert transcript.card("c42") is transcript.cards[0]
    assert transcript.card("c1") is None


def test_a_card_without_a_place_keeps_its_record() -> None:
    transcript = Transcript()
    record = notice("n")
    transcript.apply(record)
    assert transcript.cards[0].parts == (record,)


# the answer


def test_a_message_takes_the_place_of_what_was_streamed_of_it() -> None:
    transcript = folded(
        reasoning("h", 1_000), reasoning("m", 2_000), text("he", 3_000), text("y"),
        message("hey", "hm", 4_000),
    )  # fmt: skip
    thought, answer = transcript.walk()
    assert (thought.kind, thought.state, thought.face) == ("reasoning", DONE, "hm")
    assert (thought.parts, thought.at, thought.ended_at) == ((at(4),), 1_000, 3_000)
    assert (answer.kind, answer.state, answer.at) == ("message", DONE, 3_000)
    assert (answer.parts, answer.ended_at) == ((at(4),), 4_000)


def test_what_is_streamed_is_shown_piece_by_piece() -> None:
    transcript = folded(text("a"), reasoning("x"), text("b"), reasoning("y"))
    answer, thought = transcript.walk()
    assert [list(card.parts) for card in (answer, thought)] == [[at(0), at(2)], [at(1), at(3)]]
    assert (answer.state, thought.state) == (OPEN, DONE)


def test_an_empty_message_leaves_the_text_that_was_streamed() -> None:
    thought, answer = folded(reasoning("r"), text("a"), text("b"), message()).walk()
    assert (thought.state, tuple(thought.parts)) == (DONE, (at(0),))
    assert (answer.state, tuple(answer.parts)) == (DONE, (at(1), at(2)))


def test_a_message_without_deltas_has_its_reasoning_in_front() -> None:
    assert kinds(folded(message("m", "r"))) == ["reasoning", "message"]
    assert kinds(folded(text("m"), message("m", "r"))) == ["reasoning", "message"]


def test_each_message_begins_a_new_card() -> None:
    transcript = folded(text("a"), message("a"), text("b"), message("b"))
    assert [card.parts for card in transcript.walk()] == [(at(1),), (at(3),)]


@pytest.mark.parametrize(
    "cut", [retrying(1), turn(), done("boom"), done("interrupted")], ids=lambda r: r.kind
)
def test_a_partial_answer_that_is_cut_off_stays_and_the_next_begins_anew(cut: Record) -> None:
    transcript = folded(text("par"), reasoning("h"), cut, text("x"), message("whole"))
    answer, thought, _, whole = transcript.walk()
    assert (answer.kind, answer.state, answer.parts) == ("message", INTERRUPTED, (at(0),))
    assert (thought.kind, thought.state) == ("reasoning", INTERRUPTED)
    assert (whole.kind, whole.state, whole.parts) == ("message", DONE, (at(4),))


def test_the_end_of_a_turn_ends_an_answer_without_a_message() -> None:
    assert states(folded(text("a"), done())) == [("message", DONE)]


def test_while_an_answer_is_streamed_it_runs_or_was_interrupted() -> None:
    card = only(text("a"))
    assert (card.status(alive=True), card.status(alive=False)) == (RUNNING, INTERRUPTED)


# notices, retries, compactions, collabs


def test_equal_notices_in_a_row_are_one_card_that_counts_them() -> None:
    transcript = folded(notice("a", at=1), notice("a", at=2), notice("a", at=3))
    (card,) = transcript.walk()
    assert (card.count, card.at, card.ended_at) == (3, 1, 3)


@pytest.mark.parametrize(
    "between",
    [notice("b"), notice("a", "warn"), turn(), dispatch("x"), message("m"), retrying(1)],
    ids=lambda record: record.kind,
)
def test_notices_with_something_between_them_stay_apart(between: Record) -> None:
    transcript = folded(notice("a"), between, notice("a"))
    assert [card.count for card in transcript.walk()] == [1, 1, 1]


def test_what_changes_an_earlier_card_does_not_part_notices() -> None:
    transcript = folded(
        dispatch("x"), notice("a"), result("x"), usage(input_tokens=1), notice("a"), notice("a")
    )
    assert [(card.kind, card.count) for card in transcript.walk()] == [
        ("tool", 1), ("notice", 3), ("usage", 1),
    ]  # fmt: skip


def test_a_card_that_comes_to_the_top_later_does_not_take_a_notices_count() -> None:
    transcript = folded(
        turn(), usage(input_tokens=1), dispatch("P"), notice("n"), dispatch("x", parent="P"),
        dispatch("x", parent="gone"), notice("n"),
    )  # fmt: skip
    counts = {card.kind: card.count for card in transcript.walk() if card.kind != "notice"}
    assert set(counts.values()) == {1}
    assert sum(card.count for card in transcript.walk() if card.kind == "notice") == 2


COMPACTIONS: dict[str, tuple[list[Record], str]] = {
    "running": ([compaction_started()], OPEN),
    "done": ([compaction_started(), compaction_done("sum", 4)], DONE),
    "done without its start": ([compaction_done("sum", 4)], DONE),
    "aborted": ([compaction_started(), compaction_done()], ABORTED),
    "aborted without a word": ([compaction_started(), Record(Kind.COMPACTION_DONE)], ABORTED),
    "interrupted by a turn": ([compaction_started(), turn()], INTERRUPTED),
    "interrupted by a death": ([compaction_started(), done("interrupted")], INTERRUPTED),
    "done after its turn": ([compaction_started(), done(), compaction_done("s")], DONE),
    "done late": ([compaction_started(), turn(), compaction_done("s")], DONE),
}


@pytest.mark.parametrize(("records", "state"), COMPACTIONS.values(), ids=COMPACTIONS.keys())
def test_fault_12_a_compaction_is_done_aborted_or_interrupted_in_its_one_card(
    records: list[Record], state: str
) -> None:
    cards = [card for card in folded(turn(), *records).walk() if card.kind == "compaction"]
    assert [card.state for card in cards] == [state]
    running = (RUNNING, INTERRUPTED) if state == OPEN else (state, state)
    assert (cards[0].status(alive=True), cards[0].status(alive=False)) == running


def test_a_compaction_tells_how_many_messages_went_and_how_long_it_took() -> None:
    card = only(compaction_started(at=1_000), compaction_done("sum", 41, at=3_500))
    assert (card.count, card.duration_ms, card.parts) == (41, 2_500, (at(1),))
    transcript = folded(turn(), compaction_started(), compaction_done("s"), compaction_done())
    assert transcript.turns[1].compactions == 1


def test_fault_14_a_collab_is_shown_in_either_spelling() -> None:
    pascal = {
        "RunID": "", "TeamID": "id", "TeamName": "架构", "Task": "shard?", "Mode": "debate",
        "Rounds": [[{"ExpertName": "DBA", "Text": "Yes."}], None], "Synthesis": "s",
        "CreatedAt": 5,
    }  # fmt: skip
    camel = {key[0].lower() + key[1:]: value for key, value in pascal.items()}
    for value in (pascal, camel, json.dumps(camel).encode()):
        card = only(collab(value))
        assert (card.kind, card.face, card.count) == ("collab", "架构 · debate · shard?", 2)


def test_a_collab_recorded_again_as_it_grows_is_one_card() -> None:
    transcript = folded(
        collab({"RunID": "r", "Rounds": [[]]}), notice("n"),
        collab({"runId": "r", "rounds": [[], []]}), collab({"RunID": "s"}), collab({"RunID": ""}),
        collab({"RunID": ""}),
    )  # fmt: skip
    assert kinds(transcript) == ["collab", "notice", "collab", "collab", "collab"]
    assert (transcript.cards[0].count, transcript.cards[0].parts) == (2, (at(2),))


@pytest.mark.parametrize(
    "value",
    [None, b"null", b"\xff", b"[" * 2000, 5, "x", [], {}, {"RunID": 5, "Rounds": 7}, {5: {}},
     {"rounds": {"a": 1}}, object(), b"1" * 5000],
    ids=lambda value: ascii(value)[:20],
)  # fmt: skip
def test_a_collab_of_any_shape_has_a_card(value: Any) -> None:
    assert only(collab(value)).kind == "collab"


# what a result means

ENDINGS: list[tuple[str, str, str]] = [
    ("", "", DONE),
    ("fine\n", "", DONE),
    ("not an error: really", "", DONE),
    ("", "exit status 1", FAILED),
    ("fine\n", "exit status 1", FAILED),
    ("error: no such file", "", FAILED),
    ("error: exit status 1\n", "exit status 1", FAILED),
    ("Error: other programs say it so", "", DONE),
    ("blocked: not allowed", "", BLOCKED),
    ("", "blocked: not allowed", BLOCKED),
    ("blocked: not allowed", "not allowed", BLOCKED),
]


@pytest.mark.parametrize(("output", "err", "state"), ENDINGS)
def test_fault_10_a_failed_call_is_failed_and_a_blocked_one_blocked(
    output: str, err: str, state: str
) -> None:
    card = only(dispatch("a"), result("a", output, err))
    for alive in (True, False):
        assert card.status(alive=alive) == state
    assert isinstance(card, ToolCard)
    assert card.failed == (state in (FAILED, BLOCKED))
    assert card.err == err


@pytest.mark.parametrize(
    "rest", [[], [progress("a", "some")], [dispatch("a", LS)]], ids=["", "progress", "arguments"]
)
def test_fault_10_a_call_cut_off_is_interrupted_once_its_writer_is_dead(
    rest: list[Record],
) -> None:
    card = only(dispatch("a"), *rest)
    assert (card.status(alive=True), card.status(alive=False)) == (RUNNING, INTERRUPTED)


@pytest.mark.parametrize("end", [turn(), done(), done("boom"), done("interrupted")])
def test_fault_10_a_call_without_a_result_is_interrupted_at_the_end_of_its_turn(
    end: Record,
) -> None:
    transcript = folded(turn(), dispatch("a"), end)
    assert tools(transcript)[0].status(alive=True) == INTERRUPTED


def test_lines_of_output_are_counted() -> None:
    outputs = {"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n": 1, "a\n\n": 2}
    for output, lines in outputs.items():
        card = only(dispatch("a"), result("a", output))
        assert isinstance(card, ToolCard)
        assert card.lines == lines


@pytest.mark.parametrize(
    ("records", "duration"),
    [
        ([dispatch("a"), result("a")], None),
        ([dispatch("a"), result("a", duration_ms=41)], 41),
        ([dispatch("a"), result("a", duration_ms=-5)], None),
        ([dispatch("a", at=1_000), result("a", at=1_250)], 250),
        ([dispatch("a", at=1_000), result("a", at=9_000, duration_ms=41)], 41),
        ([dispatch("a", at=1_000), result("a", at=900)], None),
        ([dispatch("a", at=1_000), result("a")], None),
        ([dispatch("a"), result("a", at=1_000)], None),
        ([result("a", at=1_000)], None),
        ([result("a", at=1_000, args=LS)], None),
        ([progress("a", "x", at=1_000), result("a", at=2_000)], None),
        ([dispatch("a", at=1_000), dispatch("a", LS, at=1_100), result("a", at=1_250)], 250),
    ],
)
def test_fault_17_a_duration_is_recorded_or_computed_and_else_unknown(
    records: list[Record], duration: int | None
) -> None:
    assert only(*records).duration_ms == duration


# turns


def test_fault_9_everything_stays_where_it_happened() -> None:
    transcript = folded(
        turn("one"), Record(Kind.PHASE, "plan"), dispatch("a"), notice("n"), result("a"),
        compaction_started(), compaction_done("s"), usage(input_tokens=1), done(),
        turn("two"), notice("m"), message("bye"), usage(input_tokens=1), notice("o"),
    )  # fmt: skip
    assert [(card.kind, card.turn) for card in transcript.cards] == [
        ("prompt", 1), ("phase", 1), ("tool", 1), ("notice", 1), ("compaction", 1), ("usage", 1),
        ("prompt", 2), ("notice", 2), ("message", 2), ("notice", 2), ("usage", 2),
    ]  # fmt: skip


def test_fault_15_steers_pauses_retries_tokens_and_errors_come_back() -> None:
    transcript = folded(
        turn("p"), Record(Kind.STEER, "s"), Record(Kind.PAUSED), Record(Kind.RESUMED),
        retrying(1), usage(input_tokens=1), done("boom"),
    )  # fmt: skip
    assert kinds(transcript) == [
        "prompt", "steer", "paused", "resumed", "retry", "turn_error", "usage",
    ]  # fmt: skip


def test_tokens_of_a_turn_are_added_up_in_its_footer() -> None:
    transcript = folded(
        turn(), usage(input_tokens=10, output_tokens=1), usage(total_tokens=5, cache_read=3),
        usage(), turn(), usage(input_tokens=7),
    )  # fmt: skip
    first, second = (card for card in transcript.walk() if isinstance(card, UsageCard))
    assert (first.input, first.output, first.total, first.cached) == (10, 1, 5, 3)
    assert (first.requests, second.requests, second.input) == (2, 1, 7)
    assert transcript.turns[1].footer is first


def test_a_turn_knows_how_it_ended() -> None:
    transcript = folded(turn("a", 1_000), done(at=4_000), turn("b", 5_000), done("boom"), turn())
    before, first, second, third = transcript.turns
    assert (before.number, before.prompt) == (0, None)
    assert (first.ended, first.error, first.duration_ms) == (True, "", 3_000)
    assert (second.ended, second.error, second.duration_ms) == (True, "boom", None)
    assert (third.ended, third.ended_at) == (False, 0)
    assert [(c.kind, c.state) for c in transcript.walk() if c.kind == "turn_error"] == [
        ("turn_error", FAILED)
    ]


def test_a_turn_of_a_dead_process_is_interrupted_with_all_that_was_open() -> None:
    transcript = folded(
        turn(), dispatch("a"), dispatch("a/x"), dispatch("b", '{"background":true}'),
        compaction_started(), text("par"), done("interrupted"),
    )  # fmt: skip
    assert {card.status(alive=True) for card in transcript.walk()} == {None, INTERRUPTED}
    assert transcript.cards[-1].kind == "turn_error"
    assert not transcript.unfinished()


def test_a_transcript_has_the_first_prompt_as_title_and_the_times_of_its_ends() -> None:
    transcript = folded(notice("n"), turn("", 1_000), turn("\n fix\nit", 2_000), turn("b", 1_500))
    assert (transcript.title, transcript.first_at, transcript.last_at) == ("fix", 1_000, 1_500)
    long = folded(turn("x" * 500))
    assert long.title == "x" * 79 + "…"
    assert long.cards[0].face == "x" * 159 + "…"


@pytest.mark.parametrize(
    ("records", "unfinished"),
    [
        ([], False),
        ([notice("n", at=1)], False),
        ([turn("p", 1), message("m", at=2)], True),
        ([turn("p", 1), done(at=2)], False),
        ([turn("p", 1), done("boom", 2)], False),
        ([turn("p"), message("m")], False),
        ([turn("p"), dispatch("a")], True),
        ([turn("p"), text("a")], True),
        ([turn("p"), dispatch("a"), result("a"), message("m")], False),
        ([turn("p"), done(), turn("q"), message("m")], True),
    ],
)
def test_a_transcript_is_unfinished_if_its_last_turn_has_no_end(
    records: list[Record], unfinished: bool
) -> None:
    assert folded(*records).is_unfinished is unfinished


def test_counts_of_a_turn_cover_its_sub_agents() -> None:
    transcript = folded(
        turn(),
        dispatch("a", name="task"),
        dispatch("a/x", diff=FileDiff("+a\n", 1, 0)),
        result("a/x", err="no", duration_ms=900),
        dispatch("b", diff=FileDiff("+a\n-b\n", 3, 2)),
        result("b", duration_ms=100),
        result("a", duration_ms=1_000),
    )
    ended = transcript.turns[1]
    assert (ended.calls, ended.errors, ended.added, ended.removed) == (3, 1, 4, 2)
    assert ended.tool_ms == 1_100


# the promise: changes told one by one give the same cards


def assert_page_follows(records: list[Record]) -> None:
    """Check after each record that a page which only takes the changes shows every card as it
    is.
    """
    transcript, page = Transcript(), Page()
    for number, record in enumerate(records):
        page.take(transcript.apply(record, at(number)), transcript)
        assert list(page.walk()) == [
            (card.id, card.parent.id if card.parent else None) for card in transcript.walk()
        ]
        assert page.drawn == {card.id: shown(card, transcript) for card in transcript.walk()}


@given(SESSIONS)
def test_the_changes_move_a_page_to_exactly_the_cards_there_are(records: list[Record]) -> None:
    assert_page_follows(records)


STORIES: dict[str, list[Record]] = {
    "streaming": [turn(), *map(reasoning, "abc"), *map(text, "abc"), message("abc", "abc")],
    "streaming, cut off": [turn(), *map(text, "abc"), reasoning("r"), retrying(1), done("boom")],
    "footers": [turn("p", 1_000), usage(input_tokens=1), dispatch("a"), usage(total_tokens=1),
                done(at=9_000), result("a", duration_ms=5), notice("n"), turn("q")],
    "compactions": [turn(), *(record for records, _ in COMPACTIONS.values() for record in records)],
    "collabs": [collab({"RunID": "r"}), notice("n"), collab({"RunID": "r", "Task": "t"})],
    "notices": [notice("n"), usage(input_tokens=1), notice("n"), notice("n", "warn")],
    "lanes": [dispatch("P"), dispatch("P/p1/x"), dispatch("P/p2/x"), result("P/p1/x", err="e"),
              result("P"), dispatch("P/p1/y"), result("P/p1"), result("P/p2/x")],
    "late parents": [dispatch("a/b/c"), notice("n"), dispatch("a"), result("a/b/c", err="e"),
                     dispatch("a/b"), dispatch("a/b/c", parent="a"), result("a")],
    "a late parent of the longest": [
        turn(at=1), dispatch("p/a", at=10), result("p/a", "x", at=900), dispatch("b", at=901),
        result("b", "x", at=1_000), usage(input_tokens=1), done(at=1_001), turn(at=2_000),
        dispatch("p", at=2_001)],
    "a death": [turn(), dispatch("a"), dispatch("a/x"), compaction_started(), text("t"),
                done("interrupted")],
    "late results": [turn(), dispatch("a"), turn(), progress("a", "x"), result("a", err="e"),
                     result("a", "fine"), result("b"), dispatch("b", LS)],
}  # fmt: skip


@pytest.mark.parametrize("records", STORIES.values(), ids=STORIES.keys())
def test_the_changes_of_a_story_move_a_page_to_exactly_its_cards(records: list[Record]) -> None:
    assert_page_follows(records)


@given(SESSIONS)
def test_feeding_and_applying_give_the_same_cards(records: list[Record]) -> None:
    applied, fed = folded(*records), Transcript()
    for number, record in enumerate(records):
        place = at(number)
        fed.feed(record, place.offset, place.length, place.line)
    for one, other in zip(applied.walk(), fed.walk(), strict=True):
        assert one.id == other.id
        assert (one.parent and one.parent.id) == (other.parent and other.parent.id)
        assert shown(one, applied) == shown(other, fed)
    assert applied.title == fed.title
    assert applied.is_unfinished == fed.is_unfinished
    assert [card.id for card in applied.unfinished()] == [card.id for card in fed.unfinished()]


@given(SESSIONS, st.integers(0, 30))
def test_what_was_shown_of_the_first_records_never_depends_on_later_ones(
    records: list[Record], count: int
) -> None:
    growing = Transcript()
    for number, record in enumerate(records[:count]):
        growing.apply(record, at(number))
    early = [shown(card, growing) for card in growing.walk()]
    ids = [card.id for card in growing.walk()]
    for number, record in enumerate(records[count:], count):
        growing.apply(record, at(number))
    alone = folded(*records[:count])
    assert [shown(card, alone) for card in alone.walk()] == early
    assert set(ids) <= {card.id for card in growing.walk()}


@given(SESSIONS)
def test_cards_are_numbered_from_1_in_order_of_appearance(records: list[Record]) -> None:
    transcript = Transcript()
    added = [
        change.card
        for number, record in enumerate(records)
        for change in transcript.apply(record, at(number))
        if change.op == "add"
    ]
    assert added == [f"c{number}" for number in range(1, len(added) + 1)]
    assert sorted(card.number for card in transcript.walk()) == list(range(1, len(added) + 1))


@given(SESSIONS)
def test_turns_follow_each_other_and_each_ends_with_its_footer(records: list[Record]) -> None:
    transcript = folded(*records)
    numbers = [card.turn for card in transcript.cards]
    assert numbers == sorted(numbers)
    for card, following in zip(transcript.cards, transcript.cards[1:], strict=False):
        assert card.kind != "usage" or following.kind == "prompt"


@given(SESSIONS)
def test_every_count_is_what_counting_the_cards_gives(records: list[Record]) -> None:
    transcript = folded(*records)
    calls = [card for card in tools(transcript) if card.kind == "tool"]
    for card in tools(transcript):
        inside = [call for call in calls if card in call.ancestors()]
        assert card.steps == len(inside)
        assert card.faults == sum(call.failed for call in inside)
    for one in transcript.turns:
        mine = [call for call in calls if call.turn == one.number]
        assert one.calls == len(mine)
        assert one.errors == sum(call.failed for call in mine)
        assert one.added == sum(call.added for call in mine)
        assert one.removed == sum(call.removed for call in mine)
        main = [call for call in mine if call.in_main_lane and call.result is not None]
        assert one.tool_ms == sum(call.duration_ms or 0 for call in main)
        assert one.compactions == sum(
            card.kind == "compaction" and card.state == DONE and card.turn == one.number
            for card in transcript.walk()
        )


@given(SESSIONS)
def test_whether_the_writer_lives_changes_unfinished_cards_only(records: list[Record]) -> None:
    transcript = folded(*records)
    unfinished = {card.id for card in transcript.unfinished()}
    for card in transcript.walk():
        living, dead = card.status(alive=True), card.status(alive=False)
        assert (living, dead) == (RUNNING, INTERRUPTED) or living == dead != RUNNING
        assert living == dead or card.id in unfinished


@given(session_records())
def test_one_record_adds_its_cards_at_the_end(record: Record) -> None:
    transcript = folded(turn(), dispatch("zz"))
    before = [card.id for card in transcript.walk()]
    transcript.apply(record)
    assert [card.id for card in transcript.walk()][: len(before)] == before


# changes, exactly


def test_each_change_names_the_place_of_its_card() -> None:
    transcript = Transcript()
    told = [
        transcript.apply(record)
        for record in (
            turn("p"),
            usage(input_tokens=1),
            dispatch("b", parent="a"),
            text("x"),
            message("x", "why"),
            dispatch("a"),
            result("b"),
            notice("n"),
            notice("n"),
        )
    ]
    assert told == [
        (Change("add", "c1"),),
        (Change("add", "c2"),),
        (Change("add", "c3", None, "c2"),),
        (Change("add", "c4", None, "c2"),),
        (Change("add", "c5", None, "c4"), Change("replace", "c4")),
        (
            Change("add", "c6", None, "c2"),
            Change("move", "c3", "c6", None),
            Change("replace", "c3"),
        ),
        (Change("replace", "c3"), Change("replace", "c6")),
        (Change("add", "c7", None, "c2"),),
        (Change("replace", "c7"),),
    ]


def test_a_late_result_changes_the_footer_that_adds_up_the_time_in_tools() -> None:
    transcript = folded(turn(at=1_000), dispatch("a"), usage(input_tokens=1), done(at=2_000))
    changes = transcript.apply(result("a", duration_ms=700))
    assert transcript.turns[1].tool_ms == 700
    assert Change("replace", "c3") in changes


# what a call is told to be


def test_a_parent_that_comes_late_may_adopt_the_longest_call_of_a_turn() -> None:
    transcript = folded(*STORIES["a late parent of the longest"][:-1])
    assert transcript.longest_in(transcript.turns[1]) is transcript.card("c2")
    tally = Tally(transcript)
    tally.take(transcript.apply(STORIES["a late parent of the longest"][-1]))
    assert transcript.longest_in(transcript.turns[1]) is tally.slowest is transcript.card("c3")


def test_a_call_takes_over_all_that_is_told_of_it() -> None:
    transcript = folded(
        dispatch("a", name=""),
        dispatch("a", '{"path":"x.py"}', "edit_file", read_only=True, profile=Profile("m", "hi"),
                 diff=FileDiff("+a\n-b\n", 1, 1)),
        result("a", truncated=True, attachments=(Attachment("f", "image"),), err="why\nso"),
    )  # fmt: skip
    (card,) = tools(transcript)
    assert (card.name, card.tool_face, card.face) == ("edit_file", "edit", "x.py")
    assert (card.read_only, card.model, card.effort) == (True, "m", "hi")
    assert (card.added, card.removed, card.diff_lines, card.diff) == (1, 1, 2, at(1))
    assert (card.dispatch, card.result, card.attachments) == (at(1), at(2), 1)
    assert (card.truncated, card.err, card.state) == (True, "why", FAILED)


def test_an_edit_by_a_tool_nobody_knows_is_shown_as_an_edit() -> None:
    card = only(dispatch("a", name="frobnicate", diff=FileDiff("x", 1, 0)))
    assert isinstance(card, ToolCard)
    assert card.tool_face == "edit"


@pytest.mark.parametrize(
    ("name", "args", "face", "subject"),
    [
        ("bash", LS, "shell", "ls"),
        ("Bash", '{"command":"\\n make\\n test"}', "shell", "make"),
        ("shell", '{"command":["git","log"]}', "shell", "git log"),
        ("read_file", '{"path":"a"}', "read", "a"),
        ("MultiEdit", '{"file_path":"a"}', "edit", "a"),
        ("grep", '{"path":"p","pattern":"x"}', "search", "x"),
        ("todo_write", '{"todos":[]}', "todo", ""),
        ("task", '{"prompt":"long","description":"short"}', "agent", "short"),
        ("web_fetch", '{"url":"http://x"}', "fetch", "http://x"),
        ("frobnicate", '{"name":"n"}', "other", "n"),
        ("bash", '{"command":', "shell", ""),
        ("bash", "[]", "shell", ""),
        ("bash", '{"command":5}', "shell", ""),
        ("bash", "\ud800", "shell", ""),
        ("bash", '{"command":"' + "x" * 500 + '"}', "shell", "x" * 199 + "…"),
        ("bash", '{"command":' + "[" * 5000 + "]" * 5000 + "}", "shell", ""),
        ("", LS, "other", "ls"),
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_the_face_of_a_call_is_read_from_its_name_and_arguments(
    name: str, args: str, face: str, subject: str
) -> None:
    card = only(dispatch("a", args, name))
    assert isinstance(card, ToolCard)
    assert (card.tool_face, card.face) == (face, subject)


def test_records_that_lack_what_their_kind_should_have_raise_nothing() -> None:
    for kind in Kind:
        folded(Record(kind), Record(kind, retry=Retry(0)), Record(kind, collab=b"null"))

"""A rewrite may drop what is covered and cut what went: the cards that stay are the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from presentview.covering import Cut, cut_before, uncovered
from presentview.droppable import Droppable
from presentview.events import Event
from presentview.recorder import Recorder
from presentview.records import (
    HEADER_KIND,
    Compaction,
    Header,
    Kind,
    Record,
    Tool,
    decode_header,
    encode,
    encode_header,
)
from presentview.sidecar import Entry, load
from presentview.transcript.cards import Card, ToolCard
from presentview.transcript.fold import Transcript
from tests.strategies import events, sessions


def text(said: str, at: int = 0) -> Record:
    return Record(Kind.TEXT, text=said, at=at)


def thought(said: str, at: int = 0) -> Record:
    return Record(Kind.REASONING, text=said, at=at)


def message(said: str, thought: str = "", at: int = 0) -> Record:
    return Record(Kind.MESSAGE, text=said, reasoning=thought, at=at)


def turn(said: str = "", at: int = 0) -> Record:
    return Record(Kind.TURN_STARTED, text=said, at=at)


def dispatch(call: str, args: str = "") -> Record:
    return Record(Kind.TOOL_DISPATCH, tool=Tool(id=call, name="bash", args=args))


def progress(call: str, output: str, at: int = 0) -> Record:
    return Record(Kind.TOOL_PROGRESS, tool=Tool(id=call, output=output), at=at)


def result(call: str, output: str = "") -> Record:
    return Record(Kind.TOOL_RESULT, tool=Tool(id=call, name="bash", output=output))


def background(call: str) -> Record:
    return dispatch(call, '{"command":"make","run_in_background":true}')


def notice(said: str) -> Record:
    return Record(Kind.NOTICE, text=said, level="info")


def collab(run: str) -> Record:
    return Record(Kind.EXPERT_COLLAB, collab={"RunID": run})


COMPACTED = Record(Kind.COMPACTION_DONE, compaction=Compaction(summary="so far", messages=3))


def folded(records: Sequence[Record], *, turns: int = 0, cards: int = 0) -> Transcript:
    transcript = Transcript(turns_dropped=turns, cards_dropped=cards)
    for record in records:
        transcript.apply(record)
    return transcript


def shown(card: Card) -> dict[str, Any]:
    """Everything a page can show of a card; records for the places they lie at."""
    about = {name: getattr(card, name) for name in card.__struct_fields__}
    about |= {"id": card.id, "depth": card.depth, "duration_ms": card.duration_ms}
    about["parent"] = card.parent.id if card.parent else None
    about["children"] = [child.id for child in card.children or ()]
    about["parts"] = list(card.parts)
    if isinstance(card, ToolCard):
        about["progress"] = list(card.progress)
    about["status"] = [card.status(alive=alive) for alive in (True, False)]
    return about


def all_shown(transcript: Transcript) -> list[dict[str, Any]]:
    return [shown(card) for card in transcript.walk()]


@given(sessions(max_size=40))
def test_dropping_covered_deltas_changes_no_card(records: list[Record]) -> None:
    kept = [records[index] for index in uncovered(records)]
    assert all_shown(folded(kept)) == all_shown(folded(records))


@given(sessions())
def test_only_deltas_are_dropped_and_order_stays(records: list[Record]) -> None:
    kept = uncovered(records)
    assert kept == sorted(set(kept))
    gone = {records[index].kind for index in range(len(records)) if index not in kept}
    assert gone <= {Kind.TEXT, Kind.REASONING, Kind.TOOL_PROGRESS}


@given(sessions())
def test_dropping_covered_deltas_again_drops_no_more(records: list[Record]) -> None:
    kept = [records[index] for index in uncovered(records)]
    assert uncovered(kept) == list(range(len(kept)))


COVERED: dict[str, tuple[list[Record], list[int]]] = {
    "a message covers its deltas but the first": (
        [turn(), text("a"), text("b"), text("c"), message("abc")],
        [0, 1, 4],
    ),
    "reasoning and text are two runs": (
        [thought("x"), thought("y"), text("a"), text("b"), message("ab", "xy")],
        [0, 2, 4],
    ),
    "an empty message leaves the streamed text": (
        [text("a"), text("b"), message("")],
        [0, 1, 2],
    ),
    "a message without reasoning leaves the streamed reasoning": (
        [thought("x"), thought("y"), text("a"), text("b"), message("ab")],
        [0, 1, 2, 4],
    ),
    "a retry closes a partial answer, which stays": (
        [text("a"), text("b"), Record(Kind.RETRYING), text("a"), text("c"), message("ac")],
        [0, 1, 2, 3, 5],
    ),
    "the end of a turn closes a partial answer, which stays": (
        [turn(), text("a"), text("b"), turn(), text("c"), text("d"), message("cd")],
        [0, 1, 2, 3, 4, 6],
    ),
    "an answer nobody finished stays": ([text("a"), text("b"), text("c")], [0, 1, 2]),
    "a result covers its call's progress": (
        [dispatch("a"), progress("a", "1"), progress("a", "2"), result("a", "12")],
        [0, 1, 3],
    ),
    "a result without output leaves the progress": (
        [dispatch("a"), progress("a", "1"), progress("a", "2"), result("a")],
        [0, 1, 2, 3],
    ),
    "each call has its own run": (
        [
            dispatch("a"),
            dispatch("b"),
            progress("a", "1"),
            progress("b", "1"),
            progress("a", "2"),
            progress("b", "2"),
            result("a", "12"),
        ],
        [0, 1, 2, 3, 5, 6],
    ),
    "an id that is used again has a run of its own": (
        [
            dispatch("a"),
            progress("a", "1"),
            result("a", "1"),
            turn(),
            dispatch("a"),
            progress("a", "2"),
            progress("a", "3"),
            result("a", "23"),
        ],
        [0, 1, 2, 3, 4, 5, 7],
    ),
    "an empty delta in front does not count as the first": (
        [text("", at=1), text("a", at=2), dispatch("x"), text("b", at=3), message("ab")],
        [0, 1, 2, 4],
    ),
    "empty progress in front does not count as the first": (
        [progress("a", "", at=1), progress("a", "1", at=2), progress("a", "2"), result("a", "12")],
        [0, 1, 3],
    ),
    "progress after its result may begin a card in the next turn": (
        [
            dispatch("a"),
            result("a", "1"),
            progress("a", "2"),
            turn(),
            progress("a", "3"),
            Record(Kind.PHASE, text="p"),
            result("a", "3"),
        ],
        [0, 1, 2, 3, 4, 5, 6],
    ),
}


@pytest.mark.parametrize(("records", "kept"), COVERED.values(), ids=COVERED)
def test_what_is_covered(records: list[Record], kept: list[int]) -> None:
    assert uncovered(records) == kept
    again = folded([records[index] for index in kept])
    assert all_shown(again) == all_shown(folded(records))


def cut(records: Sequence[Record], index: int) -> Cut:
    return cut_before([Entry(record) for record in records], index, Transcript())


# What a card has from the cards around it, which may have gone.
HANGING = ("parent", "depth", "note", "children", "steps", "faults", "parent_id")
# A thought ends with the next dispatch, which may have gone with the call it speaks of.
ENDING = ("state", "status", "ended_at", "duration_ms")
LANE = re.compile(r"/p\d+$")
LANE_IN_LANE = re.compile(r"/p\d+/p\d+")


def comparable(card: Card) -> dict[str, Any]:
    about = shown(card)
    if is_lane(card):
        return {name: about[name] for name in ("id", "call", "turn")}
    for name in HANGING + ENDING * (card.kind == "reasoning"):
        about.pop(name, None)
    return about


def is_lane(card: Card) -> bool:
    """Whether a card is a lane, or what stands in for one after a cut."""
    return isinstance(card, ToolCard) and LANE.search(card.call) is not None


def is_odd(card: Card, gone: int, kept_calls: set[str]) -> bool:
    """Whether a card is nested as no agent nests it: in a call that came in a later turn, or in a
    lane that lies right inside a lane, that has records of its own, that is made in a circle, or
    that belongs to a call whose id was used again. Lanes may have other numbers then.
    """
    outer = card.parent
    if not isinstance(card, ToolCard):
        return False
    if card.number <= gone:
        if LANE.search(card.call) and card.call.rpartition("/")[0] in kept_calls:
            return True
        return outer is not None and outer.number > gone
    if LANE.search(card.call):
        children = [child.number for child in card.children or ()]
        return card.kind != "lane" or card.number + 1 not in children
    return LANE_IN_LANE.search(card.call) is not None


def is_comparable(whole: Transcript, gone: int) -> bool:
    """Whether no card after number `gone` depends on what has gone in a way that only the whole
    can tell.
    """
    stayed = [card for card in whole.walk() if card.number > gone]
    calls = {card.call for card in stayed if isinstance(card, ToolCard)}
    if any(is_odd(card, gone, calls) for card in whole.walk()):
        return False
    # A call that loses its parent stands at the top, and may stand between two equal notices.
    orphans = any(card.parent is not None and card.parent.number <= gone for card in stayed)
    return not (orphans and any(card.kind == "notice" and card.count > 1 for card in stayed))


def check_cut(records: Sequence[Record], kept: Sequence[Record], turns: int, cards: int) -> None:
    whole = folded(records)
    if not is_comparable(whole, cards):
        return
    after = folded(kept, turns=turns, cards=cards)
    stayed = [card for card in whole.walk() if card.number > cards]
    assert {card.id for card in after.walk()} == {card.id for card in stayed}
    for card in stayed:
        other = after.card(card.id)
        assert other is not None
        assert comparable(other) == comparable(card)


def starts_of(records: Sequence[Record]) -> list[int]:
    return [i for i, record in enumerate(records) if record.kind == Kind.TURN_STARTED]


@given(sessions(max_size=40), st.integers(0, 40))
def test_what_is_left_after_a_cut_keeps_its_numbers_and_looks(
    records: list[Record], at: int
) -> None:
    starts = starts_of(records)
    assume(starts)
    left = cut(records, starts[at % len(starts)])
    check_cut(records, [entry.record for entry in left.kept], left.turns, left.cards)


LEFT: dict[str, tuple[list[Record], list[Record]]] = {
    "a late result for a call that went goes too": (
        [turn(), background("a"), turn(), notice("n"), result("a", "late"), notice("m")],
        [turn(), notice("n"), notice("m")],
    ),
    "late progress for a call that went goes too": (
        [turn(), background("a"), turn(), progress("a", "late"), notice("m")],
        [turn(), notice("m")],
    ),
    "a result for a call that stays stays": (
        [turn(), turn(), dispatch("a"), result("a", "1")],
        [turn(), dispatch("a"), result("a", "1")],
    ),
    "an id that is used again is another call": (
        [turn(), dispatch("a"), result("a", "1"), turn(), dispatch("a"), result("a", "2")],
        [turn(), dispatch("a"), result("a", "2")],
    ),
    "the end of a compaction that went goes too": (
        [turn(), Record(Kind.COMPACTION_STARTED), turn(), COMPACTED, notice("n")],
        [turn(), notice("n")],
    ),
    "more of a collab that went goes too": (
        [turn(), collab("r1"), turn(), collab("r1"), collab("r2")],
        [turn(), collab("r2")],
    ),
    "a sub-agent's call whose parent went stays": (
        [turn(), background("a"), turn(), dispatch("a/x"), result("a/x", "1")],
        [turn(), dispatch("a/x"), result("a/x", "1")],
    ),
    "a lane whose call went has a record that stands in for it": (
        [turn(), background("a"), turn(), dispatch("a/p1/x"), dispatch("a/p1/y"), notice("n")],
        [
            turn(),
            Record(Kind.TOOL_RESULT, tool=Tool(id="a/p1", name="p1")),
            dispatch("a/p1/x"),
            dispatch("a/p1/y"),
            notice("n"),
        ],
    ),
}


@pytest.mark.parametrize(("records", "kept"), LEFT.values(), ids=LEFT)
def test_what_is_left_after_a_cut_at_the_last_turn(
    records: list[Record], kept: list[Record]
) -> None:
    left = cut(records, starts_of(records)[-1])
    assert [entry.record for entry in left.kept] == kept
    assert left.turns == len(starts_of(records)) - 1
    check_cut(records, kept, left.turns, left.cards)


def test_cutting_everything_counts_every_turn_and_card() -> None:
    records = [turn(), notice("n"), turn(), dispatch("a")]
    assert cut_before(
        [Entry(r) for r in records], 4, Transcript(turns_dropped=7, cards_dropped=40)
    ) == Cut([], 9, 44)


def test_cutting_twice_is_cutting_once() -> None:
    records = [turn(), notice("n"), turn(), dispatch("a"), turn(), result("a", "1"), notice("m")]
    first = cut(records, 2)
    twice = cut_before(
        first.kept, 2, Transcript(turns_dropped=first.turns, cards_dropped=first.cards)
    )
    assert twice == cut(records, 4)


def write_file(path: Path, records: Sequence[Record]) -> None:
    lines = [encode_header(Header()), *map(encode, records)]
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def written(records: Sequence[Record]) -> list[Record]:
    """The records that a file can hold: a header among them would be read as one."""
    return [record for record in records if record.kind != HEADER_KIND]


@given(sessions(max_size=40))
def test_saving_a_session_changes_no_card(records: list[Record]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "s.present.jsonl")
        write_file(path, written(records))
        before = load(path).records
        recorder = Recorder()
        recorder.seed_from_path(path)
        recorder.save(path)
        assert all_shown(folded(load(path).records)) == all_shown(folded(before))


@given(st.lists(events(), max_size=12))
def test_saving_what_was_appended_changes_no_card(appended: list[Event]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "s.present.jsonl")
        with Recorder.open(Path(folder, "s.jsonl"), fsync="never") as recorder:
            for event in appended:
                recorder.append(event)
            before = load(path).records
            assert len(before) == len(recorder.records)
            recorder.save(path)
            assert all_shown(folded(load(path).records)) == all_shown(folded(before))


@given(sessions(max_size=40), st.lists(st.integers(0, 12), min_size=1, max_size=3))
def test_truncating_a_file_keeps_numbers_and_looks(records: list[Record], turns: list[int]) -> None:
    records = written(records)
    assume(starts_of(records))
    with TemporaryDirectory() as folder:
        path = Path(folder, "s.present.jsonl")
        write_file(path, records)
        before = load(path).records
        for version, keep in enumerate(turns, 1):
            recorder = Recorder()
            recorder.seed_from_path(path)
            recorder.truncate_to_turn(keep)
            recorder.set_rewrite_version(version)
            recorder.save(path)
            header = decode_header(path.read_bytes().partition(b"\n")[0])
            # What a cut shifts stays shifted when the next one takes the odd card away as well.
            assume(is_comparable(folded(before), header.cards_dropped))
        most = min(max(turns), len(starts_of(records)))
        assert header.turns_dropped == max(0, most - 1)
        check_cut(before, load(path).records, header.turns_dropped, header.cards_dropped)


def test_what_a_rewrite_would_save_is_estimated() -> None:
    droppable = Droppable()
    for record in (text("a"), text("b"), message("ab"), text("c")):
        droppable.add(record, 100)
    assert droppable.bytes == 200
    for record in (dispatch("a"), progress("a", "1"), progress("b", "1"), result("a", "1")):
        droppable.add(record, 10)
    assert droppable.bytes == 210

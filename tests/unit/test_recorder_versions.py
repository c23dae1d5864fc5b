"""How the recorder keeps step with a session that is compacted, cut or long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from presentview.events import Event
from presentview.recorder import Recorder
from presentview.records import INT64_MAX, Header, Kind, encode_header
from presentview.sidecar import load
from tests.unit.agent import (
    compacted,
    delta,
    dispatch,
    ended,
    faces,
    header_of,
    message,
    notice,
    record,
    result,
    said,
    said_in,
    transcript_of,
    turn,
    turns,
)


def file_at(sidecar: Path, version: int) -> None:
    """A sidecar with two turns at a rewrite version."""
    recorder = Recorder()
    record(recorder, [turn("old"), ended(), turn("older"), ended()])
    recorder.set_rewrite_version(version)
    recorder.save(sidecar)


def seeded(sidecar: Path, version: int) -> Recorder:
    file_at(sidecar, version)
    recorder = Recorder()
    recorder.seed_from_path(sidecar)
    return recorder


# versions


def test_a_fresh_recorder_adopts_the_first_version_and_notices_the_next() -> None:
    recorder = Recorder()
    record(recorder, turns(1, 2))
    recorder.sync_before_save(1)
    assert len(recorder.records) == 4
    assert recorder.rewrite_version == 1
    recorder.sync_before_save(2, compacted("the summary"))
    assert [each.kind for each in recorder.records] == [Kind.COMPACTION_DONE]
    assert recorder.rewrite_version == 2


def test_the_first_compaction_of_a_process_is_noticed() -> None:
    recorder = Recorder()
    record(recorder, turns(1, 2))
    recorder.sync_before_save(0)
    assert len(recorder.records) == 4
    recorder.sync_before_save(1)
    assert recorder.snapshot() == ((), 1)


def test_a_session_that_counts_from_zero_again_loses_nothing(sidecar: Path) -> None:
    recorder = seeded(sidecar, 5)
    recorder.sync_before_save(0)
    assert len(recorder.records) == 4
    assert recorder.rewrite_version == 5
    recorder.sync_before_save(1)
    assert said(recorder) == []
    recorder.save(sidecar)
    assert header_of(sidecar).rewrite_version == 6


def test_a_reopened_file_counts_on_from_its_own_version(session: Path, sidecar: Path) -> None:
    file_at(sidecar, 5)
    with Recorder.open(session) as recorder:
        recorder.sync_before_save(0)
        assert len(recorder.records) == 4
        recorder.sync_before_save(1, compacted())
        recorder.save()
        assert [each.kind for each in load(sidecar).records] == [Kind.COMPACTION_DONE]
        assert header_of(sidecar).rewrite_version == 6


def test_a_seeded_file_that_is_older_than_the_session_is_stale(sidecar: Path) -> None:
    recorder = seeded(sidecar, 1)
    recorder.append(notice("n"))
    recorder.sync_before_save(3, compacted())
    assert [each.kind for each in recorder.records] == [Kind.COMPACTION_DONE]
    assert recorder.rewrite_version == 3


def test_a_file_that_is_older_than_the_session_is_stale_when_opened(
    session: Path, sidecar: Path
) -> None:
    file_at(sidecar, 1)
    with Recorder.open(session, session_version=3) as recorder:
        assert recorder.snapshot() == ((), 3)
        recorder.append(notice("n"))
    assert said_in(sidecar) == ["n"]
    assert header_of(sidecar).rewrite_version == 3
    assert header_of(sidecar).turns_dropped == 2


def test_a_file_that_is_newer_than_the_session_is_kept(session: Path, sidecar: Path) -> None:
    file_at(sidecar, 5)
    with Recorder.open(session, session_version=3) as recorder:
        assert len(recorder.records) == 4
        recorder.sync_before_save(3)
        assert len(recorder.records) == 4
        recorder.sync_before_save(5)
        assert recorder.snapshot() == ((), 7)


def test_a_new_file_takes_the_session_version_it_is_opened_with(
    session: Path, sidecar: Path
) -> None:
    with Recorder.open(session, session_version=4) as recorder:
        recorder.append(notice("n"))
        recorder.sync_before_save(4)
        assert len(recorder.records) == 1
    assert header_of(sidecar).rewrite_version == 4


@pytest.mark.parametrize(
    ("told", "version", "kept"),
    [
        ([3, 3], 3, True),
        ([3, 2], 3, True),
        ([3, 2, 3], 4, False),
        ([0, 0, 0], 0, True),
        ([0, 10], 10, False),
        ([-1, 0], 1, False),
    ],
    ids=["same", "smaller", "smaller then greater", "zero", "by ten", "from below zero"],
)
def test_only_a_greater_version_than_the_last_told_is_a_rewrite(
    told: list[int], version: int, kept: bool
) -> None:
    recorder = Recorder()
    record(recorder, turns(1, 1))
    for each in told:
        recorder.sync_before_save(each)
    assert (len(recorder.records), recorder.rewrite_version) == (2 if kept else 0, version)


def test_setting_the_version_drops_nothing_and_counts_as_told() -> None:
    recorder = Recorder()
    record(recorder, turns(1, 1))
    recorder.set_rewrite_version(2)
    recorder.set_rewrite_version(7)
    recorder.sync_before_save(7)
    assert len(recorder.records) == 2
    assert recorder.rewrite_version == 7
    recorder.sync_before_save(8)
    assert said(recorder) == []


def test_the_version_never_grows_beyond_what_a_header_can_hold(sidecar: Path) -> None:
    sidecar.write_bytes(encode_header(Header(rewrite_version=INT64_MAX)) + b"\n")
    recorder = Recorder()
    recorder.seed_from_path(sidecar)
    recorder.sync_before_save(0)
    recorder.sync_before_save(1)
    recorder.append(notice("n"))
    recorder.save(sidecar)
    assert header_of(sidecar).rewrite_version == INT64_MAX
    assert said_in(sidecar) == ["n"]


def test_a_version_that_grew_is_in_the_file_after_save(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, turns(1, 1))
        recorder.truncate_to_turn(1)
        recorder.sync_before_save(1)
        recorder.save()
        assert header_of(sidecar).rewrite_version == 1
        assert said_in(sidecar) == ["1", "in 1"]


# the compaction that is placed first


def test_the_compaction_is_placed_first_where_its_record_went() -> None:
    recorder = Recorder()
    recorder.sync_before_save(0)
    record(recorder, [turn("1"), compacted("the summary"), turn("2"), turn("3")])
    recorder.truncate_to_turn(3)
    recorder.sync_before_save(1, compacted("the summary"))
    assert [each.kind for each in recorder.records] == [Kind.COMPACTION_DONE, Kind.TURN_STARTED]


def test_a_compaction_that_is_recorded_already_is_not_placed_again() -> None:
    recorder = Recorder()
    recorder.sync_before_save(0)
    record(recorder, [turn("1"), turn("2"), compacted("the summary"), notice("n")])
    recorder.truncate_to_turn(2)
    recorder.sync_before_save(1, compacted("the summary"))
    assert [each.text for each in recorder.records] == ["2", "", "n"]


@pytest.mark.parametrize(
    "event", [compacted(""), notice("no compaction"), None], ids=["aborted", "other", "none"]
)
def test_what_is_no_finished_compaction_is_not_placed(event: Event | None) -> None:
    recorder = Recorder()
    recorder.sync_before_save(0)
    recorder.append(turn())
    recorder.sync_before_save(1, event)
    assert said(recorder) == []


def test_a_compaction_is_placed_only_by_a_rewrite() -> None:
    recorder = Recorder()
    recorder.append(turn("1"))
    recorder.sync_before_save(0, compacted())
    recorder.sync_before_save(0, compacted())
    assert said(recorder) == ["1"]


def test_the_placed_compaction_leaves_all_other_numbers_alone(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, turns(1, 4))
        before = faces(sidecar)
        recorder.truncate_to_turn(3)
        recorder.sync_before_save(1, compacted())
        recorder.save()
        after = faces(sidecar)
        assert after.pop("c4") == "auto"
        assert after == {name: before[name] for name in ("c5", "c6", "c7", "c8")}


def test_the_placed_compaction_leaves_numbers_alone_where_nothing_went(
    session: Path, sidecar: Path
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, turns(1, 2))
        before = faces(sidecar)
        recorder.truncate_to_turn(1)
        recorder.sync_before_save(1, compacted())
        recorder.save()
        after = faces(sidecar)
        assert after.pop("c0") == "auto"
        assert after == before
    with Recorder.open(session):
        pass
    assert faces(sidecar).keys() >= before.keys() | {"c0"}


def test_the_only_card_after_a_compaction_gets_a_new_number(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, turns(1, 2))
        recorder.sync_before_save(1, compacted())
        record(recorder, [notice("n")])
        assert faces(sidecar) == {"c5": "auto", "c6": "n"}


# truncation


def kept_turns(sidecar: Path) -> dict[int, str]:
    transcript = transcript_of(sidecar)
    return {each.number: each.prompt.face for each in transcript.turns if each.prompt is not None}


@pytest.mark.parametrize(
    ("keep", "kept"),
    [(-3, "1234"), (0, "1234"), (1, "1234"), (2, "234"), (4, "4"), (5, "4"), (99, "4")],
    ids=["negative", "zero", "first", "second", "current", "next", "far beyond"],
)
def test_truncation_names_the_first_turn_kept(
    keep: int, kept: str, session: Path, sidecar: Path
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [notice("preamble"), *turns(1, 4)])
        before = faces(sidecar)
        recorder.truncate_to_turn(keep)
        recorder.save()
        assert kept_turns(sidecar) == {int(n): n for n in kept}
        after = faces(sidecar)
        assert after.items() <= before.items()
        assert ("preamble" in after.values()) == (keep < 1)
        assert said(recorder) == said_in(sidecar)


def test_turns_are_never_renumbered(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, turns(1, 6))
        for keep in (3, 2, 5):
            recorder.truncate_to_turn(keep)
        record(recorder, turns(7, 8))
        recorder.truncate_to_turn(7)
    with Recorder.open(session) as recorder:
        assert kept_turns(sidecar) == {7: "7", 8: "8"}
        record(recorder, turns(9, 9))
        recorder.truncate_to_turn(8)
        recorder.save()
        assert kept_turns(sidecar) == {8: "8", 9: "9"}
        assert header_of(sidecar).turns_dropped == 7


def test_cards_keep_their_ids_across_truncations_and_reopenings(
    session: Path, sidecar: Path
) -> None:
    with Recorder.open(session) as recorder:
        for n in range(1, 9):
            record(recorder, [turn(f"{n}"), dispatch(f"a{n}"), result(f"a{n}", "x")])
            record(recorder, [delta("wo"), delta("rd"), message(f"word {n}"), ended()])
        everything = faces(sidecar)
    assert len(everything) == 24
    for keep in range(2, 9):
        with Recorder.open(session) as recorder:
            recorder.truncate_to_turn(keep)
            recorder.sync_before_save(1)
            recorder.save()
        left = faces(sidecar)
        assert left == {f"c{n}": everything[f"c{n}"] for n in range(3 * keep - 2, 25)}


def test_truncating_before_the_first_turn_keeps_everything(session: Path) -> None:
    with Recorder.open(session) as recorder:
        recorder.append(notice("preamble"))
        recorder.truncate_to_turn(1)
        recorder.truncate_to_turn(7)
        assert said(recorder) == ["preamble"]


def test_the_running_turn_is_whole_after_truncation(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [*turns(1, 2), dispatch("a"), delta("so ")])
        recorder.truncate_to_turn(100)
        record(recorder, [delta("far"), result("a", "done")])
        recorder.save()
        assert said_in(sidecar) == ["2", "in 2", "", "so ", "far", ""]
        assert [card.state for card in transcript_of(sidecar).walk()][2] == "done"


def test_a_truncation_counts_for_one_rewrite_only() -> None:
    recorder = Recorder()
    recorder.sync_before_save(0)
    record(recorder, turns(1, 3))
    recorder.truncate_to_turn(2)
    recorder.sync_before_save(0)
    recorder.sync_before_save(1)
    assert said(recorder) == ["2", "in 2", "3", "in 3"]
    recorder.sync_before_save(2)
    assert said(recorder) == []


def test_a_truncation_before_the_first_sync_counts_for_that_one_only() -> None:
    recorder = Recorder()
    record(recorder, turns(1, 3))
    recorder.truncate_to_turn(2)
    recorder.sync_before_save(1)
    assert said(recorder) == ["2", "in 2", "3", "in 3"]
    recorder.sync_before_save(2)
    assert said(recorder) == []


def test_what_is_recorded_after_everything_went_goes_on_in_the_same_turn(
    session: Path, sidecar: Path
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, turns(1, 3))
        recorder.sync_before_save(1)
        record(recorder, [notice("rest of 3"), *turns(4, 4)])
        assert faces(sidecar) == {"c7": "rest of 3", "c8": "4", "c9": "in 4"}
        assert kept_turns(sidecar) == {4: "4"}
        recorder.truncate_to_turn(4)
        recorder.save()
        assert faces(sidecar) == {"c8": "4", "c9": "in 4"}


def test_numbers_in_a_file_without_extensions_stay_true_if_they_are_there(
    session: Path, sidecar: Path
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, turns(1, 4))
        recorder.truncate_to_turn(2)
    before = faces(sidecar)
    with Recorder.open(session, extensions=False) as recorder:
        recorder.truncate_to_turn(4)
    assert faces(sidecar).items() <= before.items()
    assert header_of(sidecar).turns_dropped == 3


# retention


@pytest.mark.parametrize("keep", [1, 2, 3, 100])
@pytest.mark.parametrize("bound", [False, True], ids=["in memory", "bound"])
def test_retention_keeps_exactly_the_last_turns(keep: int, bound: bool, session: Path) -> None:
    make: Callable[[], Recorder]
    make = (
        (lambda: Recorder.open(session, max_turns=keep, fsync="never"))
        if bound
        else (lambda: Recorder(max_turns=keep))
    )
    with make() as recorder:
        recorder.append(notice("preamble"))
        for n in range(1, keep + 250):
            record(recorder, turns(n, n))
            first = max(1, n - keep + 1)
            expected = [text for m in range(first, n + 1) for text in (f"{m}", f"in {m}")]
            assert said(recorder) == ["preamble"] * (n <= keep) + expected


def test_seeded_turns_count_for_retention(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [*turns(1, 5), ended()])
    with Recorder.open(session, max_turns=3) as recorder:
        assert said(recorder) == ["3", "in 3", "4", "in 4", "5", "in 5", ""]
        record(recorder, [*turns(6, 6), ended()])
        assert said(recorder) == ["4", "in 4", "5", "in 5", "", "6", "in 6", ""]
    assert said_in(sidecar) == ["4", "in 4", "5", "in 5", "", "6", "in 6", ""]
    assert header_of(sidecar).turns_dropped == 3


def test_the_file_is_cut_by_retention_at_the_next_save(session: Path, sidecar: Path) -> None:
    with Recorder.open(session, max_turns=2) as recorder:
        record(recorder, turns(1, 5))
        before = faces(sidecar)
        assert len(before) == 10
        recorder.save()
        assert said_in(sidecar) == said(recorder) == ["4", "in 4", "5", "in 5"]
        assert faces(sidecar).items() <= before.items()


def test_retention_in_memory_counts_what_it_drops(sidecar: Path) -> None:
    recorder = Recorder(max_turns=2)
    record(recorder, turns(1, 5))
    recorder.save(sidecar)
    assert faces(sidecar) == {"c7": "4", "c8": "in 4", "c9": "5", "c10": "in 5"}
    assert kept_turns(sidecar) == {4: "4", 5: "5"}


def test_memory_does_not_grow_with_turns_that_are_not_kept() -> None:
    recorder = Recorder(max_turns=2)
    for n in range(2_000):
        record(recorder, turns(n, n))
    assert len(recorder._recording.history.entries) < 1_000


def test_retention_and_truncation_go_together(session: Path, sidecar: Path) -> None:
    with Recorder.open(session, max_turns=2) as recorder:
        record(recorder, turns(1, 5))
        recorder.truncate_to_turn(2)
        recorder.sync_before_save(1, compacted())
        assert said(recorder) == ["", "4", "in 4", "5", "in 5"]
        recorder.save()
        assert kept_turns(sidecar) == {4: "4", 5: "5"}
        record(recorder, turns(6, 6))
        assert said(recorder) == ["5", "in 5", "6", "in 6"]

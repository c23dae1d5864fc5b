"""Where the time went: by hand for small sessions, and what holds for any session at all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.records import Kind, Record, Tool
from presentview.transcript.cards import ToolCard
from presentview.transcript.durations import LONGEST_MS, counted_ms, is_absurd, ran_as_recorded
from presentview.transcript.fold import Transcript
from presentview.transcript.spans import Span
from presentview.transcript.summary import Tally
from presentview.transcript.timings import Figures, Timings, quantile, timings_of
from presentview.web.waterfall import WIDTH, waterfall
from tests.unit.transcript.story import (
    dispatch,
    done,
    folded,
    message,
    notice,
    result,
    retrying,
    tools,
    turn,
    usage,
)


def timed(*records: Record) -> Timings:
    return timings_of(folded(*records))


def spans(*records: Record) -> dict[str, Span]:
    """The spans of a session by the ids of their calls."""
    return {span.card.call: span for span in timed(*records).spans}


def when(span: Span) -> tuple[int | None, ...]:
    return span.asked, span.start, span.end, span.duration


# one call


def test_a_call_runs_at_the_end_of_the_time_it_was_waited_for() -> None:
    (span,) = timed(
        turn("go", at=500), dispatch("a", at=1_000), result("a", at=5_000, duration_ms=1_500)
    ).spans
    assert when(span) == (1_000, 3_500, 5_000, 1_500)
    assert span.waited == 2_500
    assert (span.own, span.state, span.lane, span.parent) == (1_500, "done", "", -1)
    assert (span.inferred, span.own_inferred, span.marks) == (False, False, ())


def test_without_a_duration_it_ran_from_its_dispatch_to_its_result() -> None:
    (span,) = timed(dispatch("a", at=1_000), result("a", at=5_000)).spans
    assert when(span) == (1_000, 1_000, 5_000, 4_000)
    assert span.waited == 0


def test_a_call_without_a_result_has_an_open_end() -> None:
    (span,) = timed(dispatch("a", at=1_000), message("still at it", at=9_000)).spans
    assert when(span) == (1_000, None, None, None)
    assert (span.own, span.state) == (None, "open")
    assert span.marks == ()


def test_a_call_whose_dispatch_is_not_recorded_ran_before_its_result() -> None:
    (span,) = timed(turn("go", at=100), result("a", at=5_000, duration_ms=1_500)).spans
    assert when(span) == (None, 3_500, 5_000, 1_500)
    assert span.waited is None


@pytest.mark.parametrize(
    ("duration", "earliest", "latest", "absurd"),
    [
        pytest.param(-1, None, None, True, id="negative"),
        pytest.param(0, None, None, False, id="nothing"),
        pytest.param(LONGEST_MS, None, None, False, id="thirty days"),
        pytest.param(LONGEST_MS + 1, None, None, True, id="more than thirty days"),
        pytest.param(500, 1_000, 1_500, False, id="all there is"),
        pytest.param(501, 1_000, 1_500, False, id="rounded up"),
        pytest.param(502, 1_000, 1_500, True, id="longer than there is"),
        pytest.param(3_602_000, 0, 3_600_000, False, id="an hour by a clock that was set slowly"),
        pytest.param(500, 1_500, 1_000, True, id="between times that go backward"),
        pytest.param(500, None, 1_500, False, id="no time before"),
        pytest.param(500, 1_000, None, False, id="no time after"),
    ],
)
def test_which_durations_cannot_be_true(
    duration: int, earliest: int | None, latest: int | None, absurd: bool
) -> None:
    assert is_absurd(duration, earliest, latest) is absurd


@pytest.mark.parametrize(
    ("at", "ended", "recorded"),
    [
        pytest.param(1_000, 3_000, -5, id="negative"),
        pytest.param(1_000, 3_000, 9_000, id="longer than from dispatch to result"),
        pytest.param(1_000, 3_000 + LONGEST_MS, LONGEST_MS + 1, id="more than thirty days"),
        pytest.param(3_000, 1_000, 0, id="its times go backward"),
        pytest.param(1_000, 1_001 + LONGEST_MS, 0, id="its times are too far apart"),
    ],
)
def test_an_absurd_duration_is_marked_and_counts_for_nothing(
    at: int, ended: int, recorded: int
) -> None:
    timings = timed(dispatch("a", at=at), result("a", at=ended, duration_ms=recorded))
    (span,) = timings.spans
    assert when(span) == (at, None, ended, None)
    assert "absurd" in span.marks
    assert (timings.session.total, timings.session.own, timings.session.unknown) == (0, 0, 1)
    assert span.card.recorded_ms == recorded


def test_times_that_go_backward_are_kept_and_marked() -> None:
    found = spans(
        dispatch("a", at=5_000),
        result("a", at=6_000),
        dispatch("b", at=4_000),
        result("b", at=4_500),
    )
    assert when(found["a"]) == (5_000, 5_000, 6_000, 1_000)
    assert when(found["b"]) == (4_000, 4_000, 4_500, 500)
    assert (found["a"].marks, found["b"].marks) == ((), ("backward",))


# times that are not recorded


def test_without_times_records_are_scheduled_by_their_order_and_durations() -> None:
    found = spans(
        turn("go"),
        dispatch("a"),
        dispatch("b"),
        result("a", duration_ms=5_000),
        result("b", duration_ms=3_000),
        dispatch("c"),
        result("c", duration_ms=500),
    )
    assert when(found["a"]) == (0, 0, 5_000, 5_000)
    assert when(found["b"]) == (0, 2_000, 5_000, 3_000)
    assert when(found["c"]) == (5_000, 5_000, 5_500, 500)
    assert all(span.inferred for span in found.values())


def test_a_schedule_says_at_least_and_at_most() -> None:
    session = timed(
        turn("go"),
        dispatch("a"),
        dispatch("b"),
        result("a", duration_ms=5_000),
        result("b", duration_ms=3_000),
    ).session
    assert (session.wall, session.parallelism, session.inferred) == (5_000, 1.6, True)
    assert session.outside is None
    assert (session.own, session.total) == (8_000, 8_000)


def test_the_last_dispatch_of_a_call_counts() -> None:
    found = spans(
        dispatch("a"),
        dispatch("b"),
        result("b", duration_ms=400),
        dispatch("a", '{"command":"ls"}'),
        result("a", duration_ms=1_000),
    )
    assert when(found["a"]) == (400, 400, 1_400, 1_000)


def test_what_comes_before_the_first_recorded_time_ends_there() -> None:
    timings = timed(
        turn("go"),
        dispatch("a"),
        result("a", duration_ms=3_000),
        dispatch("b"),
        result("b", at=10_000, duration_ms=2_000),
    )
    a, b = timings.spans
    assert when(a) == (7_000, 7_000, 10_000, 3_000)
    assert when(b) == (10_000, 8_000, 10_000, 2_000)
    assert timings.whole == (7_000, 10_000, True)


def test_what_is_scheduled_stays_between_recorded_times() -> None:
    found = spans(
        notice("one", at=1_000),
        dispatch("a"),
        result("a", duration_ms=600),
        dispatch("b"),
        result("b", duration_ms=600),
        notice("two", at=2_000),
        dispatch("c", at=2_500),
        result("c", at=2_600),
    )
    assert when(found["a"]) == (1_000, 1_000, 1_600, 600)
    assert found["a"].marks == ()
    assert when(found["b"]) == (1_600, 1_400, 2_000, 600)
    assert found["b"].marks == ("disagrees",)
    assert (found["b"].inferred, found["c"].inferred) == (True, False)


def test_a_duration_for_which_there_is_no_room_is_left_out_of_the_schedule() -> None:
    found = spans(
        notice("one", at=1_000),
        dispatch("a"),
        result("a", duration_ms=1_600),
        notice("two", at=2_000),
    )
    assert when(found["a"]) == (1_000, None, 1_000, None)
    assert found["a"].marks == ("absurd",)


def test_from_a_scheduled_record_to_another_is_no_duration() -> None:
    found = spans(dispatch("a", at=1_000), result("a"), notice("two", at=2_000))
    assert when(found["a"]) == (1_000, None, 1_000, None)
    assert found["a"].inferred


def test_other_cards_are_scheduled_too() -> None:
    transcript = folded(
        turn("go"), dispatch("a"), result("a", duration_ms=700), retrying(1), turn("on")
    )
    timings = timings_of(transcript)
    found = {card.kind: timings.when(card) for card in transcript.walk()}
    assert found == {"prompt": 700, "tool": 0, "retry": 700}
    assert timings.turn_windows == {1: (0, 700, True), 2: (700, 700, True)}


def test_records_without_a_place_are_ordered_by_their_cards() -> None:
    transcript = Transcript()
    for record in (
        turn("go"),
        dispatch("a"),
        result("a", duration_ms=700),
        dispatch("b"),
        result("b", duration_ms=900),
        turn("on"),
        dispatch("c"),
        result("c", duration_ms=50),
    ):
        transcript.apply(record)
    timings = timings_of(transcript)
    assert [when(span) for span in timings.spans] == [
        (0, 0, 700, 700),
        (0, 0, 900, 900),
        (900, 900, 950, 50),
    ]


# calls in calls


def nested(at: int = 1) -> list[Record]:
    """A sub-agent of 10 s with two calls at once and a gap; one of them has a call in it too."""
    return [
        turn("go", at=1_000 * at),
        dispatch("p", name="task", at=2_000 * at),
        dispatch("p/a", at=3_000 * at),
        dispatch("p/b", name="task", at=4_000 * at),
        dispatch("p/b/x", name="grep", at=5_000 * at),
        result("p/a", at=6_000 * at),
        result("p/b/x", at=7_000 * at),
        result("p/b", at=9_000 * at),
        result("p", at=12_000 * at),
        message("done", at=15_000 * at),
        done(at=16_000 * at),
    ]


def test_own_time_is_what_no_call_inside_took() -> None:
    found = spans(*nested())
    assert {call: span.own for call, span in found.items()} == {
        "p": 10_000 - 6_000,
        "p/a": 3_000,
        "p/b": 5_000 - 2_000,
        "p/b/x": 2_000,
    }
    cards = {call: span.card.id for call, span in found.items()}
    assert {call: span.lane for call, span in found.items()} == {
        "p": "",
        "p/a": cards["p"],
        "p/b": cards["p"],
        "p/b/x": cards["p/b"],
    }
    assert [span.parent for span in found.values()] == [-1, 0, 0, 2]


def test_calls_that_reach_beyond_the_one_they_are_in_are_clipped() -> None:
    found = spans(
        dispatch("p", name="task", at=1_000),
        dispatch("p/a", at=2_000),
        result("p", at=5_000),
        result("p/a", at=9_000),
    )
    assert (found["p"].own, found["p/a"].own) == (1_000, 7_000)


def test_a_lane_has_no_time_of_its_own() -> None:
    timings = timed(
        dispatch("p", name="task", at=1_000),
        dispatch("p/p1/a", at=2_000),
        dispatch("p/p2/a", at=3_000),
        result("p/p1/a", at=4_000),
        result("p/p2/a", at=6_000),
        result("p", at=7_000),
    )
    found = {span.card.call: span for span in timings.spans}
    assert list(found) == ["p", "p/p1/a", "p/p2/a"]
    assert found["p"].own == 6_000 - 4_000
    lane = found["p/p2/a"].lane
    assert timings.lanes[lane] == (3_000, 6_000, False)
    assert timings.agents[lane].share == 1


def test_the_figures_of_a_session() -> None:
    session = timed(*nested()).session
    assert session == Figures(
        calls=4,
        errors=0,
        unknown=0,
        wall=15_000,
        own=12_000,
        total=20_000,
        busy=10_000,
        parallelism=1.2,
        p50=3_000,
        p95=10_000,
        longest=10_000,
        share=10_000 / 15_000,
        outside=5_000,
        waited=0,
        approval=None,
        inferred=False,
        own_inferred=False,
    )


def test_the_figures_of_a_tool_an_agent_and_a_turn() -> None:
    timings = timed(*nested())
    task = timings.tools["task"]
    assert (task.calls, task.own, task.total, task.busy) == (2, 7_000, 15_000, 10_000)
    assert task.wall == 15_000
    agent = timings.agents[timings.spans[0].card.id]
    assert (agent.calls, agent.wall, agent.busy, agent.outside) == (2, 10_000, 6_000, 4_000)
    (whole,) = timings.turns.values()
    assert (whole.wall, whole.calls, whole.own) == (15_000, 4, 12_000)


def test_a_result_that_comes_turns_later_belongs_to_its_own_call() -> None:
    timings = timed(
        turn("go", at=1_000),
        dispatch("slow", '{"run_in_background":true}', at=2_000),
        done(at=3_000),
        turn("on", at=4_000),
        dispatch("a", at=5_000),
        result("a", at=6_000),
        result("slow", at=7_000),
        done(at=8_000),
    )
    assert [when(span) for span in timings.spans] == [
        (2_000, 2_000, 7_000, 5_000),
        (5_000, 5_000, 6_000, 1_000),
    ]
    first, second = timings.turns[1], timings.turns[2]
    assert (first.wall, first.total, first.busy, first.outside) == (2_000, 5_000, 1_000, 1_000)
    assert (second.wall, second.total, second.outside) == (4_000, 1_000, 3_000)
    assert [step.call for step in timings.critical_path("t1")] == [None]


def test_failed_calls_and_calls_of_unknown_length_are_counted() -> None:
    session = timed(
        turn("go", at=1_000),
        dispatch("a", at=2_000),
        result("a", err="no", at=3_000),
        dispatch("b", at=4_000),
        dispatch("c", at=5_000),
        result("c", output="blocked: no", at=5_500),
    ).session
    assert (session.calls, session.errors, session.unknown) == (3, 2, 1)
    assert (session.p50, session.longest) == (500, 1_000)


@pytest.mark.parametrize(
    ("values", "part", "value"),
    [
        pytest.param([], 0.5, None, id="of nothing"),
        pytest.param([7], 0.5, 7, id="of one"),
        pytest.param([7], 0.95, 7, id="of one, nearly all"),
        pytest.param([1, 2], 0.5, 1, id="half of two"),
        pytest.param([1, 2, 3], 0.5, 2, id="half of three"),
        pytest.param(list(range(1, 21)), 0.95, 19, id="19 of 20"),
        pytest.param(list(range(1, 22)), 0.95, 20, id="95 % of 21 is more than 19"),
    ],
)
def test_quantiles_are_the_nearest_rank(
    values: Sequence[int], part: float, value: int | None
) -> None:
    assert quantile(values, part) == value


# the critical path


def path(timings: Timings, scope: str = "") -> list[tuple[int, int, str, str]]:
    """The steps of a path: from, to, the call (empty: outside tools), the call it lies in."""
    return [
        (
            step.start,
            step.end,
            step.call.card.call if step.call else "",
            step.within.card.call if step.within else "",
        )
        for step in timings.critical_path(scope)
    ]


def test_the_critical_path_of_calls_in_calls() -> None:
    timings = timed(*nested())
    # p/a ends after p/b begins: had it been faster, nothing else would have been.
    inside = [
        (2_000, 4_000, "", "p"),
        (4_000, 5_000, "", "p/b"),
        (5_000, 7_000, "p/b/x", "p/b"),
        (7_000, 9_000, "", "p/b"),
        (9_000, 12_000, "", "p"),
    ]
    assert path(timings) == [
        (1_000, 2_000, "", ""),
        *inside,
        (12_000, 16_000, "", ""),
    ]
    assert path(timings, "t1") == path(timings)
    of_p = [(*step[:3], "" if step[3] == "p" else step[3]) for step in inside]
    assert path(timings, timings.spans[0].card.id) == of_p


def test_of_calls_that_end_at_once_the_longer_then_the_later_is_on_the_path() -> None:
    timings = timed(
        turn("go", at=1_000),
        dispatch("short", at=4_000),
        dispatch("long", at=4_000),
        dispatch("late", at=4_000),
        result("short", at=6_000, duration_ms=500),
        result("long", at=6_000, duration_ms=2_000),
        result("late", at=6_000, duration_ms=2_000),
        dispatch("over", at=6_500),
        done(at=7_000),
        turn("on", at=8_000),
    )
    assert path(timings, "t1") == [
        (1_000, 4_000, "", ""),
        (4_000, 6_000, "late", ""),
        (6_000, 7_000, "", ""),
    ]


def test_a_path_of_what_never_was_is_empty() -> None:
    timings = timed(turn("go", at=1_000), dispatch("a", at=2_000))
    assert timings.critical_path("t7") == ()
    assert timings.critical_path("c7") == ()
    assert timings.critical_path(timings.spans[0].card.id) == ()
    assert timed().critical_path() == ()


# what holds for any session

CALLS = ("a", "b", "c", "a/x", "a/y", "b/p1/x", "b/p2/x", "a/x/z", "q/r")
DURATIONS = st.sampled_from([0, 1, 7, 400, 3_000, 60_000, -1, LONGEST_MS + 1, 2**62])


@st.composite
def sessions(draw: st.DrawFn, *, clock: str = "any") -> list[Record]:
    """Records of a session; the clock runs (`runs`), was never looked at (`none`), or anything."""
    at = 1_700_000_000_000
    records: list[Record] = []
    for _ in range(draw(st.integers(0, 16))):
        steps = [0, 1, 500, 4_000, 400_000] + ([-300, -10_000] if clock == "any" else [])
        at += draw(st.sampled_from(steps))
        is_timed = clock == "runs" or (clock == "any" and draw(st.booleans()))
        records.append(_record(draw, at if is_timed else 0))
    return records


def _record(draw: st.DrawFn, at: int) -> Record:
    call = draw(st.sampled_from(CALLS))
    what = draw(st.sampled_from(["dispatch", "dispatch", "result", "result", "turn", "other"]))
    if what == "dispatch":
        name = draw(st.sampled_from(["bash", "task", ""]))
        args = draw(st.sampled_from(["", '{"run_in_background":true}']))
        return dispatch(call, args, name, at=at)
    if what == "result":
        err = draw(st.sampled_from(["", "", "no"]))
        return result(call, err=err, at=at, duration_ms=draw(DURATIONS))
    if what == "turn":
        return turn("go", at=at)
    return draw(st.sampled_from([done(at=at), notice("so", at=at), usage(at=at, total_tokens=1)]))


@given(sessions())
def test_every_partition_adds_up_to_the_session(records: list[Record]) -> None:
    timings = timed(*records)
    whole = timings.session
    for parts in (timings.turns, timings.tools, timings.agents):
        for name in ("calls", "errors", "unknown", "own", "total"):
            found = sum(getattr(figures, name) for figures in parts.values())
            assert found == getattr(whole, name)


@given(sessions())
def test_no_figure_is_more_than_it_can_be(records: list[Record]) -> None:
    timings = timed(*records)
    scopes: list[Figures] = [timings.session]
    for parts in (timings.turns, timings.tools, timings.agents):
        scopes += parts.values()
    for figures in scopes:
        assert 0 <= figures.own <= figures.total
        assert figures.share is None or 0 <= figures.share <= 1
        assert figures.wall is None or 0 <= figures.busy <= figures.wall
        if figures.outside is not None:
            assert figures.wall == figures.busy + figures.outside
            assert not figures.inferred
    for span in timings.spans:
        assert span.own is None or (
            span.duration is not None and 0 <= span.own <= span.duration <= LONGEST_MS
        )
        if span.start is not None and span.end is not None:
            assert span.end - span.start == span.duration


@given(sessions())
def test_own_time_and_time_inside_make_up_a_call(records: list[Record]) -> None:
    timings = timed(*records)
    for index, span in enumerate(timings.spans):
        if span.start is None or span.end is None:
            continue
        covered = {
            ms
            for child in timings.spans
            if child.parent == index and child.start is not None and child.end is not None
            for ms in _sampled(max(child.start, span.start), min(child.end, span.end))
        }
        if span.duration is not None and span.duration <= 1_000:
            assert span.own == span.duration - len(covered)


def _sampled(start: int, end: int) -> range:
    """Each ms of a stretch, of none that is long."""
    return range(start, end) if end - start <= 1_000 else range(0)


@given(sessions())
def test_a_path_goes_from_the_beginning_to_the_end(records: list[Record]) -> None:
    timings = timed(*records)
    scopes = ["", *(f"t{n}" for n in timings.turn_windows)]
    scopes += [lane for lane in timings.lanes if lane]
    for scope in scopes:
        steps = timings.critical_path(scope)
        for before, after in pairwise(steps):
            assert before.end == after.start
        assert all(step.start < step.end for step in steps)
        window = timings._scope(scope)[0]
        if window is not None and window.length:
            assert (steps[0].start, steps[-1].end) == window[:2]
            in_calls = sum(step.length for step in steps if step.call)
            assert in_calls <= window.length
        for step in steps:
            if step.call is not None:
                assert step.call.start is not None
                assert step.call.start <= step.start
                assert step.end == step.call.end
                assert not any(
                    timings.spans[other.parent] is step.call
                    for other in timings.spans
                    if other.parent >= 0 and other.start is not None
                )


@given(sessions(clock="none"))
def test_a_schedule_keeps_the_order_and_every_duration(records: list[Record]) -> None:
    timings = timed(*records)
    for span in timings.spans:
        assert span.inferred or span.asked is None
        if span.asked is not None and span.start is not None:
            assert span.asked <= span.start
        assert "disagrees" not in span.marks
    asked = sorted(
        (span.card.dispatch.offset, span.asked)
        for span in timings.spans
        if span.asked is not None and span.card.dispatch is not None
        if not isinstance(span.card.dispatch, Record)
    )
    assert [at for _, at in asked] == sorted(at for _, at in asked)


@given(sessions(clock="none"), st.integers(1, 10**12))
def test_a_schedule_that_is_recorded_stays_as_it_is(records: list[Record], base: int) -> None:
    transcript = folded(*records)
    timings = timings_of(transcript)
    at: dict[int, int] = {}
    for span in timings.spans:
        for part, time in ((span.card.dispatch, span.asked), (span.card.result, span.end)):
            if part is not None and time is not None:
                at[getattr(part, "offset", -1)] = base + time
    for card in transcript.walk():
        time = timings.when(card)
        if card.kind in ("prompt", "notice") and time is not None:
            at[getattr(card.parts[0], "offset", -1)] = base + time
    told = [
        Record(record.kind, record.text, level=record.level, tool=record.tool, at=at.get(i, 0))
        for i, record in enumerate(records)
    ]
    again = timings_of(folded(*told))
    for before, after in zip(timings.spans, again.spans, strict=True):
        if before.start is None or before.end is None or before.asked is None:
            continue
        assert after.duration == before.duration
        assert after.end == before.end + base


@given(sessions(clock="runs"))
def test_recorded_times_are_never_changed(records: list[Record]) -> None:
    timings = timed(*records)
    for span in timings.spans:
        assert not span.inferred
        assert (span.asked or 0) == span.card.at
        assert "disagrees" not in span.marks
        if span.card.result is not None:
            assert (span.end or 0) == span.card.ended_at


# the other figures of a page


@given(sessions(clock="runs"))
def test_the_vital_signs_agree(records: list[Record]) -> None:
    transcript = folded(*records)
    timings, tally = timings_of(transcript), Tally(transcript)
    growing = Transcript()
    kept_up = Tally(growing)
    for record in records:
        kept_up.take(growing.apply(record))
    summary = tally.summary(alive=False)
    assert kept_up.summary(alive=False) == summary
    assert summary.wall_ms == timings.session.wall
    assert tally.slowest is (timings.longest.card if timings.longest else None)
    assert (kept_up.slowest and kept_up.slowest.id) == (tally.slowest and tally.slowest.id)
    for one in transcript.turns:
        assert timings.turn(one.number) == timings.turns.get(one.number)
        tops = [s for s in timings.tops_of(one.number) if not s.card.parent and s.duration]
        longest = max(tops, key=lambda s: (s.duration or 0, -s.card.number), default=None)
        assert transcript.longest_in(one) is (longest.card if longest else None)
    if all(ran.duration_ms == counted_ms(ran) for ran in tools(transcript)):
        waited_for = (s.duration or 0 for s in timings.spans if s.card.in_main_lane)
        assert summary.tool_ms == sum(waited_for)
    calls = transcript.calls
    assert calls.count == timings.session.calls
    assert calls.errors == timings.session.errors


@given(sessions())
def test_a_call_is_as_long_everywhere(records: list[Record]) -> None:
    transcript = folded(*records)
    timings = timings_of(transcript)
    for span in timings.spans:
        card = span.card
        assert counted_ms(card) == ran_as_recorded(card).duration
        if not span.inferred and card.at:
            assert span.duration == counted_ms(card)
            assert (span.asked, span.start, span.end) == ran_as_recorded(card)[:3]


def test_the_line_of_a_sub_agent_shows_the_spans_of_its_calls() -> None:
    records = [
        dispatch("p", name="task", at=1_000),
        dispatch("p/a", at=1_000),
        result("p/a", at=3_000, duration_ms=1_000),
        dispatch("p/b", at=4_000),
        result("p/b", at=5_000, duration_ms=9_000),
        dispatch("p/c", at=4_000),
        dispatch("p/d", at=5_000),
        result("p/d", err="no", at=9_000),
        result("p", at=9_000),
    ]
    timings = timed(*records)
    (outer, *inner) = timings.spans
    assert outer.start is not None
    assert outer.duration is not None
    found = waterfall(outer.card)
    assert found is not None
    bars = found.bars
    assert found.figures == "5.0 s in tools"
    assert "the longest was bash, 4.0 s" in found.title
    drawn = [bar for bar in bars if bar.css_class != "wait"]
    spans = [span for span in inner if span.start is not None]
    assert [bar.css_class for bar in drawn] == ["call", "bad"]
    for bar, span in zip(drawn, spans, strict=True):
        assert span.start is not None
        assert span.duration is not None
        assert bar.x == (span.start - outer.start) * WIDTH // outer.duration
        assert bar.width == span.duration * WIDTH // outer.duration
    (wait,) = [bar for bar in bars if bar.css_class == "wait"]
    assert (wait.x, wait.width) == (0, 100)


def test_a_sub_agent_without_recorded_times_has_no_line() -> None:
    transcript = folded(
        dispatch("p", name="task"),
        dispatch("p/a"),
        result("p/a", duration_ms=5),
        result("p", duration_ms=9),
    )
    (card,) = transcript.cards
    assert isinstance(card, ToolCard)
    assert waterfall(card) is None


def test_nesting_may_be_deeper_than_any_stack() -> None:
    depth = 1_500
    records: list[Record] = [turn("go", at=1)]
    for n in range(depth):
        tool = Tool(id=f"n{n}", name="task", parent_id=f"n{n - 1}" if n else "")
        records.append(Record(Kind.TOOL_DISPATCH, tool=tool, at=2 + n))
    records += [result(f"n{n}", at=10_000 + depth - n) for n in reversed(range(depth))]
    transcript = Transcript()
    for line, record in enumerate(records):
        transcript.feed(record, line, 1, line + 1)
    timings = timings_of(transcript)
    assert timings.session.own == timings.spans[0].duration
    assert len(timings.critical_path()) >= depth

"""The timings page: which rows, what is drawn of them, and how much at the most."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.limits import TIMING_FOLDS, TIMING_ROWS
from presentview.records import Profile, Record
from presentview.sessions import session_id
from presentview.transcript.fold import Transcript
from presentview.transcript.timemap import IDLE_MS, TimeMap
from presentview.web.ruler import cuts_of, ticks_of
from presentview.web.timed import Timed, until_of
from presentview.web.timerows import TimeRow, rows_drawn
from presentview.web.timetables import agent_lines, facts_of, path_lines, tool_lines
from presentview.web.timetree import Tree, tree_of
from presentview.web.timeview import SORTS, TimeView, acted, time_view_of, window_of
from tests.sidecars import write_session
from tests.strategies import sessions
from tests.unit.transcript.story import answers, asks, dispatch, done, folded, result, turn
from tests.web.asking import Serving, ask

PAGE_BYTES = 500_000
HOUR = 3_600_000


def call(name: str, at: int, ms: int, tool: str = "bash", **kept: Any) -> list[Record]:
    return [dispatch(name, name=tool, at=at), result(name, at=at + ms, **kept)]


def drawn(transcript: Transcript, view: TimeView | None = None, *, alive: bool = False) -> Any:
    """The rows, by what names them, as a page draws them."""
    view = view or TimeView()
    found = Timed(transcript)
    window = window_of(view, found.line(transcript, None))
    tree = tree_of(transcript, found, view, window)
    rows = rows_drawn(tree.rows, found.timings, window, alive=alive, critical=found.critical)
    return {row.key: row for row in rows}


def tree(transcript: Transcript, view: TimeView | None = None) -> Tree:
    view = view or TimeView()
    found = Timed(transcript)
    return tree_of(transcript, found, view, window_of(view, found.line(transcript, None)))


def bars(row: TimeRow) -> list[tuple[str, float, float]]:
    return [(bar.css_class, bar.x, bar.width) for bar in row.bars]


# the line


def test_one_outlier_does_not_flatten_the_rest() -> None:
    short = [(n * 1_000, n * 1_000 + 900) for n in range(10)]
    line = TimeMap([*short, (10_000, 10_000 + 3 * HOUR)], cuts_outliers=True)
    assert line.x(9_900) == pytest.approx(25, abs=1)
    (cut,) = line.breaks(9)
    assert (cut.idle, cut.is_busy) == (3 * HOUR, True)
    assert cut.width == pytest.approx(75, abs=1)
    assert line.x(10_000 + 3 * HOUR // 2) == pytest.approx(25 + 37, abs=1), "evenly inside"


def test_several_outliers_share_what_one_would_have() -> None:
    short = [(n * 1_000, n * 1_000 + 900) for n in range(10)]
    stretches = [*short, (10_000, HOUR), (HOUR, 50 * HOUR)]
    line = TimeMap(stretches, cuts_outliers=True)
    assert line.x(9_900) == pytest.approx(25, abs=1)
    assert line.x(HOUR) == pytest.approx(25 + 37.5, abs=1)


def test_a_long_call_that_leaves_enough_to_be_seen_is_not_cut() -> None:
    line = TimeMap([(n * 1_000, n * 1_000 + 900) for n in range(10)] + [(10_000, 60_000)])
    cut = TimeMap(
        [(n * 1_000, n * 1_000 + 900) for n in range(10)] + [(10_000, 60_000)], cuts_outliers=True
    )
    assert cut.breaks(9) == []
    assert cut.x(10_000) == line.x(10_000)


STRETCHES = st.lists(
    st.tuples(st.integers(0, 10**9), st.sampled_from([0, 1, 900, 10**6, 10**9, 10**11])),
    min_size=1,
    max_size=20,
)


@given(STRETCHES, st.booleans(), st.lists(st.floats(0, 100), max_size=9))
def test_a_line_keeps_the_order_and_knows_the_way_back(
    stretches: list[tuple[int, int]], cuts: bool, places: list[float]
) -> None:
    line = TimeMap(((start, start + ms) for start, ms in stretches), cuts_outliers=cuts)
    if not line:
        return
    moments = sorted({m for start, ms in stretches for m in (start, start + ms)})
    xs = [line.x(moment) for moment in moments]
    assert xs == sorted(xs)
    assert xs[0] == 0
    assert xs[-1] == pytest.approx(100)
    assert (line.start, line.end) == (moments[0], moments[-1])
    ats = [line.at(x) for x in sorted(places)]
    assert ats == sorted(ats)
    for moment in moments:
        # What lies at a pause is at its beginning and at its end.
        assert line.x(line.at(line.x(moment))) == pytest.approx(line.x(moment), abs=1.7)


# the rows


def small() -> Transcript:
    inside = [*call("p/a", 3_000, 1_000), *call("p/b", 5_000, 2_000, err="no")]
    return folded(
        turn("go", at=1_000),
        dispatch("p", '{"description":"Audit"}', "task", at=2_000, profile=Profile("m", "high")),
        *inside,
        result("p", at=9_000),
        *call("w", 9_000, 4_000, duration_ms=1_000),
        done(at=14_000),
    )


def test_rows_are_nested_like_the_sub_agents() -> None:
    rows = drawn(small())
    assert [(key, row.depth) for key, row in rows.items()] == [
        ("t1", 0), ("c2", 1), ("c3", 2), ("c4", 2), ("c5", 1),
    ]  # fmt: skip
    assert (rows["c4"].note, rows["c4"].time) == ("failed", "2.0 s")
    assert rows["t1"].detail == "13.0 s, 2 calls, 5.0 s outside tools"
    assert rows["c2"].detail == (
        "done, at 1.0 s, ran 7.0 s, 4.0 s of it own, on the critical path, 2 steps, 1 failed, "
        "m · high"
    )


def test_a_call_that_waited_has_two_bars() -> None:
    assert bars(drawn(small())["c5"]) == [
        ("wait", 61.54, 23.08),
        ("call", 84.62, 7.69),
        ("critical", 84.62, 7.69),
    ]


def test_an_approval_has_a_bar_of_its_own() -> None:
    transcript = folded(
        turn("go", at=1_000),
        dispatch("a", at=1_000),
        asks("a", at=2_000),
        answers("a", "approved", at=7_000),
        result("a", at=11_000, duration_ms=2_000),
        done(at=11_000),
    )
    row = drawn(transcript)["c2"]
    assert bars(row)[:3] == [("wait", 0, 80), ("call", 80, 20), ("ask", 10, 50)]
    assert "waited 5.0 s for approval: approved, waited 3.0 s before it ran" in row.detail


def test_absurd_times_are_told_and_take_no_room() -> None:
    month = 40 * 24 * HOUR
    row = drawn(folded(turn("go", at=1_000), *call("a", 1_500, 500, duration_ms=month)))["c2"]
    assert row.note == "absurd"
    assert row.time == "960 h 00 m"
    assert "recorded as 3,456,000,000 ms, cannot be true: left out of sums" in row.detail
    assert [bar.width for bar in row.bars] == [0.25]


def test_what_is_inferred_is_hatched_and_no_path_is_told() -> None:
    transcript = folded(
        turn("go"),
        dispatch("a"),
        dispatch("b"),
        result("a", duration_ms=2_000),
        result("b", duration_ms=1_000),
    )
    rows = drawn(transcript)
    assert all(bar.inferred for bar in rows["c2"].bars)
    assert "when is inferred" in rows["c3"].detail
    assert rows["t1"].time == "≥ 2.0 s"
    timings = Timed(transcript).timings
    assert [fact.text for fact in facts_of(timings) if fact.name == "Parallelism"] == ["≤ 1.50"]
    assert tool_lines(timings, "")[0].share == ""


def test_what_runs_is_drawn_to_now() -> None:
    transcript = folded(turn("go", at=1_000), dispatch("a", at=2_000))
    found = Timed(transcript)
    assert until_of(found.timings, alive=False, now=9_000) is None
    until = until_of(found.timings, alive=True, now=11_000)
    assert until == 11_000
    line = found.line(transcript, until)
    window = window_of(TimeView(), line)
    (node,) = [n for n in tree_of(transcript, found, TimeView(), window).rows if n.key == "c2"]
    (row,) = rows_drawn([node], found.timings, window, alive=True, critical={})
    assert bars(row) == [("running", 10, 90)]
    assert (row.clock_from, row.note) == (2_000, "running")


# which rows


def long(turns: int, calls: int) -> Transcript:
    transcript = Transcript()
    at = line = 0
    for n in range(turns):
        records = [turn(f"turn {n}", at=at + 1)]
        for i in range(calls):
            records += call(f"c{n}.{i}", at + 10 * i + 2, 8, err="no" if i == 7 else "")
        for record in records:
            transcript.feed(record, line, 1, line + 1)
            line += 1
        at += 10 * calls + 50 + (n == turns // 2) * 999
    return transcript


@pytest.mark.parametrize(
    ("turns", "calls"),
    [
        pytest.param(1, 5_000, id="one turn"),
        pytest.param(5_000, 1, id="a turn for each call"),
        pytest.param(70, 70, id="many of both"),
    ],
)
@pytest.mark.parametrize("view", [TimeView(), TimeView(base="all")], ids=["at first", "unfolded"])
def test_however_many_calls_few_rows_are_drawn(turns: int, calls: int, view: TimeView) -> None:
    found = tree(long(turns, calls), view)
    assert len(found.rows) <= TIMING_ROWS
    assert found.is_cut == (view.base == "all")
    if not view.base:
        assert found.rows[-1].items[-1] is not None
        covered = {key for node in found.rows for key in [node.key] if "-" not in key}
        assert any(node.is_part for node in found.rows) or len(covered) >= turns


def test_of_a_long_session_the_longest_turn_is_unfolded() -> None:
    found = tree(long(100, 40))
    opened = [node.key for node in found.rows if node.is_open]
    assert opened == ["t51"]


def test_parts_can_be_unfolded_down_to_each_call() -> None:
    transcript = long(1, 5_000)
    keys = [node.key for node in tree(transcript).rows]
    assert keys[:3] == ["t1", "t1-0", "t1-1"]
    inner = tree(transcript, TimeView(opened=("t1-3",))).rows
    at = [node.key for node in inner].index("t1-3")
    assert [node.key for node in inner[at + 1 : at + 3]] == ["c152", "c153"]
    assert inner[at].first == 151


def test_a_card_that_is_looked_for_is_unfolded_wherever_it_is() -> None:
    transcript = long(300, 30)
    keys = [node.key for node in tree(transcript, TimeView(at="c4002")).rows]
    assert "c4002" in keys


def test_zoomed_in_only_what_was_there_then_has_rows() -> None:
    keys = list(drawn(small(), TimeView(start=2_100, end=2_900)))
    assert keys == ["t1", "c2", "c3"]


# the view


@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.text(max_size=20) | st.sampled_from(["all", "12", "-5", "t1.c2", "c3", "p50"])
            for name in ("from", "to", "rows", "open", "shut", "sort", "at")
        },
    )
)
def test_an_address_is_a_view_and_a_view_an_address(query: dict[str, str]) -> None:
    view = time_view_of(query)
    again = time_view_of(dict(parse_qsl(view.query)))
    assert again == msgspec.structs.replace(view, at="")


ACTS = st.sampled_from(
    ["zoom:in", "zoom:out", "zoom:all", "pan:left", "pan:right", "rows:all", "rows:none",
     "open:t1", "shut:t1", "open:c4-2", "span:20.5:40", "span:90:10", "span:0:100", "span:200:999",
     "open:../x", "zoom:", "", "nothing"]
)  # fmt: skip


@given(st.lists(ACTS, max_size=12))
def test_buttons_never_lead_out_of_the_line(acts: list[str]) -> None:
    line = TimeMap([(0, 5_000), (5_000 + 2 * IDLE_MS, 9_000 + 2 * IDLE_MS)])
    view = TimeView()
    for act in acts:
        view = acted(view, act, line)
        window = window_of(view, line)
        assert 0 <= window.low < window.high <= 100.001
        assert ticks_of(window) is not None
        assert all(0 <= cut.x <= 100 for cut in cuts_of(window))
        if act in ("zoom:all", "span:0:100"):
            assert window.is_whole


def test_an_address_unfolds_only_so_many_rows() -> None:
    many = ".".join(f"c{n}" for n in range(5 * TIMING_FOLDS))
    assert len(time_view_of({"open": many}).opened) <= TIMING_FOLDS


# tables


@pytest.mark.parametrize("sort", SORTS)
def test_tools_are_in_the_order_that_is_asked_for(sort: str) -> None:
    records = [turn("go", at=1)]
    for n, (tool, ms) in enumerate([("b", 500), ("a", 90), ("a", 70), ("c", 300)]):
        records += call(f"x{n}", 1_000 * n + 1, ms, tool, err="no" if tool == "c" else "")
    names = "".join(line.name for line in tool_lines(Timed(folded(*records)).timings, sort))
    expected = {"name": "abc", "calls": "abc", "errors": "cab"}
    assert names == expected.get(sort, "bca")


def test_the_critical_path_is_told_by_tool() -> None:
    found = Timed(small())
    told = [(line.name, line.time) for line in path_lines(found.path)]
    assert told == [("outside tools", "9.0 s"), ("bash", "4.0 s")]


def test_agents_are_compared() -> None:
    from presentview.transcript.agents import agent_runs

    transcript = small()
    main, audit = agent_lines(list(agent_runs(transcript, Timed(transcript).timings)))
    assert (main.name, main.steps, main.wall) == ("Main agent", "4", "13.0 s")
    assert audit[:8] == ("c2", "Audit", 0, "2", "1", "7.0 s", "3.0 s", "4.0 s")
    assert audit.profile == "m · high"


# the page


def test_a_page_of_five_thousand_calls_with_long_names_is_not_large(
    tmp_path: Path, serve: Callable[[Path], Serving]
) -> None:
    records = [turn("go", at=1)]
    for n in range(5_000):
        args = '{"command":"' + f"number {n} of many " * 20 + '"}'
        records += [dispatch(f"c{n}", args, "a tool with a long name", at=10 * n + 1)]
        records += [result(f"c{n}", at=10 * n + 9, duration_ms=2)]
    session = session_id(write_session(tmp_path.resolve(), records))
    guard = serve(tmp_path.resolve()).guard
    opened = "t1." + ".".join(f"t1-{n}" for n in range(60))
    for query in ("", "?rows=all", f"?open={opened}"):
        answer = ask(guard, f"/s/{session}/timings{query}")
        assert answer.status == 200
        assert len(answer.body) <= PAGE_BYTES


def test_a_button_leads_to_an_address_that_does_not_press_it_again(
    tmp_path: Path, serve: Callable[[Path], Serving]
) -> None:
    records = [turn("go", at=1_000), *call("a", 2_000, 5_000), done(at=9_000)]
    session = session_id(write_session(tmp_path.resolve(), records))
    guard = serve(tmp_path.resolve()).guard
    answer = ask(guard, f"/s/{session}/timings?act=zoom:in&sort=p95")
    assert (answer.status, answer.one("location")) == (
        303,
        f"/s/{session}/timings?from=2000&to=6000&sort=p95",
    )
    assert (
        'data-low="25.0" data-high="75.0"'
        in ask(guard, f"/s/{session}/timings/waterfall?act=zoom:in").text
    )


@given(records=sessions())
def test_no_session_breaks_the_page(
    tmp_path_factory: pytest.TempPathFactory, records: list[Record]
) -> None:
    transcript = folded(*records)
    for view in (TimeView(), TimeView(base="all"), TimeView(start=1, end=900)):
        for row in drawn(transcript, view, alive=True).values():
            for bar in row.bars:
                assert 0 <= bar.x <= 100
                assert 0 < bar.width <= 100.3


def test_what_a_transcript_says_is_only_text(
    tmp_path: Path, serve: Callable[[Path], Serving]
) -> None:
    evil = '"><script>alert(1)</script>\u202e'
    records = [
        turn(evil, at=1_000),
        dispatch("p", f'{{"description":{evil!r}}}', evil, at=2_000, profile=Profile(evil, evil)),
        *call("p/a", 2_500, 100, evil, err=evil),
        asks("x", evil, at=3_000),
        result("p", at=4_000),
    ]
    session = session_id(write_session(tmp_path.resolve(), records))
    page = ask(serve(tmp_path.resolve()).guard, f"/s/{session}/timings").text
    assert "<script>alert" not in page
    assert " style=" not in page

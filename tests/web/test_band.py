"""The band under the top bar: which rows, what is drawn in them, and how much at the most."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.records import Kind, Record, encode
from presentview.sessions import session_id
from presentview.transcript.fold import Transcript
from presentview.transcript.timemap import IDLE_MS, TimeMap
from presentview.transcript.timings import timings_of
from presentview.web import band as drawing
from presentview.web.band import ROWS, Band, band_of, beside, tool_times
from presentview.web.lanes import packed, runs_of
from tests.sidecars import write_sidecar
from tests.strategies import sessions
from tests.unit.transcript.story import (
    compaction_done,
    compaction_started,
    dispatch,
    done,
    folded,
    message,
    result,
    retrying,
    turn,
)
from tests.web.asking import Serving, ask

MOST_ELEMENTS = 300


def band(*records: Record) -> Band:
    transcript = folded(*records)
    found = band_of(transcript, timings_of(transcript))
    assert found is not None
    return found


def html(transcript: Transcript) -> str:
    return str(beside(transcript, "s1", object()).band)


def elements(markup: str) -> int:
    return len(re.findall(r"<[a-z]", markup))


def agent(call: str, what: str, start: int, end: int, *inside: Record) -> list[Record]:
    args = json.dumps({"description": what})
    return [dispatch(call, args, "task", at=start), *inside, result(call, at=end)]


# the line


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**6)), min_size=1, max_size=30),
    st.lists(st.integers(-(10**6), 2 * 10**9), max_size=20),
)
def test_a_line_keeps_the_order_of_all_times(
    stretches: list[tuple[int, int]], times: list[int]
) -> None:
    line = TimeMap((start, start + length) for start, length in stretches)
    times += [start for start, _ in stretches]
    places = [line.x(at) for at in sorted(times)]
    assert places == sorted(places)
    assert all(0 <= x <= 100 for x in places)
    if line:
        assert line.x(min(start for start, _ in stretches)) == 0
        assert line.x(max(start + length for start, length in stretches)) == pytest.approx(100)


def test_a_long_pause_is_cut_short() -> None:
    night = 9 * 3_600_000
    line = TimeMap([(0, 1_000), (1_000 + night, 3_000 + night), (3_000 + night + IDLE_MS,) * 2])
    (pause,) = line.breaks(6)
    assert pause.idle == night
    assert line.length == 3_000 + IDLE_MS
    assert line.x(1_000) == pytest.approx(pause.x)
    assert line.x(1_000 + night) == pytest.approx(pause.x + pause.width)
    assert line.x(500_000) == pytest.approx(pause.x), "within the pause"


def test_pauses_never_take_more_than_a_quarter() -> None:
    line = TimeMap((n * 10**7, n * 10**7 + 1_000) for n in range(500))
    assert len(line.breaks(6)) == 6
    assert sum(pause.width for pause in line.breaks(10**6)) == pytest.approx(25)


# the rows


def test_runs_of_the_same_name_share_a_row_unless_they_overlap() -> None:
    transcript = folded(
        *agent("a", "audit", 1_000, 2_000),
        *agent("b", "audit", 3_000, 4_000, *agent("c", "audit", 3_500, 3_600)),
        *agent("d", "other", 3_000, 4_000),
        *agent("e", "audit", 5_000, 6_000),
    )
    lanes = packed(runs_of(transcript.walk(), timings_of(transcript)))
    rows = [(lane.name, [run.card.call for run in lane.runs]) for lane in lanes]
    assert [name for name, _ in rows] == ["audit", "audit", "other"]
    assert sorted(call for _, calls in rows for call in calls) == ["a", "b", "c", "d", "e"]
    for lane in lanes:
        ends = 0
        for run in lane.runs:
            assert run.start is not None
            assert run.end is not None
            assert run.start >= ends
            ends = run.end


def test_a_row_says_what_an_agent_did() -> None:
    inside = [dispatch("p/a", at=1_500), result("p/a", err="no", at=2_000)]
    inside += [dispatch("p/b", at=2_000), result("p/b", at=3_000)]
    found = band(turn("go", at=1_000), *agent("p", "audit", 1_000, 5_200, *inside))
    main, sub = found.rows
    assert main.label == "Main agent: 4.2 s, 1 call"
    assert sub.label == "Sub-agent audit: 4.2 s, 2 steps, 1 error"
    assert (sub.name, sub.card_id, sub.time, sub.depth) == ("audit", "c2", "4.2 s", 0)
    assert [glyph.card_id for glyph in sub.glyphs] == ["c3"]
    assert found.is_open


def test_sub_agents_without_a_record_of_their_own_are_named_after_the_call() -> None:
    inside = [dispatch("p/p1/a", at=1_500), result("p/p1/a", at=2_000)]
    inside += [dispatch("p/p2/a", at=2_000), result("p/p2/a", at=3_000)]
    found = band(turn("go", at=1_000), *agent("p", "ask them", 1_000, 5_000, *inside))
    assert [row.name for row in found.rows] == ["Main agent", "p1 · ask them", "p2 · ask them"]
    assert [row.time for row in found.rows] == ["4.0 s", "500 ms", "1.0 s"]


def test_glyphs_name_the_card_they_lead_to() -> None:
    found = band(
        turn("go", at=1_000),
        dispatch("a", '{"command":"ls"}', at=2_000),
        result("a", err="no", at=20_000),
        compaction_started(at=30_000),
        compaction_done("so far", 4, at=31_000),
        retrying(1, 3, at=50_000),
        dispatch("b", '{"command":"cat"}', at=60_000),
        result("b", truncated=True, at=70_000),
        done("overloaded", at=90_000),
    )
    (row,) = found.rows
    assert [(glyph.kind, glyph.card_id, glyph.label) for glyph in row.glyphs] == [
        ("error", "c2", "Error: bash ls"),
        ("compaction", "c3", "Compaction: auto"),
        ("retry", "c4", "Retry: attempt 1 of 3"),
        ("cut", "c5", "Output cut: bash cat"),
        ("error", "c6", "Error: overloaded"),
    ]
    assert not found.is_open
    assert row.name == "Calls"


def test_glyphs_too_close_become_one() -> None:
    calls = [
        record
        for n in range(3)
        for record in (dispatch(f"a{n}", at=2_000 + n), result(f"a{n}", err="no", at=2_000 + n))
    ]
    found = band(turn("go", at=1_000), *calls, retrying(1, at=2_010), message("end", at=99_000))
    (glyph,) = found.rows[0].glyphs
    assert glyph.label == "3 errors, 1 retry; first error: bash"


def test_a_call_has_a_bar_for_the_time_it_waited_and_one_for_the_time_it_ran() -> None:
    (row,) = band(
        turn("go", at=0 + 1_000),
        dispatch("a", at=1_000),
        result("a", at=9_000, duration_ms=2_000),
        message("end", at=11_000),
    ).rows
    drawn = {bar.css_class: (bar.x, bar.width, bar.inferred) for bar in row.bars}
    assert drawn["wait"] == (0, 60, False)
    assert drawn["call"] == (60, 20, False)


def test_a_call_without_an_end_is_drawn_as_long_as_it_was_there() -> None:
    (row,) = band(
        turn("go", at=1_000),
        dispatch("a", at=2_000),
        done(at=6_000),
        turn("on", at=7_000),
        dispatch("b", at=9_000),
        message("so", at=11_000),
    ).rows
    drawn = [(bar.x, bar.width) for bar in row.bars if bar.css_class == "open"]
    assert drawn == [(10, 40), (80, 20)]


def test_what_was_scheduled_is_hatched_and_a_bound() -> None:
    transcript = folded(
        turn("go"),
        dispatch("p", name="task"),
        dispatch("p/a"),
        result("p/a", duration_ms=2_000),
        result("p", duration_ms=3_000),
    )
    drawn = html(transcript)
    assert 'fill="url(#band-call)"' in drawn
    assert "≥ 3.0 s" in drawn
    assert tool_times(timings_of(transcript))[0].time == "2.0 s"
    assert tool_times(timings_of(transcript))[1].time == "≤ 1.0 s"


def test_absurd_calls_do_not_stretch_the_line() -> None:
    month = 40 * 24 * 3_600_000
    found = band(
        turn("go", at=1_000),
        dispatch("a", at=2_000),
        message("so", at=11_000),
        result("a", at=2_000 + month),
    )
    assert found.rows[0].bars[-1].css_class == "turn"


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([], id="nothing"),
        pytest.param([turn("go")], id="a prompt without a time"),
        pytest.param([turn("go", at=5)], id="a prompt"),
        pytest.param([turn("go"), dispatch("a"), result("a")], id="a call of unknown length"),
    ],
)
def test_where_nothing_took_time_there_is_no_band(records: list[Record]) -> None:
    assert html(folded(*records)) == '<div id="band"></div>'


# how much is drawn


def _endless() -> Transcript:
    """1,500 turns, each with an error, a retry, cut output and a sub-agent of one of 40 names."""
    transcript = Transcript()
    at = line = 0
    for n in range(1_500):
        what = f"agent {n % 40}"
        inside = [dispatch(f"p{n}/a", at=at + 20), result(f"p{n}/a", err="no", at=at + 400)]
        for record in (
            turn("go", at=at + 10),
            retrying(1, at=at + 15),
            *agent(f"p{n}", what, at + 20, at + 900, *inside),
            dispatch(f"w{n}", at=at + 900),
            result(f"w{n}", at=at + 9_000, truncated=True, duration_ms=50),
        ):
            transcript.feed(record, line, 1, line + 1)
            line += 1
        at += 10_000 + (n % 7 == 0) * 2 * IDLE_MS
    return transcript


def test_however_long_the_session_few_elements_are_drawn() -> None:
    transcript = _endless()
    drawn = html(transcript)
    assert elements(drawn) <= MOST_ELEMENTS
    found = band_of(transcript, timings_of(transcript))
    assert found is not None
    assert len(found.rows) == ROWS
    assert found.more == 40 - (ROWS - 1)
    assert found.agents == 1_500
    assert not found.is_open, "a long session's is folded"


@given(sessions())
def test_no_session_breaks_the_drawing(records: list[Record]) -> None:
    drawn = html(folded(*records))
    assert elements(drawn) <= MOST_ELEMENTS
    assert " style=" not in drawn
    assert "nan" not in re.findall(r'(?:x|width)="([^"]*)"', drawn)


def test_what_a_transcript_says_is_only_text() -> None:
    evil = '"><script>alert(1)</script>'
    drawn = html(
        folded(
            turn("go", at=1_000),
            *agent("p", evil, 2_000, 3_000, dispatch("p/a", name=evil, at=2_500)),
            dispatch("x", name=evil, at=4_000),
            result("x", err=evil, at=5_000),
        )
    )
    assert "<script" not in drawn


def test_a_long_session_asks_for_its_band_later(monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = folded(turn("go", at=1_000), dispatch("a", at=1_000), result("a", at=2_000))
    monkeypatch.setattr(drawing, "AT_ONCE_CARDS", 1)
    version = object()
    assert beside(transcript, "s1", version, at_once=True).band == (
        '<div id="band" data-later></div>'
    )
    now = beside(transcript, "s1", version)
    assert "Timeline" in now.band
    assert beside(transcript, "s1", version, at_once=True) is now, "what is known comes with it"
    assert beside(transcript, "s1", object(), at_once=True) is not now


# the page


def test_a_page_comes_with_its_band_and_can_ask_for_it_again(
    tmp_path: Path, serve: Callable[[Path], Serving]
) -> None:
    path = tmp_path.resolve() / "s.present.jsonl"
    inside = [dispatch("p/a", at=1_500), result("p/a", err="no", at=2_000)]
    records = [turn("go", at=1_000), *agent("p", "audit", 1_000, 5_200, *inside)]
    write_sidecar(path, records)
    guard = serve(path.parent).guard
    session = session_id(path.parent / "s.jsonl")
    page = ask(guard, f"/s/{session}").text
    assert f'href="/s/{session}?focus=c2" aria-label="Sub-agent audit: 4.2 s' in page
    assert 'class="glyph error" href="#c3" aria-label="Error: bash"' in page
    assert '<a href="?state=failed">1</a>' in page
    assert "Time by tool" in page
    again = json.loads(ask(guard, f"/s/{session}/band").body)
    assert again["band"] in page
    assert again["tools"] in page
    with path.open("ab") as file:
        file.write(encode(Record(kind=Kind.RETRYING, at=6_000)) + b"\n")
    anew = json.loads(ask(guard, f"/s/{session}/band").body)
    assert "glyph retry" in anew["band"]

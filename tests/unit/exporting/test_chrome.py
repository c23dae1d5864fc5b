"""Traces for Perfetto: on each thread intervals nest or are disjoint, and say what was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.exporting.chrome import chrome_json, placed
from presentview.follow import Follower
from presentview.records import Record
from presentview.transcript.timings import timings_of
from tests.sidecars import write_session
from tests.strategies import sessions
from tests.unit.transcript.story import dispatch, folded, result, turn


def trace(folder: Path, *records: Record, content: bool = False) -> Any:
    follower = Follower(write_session(folder, records))
    follower.refresh()
    found = json.loads(chrome_json(follower, content=content))
    follower.close()
    return found


def assert_nested(events: list[dict[str, Any]]) -> None:
    """What Chrome's format asks for: of two intervals of a thread one holds the other, or they
    have no more than a moment in common.
    """
    threads: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for event in events:
        if event["ph"] == "X":
            assert event["dur"] >= 0
            where = (event["pid"], event["tid"])
            threads.setdefault(where, []).append((event["ts"], event["ts"] + event["dur"]))
    for intervals in threads.values():
        ends: list[int] = []
        for start, end in sorted(intervals, key=lambda one: (one[0], -one[1])):
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or end <= ends[-1], intervals
            ends.append(end)


STORY = [
    turn("go", at=1_000),
    dispatch("p", '{"description":"Audit"}', "task", at=2_000),
    dispatch("p/a", '{"command":"ls"}', at=3_000),
    dispatch("p/b", '{"command":"make"}', at=3_500),
    result("p/a", at=5_000, duration_ms=1_000),
    result("p/b", err="no", at=6_000),
    result("p", at=10_000),
]


def test_a_call_is_an_event_and_so_is_the_time_it_waited(tmp_path: Path) -> None:
    found = trace(tmp_path, *STORY)
    events = [event for event in found["traceEvents"] if event["ph"] == "X"]
    told = {(e["name"], e["args"]["call"]): (e["ts"], e["dur"], e["tid"]) for e in events}
    assert told == {
        ("task", "p"): (1_000_000, 8_000_000, 1),
        ("waiting: bash", "p/a"): (2_000_000, 1_000_000, 1),
        ("bash", "p/a"): (3_000_000, 1_000_000, 1),
        ("bash", "p/b"): (2_500_000, 2_500_000, 2),
    }
    assert_nested(events)
    assert found["otherData"]["inferred"] is False
    assert {e["args"]["state"] for e in events if "state" in e["args"]} == {"done", "failed"}


def test_what_calls_were_about_is_only_told_when_asked_for(tmp_path: Path) -> None:
    assert "make" not in json.dumps(trace(tmp_path, *STORY))
    told = json.dumps(trace(tmp_path, *STORY, content=True))
    for text in ("bash make", "Audit", '"error": "no"'):
        assert text in told


def test_a_call_without_a_result_is_as_long_as_it_was_seen(tmp_path: Path) -> None:
    later = turn("on", at=9_000)
    found = trace(tmp_path, turn("go", at=1_000), dispatch("a", at=2_000), later)
    (event,) = [event for event in found["traceEvents"] if event["ph"] == "X"]
    assert event["ts"] == 1_000_000
    assert event["args"]["state"] == "interrupted"


@pytest.mark.parametrize("count", [1, 3, 40])
def test_calls_at_once_get_threads_of_their_own(count: int) -> None:
    records = [dispatch(f"c{n}", at=1_000 + n) for n in range(count)]
    records += [result(f"c{n}", at=9_000 + n) for n in range(count)]
    found = placed(timings_of(folded(turn("go", at=1_000), *records)))
    assert sorted(one.tid for one in found) == list(range(1, count + 1))


@given(sessions(), st.booleans())
def test_any_session_makes_a_trace_that_nests(
    tmp_path_factory: pytest.TempPathFactory, records: list[Record], content: bool
) -> None:
    found = trace(tmp_path_factory.mktemp("any"), *records, content=content)
    assert_nested(found["traceEvents"])


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "a/x", "a/y", "a/x/z", "b/x"]),
        st.integers(0, 20),
        st.integers(0, 20),
        st.integers(0, 20),
    ),
    max_size=12,
)


@given(CALLS)
def test_calls_with_times_of_any_kind_nest(calls: list[tuple[str, int, int, int]]) -> None:
    records = [turn("go", at=1)]
    for call, at, length, duration in calls:
        records.append(dispatch(call, name="task", at=1 + at))
        records.append(result(call, at=1 + at + length, duration_ms=duration))
    timings = timings_of(folded(*records))
    found = placed(timings)
    events = [
        {"ph": "X", "pid": 1, "tid": one.tid, "ts": start, "dur": end - start}
        for one in found
        for start, end in ((one.asked, one.start), (one.start, one.end))
        if end > start or start == one.start
    ]
    assert_nested(events)
    assert len(found) == len(timings.spans)

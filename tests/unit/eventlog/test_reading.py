"""Reading a log: every whole event with its place, and each thing that is wrong named."""

from __future__ import annotations

import errno
import io
import json
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.errors import SidecarError
from presentview.eventlog import (
    Loaded,
    Placed,
    Scan,
    SessionEvent,
    decode_event,
    encode_event,
    load,
    read_events,
    read_line,
)
from tests.unit.eventlog.examples import SAMPLE, event, loose_events

WHOLE = SAMPLE.read_bytes()
ONE = event(1, "usage", b'{"inputTokens":1}')
TWO = event(2, "tool/call", b'{"ID":"c","Name":"n","Input":{"ID":"x"}}')
A, B = encode_event(ONE), encode_event(TWO)
# Where the values of the first begin.
SEQ, TYPE, DATA, CREATED, USER = (
    A.index(b'"%s":' % key) + len(key) + 3
    for key in (b"Seq", b"Type", b"Data", b"CreatedAt", b"UserID")
)


def read(content: bytes, *, alive: bool = False) -> tuple[list[Placed], Scan]:
    scan = Scan(Path("log"))
    return list(scan.read(io.BytesIO(content), alive=alive)), scan


def problems(scan: Scan) -> list[str]:
    return [f"{each.line}:{each.offset}: {each.reason}" for each in scan.problems]


def test_each_event_has_the_place_of_its_bytes() -> None:
    placed = list(read_events(io.BytesIO(WHOLE)))
    assert [each.line for each in placed] == list(range(1, 25))
    for each in placed:
        assert decode_event(WHOLE[each.offset : each.offset + each.length]) == each.event


@pytest.mark.parametrize(
    ("content", "events", "wrong"),
    [
        (b"", [], []),
        (b"\n \r\n\t\n", [], []),
        (A + b"\n" + B + b"\n", [ONE, TWO], []),
        (A + b"\r\n\n" + B, [ONE, TWO], []),
        (A + B + b"\n", [ONE, TWO], []),
        (A + b" " + B, [ONE, TWO], []),
        (
            b"\xef\xbb\xbf" + A + b"\n" + B + b"\n",
            [ONE, TWO],
            ["1:0: a byte order mark before the first record"],
        ),
        (b"garbage\n" + B, [TWO], ["1:0: not a JSON object: 'garbage\\n'"]),
        (b"null\n" + B, [TWO], ["1:0: not a JSON object: 'null\\n'"]),
        (b"[]\n" + B, [TWO], ["1:0: not a JSON object: '[]\\n'"]),
        (b'{"a":1}\n' + B, [TWO], ["1:5: neither Type nor Seq: not an event of a session"]),
        (b"{}\n" + B, [TWO], ["1:0: neither Type nor Seq: not an event of a session"]),
        (A[:-9] + b"\n" + B, [TWO], ["1:0: cut off: the JSON object does not end"]),
        (A[:-9] + B + b"\n", [TWO], ["1:0: damaged: not a JSON object"]),
        (B[:-90] + A + b"\n", [ONE], ["1:0: damaged: not a JSON object"]),
        (
            b"\0\0\0" + A + b"\n",
            [ONE],
            ["1:0: 3 NUL bytes, as a crash leaves them"],
        ),
        (
            A.replace(b'"Seq":1', b'"Seq":"1"'),
            [msgspec.structs.replace(ONE, seq=0)],
            [f'1:{SEQ}: Seq: not a 64-bit integer, so not read: "1"'],
        ),
        (
            A.replace(b'"UserID":""', b'"UserID":[1,2]'),
            [ONE],
            [f"1:{USER}: UserID: not a string, so not read: [1,2]"],
        ),
        (
            A.replace(b"0001-01-01", b"0001-99-99"),
            [ONE],
            [f'1:{CREATED}: CreatedAt: not a time, so not read: "0001-99-99T00:00:00Z"'],
        ),
        (
            A.replace(b'{"inputTokens":1}', b'{"n":NaN}'),
            [msgspec.structs.replace(ONE, data=b'{"n":null}')],
            [f"1:{DATA}: Data: NaN is no JSON; read as null"],
        ),
        (
            A.replace(b'{"inputTokens":1}', b'{"n":]}').replace(b"]", b"x"),
            [msgspec.structs.replace(ONE, data=b'{"n":x}')],
            [f"1:{DATA}: Data: not valid JSON; kept as text"],
        ),
        (
            A.replace(b"usage", b"\xff"),
            [msgspec.structs.replace(ONE, type="\ufffd")],
            [f"1:{TYPE + 1}: not UTF-8; the bytes are shown as U+FFFD"],
        ),
        (
            A.replace(b'{"inputTokens":1}', b'"\xff"'),
            [msgspec.structs.replace(ONE, data='"\ufffd"'.encode())],
            [f"1:{DATA + 1}: not UTF-8; the bytes are shown as U+FFFD"],
        ),
        (
            A.replace(b'{"inputTokens":1}', b'"\x01"'),
            [msgspec.structs.replace(ONE, data=b'"\\u0001"')],
            [f"1:{DATA + 1}: a raw control character inside a string"],
        ),
    ],
)
def test_what_is_whole_is_kept_and_the_rest_named(
    content: bytes, events: list[SessionEvent], wrong: list[str]
) -> None:
    placed, scan = read(content)
    assert [each.event for each in placed] == events
    assert problems(scan) == wrong
    assert scan.offset == len(content)
    assert not scan.torn


@pytest.mark.parametrize("end", [A[:-1], A[:40], b"{", b'{"', b"\0\0", b'{"ID":"x", 3'])
def test_a_torn_end_is_pending_while_its_writer_lives_and_else_a_problem(end: bytes) -> None:
    content = B + b"\n" + end
    placed, scan = read(content, alive=True)
    assert [each.event for each in placed] == [TWO]
    assert (scan.pending, scan.torn, scan.problems) == (True, False, ())
    assert scan.offset == len(B) + 1
    placed, scan = read(content)
    assert [each.event for each in placed] == [TWO]
    assert (scan.pending, scan.torn) == (False, True)
    assert scan.offset == len(B) + 1
    (problem,) = scan.problems
    assert problem[:3] == (Path("log"), 2, len(B) + 1)
    assert problem.reason.startswith("torn at the end of the file: ")


@pytest.mark.parametrize("end", [b"text", b"{ x }", b'{"a":1}', b"[1]", b"}"])
def test_what_cannot_be_the_beginning_of_an_event_is_not_taken_for_a_torn_one(end: bytes) -> None:
    _, scan = read(A + b"\n" + end)
    assert (scan.torn, scan.mid_line, scan.offset) == (False, True, len(A) + 1 + len(end))
    assert len(scan.problems) == 1


@given(st.data())
def test_reading_goes_on_where_it_stopped(data: st.DataObject) -> None:
    lines = data.draw(
        st.lists(
            loose_events().map(encode_event) | st.sampled_from([b"", b"bad", A + B, b'{"a":1}']),
            max_size=5,
        )
    )
    content = b"".join(line + b"\n" for line in lines)
    stops = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=4)))
    scan = Scan(Path("log"))
    found: list[Placed] = []
    for stop in stops:
        found += scan.read(io.BytesIO(content[:stop]), alive=True)
        assert not scan.torn
    found += scan.read(io.BytesIO(content))
    whole, at_once = read(content)
    assert [each.event for each in found] == [each.event for each in whole]
    assert [(each.offset, each.line) for each in found] == [(e.offset, e.line) for e in whole]
    assert (scan.offset, scan.line) == (at_once.offset, at_once.line)


@given(st.data())
def test_one_damaged_byte_costs_at_most_the_lines_it_touches(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(WHOLE) - 1))
    damaged = bytearray(WHOLE)
    damaged[at] = data.draw(st.integers(0, 255))
    line = WHOLE.count(b"\n", 0, at) + 1
    touched = {line, line + 1} if WHOLE[at : at + 1] == b"\n" else {line}
    placed, scan = read(bytes(damaged))
    kept = {each.event for each in map(_hashable, placed)}
    whole = [_hashable(each) for each in read(WHOLE)[0]]
    assert {each.event for each in whole if each.line not in touched} <= kept
    assert scan.problems or len(placed) >= len(whole) - 1


class _Hashable(msgspec.Struct, frozen=True):
    event: bytes
    line: int


def _hashable(placed: Placed) -> _Hashable:
    return _Hashable(encode_event(placed.event), placed.line)


@given(st.binary(max_size=200), st.booleans())
def test_nothing_that_is_read_raises(content: bytes, alive: bool) -> None:
    read(content, alive=alive)
    read(A[:30] + content + B, alive=alive)
    list(read_line(content, first=True))


@given(loose_events())
def test_an_event_is_written_and_read_back(one: SessionEvent) -> None:
    line = encode_event(one)
    found = decode_event(line)
    assert found is not None
    assert json.loads(found.data) == json.loads(one.data)
    metadata = one.metadata or None
    assert found == msgspec.structs.replace(one, data=found.data, metadata=metadata)
    assert b"\n" not in line


@given(loose_events(), st.sampled_from([bytes.lower, bytes.upper]))
def test_an_event_is_read_with_keys_in_any_case(one: SessionEvent, change: object) -> None:
    line = encode_event(one)
    for key in (b"ID", b"Seq", b"SessionID", b"AgentID", b"Type", b"Data", b"CreatedAt", b"UserID"):
        other = key.lower() if change is bytes.lower else key.upper()
        line = line.replace(b'"%s":' % key, b'"%s":' % other, 1)
    # Only the keys of the event itself: those of the payload come after the key of the data.
    found = decode_event(line)
    assert found is not None
    assert (found.seq, found.type, found.agent_id) == (one.seq, one.type, one.agent_id)


def test_unknown_keys_and_missing_ones_do_not_matter() -> None:
    assert decode_event(b'{"type":"x","new":{"Seq":3}}') == SessionEvent(type="x")
    assert decode_event(b'{"Seq":2,"seq":1}') == SessionEvent(seq=2)
    assert decode_event(b'{"seq":1,"Seq":2}') == SessionEvent(seq=2)
    assert decode_event(b'{"Type":"x","Data":null}') == SessionEvent(type="x", data=b"null")
    assert decode_event(b"nothing") is None


def test_events_have_no_longest_line_and_may_be_nested_to_any_depth() -> None:
    large = event(1, "tool/result", b'{"Content":"' + b"x" * 20_000_000 + b'"}')
    deep = event(2, "tool/call", b"[" * 50_000 + b"]" * 50_000)
    line = encode_event(msgspec.structs.replace(deep, data=b"0")).replace(
        b'"Data":0', b'"Data":' + deep.data
    )
    placed, scan = read(encode_event(large) + b"\n" + line + b"\n")
    assert [each.event for each in placed] == [large, deep]
    assert scan.problems == ()


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("0001-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+02:00", None),
        ("2026-11-30T14:48:54Z", 1796050134000),
        ("2026-11-30T14:48:54.777018969Z", 1796050134777),
        ("2026-11-30T14:48:54.001Z", 1796050134001),
        ("1969-12-31T23:59:59.9995Z", -1),
        ("2026-11-30T15:48:54+01:00", 1796050134000),
        ("9999-12-31T23:59:59-01:00", None),
    ],
)
def test_the_time_of_an_event_is_in_utc_and_none_where_it_was_not_recorded(
    text: str, at: int | None
) -> None:
    found = decode_event(b'{"Seq":1,"CreatedAt":"%s"}' % text.encode())
    assert found is not None
    assert found.at == (at or 0)
    assert (found.created_at is None) == (at is None)
    assert found.created_at is None or found.created_at.tzinfo is UTC


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (None, "0001-01-01T00:00:00Z"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 120_000, tzinfo=UTC), "2026-01-02T03:04:05.12Z"),
        (datetime(2026, 1, 2, 3, 4, 50), "2026-01-02T03:04:50Z"),  # noqa: DTZ001
        (datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=1))), "2026-01-02T02:00:00Z"),
        (datetime.max.replace(tzinfo=timezone(-timedelta(hours=1))), "0001-01-01T00:00:00Z"),
    ],
)
def test_the_time_of_an_event_is_written_in_utc(moment: datetime | None, text: str) -> None:
    assert f'"CreatedAt":"{text}"' in encode_event(SessionEvent(created_at=moment)).decode()


def test_a_missing_log_holds_nothing_and_what_is_no_file_cannot_be_read(tmp_path: Path) -> None:
    assert load(tmp_path / "none.jsonl") == Loaded((), ())
    for path in (tmp_path, tmp_path / ("x" * 5000)):
        with pytest.raises(SidecarError) as caught:
            load(path)
        assert caught.value.path == path
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(SidecarError, match="is no regular file"):
            load(tmp_path / "pipe")


def test_a_log_that_cannot_be_read_to_its_end_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "I/O error")

    path = tmp_path / "s.jsonl"
    path.write_bytes(A)
    monkeypatch.setattr(Scan, "read", fail)
    with pytest.raises(SidecarError, match="cannot be read: I/O error"):
        load(path)


def test_problems_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(A + b"\nbad\n")
    events, found = load(path)
    assert events == (ONE,)
    assert str(found[0]) == f"{path}:2:{len(A) + 1}: not a JSON object: 'bad\\n'"
    with path.open("rb") as file:
        scan = Scan(path)
        assert [each.event for each in read_events(file, scan)] == [ONE]
        assert scan.problems == found

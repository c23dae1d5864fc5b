"""Reading a run log: every whole record with its place, and each thing that is wrong named."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.errors import SidecarError
from presentview.runlog import (
    Activity,
    Message,
    Record,
    Scan,
    Session,
    decode_record,
    encode_record,
    load,
    read,
)
from presentview.runlog.times import id_ns, new_id, ns_of, parse_ns, rfc3339
from tests.unit.runlog.logs import (
    LINES,
    META,
    RESULT,
    SAID,
    STAMP,
    WHOLE,
    records,
)


def session(content: bytes) -> Session:
    return read(io.BytesIO(content), path=Path("log"))


def test_each_record_has_its_place_and_is_spelled_as_it_was() -> None:
    placed = list(Scan(Path("log")).read(io.BytesIO(WHOLE)))
    assert [each.line for each in placed] == list(range(1, len(LINES) + 1))
    for each, line in zip(placed, LINES, strict=True):
        assert WHOLE[each.offset : each.offset + each.length] == line
        assert encode_record(each.record) == line
        assert decode_record(line) == each.record
    assert placed[1].record.at == 1796050134773
    assert placed[1].record.at_ns == 1796050134773924076


def test_a_log_tells_what_the_run_was() -> None:
    found = session(WHOLE)
    assert (found.meta.id, found.meta.task) == ("a", "<fix>")
    assert found.agent_messages() == [Message("user", "a")]
    assert [each.kind for each in found.events] == ["retry"]
    assert found.result is not None
    assert (found.result.reason, found.complete, found.truncated) == ("settled", True, False)
    assert (found.ended_ns or 0) - (found.started_ns or 0) == 5_000_000_000


# (content, messages, problems, id, complete), as the Go program reads them unless there are
# problems, where more may be saved.
@pytest.mark.parametrize(
    ("content", "messages", "problems", "run", "complete"),
    [
        (META + b"\n" + META.replace(b'"a"', b'"b"'), 0, 0, "b", False),
        (SAID + b"\n" + META, 1, 1, "a", False),
        (META + b"\n" + SAID + b"\n" + META.replace(b'"a"', b'"b"'), 1, 1, "a", False),
        (SAID + b"\n" + SAID.replace(b"-11-", b"-77-"), 2, 1, "", False),
        (b'{"kind":"message","message":{"type":"user","text":"a"}}\n', 1, 0, "", False),
        (SAID + b"\ngarbage\n" + SAID, 2, 1, "", False),
        (b"null\n" + SAID + b"\nnull", 1, 0, "", False),
        (b"  " + SAID + b" \r\n\r\n" + SAID + b"\r\n", 2, 0, "", False),
        ("\u00a0\u2028".encode() + SAID + "\u0085\n\u00a0\n".encode(), 1, 0, "", False),
        (b"\xef\xbb\xbf" + SAID + b"\n" + SAID, 2, 1, "", False),
        (SAID + SAID, 2, 1, "", False),
        (b'{"kind":"message","message":{"type":5}}\n' + SAID, 1, 1, "", False),
        (RESULT + b"\n" + RESULT, 0, 0, "", True),
        (RESULT + b"\n" + SAID, 1, 0, "", True),
        (SAID + b"\n" + SAID.replace(b'd":"message"', b'd":"reset"') + b"\n" + SAID, 1, 0, "", 0),
        (SAID.replace(b"kind", b"KIND").replace(b"text", b"Text"), 1, 0, "", False),
        (SAID.replace(b'"a"', b'"a","new":{"a":1}'), 1, 0, "", False),
        (b'{}\n{"kind":"x","at":null}\n{"kind":"message"}\n', 0, 0, "", False),
        (b"[]\n5\n" + SAID, 1, 2, "", False),
        (SAID[:40] + META + b"\n" + SAID, 1, 1, "a", False),
        (SAID + b"\n" + SAID[:-1], 1, 1, "", False),
        (SAID + b"\n" + b"\0" * 20, 1, 1, "", False),
        (SAID.replace(b'"a"', b'"%s"' % (b"x" * 17_000_000)), 1, 0, "", False),
        (b"", 0, 0, "", False),
    ],
    ids=lambda value: value[:12].decode("utf-8", "replace") if isinstance(value, bytes) else "",
)
def test_a_damaged_record_costs_only_itself(
    content: bytes, messages: int, problems: int, run: str, complete: bool
) -> None:
    found = session(content)
    assert len(found.messages) == messages
    assert len(found.problems) == problems
    assert found.truncated == bool(problems)
    assert (found.meta.id, found.complete) == (run, bool(complete))


def test_logs_of_other_versions_are_read_and_keep_what_they_hold() -> None:
    old = META.replace(b'"provider":"p","driver":"d"', b'"backend":"corporate"')
    assert session(old).meta.backend == "corporate"
    new = (
        b'{"kind":"message","at":"2026-11-30T14:48:54.7Z","message":{"type":"activity","text":"",'
        b'"activity":{"kind":"request","id":"c","reasoning_items":[{"b":1,"a":2.0}]},'
        b'"images":[{"media_type":"image/png","digest":"sha256:0"}]}}'
    )
    ended = (
        b'{"kind":"result","at":"2026-11-30T14:48:54.7Z","result":{"reason":"error","code":1,'
        b'"iterations":0,"calls":0,"continuations":0,"cycles":0,"settles":0,"error":"e",'
        b'"failure":{"status":503,"response_body":"b","request_bytes":9},"inputTokens":5}}'
    )
    for line in (new, ended):
        record = decode_record(line)
        assert record is not None
        assert encode_record(record) == line
    assert session(new + b"\n" + ended).problems == ()


@given(records())
def test_what_is_written_is_read(record: Record) -> None:
    assert decode_record(encode_record(record)) == record


@given(st.lists(st.sampled_from(LINES), max_size=5), st.data())
def test_a_cut_anywhere_costs_one_record(lines: list[bytes], data: st.DataObject) -> None:
    content = b"".join(line + b"\n" for line in lines)
    cut = data.draw(st.integers(0, len(content)))
    whole = list(Scan(Path("log")).read(io.BytesIO(content)))
    scan = Scan(Path("log"))
    found = list(scan.read(io.BytesIO(content[:cut])))
    assert found == [each for each in whole if each.offset + each.length <= cut]
    assert len(scan.problems) <= 1
    living = Scan(Path("log"))
    assert list(living.read(io.BytesIO(content[:cut]), alive=True)) == found
    assert (living.problems, living.pending) == ((), bool(scan.problems))
    rest = list(living.read(io.BytesIO(content)))
    assert found + rest == whole


@given(st.binary(max_size=60), st.lists(st.sampled_from(LINES), max_size=3))
def test_nothing_makes_reading_fail(noise: bytes, lines: list[bytes]) -> None:
    session(b"\n".join((noise, *lines)))
    session(b"\n".join(lines) + noise)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [1.0, 1e21, 1e-7, 0.1]}, '{"a":[1,1e+21,1e-7,0.1],"b":1}'),
        (2**53 + 1, "9007199254740993"),
        (2**80, str(2**80)),
        ("", '""'),
        (0, "0"),
        (False, "false"),
        ({}, "{}"),
        ({"x": None, 1: "<&>"}, '{"1":"\\u003c\\u0026\\u003e","x":null}'),
    ],
    ids=str,
)
def test_a_result_is_spelled_as_go_spells_it(value: object, text: str) -> None:
    message = Message("activity", "", Activity("response", result=value))
    line = encode_record(Record("message", STAMP, message=message)).decode()
    assert f'"activity":{{"kind":"response","result":{text}}}' in line
    assert json.loads(line)["message"]["activity"]["result"] == json.loads(text)


@pytest.mark.parametrize("value", ["NaN", "1e400", '{"a":[-1e999]}', '[{"a":Infinity}]'])
def test_a_number_that_json_does_not_have_is_a_problem(value: str) -> None:
    answer = b'{"kind":"response","result":%s}' % value.encode()
    found = session(b'{"kind":"message","message":{"type":"activity","activity":%s}}' % answer)
    assert len(found.messages) == len(found.problems) == 1


def test_a_result_nested_too_deep_is_kept_as_text() -> None:
    line = SAID.replace(b'"a"}', b'"","activity":{"kind":"response","result":%s}}' % (
        b"[" * 9_000 + b"]" * 9_000
    ))  # fmt: skip
    record = decode_record(line)
    assert record is not None
    assert record.message is not None
    assert record.message.activity is not None
    assert record.message.activity.result == "[" * 9_000 + "]" * 9_000


@given(st.integers(0, 4_000_000_000_000_000_000))
def test_times_are_kept_to_the_nanosecond(ns: int) -> None:
    assert parse_ns(rfc3339(ns)) == ns


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000_000),
        ("1970-01-01T01:00:01.5+01:00", 1_500_000_000),
        ("1969-12-31T23:00:00-01:00", 0),
        ("1970-01-01T00:00:00.1234567899Z", 123456789),
        ("1970-01-01 00:00:00Z", None),
        ("1970-02-30T00:00:00Z", None),
        ("1970-01-01T00:00:00", None),
        ("1970-01-01T00:00:00+24:00", None),
        ("", None),
    ],
)
def test_a_time_is_rfc_3339(text: str, ns: int | None) -> None:
    assert parse_ns(text) == ns


def test_an_id_is_the_second_a_run_started_in() -> None:
    when = datetime(2026, 8, 21, 2, 4, 5, 999_999, tzinfo=UTC)
    assert new_id(when) == new_id(when.replace(tzinfo=None)) == "20260821-020405"
    second = ns_of(when) // 10**9 * 10**9
    assert id_ns("20260821-020405") == id_ns("20260821-020405-13") == second
    assert [id_ns(text) for text in ("x", "20260821-020405-x", "20261399-020405")] == [None] * 3


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SidecarError, match="cannot be read"):
        load(tmp_path / "nowhere.jsonl")
    with pytest.raises(SidecarError):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "messages", "events", "truncated", "complete"),
    [("20260821-020405", 2, 5, False, True), ("20260821-020405-2", 1, 0, True, False)],
)
def test_logs_of_the_go_program_are_read_and_spelled_as_it_does(
    name: str, messages: int, events: int, truncated: bool, complete: bool, shared_dir: Path
) -> None:
    path = shared_dir / "samples" / "run-logs" / f"{name}.jsonl"
    found = load(path)
    assert (len(found.messages), len(found.events)) == (messages, events)
    assert (found.truncated, found.complete) == (truncated, complete)
    with path.open("rb") as file:
        for each in Scan(path).read(file):
            raw = path.read_bytes()[each.offset : each.offset + each.length]
            assert encode_record(each.record) == raw

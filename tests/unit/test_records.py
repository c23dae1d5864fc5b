from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given

from presentview.records import (
    HEADER_KIND,
    INT64_MAX,
    INT64_MIN,
    Attachment,
    Compaction,
    Extra,
    FileDiff,
    Header,
    Kind,
    Profile,
    Record,
    Retry,
    Tool,
    Usage,
    decode,
    decode_header,
    encode,
    encode_header,
)
from presentview.salvage import read_pieces
from tests.strategies import records

SAMPLES = Path(__file__).parent.parent / "data" / "sidecars"
WELL_SPELLED = (
    "01-basic-v0.jsonl.present.jsonl",
    "02-subagent-errors.jsonl.present.jsonl",
    "03-compacted-collab-v2.jsonl.present.jsonl",
    "04b-unicode-escaping.go127-jsonv2.jsonl.present.jsonl",
)
# Lines on which an older Go wrote an escape for each byte that was not UTF-8.
ESCAPED_REPLACEMENTS = {7, 8}


def lines_of(name: str) -> list[bytes]:
    return (SAMPLES / name).read_bytes().removesuffix(b"\n").split(b"\n")


def reread(line: bytes) -> Record:
    (piece,) = read_pieces(line)
    assert isinstance(piece.item, Record)
    return piece.item


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


# the bytes Go writes


@pytest.mark.parametrize("name", WELL_SPELLED)
def test_what_go_wrote_is_written_again_byte_for_byte(name: str) -> None:
    header, *lines = lines_of(name)
    assert [encode(decode(line)) for line in lines] == lines
    assert encode_header(decode_header(header)) == header


def test_only_replaced_invalid_bytes_are_spelled_differently_than_by_an_older_go() -> None:
    header, *lines = lines_of("04-unicode-escaping.jsonl.present.jsonl")
    written = [encode(decode(line)) for line in lines]
    different = {n for n, (a, b) in enumerate(zip(lines, written, strict=True), 2) if a != b}
    assert different == ESCAPED_REPLACEMENTS
    assert [line.replace(b"\\ufffd", "\ufffd".encode()) for line in lines] == written
    assert encode_header(decode_header(header)) == header


ESCAPES = {
    "<b> & \u2028\u2029": rb"\u003cb\u003e \u0026 \u2028\u2029",
    "\b\t\n\f\r": rb"\b\t\n\f\r",
    "\x00\x01\x0b\x0e\x1b\x1f": rb"\u0000\u0001\u000b\u000e\u001b\u001f",
    '"\\/': rb"\"\\/",
    "\x7f\x85\ufeff\uffff\ufffd😀\U0010ffff": "\x7f\x85\ufeff\uffff\ufffd😀\U0010ffff".encode(),
    r"\u003c": rb"\\u003c",
    "\u2027\u202a": "\u2027\u202a".encode(),
}


@pytest.mark.parametrize("text", ESCAPES, ids=ascii)
def test_characters_are_escaped_as_go_escapes_them(text: str) -> None:
    line = b'{"kind":"text","text":"' + ESCAPES[text] + b'"}'
    assert encode(Record("text", text)) == line
    assert decode(line) == Record("text", text)


@pytest.mark.parametrize("text", ESCAPES, ids=ascii)
def test_a_collab_is_escaped_like_everything_else(text: str) -> None:
    line = b'{"kind":"c","collab":{"' + ESCAPES[text] + b'":"' + ESCAPES[text] + b'"}}'
    assert encode(Record("c", collab={text: text})) == line


FULL = Record(
    "k",
    text="t",
    reasoning="r",
    level="warn",
    tool=Tool(
        id="i",
        name="n",
        args="a",
        output="o",
        err="e",
        read_only=True,
        truncated=True,
        duration_ms=1,
        parent_id="p",
        attachments=(Attachment("f", "image"), Attachment()),
        profile=Profile("m", "high"),
        file_diff=FileDiff("d", 1, 2),
    ),
    usage=Usage(1, 2, 3, 4),
    compaction=Compaction("auto", 5, "s", "a"),
    collab={"b": 1, "a": [None, True, 1.5]},
    retry=Retry(1, 3),
    at=9,
)
FULL_LINE = (
    b'{"kind":"k","text":"t","reasoning":"r","level":"warn","tool":{"id":"i","name":"n","args":"a"'
    b',"output":"o","err":"e","readOnly":true,"truncated":true,"durationMs":1,"parentId":"p",'
    b'"attachments":[{"path":"f","kind":"image"},{}],"profile":{"model":"m","effort":"high"},'
    b'"fileDiff":{"diff":"d","added":1,"removed":2}},"usage":{"inputTokens":1,"outputTokens":2,'
    b'"totalTokens":3,"cacheRead":4},"compaction":{"trigger":"auto","messages":5,"summary":"s",'
    b'"archive":"a"},"collab":{"b":1,"a":[null,true,1.5]},"retry":{"attempt":1,"max":3},"at":9}'
)


def test_keys_stand_in_the_order_of_the_go_structs_and_the_time_comes_last() -> None:
    assert encode(FULL) == FULL_LINE
    assert decode(FULL_LINE) == FULL


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (Record(""), b'{"kind":""}'),
        (Record("tool_dispatch", tool=Tool()), b'{"kind":"tool_dispatch","tool":{}}'),
        (Record("usage", usage=Usage()), b'{"kind":"usage","usage":{}}'),
        (Record("c", compaction=Compaction()), b'{"kind":"c","compaction":{}}'),
        (Record("r", retry=Retry(0)), b'{"kind":"r","retry":{"attempt":0}}'),
        (
            Record("t", tool=Tool(profile=Profile(), attachments=(Attachment(),))),
            b'{"kind":"t","tool":{"attachments":[{}],"profile":{}}}',
        ),
        (
            Record("t", tool=Tool(file_diff=FileDiff())),
            b'{"kind":"t","tool":{"fileDiff":{"diff":"","added":0,"removed":0}}}',
        ),
        (Record("e", collab=b"null"), b'{"kind":"e","collab":null}'),
        (Record("e", collab=False), b'{"kind":"e","collab":false}'),
        (Record("e", collab=0), b'{"kind":"e","collab":0}'),
        (Record("e", collab=""), b'{"kind":"e","collab":""}'),
        (Record("e", collab={}), b'{"kind":"e","collab":{}}'),
    ],
    ids=lambda value: value.decode() if isinstance(value, bytes) else "",
)
def test_zero_values_are_left_out_except_where_go_always_writes_them(
    record: Record, line: bytes
) -> None:
    assert encode(record) == line


@pytest.mark.parametrize("number", [INT64_MIN, -1, 2**53 + 1, INT64_MAX])
def test_64_bit_integers_are_exact(number: int) -> None:
    record = Record("t", tool=Tool(duration_ms=number), usage=Usage(number), at=number)
    assert str(number).encode() in encode(record)
    assert decode(encode(record)) == record


@pytest.mark.parametrize("number", [INT64_MIN - 1, INT64_MAX + 1, 2**64, 10**30])
def test_an_integer_of_more_than_64_bits_is_no_value_of_a_field(number: int) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(b'{"kind":"u","usage":{"inputTokens":%d}}' % number)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"kind":1}',
        b'{"kind":"a"',
        b'{"kind":"a"}x',
        b'{"kind":"a","new":1}',
        b'{"Kind":"a"}',
        b'{"kind":"a","text":null}',
        b'{"kind":"a","usage":{"inputTokens":3.0}}',
        b'{"kind":"a","usage":{"inputTokens":1e3}}',
        b'{"kind":"a","usage":{"inputTokens":"3"}}',
        b'{"kind":"a","tool":{"readOnly":1}}',
        b'{"kind":"a","text":"\xff"}',
        b'{"kind":"a","text":"\t"}',
        b'{"kind":"a","text":"\\ud800"}',
        b'{"kind":"a","collab":NaN}',
        b'\xef\xbb\xbf{"kind":"a"}',
        b'{"kind":"a","\xef\xb7\x90extra":{"a":"1"}}',
    ],
    ids=ascii,
)
def test_whatever_is_spelled_otherwise_is_left_to_be_salvaged(line: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        decode(line)


@given(records())
def test_a_record_comes_back_as_it_was_written(record: Record) -> None:
    line = encode(record)
    assert decode(line) == record
    assert b"\n" not in line
    assert json.loads(line)["kind"] == record.kind


@given(records(extra=True))
def test_a_record_with_unknown_keys_comes_back_as_it_was_written(record: Record) -> None:
    line = encode(record)
    assert reread(line) == record
    assert encode(reread(line)) == line


@given(records(extra=True, surrogates=True))
def test_whatever_a_record_holds_is_written_as_json_in_utf_8(record: Record) -> None:
    json.loads(encode(record).decode())


# keys of a newer writer


def test_unknown_keys_are_kept_at_every_level() -> None:
    line = (
        b'{"kind":"k","text":"x","tool":{"id":"a","attachments":[{"path":"f","mime":"image/png"}],'
        b'"profile":{"model":"m","seed":7},"fileDiff":{"diff":"","added":0,"removed":0,"hunks":[]},'
        b'"cost":{"usd":1.0e-3}},"usage":{"inputTokens":1,"thoughts":2},"compaction":{"by":"me"},'
        b'"retry":{"attempt":1,"why":"\\u003c429\\u003e"},"seq":[1,{"a":null}],"at":5}'
    )
    assert encode(reread(line)) == line


def test_unknown_keys_are_kept_beside_a_collab() -> None:
    line = b'{"kind":"k","tool":{"x":1},"collab":{"a":1},"seq":2,"at":5}'
    assert encode(reread(line)) == line


def test_unknown_keys_of_a_header_are_kept() -> None:
    line = (
        b'{"kind":"_header","rewriteVersion":3,"workspace":"/w","startedAt":7,"writer":"me",'
        b'"turnsDropped":1,"cardsDropped":2,"schema":{"v":1}}'
    )
    (piece,) = read_pieces(line)
    assert isinstance(piece.item, Header)
    assert piece.item.extra == Extra(schema='{"v":1}')
    assert encode_header(piece.item) == line


def test_a_header_says_only_what_is_not_zero() -> None:
    assert encode_header(Header()) == b'{"kind":"_header"}'
    assert encode_header(Header(rewrite_version=-2)) == b'{"kind":"_header","rewriteVersion":-2}'
    assert decode_header(encode_header(Header())).kind == HEADER_KIND


# content that JSON or UTF-8 has no word for


def test_a_lone_surrogate_is_written_as_a_replacement_character() -> None:
    line = encode(Record("text", "a\ud800b", tool=Tool(id="\udfff")))
    assert line == '{"kind":"text","text":"a\ufffdb","tool":{"id":"\ufffd"}}'.encode()


@pytest.mark.parametrize(
    ("collab", "text"),
    [
        (float("nan"), "null"),
        ([float("inf"), {"a": float("-inf")}], '[null,{"a":null}]'),
        ({"a\ud800": "\udfff"}, '{"a\ufffd":"\ufffd"}'),
        ({1: 2, None: 3}, '{"1":2,"None":3}'),
        ((1, (2,)), "[1,[2]]"),
        ({"at": Path("/x")}, '{"at":"/x"}'),
        ([b"raw"], '["raw"]'),
        (10**18, "1000000000000000000"),
        (1e300, "1e+300"),
        (b' { "a" : 1.0e5 , "b c" : "d e" } ', '{"a":1.0e5,"b c":"d e"}'),
        (bytearray(b"[1]"), "[1]"),
        (b"1" * 5000, "1" * 5000),
        (b"NaN", '"NaN"'),
        (b"", '""'),
        (b"\xff", '"\ufffd"'),
        (b'"a\tb"', '"\\"a\\tb\\""'),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_collab_value_that_json_has_no_word_for_becomes_one_it_has(
    collab: object, text: str
) -> None:
    assert encode(Record("c", collab=collab)) == f'{{"kind":"c","collab":{text}}}'.encode()


class Mute:
    """What cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no")


def test_a_collab_value_that_cannot_be_printed_is_named_by_what_it_is() -> None:
    assert encode(Record("c", collab=[Mute()])) == b'{"kind":"c","collab":["Mute"]}'
    longest = json.loads(encode(Record("c", collab=10**5000)))["collab"]
    assert int(longest, 16) == 10**5000


def test_a_collab_nested_up_to_250_deep_is_json() -> None:
    assert json.loads(encode(Record("c", collab=nested(250))))["collab"] == nested(250)
    spelled = b"[" * 250 + b"]" * 250
    assert json.loads(encode(Record("c", collab=spelled)))["collab"] == nested(250)


@pytest.mark.parametrize("depth", [251, 100_000])
def test_a_collab_nested_deeper_becomes_its_own_text(depth: int) -> None:
    text = "[" * depth + "]" * depth
    line = encode(Record("c", collab=nested(depth)))
    assert json.loads(line)["collab"] == text
    assert encode(Record("c", collab=text.encode())) == line
    assert decode(line).collab == text


def test_a_collab_can_be_written_by_a_program_deep_in_calls() -> None:
    def deeper(left: int) -> bytes:
        return deeper(left - 1) if left else encode(Record("c", collab=nested(250)))

    assert json.loads(deeper(700))["collab"] == nested(250)


def test_a_collab_that_holds_itself_becomes_text() -> None:
    value: dict[str, Any] = {"a": 1}
    value["self"] = [value]
    assert json.loads(encode(Record("c", collab=value)))["collab"] == '{"a":1,"self":[null]}'


def test_a_value_that_stands_in_several_places_is_written_in_each() -> None:
    shared = {"a": 1}
    line = encode(Record("c", collab=[shared, shared]))
    assert json.loads(line)["collab"] == [{"a": 1}, {"a": 1}]


def test_a_record_nested_100_000_deep_is_refused_not_a_crash() -> None:
    with pytest.raises((RecursionError, msgspec.DecodeError)):
        decode(b'{"kind":"c","collab":' + b"[" * 100_000 + b"]" * 100_000 + b"}")


def test_a_text_of_50_megabytes_comes_back() -> None:
    record = Record(Kind.TOOL_RESULT, tool=Tool(output="<x>\n" * 12_500_000))
    assert decode(encode(record)) == record


def test_unknown_keys_print_like_any_other_value() -> None:
    assert "'new': '1'" in repr(Record("k", extra=Extra(new="1")))

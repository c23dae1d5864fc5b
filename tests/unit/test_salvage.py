from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.pieces import Flaw, Piece
from presentview.records import (
    INT64_MAX,
    Attachment,
    FileDiff,
    Header,
    Profile,
    Record,
    Retry,
    Tool,
    Usage,
    encode,
)
from presentview.salvage import read_pieces, verbatim
from presentview.sidecar import _as_written
from tests.strategies import records

SAMPLES = Path(__file__).parent.parent / "data" / "sidecars"
VALUES = (
    *("0", "1.0", "1e3", "-5", "01", "9223372036854775807", "9223372036854775808", "null", "NaN"),
    *("true", "[]", "{}", '""', '"/w"', '"\\u00e9"', '"\\ud800"', '"\t"', '"_header"'),
)
GOOD = [
    line
    for sample in sorted(SAMPLES.glob("0[1-4]*.present.jsonl"))
    for line in sample.read_bytes().splitlines(keepends=True)
]


def pieces_of(line: bytes, *, first: bool = False) -> list[Piece]:
    return list(read_pieces(line, first=first))


def only(line: bytes) -> Piece:
    (piece,) = read_pieces(line)
    return piece


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("key", ["rewriteVersion", "workspace", "cardsDropped", "kind", "extra"])
@pytest.mark.parametrize("end", ["}\n", "} \r\n", "}{}\n", ',"rewriteVersion":2}'])
def test_a_header_taken_as_written_is_the_one_that_would_be_saved(
    key: str, value: str, end: str
) -> None:
    line = f'{{"kind":"_header","{key}":{value}{end}'.encode()
    header = _as_written(line)
    if header is not None:
        length = len(line.rstrip())
        assert pieces_of(line) == [Piece(header, 0, length, exact=True)]


# what any JSON reader would take: kept as it is, and nothing to complain about

FINE = {
    "another case": (b'{"KIND":"a","Text":"b"}', Record("a", "b")),
    "the exact spelling wins": (b'{"text":"x","TEXT":"y","kind":"a"}', Record("a", "x")),
    "the last of equal keys wins": (b'{"kind":"a","text":"x","text":"y"}', Record("a", "y")),
    "the last of other spellings wins": (b'{"kind":"a","Text":"x","TEXT":"y"}', Record("a", "y")),
    "no kind": (b"{}", Record("")),
    "kind null": (b'{"kind":null,"text":"n"}', Record("", "n")),
    "null values": (
        b'{"kind":"a","text":null,"tool":null,"retry":null,"usage":{"inputTokens":null}}',
        Record("a", usage=Usage()),
    ),
    "null in a list": (
        b'{"kind":"a","x":1,"tool":{"attachments":[null]}}',
        Record("a", tool=Tool(attachments=(Attachment(),))),
    ),
    "white space": (
        b'\t { "kind" : "a" ,\r "tool" : { "id" : "i" } } ',
        Record("a", tool=Tool(id="i")),
    ),
    "escapes": (rb'{"\u006bind":"\u0061","text":"\ud83d\ude00\/"}', Record("a", "😀/")),
    "a lone surrogate escape": (rb'{"kind":"a","text":"\ud800x"}', Record("a", "\ufffdx")),
    "keys left out": (
        b'{"kind":"a","retry":{},"tool":{"fileDiff":{}}}',
        Record("a", tool=Tool(file_diff=FileDiff()), retry=Retry(0)),
    ),
    "nested keys in another case": (
        b'{"kind":"a","Tool":{"ID":"i","ReadOnly":true,"Attachments":[{"Path":"p"}]}}',
        Record("a", tool=Tool(id="i", read_only=True, attachments=(Attachment("p"),))),
    ),
    "an empty list": (b'{"KIND":"a","tool":{"attachments":[]}}', Record("a", tool=Tool())),
}


@pytest.mark.parametrize(("line", "record"), FINE.values(), ids=FINE.keys())
def test_what_another_json_reader_takes_is_taken_without_a_word(
    line: bytes, record: Record
) -> None:
    piece = only(line)
    item = piece.item
    assert isinstance(item, Record)
    assert item.extra is None or item.extra == {"x": "1"}
    assert encode(item).replace(b',"x":1', b"") == encode(record)
    assert piece.exact
    assert piece.flaws == ()


def test_a_line_that_says_null_is_a_record_without_a_kind() -> None:
    assert only(b"null\n") == Piece(Record(""), 0, 4, exact=True)


@pytest.mark.parametrize("line", [b"", b"\n", b" \t\r\n", b"\r\n"], ids=ascii)
def test_a_blank_line_has_no_pieces(line: bytes) -> None:
    assert pieces_of(line) == []


def test_several_records_on_a_line_are_all_found() -> None:
    line = b' {"kind":"a"} {"kind":"_header"}{"kind":"b","x":1}\tnull {"kind":"c"}\r\n'
    pieces = pieces_of(line)
    kinds = [piece.item.kind for piece in pieces if piece.item is not None]
    assert kinds == ["a", "_header", "b", "", "c"]
    assert [line[p.offset : p.offset + p.length] for p in pieces] == [
        b'{"kind":"a"}',
        b'{"kind":"_header"}',
        b'{"kind":"b","x":1}',
        b"null",
        b'{"kind":"c"}',
    ]
    assert all(piece.exact for piece in pieces)


@pytest.mark.parametrize(
    "line",
    [b'{"kind":"_header"}', b'{"KIND":"_header"}', rb'{"kind":"\u005fheader"}'],
    ids=ascii,
)
def test_a_header_is_known_however_it_is_spelled(line: bytes) -> None:
    assert only(line).item == Header()


# what is damaged: what is kept of it, and what is said

TAKEN = {
    "a float for an integer": (
        b'{"kind":"u","usage":{"inputTokens":1e3,"outputTokens":2.0}}',
        Record("u", usage=Usage(1000, 2)),
        [
            (35, "usage.inputTokens: written 1e3, read as 1000"),
            (54, "usage.outputTokens: written 2.0, read as 2"),
        ],
    ),
    "a fraction for an integer": (
        b'{"kind":"u","usage":{"inputTokens":1.5,"cacheRead":4}}',
        Record("u", usage=Usage(cache_read=4)),
        [(35, "usage.inputTokens: not a 64-bit integer, so not read: 1.5")],
    ),
    "an integer of more than 64 bits": (
        b'{"kind":"u","at":%d}' % (INT64_MAX + 1),
        Record("u"),
        [(17, f"at: not a 64-bit integer, so not read: {INT64_MAX + 1}")],
    ),
    "an integer of 5000 digits": (
        b'{"kind":"u","at":' + b"7" * 5000 + b"}",
        Record("u"),
        [(17, "at: not a 64-bit integer, so not read: " + "7" * 37 + "...")],
    ),
    "a string for an integer": (
        b'{"kind":"r","tool":{"id":"x","durationMs":"12"}}',
        Record("r", tool=Tool(id="x")),
        [(42, 'tool.durationMs: not a 64-bit integer, so not read: "12"')],
    ),
    "true for an integer": (
        b'{"kind":"r","retry":{"attempt":true,"max":3}}',
        Record("r", retry=Retry(0, 3)),
        [(31, "retry.attempt: not a 64-bit integer, so not read: true")],
    ),
    "a number for a truth": (
        b'{"kind":"r","tool":{"readOnly":1,"truncated":true}}',
        Record("r", tool=Tool(truncated=True)),
        [(31, "tool.readOnly: not true or false, so not read: 1")],
    ),
    "a number for a text": (
        b'{"kind":"t","text":5,"level":"warn"}',
        Record("t", level="warn"),
        [(19, "text: not a string, so not read: 5")],
    ),
    "a number for the kind": (
        b'{"kind":5,"text":"x"}',
        Record("", "x"),
        [(8, "kind: not a string, so not read: 5")],
    ),
    "a list for an object": (
        b'{"kind":"t","tool":[1],"text":"x"}',
        Record("t", "x"),
        [(19, "tool: not an object, so not read: [1]")],
    ),
    "a broken object inside": (
        b'{"kind":"t","tool":{"id" "x"},"text":"x"}',
        Record("t", "x"),
        [(19, 'tool: not an object, so not read: {"id" "x"}')],
    ),
    "an object for a list": (
        b'{"kind":"t","tool":{"id":"i","attachments":{}}}',
        Record("t", tool=Tool(id="i")),
        [(43, "tool.attachments: not a list, so not read: {}")],
    ),
    "wrong things in a list": (
        b'{"kind":"t","tool":{"attachments":[{"path":"p"},5,{"kind":3},{"path":"q"}]}}',
        Record(
            "t", tool=Tool(attachments=(Attachment("p"), Attachment(), Attachment("q")))
        ),
        [
            (48, "tool.attachments[1]: not an object, so not read: 5"),
            (58, "tool.attachments[2].kind: not a string, so not read: 3"),
        ],
    ),
    "several of them, in order": (
        b'{"kind":"t","text":1,"tool":{"profile":{"model":2}},"level":3}',
        Record("t", tool=Tool(profile=Profile())),
        [
            (19, "text: not a string, so not read: 1"),
            (48, "tool.profile.model: not a string, so not read: 2"),
            (60, "level: not a string, so not read: 3"),
        ],
    ),
    "a raw tab in a text": (
        b'{"kind":"t",\t"text":"a\tb"}',
        Record("t", "a\tb"),
        [(22, "a raw control character inside a string")],
    ),
    "a raw escape in an id": (
        b'{"kind":"t","text":"\xc3\xa9","tool":{"id":"\x1b[0m"}}',
        Record("t", "é", tool=Tool(id="\x1b[0m")),
        [(38, "a raw control character inside a string")],
    ),
    "a raw control character in a collab": (
        b'{"kind":"t","collab":{"a":"\x01"}}',
        Record("t", collab={"a": "\x01"}),
        [(27, "a raw control character inside a string")],
    ),
    "bytes that are not UTF-8": (
        b'{"kind":"t","text":"\xc3\xa9\xff\xe2\x82"}',
        Record("t", "é\ufffd\ufffd\ufffd"),
        [(22, "not UTF-8; the bytes are shown as U+FFFD")],
    ),
    "an encoded surrogate": (
        b'{"kind":"t","text":"\xed\xa0\x80"}',
        Record("t", "\ufffd\ufffd\ufffd"),
        [(20, "not UTF-8; the bytes are shown as U+FFFD")],
    ),
    "no number in a collab": (
        b'{"kind":"c","collab":[NaN,-Infinity,1]}',
        Record("c", collab=[None, None, 1]),
        [(21, "collab: NaN is no JSON; read as null")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("line", "record", "flaws"), TAKEN.values(), ids=TAKEN.keys())
def test_a_record_with_something_wrong_is_kept_and_says_what(
    line: bytes, record: Record, flaws: list[tuple[int, str]]
) -> None:
    piece = only(line)
    assert piece.item == record
    assert (piece.offset, piece.length) == (0, len(line))
    assert piece.flaws == tuple(Flaw(*flaw) for flaw in flaws)
    assert not piece.exact


LOST = {
    "cut off in a text": (b'{"kind":"text","text":"ab', "cut off: the JSON object does not end"),
    "cut off behind a value": (b'{"kind":"text"', "cut off: the JSON object does not end"),
    "cut off in a nested object": (
        b'{"kind":"t","tool":{"id":"x"}',
        "cut off: the JSON object does not end",
    ),
    "not an object": (b"hello", "not a JSON object: 'hello'"),
    "a list": (b'[1,"a"]', "not a JSON object: '[1,\"a\"]'"),
    "a string": (b'"a"', "not a JSON object: '\"a\"'"),
    "a word that begins with null": (b"nullify", "not a JSON object: 'nullify'"),
    "a stray brace": (b"}", "not a JSON object: '}'"),
    "a comma": (b", x", "not a JSON object: ', x'"),
    "NUL bytes": (b"\0\0\0", "3 NUL bytes, as a crash leaves them"),
    "a byte order mark": ("\ufeff".encode(), "not a JSON object: '\\ufeff'"),
}


@pytest.mark.parametrize(("line", "reason"), LOST.values(), ids=LOST.keys())
def test_what_holds_no_record_is_named(line: bytes, reason: str) -> None:
    assert only(line) == Piece(None, 0, len(line), exact=False, flaws=(Flaw(0, reason),))


@pytest.mark.parametrize(
    "damage",
    [
        b'{"kind":"text","text":"a',
        b'{"kind":"text","text":}',
        b'{"kind" "text"}',
        b'{"kind":"text",}',
        b'{"kind":tru}',
        b'{"kind":"te\\xt"}',
        b'{"kind":"a","tool":{"id":"b"',
        b"garbage",
        b"}",
        b",",
        b"]",
        b'"',
        b"\0\0",
        b"\xff\xfe",
        "é".encode(),
        b'{"k',
        b"nul",
    ],
    ids=ascii,
)
@pytest.mark.parametrize("space", [b"", b" "], ids=["", "space"])
def test_whole_records_behind_damage_are_found(damage: bytes, space: bytes) -> None:
    good = '{"kind":"notice","text":"é"}'.encode()
    line = good + space + damage + space + good + good + b"\n"
    before, broken, *after = pieces_of(line)
    record = Record("notice", "é")
    assert before == Piece(record, 0, len(good), exact=True)
    assert broken.item is None
    assert broken.flaws[-1].offset == broken.offset == len(good + space)
    start = len(good + space + damage + space)
    assert after == [
        Piece(record, start, len(good), exact=True),
        Piece(record, start + len(good), len(good), exact=True),
    ]


def test_each_piece_answers_for_its_own_bytes_only() -> None:
    line = '{"kind":"é"} {"kind":"'.encode() + b"\xff" + '😀"} {"kind":"c"}'.encode()
    first, second, third = pieces_of(line)
    assert [piece.exact for piece in (first, second, third)] == [True, False, True]
    assert second.flaws == (Flaw(line.index(b"\xff"), "not UTF-8; the bytes are shown as U+FFFD"),)
    assert (third.offset, third.length) == (line.rindex(b"{"), len(b'{"kind":"c"}'))


def test_places_count_bytes_where_bad_bytes_and_long_characters_mix() -> None:
    line = b"\xff\xf0\x9f\x98\x80\xe9\xf0\x9f" + '😀\ufffd{"kind":"a"}'.encode()
    broken, whole = pieces_of(line)
    assert broken.length == line.index(b"{")
    assert (whole.offset, whole.length) == (line.index(b"{"), 12)


def test_a_byte_order_mark_is_passed_over_at_the_start_of_a_file_only() -> None:
    line = '\ufeff{"kind":"a"}'.encode()
    flaw = Flaw(0, "a byte order mark before the first record")
    assert pieces_of(line, first=True) == [Piece(Record("a"), 3, 12, exact=False, flaws=(flaw,))]
    assert [piece.item for piece in pieces_of(line)] == [None, Record("a")]
    alone = pieces_of("\ufeff\n".encode(), first=True)
    assert [(piece.item, piece.flaws) for piece in alone] == [(None, (flaw,))]


# what only a newer writer knows


def test_a_key_that_holds_no_json_is_kept_as_text() -> None:
    piece = only(b'{"kind":"a","new":[NaN],"newer":{"b" 1}}')
    assert [flaw.offset for flaw in piece.flaws] == [18, 32]
    assert isinstance(piece.item, Record)
    written = encode(piece.item)
    assert json.loads(written) == {"kind": "a", "new": "[NaN]", "newer": '{"b" 1}'}


def test_a_raw_control_character_in_an_unknown_key_is_written_as_an_escape() -> None:
    piece = only(b'{"kind":"a","n\tew":"x\ty"}')
    assert isinstance(piece.item, Record)
    assert encode(piece.item) == rb'{"kind":"a","n\tew":"x\ty"}'


@pytest.mark.parametrize(
    "collab",
    [b"null", b"1.0e+5", b'{"a":1.0e+5}', b'{"a":1,"a":2}', rb'"\u0041"', b"1" * 5000, b"-0"],
    ids=lambda value: ascii(value)[:20],
)
def test_a_collab_is_written_as_it_was_spelled(collab: bytes) -> None:
    line = b'{"kind":"c","collab":' + collab + b"}"
    item = only(line).item
    assert isinstance(item, Record)
    assert encode(item) == line
    spaced = b' {"kind":"c", "collab": ' + collab + b" }"
    assert encode(verbatim(Record("c"), spaced)) == line


def test_a_collab_nested_100_000_deep_is_kept_as_text() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    piece = only(b'{"kind":"c","text":"x","collab":' + deep + b',"at":1}')
    assert piece.item == Record("c", "x", collab=deep, at=1)
    assert piece.flaws == (Flaw(32, "collab: nested too deep to parse; kept as text"),)
    assert json.loads(encode(piece.item))["collab"] == deep.decode()


# anything at all


@given(st.binary(max_size=60) | st.text('{}[]":,\\ \nkindx0n\0\t', max_size=60).map(str.encode))
def test_no_bytes_make_it_raise_and_every_place_lies_in_the_line(line: bytes) -> None:
    for first in (False, True):
        at = 0
        for piece in read_pieces(line, first=first):
            assert at <= piece.offset <= piece.offset + piece.length <= len(line)
            at = piece.offset + piece.length
            assert all(0 <= flaw.offset < len(line) for flaw in piece.flaws)
            assert list(piece.flaws) == sorted(piece.flaws, key=lambda flaw: flaw.offset)
            assert piece.item is not None or piece.flaws
            if isinstance(piece.item, Record):
                encode(piece.item)


@given(records(extra=True), st.binary(max_size=8))
def test_a_record_behind_any_bytes_is_found(record: Record, damage: bytes) -> None:
    line = damage.replace(b"\n", b"") + b" " + encode(record)
    assert pieces_of(line)[-1].item == record


@given(st.data())
def test_changing_one_byte_loses_at_most_the_records_line(data: st.DataObject) -> None:
    number = data.draw(st.integers(1, len(GOOD) - 2))
    damaged = bytearray(GOOD[number])
    at = data.draw(st.integers(0, len(damaged) - 1))
    damaged[at] = data.draw(st.integers(0, 255))
    text = GOOD[number - 1] + damaged + GOOD[number + 1]
    found = [
        piece.item
        for line in text.splitlines(keepends=True)
        for piece in read_pieces(line)
        if piece.item is not None
    ]
    before, after = only(GOOD[number - 1]).item, only(GOOD[number + 1]).item
    assert found[0] == before
    assert found[-1] == after
    assert len(found) >= 2


@pytest.mark.parametrize(
    "line",
    [
        b'{"kind":' * 50_000,
        b'{"kind":{"kind":[' * 20_000,
        b'\0{"kind":"a"}' * 20_000,
        '{"kind":"é","text":1}'.encode() * 10_000,
        b'\xff{"kind":"a"}' * 10_000,
        b'{"kind":"' * 50_000,
        b"{" * 200_000,
        b'{ "kind" ' * 50_000,
        b'{"a":1,' * 50_000,
    ],
    ids=lambda line: ascii(line[:20]),
)
@pytest.mark.timeout(60)
def test_a_line_made_to_be_slow_is_read_in_time(line: bytes) -> None:
    assert pieces_of(line)


def test_a_line_damaged_over_and_over_says_that_it_is_given_up() -> None:
    *_, last = pieces_of(b'{"kind":' * 50_000 + b'{"kind":"a"}')
    assert last.item is None
    assert last.flaws[0].reason == "damaged so often that nothing more is looked for"

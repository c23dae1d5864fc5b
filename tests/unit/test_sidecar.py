from __future__ import annotations

import io
import os
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview import limits
from presentview.errors import HeaderError, LineTooLong, RecordError, SidecarError
from presentview.lock import LOCKING_WRITER, Lock
from presentview.records import Extra, Header, Record, Usage, encode, encode_header
from presentview.sidecar import (
    Found,
    Loaded,
    Problem,
    Scan,
    find_sidecar,
    load,
    present_path,
    session_path_of,
)
from tests.strategies import session_records

SAMPLES = Path(__file__).parent.parent / "data" / "sidecars"
HEADER = b'{"kind":"_header"}\n'
CUT = "torn at the end of the file: cut off: the JSON object does not end"


def write(path: Path, content: bytes, *, alive: bool = False) -> Path:
    """Make a sidecar that a writer without a lock wrote just now, or long ago."""
    path.write_bytes(content)
    if not alive:
        os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def told(loaded: Loaded) -> list[tuple[int, int, str]]:
    return [(problem.line, problem.offset, problem.reason) for problem in loaded.problems]


# names


@pytest.mark.parametrize(
    ("session", "sidecar"),
    [
        ("/x/y/session.jsonl", "/x/y/session.present.jsonl"),
        ("session", "session.present.jsonl"),
        ("a.jsonl.bak", "a.jsonl.bak.present.jsonl"),
        ("a.jsonl.jsonl", "a.jsonl.present.jsonl"),
        ("日本.jsonl", "日本.present.jsonl"),
        (".jsonl", ".present.jsonl"),
        ("", ""),
    ],
)
def test_a_sidecar_is_named_as_documented(session: str, sidecar: str) -> None:
    assert present_path(session) == sidecar
    if session:
        assert present_path(Path(session)) == Path(sidecar)


@pytest.mark.parametrize(
    ("path", "session"),
    [
        ("d/X.present.jsonl", "d/X.jsonl"),
        ("d/X.jsonl.present.jsonl", "d/X.jsonl"),
        ("d/X.jsonl", "d/X.jsonl"),
        ("d/X", "d/X"),
        ("d/.present.jsonl", "d/.present.jsonl"),
    ],
)
def test_both_names_belong_to_the_same_session(path: str, session: str) -> None:
    assert session_path_of(Path(path)) == Path(session)


def test_a_sidecar_is_found_under_either_name(tmp_path: Path) -> None:
    session = tmp_path / "X.jsonl"
    documented, actual = tmp_path / "X.present.jsonl", tmp_path / "X.jsonl.present.jsonl"
    assert find_sidecar(session) == Found(documented)
    actual.touch()
    assert find_sidecar(session) == Found(actual)
    documented.touch()
    assert find_sidecar(session) == Found(documented, other=actual)
    assert find_sidecar(str(session)) == Found(documented, other=actual)
    actual.unlink()
    assert find_sidecar(session) == Found(documented)


def test_a_session_of_another_suffix_has_one_name_for_its_sidecar(tmp_path: Path) -> None:
    (tmp_path / "X.present.jsonl").touch()
    assert find_sidecar(tmp_path / "X") == Found(tmp_path / "X.present.jsonl")


# files another program wrote


class Observed(NamedTuple):
    """What the Go program loads of a sample, and what is loaded here."""

    go_records: int
    version: int
    records: int
    problems: list[tuple[int, int, str]]


OBSERVED = {
    "01-basic-v0": Observed(22, 0, 22, []),
    "02-subagent-errors": Observed(29, 0, 29, []),
    "03-compacted-collab-v2": Observed(7, 2, 7, []),
    "04-unicode-escaping": Observed(18, 7, 18, []),
    "04b-unicode-escaping.go127-jsonv2": Observed(18, 7, 18, []),
    "05a-truncated": Observed(21, 0, 21, [(23, 2342, CUT)]),
    "05b-odd-lines": Observed(
        6, 0, 8, [(9, 332, "usage.inputTokens: written 1e3, read as 1000")]
    ),
    "05c-malformed-middle": Observed(
        1, 0, 3, [(3, 43, "cut off: the JSON object does not end")]
    ),
    "05d-type-mismatch": Observed(
        1, 0, 3, [(3, 95, 'tool.durationMs: not a 64-bit integer, so not read: "12"')]
    ),
    "05e-headers-anywhere": Observed(2, 0, 2, []),
}  # fmt: skip


@pytest.mark.parametrize("name", OBSERVED)
def test_of_a_sample_nothing_is_lost_that_the_go_program_loads(tmp_path: Path, name: str) -> None:
    seen = OBSERVED[name]
    sample = SAMPLES / f"{name}.jsonl.present.jsonl"
    loaded = load(write(tmp_path / sample.name, sample.read_bytes()))
    assert loaded.rewrite_version == seen.version
    assert len(loaded.records) == seen.records >= seen.go_records
    assert told(loaded) == seen.problems
    assert (len(loaded.records) == seen.go_records) or loaded.problems
    assert loaded.has_header


def test_of_the_odd_lines_every_record_is_read() -> None:
    records = load(SAMPLES / "05b-odd-lines.jsonl.present.jsonl").records
    assert records == (
        Record("turn_started"),
        Record("future_kind", "x", extra=Extra(brandNew='{"a":1}')),
        Record("notice", "two"),
        Record("notice", "objects", level="warn"),
        Record("notice", "case-insensitive keys", level="warn"),
        Record("notice", "last wins"),
        Record("usage", usage=Usage(1000)),
        Record("text", "after 1e3"),
    )


ONE = b'{"kind":"text","text":"1"}\n'
TWO = b'{"kind":"text","text":"2"}\n'
VERSION_3 = b'{"kind":"_header","rewriteVersion":3}\n'

# What the Go program stops at or takes; here the rest of the file is read all the same.
PROBES = {
    "header only": (VERSION_3, 3, [], []),
    "a null line": (VERSION_3 + b"null\n" + ONE, 3, ["", "text"], []),
    "an empty object": (VERSION_3 + b"{}\n", 3, [""], []),
    "an array line": (VERSION_3 + b"[1]\n" + ONE, 3, ["text"], [(2, 38)]),
    "a string line": (VERSION_3 + b'"x"\n' + ONE, 3, ["text"], [(2, 38)]),
    "a stray brace": (VERSION_3 + b"}\n" + ONE, 3, ["text"], [(2, 38)]),
    "a stray bracket": (VERSION_3 + ONE[:-1] + b"]\n" + TWO, 3, ["text", "text"], [(2, 64)]),
    "a comma between": (VERSION_3 + ONE[:-1] + b"," + TWO, 3, ["text", "text"], [(2, 64)]),
    "a byte order mark": (b"\xef\xbb\xbf" + VERSION_3 + ONE, 3, ["text"], [(1, 0)]),
    "a byte order mark alone": (b"\xef\xbb\xbf\n" + VERSION_3, 3, [], [(1, 0)]),
    "a second mark": (VERSION_3 + b"\xef\xbb\xbf" + ONE, 3, ["text"], [(2, 38)]),
    "NUL bytes in the middle": (VERSION_3 + b"\0\0" + ONE, 3, ["text"], [(2, 38)]),
    "NUL bytes at the end": (VERSION_3 + ONE + b"\0\0", 3, ["text"], [(3, 65)]),
    "invalid UTF-8": (VERSION_3 + b'{"kind":"t","text":"a\xffb"}\n', 3, ["t"], [(2, 59)]),
    "a raw control character": (VERSION_3 + b'{"kind":"t","text":"\x01"}\n', 3, ["t"], [(2, 58)]),
    "an integer as a float": (VERSION_3 + b'{"kind":"t","at":3.0}\n' + ONE, 3, ["t", "text"],
                              [(2, 55)]),
    "a negative version": (b'{"kind":"_header","rewriteVersion":-2}\n', -2, [], []),
    "kind is a number": (VERSION_3 + b'{"kind":5}\n' + ONE, 3, ["", "text"], [(2, 46)]),
    "kind is null": (VERSION_3 + b'{"kind":null}\n', 3, [""], []),
    "a later header": (VERSION_3 + ONE + HEADER, 0, ["text"], []),
    "a header that is first only later": (ONE + VERSION_3 + TWO, 3, ["text", "text"], []),
    "a header on a line with others": (ONE[:-1] + VERSION_3[:-1] + TWO, 3, ["text", "text"], []),
    "a version on another line": (HEADER + b'{"kind":"t","rewriteVersion":4}\n', 0, ["t"], []),
    "windows line ends": (VERSION_3[:-1] + b"\r\n" + ONE[:-1] + b"\r\n\r\n" + TWO, 3,
                          ["text", "text"], []),
    "no final newline": (VERSION_3 + ONE + TWO[:-1], 3, ["text", "text"], []),
    "blank lines": (b"\n\n" + VERSION_3 + b" \t\n" + ONE + b"  ", 3, ["text"], []),
    "several on a line": (VERSION_3[:-1] + ONE[:-1] + b" \t" + TWO, 3, ["text", "text"], []),
    "printed over several lines": (VERSION_3 + b'{\n"kind":"t"\n}\n' + ONE, 3, ["text"],
                                   [(2, 38), (3, 40), (4, 51)]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "version", "kinds", "places"), PROBES.values(), ids=PROBES.keys()
)
def test_everything_readable_is_read_and_the_rest_named_with_its_line_and_byte(
    tmp_path: Path, content: bytes, version: int, kinds: list[str], places: list[tuple[int, int]]
) -> None:
    loaded = load(write(tmp_path / "s", content))
    assert [record.kind for record in loaded.records] == kinds
    assert loaded.rewrite_version == version
    assert [(problem.line, problem.offset) for problem in loaded.problems] == places
    assert all(problem.path == tmp_path / "s" for problem in loaded.problems)


def test_a_line_nested_too_deep_to_parse_is_a_record_all_the_same(tmp_path: Path) -> None:
    deep = b'{"kind":"expert_collab","collab":' + b"[" * 20_000 + b"]" * 20_000 + b"}\n"
    loaded = load(write(tmp_path / "s", HEADER + deep + ONE))
    assert [record.kind for record in loaded.records] == ["expert_collab", "text"]
    assert told(loaded) == [(2, 19 + 33, "collab: nested too deep to parse; kept as text")]


# files that are not there, or are something else


def test_a_missing_file_and_an_empty_path_hold_nothing(tmp_path: Path) -> None:
    assert load(tmp_path / "missing") == Loaded()
    assert load(tmp_path / "no" / "folder") == Loaded()
    assert load("") == Loaded()
    assert not load(tmp_path / "missing", session_version=5).stale


def test_an_empty_file_lacks_a_header(tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "s", b""))
    assert loaded.records == ()
    assert not loaded.has_header
    assert told(loaded) == [(1, 0, "no header line: the rewrite version is taken as 0")]


def test_a_file_without_a_header_is_of_version_0_and_says_so(tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "s", ONE))
    assert loaded.records == (Record("text", "1"),)
    assert (loaded.has_header, loaded.rewrite_version) == (False, 0)
    assert told(loaded) == [(1, 0, "no header line: the rewrite version is taken as 0")]


def test_a_folder_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SidecarError, match="directory") as caught:
        load(tmp_path)
    assert caught.value.path == tmp_path
    assert caught.value.line is None


def test_a_path_through_a_file_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path / "s", HEADER)
    with pytest.raises(SidecarError):
        load(tmp_path / "s" / "t")


def test_a_file_one_may_not_read_is_an_error_not_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path / "s", HEADER)
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(SidecarError, match="cannot be read: Permission denied"):
        load(path)


@pytest.mark.parametrize("path", [str, Path], ids=["str", "Path"])
def test_a_path_is_a_string_or_a_path(tmp_path: Path, path: type) -> None:
    assert load(path(write(tmp_path / "s", HEADER + ONE))).records == (Record("text", "1"),)


# stale


@pytest.mark.parametrize(
    ("header", "session_version", "stale"),
    [
        (VERSION_3, None, False),
        (VERSION_3, 2, False),
        (VERSION_3, 3, False),
        (VERSION_3, 4, True),
        (HEADER, 0, False),
        (HEADER, 1, True),
        (b"", 1, True),
        (b"", 0, False),
    ],
)
def test_a_sidecar_older_than_its_session_is_stale_and_its_records_are_there(
    tmp_path: Path, header: bytes, session_version: int | None, stale: bool
) -> None:
    loaded = load(write(tmp_path / "s", header + ONE), session_version=session_version)
    assert loaded.stale is stale
    assert loaded.records == (Record("text", "1"),)


# strict


@pytest.mark.parametrize(
    ("content", "error", "line", "offset"),
    [
        (ONE, HeaderError, 1, 0),
        (b"", HeaderError, 1, 0),
        (HEADER + ONE + b"oops\n" + b"{\n", RecordError, 3, 46),
        (HEADER + b'{"kind":"t","at":"x"}\n', RecordError, 2, 36),
        (HEADER + b'{"kind":"t"', RecordError, 2, 19),
    ],
    ids=["no header", "empty", "damaged", "mistyped", "torn"],
)
def test_strict_loading_raises_for_the_first_problem(
    tmp_path: Path, content: bytes, error: type[SidecarError], line: int, offset: int
) -> None:
    path = write(tmp_path / "s", content)
    with pytest.raises(error) as caught:
        load(path, strict=True)
    assert type(caught.value) is error
    assert (caught.value.path, caught.value.line, caught.value.offset) == (path, line, offset)
    assert f"{path}:{line}:{offset}: {caught.value.reason}" == str(caught.value)


def test_strict_loading_of_a_good_file_raises_nothing(tmp_path: Path) -> None:
    assert load(write(tmp_path / "s", HEADER + ONE), strict=True).problems == ()
    assert load(tmp_path / "missing", strict=True) == Loaded()


# the end of the file


def test_a_torn_line_of_a_dead_writer_is_a_problem(tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "s", HEADER + ONE + b'{"kind":"te'))
    assert loaded.records == (Record("text", "1"),)
    assert told(loaded) == [(3, 46, CUT)]


def test_a_torn_line_of_a_living_writer_is_waited_for(tmp_path: Path) -> None:
    path = write(tmp_path / "s", HEADER + ONE + b'{"kind":"te', alive=True)
    assert load(path).problems == ()
    assert load(path).records == (Record("text", "1"),)


def test_a_torn_line_of_a_writer_that_locks_and_holds_no_lock_is_not_waited_for(
    tmp_path: Path,
) -> None:
    header = encode_header(Header(writer="somebody" + LOCKING_WRITER)) + b"\n"
    path = write(tmp_path / "s", header + ONE + b'{"kind":"te', alive=True)
    assert told(load(path)) == [(3, len(header + ONE), CUT)]
    lock = Lock(path)
    assert load(path).problems == ()
    lock.release()


def test_a_held_lock_tells_that_the_writer_lives_and_its_file_that_it_does_not(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "s", HEADER + b'{"kind":"te')
    lock = Lock(path)
    assert load(path).problems == ()
    lock.forget()
    path.touch()
    assert told(load(path)) == [(2, 19, CUT)]


def test_a_whole_object_without_a_newline_is_a_record_even_while_the_writer_lives(
    tmp_path: Path,
) -> None:
    loaded = load(write(tmp_path / "s", HEADER + ONE[:-1], alive=True))
    assert loaded.records == (Record("text", "1"),)
    assert loaded.problems == ()


def test_of_a_torn_line_everything_whole_is_kept(tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "s", HEADER + ONE[:-1] + b'garbage{"kind":"b"}{"ki'))
    assert [record.kind for record in loaded.records] == ["text", "b"]
    assert [(problem.line, problem.offset) for problem in loaded.problems] == [(2, 45), (2, 64)]


# lines too long to be read


def test_a_line_too_long_is_named_and_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LINE_BYTES", 40)
    monkeypatch.setattr(limits, "READ_CHUNK", 16)
    longest = b'{"kind":"t","text":"' + b"x" * 17 + b'"}\n'
    longer = b'{"kind":"t","text":"' + b"x" * 118 + b'"}\n'
    assert len(longest) == 40
    path = write(tmp_path / "s", HEADER + longest + longer + ONE + longer[:-1])
    loaded = load(path)
    assert [len(record.text) for record in loaded.records] == [17, 1]
    assert told(loaded) == [
        (3, 59, "a line of more than 40 bytes (141); not read"),
        (5, 227, "a line of more than 40 bytes (140); not read"),
    ]
    with pytest.raises(LineTooLong) as caught:
        load(path, strict=True)
    assert (caught.value.line, caught.value.offset) == (3, 59)


def test_a_line_too_long_may_go_on_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LINE_BYTES", 40)
    monkeypatch.setattr(limits, "READ_CHUNK", 16)
    content = HEADER + b'{"kind":"t","text":"' + b"x" * 118 + b'"}\n' + ONE + b"y" * 50
    at_once = scanned(content)
    assert [line for *_, line in at_once.records] == [3]
    for split in range(len(content)):
        assert scanned(content, split, split + 7) == at_once


# going on where it stopped


class Seen(NamedTuple):
    """Everything a scan tells about a file."""

    records: list[tuple[Record, int, int, int]]
    problems: tuple[Problem, ...]
    header: Header | None
    first_header: Header | None
    offset: int
    line: int
    pending: bool


def scanned(content: bytes, *splits: int) -> Seen:
    """The outcome of reading `content` as it grows to each of `splits` and then to its end."""
    scan = Scan(Path("s"))
    records: list[tuple[Record, int, int, int]] = []
    for split in sorted(splits):
        scan.feed(io.BytesIO(content[:split]), lambda *found: records.append(found), alive=True)
    scan.feed(io.BytesIO(content), lambda *found: records.append(found))
    return Seen(
        records,
        scan.problems,
        scan.header,
        scan.first_header,
        scan.offset,
        scan.line,
        scan.pending,
    )


ODD_LINES = (
    b"",
    b" ",
    b"\r",
    b"oops",
    b"\xff\xfe{",
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbf" + ONE[:-1],
    b"\0\0",
    b'{"kind":"a"} {"kind":"b"}',
    b'{"kind":"a"}{"kind":"_header","rewriteVersion":2}{"kind":"b","new":1}',
    b'{"kind":"a"}oops{"kind":"b"}\r',
    b'{"kind":"\xff"}\xfe{"kind":"\xc3\xa9"}',
    b'{"kind":"t","tool":{"attachments":[{"kind":"image"},{"kind":"x"}]}}',
    b'{"kind":"c","collab":{"kind":{"kind":"deep"}}}',
    b'{"kind":"t","at":"x"}',
    b'{"kind":"t","text":"cut',
    b'{"kind":"_header","rewriteVersion":1}',
    b'{"kind":"_header"}',
)


# Good lines and odd ones, some files without a newline at their end.
LINES = st.lists(session_records().map(encode) | st.sampled_from(ODD_LINES), max_size=6)
CONTENTS = st.builds(
    lambda header, lines, end: header + b"\n".join(lines) + end,
    st.sampled_from([b"", HEADER]),
    LINES,
    st.sampled_from([b"", b"\n"]),
)


@given(CONTENTS, st.lists(st.floats(0, 1), max_size=3))
def test_reading_a_file_as_it_grows_is_reading_it_at_once(
    content: bytes, splits: list[float]
) -> None:
    places = [round(split * len(content)) for split in splits]
    assert scanned(content, *places) == scanned(content)


@pytest.mark.parametrize("line", ODD_LINES, ids=ascii)
def test_a_line_may_arrive_byte_by_byte(line: bytes) -> None:
    content = line + b"\n" + ONE + line + b"\n"
    assert scanned(content, *range(len(content))) == scanned(content)


def test_a_record_is_given_its_place(tmp_path: Path) -> None:
    content = VERSION_3 + ONE + b'\n{"kind":"a"} {"kind":"b","x":1}\r\n' + TWO
    seen = scanned(content)
    assert [line for _, _, _, line in seen.records] == [2, 4, 4, 5]
    for record, offset, length, _ in seen.records:
        piece = content[offset : offset + length]
        assert piece.startswith(b'{"kind":"' + record.kind.encode())
        assert piece.rstrip().endswith(b"}")
    assert (seen.offset, seen.line) == (len(content), 6)


def test_while_a_line_is_pending_no_header_is_missed() -> None:
    scan = Scan(Path("s"))
    scan.feed(io.BytesIO(HEADER[:5]), lambda *_: None, alive=True)
    assert (scan.pending, scan.problems, scan.offset) == (True, (), 0)
    scan.feed(io.BytesIO(HEADER), lambda *_: None, alive=True)
    assert (scan.pending, scan.problems, scan.offset) == (False, (), len(HEADER))
    assert scan.header == Header()


def test_a_torn_end_is_told_until_it_is_completed() -> None:
    scan = Scan(Path("s"))
    records: list[Record] = []
    for end in (len(HEADER) + 5, len(HEADER) + 9):
        scan.feed(io.BytesIO((HEADER + ONE)[:end]), lambda record, *_: records.append(record))
        assert [problem.reason for problem in scan.problems] == [CUT]
        assert not scan.damaged
    scan.feed(io.BytesIO(HEADER + ONE), lambda record, *_: records.append(record))
    assert scan.problems == ()
    assert records == [Record("text", "1")]


def test_only_the_first_line_counts_as_the_header_that_the_body_follows() -> None:
    for content, body in [(HEADER + ONE, len(HEADER)), (ONE + HEADER, 0), (b"\n" + HEADER, 0)]:
        scan = Scan(Path("s"))
        scan.feed(io.BytesIO(content), lambda *_: None)
        assert scan.body == body
        assert scan.first_header == Header()


def test_taking_only_the_header_leaves_the_records_to_be_read() -> None:
    scan = Scan(Path("s"))
    file = io.BytesIO(VERSION_3 + ONE)
    scan.take_header(file)
    assert scan.header == Header(rewrite_version=3)
    assert (scan.offset, scan.line, scan.body) == (len(VERSION_3), 2, len(VERSION_3))
    records: list[Record] = []
    scan.feed(file, lambda record, *_: records.append(record))
    assert records == [Record("text", "1")]


@pytest.mark.parametrize("content", [ONE, b"", b"oops\n", HEADER[:-1], b"\n" + HEADER])
def test_where_the_first_line_is_no_header_none_is_taken(content: bytes) -> None:
    scan = Scan(Path("s"))
    scan.take_header(io.BytesIO(content))
    assert (scan.header, scan.offset, scan.line) == (None, 0, 1)


# entries: records with their own bytes


def test_a_record_that_another_reader_could_read_keeps_its_bytes() -> None:
    lines = [
        b'{"kind":"c","collab":{"n":1.0e+5}}',
        b'{"KIND":"a",  "text":"b"}',
        b'{"kind":"a","new":[ 1 ]}',
        b'{"kind":"u","usage":{"inputTokens":1e3}}',
        b'{"kind":"a","text":"\xff"}',
    ]
    entries = list(Scan(Path("s")).entries(io.BytesIO(HEADER + b"\n".join(lines) + b"\n")))
    assert [entry.raw for entry in entries] == [*lines[:3], None, None]
    assert encode(entries[0].record) == lines[0]


def without_collab(record: Record) -> Record:
    """`record` but for what an entry may keep in another form."""
    return msgspec.structs.replace(record, collab=None)


@given(CONTENTS)
def test_entries_are_the_records_that_are_read(content: bytes) -> None:
    scan = Scan(Path("s"))
    entries = list(scan.entries(io.BytesIO(content)))
    seen = scanned(content)
    assert [without_collab(entry.record) for entry in entries] == [
        without_collab(record) for record, *_ in seen.records
    ]
    assert (scan.problems, scan.header, scan.offset) == (seen.problems, seen.header, seen.offset)
    for entry, (_, offset, length, _) in zip(entries, seen.records, strict=True):
        if entry.raw is not None:
            assert entry.raw.strip() == content[offset : offset + length].strip()
            assert b"\n" not in entry.raw

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presentview import lock
from presentview.follow import Follower, What
from presentview.limits import ALIVE_SECONDS
from presentview.lock import LOCKING_WRITER
from presentview.records import Header, Kind, Record, Tool, encode, encode_header
from presentview.sidecar import Scan, load
from presentview.transcript.cards import Card, Place
from presentview.transcript.fold import Transcript

LOCKING = Header(writer="somebody" + LOCKING_WRITER)


def call(number: int, **fields: Any) -> list[Record]:
    """A call and its result."""
    dispatch = Tool(id=f"t{number}", name="bash", args='{"command":"ls"}')
    result = Tool(id=f"t{number}", output=f"output {number}\n", **fields)
    return [
        Record(kind=Kind.TOOL_DISPATCH, tool=dispatch, at=number),
        Record(kind=Kind.TOOL_RESULT, tool=result, at=number + 1),
    ]


DELTAS = [Record(kind=Kind.TEXT, text=piece) for piece in ("Let ", "me ", "see.")]
MESSAGE = Record(kind=Kind.MESSAGE, text="Let me see.")
SESSION = [Record(kind=Kind.TURN_STARTED, text="go", at=5), *DELTAS, MESSAGE, *call(1), *call(2)]


def line(record: Record) -> bytes:
    return encode(record) + b"\n"


def content(records: list[Record], header: Header | None = None) -> bytes:
    return encode_header(header or Header()) + b"\n" + b"".join(map(line, records))


class File:
    """A sidecar, and whoever writes it in whatever way."""

    def __init__(self, folder: Path, *, name: str = "s.present.jsonl") -> None:
        self.session = folder / "s.jsonl"
        self.path = folder / name

    def write(self, data: bytes) -> None:
        """Write over the file in place."""
        self.path.write_bytes(data)

    def append(self, data: bytes) -> None:
        with open(self.path, "ab") as file:
            file.write(data)

    def replace(self, data: bytes) -> None:
        """Put another file in its place in one step."""
        other = self.path.with_name("other.tmp")
        other.write_bytes(data)
        other.replace(self.path)

    def overwrite(self, offset: int, data: bytes) -> None:
        """Write over a part of the file, as late as the next tick of the clock."""
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.write(data)
        found = self.path.stat()
        os.utime(self.path, ns=(found.st_atime_ns, found.st_mtime_ns + 1))

    def age(self, seconds: float) -> None:
        past = time.time() - seconds
        os.utime(self.path, (past, past))

    def remove(self) -> None:
        if self.path.is_dir() and not self.path.is_symlink():
            self.path.rmdir()
        else:
            self.path.unlink(missing_ok=True)

    @property
    def data(self) -> bytes:
        return self.path.read_bytes()


@pytest.fixture(params=["pread", "no pread"], autouse=True)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the system can read a file from any place without moving its position."""
    if request.param == "no pread":
        monkeypatch.delattr(os, "pread", raising=False)


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path)


@pytest.fixture
def follower(file: File) -> Iterator[Follower]:
    follower = Follower(file.session)
    yield follower
    follower.close()


def reasons(follower: Follower) -> list[str]:
    return [problem.reason for problem in follower.problems]


# What a transcript should be


def seen(value: Any, follower: Follower) -> Any:
    """A field of a card so that two can be compared: bodies read, other cards by their ids."""
    if isinstance(value, Place):
        return follower.record(value)
    if isinstance(value, Card):
        return value.id
    if isinstance(value, list) or (isinstance(value, tuple) and not isinstance(value, Place)):
        return [seen(item, follower) for item in value] or None
    return value


def fields(thing: msgspec.Struct, follower: Follower) -> dict[str, Any]:
    return {name: seen(getattr(thing, name), follower) for name in thing.__struct_fields__}


def assert_shows_the_file(follower: Follower, path: Path) -> None:
    """Every card and turn is as if all that is in the file now had been folded at once, and every
    body can be read.
    """
    loaded = load(path)
    scan = Scan(path)
    with open(path, "rb") as file:
        scan.take_header(file)
    first = scan.first_header or Header()
    expected = Transcript(turns_dropped=first.turns_dropped, cards_dropped=first.cards_dropped)
    for record in loaded.records:
        expected.apply(record)
    shown = follower.transcript
    assert [fields(card, follower) for card in shown.walk()] == [
        fields(card, follower) for card in expected.walk()
    ]
    assert [fields(turn, follower) for turn in shown.turns] == [
        fields(turn, follower) for turn in expected.turns
    ]
    assert follower.exists
    assert follower.header.rewrite_version == loaded.rewrite_version
    assert follower.problems == loaded.problems


# One change at a time


Change = Callable[[File], None]


def _appends(file: File) -> None:
    file.append(b"".join(map(line, call(3))))


def _extends(header: Header) -> Change:
    return lambda file: file.replace(content([*SESSION, *call(3)], header))


def _drops_deltas(file: File) -> None:
    file.replace(content([r for r in SESSION if r not in DELTAS]))


def _shortens(file: File) -> None:
    file.write(content(SESSION[:5]))


def _cuts(file: File) -> None:
    os.truncate(file.path, len(file.data) - 9)


def _empties(file: File) -> None:
    os.truncate(file.path, 0)


def _overwrites_the_end(file: File) -> None:
    at = file.data.index(b"output 2")
    file.overwrite(at, b"OUTPUT 2")


def _overwrites_the_start(file: File) -> None:
    at = file.data.index(b'"go"')
    file.overwrite(at, b'"no"')


def _grows_and_differs(file: File) -> None:
    file.write(content([*SESSION, *call(3)]).replace(b"output 2", b"OUTPUT 2"))


def _is_made_again(file: File) -> None:
    file.remove()
    file.write(content(SESSION[:3]))


def _is_renumbered(file: File) -> None:
    file.replace(content([*SESSION, *call(3)], Header(turns_dropped=3, cards_dropped=40)))


def _gains_a_header_line(file: File) -> None:
    file.append(encode_header(Header(rewrite_version=9)) + b"\n" + line(MESSAGE))


GROWS: list[Change] = [
    _appends,
    _extends(Header()),
    _extends(Header(rewrite_version=7)),
    _extends(Header(rewrite_version=7, workspace="/src/" + "x" * 300, writer="w")),
    _gains_a_header_line,
]
STARTS_ANEW: list[Change] = [
    _drops_deltas,
    _shortens,
    _cuts,
    _empties,
    _overwrites_the_end,
    _overwrites_the_start,
    _grows_and_differs,
    _is_made_again,
    _is_renumbered,
]


def _names(changes: list[Change]) -> list[str]:
    return [f"{change.__name__.strip('_<>')}{number}" for number, change in enumerate(changes)]


@pytest.mark.parametrize("change", GROWS, ids=_names(GROWS))
def test_what_only_extends_a_file_is_read_on(
    file: File, follower: Follower, change: Change
) -> None:
    file.write(content(SESSION, Header(workspace="/w")))
    assert follower.refresh().what is What.RESET
    known = follower.transcript
    change(file)
    update = follower.refresh()
    assert update.what is What.GREW
    assert {change.op for change in update.changes} <= {"add", "replace"}
    assert follower.transcript is known
    assert_shows_the_file(follower, file.path)
    assert follower.refresh().what is What.SAME


@pytest.mark.parametrize("change", STARTS_ANEW, ids=_names(STARTS_ANEW))
def test_any_other_change_starts_anew(file: File, follower: Follower, change: Change) -> None:
    file.write(content(SESSION))
    follower.refresh()
    change(file)
    assert follower.refresh().what is What.RESET
    assert_shows_the_file(follower, file.path)
    assert follower.refresh().what is What.SAME


def test_places_stay_right_through_headers_of_any_length(file: File, follower: Follower) -> None:
    records = [*SESSION]
    file.write(content(records))
    follower.refresh()
    for number, length in enumerate((90, 0, 7, 300, 1), start=3):
        records += call(number)
        file.replace(content(records, Header(workspace="w" * length)))
        assert follower.refresh().what is What.GREW
        file.append(line(call(number, err="exit status 1")[1]))
        records.append(call(number, err="exit status 1")[1])
        assert follower.refresh().what is What.GREW
        assert_shows_the_file(follower, file.path)


def test_a_rewrite_between_two_appends_nobody_saw_is_read_on(
    file: File, follower: Follower
) -> None:
    file.write(content(SESSION[:4]))
    follower.refresh()
    file.append(line(SESSION[4]))
    file.replace(content(SESSION[:6], Header(rewrite_version=2)))
    file.append(b"".join(map(line, SESSION[6:])))
    assert follower.refresh().what is What.GREW
    assert_shows_the_file(follower, file.path)


@pytest.mark.parametrize("alive", [True, False], ids=["alive", "dead"])
def test_a_file_may_be_written_byte_by_byte(file: File, follower: Follower, alive: bool) -> None:
    if not alive:
        lock.lock_path(file.path).touch()
    whole = content([*SESSION[:1], Record(kind=Kind.TEXT, text="é😀 {}")], Header(cards_dropped=4))
    file.write(b"")
    for at in range(len(whole)):
        file.append(whole[at : at + 1])
        follower.refresh()
        assert_shows_the_file(follower, file.path)
    assert [card.id for card in follower.transcript.walk()] == ["c5", "c6"]
    assert reasons(follower) == []


def test_a_torn_line_waits_while_its_writer_lives_and_is_a_problem_when_it_died(
    file: File, follower: Follower
) -> None:
    torn = line(MESSAGE)
    file.write(content(SESSION[:3]) + torn[:20])
    follower.refresh()
    assert reasons(follower) == []
    lock.lock_path(file.path).touch()
    follower.refresh()
    assert reasons(follower)[0].startswith("torn at the end of the file: ")
    lock.lock_path(file.path).unlink()
    follower.refresh()
    assert reasons(follower) == []
    file.append(torn[20:])
    assert follower.refresh().what is What.GREW
    assert_shows_the_file(follower, file.path)


def test_a_torn_line_that_is_cut_off_is_no_problem_any_more(file: File, follower: Follower) -> None:
    lock.lock_path(file.path).touch()
    whole = content(SESSION[:3])
    file.write(whole + b'{"kind":"te')
    follower.refresh()
    assert reasons(follower)
    os.truncate(file.path, len(whole))
    follower.refresh()
    assert reasons(follower) == []
    file.append(line(MESSAGE))
    assert follower.refresh().what is What.GREW
    assert_shows_the_file(follower, file.path)


def test_a_record_without_a_line_end_is_shown_and_what_follows_it_too(
    file: File, follower: Follower
) -> None:
    file.write(content(SESSION)[:-1])
    follower.refresh()
    assert_shows_the_file(follower, file.path)
    file.append(b"\n" + line(MESSAGE))
    follower.refresh()
    assert_shows_the_file(follower, file.path)


def test_many_records_on_one_line_that_grows_are_read(file: File, follower: Follower) -> None:
    file.write(content([]))
    for record in SESSION:
        file.append(encode(record) + b" ")
        follower.refresh()
        assert_shows_the_file(follower, file.path)


# There, not there, something else


def test_a_file_that_is_not_there_yet_is_waited_for(file: File, follower: Follower) -> None:
    assert follower.refresh().what is What.SAME
    assert not follower.exists
    assert reasons(follower) == []
    file.write(content(SESSION))
    assert follower.refresh().what is What.RESET
    assert_shows_the_file(follower, file.path)


def test_a_file_that_goes_is_gone_and_may_come_again(file: File, follower: Follower) -> None:
    file.write(content(SESSION))
    follower.refresh()
    body = next(card for card in follower.transcript.walk() if card.parts).parts[0]
    file.remove()
    assert follower.refresh().what is What.GONE
    assert (follower.exists, follower.alive, follower.size) == (False, False, 0)
    assert list(follower.transcript.walk()) == []
    assert follower.record(body) is None
    assert follower.lines(1, 5, 10) == []
    assert follower.duplicate() is None
    assert follower.refresh().what is What.SAME
    file.write(content(SESSION[:2]))
    assert follower.refresh().what is What.RESET
    assert_shows_the_file(follower, file.path)


def test_a_folder_that_goes_takes_the_file_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    file = File(folder)
    follower = Follower(file.session)
    file.write(content(SESSION))
    follower.refresh()
    folder.rename(tmp_path / "elsewhere")
    assert follower.refresh().what is What.GONE
    folder.write_text("a file where the folder was")
    assert follower.refresh().what is What.SAME
    assert not follower.exists
    follower.close()


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_folder, "is no regular file"),
        (_pipe, "is no regular file"),
        (_loop, "cannot be read: Too many levels of symbolic links"),
    ],
    ids=["folder", "pipe", "link to itself"],
)
def test_what_cannot_be_read_is_named_and_what_was_shown_stays(
    file: File, follower: Follower, make: Callable[[Path], None], reason: str
) -> None:
    file.write(content(SESSION))
    follower.refresh()
    cards = [fields(card, follower) for card in follower.transcript.walk()]
    file.remove()
    make(file.path)
    assert follower.refresh().what is What.SAME
    assert reasons(follower) == [reason]
    assert [fields(card, follower) for card in follower.transcript.walk()] == cards
    file.remove()
    file.write(content(SESSION))
    follower.refresh()
    assert_shows_the_file(follower, file.path)


def test_a_file_that_may_not_be_opened_is_named_and_what_was_shown_stays(
    file: File, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write(content(SESSION))
    follower.refresh()
    cards = [fields(card, follower) for card in follower.transcript.walk()]
    file.replace(content(SESSION[:1]))
    real = os.open

    def refused(path: Any, *args: Any, **kwargs: Any) -> int:
        if path == file.path:
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr("presentview.openfile.os.open", refused)
        assert follower.refresh().what is What.SAME
        assert reasons(follower) == ["cannot be read: Permission denied"]
        assert [fields(card, follower) for card in follower.transcript.walk()] == cards
    assert follower.refresh().what is What.RESET
    assert_shows_the_file(follower, file.path)


@pytest.mark.parametrize("change", [_appends, _drops_deltas], ids=["reading on", "starting over"])
def test_nothing_is_shown_twice_when_reading_fails_half_way(
    file: File, follower: Follower, monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    file.write(content(SESSION))
    follower.refresh()
    change(file)
    real = Scan.feed

    def fails(self: Scan, opened: Any, apply: Any, *, alive: bool = False) -> None:
        def once(*args: Any) -> None:
            apply(*args)
            raise OSError(5, "Input/output error")

        real(self, opened, once, alive=alive)

    with monkeypatch.context() as patch:
        patch.setattr(Scan, "feed", fails)
        assert follower.refresh().what is What.SAME
        assert reasons(follower) == ["cannot be read: Input/output error"]
    assert follower.refresh().what is What.RESET
    assert_shows_the_file(follower, file.path)


def test_either_name_of_the_sidecar_is_followed_and_the_other_one_named(tmp_path: Path) -> None:
    go = File(tmp_path, name="s.jsonl.present.jsonl")
    documented = File(tmp_path)
    follower = Follower(go.session)
    go.write(content(SESSION[:2]))
    assert follower.refresh().what is What.RESET
    assert follower.path == go.path
    documented.write(content(SESSION))
    follower.refresh()
    assert follower.path == documented.path
    assert len(follower.notes) == 1
    assert go.path.name in follower.notes[0]
    go.remove()
    follower.refresh()
    assert_shows_the_file(follower, documented.path)
    follower.close()


def test_a_link_is_followed_wherever_it_leads(file: File, follower: Follower) -> None:
    one, two = file.path.with_name("one"), file.path.with_name("two")
    one.write_bytes(content(SESSION[:3]))
    two.write_bytes(content([MESSAGE]))
    file.path.symlink_to(one)
    follower.refresh()
    assert_shows_the_file(follower, file.path)
    file.remove()
    file.path.symlink_to(two)
    assert follower.refresh().what is What.RESET
    assert_shows_the_file(follower, file.path)


# Lines as they stand


def test_lines_are_found_by_their_number(file: File, follower: Follower) -> None:
    file.write(b"first\n\nthird is longer\nlast")
    follower.refresh()
    assert [tuple(found) for found in follower.lines(1, 9, 5)] == [
        (1, 0, 6, b"first"),
        (2, 6, 1, b"\n"),
        (3, 7, 16, b"third"),
        (4, 23, 4, b"last"),
    ]
    assert [found.number for found in follower.lines(2, 2, 5)] == [2, 3]
    assert follower.lines(5, 1, 5) == []
    assert follower.lines(10**30, 1, 5) == []


def test_lines_are_found_across_the_pieces_a_file_is_read_in(
    file: File, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("presentview.openfile.READ_CHUNK", 7)
    lines = [b"x" * (number % 19) + b"\n" for number in range(60)]
    file.write(b"".join(lines))
    follower.refresh()
    for first in range(1, 61, 7):
        found = follower.lines(first, 5, 3)
        assert [item.head for item in found] == [raw[:3] for raw in lines[first - 1 : first + 4]]
        assert [item.size for item in found] == [len(raw) for raw in lines[first - 1 : first + 4]]


# Alive or not


@pytest.fixture
def held(file: File) -> Iterator[Callable[[bool], None]]:
    """Takes the lock of the file, or lets it go as a dead process does, its lock file left."""
    fds: list[int] = []

    def hold(take: bool) -> None:
        if take:
            fds.append(os.open(lock.lock_path(file.path), os.O_RDWR | os.O_CREAT, 0o600))
            fcntl.flock(fds[0], fcntl.LOCK_EX)
        else:
            os.close(fds.pop())

    yield hold
    for fd in fds:
        os.close(fd)


OPEN_CALL = [Record(kind=Kind.TURN_STARTED, text="go"), call(1)[0]]


def test_unfinished_cards_change_when_the_writer_dies_and_lives_again(
    file: File, follower: Follower, held: Callable[[bool], None]
) -> None:
    nested = Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="t1/x", name="bash"))
    file.write(content([*OPEN_CALL, nested, *call(9)], LOCKING))
    held(True)
    assert follower.refresh().what is What.RESET
    assert follower.alive
    for alive in (False, True, False):
        held(alive)
        update = follower.refresh()
        assert follower.alive is alive
        assert update.what is What.GREW
        assert [change.op for change in update.changes] == ["replace", "replace"]
        assert {change.card for change in update.changes} == {"c2", "c3"}
        assert follower.refresh().what is What.SAME


def test_a_writer_that_always_locks_and_left_no_lock_is_gone(
    file: File, follower: Follower
) -> None:
    file.write(content(OPEN_CALL, LOCKING))
    follower.refresh()
    assert not follower.alive


def test_any_other_writer_counts_as_alive_for_a_while_after_its_last_change(
    file: File, follower: Follower
) -> None:
    file.write(content(OPEN_CALL))
    follower.refresh()
    assert follower.alive
    file.age(ALIVE_SECONDS + 5)
    follower.refresh()
    assert not follower.alive
    file.append(line(MESSAGE))
    follower.refresh()
    assert follower.alive
    assert_shows_the_file(follower, file.path)


def test_a_rewrite_by_another_kind_of_writer_says_how_that_one_lives(
    file: File, follower: Follower
) -> None:
    file.write(content(OPEN_CALL, LOCKING))
    follower.refresh()
    assert not follower.alive
    file.replace(content([*OPEN_CALL, *call(3)]))
    update = follower.refresh()
    assert update.what is What.GREW
    assert follower.alive
    assert "c2" in {change.card for change in update.changes if change.op == "replace"}


# Any sequence of it


HEADERS = st.sampled_from(
    [
        Header(),
        Header(rewrite_version=3),
        Header(workspace="/somewhere/else"),
        Header(turns_dropped=2, cards_dropped=5),
    ]
)
RECORDS = st.lists(
    st.sampled_from([*SESSION, Record(kind="future", text="?"), Record(kind=Kind.NOTICE)]),
    max_size=4,
)
STEPS = st.one_of(
    st.tuples(st.just("append"), RECORDS),
    st.tuples(st.just("append"), RECORDS),
    st.tuples(st.just("tear"), st.integers(1, 60)),
    st.tuples(st.just("mend"), st.none()),
    st.tuples(st.just("extend"), st.tuples(HEADERS, RECORDS)),
    st.tuples(st.just("drop"), st.integers(0, 20)),
    st.tuples(st.just("cut"), st.integers(0, 200)),
    st.tuples(st.just("overwrite"), st.integers(0, 400)),
    st.tuples(st.just("rewrite in place"), st.tuples(HEADERS, RECORDS)),
    st.tuples(st.just("remove"), st.none()),
    st.tuples(st.just("folder"), st.none()),
    st.tuples(st.just("dead or alive"), st.none()),
    st.tuples(st.just("look"), st.none()),
    st.tuples(st.just("look"), st.none()),
)


class Writer:
    """Does the steps of the property to a file."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.torn = b""

    def do(self, step: str, given: Any) -> None:
        file = self.file
        if step == "dead or alive":
            path = lock.lock_path(file.path)
            if path.exists():
                path.unlink()
            else:
                path.touch()
        elif file.path.is_dir():
            file.remove()
        elif step == "folder":
            file.remove()
            file.path.mkdir()
        elif step == "remove":
            file.remove()
        elif not file.path.exists():
            self.torn = b""
            file.write(content(given) if step == "append" else b"")
        else:
            self.change(step, given)

    def change(self, step: str, given: Any) -> None:
        file, data = self.file, self.file.data
        if step == "append":
            file.append(b"".join(map(line, given)))
        elif step == "tear":
            whole = line(MESSAGE)
            file.append(whole[:given])
            self.torn = whole[given:]
        elif step == "mend":
            file.append(self.torn)
            self.torn = b""
        elif step == "extend":
            header, records = given
            body = data.partition(b"\n")[2]
            file.replace(encode_header(header) + b"\n" + body + b"".join(map(line, records)))
        elif step == "drop":
            lines = data.splitlines(keepends=True)
            file.replace(b"".join(lines[:given] + lines[given + 1 :]))
        elif step == "cut":
            os.truncate(file.path, min(given, len(data)))
        elif step == "overwrite" and given < len(data):
            file.overwrite(given, b"#")
        elif step == "rewrite in place":
            header, records = given
            file.write(content(records, header))


Steps = list[tuple[str, Any]]


def follow_through(folder: Path, steps: Steps) -> None:
    file = File(folder)
    follower = Follower(file.session)
    writer = Writer(file)
    try:
        for step, wanted in steps:
            if step == "look":
                follower.refresh()
            else:
                writer.do(step, wanted)
        follower.refresh()
        if file.path.is_file():
            assert_shows_the_file(follower, file.path)
            assert follower.alive == lock.is_alive(file.path, writer=follower.header.writer)
        elif not file.path.exists():
            assert not follower.exists
            assert list(follower.transcript.walk()) == []
    finally:
        follower.close()


@settings(max_examples=150)
@given(steps=st.lists(STEPS, max_size=14))
def test_the_transcript_is_that_of_the_file_whatever_happened_to_it(
    steps: Steps, tmp_path_factory: pytest.TempPathFactory
) -> None:
    follow_through(tmp_path_factory.mktemp("followed"), steps)


@pytest.mark.soak
@given(steps=st.lists(STEPS, max_size=25))
def test_the_transcript_is_that_of_the_file_whatever_happened_to_it_for_long(
    steps: Steps, tmp_path_factory: pytest.TempPathFactory
) -> None:
    follow_through(tmp_path_factory.mktemp("followed"), steps)


# Where a file that is open cannot be replaced


@pytest.fixture
def let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presentview.openfile._STAYS_OPEN", False)


def open_files() -> list[str]:
    found = (Path("/dev/fd") / number for number in os.listdir("/dev/fd"))
    return sorted(os.path.realpath(path) for path in found if path.exists())


@pytest.mark.parametrize("change", [_appends, _drops_deltas, File.remove])
def test_a_file_is_open_only_while_it_is_read(
    file: File, follower: Follower, let_go: None, change: Change
) -> None:
    before = open_files()
    file.write(content(SESSION))
    assert follower.refresh().what is What.RESET
    assert open_files() == before
    assert_shows_the_file(follower, file.path)
    change(file)
    follower.refresh()
    assert len(follower.lines(1, 2, 9)) in (0, 2)
    assert open_files() == before


def test_of_a_file_that_was_replaced_since_nothing_is_read_as_if_it_were_the_old(
    file: File, follower: Follower, let_go: None
) -> None:
    file.write(content(SESSION))
    follower.refresh()
    place = next(part for card in follower.transcript.walk() for part in card.parts)
    assert isinstance(place, Place)
    assert follower.raw(place) == encode(SESSION[0])
    file.replace(content([MESSAGE]))
    assert (follower.raw(place), follower.lines(1, 1, 9)) == (b"", [])
    assert follower.refresh().what is What.RESET
    assert_shows_the_file(follower, file.path)
    file.remove()
    assert (follower.raw(place), follower.duplicate(), follower.lines(1, 1, 9)) == (b"", None, [])

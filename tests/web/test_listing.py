from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presentview import lock
from presentview.limits import (
    ALIVE_SECONDS,
    LARGE_FILE,
    LISTING_READ_BYTES,
    PAGE_ROWS,
    ROWS_FOLLOWED,
)
from presentview.lock import LOCKING_WRITER
from presentview.records import Header, Kind, Record, Tool, encode, encode_header
from presentview.sessions import Roots, session_id
from presentview.web import listing as listing_module
from presentview.web.listing import Listing
from presentview.web.listquery import Query
from tests.web.page_model import Page, parse

HEADER = encode_header(Header()) + b"\n"


def turn(text: str, at: int) -> bytes:
    return encode(Record(kind=Kind.TURN_STARTED, text=text, at=at)) + b"\n"


class Watched:
    """A folder, its list, and a page that shows the list."""

    def __init__(self, folder: Path, *, read_at_once: int = LISTING_READ_BYTES) -> None:
        self.folder = folder
        self.roots = Roots((folder,), ())
        self.listing = Listing(self.roots, "epoch", read_at_once=read_at_once)
        self.listing.look()
        self.page = Page(self.listing.snapshot())

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.present.jsonl"

    def look(self) -> list[str]:
        """Look, bring the page up to date, and say what was done to its rows."""
        batch = self.listing.look()
        if batch is None:
            return []
        assert self.page.apply(batch)
        return [op.op for op in batch.ops if op.id.startswith("s")]

    def opened_now(self) -> Page:
        fresh = Listing(self.roots, "another")
        fresh.look()
        page = Page(fresh.snapshot())
        fresh.close()
        return page

    def assert_right(self) -> None:
        names = ["sessions", "choices", "listed", "empty", "pager"]
        assert self.page.html(names) == self.opened_now().html(names)

    def id(self, name: str) -> str:
        return session_id(self.folder / f"{name}.jsonl")

    def row(self, name: str) -> str:
        row = self.page.find("s" + self.id(name))
        return row.html() if row else ""

    def names(self, **asked: str) -> str:
        """The sessions that a page shows, by the first letter of their names, in order."""
        ids = {self.id(path.name.split(".")[0]): path.name[0] for path in self.folder.iterdir()}
        rows = parse(self.listing.page(asked)["rows"])
        return "".join(ids[row.attributes["id"][1:]] for row in rows)

    def state(self, name: str) -> str:
        row = self.page.find("s" + session_id(self.folder / f"{name}.jsonl"))
        assert row is not None
        return row.classes[1]


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path.resolve())
    yield watched
    watched.listing.close()


STEPS = st.tuples(
    st.sampled_from(["begin", "begin", "go on", "go on", "remove", "die", "age", "look"]),
    st.sampled_from(["a", "b", "c", "d"]),
    st.integers(1, 9),
)


@settings(max_examples=40)
@given(st.lists(STEPS, max_size=12), st.sampled_from([1, 300, 1_000_000]))
def test_a_list_that_is_live_is_the_one_that_is_opened_now(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]], at_once: int
) -> None:
    folder = tmp_path_factory.mktemp("sessions").resolve()
    watched = Watched(folder, read_at_once=at_once)
    for step, name, at in steps:
        path = watched.path(name)
        if step == "begin":
            path.write_bytes(HEADER)
        elif step == "look":
            watched.look()
        elif not path.exists():
            continue
        elif step == "go on":
            with open(path, "ab") as file:
                file.write(turn(f"{name} at {at}", at * 1000))
        elif step == "remove":
            path.unlink()
        elif step == "die":
            lock.lock_path(path).touch()
        else:
            past = time.time() - ALIVE_SECONDS - at
            os.utime(path, (past, past))
    for _ in "abcd!":
        watched.look()
    assert watched.listing.unread == 0
    watched.assert_right()
    watched.listing.close()


def test_nothing_is_drawn_anew_that_is_the_same(watched: Watched) -> None:
    for number, name in enumerate("abc", start=1):
        watched.path(name).write_bytes(HEADER + turn(name, number * 1000))
    assert watched.look() == ["add"] * 3
    assert watched.look() == []
    with open(watched.path("b"), "ab") as file:
        file.write(turn("again", 2500))
    assert watched.look() == ["add"]
    with open(watched.path("a"), "ab") as file:
        file.write(turn("to the top", 9000))
    assert watched.look() == ["add"]
    watched.assert_right()


def test_a_recorder_that_closes_without_writing_is_no_longer_live(watched: Watched) -> None:
    path = watched.path("a")
    header = encode_header(Header(writer="recorder" + LOCKING_WRITER)) + b"\n"
    path.write_bytes(header + turn("go", 1000))
    held = lock.Lock(path)
    watched.look()
    assert watched.state("a") == "live"
    held.release()
    watched.look()
    assert watched.state("a") == "interrupted"


def test_only_some_transcripts_are_kept_at_once(watched: Watched) -> None:
    for number in range(ROWS_FOLLOWED + 5):
        watched.path(f"s{number}").write_bytes(HEADER + turn("go", number))
    watched.look()
    assert len(watched.listing._followers) == ROWS_FOLLOWED
    for number in range(ROWS_FOLLOWED + 5):
        lock.lock_path(watched.path(f"s{number}")).touch()
    watched.look()
    assert watched.listing._followers == {}
    watched.assert_right()


def test_what_cannot_be_read_has_a_row_all_the_same(watched: Watched) -> None:
    watched.path("a").write_bytes(b"\xff\xfe\0 nothing of ours\n[[[")
    watched.path("loop").symlink_to(watched.path("loop").name)
    watched.path("folder").mkdir()
    watched.path("good").write_bytes(HEADER)
    watched.look()
    assert watched.state("a")
    assert watched.state("good")
    watched.assert_right()


def test_a_row_tells_how_long_a_session_took(watched: Watched) -> None:
    watched.path("a").write_bytes(HEADER + turn("go", 1000) + turn("on", 66_000))
    watched.path("b").write_bytes(HEADER + turn("go", 0))
    watched.look()
    assert ">1 m 05 s<" in watched.row("a")
    assert "wall" not in watched.row("b")


@pytest.mark.parametrize(
    ("size", "badge"),
    [
        (LARGE_FILE - 1, '"size">5 MB<'),
        (LARGE_FILE, 'a moment">5 MB<'),
        (123_456_789, 'a moment">123.5 MB<'),
    ],
)
def test_a_row_warns_of_a_large_file(watched: Watched, size: int, badge: str) -> None:
    path = watched.path("a")
    path.write_bytes(HEADER)
    os.truncate(path, size)
    watched.look()
    assert badge in watched.row("a")


def test_rows_are_in_the_order_of_the_last_recorded_event(watched: Watched) -> None:
    for name, at, changed in (("a", 9000, 1), ("b", 5000, 99), ("c", 0, 7)):
        watched.path(name).write_bytes(HEADER + turn("go", at))
        os.utime(watched.path(name), (changed, changed))
    watched.look()
    assert watched.names() == "acb"
    assert "(file)" in watched.row("c")
    assert "(file)" not in watched.row("a")


def test_many_sessions_are_listed_at_once_and_read_one_after_the_other(tmp_path: Path) -> None:
    watched = Watched(tmp_path.resolve(), read_at_once=1)
    header = encode_header(Header(workspace="/src/here", writer="x" + LOCKING_WRITER)) + b"\n"
    for number, name in enumerate("abc", start=1):
        calls = encode(Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="1"), at=number * 5000))
        watched.path(name).write_bytes(header + turn(f"do {name}", 1000) + calls + b"\n")
    watched.look()
    assert watched.names() == "cba"
    assert watched.listing.unread == 3
    for name in "abc":
        row = watched.row(name)
        assert all(text in row for text in (f"do {name}", "/src/here", "not read yet", "wall"))
        assert "turn" not in row
    read = []
    while watched.listing.unread:
        watched.look()
        read += [name for name in "abc" if "1 tool" in watched.row(name) and name not in read]
    assert read == ["c", "b", "a"]
    assert watched.look() == []
    watched.assert_right()
    watched.listing.close()


def test_a_file_larger_than_what_is_read_at_once_has_its_row_first(tmp_path: Path) -> None:
    watched = Watched(tmp_path.resolve(), read_at_once=400)
    watched.path("large").write_bytes(HEADER + turn("x" * 1000, 9000))
    watched.path("small").write_bytes(HEADER + turn("y", 1000))
    watched.look()
    assert (watched.state("large"), watched.state("small")) == ("unread", "live")
    watched.look()
    assert watched.state("large") == "live"
    watched.listing.close()


@pytest.mark.parametrize("data", [b"", b"[[[", b"\xff\n" * 9, b'{"kind":"text","at":7}', b"\n"])
def test_a_glance_at_anything_makes_a_row(tmp_path: Path, data: bytes) -> None:
    watched = Watched(tmp_path.resolve(), read_at_once=-1)
    watched.path("odd").write_bytes(data)
    watched.look()
    assert watched.state("odd") == "unread"
    watched.listing.close()


def test_looking_again_reads_no_file_that_is_as_it_was(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        watched.path(name).write_bytes(HEADER + turn(name, 1000))
        os.utime(watched.path(name), (1000, 1000))
    watched.look()
    monkeypatch.setattr(listing_module, "Follower", None)
    monkeypatch.setattr(listing_module, "render", None)
    assert watched.listing.look() is None


def test_a_live_page_holds_the_first_rows(watched: Watched) -> None:
    count = PAGE_ROWS + 5
    for number in range(count):
        watched.path(f"s{number}").write_bytes(HEADER + turn("go", 1000 + number))
    watched.look()
    assert len(watched.page.regions["sessions"].elements()) == PAGE_ROWS
    last = watched.page.regions["sessions"].elements()[-1].attributes["id"]
    with open(watched.path("s1"), "ab") as file:
        file.write(turn("again", 9000))
    assert watched.look() == ["remove", "add"]
    rows = [row.attributes["id"] for row in watched.page.regions["sessions"].elements()]
    assert len(rows) == PAGE_ROWS
    assert rows[0] == "s" + watched.id("s1")
    assert last not in rows
    watched.assert_right()
    assert len(parse(watched.listing.page({"page": "2"})["rows"])) == 5
    assert (
        watched.listing.page({"page": "77"})["rows"] == watched.listing.page({"page": "2"})["rows"]
    )


@pytest.fixture
def various(watched: Watched) -> Watched:
    """Sessions that differ in everything one can find or sort by."""

    def written(name: str, *records: Record, workspace: str = "/src") -> None:
        header = encode_header(Header(workspace=workspace, writer="x" + LOCKING_WRITER))
        lines = [header, *(encode(record) for record in records)]
        watched.path(name).write_bytes(b"".join(line + b"\n" for line in lines))

    def begin(text: str, at: int) -> Record:
        return Record(kind=Kind.TURN_STARTED, text=text, at=at)

    def end(at: int, text: str = "") -> Record:
        return Record(kind=Kind.TURN_DONE, text=text, level="error" if text else "", at=at)

    written("a", begin("Fix the LOBBY", 1000), end(9000))
    written("b", begin("Fix the door", 5000), end(6000, "no key"), workspace="/src/lobby")
    written("c", begin("Paint the door", 2000), begin("again", 4000))
    written("d", begin("x" * 500, 3000), end(3500))
    watched.look()
    return watched


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({}, "abcd"),
        ({"q": "lobby"}, "ab"),
        ({"q": "  DOOR fix "}, "b"),
        ({"q": "failed"}, "b"),
        ({"q": "nothing like it"}, ""),
        ({"q": "<b>%&"}, ""),
        ({"state": "finished"}, "ad"),
        ({"state": "failed"}, "b"),
        ({"state": "interrupted"}, "c"),
        ({"state": "live"}, ""),
        ({"state": "no such state"}, "abcd"),
        ({"sort": "duration"}, "acbd"),
        ({"sort": "errors"}, "bacd"),
        ({"sort": "size"}, "dbca"),
        ({"sort": "no such order"}, "abcd"),
        ({"q": "the", "state": "finished", "sort": "size"}, "a"),
        ({"page": "-1"}, "abcd"),
        ({"page": "９"}, "abcd"),
    ],
    ids=str,
)
def test_what_is_asked_for_is_found_in_its_order(
    various: Watched, asked: dict[str, str], names: str
) -> None:
    assert various.names(**asked) == names


@given(
    st.builds(
        Query,
        st.text(st.characters(codec="utf-8"), max_size=20).map(str.strip),
        st.sampled_from(["", "live", "failed"]),
        st.sampled_from(["last", "size"]),
        st.integers(1, 999),
    )
)
def test_a_query_is_what_its_address_says(query: Query) -> None:
    asked = dict(parse_qsl(urlsplit(query.address(page=query.page)).query))
    assert Query.of(asked) == query


def test_what_is_searched_for_is_never_markup(various: Watched) -> None:
    for html in various.listing.page({"q": "\"><script>'"})["fragments"].values():
        assert "<script" not in html

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presentview import lock
from presentview.limits import ALIVE_SECONDS, ROWS_FOLLOWED
from presentview.lock import LOCKING_WRITER
from presentview.records import Header, Kind, Record, encode, encode_header
from presentview.sessions import Roots, session_id
from presentview.web.listing import Listing
from tests.web.page_model import Page

HEADER = encode_header(Header()) + b"\n"


def turn(text: str, at: int) -> bytes:
    return encode(Record(kind=Kind.TURN_STARTED, text=text, at=at)) + b"\n"


class Watched:
    """A folder, its list, and a page that shows the list."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.roots = Roots((folder,), ())
        self.listing = Listing(self.roots, "epoch")
        self.listing.look()
        self.page = Page(self.listing.snapshot())

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.present.jsonl"

    def look(self) -> list[str]:
        """Look, bring the page up to date, and say what was done to it."""
        batch = self.listing.look()
        if batch is None:
            return []
        assert self.page.apply(batch)
        return [op.op for op in batch.ops]

    def opened_now(self) -> Page:
        fresh = Listing(self.roots, "another")
        fresh.look()
        page = Page(fresh.snapshot())
        fresh.close()
        return page

    def assert_right(self) -> None:
        names = ["sessions"]
        assert self.page.html(names) == self.opened_now().html(names)

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
@given(st.lists(STEPS, max_size=12))
def test_a_list_that_is_live_is_the_one_that_is_opened_now(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]]
) -> None:
    watched = Watched(tmp_path_factory.mktemp("sessions").resolve())
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
    watched.look()
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

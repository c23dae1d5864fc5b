"""The promise: a page that was live the whole time shows what a page shows that is opened now."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presentview import lock
from presentview.events import from_event
from presentview.records import (
    Compaction,
    FileDiff,
    Header,
    Kind,
    Record,
    Tool,
    Usage,
    encode,
    encode_header,
)
from presentview.sessions import SessionRef
from presentview.web import cards, feeds
from presentview.web.feeds import Batch, Feed
from tests.random_session import random_events
from tests.strategies import session_records
from tests.web.page_model import Page, everything


class Session:
    """A session that is recorded, and a page that watches it."""

    def __init__(self, folder: Path) -> None:
        self.ref = SessionRef("5e551011", folder / "s.jsonl")
        self.path = folder / "s.present.jsonl"
        self.path.write_bytes(encode_header(Header()) + b"\n")
        self.feed = Feed(self.ref, "epoch")
        self.feed.look()
        self.page = Page(everything(self.feed))

    def record(self, record: Record) -> None:
        with open(self.path, "ab") as file:
            file.write(encode(record) + b"\n")

    def flip(self) -> None:
        """Let the writer die, or live again: a lock file that nobody holds says it is dead."""
        path = lock.lock_path(self.path)
        if path.exists():
            path.unlink()
        else:
            path.touch()

    def look(self) -> Batch | None:
        batch = self.feed.look()
        if batch is not None and not self.page.apply(batch):
            self.page.take(everything(self.feed))
        return batch

    def opened_now(self) -> Page:
        fresh = Feed(self.ref, "another")
        try:
            fresh.look()
            return Page(everything(fresh))
        finally:
            fresh.follower.close()


@contextmanager
def recorded() -> Iterator[Session]:
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder))
        try:
            yield session
        finally:
            session.feed.follower.close()


def assert_the_same(live: Page, opened: Page) -> None:
    mine, theirs = live.cards(), opened.cards()
    assert list(mine) == list(theirs)
    assert mine == theirs
    assert live.html() == opened.html()


# Of few words, so that records meet: the same ids, parents that come late, turns that end.
_CALLS = st.sampled_from(["a", "a", "b", "a/x", "a/p1", "a/p1/x", "a/p1/p2/x", "b/p1/x", "c"])
_TIMES = st.sampled_from([0, 1_000, 2_000, 3_500])


def _of(kind: str, **fields: Sequence[Any] | st.SearchStrategy[Any]) -> st.SearchStrategy[Record]:
    drawn: dict[str, st.SearchStrategy[Any]] = {
        name: value if isinstance(value, st.SearchStrategy) else st.sampled_from(value)
        for name, value in fields.items()
    }
    return st.builds(Record, kind=st.just(kind), at=_TIMES, **drawn)


def _call(kind: str, **fields: Sequence[Any]) -> st.SearchStrategy[Record]:
    drawn: dict[str, st.SearchStrategy[Any]] = {
        name: st.sampled_from(value) for name, value in fields.items()
    }
    return _of(kind, tool=st.builds(Tool, id=_CALLS, **drawn))


def terse_records() -> st.SearchStrategy[Record]:
    return st.one_of(
        _call(
            Kind.TOOL_DISPATCH,
            name=["bash", "task", ""],
            args=["", '{"command":"ls"}'],
            parent_id=["", "", "", "a", "b", "c", "a/p1"],
        ),
        _call(
            Kind.TOOL_RESULT,
            output=["", "out", "error: no"],
            duration_ms=[0, 5],
            file_diff=[None, None, FileDiff(diff="+a\n", added=1)],
        ),
        _call(Kind.TOOL_PROGRESS, output=["o"]),
        _of(Kind.TURN_STARTED, text=["", "do it"]),
        _of(Kind.TURN_DONE, text=["", "", "boom", "interrupted"]),
        _of(Kind.TEXT, text=["a"]),
        _of(Kind.REASONING, text=["a"]),
        _of(Kind.MESSAGE, text=["", "b"], reasoning=["", "r"]),
        _of(Kind.USAGE, usage=[Usage(input_tokens=1)]),
        _of(Kind.COMPACTION_STARTED),
        _of(Kind.COMPACTION_DONE, compaction=[None, Compaction(summary="s")]),
        _of(Kind.NOTICE, text=["n"]),
        _of(Kind.RETRYING),
    )


Steps = list[tuple[Record, str]]
THEN = st.sampled_from(["look", "look", "look", "wait", "flip"])
STEPS = st.lists(st.tuples(terse_records() | session_records(), THEN), max_size=30)
TERSE_STEPS = st.lists(st.tuples(terse_records(), THEN), max_size=20)


def watch(session: Session, steps: Steps) -> None:
    for record, then in steps:
        session.record(record)
        if then == "flip":
            session.flip()
        if then != "wait":
            session.look()
    session.look()
    assert_the_same(session.page, session.opened_now())


@given(STEPS | TERSE_STEPS)
def test_a_live_page_and_one_opened_at_the_end_are_the_same(steps: Steps) -> None:
    with recorded() as session:
        watch(session, steps)
        assert session.page.snapshots == 0, "what only adds to a session must not cost a new page"


@settings(max_examples=30)
@given(TERSE_STEPS)
def test_a_live_page_is_right_also_where_cards_are_nested_too_deep(steps: Steps) -> None:
    with pytest.MonkeyPatch.context() as patch, recorded() as session:
        patch.setattr(cards, "DOM_DEPTH", 2)
        patch.setattr(feeds, "DOM_DEPTH", 2)
        watch(session, steps)


def _dispatch(call: str, at: int = 0, **fields: Any) -> Record:
    tool = Tool(id=call, name="bash", **fields)
    return Record(kind=Kind.TOOL_DISPATCH, tool=tool, at=at)


def _result(call: str, at: int = 0) -> Record:
    return Record(kind=Kind.TOOL_RESULT, tool=Tool(id=call, output="out"), at=at)


BEGIN = Record(kind=Kind.TURN_STARTED, text="go", at=1_000)
USED = Record(kind=Kind.USAGE, usage=Usage(input_tokens=1), at=2_000)
END = Record(kind=Kind.TURN_DONE, at=3_500)
ONCE_WRONG: dict[str, list[Record]] = {
    "a turn that ends without changing a card": [BEGIN, END],
    "a result that comes after its turn's footer": [
        *(BEGIN, _dispatch("a", 1_100), USED, END),
        _result("a", 9_000),
    ],
    "the only nested call finds another parent": [
        *(_dispatch("a"), _dispatch("x", parent_id="a"), _dispatch("b")),
        _dispatch("x", parent_id="b"),
    ],
    "a parent comes after all that is nested in it": [
        *(_dispatch("a/p1/p2/x"), _dispatch("a/p1/y"), _result("a/p1/y"), _dispatch("a")),
        _result("a"),
    ],
}


@pytest.mark.parametrize("records", ONCE_WRONG.values(), ids=ONCE_WRONG)
@pytest.mark.parametrize("at_once", [False, True], ids=["one by one", "at once"])
def test_a_live_page_is_right_where_it_was_wrong_once(records: list[Record], at_once: bool) -> None:
    with recorded() as session:
        for record in records:
            session.record(record)
            if not at_once:
                session.look()
        session.look()
        assert_the_same(session.page, session.opened_now())
        assert session.page.snapshots == 0


def watch_random_session(seed: int, count: int) -> None:
    random = Random(seed)
    with recorded() as session:
        for event in random_events(seed, count):
            record = from_event(event)
            assert record is not None
            session.record(record)
            if random.random() < 0.02:
                session.flip()
            if random.random() < 0.7:
                session.look()
        session.look()
        assert_the_same(session.page, session.opened_now())
        assert session.page.snapshots == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_live_page_is_right_after_a_long_session(seed: int) -> None:
    watch_random_session(seed, 150)


# For hours


@pytest.mark.soak
@given(STEPS | TERSE_STEPS)
def test_the_promise_holds_for_records_in_any_order(steps: Steps) -> None:
    with recorded() as session:
        watch(session, steps)


@pytest.mark.soak
@settings(max_examples=1000)
@given(st.integers(0), st.integers(1, 400))
def test_the_promise_holds_for_sessions_of_any_length(seed: int, count: int) -> None:
    watch_random_session(seed, count)

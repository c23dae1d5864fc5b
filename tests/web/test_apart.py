"""Long records are read in a process of their own, and nobody sees that on the page."""

from __future__ import annotations

import json
import os
import pickle
import signal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presentview import limits
from presentview.events import from_event
from presentview.limits import KIB, MIB
from presentview.records import Attachment, FileDiff, Kind, Record, Tool, encode
from presentview.sessions import Roots, SessionRef
from presentview.transcript.cards import ToolCard
from presentview.web import apart as apart_module
from presentview.web.apart import Apart, ApartError, Chunks
from presentview.web.apart_process import digested
from presentview.web.feeds import Feed
from presentview.web.find import find
from presentview.web.hub import Hub
from presentview.web.reading import JOBS
from tests.random_session import random_events
from tests.sidecars import write_session
from tests.web.page_model import everything
from tests.web.test_bombs import BOMBS

LONG = "word " * (20 * KIB)


class Beside(Apart):
    """What the process does, done here: quick enough to try much."""

    def run(self, name: str, raws: Sequence[Chunks], *arguments: Any) -> Iterator[Any]:
        given = pickle.loads(pickle.dumps(arguments))
        records = [b"".join(chunks) for chunks in raws]
        do = digested if name == "pieces" else JOBS[name]
        source: Any = records[0] if name == "pieces" else records
        for answer in cast("Any", do)(source, *given):
            yield pickle.loads(pickle.dumps(answer))


@pytest.fixture(scope="module", autouse=True)
def long_lines_are_short() -> Iterator[None]:
    """Lines that are read apart, but long enough that their texts are cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "LONG_LINE_BYTES", 80 * KIB)
        yield


@pytest.fixture(scope="module")
def apart() -> Iterator[Apart]:
    one = Apart()
    yield one
    one.close()


def drawn(session: Path, apart: Apart | None) -> dict[str, Any]:
    """All that can be seen of a session."""
    feed = Feed(SessionRef("5e551011", session), "epoch", apart=apart)
    try:
        feed.look()
        shown = dict(everything(feed).regions)
        cards = list(feed.transcript.walk())
        return {
            "regions": shown,
            "counted": [
                (card.lines, card.diff_lines, card.attachments, card.background)
                for card in cards
                if isinstance(card, ToolCard)
            ],
            "problems": feed.follower.problems,
            "bodies": [feed.renderer.body(card) for card in cards],
            "texts": [feed.reader.text(card) for card in cards],
            "steps": [feed.reader.text(card, 7) for card in cards],
            "files": [feed.reader.attachments(card) for card in cards],
            "found": [
                (hit.card.id, hit.count, hit.before, hit.match, hit.after)
                for hit in find(feed.follower, "word", reader=feed.reader, seconds=60).hits
            ],
        }
    finally:
        feed.follower.close()


def assert_nobody_sees_it(session: Path, apart: Apart) -> None:
    here, there = drawn(session, None), drawn(session, apart)
    for what in here:
        assert there[what] == here[what]


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), kept=st.sampled_from([800, limits.KEPT_CHARS]))
def test_a_page_is_the_same_wherever_its_records_are_read(seed: int, kept: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "LONG_LINE_BYTES", 100)
        patch.setattr(limits, "KEPT_CHARS", kept)
        records = [from_event(event) for event in random_events(seed, 60)]
        assert_nobody_sees_it(write_session(Path(folder), filter(None, records)), Beside())


def call(kind: Kind, call: str = "a", **fields: Any) -> Record:
    return Record(kind, tool=Tool(id=call, **fields))


ARGS = json.dumps({"command": "ls", "rest": LONG})
PATH = json.dumps({"path": LONG[: 70 * KIB]})
TODOS = json.dumps({"todos": [{"content": "word", "status": "done"}] * 3_000})
EXPERTS = {"RunID": "r", "TeamName": "word", "Rounds": [[]] * 30_000}
TELLING: dict[str, list[Record]] = {
    "a prompt": [Record(Kind.TURN_STARTED, text=LONG)],
    "a message": [Record(Kind.MESSAGE, text=LONG, reasoning=" \n" + LONG)],
    "notices that differ at their ends": [
        Record(Kind.NOTICE, text=LONG + end, level="warn") for end in ("1", "1", "2")
    ],
    "calls with the same arguments": [
        call(Kind.TOOL_DISPATCH, name="bash", args=ARGS),
        call(Kind.TOOL_DISPATCH, name="bash", args=ARGS),
    ],
    "calls whose arguments differ at their ends": [
        call(Kind.TOOL_DISPATCH, name="bash", args=ARGS),
        call(Kind.TOOL_DISPATCH, name="bash", args=ARGS.replace('"}', '!"}')),
    ],
    "the same arguments in a long record and a short one": [
        call(Kind.TOOL_DISPATCH, args=PATH, output=LONG),
        call(Kind.TOOL_DISPATCH, args=PATH),
    ],
    "arguments of a tool that is named later": [
        call(Kind.TOOL_DISPATCH, args=ARGS),
        call(Kind.TOOL_DISPATCH, name="task", args=ARGS.replace("command", "prompt")),
    ],
    "a call in the background": [
        call(Kind.TOOL_DISPATCH, name="bash", args=ARGS.replace("rest", "run_in_background")),
    ],
    "arguments cut off": [call(Kind.TOOL_DISPATCH, name="bash", args=ARGS[:-1])],
    "many things to do": [call(Kind.TOOL_DISPATCH, name="todo_write", args=TODOS)],
    "lines of output": [
        call(Kind.TOOL_DISPATCH, name="bash", args='{"command":"ls"}'),
        call(Kind.TOOL_RESULT, output="word\n" * (20 * KIB) + "no end", err=LONG),
    ],
    "output so far": [call(Kind.TOOL_PROGRESS, output=LONG), call(Kind.TOOL_PROGRESS, output="x")],
    "a long diff": [
        call(Kind.TOOL_DISPATCH, file_diff=FileDiff("@@ -1 +1 @@\n-word\n" + "+word\n" * 20_000)),
    ],
    "many files": [call(Kind.TOOL_RESULT, attachments=(Attachment("word.png", "image"),) * 5_000)],
    "experts": [Record(Kind.EXPERT_COLLAB, collab=EXPERTS)] * 2,
    "an error": [Record(Kind.TURN_STARTED), Record(Kind.TURN_DONE, text=LONG, level="error")],
    "a kind of its own": [Record("word", text=LONG)],
    "a short record": [Record(Kind.NOTICE, text="word")],
}


@pytest.mark.parametrize("records", TELLING.values(), ids=TELLING.keys())
def test_what_counts_in_a_long_record_counts_apart(
    tmp_path: Path, records: list[Record], apart: Apart
) -> None:
    assert_nobody_sees_it(write_session(tmp_path, [*records, Record(Kind.NOTICE)]), apart)


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_goes_off_apart_as_it_would_here(tmp_path: Path, bomb: str, apart: Apart) -> None:
    make, _ = BOMBS[bomb]
    (tmp_path / "s.present.jsonl").write_bytes(make(MIB) + b"\n" + encode(Record(Kind.NOTICE)))
    assert_nobody_sees_it(tmp_path / "s.jsonl", apart)


def test_a_line_that_is_still_written_is_waited_for(tmp_path: Path, apart: Apart) -> None:
    line = encode(Record(Kind.NOTICE, text=LONG))
    path = tmp_path / "s.present.jsonl"
    path.write_bytes(b'{"kind":"_header"}\n' + line[: 90 * KIB])
    feed = Feed(SessionRef("5e551011", tmp_path / "s.jsonl"), "epoch", apart=apart)
    feed.look()
    assert feed.follower.alive
    assert (feed.transcript.cards, feed.follower.problems) == ([], ())
    with open(path, "ab") as file:
        file.write(line[90 * KIB :] + b"\n")
    feed.look()
    assert [card.kind for card in feed.transcript.cards] == ["notice"]
    feed.follower.close()


def test_a_line_longer_than_any_may_be_is_named(
    tmp_path: Path, apart: Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LINE_BYTES", 90 * KIB)
    session = write_session(tmp_path, [Record(Kind.NOTICE, text=LONG), Record(Kind.NOTICE)])
    assert_nobody_sees_it(session, apart)


def test_a_line_that_ends_the_process_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [Record(Kind.NOTICE, text=text) for text in ("one", LONG, LONG + "!", "two")]
    session = write_session(tmp_path, records)
    apart = Apart()
    chunks = apart_module._chunks
    killed: list[int] = []

    def deadly(file: BinaryIO, offset: int, length: int) -> Iterator[bytes]:
        yield from chunks(file, offset, length)
        if not killed:
            assert apart.pid is not None
            killed.append(apart.pid)
            os.kill(apart.pid, signal.SIGKILL)

    monkeypatch.setattr(apart_module, "_chunks", deadly)
    feed = Feed(SessionRef("5e551011", session), "epoch", apart=apart)
    feed.look()
    first = len(encode(records[0]))
    [problem] = feed.follower.problems
    assert (problem.line, problem.offset) == (3, first + 20)
    assert problem.reason == "not read: the process that reads long lines ended over it"
    assert [card.face[:4] for card in feed.transcript.cards] == ["one", "word", "two"]
    assert apart.pid not in (None, *killed)
    feed.follower.close()
    apart.close()


@pytest.mark.skipif(os.name != "posix", reason="memory cannot be limited here")
def test_a_line_that_needs_too_much_memory_is_named(tmp_path: Path) -> None:
    make, _ = BOMBS["empty arrays"]
    (tmp_path / "s.present.jsonl").write_bytes(make(100 * MIB) + b"\n" + encode(Record("notice")))
    apart = Apart(memory=320 * MIB)
    feed = Feed(SessionRef("5e551011", tmp_path / "s.jsonl"), "epoch", apart=apart)
    feed.look()
    reasons = [problem.reason for problem in feed.follower.problems]
    assert reasons[1:] == ["not read: that takes more than 320 MiB of memory"]
    assert [card.kind for card in feed.transcript.cards] == ["notice"]
    feed.follower.close()
    apart.close()


def test_a_card_that_cannot_be_read_says_so(
    tmp_path: Path, apart: Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = write_session(tmp_path, [Record(Kind.NOTICE, text=LONG)])
    feed = Feed(SessionRef("5e551011", session), "epoch", apart=apart)
    feed.look()

    def fail(*_: Any) -> Iterator[Any]:
        raise ApartError("no such luck")
        yield

    monkeypatch.setattr(apart, "run", fail)
    [card] = feed.transcript.cards
    assert "no such luck" in feed.renderer.body(card)
    assert find(feed.follower, "word", reader=feed.reader).hits == ()
    feed.follower.close()


def test_the_process_is_ended_when_nobody_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = write_session(tmp_path, [Record(Kind.NOTICE, text=LONG)])
    apart = Apart()
    assert apart.pid is None
    drawn(session, apart)
    apart.rest()
    assert apart.pid is not None
    monkeypatch.setattr(apart_module, "APART_SECONDS", -1)
    apart.rest()
    assert apart.pid is None
    drawn(session, apart)
    apart.close()
    assert apart.pid is None


@pytest.mark.anyio
async def test_the_server_reads_long_records_apart_until_it_is_closed(tmp_path: Path) -> None:
    write_session(tmp_path, [Record(Kind.NOTICE, text=LONG)])
    hub = Hub(Roots.of([tmp_path]))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hub.run)
        await hub.list_now()
        [session] = hub.listing.refs
        feed = await hub.feed(session)
        assert feed is not None
        assert [card.face[:4] for card in feed.transcript.cards] == ["word"]
        pid = cast("int", hub.apart.pid)
        hub.close()
    assert hub.apart.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)

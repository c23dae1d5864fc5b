"""The recorder: what it takes in, when it is in the file, and how it begins and ends."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from presentview import atomic
from presentview.errors import SidecarError, SidecarLocked
from presentview.events import Event, EventKind
from presentview.lock import lock_path
from presentview.recorder import Recorder, Snapshot
from presentview.records import Kind, Record, Tool, Usage
from presentview.sidecar import load
from tests.unit.agent import (
    collab,
    compacted,
    delta,
    dispatch,
    ended,
    header_of,
    message,
    notice,
    record,
    result,
    said,
    said_in,
    turn,
)

ROOT = Path(__file__).resolve().parents[2]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# beginning and ending


def test_a_new_recorder_holds_nothing() -> None:
    recorder = Recorder()
    assert recorder.records == ()
    assert recorder.rewrite_version == 0
    assert recorder.path is None
    assert recorder.problems == ()
    assert recorder.snapshot() == Snapshot((), 0)


def test_a_recorder_that_is_not_bound_keeps_records_in_memory() -> None:
    recorder = Recorder()
    record(recorder, [turn("hello"), notice("n")])
    assert said(recorder) == ["hello", "n"]
    assert recorder.snapshot().records == recorder.records


def test_the_null_recorder_does_nothing_safely(session: Path, sidecar: Path) -> None:
    with Recorder.null() as recorder:
        recorder.append(turn("hello"))
        recorder.set_rewrite_version(3)
        recorder.sync_before_save(4, compacted())
        recorder.truncate_to_turn(2)
        recorder.seed_from_path(sidecar)
        recorder.rebind(session)
        recorder.reset()
        recorder.save()
        recorder.save(sidecar)
    recorder.append(turn("after close"))
    assert recorder.snapshot() == Snapshot((), 0)
    assert files(session.parent) == []


def test_an_empty_session_path_gives_a_recorder_that_does_nothing() -> None:
    with Recorder.open("") as recorder:
        recorder.append(turn())
        recorder.save()
    assert recorder.records == ()


def test_a_session_in_which_nothing_happened_gets_no_file(session: Path) -> None:
    with Recorder.open(session) as recorder:
        assert recorder.path == session.with_name("s.present.jsonl")
        assert files(session.parent) == ["s.present.jsonl.lock"]
    assert files(session.parent) == []


def test_open_makes_the_folders_it_needs(tmp_path: Path) -> None:
    with Recorder.open(tmp_path / "a" / "b" / "s.jsonl") as recorder:
        recorder.append(turn())
    assert files(tmp_path / "a" / "b") == ["s.present.jsonl"]


@pytest.mark.parametrize("max_turns", [0, -1])
def test_a_retention_of_less_than_one_turn_is_refused(max_turns: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Recorder(max_turns=max_turns)


def test_an_unknown_way_to_sync_is_refused(session: Path) -> None:
    with pytest.raises(ValueError, match="'always', 'turn' or 'never'"):
        Recorder.open(session, fsync="sometimes")  # type: ignore[arg-type]
    assert files(session.parent) == []


def test_a_closed_recorder_refuses_records_and_keeps_those_it_has(
    session: Path, sidecar: Path
) -> None:
    recorder = Recorder.open(session)
    recorder.append(turn("hello"))
    recorder.close()
    recorder.close()
    with pytest.raises(RuntimeError, match="closed"):
        recorder.append(notice("n"))
    with pytest.raises(RuntimeError, match="closed"):
        recorder.save()
    with pytest.raises(RuntimeError, match="closed"):
        recorder.sync_before_save(1)
    assert said(recorder) == ["hello"]
    assert said_in(sidecar) == ["hello"]
    assert not lock_path(sidecar).exists()


def test_leaving_the_with_block_closes_whatever_happens(session: Path, sidecar: Path) -> None:
    def work() -> None:
        with Recorder.open(session) as recorder:
            recorder.append(turn("hello"))
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert said_in(sidecar) == ["hello"]
    Recorder.open(session).close()


def test_a_file_that_lost_all_its_records_is_saved_at_close(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), notice("n"), ended()])
    with Recorder.open(session) as recorder:
        recorder.sync_before_save(1)
    assert said_in(sidecar) == []
    assert header_of(sidecar).rewrite_version == 1


# recording


def test_a_record_is_in_the_file_when_append_returns(session: Path, sidecar: Path) -> None:
    with Recorder.open(session, fsync="never") as recorder:
        for n in range(20):
            recorder.append(notice(f"{n}"))
            assert said_in(sidecar) == [f"{m}" for m in range(n + 1)]


def test_appending_leaves_the_bytes_before_it_alone(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn(), notice("a")])
        before = sidecar.read_bytes()
        inode = sidecar.stat().st_ino
        record(recorder, [notice("b"), ended()])
        assert sidecar.read_bytes().startswith(before)
        assert sidecar.stat().st_ino == inode


def test_extensions_are_in_the_file(session: Path, sidecar: Path, tmp_path: Path) -> None:
    with Recorder.open(session, workspace=tmp_path) as recorder:
        record(recorder, [turn("hello"), ended("boom")])
    header, first, last = (json.loads(line) for line in sidecar.read_bytes().splitlines())
    assert header["kind"] == "_header"
    assert header["workspace"] == str(tmp_path)
    assert header["writer"].startswith("presentview ")
    assert 0 < header["startedAt"] <= first.pop("at") <= last.pop("at")
    assert first == {"kind": "turn_started", "text": "hello"}
    assert last == {"kind": "turn_done", "text": "boom", "level": "error"}


def test_without_extensions_the_file_is_what_the_go_program_writes(
    session: Path, sidecar: Path, tmp_path: Path
) -> None:
    with Recorder.open(session, workspace=tmp_path, extensions=False) as recorder:
        record(recorder, [turn("hello"), notice("a < b"), ended("boom")])
        recorder.append(Event(kind=EventKind.USAGE, at=5))
        recorder.save(sidecar)
    assert sidecar.read_bytes() == (
        b'{"kind":"_header"}\n'
        b'{"kind":"turn_started"}\n'
        b'{"kind":"notice","text":"a \\u003c b","level":"info"}\n'
        b'{"kind":"usage"}\n'
    )


def test_a_time_the_agent_gives_is_kept(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        recorder.append(Event(kind=EventKind.NOTICE, text="n", at=1_234))
    assert load(sidecar).records[0].at == 1_234


def test_what_no_transcript_shows_is_not_recorded(session: Path) -> None:
    with Recorder.open(session) as recorder:
        recorder.append(Event(kind=EventKind.ASK_REQUEST))
        assert recorder.records == ()


def test_a_collab_value_that_is_changed_later_stays_as_it_was(session: Path, sidecar: Path) -> None:
    rounds = [{"Text": "first"}]
    with Recorder.open(session) as recorder:
        recorder.append(collab({"Rounds": rounds}))
        line = sidecar.read_bytes().splitlines()[1]
        rounds[0]["Text"] = "changed"
        assert recorder.records[0].collab == {"Rounds": [{"Text": "first"}]}
        recorder.save(sidecar)
        assert sidecar.read_bytes().splitlines()[1] == line


# content never fails

HOLDS_ITSELF: list[Any] = []
HOLDS_ITSELF.append(HOLDS_ITSELF)
DEEP: Any = "bottom"
for _ in range(10_000):
    DEEP = [DEEP]

CONTENT: dict[str, Event] = {
    "lone surrogates": notice("\ud800 and \udfff"),
    "NUL and controls": notice("".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029"),
    "every odd character": notice("\ufeff\ufffe\uffff\U0010ffff"),
    "fifty megabytes": result("a", "x" * 50_000_000),
    "a deep collab": collab(DEEP),
    "a deep collab in bytes": collab(b"[" * 10_000 + b"]" * 10_000),
    "a collab that holds itself": collab({"rounds": HOLDS_ITSELF}),
    "a collab with NaN": collab([float("nan"), float("inf"), {"x": -float("inf")}]),
    "a collab of bytes that are no JSON": collab(b"\xff{"),
    "a collab of what JSON cannot say": collab({1: {2, 3}, None: object()}),
    "a collab with a huge number": collab([10**5000, -(10**400)]),
    "a text that is none": notice(12),  # type: ignore[arg-type]
    "a text of bytes": notice(b"\xff\x00"),  # type: ignore[arg-type]
    "a text of None": notice(None),  # type: ignore[arg-type]
    "numbers that are none": Event(
        kind=EventKind.USAGE,
        usage=Usage(input_tokens="many", output_tokens=1e400, total_tokens=2**70),  # type: ignore[arg-type]
    ),
    "a call of the wrong types": Event(
        kind=EventKind.TOOL_RESULT,
        tool=Tool(id=7, output=None, duration_ms=float("nan"), args={"a": 1}),  # type: ignore[arg-type]
    ),
    "a call that is missing": Event(kind=EventKind.TOOL_DISPATCH),
    "a kind nobody knows": Event(kind=99),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("event", CONTENT.values(), ids=CONTENT)
def test_no_content_fails(event: Event, session: Path, sidecar: Path) -> None:
    with Recorder.open(session, fsync="never") as recorder:
        record(recorder, [turn(), event, notice("after")])
        appended = load(sidecar)
        recorder.save(sidecar)
    rewritten = load(sidecar)
    assert appended.problems == rewritten.problems == ()
    assert [each.kind for each in rewritten.records[:: len(rewritten.records) - 1]] == [
        Kind.TURN_STARTED,
        Kind.NOTICE,
    ]
    assert appended.records == rewritten.records


# threads and processes


def test_threads_lose_nothing_and_write_whole_lines(session: Path, sidecar: Path) -> None:
    threads, each = 8, 200
    begin = threading.Barrier(threads)

    def work(thread: int, recorder: Recorder) -> None:
        begin.wait()
        for n in range(each):
            recorder.append(notice(f"{thread} {n} " + "x" * (17 * n % 400)))
            if n % 50 == 49:
                recorder.save()

    with Recorder.open(session, fsync="never") as recorder:
        workers = [threading.Thread(target=work, args=(i, recorder)) for i in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    found: dict[int, list[int]] = {i: [] for i in range(threads)}
    for text in said_in(sidecar):
        thread, n, _ = text.split(" ")
        found[int(thread)].append(int(n))
    assert found == {i: list(range(each)) for i in range(threads)}


def test_a_second_recorder_is_told_who_has_the_file(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        recorder.append(turn("hello"))
        with pytest.raises(SidecarLocked) as caught:
            Recorder.open(session)
        assert caught.value.path == sidecar
        assert caught.value.pid is not None
        recorder.append(notice("n"))
    assert said_in(sidecar) == ["hello", "n"]


FORK = """
    import os, sys, threading
    from presentview import Event, EventKind, Recorder, SidecarLocked

    session = sys.argv[1]
    recorder = Recorder.open(session)
    recorder.append(Event(kind=EventKind.TURN_STARTED, text="parent"))
    held, forked = threading.Event(), threading.Event()

    def hold():
        with recorder._lock:
            held.set()
            forked.wait()

    threading.Thread(target=hold, daemon=True).start()
    held.wait()
    child = os.fork()
    if child == 0:
        assert recorder.path is None
        recorder.append(Event(kind=EventKind.NOTICE, text="child"))
        recorder.close()
        try:
            Recorder.open(session)
        except SidecarLocked:
            os._exit(0)
        os._exit(1)
    forked.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    try:
        Recorder.open(session)
    except SidecarLocked:
        recorder.append(Event(kind=EventKind.NOTICE, text="parent again"))
        recorder.close()
"""


def test_a_forked_child_shares_neither_the_file_nor_the_lock(session: Path, sidecar: Path) -> None:
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORK), session],
        cwd=ROOT,
        check=True,
        timeout=60,
    )
    assert said_in(sidecar) == ["parent", "parent again"]
    assert not lock_path(sidecar).exists()


# other sessions


def test_reset_forgets_everything_and_leaves_the_file_alone(session: Path, sidecar: Path) -> None:
    recorder = Recorder.open(session)
    record(recorder, [turn("hello"), delta("a"), delta("b"), message("ab")])
    recorder.set_rewrite_version(3)
    recorder.truncate_to_turn(1)
    before = sidecar.read_bytes()
    recorder.reset()
    assert recorder.snapshot() == Snapshot((), 0)
    assert recorder.path is None
    assert sidecar.read_bytes() == before
    Recorder.open(session).close()
    recorder.append(notice("in memory"))
    assert said(recorder) == ["in memory"]
    recorder.close()


def test_rebind_goes_on_with_another_session(tmp_path: Path) -> None:
    recorder = Recorder.open(tmp_path / "one.jsonl", workspace=tmp_path)
    record(recorder, [turn("one"), ended()])
    recorder.sync_before_save(5)
    recorder.rebind(tmp_path / "two.jsonl")
    assert recorder.snapshot() == Snapshot((), 0)
    recorder.append(turn("two"))
    assert said_in(tmp_path / "one.present.jsonl") == ["one", ""]
    assert said_in(tmp_path / "two.present.jsonl") == ["two"]
    assert header_of(tmp_path / "two.present.jsonl").workspace == str(tmp_path)
    recorder.append(ended())
    recorder.rebind(tmp_path / "one.jsonl")
    assert said(recorder) == ["one", ""]
    recorder.rebind("")
    assert recorder.path is None
    assert files(tmp_path) == ["one.present.jsonl", "two.present.jsonl"]


def test_rebind_to_a_locked_session_leaves_the_recorder_unbound(tmp_path: Path) -> None:
    with Recorder.open(tmp_path / "one.jsonl") as one, Recorder.open(tmp_path / "two.jsonl") as two:
        with pytest.raises(SidecarLocked):
            two.rebind(tmp_path / "one.jsonl")
        assert two.path is None
        assert two.records == ()
        one.append(turn("still here"))
    assert said_in(tmp_path / "one.present.jsonl") == ["still here"]


# saving


def test_save_needs_a_path_where_the_recorder_is_not_bound(tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.append(turn())
    with pytest.raises(ValueError, match="needs a path"):
        recorder.save()
    recorder.save("")
    assert files(tmp_path) == []


def test_save_to_a_path_always_writes_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "copy.present.jsonl"
    recorder = Recorder()
    recorder.append(turn("hello"))
    recorder.save(path)
    first = path.stat()
    recorder.save(path)
    assert path.stat().st_ino != first.st_ino
    assert said_in(path) == ["hello"]
    assert files(path.parent) == ["copy.present.jsonl"]
    assert first.st_mode & 0o777 == 0o600
    assert not header_of(path).writer.endswith("with lock")
    assert header_of(path).started_at > 0


def test_saving_elsewhere_leaves_the_own_file_alone(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn(), delta("a"), delta("b"), message("ab")])
        before = sidecar.read_bytes()
        recorder.save(session.with_name("copy"))
        assert sidecar.read_bytes() == before
        assert len(recorder.records) == 4
        recorder.append(notice("n"))
        assert sidecar.read_bytes().startswith(before)


def test_save_after_nothing_but_appends_syncs_the_file(
    session: Path, sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn(), notice("n")])
        synced: list[int] = []
        monkeypatch.setattr(atomic, "sync", synced.append)
        before = sidecar.stat()
        recorder.save()
        assert len(synced) == 1
        assert sidecar.stat().st_ino == before.st_ino


@pytest.mark.parametrize(
    ("fsync", "count"), [("always", 4), ("turn", 2), ("never", 0)], ids=["always", "turn", "never"]
)
def test_when_records_are_forced_to_the_disk(
    fsync: Any, count: int, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Recorder.open(session, fsync=fsync) as recorder:
        recorder.append(notice("makes the file"))
        synced: list[int] = []
        monkeypatch.setattr(atomic, "sync", synced.append)
        record(recorder, [turn(), notice("n"), notice("m"), ended()])
        assert len(synced) == count


def test_a_file_that_is_mostly_covered_deltas_is_rewritten_on_save(
    session: Path, sidecar: Path
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn(), *(delta("word ") for _ in range(100)), message("word " * 100)])
        assert len(load(sidecar).records) == 102
        recorder.save()
        assert [each.kind for each in load(sidecar).records] == ["turn_started", "text", "message"]
        assert recorder.records == load(sidecar).records
        inode = sidecar.stat().st_ino
        recorder.append(notice("n"))
        recorder.save()
        assert sidecar.stat().st_ino == inode


def test_deltas_stay_where_they_are_wanted(session: Path, sidecar: Path) -> None:
    with Recorder.open(session, drop_deltas=False) as recorder:
        record(recorder, [turn(), *(delta("word ") for _ in range(100)), message("word " * 100)])
        recorder.save(sidecar)
    assert len(load(sidecar).records) == 102


@pytest.mark.parametrize("edge", [turn("again"), ended()], ids=["turn start", "turn end"])
@pytest.mark.parametrize("harm", ["removed", "replaced", "cut"])
def test_a_file_that_somebody_harmed_is_written_anew_at_the_next_edge_of_a_turn(
    edge: Event, harm: str, session: Path, sidecar: Path
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), notice("n")])
        if harm == "removed":
            sidecar.unlink()
        elif harm == "replaced":
            session.write_bytes(b"other")
            session.replace(sidecar)
        else:
            sidecar.write_bytes(sidecar.read_bytes()[:-20])
        recorder.append(edge)
        assert said_in(sidecar) == ["hello", "n", edge.text]


def test_a_folder_in_place_of_the_sidecar_cannot_be_read(session: Path, sidecar: Path) -> None:
    sidecar.mkdir()
    with pytest.raises(SidecarError, match="cannot be read"):
        Recorder.open(session)
    assert files(session.parent) == ["s.present.jsonl"]


def test_records_are_the_events_in_order(session: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), dispatch("a", args="{}"), result("a", "out"), ended()])
        assert [(each.kind, each.tool) for each in recorder.records] == [
            (Kind.TURN_STARTED, None),
            (Kind.TOOL_DISPATCH, Tool(id="a", name="bash", args="{}")),
            (Kind.TOOL_RESULT, Tool(id="a", name="bash", output="out")),
            (Kind.TURN_DONE, None),
        ]
        assert all(isinstance(each, Record) for each in recorder.records)

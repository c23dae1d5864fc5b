"""Writing a run log: what was written is read, whatever interrupts the writer."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview import atomic
from presentview.errors import LogClosed, LogError, LogExists, SaveError, SaveNotDurable
from presentview.runlog import (
    Activity,
    Event,
    Message,
    Meta,
    Recorder,
    Result,
    Writer,
    create,
    default_dir,
    list_runs,
    load,
    start,
)
from tests.unit.runlog.logs import events, messages, metas, results

ROOT = Path(__file__).resolve().parents[3]
NOW = datetime(2026, 8, 21, 2, 4, 5, tzinfo=UTC)


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    return create(tmp_path, "run", Meta(task="t"))


def texts(path: Path) -> list[str]:
    return [message.text for message in load(path).messages]


def test_a_log_is_spelled_as_the_go_program_spells_it(tmp_path: Path) -> None:
    writer = create(tmp_path, "run", Meta(id="other", task="<a>"), now=NOW)
    call = Activity("request", "c1", "shell", '{"a":1}')
    writer.message(Message("activity", "", call))
    writer.event(Event("iteration", iteration=1))
    writer.reset()
    writer.result(Result("settled"))
    lines = writer.path.read_text().splitlines()
    assert lines[0] == (
        '{"kind":"meta","at":"2026-08-21T02:04:05Z","meta":{"id":"run","task":"\\u003ca\\u003e",'
        '"model":"","provider":"","driver":"","workdir":""}}'
    )
    shapes = [line[: line.index('"at"')] + line[line.index('Z"') + 2 :] for line in lines[1:]]
    call_text = '"id":"c1","name":"shell","arguments":"{\\"a\\":1}"'
    said = '"type":"activity","text":""'
    counts = '"code":0,"iterations":0,"calls":0,"continuations":0,"cycles":0,"settles":0'
    assert shapes == [
        f'{{"kind":"message",,"message":{{{said},"activity":{{"kind":"request",{call_text}}}}}}}',
        '{"kind":"event",,"event":{"kind":"iteration","iteration":1}}',
        '{"kind":"reset",}',
        f'{{"kind":"result",,"result":{{"reason":"settled",{counts}}}}}',
    ]


@given(
    metas(),
    st.lists(st.none() | messages() | events(), max_size=6),
    st.none() | results(),
)
def test_what_is_written_is_loaded(
    meta: Meta, said: list[Message | Event | None], result: Result | None
) -> None:
    kept: list[Message] = []
    with tempfile.TemporaryDirectory() as folder, start(folder, meta) as writer:
        for each in said:
            if each is None:
                writer.reset()
                kept.clear()
            elif isinstance(each, Message):
                writer.message(each)
                kept.append(each)
            else:
                writer.event(each)
        if result is not None:
            writer.result(result)
        found = load(writer.path)
        assert found.meta.task == meta.task
        assert found.meta.id == writer.id
        assert found.messages == tuple(kept)
        assert found.events == tuple(each for each in said if isinstance(each, Event))
        assert (found.result, found.problems) == (result, ())


def test_nothing_is_written_after_the_result(writer: Writer) -> None:
    writer.result(Result("settled"))
    writer.close()
    writes: list[Callable[[], None]] = [
        lambda: writer.message(Message("user", "a")),
        lambda: writer.event(Event("retry")),
        writer.reset,
        lambda: writer.result(Result("failed")),
    ]
    for write in writes:
        with pytest.raises(LogClosed, match="the log is closed"):
            write()
    assert load(writer.path).result == Result("settled")


def test_only_the_owner_may_read_a_log(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        writer = start(tmp_path / "a" / "b", Meta())
    finally:
        os.umask(before)
    for folder in (tmp_path / "a", tmp_path / "a" / "b"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o600


def test_a_log_that_is_there_is_never_added_to(writer: Writer, tmp_path: Path) -> None:
    before = writer.path.read_bytes()
    with pytest.raises(LogExists) as raised:
        create(tmp_path, "run", Meta())
    assert raised.value.path == writer.path
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LogExists):
        create(tmp_path, "dangling", Meta())
    assert writer.path.read_bytes() == before


@pytest.mark.parametrize(
    "run_id",
    [
        *("", "a/b", "../a", "a\\b", ".", "..", ".hidden", "a\0", "a\n", "\x7f", "\x85"),
        *("x" * 201, "é" * 101, "\ud800", "a.present"),
    ],
    ids=ascii,
)  # fmt: skip
def test_an_id_that_could_be_another_file_is_refused(run_id: str, tmp_path: Path) -> None:
    with pytest.raises(LogError):
        create(tmp_path / "runs", run_id, Meta())
    assert not (tmp_path / "runs").exists()


def test_ids_may_be_long_and_of_any_letters(tmp_path: Path) -> None:
    for run_id in ("x" * 200, "é" * 100, "run 1", "a.b"):
        assert create(tmp_path, run_id, Meta()).path.name == run_id + ".jsonl"


def test_runs_of_one_second_get_a_number(tmp_path: Path) -> None:
    ids = [start(tmp_path, Meta(task=str(n)), NOW).id for n in range(13)]
    assert ids == ["20260821-020405", *(f"20260821-020405-{n}" for n in range(2, 14))]
    assert [entry.task for entry in list_runs(tmp_path)] == [str(n) for n in reversed(range(13))]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SaveError):
        start(tmp_path / "file" / "runs", Meta())


def test_a_write_that_fails_leaves_what_was_there(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = writer.path.read_bytes()

    def fails(fd: int, data: bytes) -> None:
        os.write(fd, data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "write_all", fails)
        with pytest.raises(SaveError, match="No space left"):
            writer.message(Message("user", "lost"))
        assert writer.path.read_bytes() == before
        patch.setattr(os, "ftruncate", lambda fd, size: fails(fd, b""))
        with pytest.raises(SaveError):
            writer.message(Message("user", "lost"))
    writer.message(Message("user", "kept"))
    assert texts(writer.path) == ["kept"]
    assert load(writer.path).problems == ()


def test_what_could_not_be_forced_to_the_disk_is_copied_at_the_next_write(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "sync", fails)
        with pytest.raises(SaveNotDurable):
            writer.message(Message("user", "a"))
    inode = writer.path.stat().st_ino
    for text in ("b", "c"):
        writer.message(Message("user", text))
    assert writer.path.stat().st_ino != inode
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o600
    assert texts(writer.path) == ["a", "b", "c"]


def test_each_record_is_synced(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(atomic, "sync", lambda fd: synced.append(os.fstat(fd).st_size))
    writer.message(Message("user", "a"))
    writer.reset()
    assert len(synced) == 2
    assert synced[-1] == writer.path.stat().st_size


def test_threads_write_whole_records(writer: Writer) -> None:
    def write(name: str) -> None:
        for number in range(20):
            writer.event(Event(name, iteration=number))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = load(writer.path)
    assert found.problems == ()
    for name in "abcd":
        assert [e.iteration for e in found.events if e.kind == name] == list(range(20))


def test_a_write_inside_a_write_is_an_error(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_all = atomic.write_all
    inside: list[str] = []

    def interrupted(fd: int, data: bytes) -> None:
        with pytest.raises(SaveError, match="just now") as raised:
            writer.event(Event("signal"))
        inside.append(str(raised.value))
        write_all(fd, data)

    monkeypatch.setattr(atomic, "write_all", interrupted)
    writer.event(Event("retry"))
    assert len(inside) == 1
    assert [each.kind for each in load(writer.path).events] == ["retry"]


def test_the_recorder_leaves_narration_out(writer: Writer) -> None:
    recorder = Recorder(writer)
    for kind in ("token", "iteration", "reasoningToken", "message"):
        recorder.record_event(Event(kind))
    recorder.record_message(Message("user", "a"))
    recorder.record_reset()
    recorder.record_message(Message("user", "b"))
    recorder.record_result(Result("stop"))
    found = load(writer.path)
    assert [each.kind for each in found.events] == ["iteration", "message"]
    assert (found.messages, found.result) == ((Message("user", "b"),), Result("stop"))


def test_a_recorder_without_a_log_takes_everything() -> None:
    for recorder in (Recorder.null(), Recorder(None)):
        recorder.record_message(Message("user", "a"))
        recorder.record_event(Event("retry"))
        recorder.record_reset()
        recorder.sync([Message("user", "a")])
        recorder.record_result(Result("stop"))


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=5))
def test_the_log_keeps_in_step_with_the_conversation(conversations: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder, start(folder, Meta()) as writer:
        recorder = Recorder(writer)
        for conversation in conversations:
            recorder.sync([Message("bot", text) for text in conversation])
            assert texts(writer.path) == conversation


def test_whole_messages_are_compared(writer: Writer) -> None:
    recorder = Recorder(writer)
    result = {"out": "one"}
    message = Message("activity", "", Activity("response", "c", result=result))
    recorder.sync([Message("user", "a"), message])
    lines = writer.path.read_bytes().count(b"\n")
    recorder.sync([Message("user", "a"), message])
    assert writer.path.read_bytes().count(b"\n") == lines
    result["out"] = "two"
    recorder.sync([Message("user", "a"), message])
    assert writer.path.read_bytes().count(b'"reset"') == 1
    assert load(writer.path).messages == (Message("user", "a"), message)


def test_the_folder_of_the_logs_is_the_one_of_the_go_program() -> None:
    home = Path("/h/.local/state/zot/sessions")
    assert default_dir({"HOME": "/h"}) == home
    assert default_dir({"HOME": "/h", "ZOT_SESSION_DIR": "", "XDG_STATE_HOME": ""}) == home
    assert default_dir({"HOME": "/h", "XDG_STATE_HOME": "/s"}) == Path("/s/zot/sessions")
    assert default_dir({"XDG_STATE_HOME": "/s", "ZOT_SESSION_DIR": "/z"}) == Path("/z")
    assert default_dir().parts[-2:] == ("zot", "sessions")


# Says after each record that it is written.
WRITES = """
    import os, sys
    from datetime import datetime
    from presentview.runlog import Event, Meta, start

    os.write(1, b"ready\\n")
    sys.stdin.read(1)
    for n in range(int(sys.argv[2])):
        log = start(sys.argv[1], Meta(task=sys.argv[3]), datetime(2026, 8, 21, 2, 4, 5))
        os.write(1, log.id.encode() + b"\\n")
    n = 0
    while sys.argv[3] == "killed":
        log.event(Event("retry", text="x" * (n * 37 % 20_000), iteration=n))
        os.write(1, b"%d\\n" % n)
        n += 1
"""


def process(folder: Path, count: int, task: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", textwrap.dedent(WRITES), str(folder), str(count), task]
    started = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert started.stdout is not None
    assert started.stdout.readline() == b"ready\n"
    return started


def go(started: subprocess.Popen[bytes]) -> None:
    assert started.stdin is not None
    started.stdin.write(b".")
    started.stdin.close()
    started.stdin = None


@pytest.mark.crash
def test_processes_that_start_in_one_second_each_get_a_log(tmp_path: Path) -> None:
    processes = [process(tmp_path, 15, str(n)) for n in range(3)]
    for each in processes:
        go(each)
    ids = [line for each in processes for line in each.communicate(timeout=60)[0].split()]
    assert len(set(ids)) == 45
    names = {"20260821-020405", *(f"20260821-020405-{n}" for n in range(2, 46))}
    assert {line.decode() for line in ids} == names
    assert sorted(each.task for each in list_runs(tmp_path)) == sorted(["0", "1", "2"] * 15)


@pytest.mark.crash
@pytest.mark.parametrize("steps", [0, 3, 60])
def test_a_killed_process_loses_nothing_it_had_written(steps: int, tmp_path: Path) -> None:
    started = process(tmp_path, 1, "killed")
    go(started)
    assert started.stdout is not None
    run = started.stdout.readline().strip().decode()
    told = [int(started.stdout.readline()) for _ in range(steps)]
    os.kill(started.pid, signal.SIGKILL)
    told += [int(line) for line in started.stdout.read().split(b"\n")[:-1]]
    started.wait(timeout=30)
    started.stdout.close()
    found = load(tmp_path / f"{run}.jsonl")
    numbers = [each.iteration for each in found.events]
    assert numbers == list(range(len(numbers)))
    assert len(told) <= len(numbers) <= len(told) + 1
    assert len(found.problems) <= 1
    assert not found.complete

"""Several processes append to one log, and some of them are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from presentview.eventlog import EventLog, SessionEvent, Store, load

pytestmark = pytest.mark.crash

ROOT = Path(__file__).resolve().parents[3]
# Says after each append which number the event got.
WRITES = """
    import os, sys
    from presentview.eventlog import SessionEvent, Store

    path, name, count, fsync = sys.argv[1:]
    store = Store(path, session_id=name, fsync=fsync)
    os.write(1, b"ready\\n")
    sys.stdin.read(1)
    for n in range(int(count)):
        data = b'{"n":%d,"x":"%s"}' % (n, b"x" * (n * 37 % 20_000))
        seq = store.append(SessionEvent(type="tool/call", data=data)).seq
        os.write(1, b"%d\\n" % seq)
"""
IMPORTS = "import sys, presentview\nprint(any('eventlog' in name for name in sys.modules))"


def start(path: Path, name: str, count: int, fsync: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", textwrap.dedent(WRITES), str(path), name, str(count), fsync]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def go(*processes: subprocess.Popen[bytes]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b".")
        process.stdin.flush()


def test_two_processes_that_append_at_once_get_distinct_numbers_that_grow(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    writers = {name: start(path, name, 300, "never") for name in ("one", "two")}
    go(*writers.values())
    told = {}
    for name, process in writers.items():
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        told[name] = [int(line) for line in out.split()]
    events, problems = load(path)
    assert problems == ()
    assert [each.seq for each in events] == list(range(1, 601))
    for name, seqs in told.items():
        assert seqs == [each.seq for each in events if each.session_id == name]


def test_a_killed_process_loses_no_event_that_was_appended(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    before = 0
    for steps in (0, 1, 7, 40, 90, 3):
        process = start(path, "killed", 1_000_000, "always")
        go(process)
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(steps)]
        os.kill(process.pid, signal.SIGKILL)
        told += map(int, process.stdout.read().split(b"\n")[:-1])
        process.wait(timeout=30)
        process.stdout.close()
        assert process.stdin is not None
        process.stdin.close()
        assert told == list(range(before + 1, before + 1 + len(told)))
        events, problems = load(path)
        # One event more may have been written when it was killed, or a part of one.
        found = [each.seq for each in events]
        assert found == list(range(1, len(found) + 1))
        assert before + len(told) <= len(found) <= before + len(told) + 1
        assert len(problems) <= 1
        store = Store(path)
        before = store.append(SessionEvent(type="usage")).seq
        assert before == len(found) + 1
        assert store.problems == () or "cut off" in store.problems[0].reason
        assert load(path).problems == ()


def test_a_forked_process_appends_to_the_same_log(tmp_path: Path) -> None:
    log = EventLog.open(tmp_path / "s.jsonl", fsync="never")
    log.append_turn_start("parent")
    code = """
        import os, sys
        from presentview.eventlog import EventLog, TurnEndData
        log = EventLog.open(sys.argv[1])
        log.append_step_start("parent", 0)
        child = os.fork()
        for n in range(50):
            log.append_step_end("parent" if child else "child", n)
        if child:
            os.waitpid(child, 0)
            log.append_turn_end("parent", TurnEndData(50))
        log.close()
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(log.store.path)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=60)
    log.append_turn_start("parent")
    events = log.store.load().events
    assert [each.seq for each in events] == list(range(1, 105))
    assert [each.agent_id for each in events].count("child") == 50


def test_the_event_log_is_loaded_only_when_it_is_asked_for() -> None:
    command = [sys.executable, "-c", IMPORTS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    on_demand = [sys.executable, "-c", "from presentview import eventlog; eventlog.EventLog"]
    subprocess.run(on_demand, cwd=ROOT, check=True)

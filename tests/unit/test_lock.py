from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from presentview import lock
from presentview.errors import ConfigError, SidecarError, SidecarLocked
from presentview.limits import ALIVE_SECONDS
from presentview.lock import LOCKING_WRITER, Lock, is_alive, lock_path

ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys
from pathlib import Path
from presentview.lock import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
lock.release()
"""


@pytest.fixture
def sidecar(tmp_path: Path) -> Path:
    path = tmp_path / "s.present.jsonl"
    path.touch()
    return path


@pytest.fixture
def holder(sidecar: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock, until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(sidecar)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_a_lock_is_a_private_file_beside_the_sidecar_that_says_who_records(sidecar: Path) -> None:
    before = time.time_ns() // 1_000_000
    held = Lock(sidecar)
    assert held.path == lock_path(sidecar) == Path(f"{sidecar}.lock")
    assert stat.S_IMODE(held.path.stat().st_mode) == 0o600
    about = json.loads(held.path.read_bytes())
    assert about["pid"] == os.getpid()
    assert about["host"] == os.uname().nodename
    assert before <= about["since"] <= time.time_ns() // 1_000_000
    held.release()


def test_a_released_lock_leaves_no_file_and_can_be_taken_again(sidecar: Path) -> None:
    for _ in range(3):
        held = Lock(sidecar)
        held.release()
        held.release()
        assert not lock_path(sidecar).exists()


def test_a_lock_does_not_need_the_sidecar_to_be_there(tmp_path: Path) -> None:
    held = Lock(tmp_path / "new")
    assert is_alive(tmp_path / "new")
    held.release()
    assert not is_alive(tmp_path / "new")


def test_a_second_recorder_in_this_process_is_told_who_is_first(sidecar: Path) -> None:
    held = Lock(sidecar)
    with pytest.raises(SidecarLocked) as caught:
        Lock(sidecar)
    assert isinstance(caught.value, SidecarError)
    assert (caught.value.path, caught.value.pid) == (sidecar, os.getpid())
    assert caught.value.host == os.uname().nodename
    assert caught.value.since is not None
    assert f"process {os.getpid()} on" in str(caught.value)
    held.release()
    Lock(sidecar).release()


def test_sidecars_are_locked_one_by_one(tmp_path: Path) -> None:
    first, second = Lock(tmp_path / "a"), Lock(tmp_path / "b")
    first.release()
    second.release()


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'{"pid":"x","host":1,"since":null}', b"\xff"]
)
def test_a_lock_file_that_tells_nothing_still_locks(sidecar: Path, content: bytes) -> None:
    held = Lock(sidecar)
    held.path.write_bytes(content)
    with pytest.raises(SidecarLocked) as caught:
        Lock(sidecar)
    assert (caught.value.pid, caught.value.host, caught.value.since) == (None, "", None)
    held.release()


def test_threads_never_hold_it_together(sidecar: Path) -> None:
    holding = 0
    most = 0
    taken = 0
    counting = threading.Lock()

    def compete() -> None:
        nonlocal holding, most, taken
        for _ in range(20):
            try:
                held = Lock(sidecar)
            except SidecarLocked:
                continue
            with counting:
                holding += 1
                most = max(most, holding)
                taken += 1
            with counting:
                holding -= 1
            held.release()

    threads = [threading.Thread(target=compete) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert taken > 0
    assert not lock_path(sidecar).exists()


# other processes


@pytest.mark.crash
def test_another_process_that_records_is_named(
    sidecar: Path, holder: subprocess.Popen[str]
) -> None:
    assert is_alive(sidecar)
    with pytest.raises(SidecarLocked) as caught:
        Lock(sidecar)
    assert caught.value.pid == holder.pid
    holder.communicate()
    assert holder.returncode == 0
    assert not lock_path(sidecar).exists()
    Lock(sidecar).release()


@pytest.mark.crash
def test_the_lock_dies_with_its_process_and_its_file_tells_that_it_died(
    sidecar: Path, holder: subprocess.Popen[str]
) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert lock_path(sidecar).exists()
    assert not is_alive(sidecar)
    held = Lock(sidecar)
    assert is_alive(sidecar)
    assert json.loads(held.path.read_bytes())["pid"] == os.getpid()
    held.release()


@pytest.mark.crash
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_process_that_forgets_the_lock_does_not_keep_it(sidecar: Path) -> None:
    held = Lock(sidecar)
    waits, goes_on = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            held.forget()
            os.read(waits, 1)
        finally:
            os._exit(0)
    held.release()
    Lock(sidecar).release()
    os.write(goes_on, b"x")
    os.waitpid(child, 0)
    os.close(waits)
    os.close(goes_on)


def test_a_forgotten_lock_keeps_its_file(sidecar: Path) -> None:
    held = Lock(sidecar)
    held.forget()
    held.forget()
    held.release()
    assert held.path.exists()
    assert not is_alive(sidecar)


# races


def test_a_viewer_that_looks_just_now_does_not_turn_a_recorder_away(
    sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer = os.open(lock_path(sidecar), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(viewer, fcntl.LOCK_SH)
    monkeypatch.setattr(time, "sleep", lambda _: fcntl.flock(viewer, fcntl.LOCK_UN))
    held = Lock(sidecar)
    assert is_alive(sidecar)
    held.release()
    os.close(viewer)


def test_a_lock_file_that_its_last_holder_removes_just_now_is_made_again(
    sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock
    calls = 0

    def removed_at_first(fd: int, how: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            lock_path(sidecar).unlink()
        elif calls == 2:
            lock_path(sidecar).unlink()
            lock_path(sidecar).touch()
        flock(fd, how)

    monkeypatch.setattr(fcntl, "flock", removed_at_first)
    held = Lock(sidecar)
    assert calls == 3
    assert is_alive(sidecar)
    held.release()


def test_a_lock_whose_file_was_taken_away_leaves_that_of_the_next_alone(sidecar: Path) -> None:
    first = Lock(sidecar)
    lock_path(sidecar).unlink()
    second = Lock(sidecar)
    first.release()
    assert lock_path(sidecar).exists()
    assert is_alive(sidecar)
    second.release()
    assert not lock_path(sidecar).exists()


def test_a_failed_attempt_leaves_nothing_open(sidecar: Path) -> None:
    held = Lock(sidecar)
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        with pytest.raises(SidecarLocked):
            Lock(sidecar)
        assert is_alive(sidecar)
    assert len(os.listdir("/dev/fd")) == before
    held.release()


# what cannot be locked


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Lock(tmp_path / "missing" / "s")


def test_a_full_disk_does_not_prevent_the_lock(
    sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    held = Lock(sidecar)
    assert is_alive(sidecar)
    held.release()


def test_without_flock_nothing_is_recorded_and_files_can_be_read(
    sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "fcntl", None)
    monkeypatch.delattr(os, "O_CLOEXEC", raising=False)
    with pytest.raises(ConfigError, match="flock"):
        Lock(sidecar)
    assert is_alive(sidecar)
    assert not is_alive(sidecar, writer="x" + LOCKING_WRITER)


def test_without_flock_a_file_with_a_lock_file_is_live_while_it_changes(
    sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "fcntl", None)
    lock_path(sidecar).touch()
    assert is_alive(sidecar, writer="x" + LOCKING_WRITER)
    age(sidecar, ALIVE_SECONDS + 5)
    assert not is_alive(sidecar, writer="x" + LOCKING_WRITER)
    sidecar.unlink()
    assert not is_alive(sidecar, writer="x" + LOCKING_WRITER)


# alive


@pytest.mark.parametrize(
    ("seconds", "writer", "alive"),
    [
        (0, "", True),
        (ALIVE_SECONDS - 5, "", True),
        (ALIVE_SECONDS + 5, "", False),
        (0, "another writer", True),
        (0, "presentview 1.0" + LOCKING_WRITER, False),
        (ALIVE_SECONDS + 5, "presentview 1.0" + LOCKING_WRITER, False),
    ],
)
def test_without_a_lock_file_a_recent_change_counts_unless_the_writer_always_locks(
    sidecar: Path, seconds: int, writer: str, alive: bool
) -> None:
    age(sidecar, seconds)
    assert is_alive(sidecar, writer=writer) is alive
    assert is_alive(str(sidecar), writer=writer) is alive


def test_a_held_lock_counts_however_old_the_file_is(sidecar: Path) -> None:
    age(sidecar, 10 * ALIVE_SECONDS)
    held = Lock(sidecar)
    assert is_alive(sidecar, writer="x" + LOCKING_WRITER)
    held.release()


def test_what_is_not_there_is_not_alive(tmp_path: Path) -> None:
    assert not is_alive(tmp_path / "missing")
    assert not is_alive(tmp_path / "no" / "folder")

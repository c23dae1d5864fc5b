"""Every system call of a recorder fails once, at each of its turns, and nothing is lost by it."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from presentview import atomic, journal, lock
from presentview.errors import SaveError
from presentview.events import Event, EventKind
from presentview.recorder import Recorder
from presentview.sidecar import Scan, load
from tests.crash.steps import (
    BEFORE_TEXTS,
    DAMAGE,
    OPENED,
    STEPS,
    Outcome,
    outcome_of,
    sidecar_of,
)

pytestmark = pytest.mark.crash

ROOT = Path(__file__).resolve().parents[2]
ERRORS = {
    "openat": ("EMFILE", "ENOSPC", "EROFS"),
    "write": ("ENOSPC", "EIO"),
    "fsync": ("EIO",),
    "rename": ("EROFS", "EIO"),
    "close": ("EIO",),
    "ftruncate": ("EIO",),
}
MOST_CALLS = 60


class Watch:
    """Checks after each step that a sidecar is whole and holds what it should."""

    def __init__(self, sidecar: Path) -> None:
        self.sidecar = sidecar
        self._before = sidecar.read_bytes()
        self._texts = BEFORE_TEXTS

    def check(self, texts: list[str], outcome: Outcome) -> None:
        """Check the file after a step that brings the recorder to `texts`."""
        content = self.sidecar.read_bytes()
        found = texts_of(self.sidecar)
        if outcome.error in ("", "SaveNotDurable"):
            assert found == texts
        elif self._texts == texts[: len(self._texts)]:
            # Nothing but appending: the lines may be there, although they are not on the disk.
            assert found in (self._texts, texts)
        else:
            assert content == self._before
        if outcome.error:
            assert outcome.error in ("SaveError", "SaveNotDurable", "SidecarError")
            assert outcome.path == str(self.sidecar)
        assert temps(self.sidecar) == []
        self._before, self._texts = content, found

    def check_end(self) -> None:
        """Check what the next recorder finds."""
        assert temps(self.sidecar) == []
        with Recorder.open(self.sidecar.with_name("s.jsonl")) as recorder:
            assert recorder.problems == ()
            assert [each.text for each in recorder.records] == STEPS[-1].texts
        kept = self.sidecar.with_name(f"{self.sidecar.name}.damaged").read_bytes()
        assert DAMAGE in kept


def texts_of(sidecar: Path) -> list[str]:
    """The texts in a file in which nothing is damaged that was whole at the beginning."""
    scan = Scan(sidecar)
    with sidecar.open("rb") as file:
        texts = [entry.record.text for entry in scan.entries(file)]
    assert all(problem.line in (3, 5) for problem in scan.problems)
    return texts


def temps(sidecar: Path) -> list[Path]:
    return list(sidecar.parent.glob(".*.tmp"))


# with calls that are made to fail from inside


class FaultyOs:
    """The `os` module, of which one function fails at a certain call, or from it on."""

    def __init__(self, call: str, number: int, code: int, *, lasting: bool) -> None:
        self.hit = False
        self.on = True
        self._call = call
        self._left = number
        self._code = code
        self._lasting = lasting

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._counted(real) if name == self._call and self.on else real

    def _counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any) -> Any:
            self._left -= 1
            if self._left > 0 or (self._left < 0 and not self._lasting):
                return real(*args)
            self.hit = True
            if self._call == "close":
                # Linux closes the file even if it says that something went wrong.
                real(*args)
            raise OSError(self._code, os.strerror(self._code))

        return act


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "until repaired"])
@pytest.mark.parametrize("call", ERRORS)
def test_a_call_that_fails_loses_nothing(
    call: str, lasting: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, MOST_CALLS):
        name = ERRORS[call][number % len(ERRORS[call])]
        code = getattr(errno, name)
        faulty = FaultyOs(call.removesuffix("at"), number, code, lasting=lasting)
        folder = tmp_path / f"{number}"
        folder.mkdir()
        with monkeypatch.context() as patch:
            for module in (atomic, journal, lock):
                patch.setattr(module, "os", faulty)
            steps_with(faulty, folder / "s.jsonl")
        if not faulty.hit:
            assert number > 1
            return
    pytest.fail(f"more than {MOST_CALLS} calls of {call}")


def steps_with(faulty: FaultyOs, session: Path) -> None:
    """Do all steps while a call fails; the last ones when it no longer does."""
    watch = Watch(sidecar_of(session))
    opened: list[Recorder] = []
    while not opened:
        outcome = outcome_of(lambda: opened.append(Recorder.open(session)))
        watch.check(OPENED, outcome)
        if outcome.error:
            assert faulty.hit
            faulty.on = False
    for step in STEPS:
        if step.name == "save":
            faulty.on = False
        outcome = outcome_of(step.act, opened[0])
        assert faulty.hit or not outcome.error
        watch.check(step.texts, outcome)
        assert [each.text for each in opened[0].records] == step.texts
    watch.check_end()


# with calls that the system makes fail


class Reply(NamedTuple):
    """What a child said, None if it died."""

    outcome: Outcome | None


class Child:
    """A process that does the steps when it is told to, and that can be traced."""

    def __init__(self) -> None:
        self.mine, theirs = socket.socketpair()
        self.mine.settimeout(60)
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("steps.py"), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        theirs.close()
        self._lines = self.mine.makefile("rb")
        assert self._lines.readline() == b"ready\n"

    def begin(self, session: Path) -> int:
        """Start on a session; the process id of who does."""
        self.mine.send(str(session).encode())
        return int(self._lines.readline())

    def step(self) -> Reply:
        self.mine.send(b".")
        line = self._lines.readline()
        assert line, "the process died that starts the others"
        return Reply(None if line == b"end\n" else Outcome(*json.loads(line)))

    def end(self) -> None:
        assert self.step().outcome is None

    def close(self) -> None:
        self._lines.close()
        self.mine.close()
        self.process.wait(timeout=30)


@pytest.fixture
def child() -> Iterator[Child]:
    if shutil.which("strace") is None:
        pytest.skip("no strace here")
    child = Child()
    yield child
    child.close()


class Tracer:
    """Makes the n-th of some system calls of a process fail, or kills the process in it."""

    def __init__(self, pid: int, call: str, what: str, number: int, log: Path) -> None:
        self._log = log
        calls = f"/^{call}" if call == "rename" else call
        options = f"-p {pid} -y -e trace={calls} -e inject={calls}:{what}:when={number} -o"
        self._process = subprocess.Popen(
            ["strace", *options.split(), str(log)],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        said = self._process.stderr.readline()
        if "attached" not in said:
            self.stop()
            pytest.skip(f"this system lets nobody be traced: {said.strip()}")

    def stop(self) -> str:
        """Let the process go on by itself; the call that was hit, or nothing."""
        self._process.terminate()
        self._process.communicate(timeout=30)
        found = re.search(r".*\((?:INJECTED|DELAYED).*|.*SIGKILL.*", self._log.read_text())
        return found.group() if found else ""


def is_about_the_folder(call: str, folder: Path) -> bool:
    """Whether a call as strace writes it is the sync of a folder, or the opening for it."""
    return (
        f"<{folder}>" in call if call.startswith("fsync") else f'"{folder}", O_RDONLY|O_CLO' in call
    )


@pytest.mark.parametrize("call", ERRORS)
def test_a_call_that_the_system_lets_fail_loses_nothing(
    call: str, child: Child, tmp_path: Path
) -> None:
    seen: set[str] = set()
    for number in range(1, MOST_CALLS):
        what = f"error={ERRORS[call][number % len(ERRORS[call])]}"
        folder = tmp_path / f"{number}"
        folder.mkdir()
        session = folder / "s.jsonl"
        watch = Watch(sidecar_of(session))
        tracer = Tracer(child.begin(session), call, what, number, tmp_path / "log")
        outcomes: list[Outcome] = []
        texts = [OPENED, *(step.texts for step in STEPS)]
        while texts:
            outcome = child.step().outcome
            assert outcome is not None
            outcomes.append(outcome)
            watch.check(texts[0], outcome)
            if outcome.error == "" or texts[0] is not OPENED:
                del texts[0]
        hit = tracer.stop()
        child.end()
        watch.check_end()
        failed = [outcome.error for outcome in outcomes if outcome.error]
        assert len(failed) <= 1
        if "SaveNotDurable" in failed:
            assert is_about_the_folder(hit, folder)
        seen.update(failed)
        if not hit:
            assert failed == []
            assert number > 1
            assert ("SaveNotDurable" in seen) == (call in ("fsync", "openat"))
            return
    pytest.fail(f"more than {MOST_CALLS} calls of {call}")


@pytest.mark.parametrize("call", ERRORS)
def test_a_process_that_dies_in_a_call_loses_nothing(
    call: str, child: Child, tmp_path: Path
) -> None:
    for number in range(1, MOST_CALLS):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        session = folder / "s.jsonl"
        sidecar = sidecar_of(session)
        tracer = Tracer(child.begin(session), call, "signal=KILL", number, tmp_path / "log")
        before = BEFORE_TEXTS
        after = OPENED
        for after in (OPENED, *(step.texts for step in STEPS)):
            if child.step().outcome is None:
                break
            before = after
        else:
            tracer.stop()
            child.end()
            assert number > 1
            return
        tracer.stop()
        assert texts_of(sidecar) in (before, after)
        assert len(temps(sidecar)) <= 1
        with Recorder.open(session) as recorder:
            recorder.append(Event(kind=EventKind.NOTICE, text="again"))
            recorder.save(sidecar)
        assert load(sidecar).problems == ()
        found = [each for each in texts_of(sidecar) if each != "interrupted"]
        expected = [[*each, "again"] for each in (before, after)]
        assert found in [[text for text in each if text != "interrupted"] for each in expected]
    pytest.fail(f"more than {MOST_CALLS} calls of {call}")


# with disks that are full


FILE_TOO_LARGE = """
    import resource, sys
    from presentview import Event, EventKind, Recorder, SaveError, load

    session, sidecar = sys.argv[1:]
    recorder = Recorder.open(session)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    failed = []
    for n in range(100):
        try:
            recorder.append(Event(kind=EventKind.NOTICE, text=f"{n} " + "x" * 700))
        except SaveError as error:
            failed.append(error)
    assert failed and all("File too large" in str(error) for error in failed), failed
    try:
        recorder.save(sidecar)
    except SaveError as error:
        assert "File too large" in str(error)
    else:
        raise AssertionError("saved more than can be")
    found = load(sidecar)
    assert found.problems == () and len(found.records) == 100 - len(failed), found.problems
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    recorder.append(Event(kind=EventKind.NOTICE, text="100 "))
    found = load(sidecar)
    assert found.problems == ()
    assert [int(each.text.split(" ")[0]) for each in found.records] == list(range(101))
    recorder.close()
"""


def test_a_file_that_may_not_grow_stays_whole_until_it_may(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    session, sidecar = tmp_path / "s.jsonl", tmp_path / "s.present.jsonl"
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FILE_TOO_LARGE), session, sidecar],
        cwd=ROOT,
        check=True,
        timeout=60,
    )
    assert os.listdir(tmp_path) == ["s.present.jsonl"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    found = shutil.which("mount") is not None
    if not found or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("may not mount a small disk here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_loses_nothing_and_is_written_to_when_there_is_space(
    small_disk: Path,
) -> None:
    sidecar = small_disk / "s.present.jsonl"
    told: list[Exception] = []
    with Recorder.open(small_disk / "s.jsonl", on_error=told.append) as recorder:
        for n in range(150):
            recorder.append(Event(kind=EventKind.NOTICE, text=f"{n} " + "x" * 700))
        assert told
        assert all(isinstance(error, SaveError) for error in told)
        assert "No space left" in str(told[0])
        assert len(recorder.records) == 150
        found = load(sidecar)
        assert found.problems == ()
        assert len(found.records) == 150 - len(told)
        recorder.save(sidecar)
        assert load(sidecar) == found
        assert temps(sidecar) == []
        subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
        recorder.append(Event(kind=EventKind.NOTICE, text="150 "))
    found = load(sidecar)
    assert found.problems == ()
    assert [int(each.text.split(" ")[0]) for each in found.records] == list(range(151))

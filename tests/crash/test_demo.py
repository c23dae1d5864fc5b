from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from presentview.demo.folder import DemoFolder
from presentview.demo.process import AgentProcess
from presentview.demo.script import HALF_WAY_CALLS
from presentview.lock import is_alive
from presentview.sidecar import load, present_path
from presentview.transcript.cards import Card
from presentview.transcript.fold import Transcript

ROOT = Path(__file__).resolve().parents[2]
WAIT_SECONDS = 60
RUN = """
import json, sys, webbrowser
from pathlib import Path
from presentview.demo import run_demo
webbrowser.open = lambda url: True
options = json.loads(sys.argv[2])
sys.exit(run_demo(folder=Path(sys.argv[1]), speed=0, port=0, **options))
"""

# The agent is over, and the demo has had time to say so, before there is an address to print.
LATE = """
import threading
from presentview.demo.process import AgentProcess
from presentview.web import server
over = threading.Event()
wait, guard = AgentProcess.wait, server.Guard
def wait_and_tell(agent):
    wait(agent)
    over.set()
def late_guard(*arguments):
    over.wait()
    next(t for t in threading.enumerate() if t.name == "demo").join(0.5)
    return guard(*arguments)
AgentProcess.wait, server.Guard = wait_and_tell, late_guard
"""

pytestmark = pytest.mark.crash


def transcript_of(sidecar: Path) -> Transcript:
    loaded = load(sidecar)
    assert loaded.problems == ()
    transcript = Transcript()
    for record in loaded.records:
        transcript.apply(record)
    return transcript


def statuses(cards: list[Card], *, alive: bool) -> set[str | None]:
    return {card.status(alive=alive) for card in cards}


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def the_sidecar(folder: Path) -> Path:
    (sidecar,) = (folder / "sessions").glob("*.present.jsonl")
    return sidecar


def wait_until_served(url: str) -> None:
    """Return when the server answers at all, which without a token is a refusal."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=WAIT_SECONDS)
    with closing(connection):
        connection.request("GET", "/")
        assert connection.getresponse().status == 401


def last_lines(folder: Path) -> list[str]:
    return [
        f"Recorded into {folder}",
        "Open it again with:",
        f"  {sys.executable} -m presentview serve {folder}/sessions --workspace {folder}/workspace",
    ]


@pytest.fixture(autouse=True)
def only_the_system_is_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.defpath)


def test_calls_run_while_their_process_lives_and_are_interrupted_when_it_is_killed(
    tmp_path: Path,
) -> None:
    arguments = ("--session=told", "--speed=0", "--wait-half-way")
    sidecar = tmp_path / "sessions" / "told.present.jsonl"
    with started("-m", "presentview.demo.agent", str(tmp_path), *arguments) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half way\n"
        assert is_alive(sidecar)
        calls = transcript_of(sidecar).calls.open()
        assert {card.call for card in calls} == HALF_WAY_CALLS
        assert statuses([*calls], alive=is_alive(sidecar)) == {"running"}
        process.kill()
        assert process.wait(WAIT_SECONDS) == -signal.SIGKILL
    assert not is_alive(sidecar)
    transcript = transcript_of(sidecar)
    assert {card.call for card in transcript.calls.open()} == HALF_WAY_CALLS
    assert statuses(transcript.unfinished(), alive=is_alive(sidecar)) == {"interrupted"}


def test_an_agent_whose_parent_is_gone_goes_on_to_the_end(tmp_path: Path) -> None:
    arguments = ("--session=told", "--speed=0", "--wait-half-way")
    with started("-m", "presentview.demo.agent", str(tmp_path), *arguments) as process:
        out, err = process.communicate(timeout=WAIT_SECONDS)
        assert (out, err, process.returncode) == ("half way\n", "", 0)
    assert not transcript_of(tmp_path / "sessions" / "told.present.jsonl").is_unfinished


def test_a_demo_agent_is_killed_from_outside(tmp_path: Path) -> None:
    agent = AgentProcess(DemoFolder(tmp_path), crash=True, speed=0)
    agent.start()
    sidecar = present_path(agent.session)
    assert sidecar.exists()
    agent.wait()
    assert agent.was_killed
    assert not agent.failed
    assert {card.call for card in transcript_of(sidecar).calls.open()} == HALF_WAY_CALLS


def test_a_demo_agent_that_is_not_to_crash_ends_well(tmp_path: Path) -> None:
    agent = AgentProcess(DemoFolder(tmp_path), crash=False, speed=0)
    agent.start()
    agent.wait()
    assert (agent.was_killed, agent.failed) == (False, False)
    assert not transcript_of(present_path(agent.session)).is_unfinished


def test_a_demo_agent_that_cannot_begin_says_why_and_is_over(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "mine").touch()
    agent = AgentProcess(DemoFolder(tmp_path), crash=True, speed=0)
    agent.start()
    agent.wait()
    assert agent.failed
    assert "no demo made" in capfd.readouterr().err


def test_a_demo_agent_can_be_stopped_in_the_middle(tmp_path: Path) -> None:
    agent = AgentProcess(DemoFolder(tmp_path), crash=False, speed=0.001)
    agent.start()
    agent.stop()
    agent.wait()
    assert (agent.was_killed, agent.failed) == (False, False)
    assert not is_alive(present_path(agent.session))


@pytest.mark.parametrize("crash", [False, True], ids=["to the end", "with a crash"])
def test_without_a_browser_the_demo_ends_by_itself_and_says_how_to_reopen_it(
    tmp_path: Path, crash: bool
) -> None:
    options = f'{{"open_browser": false, "crash": {str(crash).lower()}}}'
    with started("-c", RUN, str(tmp_path), options) as process:
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, err) == (0, "")
    first, *told = out.splitlines()
    assert urlsplit(first).path.startswith("/s/")
    assert told[-3:] == last_lines(tmp_path)
    assert ("SIGKILL" in out) == crash
    transcript = transcript_of(the_sidecar(tmp_path))
    open_calls = {card.call for card in transcript.calls.open()}
    assert open_calls == (HALF_WAY_CALLS if crash else set())


@pytest.mark.parametrize("begins", ["", LATE], ids=["as it comes", "page late"])
def test_with_a_browser_a_crash_is_shown_until_ctrl_c(tmp_path: Path, begins: str) -> None:
    with started(
        "-c", begins + RUN, str(tmp_path), '{"open_browser": true, "crash": true}'
    ) as process:
        assert process.stdout is not None
        said = [process.stdout.readline().rstrip("\n") for _ in range(7)]
        wait_until_served(said[0])
        assert said[4:] == last_lines(tmp_path)
        assert said[3] == "The page stays until you press Ctrl-C."
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, err) == (0, "")
    assert out.splitlines() == last_lines(tmp_path)


def test_ctrl_c_ends_the_agent_too(tmp_path: Path) -> None:
    slow = RUN.replace("speed=0", "speed=0.001")
    with started("-c", slow, str(tmp_path), '{"open_browser": true}') as process:
        assert process.stdout is not None
        wait_until_served(process.stdout.readline())
        sidecar = the_sidecar(tmp_path)
        assert is_alive(sidecar)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, err) == (0, "")
    assert out.splitlines() == last_lines(tmp_path)
    assert not is_alive(sidecar)

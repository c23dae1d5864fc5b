"""A recorder that is killed at any moment loses nothing that it said it had done."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest

from presentview.events import Event, EventKind
from presentview.recorder import Recorder
from presentview.records import Header, Kind
from presentview.sidecar import Scan, load
from tests.crash.writer import Step, plan

pytestmark = pytest.mark.crash

ROOT = Path(__file__).resolve().parents[2]
ROUNDS_ON_ONE_FILE = 10
MOST_STEPS = 60
MOST_SPIN_SECONDS = 0.003


class Item(NamedTuple):
    """A record by its number, its kind and the turn it stands in."""

    number: int
    kind: str
    turn: int


class State(NamedTuple):
    """What is recorded of a session, and how many turns and rewrites there were."""

    items: list[Item]
    turns: int
    version: int


NAMES = {"turn_started": "turn", "notice": "notice", "text": "delta", "message": "message"}


class Writer:
    """Starts writing processes and kills them."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("writer.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    def run(self, session: Path, seed: int, state: State, *, steps: int, spin: float) -> int:
        """How many steps a process said it had done that was killed `spin` seconds after it had
        done that many.
        """
        assert self.process.stdin is not None
        first = max((item.number for item in state.items), default=0) + 1
        self.process.stdin.write(f"{session} {seed} {first} {state.turns}\n".encode())
        self.process.stdin.flush()
        pid = int(self._line())
        done = 0
        while done < steps:
            done = int(self._line())
        until = time.perf_counter() + spin
        while time.perf_counter() < until:
            pass
        os.kill(pid, signal.SIGKILL)
        while (line := self._line()) != b"end\n":
            done = int(line)
        return done

    def _line(self) -> bytes:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the writer died"
        return line

    def close(self) -> None:
        self.process.communicate(timeout=30)


@pytest.fixture(scope="module")
def writer() -> Iterator[Writer]:
    writer = Writer()
    yield writer
    writer.close()


def state_of(sidecar: Path) -> State:
    """What a file holds, and how many turns and rewrites its header counts."""
    scan = Scan(sidecar)
    items: list[Item] = []
    with sidecar.open("rb") as file:
        records = [entry.record for entry in scan.entries(file)]
    header = scan.first_header or Header()
    turn = header.turns_dropped
    for record in records:
        turn += record.kind == Kind.TURN_STARTED
        if record.kind != Kind.TURN_DONE:
            items.append(Item(int(record.text.split(" ")[0]), NAMES[record.kind], turn))
    return State(items, turn, header.rewrite_version)


def after(state: State, step: Step) -> State:
    """What is recorded after one more step, if no delta is dropped."""
    items, turns, version = state
    if step.kind == "compact":
        keep = min(step.number, turns)
        return State([item for item in items if item.turn >= keep], turns, version + 1)
    if step.kind == "save":
        return state
    turns += step.kind == "turn"
    return State([*items, Item(step.number, step.kind, turns)], turns, version)


def droppable(items: Sequence[Item]) -> set[Item]:
    """The deltas that a message covers, but the first of each run."""
    covered: set[Item] = set()
    run: list[Item] = []
    for item in items:
        if item.kind == "delta":
            run.append(item)
        elif item.kind in ("message", "turn"):
            covered.update(run[1:] if item.kind == "message" else ())
            run = []
    return covered


def check(found: State, before: State, steps: Sequence[Step], done: int) -> None:
    """Check what is in the file after `done` of `steps`, of which one more was under way."""
    certain = before
    for step in steps[:done]:
        certain = after(certain, step)
    possible = after(certain, steps[done])
    assert found.version in (certain.version, possible.version)
    assert found.items == sorted(set(found.items))
    assert set(found.items) <= {*certain.items, *possible.items}
    missing = set(certain.items) - set(found.items) - droppable(certain.items)
    if found.version > certain.version:
        assert missing <= set(certain.items) - set(possible.items)
        assert set(found.items) <= set(possible.items)
    else:
        assert not missing


def temps(sidecar: Path) -> list[Path]:
    return list(sidecar.parent.glob(".*.tmp"))


def go_on(session: Path, sidecar: Path) -> None:
    """Open what a killed process left, record one thing, and check that all is well."""
    before = state_of(sidecar) if sidecar.exists() else State([], 0, 0)
    damage = load(sidecar).problems if sidecar.exists() else ()
    for path in temps(sidecar):
        os.utime(path, (1, 1))
    number = max((item.number for item in before.items), default=0) + 1
    with Recorder.open(session) as recorder:
        assert recorder.problems == damage
        assert len(damage) <= 1
        assert all("torn" in problem.reason for problem in damage)
        assert temps(sidecar) == []
        recorder.append(Event(kind=EventKind.NOTICE, text=f"{number} "))
    assert load(sidecar).problems == ()
    now = state_of(sidecar)
    assert [*now.items[:-1]] == [item for item in before.items if item in set(now.items)]
    assert set(before.items) - set(now.items) <= droppable(before.items)
    assert now.items[-1].number == number
    assert (now.turns, now.version) == (before.turns, before.version)


def kill_rounds(writer: Writer, folder: Path, seed: int, rounds: int) -> None:
    """Kill writers of one session again and again, each going on where the last one was killed."""
    chance = random.Random(seed)
    session, sidecar = folder / "s.jsonl", folder / "s.present.jsonl"
    before = State([], 0, 0)
    for _ in range(rounds):
        round_seed = chance.randrange(2**32)
        wanted, spin = chance.randrange(MOST_STEPS), chance.random() * MOST_SPIN_SECONDS
        done = writer.run(session, round_seed, before, steps=wanted, spin=spin)
        first = max((item.number for item in before.items), default=0) + 1
        steps = list(islice(plan(round_seed, first, before.turns), done + 1))
        found = state_of(sidecar) if sidecar.exists() else State([], 0, 0)
        check(found, before, steps, done)
        assert len(temps(sidecar)) <= 1
        go_on(session, sidecar)
        before = state_of(sidecar)


@pytest.mark.parametrize("seed", range(20))
def test_a_killed_recorder_lost_nothing_that_it_had_recorded(
    seed: int, writer: Writer, tmp_path: Path
) -> None:
    kill_rounds(writer, tmp_path, seed, ROUNDS_ON_ONE_FILE)


@pytest.mark.soak
def test_a_recorder_killed_thousands_of_times_lost_nothing(writer: Writer, tmp_path: Path) -> None:
    for seed in range(1000, 1500):
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        kill_rounds(writer, folder, seed, ROUNDS_ON_ONE_FILE)

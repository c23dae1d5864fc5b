"""An agent that edits a workspace for real and records it, compacts at times, and is killed.

It takes the session, the workspace and a seed; after each call it writes a line with what it is
about to do or has done.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from presentview.events import Event, EventKind
from presentview.recorder import Recorder
from presentview.records import FileDiff, Tool
from tests.unit.transcript.changes.world import git_diff

WORDS = ("def f():\n", "    return 1\n", "\n", "x = 1\n", "# a remark\n", "win\r\n")


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


class Agent:
    """Edits the files of a workspace through calls that it records."""

    def __init__(self, recorder: Recorder, workspace: Path, seed: int) -> None:
        self.recorder = recorder
        self.workspace = workspace
        self.chance = random.Random(seed)
        self.calls = 0

    def record(self, kind: EventKind, tool: Tool | None = None, text: str = "") -> None:
        self.recorder.append(Event(kind=kind, tool=tool or Tool(), text=text))

    def step(self) -> None:
        """One edit: told, done, and told to be done."""
        path, old, new = self.plan()
        self.calls += 1
        diff = git_diff(path, old, new)
        sent = Tool(
            id=f"call {self.calls}",
            name="edit_file",
            args=json.dumps({"path": path}),
            file_diff=FileDiff(diff, diff.count("\n+"), diff.count("\n-")),
        )
        self.record(EventKind.TOOL_DISPATCH, sent)
        say(f"sent {self.calls}")
        file = self.workspace / path
        if new is None:
            file.unlink()
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes("".join(new).encode())
        say(f"written {self.calls}")
        self.record(EventKind.TOOL_RESULT, Tool(id=sent.id, output="done"))
        say(f"done {self.calls}")

    def plan(self) -> tuple[str, tuple[str, ...] | None, tuple[str, ...] | None]:
        """What to do next: a path, the lines that are there and those to be there."""
        chance = self.chance
        there = sorted(
            path.relative_to(self.workspace).as_posix()
            for path in self.workspace.rglob("*")
            if path.is_file() and ".git" not in path.parts
        )
        if not there or chance.random() < 0.15:
            return f"new/{self.calls}.py", None, self.lines(8)
        path = chance.choice(there)
        text = (self.workspace / path).read_bytes().decode()
        old = tuple(f"{line}\n" for line in text.split("\n")[:-1])
        if chance.random() < 0.08:
            return path, old, None
        at = chance.randint(0, len(old))
        new = (*old[:at], *self.lines(3), *old[at + chance.randint(0, 2) :])
        return path, old, new

    def lines(self, most: int) -> tuple[str, ...]:
        return tuple(self.chance.choices(WORDS, k=self.chance.randint(1, most)))


def main() -> None:
    session, workspace, seed = sys.argv[1:]
    recorder = Recorder.open(session, workspace=workspace)
    agent = Agent(recorder, Path(workspace), int(seed))
    for turn in range(1, 1_000):
        agent.record(EventKind.TURN_STARTED, text=f"turn {turn}")
        for _ in range(agent.chance.randint(1, 4)):
            agent.step()
        agent.record(EventKind.TURN_DONE)
        if agent.chance.random() < 0.4:
            recorder.truncate_to_turn(turn - 1)
            recorder.save()


if __name__ == "__main__":
    main()

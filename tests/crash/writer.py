"""A process that records until it is killed, and says after each step that it is done.

It reads lines `SESSION SEED FIRST TURNS` and forks a child for each, which spares the start of an
interpreter. The child writes its process id and then the number of each finished step, the parent
`end` once the child is dead.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from presentview.events import Event, EventKind
from presentview.recorder import Recorder

KINDS = {
    "turn": EventKind.TURN_STARTED,
    "notice": EventKind.NOTICE,
    "delta": EventKind.TEXT,
    "message": EventKind.MESSAGE,
}
WEIGHTS = {"delta": 40, "notice": 15, "message": 12, "turn": 8, "save": 14, "compact": 8}
LARGE = 300_000


class Step(NamedTuple):
    """Record one event of `size` extra bytes, save, or compact so that turn `number` is the first
    that stays.
    """

    kind: str
    number: int = 0
    size: int = 0


def plan(seed: int, first: int, turns: int) -> Iterator[Step]:
    """The same steps for the same arguments, without end: records are numbered from `first`, and
    `turns` have been recorded before.
    """
    chance = random.Random(seed)
    kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
    number, kind = first, "turn"
    while True:
        if kind == "save":
            yield Step(kind)
        elif kind == "compact":
            yield Step(kind, turns - chance.randrange(3))
        else:
            turns += kind == "turn"
            yield Step(kind, number, LARGE if chance.random() < 0.02 else chance.randrange(200))
            number += 1
        kind = chance.choices(kinds, weights)[0]


def do(step: Step, recorder: Recorder, version: int) -> int:
    """Do one step; the session's rewrite version after it."""
    if step.kind == "save":
        recorder.sync_before_save(version)
        recorder.save()
    elif step.kind == "compact":
        version += 1
        recorder.truncate_to_turn(step.number)
        recorder.sync_before_save(version)
        recorder.save()
    else:
        text = f"{step.number} " + "x" * step.size
        recorder.append(Event(kind=KINDS[step.kind], text=text))
    return version


def write_until_killed(session: str, seed: int, first: int, turns: int) -> NoReturn:
    """Do the steps of a plan, which has no end."""
    os.write(1, b"%d\n" % os.getpid())
    recorder = Recorder.open(session)
    version = 0
    for done, step in enumerate(plan(seed, first, turns), 1):
        version = do(step, recorder, version)
        os.write(1, b"%d\n" % done)
    raise AssertionError


def main() -> None:
    for line in sys.stdin:
        session, *numbers = line.rstrip("\n").rsplit(" ", 3)
        child = os.fork()
        if child == 0:
            write_until_killed(session, *map(int, numbers))
        os.waitpid(child, 0)
        os.write(1, b"end\n")


if __name__ == "__main__":
    main()

"""What a step is, when it took effect, and what else of a session tells of its files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from presentview.transcript.cards import INTERRUPTED, RUNNING, Part, Place, ToolCard
from presentview.transcript.changes.edits import Lines
from presentview.transcript.export import ReadPart
from presentview.transcript.fold import Transcript

__all__ = [
    "APPLIED",
    "EARLIER",
    "NEVER",
    "NOW",
    "About",
    "Move",
    "Order",
    "Reading",
    "Source",
    "Step",
    "Stretch",
]

APPLIED: Final = "applied"

_IN_FLIGHT: Final = frozenset({INTERRUPTED, RUNNING})
_NUMBERED: Final = re.compile(r"\s*(\d{1,9})(?:→|\t)(.*)", re.DOTALL)


class Order(NamedTuple):
    """When something took effect: results of earlier parts of the record first, calls without a
    result last, and each by where its record stands.
    """

    tier: int
    at: int


EARLIER, NOW, NEVER = 0, 1, 2


class Move(NamedTuple):
    """A file that was renamed or copied: what it was made of, and its name afterwards."""

    old: str
    new: str


class About(NamedTuple):
    """The files a step is about, by their names afterwards, and those made of others."""

    paths: tuple[str, ...]
    moves: tuple[Move, ...] = ()


class Step(msgspec.Struct, frozen=True):
    """One call that edits files.

    `number` counts from 1 in order of effect, `card` is the id of the call's card, empty where
    that is not in the transcript any more. `state` is applied, failed, blocked, interrupted, or
    running while its writer lives; `agent` the card of the sub-agent that made the call, with
    its `agent_name`. `paths` are the files it changes, `moves` those it makes of others. `added`
    and `removed` are the recorded counts, `derived` says that there is no recorded diff, `shells`
    how many shell commands ran since the step before. Times are unix ms, 0 where not recorded.
    """

    number: int
    card: str
    call: str
    name: str
    face: str
    subject: str
    turn: int
    at: int
    ended_at: int
    state: str
    agent: str
    agent_name: str
    paths: tuple[str, ...]
    moves: tuple[Move, ...]
    added: int
    removed: int
    derived: bool
    order: Order
    dispatched: Order
    source: int
    dispatch: Part | None
    result: Part | None
    diff: Part | None
    shells: int = 0

    @property
    def in_flight(self) -> bool:
        """Whether no result was recorded."""
        return self.state in _IN_FLIGHT

    @property
    def took_effect(self) -> bool:
        """Whether the call said that it was done."""
        return self.state == APPLIED


class Source(NamedTuple):
    """A part of the record: its transcript, and what reads the records in it. `turns` has the
    turns of calls, by where their records lie, in a part that has lost all else of them.
    """

    transcript: Transcript
    read: ReadPart
    turns: Mapping[int, int] = {}

    def turn_of(self, card: ToolCard) -> int:
        """The turn of a call."""
        part = card.dispatch or card.diff or card.result
        return self.turns.get(part.offset, card.turn) if isinstance(part, Place) else card.turn


class Stretch(NamedTuple):
    """Lines that a call read from a file, the first of them line `start`."""

    start: int
    lines: Lines


class Reading:
    """A call that read a file, when, and what it saw."""

    def __init__(self, path: str, order: Order, part: Part, read: ReadPart) -> None:
        self.path = path
        self.order = order
        self._part = part
        self._read = read

    def lines(self) -> Stretch | None:
        """The lines it saw; None unless each stands there with its number."""
        record = self._read(self._part)
        tool = record.tool if record else None
        return _numbered(tool.output) if tool is not None and not tool.truncated else None


def _numbered(output: str) -> Stretch | None:
    """The lines of an output in which each stands behind its number."""
    lines: list[str] = []
    start = 0
    for line in output.removesuffix("\n").split("\n"):
        found = _NUMBERED.fullmatch(line)
        if found is None:
            return None
        number = int(found[1])
        start = start or number
        if number != start + len(lines):
            return None
        lines.append(f"{found[2]}\n")
    return Stretch(start, tuple(lines)) if start else None

"""What a transcript is made of: cards, the turns they stand in, and the changes to them.

A card keeps what its collapsed face shows and where its body lies: a `Place` in the file, or the
`Record` itself for a transcript that was not read from one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from presentview.records import Record

__all__ = [
    "ABORTED",
    "BAD",
    "BLOCKED",
    "DONE",
    "FAILED",
    "INTERRUPTED",
    "OPEN",
    "RUNNING",
    "Approval",
    "Card",
    "Change",
    "Part",
    "Place",
    "ToolCard",
    "Turn",
    "UsageCard",
    "places_of",
]

OPEN: Final = "open"
RUNNING: Final = "running"
DONE: Final = "done"
FAILED: Final = "failed"
BLOCKED: Final = "blocked"
INTERRUPTED: Final = "interrupted"
ABORTED: Final = "aborted"
BAD: Final = frozenset({FAILED, BLOCKED})
"""The states of a call that ended badly."""


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a record lies in its file: byte `offset` from 0, `length` in bytes, `line` from 1.

    One is made for every record of a file, and a struct is made in a fraction of the time that a
    tuple with names takes.
    """

    offset: int
    length: int
    line: int


class Approval(msgspec.Struct, frozen=True, gc=False):
    """That somebody was asked whether a call may run, and what came of it.

    `asked_at` and `answered_at` (unix ms, 0: not recorded) are those of the last time, `waited`
    is how long that and earlier ones took (ms), `answer` the word it ended with, empty while
    nobody has answered.
    """

    asked_at: int = 0
    answered_at: int = 0
    waited: int = 0
    answer: str = ""

    def answered(self, at: int, answer: str) -> Approval:
        """The same with its answer."""
        waited = at - self.asked_at if self.asked_at and at >= self.asked_at else 0
        return Approval(self.asked_at, at, self.waited + waited, answer or "answered")

    def asked_again(self, at: int) -> Approval:
        """The same when the question is put anew."""
        return Approval(at, 0, self.waited, "")


Part: TypeAlias = Place | Record
"""A record a card shows something of, by its place or itself."""

Op: TypeAlias = Literal["add", "replace", "move", "remove", "reset"]


class Change(NamedTuple):
    """One change to the cards of a page.

    `card` and `parent` are card ids, `before` is the id of the next sibling or None for the last
    place. `parent` and `before` mean something for add and move. A reset (with no card) says
    that everything may be different.
    """

    op: Op
    card: str | None = None
    parent: str | None = None
    before: str | None = None


class Card(msgspec.Struct, eq=False):
    """One thing a person saw.

    `number` gives its id and never changes, `kind` is one of the names `show --json` prints,
    `turn` counts from 1 (0: before the first). `at` and `ended_at` are unix ms, 0 where not
    recorded. `face` is the text on the collapsed card, `level` a notice's, `count` how often it
    came in a row (or a compaction's messages). `parts` are the records the body is read from.
    """

    number: int
    kind: str
    turn: int
    at: int = 0
    parts: Sequence[Part] = ()
    parent: ToolCard | None = None
    children: list[Card] | None = None
    state: str | None = None
    face: str = ""
    level: str = ""
    count: int = 1
    ended_at: int = 0

    @property
    def id(self) -> str:
        """The card's id, `c<n>`: the same on every page and in every later run."""
        return f"c{self.number}"

    @property
    def depth(self) -> int:
        """How many cards it is nested in."""
        return sum(1 for _ in self.ancestors())

    @property
    def duration_ms(self) -> int | None:
        """How long it took in ms, None where that is not known."""
        if self.at and self.ended_at >= self.at:
            return self.ended_at - self.at
        return None

    def status(self, *, alive: bool) -> str | None:
        """The state as a person is told it; whether the writer is `alive` decides what is
        running and what was interrupted. None for cards that have no states.
        """
        if self.state == OPEN:
            return RUNNING if alive else INTERRUPTED
        return self.state

    def ancestors(self) -> Iterator[ToolCard]:
        """The cards it is nested in, from the inside out."""
        card = self.parent
        while card is not None:
            yield card
            card = card.parent

    def __repr__(self) -> str:
        return f"<{self.kind} {self.id} turn {self.turn} {self.state or ''} {self.face!r}>"


class ToolCard(Card, eq=False):
    """A tool call, or a lane that stands for a sub-agent without a record of its own.

    `call` is the id in the file, `name` the tool as recorded, `tool_face` the kind of tool card.
    `face` is the subject: command, path, pattern, description. `dispatch`, `result` and
    `diff` are the records that hold the arguments, the output and the edit; `progress` those
    with output so far. `lines` counts the output's lines, `diff_lines` the diff's; `steps` and
    `faults` count the calls nested in it and those of them that failed. `note` says why a card
    that names a parent stands at the top. `approval` says what was asked about it, `tokens`
    adds up those of its sub-agent where these are recorded.
    """

    call: str = ""
    name: str = ""
    tool_face: str = "other"
    parent_id: str = ""
    args_key: int | None = None
    dispatch: Part | None = None
    result: Part | None = None
    diff: Part | None = None
    progress: Sequence[Part] = ()
    background: bool = False
    read_only: bool = False
    truncated: bool = False
    recorded_ms: int = 0
    err: str = ""
    lines: int = 0
    added: int = 0
    removed: int = 0
    diff_lines: int = 0
    attachments: int = 0
    model: str = ""
    effort: str = ""
    steps: int = 0
    faults: int = 0
    note: str = ""
    approval: Approval | None = None
    tokens: int | None = None

    @property
    def begins_at(self) -> int:
        """From when on it may have run (unix ms, 0: not recorded): from its dispatch, or from
        the answer of whoever was asked whether it may.
        """
        approval = self.approval
        if approval is not None and 0 < self.at <= approval.answered_at <= self.ended_at:
            return approval.answered_at
        return self.at

    @property
    def duration_ms(self) -> int | None:
        """The recorded duration in ms, else from when it may have run to its result, else None."""
        if self.recorded_ms > 0:
            return self.recorded_ms
        if not self.at or self.ended_at < self.at:
            return None
        return self.ended_at - self.begins_at

    @property
    def in_main_lane(self) -> bool:
        """Whether the agent itself waits for it: neither a sub-agent's call nor in the
        background.
        """
        return not (self.parent or self.parent_id or self.background or "/" in self.call)

    @property
    def failed(self) -> bool:
        """Whether it ended badly: failed or blocked."""
        return self.state in BAD

    def status(self, *, alive: bool) -> str | None:
        """As for every card; a lane runs while anything in it or its parent does."""
        if self.kind != "lane":
            return super().status(alive=alive)
        for child in self.children or ():
            if child.state == OPEN:
                return child.status(alive=alive)
        outer = self.parent.status(alive=alive) if self.parent else DONE
        return outer if outer in (RUNNING, INTERRUPTED) else DONE


class UsageCard(Card, eq=False):
    """A turn's footer: the tokens of its model requests, added up, how many there were, and how
    many steps the agent counted.
    """

    input: int = 0
    output: int = 0
    total: int = 0
    cached: int = 0
    requests: int = 0
    steps: int = 0


class Turn(msgspec.Struct, eq=False):
    """A stretch from one prompt to the next.

    `at` and `ended_at` are unix ms (0: not recorded), `error` what it failed with, `ended`
    whether its end was recorded. `calls`, `errors`, `added` and `removed` count over all calls
    dispatched in it, sub-agents' included; `tool_ms` adds up the durations of the main lane's.
    `longest` is its longest call as far as that has been looked for, which `longest_ms` took;
    whether that is so still, `Transcript.longest_in` knows.
    """

    number: int
    at: int = 0
    last_at: int = 0
    ended_at: int = 0
    ended: bool = False
    error: str = ""
    prompt: Card | None = None
    footer: UsageCard | None = None
    calls: int = 0
    errors: int = 0
    added: int = 0
    removed: int = 0
    compactions: int = 0
    tool_ms: int = 0
    longest: ToolCard | None = None
    longest_ms: int = 0
    longest_is_stale: bool = False

    @property
    def duration_ms(self) -> int | None:
        """From its start to its end in ms, None unless both were recorded."""
        if self.at and self.ended_at >= self.at:
            return self.ended_at - self.at
        return None


def places_of(card: Card) -> Iterator[Place]:
    """Where the records of a card lie, each once."""
    if isinstance(card, ToolCard):
        seen = (card.dispatch, card.result, card.diff)
        for index, part in enumerate(seen):
            if isinstance(part, Place) and part not in seen[:index]:
                yield part
        parts = card.progress
    else:
        parts = card.parts
    for part in parts:
        if isinstance(part, Place):
            yield part

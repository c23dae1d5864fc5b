"""What of a sidecar and of the agent's own log can be found in the other: their outlines."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

import msgspec

from presentview.records import Kind, Record
from presentview.sources.base import Placed
from presentview.sources.chat import Message
from presentview.sources.messages import collab_of
from presentview.transcript.collab import summarize_collab

__all__ = [
    "CALL",
    "TEXT",
    "Key",
    "RecordKeys",
    "Said",
    "SidecarOutline",
    "TurnOutline",
    "said_of",
    "said_of_record",
]

Key: TypeAlias = tuple[str, str]
"""Something both files hold if they tell of the same: a call by its id, the text of an answer or
of a prompt, each with what it is.
"""

CALL: Final = "call"
TEXT: Final = "text"
PROMPT: Final = "prompt"
SUMMARY: Final = "summary"
COLLAB: Final = "collab"


class TurnOutline(msgspec.Struct):
    """What a turn of a sidecar holds: `keys` in order, the texts of its `steers`, and whether its
    prompt is recorded, and its end. Index 0 stands for what is in front of the first turn.
    """

    keys: list[Key] = []
    steers: list[str] = []
    has_text: bool = False
    has_end: bool = False


class RecordKeys:
    """The keys of records, given one by one: a call counts once, however often it is told while
    it runs.
    """

    def __init__(self) -> None:
        self._open: set[str] = set()

    def of(self, record: Record) -> Iterator[Key]:
        """The keys of the next record."""
        kind = record.kind
        if kind == Kind.TURN_STARTED:
            self._open.clear()
            yield from _text_key(PROMPT, record.text)
        elif kind == Kind.MESSAGE:
            yield from _text_key(TEXT, record.text)
        elif kind == Kind.COMPACTION_DONE:
            if record.compaction is not None:
                yield from _text_key(SUMMARY, record.compaction.summary)
        elif kind == Kind.EXPERT_COLLAB:
            if run := summarize_collab(record.collab).run_id:
                yield COLLAB, run
        elif record.tool is not None:
            yield from self._call_key(record)

    def _call_key(self, record: Record) -> Iterator[Key]:
        tool = record.tool
        assert tool is not None
        if not tool.id or tool.parent_id or "/" in tool.id:
            return
        if record.kind == Kind.TOOL_RESULT:
            self._open.discard(tool.id)
        elif record.kind == Kind.TOOL_DISPATCH and tool.id not in self._open:
            self._open.add(tool.id)
            yield CALL, tool.id


_MARKS: Final = frozenset({Kind.TURN_STARTED.value, Kind.TURN_DONE.value, Kind.STEER.value})


class SidecarOutline:
    """The outline of a sidecar, taken from its records one by one; `marks` counts what it holds."""

    def __init__(self) -> None:
        self.marks = 0
        self.turns: list[TurnOutline] = [TurnOutline()]
        self._keys = RecordKeys()

    def take(self, record: Record) -> None:
        """Take in the next record."""
        kind = record.kind
        if kind == Kind.TURN_STARTED:
            self.turns.append(TurnOutline(has_text=bool(record.text)))
        turn = self.turns[-1]
        keys = list(self._keys.of(record))
        turn.keys += keys
        turn.has_end |= kind == Kind.TURN_DONE
        if kind == Kind.STEER and (text := record.text.strip()):
            turn.steers.append(digest(text))
        self.marks += bool(keys) or kind in _MARKS


class Said(NamedTuple):
    """What is kept of an entry of the agent's own log: what it is (`prompt`, `user`, `assistant`,
    `tool`, `end` or empty), its `keys`, a digest of its `text`, and whether it is `lasting`: told
    even where a sidecar tells the turn.
    """

    what: str
    keys: tuple[Key, ...] = ()
    text: str = ""
    lasting: bool = False


def said_of(message: Message) -> Said:
    """The outline of a message."""
    text = message.text.strip()
    keys: list[Key] = []
    what = ""
    if message.role == "assistant":
        what = "assistant"
        keys += _text_key(TEXT, text)
        keys += ((CALL, call.id) for call in message.calls if call.id)
    elif message.role == "user":
        what = "prompt" if message.is_prompt else "user"
        if what == "prompt":
            keys += _text_key(PROMPT, text)
        if message.is_summary:
            keys.append((SUMMARY, digest(message.summary)))
    elif message.role == "tool":
        what = "tool"
        collab = collab_of(message)
        if collab is not None and (run := summarize_collab(collab).run_id):
            keys.append((COLLAB, run))
    said = message.steer or text
    return Said(what, tuple(keys), digest(said) if said else "")


_WHAT: Final = {
    Kind.TURN_STARTED.value: "prompt",
    Kind.MESSAGE.value: "assistant",
    Kind.TOOL_DISPATCH.value: "tool",
    Kind.TOOL_RESULT.value: "tool",
    Kind.TURN_DONE.value: "end",
}


def said_of_record(placed: Placed, keys: RecordKeys) -> Said:
    """The outline of a record that another log was told as, the next one for `keys`."""
    record = placed.record
    found = tuple(keys.of(record))
    what = "" if placed.lasting else _WHAT.get(record.kind, "")
    text = record.text.strip() if what == "prompt" else ""
    return Said(what, () if placed.lasting else found, digest(text) if text else "", placed.lasting)


def digest(text: str) -> str:
    """A short stand-in for a text."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _text_key(what: str, text: str) -> Iterator[Key]:
    if text := text.strip():
        yield what, digest(text)

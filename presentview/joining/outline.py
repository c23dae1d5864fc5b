"""What of a sidecar and of a message list can be found in the other: their outlines."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple, TypeAlias

import msgspec

from presentview.records import Kind, Record
from presentview.sources.base import Origin
from presentview.sources.chat import Message
from presentview.sources.messages import collab_of
from presentview.transcript.collab import summarize_collab

__all__ = ["Key", "Said", "SidecarOutline", "TurnOutline", "said_of"]

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
    prompt is recorded. Index 0 stands for what is in front of the first turn.
    """

    keys: list[Key] = []
    steers: list[str] = []
    has_text: bool = False


class SidecarOutline:
    """The outline of a sidecar, taken from its records one by one."""

    def __init__(self) -> None:
        self.turns: list[TurnOutline] = [TurnOutline()]
        self._open: set[str] = set()

    def take(self, record: Record) -> None:
        """Take in the next record."""
        kind = record.kind
        if kind == Kind.TURN_STARTED:
            self._open.clear()
            turn = TurnOutline(has_text=bool(record.text))
            self.turns.append(turn)
            _add(turn, PROMPT, record.text)
        elif kind == Kind.MESSAGE:
            _add(self.turns[-1], TEXT, record.text)
        elif kind == Kind.STEER:
            if text := record.text.strip():
                self.turns[-1].steers.append(digest(text))
        elif kind == Kind.COMPACTION_DONE:
            if record.compaction is not None:
                _add(self.turns[-1], SUMMARY, record.compaction.summary)
        elif kind == Kind.EXPERT_COLLAB:
            if run := summarize_collab(record.collab).run_id:
                self.turns[-1].keys.append((COLLAB, run))
        elif record.tool is not None:
            self._take_call(record)

    def _take_call(self, record: Record) -> None:
        tool = record.tool
        assert tool is not None
        if not tool.id or tool.parent_id or "/" in tool.id:
            return
        if record.kind == Kind.TOOL_RESULT:
            self._open.discard(tool.id)
        elif record.kind == Kind.TOOL_DISPATCH and tool.id not in self._open:
            self._open.add(tool.id)
            self.turns[-1].keys.append((CALL, tool.id))


class Said(NamedTuple):
    """What is kept of a message: what it is (`prompt`, `user`, `assistant` or empty), its `keys`,
    a digest of its `text`, and where it stands.
    """

    what: str
    keys: tuple[Key, ...]
    text: str
    origin: Origin


def said_of(message: Message, origin: Origin) -> Said:
    """The outline of a message that stands at `origin`."""
    text = message.text.strip()
    keys: list[Key] = []
    what = ""
    if message.role == "assistant":
        what = "assistant"
        if text:
            keys.append((TEXT, digest(text)))
        keys += ((CALL, call.id) for call in message.calls if call.id)
    elif message.role == "user":
        what = "prompt" if message.is_prompt else "user"
        if what == "prompt" and text:
            keys.append((PROMPT, digest(text)))
        if message.is_summary:
            keys.append((SUMMARY, digest(message.summary)))
    elif message.role == "tool":
        what = "tool"
        collab = collab_of(message)
        if collab is not None and (run := summarize_collab(collab).run_id):
            keys.append((COLLAB, run))
    said = message.steer or text
    return Said(what, tuple(keys), digest(said) if said else "", origin)


def digest(text: str) -> str:
    """A short stand-in for a text."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _add(turn: TurnOutline, what: str, text: str) -> None:
    if text := text.strip():
        turn.keys.append((what, digest(text)))

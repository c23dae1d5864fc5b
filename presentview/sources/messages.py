"""Message lists: chat messages told as what a person saw.

There are no times and no ends of turns in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from presentview.records import Attachment, Compaction, Header, Kind, Record, Tool
from presentview.sources.base import Reader, Source
from presentview.sources.chat import Message, MessageScan, is_message
from presentview.sources.narrated import NarratedReader

__all__ = ["SOURCE", "collab_of", "prompt_record", "records_of"]

_NOTE: Final = (
    "Read from the agent's own messages: times, notices, diffs and sub-agents were not recorded"
)
_COLLAB_TOOL: Final = "expert_team_collab"
_COLLAB_MARK: Final = "__expert_collab__"


def prompt_record(message: Message) -> Record:
    """The beginning of a turn whose prompt is `message`."""
    images = tuple(Attachment(path=url, kind="image") for url in message.images)
    return Record(Kind.TURN_STARTED, text=message.text, images=images)


def records_of(message: Message) -> Iterator[Record]:
    """What a person saw of a message; a prompt begins a turn."""
    if message.role == "user":
        if message.is_prompt:
            yield prompt_record(message)
        elif message.is_summary:
            yield Record(Kind.COMPACTION_DONE, compaction=Compaction(summary=message.summary))
        elif steer := message.steer:
            yield Record(Kind.STEER, text=steer)
    elif message.role == "assistant":
        if message.text.strip() or message.reasoning.strip():
            yield Record(Kind.MESSAGE, text=message.text, reasoning=message.reasoning)
        for call in message.calls:
            yield Record(Kind.TOOL_DISPATCH, tool=Tool(call.id, call.name, call.args))
    elif message.role == "tool":
        collab = collab_of(message)
        if collab is not None:
            yield Record(Kind.EXPERT_COLLAB, collab=collab)
        else:
            yield Record(Kind.TOOL_RESULT, tool=_result(message))


def collab_of(message: Message) -> dict[str, Any] | None:
    """The discussion of experts that a tool message holds as JSON text; None if it holds none."""
    if message.name != _COLLAB_TOOL or _COLLAB_MARK not in message.text:
        return None
    try:
        value = msgspec.json.decode(message.text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("__type") != _COLLAB_MARK:
        return None
    return value


def _result(message: Message) -> Tool:
    text = message.text
    # The other words a failure begins with are told from the output itself.
    err = text.partition("\n")[0] if text.startswith("[error") else ""
    return Tool(message.call, message.name, output=text, err=err)


class MessageNarrator:
    """Tells the messages of one list."""

    def __init__(self) -> None:
        self.header = Header()

    def tell(self, message: Message) -> Iterator[Record]:
        """The records of the next message."""
        return records_of(message)

    @staticmethod
    def is_lasting(_message: Message, _record: Record) -> bool:
        """A sidecar tells all that messages tell, but for the prompts."""
        return False


def _open(path: Path) -> Reader:
    return NarratedReader(path, MessageScan, MessageNarrator, note=_NOTE)


_BEGINS: Final = re.compile(rb'\{\s*"role"\s*:\s*"(?:system|developer|user|assistant|tool)"')

SOURCE: Final = Source("message list", is_message, _BEGINS, _open)

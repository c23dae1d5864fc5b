"""What a script is written in: steps, and short ways to write down what an agent does.

A script is an iterator of steps: an `Event` to record, a `Pause` before the next step, a file
the agent writes, the end of a compaction, the place where a crash hurts most. Nothing here
reads a clock: how long a call took is measured by whoever plays the script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from presentview.events import Event, EventKind
from presentview.records import Attachment, FileDiff, Profile, Tool, Usage

__all__ = [
    "Call",
    "Compacted",
    "HalfWay",
    "Pause",
    "Step",
    "Steps",
    "Tokens",
    "Written",
    "answer",
    "notice",
    "stream_text",
    "think",
    "turn_failed",
    "turn_over",
    "turn_started",
    "usage",
]


class Pause(NamedTuple):
    """Nothing happens for so many `seconds`, at speed 1."""

    seconds: float


class Written(NamedTuple):
    """The agent writes a file at `path`, relative to its workspace."""

    path: str
    content: bytes


class Compacted(NamedTuple):
    """The model's messages have been rewritten; it still knows `first_turn` and what follows."""

    first_turn: int


class HalfWay(NamedTuple):
    """The middle of the script, with several calls running."""


Step: TypeAlias = Event | Pause | Written | Compacted | HalfWay
Steps: TypeAlias = Iterator[Step]


class Tokens(NamedTuple):
    """What one model request cost: tokens in, of those cached, and out."""

    input: int
    cached: int
    output: int


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call of the script, and the events it goes through."""

    id: str
    name: str
    args: Mapping[str, Any]
    read_only: bool = False
    parent_id: str = ""
    profile: Profile | None = None
    diff: FileDiff | None = None

    def inner(
        self,
        name: str,
        tool: str,
        args: Mapping[str, Any],
        *,
        read_only: bool = False,
        profile: Profile | None = None,
    ) -> Call:
        """A call that this one's sub-agent makes.

        As agents do it: the id tells every level, the recorded parent only the outermost.
        """
        return Call(
            id=f"{self.id}/{name}",
            name=tool,
            args=args,
            read_only=read_only,
            parent_id=self.parent_id or self.id,
            profile=profile,
        )

    def announced(self) -> Event:
        """The early dispatch, while the model is still writing the arguments."""
        tool = Tool(id=self.id, name=self.name, read_only=self.read_only, parent_id=self.parent_id)
        return Event(kind=EventKind.TOOL_DISPATCH, tool=tool, partial=True)

    def dispatched(self) -> Event:
        """The dispatch with everything that is known before the tool runs."""
        return Event(kind=EventKind.TOOL_DISPATCH, tool=self._tool())

    def asked(self, what: str) -> Event:
        """Somebody is asked whether the call may run."""
        tool = Tool(id=self.id, name=self.name)
        return Event(kind=EventKind.APPROVAL_REQUEST, tool=tool, text=what)

    def answered(self, answer: str) -> Event:
        """Their answer: "approved" or "denied"."""
        return Event(kind=EventKind.APPROVAL_ANSWER, tool=Tool(id=self.id), text=answer)

    def printed(self, output: str) -> Event:
        """A piece of output that comes while the tool runs."""
        return Event(kind=EventKind.TOOL_PROGRESS, tool=Tool(id=self.id, output=output))

    def returned(
        self,
        output: str,
        *,
        err: str = "",
        truncated: bool = False,
        attachments: tuple[Attachment, ...] = (),
    ) -> Event:
        """The result; whoever plays the script adds how long it took."""
        tool = msgspec.structs.replace(
            self._tool(), output=output, err=err, truncated=truncated, attachments=attachments
        )
        return Event(kind=EventKind.TOOL_RESULT, tool=tool)

    def ran(self, seconds: float, output: str, *, err: str = "") -> Steps:
        """The whole call, from dispatch to result."""
        yield self.dispatched()
        yield Pause(seconds)
        yield self.returned(output, err=err)

    def _tool(self) -> Tool:
        return Tool(
            id=self.id,
            name=self.name,
            args=json.dumps(self.args, ensure_ascii=False),
            read_only=self.read_only,
            parent_id=self.parent_id,
            profile=self.profile,
            file_diff=self.diff,
        )


def turn_started(prompt: str) -> Event:
    """The user sends `prompt`."""
    return Event(kind=EventKind.TURN_STARTED, text=prompt)


def turn_over() -> Event:
    """A turn ends well."""
    return Event(kind=EventKind.TURN_DONE)


def turn_failed(reason: str) -> Event:
    """A turn ends with an error."""
    return Event(kind=EventKind.TURN_DONE, err=reason)


def notice(text: str, *, warns: bool = False) -> Event:
    """The agent's own remark to the user."""
    return Event(kind=EventKind.NOTICE, text=text, level="warn" if warns else "info")


def usage(tokens: Tokens, call: Call | None = None) -> Event:
    """What a model request cost, of the agent itself or of the sub-agent of `call`."""
    counted = Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        total_tokens=tokens.input + tokens.output,
        cache_read=tokens.cached,
    )
    tool = None if call is None else Tool(id=call.id)
    return Event(kind=EventKind.USAGE, usage=counted, tool=tool)


def think(thought: str, seconds: float) -> Steps:
    """The model thinks aloud for so many seconds."""
    yield from _streamed(EventKind.REASONING, thought, seconds)


def stream_text(text: str, seconds: float) -> Steps:
    """The model writes, and is not finished."""
    yield from _streamed(EventKind.TEXT, text, seconds)


def answer(text: str, seconds: float, tokens: Tokens, *, thought: str = "") -> Steps:
    """The model writes `text` to its end; `thought` is what it has been thinking before."""
    yield from stream_text(text, seconds)
    yield Event(kind=EventKind.MESSAGE, text=text, reasoning=thought)
    yield usage(tokens)


def _streamed(kind: EventKind, text: str, seconds: float) -> Steps:
    pieces = _PIECE.findall(text)
    for piece in pieces:
        yield Event(kind=kind, text=piece)
        yield Pause(seconds / len(pieces))


_PIECE: Final = re.compile(r"\s*(?:\S+\s*){1,3}")

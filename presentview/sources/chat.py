"""Chat messages, one on each line, as agents keep a conversation for the model.

Each has a `role`; assistant messages carry `tool_calls`, tool messages answer one of them by its
id. What the agent itself put into the conversation in the user's name (summaries, nudges,
approvals of plans) is no prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import msgspec
import orjson

from presentview.limits import LINE_BYTES
from presentview.logscan import LogScan
from presentview.loosejson import Member
from presentview.objects import Found, Shape, find_objects
from presentview.pieces import Flaw
from presentview.sidecar import Problem
from presentview.sources.plain import dict_of

__all__ = ["Call", "Message", "MessageScan", "Placed", "is_message", "message_in"]

_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_SUMMARY_TAG: Final = "<compaction-summary>"
_SUMMARY_END: Final = "</compaction-summary>"
_SUMMARY_STARTS: Final = (_SUMMARY_TAG, "Summary of ")
_STEER_START: Final = "[Mid-turn steer queued by the user."
_OTHER_STARTS: Final = (
    "<system-reminder>",
    "[Plan approved",
    "Plan approved",
    "The plan has been approved",
    "Your previous response was empty",
    "[retry]",
    "[nudge]",
)


class Call(msgspec.Struct, frozen=True, gc=False):
    """A tool call in an assistant message: its `id`, the tool's `name` and `args` (JSON text)."""

    id: str
    name: str
    args: str


class Message(msgspec.Struct, frozen=True):
    """One chat message.

    `text` is its content without the `images`, which are data URLs or addresses. `reasoning` and
    `calls` are an assistant's, `call` and `name` say which call a tool message answers.
    """

    role: str
    text: str = ""
    reasoning: str = ""
    images: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    call: str = ""
    name: str = ""

    @property
    def is_summary(self) -> bool:
        """Whether it stands for messages that were compacted."""
        return self.role == "user" and self.text.lstrip().startswith(_SUMMARY_STARTS)

    @property
    def summary(self) -> str:
        """What stands for the messages that were compacted, without the marks around it."""
        text = self.text.strip()
        return text.removeprefix(_SUMMARY_TAG).removesuffix(_SUMMARY_END).strip()

    @property
    def steer(self) -> str:
        """What the user said in the middle of a turn, if the agent marked it so; else empty."""
        text = self.text.lstrip()
        if self.role != "user" or not text.startswith(_STEER_START):
            return ""
        _, _, rest = text.partition("]")
        return rest.strip() or text

    @property
    def is_prompt(self) -> bool:
        """Whether it is something the user asked for at the beginning of a turn."""
        if self.role != "user" or not (self.text.strip() or self.images):
            return False
        text = self.text.lstrip()
        return not text.startswith((*_SUMMARY_STARTS, *_OTHER_STARTS, _STEER_START))


class Placed(NamedTuple):
    """A message and where it lies in its file: its byte `offset`, its `length` in bytes and its
    `line`, from 1.
    """

    message: Message
    offset: int
    length: int
    line: int


class MessageScan(LogScan[Message, Placed]):
    """A reading position in a message list. A line that is longer than any is read is named and
    passed over.
    """

    def __init__(self, path: Path) -> None:
        """Read the messages of the file at `path`."""
        super().__init__(path, _decode_line, _read_line, Placed)

    def read(self, file: BinaryIO, *, alive: bool = False) -> Iterator[Placed]:
        """Read on to the end of `file`; see `LogScan.read`."""
        file.seek(self.offset)
        return self.feed(self._lines(file), alive=alive)

    def _lines(self, file: BinaryIO) -> Iterator[bytes]:
        while raw := file.readline(LINE_BYTES + 1):
            if len(raw) <= LINE_BYTES:
                yield raw
                continue
            start, line = self.offset, self.line
            while raw:
                self.step_over(raw)
                raw = b"" if raw.endswith(b"\n") else file.readline(LINE_BYTES)
            size = self.offset - start
            reason = f"a line of more than {LINE_BYTES:,} bytes ({size:,}); not read"
            self._problems.append(Problem(self.path, line, start, reason))


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a chat message."""
    role = value.get("role")
    return isinstance(role, str) and role in _ROLES


def message_in(line: bytes) -> Message | None:
    """The message on a line, however it is spelled; None where there is none."""
    return next((found.item for found in _read_line(line) if found.item is not None), None)


def _decode_line(line: bytes) -> Message:
    value = orjson.loads(line)
    if not isinstance(value, dict) or not is_message(value):
        raise ValueError("no chat message")
    return _message_of(value)


def _read_line(line: bytes, *, first: bool = False) -> Iterator[Found[Message]]:
    if line.strip() != b"null":
        yield from find_objects(line, _MESSAGES, first=first)


def _from_members(members: list[Member], flaws: list[Flaw]) -> Message | None:
    value = dict_of(members, flaws)
    if is_message(value):
        return _message_of(value)
    flaws.append(Flaw(members[0].at if members else 0, "not a chat message"))
    return None


# Calls and parts of a content are objects too, but none of them begins with a role.
_MESSAGES: Final = Shape(_from_members, re.compile(r'\{\s*"role"\s*:'))


def _message_of(value: Mapping[str, Any]) -> Message:
    """The message that a JSON object is."""
    role = value["role"]
    text, images = _content(value.get("content"))
    return Message(
        role="tool" if role == "function" else role,
        text=text,
        reasoning=_text(value.get("reasoning_content") or value.get("reasoning")),
        images=images,
        calls=tuple(_calls(value.get("tool_calls"))),
        call=_text(value.get("tool_call_id")),
        name=_text(value.get("name")),
    )


def _content(content: Any) -> tuple[str, tuple[str, ...]]:
    """The text of a message's content and the images in it."""
    if isinstance(content, str):
        return content, ()
    texts: list[str] = []
    images: list[str] = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            if isinstance(text := part.get("text"), str):
                texts.append(text)
            image = part.get("image_url")
            url = image.get("url") if isinstance(image, dict) else image
            if isinstance(url, str):
                images.append(url)
    return "\n".join(texts), tuple(images)


def _calls(calls: Any) -> Iterator[Call]:
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            continue
        inner = call.get("function")
        asked = inner if isinstance(inner, dict) else call
        args = asked.get("arguments")
        args = args if isinstance(args, str) else "" if args is None else json.dumps(args)
        yield Call(_text(call.get("id")), _text(asked.get("name")), args)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

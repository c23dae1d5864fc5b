"""Message lists: one chat message on each line, as agents keep a conversation for the model.

Each has a `role`; assistant messages carry `tool_calls`, tool messages answer one of them by its
id. There are no times and no ends of turns. What the agent itself put into the conversation in
the user's name (summaries, nudges, approvals of plans) is no prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from presentview.lock import is_alive
from presentview.records import Attachment, Compaction, Header, Kind, Record, Tool
from presentview.sidecar import Problem
from presentview.sources.base import Origin, Placed, Poll, Source
from presentview.sources.jsonlines import JsonLines, Value

__all__ = ["SOURCE", "Call", "Message", "collab_of", "message_of", "prompt_record", "records_of"]

_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_SUMMARY_TAG: Final = "<compaction-summary>"
_SUMMARY_END: Final = "</compaction-summary>"
_SUMMARY_STARTS: Final = (_SUMMARY_TAG, "Summary of ")
_STEER_START: Final = "[Mid-turn steer queued by the user."
_NOTE: Final = (
    "Read from the agent's own messages: times, notices, diffs and sub-agents were not recorded"
)
_COLLAB_TOOL: Final = "expert_team_collab"
_COLLAB_MARK: Final = "__expert_collab__"
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
    """One chat message and where it stands.

    `text` is its content without the `images`, which are data URLs or addresses. `reasoning` and
    `calls` are an assistant's, `call` and `name` say which call a tool message answers.
    """

    role: str
    origin: Origin
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


def _fits(value: dict[str, Any]) -> bool:
    """Whether a JSON object is a chat message."""
    role = value.get("role")
    return isinstance(role, str) and role in _ROLES


def message_of(value: Mapping[str, Any], origin: Origin) -> Message | None:
    """The message in a JSON object; None if it has no role that is known."""
    role = value.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        return None
    text, images = _content(value.get("content"))
    return Message(
        role="tool" if role == "function" else role,
        origin=origin,
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


def records_of(messages: Iterable[Message]) -> Iterator[Placed]:
    """What a person saw of these messages, each turn begun by its prompt."""
    for message in messages:
        for record in _records_of(message):
            yield Placed(record, message.origin)


def prompt_record(message: Message, at: int = 0) -> Record:
    """The beginning of a turn whose prompt is `message`."""
    images = tuple(Attachment(path=url, kind="image") for url in message.images)
    return Record(Kind.TURN_STARTED, text=message.text, images=images, at=at)


def _records_of(message: Message) -> Iterator[Record]:
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


class MessagesReader:
    """Reads the message list at `path` (a `presentview.sources.base.Reader`)."""

    def __init__(self, path: Path) -> None:
        self.paths = (path,)
        self.header = Header()
        self.note = _NOTE
        self._lines = JsonLines(path)
        self._strange: list[Problem] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, in the order of the file."""
        return tuple(sorted((*self._lines.all_problems, *self._strange), key=lambda p: p.offset))

    def is_alive(self) -> bool:
        """Whether the file changed a moment ago: nothing else tells."""
        return is_alive(self.paths[0])

    def poll(self) -> Poll:
        """Read what is new; see `presentview.sources.base.Reader.poll`."""
        restarted, found = self._lines.read_on(alive=self.is_alive())
        if restarted:
            self._strange = []
        messages = [message for value in found if (message := self._message(value)) is not None]
        return Poll(list(records_of(messages)), restarted)

    def _message(self, value: Value) -> Message | None:
        message = message_of(value.value, Origin(0, value.offset, value.length, value.line))
        if message is None:
            reason = "not a chat message"
            self._strange.append(Problem(self.paths[0], value.line, value.offset, reason))
        return message

    def close(self) -> None:
        """Nothing is held between looks."""


SOURCE: Final = Source("message list", _fits, MessagesReader)

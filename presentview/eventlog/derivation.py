"""From the events of a session to the messages that its model sees now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from presentview.eventlog.events import EventType, SessionEvent
from presentview.eventlog.payloads import (
    CompactionData,
    ModelMessage,
    SkillLoadData,
    ToolResult,
    TurnContinueData,
)
from presentview.eventlog.sizes import estimate_logical_chars, recorded_chars
from presentview.eventlog.skills import skill_message

__all__ = ["IndexedMessage", "index_messages", "tool_message"]


class IndexedMessage(NamedTuple):
    """A message the model sees, the number of the event it comes from, whether a turn may be said
    to start with it, and its size in bytes of text.
    """

    message: ModelMessage
    seq: int
    is_turn_start: bool
    logical_chars: int


class _Compacted(NamedTuple):
    """What the last compaction left, and the number after which events count again."""

    prefix: tuple[IndexedMessage, ...] = ()
    after: int | None = None


def index_messages(events: Iterable[SessionEvent], agent_id: str = "") -> list[IndexedMessage]:
    """The messages the model of `agent_id` sees: what its last compaction left, then the rest.

    Events of other agents are passed over, unless either side names none. What a skill says comes
    after the result of the call that loaded it, since models want results right after calls.
    """
    mine = [
        event
        for event in events
        if not agent_id or not event.agent_id or event.agent_id == agent_id
    ]
    prefix, after = _compacted(mine)
    messages = list(prefix)
    skills: list[IndexedMessage] = []
    for event in mine:
        if after is not None and event.seq <= after:
            continue
        for indexed in _messages_of(event):
            if event.type == EventType.SKILL_LOAD:
                skills.append(indexed)
                continue
            messages.append(indexed)
            if indexed.message.role == "tool":
                messages += skills
                skills.clear()
    return messages + skills


def tool_message(result: ToolResult) -> ModelMessage:
    """The message by which the model sees the result of one call."""
    return ModelMessage("tool", tool_results=(result,))


def _compacted(events: Sequence[SessionEvent]) -> _Compacted:
    for event in reversed(events):
        if event.type != EventType.COMPACTION:
            continue
        data = event.payload(CompactionData)
        if data is None:
            continue
        summary = _indexed(data.summary, event.seq, is_turn_start=False)
        tail = (
            _indexed(message, data.first_kept_seq, is_turn_start=message.role == "user")
            for message in data.retained_tail
        )
        after = event.seq if data.retained_tail else data.before_seq
        return _Compacted((summary, *tail), after)
    return _Compacted()


def _messages_of(event: SessionEvent) -> Iterator[IndexedMessage]:
    if event.type in (EventType.USER_MESSAGE, EventType.ASSISTANT_MESSAGE):
        message = event.payload(ModelMessage)
        if message is not None:
            is_user = event.type == EventType.USER_MESSAGE
            chars = recorded_chars(event, message)
            yield IndexedMessage(message, event.seq, is_user, chars)
    elif event.type == EventType.TOOL_RESULT:
        result = event.payload(ToolResult)
        if result is not None:
            yield _indexed(tool_message(result), event.seq, is_turn_start=False)
    elif event.type == EventType.SKILL_LOAD:
        load = event.payload(SkillLoadData)
        if load is not None:
            yield _indexed(skill_message(load), event.seq, is_turn_start=True)
    elif event.type == EventType.TURN_CONTINUE:
        turn = event.payload(TurnContinueData)
        for message in turn.messages if turn else ():
            yield _indexed(message, event.seq, is_turn_start=message.role == "user")


def _indexed(message: ModelMessage, seq: int, *, is_turn_start: bool) -> IndexedMessage:
    return IndexedMessage(message, seq, is_turn_start, estimate_logical_chars(message))

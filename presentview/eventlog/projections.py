"""What the events of a session say, each question answered by one pure function.

All of them take the events in the order of the file, not of their numbers, and pass over events
whose payload is undecodable. Where a `seq` is given, only events with a greater one count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, runtime_checkable

from presentview.eventlog.events import EventType, SessionEvent
from presentview.eventlog.gotext import trim
from presentview.eventlog.payloads import (
    ContentPart,
    ModelMessage,
    RunFinishData,
    Todo,
    TodoUpdateData,
    UsageData,
)
from presentview.eventlog.repeats import repeated_tool_calls
from presentview.eventlog.wire import ClassOf, W

__all__ = [
    "ActiveSessions",
    "RunState",
    "finish_after",
    "flatten_text_parts",
    "last_assistant_text",
    "latest_event_seq",
    "latest_todos",
    "latest_usage",
    "pending_todos",
    "resolve_active_session_id",
    "run_start_seq",
    "run_state_from_events",
    "step_count",
    "total_usage",
]

_NO_USAGE = UsageData(0, 0, 0)


class RunState(NamedTuple):
    """What an autonomous run has come to.

    It began at `start_seq`, the last message of the user. `todos` is the task list, `pending`
    what is left of it, `finish` how the run ended (None while it has not), `repeats` how often
    the last call was made in a row, `usage` the tokens of the run and `context` the input tokens
    of the latest request.
    """

    start_seq: int
    todos: tuple[Todo, ...]
    pending: tuple[Todo, ...]
    finish: RunFinishData | None
    repeats: int
    usage: UsageData
    context: int


def run_state_from_events(events: Iterable[SessionEvent]) -> RunState:
    """The state of the last run in the whole log of one session."""
    events = tuple(events)
    start = run_start_seq(events)
    todos = latest_todos(events)
    return RunState(
        start,
        todos,
        pending_todos(todos),
        finish_after(events, start),
        repeated_tool_calls(events, start),
        total_usage(events, start),
        latest_usage(events).input_tokens,
    )


def run_start_seq(events: Iterable[SessionEvent]) -> int:
    """The number of the last message of the user, 0 if there is none."""
    seq = 0
    for event in events:
        if event.type == EventType.USER_MESSAGE:
            seq = event.seq
    return seq


def latest_event_seq(events: Iterable[SessionEvent]) -> int:
    """The greatest number of an event, 0 if there is none."""
    return max((0, *(event.seq for event in events)))


def latest_todos(events: Iterable[SessionEvent]) -> tuple[Todo, ...]:
    """The task list as it was written last."""
    todos: tuple[Todo, ...] = ()
    for update in _payloads(events, EventType.TODO_UPDATE, TodoUpdateData):
        todos = update.items
    return todos


def pending_todos(todos: Iterable[Todo]) -> tuple[Todo, ...]:
    """Those of `todos` that are not done."""
    return tuple(todo for todo in todos if not todo.done)


def step_count(events: Iterable[SessionEvent], seq: int = 0) -> int:
    """How many steps ended after `seq`."""
    return sum(event.type == EventType.STEP_END and event.seq > seq for event in events)


def finish_after(events: Iterable[SessionEvent], seq: int = 0) -> RunFinishData | None:
    """How the run ended after `seq`, None if it did not."""
    finish = None
    for data in _payloads(events, EventType.RUN_FINISH, RunFinishData, seq):
        finish = data
    return finish


def last_assistant_text(events: Iterable[SessionEvent], seq: int = 0) -> str:
    """The text of the last message of the assistant after `seq` that has any, trimmed."""
    last = ""
    for message in _payloads(events, EventType.ASSISTANT_MESSAGE, ModelMessage, seq):
        text = trim("".join(part.text for part in message.content if part.type == "text"))
        last = text or last
    return last


def latest_usage(events: Iterable[SessionEvent]) -> UsageData:
    """The tokens of the last model request, zeros if there was none."""
    latest = _NO_USAGE
    for usage in _payloads(events, EventType.USAGE, UsageData):
        latest = usage
    return latest


def total_usage(events: Iterable[SessionEvent], seq: int = 0) -> UsageData:
    """The tokens of all model requests after `seq`."""
    total = _NO_USAGE
    for usage in _payloads(events, EventType.USAGE, UsageData, seq):
        total = UsageData(
            total.input_tokens + usage.input_tokens,
            total.output_tokens + usage.output_tokens,
            total.total_tokens + usage.total_tokens,
        )
    return total


def flatten_text_parts(parts: Iterable[ContentPart], separator: str = "") -> str:
    """The text of a message's text parts, each trimmed, those with any joined by `separator`.

    A part without a type counts as text.
    """
    texts = (trim(part.text) for part in parts if part.type in ("", "text"))
    return separator.join(text for text in texts if text)


@runtime_checkable
class ActiveSessions(Protocol):
    """A store that knows which session stands behind a lasting key, as after a `/new`."""

    def active_session_id(self, entry_key: str) -> str:
        """The session that `entry_key` means now, empty if none was begun for it."""
        ...


def resolve_active_session_id(store: object, entry_key: str) -> str:
    """The session that `entry_key` means now: the key itself, unless `store` knows of another.

    A store that is no `ActiveSessions` knows none. What looking it up raises is passed on.
    """
    if not entry_key or not isinstance(store, ActiveSessions):
        return entry_key
    return store.active_session_id(entry_key) or entry_key


def _payloads(
    events: Iterable[SessionEvent], type_: str, kind: ClassOf[W], seq: int | None = None
) -> Iterator[W]:
    """The decodable payloads of the events of one type after `seq`."""
    for event in events:
        if event.type == type_ and (seq is None or event.seq > seq):
            data = event.payload(kind)
            if data is not None:
                yield data

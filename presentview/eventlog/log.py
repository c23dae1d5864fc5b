"""The session log as a program writes it: one method for each thing that can happen."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Final, Self

from presentview.eventlog.derivation import IndexedMessage, index_messages
from presentview.eventlog.events import EventType, SessionEvent
from presentview.eventlog.payloads import (
    METADATA_LOGICAL_CHARS,
    CompactionData,
    ModelMessage,
    OverflowRecoveryData,
    RecoveryData,
    RetryEndData,
    RetryStartData,
    RunFinishData,
    SkillLoadData,
    StepEndData,
    StepStartData,
    Todo,
    TodoUpdateData,
    ToolCall,
    ToolResult,
    TurnContinueData,
    TurnEndData,
    TurnStartData,
    UsageData,
)
from presentview.eventlog.projections import latest_event_seq
from presentview.eventlog.recovery import repair_events, scan_interrupted
from presentview.eventlog.sanitising import sanitised_call, sanitised_message
from presentview.eventlog.sizes import estimate_logical_chars
from presentview.eventlog.skills import SkillContent, render_skill_content
from presentview.eventlog.store import Fsync, Store
from presentview.eventlog.wire import Wire, encode

__all__ = ["EventLog"]

_MESSAGES: Final = (EventType.USER_MESSAGE, EventType.ASSISTANT_MESSAGE)


class EventLog:
    """Writes what happens in one session into its `store`, and reads back what models see of it.

    Each `append_...` returns the event as it is stored, with its number, and raises `SaveError`
    where it could not be written. Safe to use from several threads and processes.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, session_id: str = "", fsync: Fsync = "turn"
    ) -> Self:
        """The log at `path`, which is made with the first event; `Store` says what the rest is."""
        return cls(Store(path, session_id=session_id, fsync=fsync))

    def close(self) -> None:
        """Force to the disk what is not there yet. Raises `SaveNotDurable`."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # the conversation

    def append_message(
        self,
        agent_id: str,
        type: str,  # noqa: A002 - what the field is called
        message: ModelMessage,
        *,
        user_id: str = "",
        metadata: dict[str, Any] | None = None,
    ) -> SessionEvent:
        """Record a message; `type` is `EventType.USER_MESSAGE` or `ASSISTANT_MESSAGE`.

        It is stored without media and thoughts; where that makes it smaller, its size before is
        kept in the metadata as `METADATA_LOGICAL_CHARS`. Raises `ValueError` for other types.
        """
        if type not in _MESSAGES:
            raise ValueError(f"type must be one of {', '.join(_MESSAGES)}, not {type!r}")
        size = estimate_logical_chars(message)
        stored = sanitised_message(message)
        metadata = dict(metadata or {})
        if size > estimate_logical_chars(stored):
            metadata[METADATA_LOGICAL_CHARS] = size
        return self.store.append(
            SessionEvent(
                agent_id=agent_id,
                type=type,
                data=encode(stored),
                user_id=user_id,
                metadata=metadata or None,
            )
        )

    def append_tool_call(self, agent_id: str, call: ToolCall) -> SessionEvent:
        """Record a call of a tool. An input that is no JSON is stored as a note of it."""
        return self._append(agent_id, EventType.TOOL_CALL, sanitised_call(call))

    def append_tool_result(self, agent_id: str, result: ToolResult) -> SessionEvent:
        """Record what a call gave, in full."""
        return self._append(agent_id, EventType.TOOL_RESULT, result)

    def append_turn_start(self, agent_id: str) -> SessionEvent:
        """Record that a turn starts."""
        return self._append(agent_id, EventType.TURN_START, TurnStartData())

    def append_turn_end(self, agent_id: str, data: TurnEndData) -> SessionEvent:
        """Record that the turn ends."""
        return self._append(agent_id, EventType.TURN_END, data)

    def append_step_start(self, agent_id: str, step: int) -> SessionEvent:
        """Record that step number `step` of the turn starts."""
        return self._append(agent_id, EventType.STEP_START, StepStartData(step))

    def append_step_end(self, agent_id: str, step: int) -> SessionEvent:
        """Record that step number `step` of the turn ends."""
        return self._append(agent_id, EventType.STEP_END, StepEndData(step))

    # the run

    def append_todo_update(self, agent_id: str, items: Iterable[Todo]) -> SessionEvent:
        """Record the whole task list."""
        return self._append(agent_id, EventType.TODO_UPDATE, TodoUpdateData(tuple(items)))

    def append_run_finish(self, agent_id: str, data: RunFinishData) -> SessionEvent:
        """Record that the run is over."""
        return self._append(agent_id, EventType.RUN_FINISH, data)

    def append_turn_continue(self, agent_id: str, data: TurnContinueData) -> SessionEvent:
        """Record that the turn goes on by itself."""
        return self._append(agent_id, EventType.TURN_CONTINUE, data)

    def append_usage(self, agent_id: str, data: UsageData) -> SessionEvent:
        """Record the tokens of one model request."""
        return self._append(agent_id, EventType.USAGE, data)

    # compaction

    def append_compaction(self, agent_id: str, data: CompactionData) -> SessionEvent:
        """Record that a summary takes the place of what came before."""
        return self._append(agent_id, EventType.COMPACTION, data)

    def append_summarization_retry_start(self, agent_id: str, data: RetryStartData) -> SessionEvent:
        """Record that summarising is tried again."""
        return self._append(agent_id, EventType.SUMMARIZATION_RETRY_START, data)

    def append_summarization_retry_end(self, agent_id: str, data: RetryEndData) -> SessionEvent:
        """Record what came of trying again to summarise."""
        return self._append(agent_id, EventType.SUMMARIZATION_RETRY_END, data)

    def index_for_compaction(self, agent_id: str) -> list[IndexedMessage]:
        """The messages the model of `agent_id` sees, each with the event it comes from.

        Raises `SidecarError` where the file cannot be read.
        """
        return index_messages(self.store.load().events, agent_id)

    # skills

    def render_skill_content(self, content: SkillContent) -> str:
        """The text that a model gets of a loaded skill."""
        return render_skill_content(content)

    def append_skill_load(self, agent_id: str, content: SkillContent) -> str:
        """Record that a skill was loaded; returns the text that `render_skill_content` gives."""
        rendered = render_skill_content(content)
        data = SkillLoadData(
            content.name, content.description, content.body, content.path, rendered
        )
        self._append(agent_id, EventType.SKILL_LOAD, data)
        return rendered

    # recovery

    def append_auto_retry_start(self, agent_id: str, data: RetryStartData) -> SessionEvent:
        """Record that a model request is tried again."""
        return self._append(agent_id, EventType.RETRY_START, data)

    def append_auto_retry_end(self, agent_id: str, data: RetryEndData) -> SessionEvent:
        """Record what came of trying a model request again."""
        return self._append(agent_id, EventType.RETRY_END, data)

    def append_overflow_recovery(self, agent_id: str, data: OverflowRecoveryData) -> SessionEvent:
        """Record what was done about a context that had grown too large."""
        return self._append(agent_id, EventType.OVERFLOW_RECOVERY, data)

    def repair_interrupted_turn(self) -> RecoveryData | None:
        """Close the turn that a dead process left open, and say what was added for that.

        To be called before anything else is appended. Calls without a result are answered as
        interrupted, the open step and the turn end, and a session/recovery event says so: all of
        it in one write. None, and nothing is added, where no turn is open or where somebody
        appends at the same time and so is not dead.
        """
        events = self.store.load().events
        turn = scan_interrupted(events)
        if turn is None:
            return None
        repair = repair_events(turn)
        added = self.store.append_all(repair.events, only_after=latest_event_seq(events))
        return repair.data if added else None

    def _append(self, agent_id: str, type_: str, payload: Wire) -> SessionEvent:
        return self.store.append(SessionEvent(agent_id=agent_id, type=type_, data=encode(payload)))

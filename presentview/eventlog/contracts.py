"""What a caller may ask of a session log, in parts: depend on the smallest that is enough.

An `EventLog` satisfies all of them. Each `append_...` raises `SaveError` where the event could
not be written, and returns it as it is stored otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from presentview.eventlog.derivation import IndexedMessage
from presentview.eventlog.events import SessionEvent
from presentview.eventlog.payloads import (
    CompactionData,
    ModelMessage,
    OverflowRecoveryData,
    RetryEndData,
    RetryStartData,
    RunFinishData,
    Todo,
    ToolCall,
    ToolResult,
    TurnContinueData,
    TurnEndData,
    UsageData,
)
from presentview.eventlog.skills import SkillContent

__all__ = ["Compaction", "Conversation", "Events", "RunLog", "Skills"]


@runtime_checkable
class Conversation(Protocol):
    """What is said and done, in turns and steps."""

    def append_message(
        self,
        agent_id: str,
        type: str,  # noqa: A002 - what the field is called
        message: ModelMessage,
        *,
        user_id: str = "",
        metadata: dict[str, Any] | None = None,
    ) -> SessionEvent:
        """Record a message of the user or the assistant, sanitised."""
        ...

    def append_tool_call(self, agent_id: str, call: ToolCall) -> SessionEvent:
        """Record a call of a tool, sanitised."""
        ...

    def append_tool_result(self, agent_id: str, result: ToolResult) -> SessionEvent:
        """Record what a call gave."""
        ...

    def append_turn_start(self, agent_id: str) -> SessionEvent:
        """Record that a turn starts."""
        ...

    def append_turn_end(self, agent_id: str, data: TurnEndData) -> SessionEvent:
        """Record that the turn ends."""
        ...

    def append_step_start(self, agent_id: str, step: int) -> SessionEvent:
        """Record that step number `step` of the turn starts."""
        ...

    def append_step_end(self, agent_id: str, step: int) -> SessionEvent:
        """Record that step number `step` of the turn ends."""
        ...


@runtime_checkable
class RunLog(Protocol):
    """What steers an autonomous run: its tasks, its end, going on by itself, tokens."""

    def append_todo_update(self, agent_id: str, items: Iterable[Todo]) -> SessionEvent:
        """Record the whole task list."""
        ...

    def append_run_finish(self, agent_id: str, data: RunFinishData) -> SessionEvent:
        """Record that the run is over."""
        ...

    def append_turn_continue(self, agent_id: str, data: TurnContinueData) -> SessionEvent:
        """Record that the turn goes on by itself."""
        ...

    def append_usage(self, agent_id: str, data: UsageData) -> SessionEvent:
        """Record the tokens of one model request."""
        ...


@runtime_checkable
class Compaction(Protocol):
    """What shortens the history of a model, and the history to be shortened."""

    def append_compaction(self, agent_id: str, data: CompactionData) -> SessionEvent:
        """Record that a summary takes the place of what came before."""
        ...

    def append_summarization_retry_start(self, agent_id: str, data: RetryStartData) -> SessionEvent:
        """Record that summarising is tried again."""
        ...

    def append_summarization_retry_end(self, agent_id: str, data: RetryEndData) -> SessionEvent:
        """Record what came of trying again to summarise."""
        ...

    def index_for_compaction(self, agent_id: str) -> list[IndexedMessage]:
        """The messages the model of `agent_id` sees, each with the event it comes from."""
        ...


@runtime_checkable
class Skills(Protocol):
    """Skills that an agent loads."""

    def render_skill_content(self, content: SkillContent) -> str:
        """The text that a model gets of a loaded skill."""
        ...

    def append_skill_load(self, agent_id: str, content: SkillContent) -> str:
        """Record that a skill was loaded; returns the text that `render_skill_content` gives."""
        ...


@runtime_checkable
class Events(Conversation, RunLog, Compaction, Skills, Protocol):
    """All of a session log, with what is recorded of recovering from errors."""

    def append_auto_retry_start(self, agent_id: str, data: RetryStartData) -> SessionEvent:
        """Record that a model request is tried again."""
        ...

    def append_auto_retry_end(self, agent_id: str, data: RetryEndData) -> SessionEvent:
        """Record what came of trying a model request again."""
        ...

    def append_overflow_recovery(self, agent_id: str, data: OverflowRecoveryData) -> SessionEvent:
        """Record what was done about a context that had grown too large."""
        ...

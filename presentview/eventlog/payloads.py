"""What the events of a session log carry.

Each type is written with the keys of the Go package, in its order. Integers are 64 bits wide.
Raw JSON (`Json`, here plain `bytes`) stays as it is spelled, so that no number loses a digit.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from presentview.eventlog.wire import Json, Many, Tagged, Untagged, as_bytes, as_tuples, json_text
from presentview.records import Int64

__all__ = [
    "FINISH_BLOCKED",
    "FINISH_COMPLETED",
    "METADATA_LOGICAL_CHARS",
    "TODO_DONE",
    "TODO_IN_PROGRESS",
    "TODO_PENDING",
    "CompactionData",
    "ContentPart",
    "ModelMessage",
    "OverflowRecoveryData",
    "RecoveryData",
    "RetryEndData",
    "RetryStartData",
    "RunFinishData",
    "SkillLoadData",
    "StepEndData",
    "StepStartData",
    "SubagentEndData",
    "SubagentStartData",
    "Todo",
    "TodoUpdateData",
    "ToolCall",
    "ToolResult",
    "TurnContinueData",
    "TurnEndData",
    "TurnStartData",
    "UsageData",
]

TODO_PENDING: Final = "pending"
TODO_IN_PROGRESS: Final = "in_progress"
TODO_DONE: Final = "done"
"""The statuses of a `Todo`. Whatever is not exactly done is outstanding."""

FINISH_COMPLETED: Final = "completed"
FINISH_BLOCKED: Final = "blocked"
"""The statuses of a `RunFinishData`."""

METADATA_LOGICAL_CHARS: Final = "logical_chars"
"""The metadata key for a message's size before it was sanitised, where that made it smaller."""


class ContentPart(Tagged, frozen=True):
    """A piece of a message: `type` is "text", "image_url", "attachment_ref" and so on."""

    type: str
    text: str = ""
    url: str = ""
    mime: str = ""
    detail: str = ""
    source: str = ""


class ToolCall(Untagged, frozen=True):
    """A call of a tool with its `input` as JSON text; empty where there is none."""

    id: str = ""
    name: str = ""
    input: Json = b""

    def __post_init__(self) -> None:
        as_bytes(self, "input")

    @classmethod
    def of(cls, id: str, name: str, input: Any) -> ToolCall:  # noqa: A002 - the fields' names
        """A call whose `input` is any value that JSON can hold, or `bytes` of JSON."""
        return cls(id, name, json_text(input).encode())


class ToolResult(Untagged, frozen=True):
    """What the call `id` gave. `audit` says how it was decided upon, if anything does."""

    id: str = ""
    name: str = ""
    content: str = ""
    audit: dict[str, Any] | None = None


class ModelMessage(Untagged, frozen=True):
    """A message the model sees; `role` is "user", "assistant" or "tool"."""

    role: str = ""
    content: Many[ContentPart] = ()
    tool_calls: Many[ToolCall] = ()
    tool_results: Many[ToolResult] = ()

    def __post_init__(self) -> None:
        as_tuples(self, "content", "tool_calls", "tool_results")

    @classmethod
    def of(cls, role: str, text: str) -> ModelMessage:
        """A message of nothing but `text`."""
        return cls(role, (ContentPart("text", text),))


class TurnStartData(Tagged, frozen=True):
    """The payload of turn/start, which holds nothing."""


class TurnEndData(Tagged, frozen=True):
    """The payload of turn/end: how many `steps` it had and why it ended."""

    steps: Int64
    stop_reason: str = ""
    step_limit: Int64 = 0
    cancelled: bool = False
    failed: bool = False


class StepStartData(Tagged, frozen=True):
    """The payload of step/start: the step's number in its turn, from 0."""

    step: Int64


class StepEndData(Tagged, frozen=True):
    """The payload of step/end: the step's number in its turn, from 0."""

    step: Int64


class Todo(Tagged, frozen=True):
    """One entry of the task list."""

    id: str
    title: str
    status: str

    @property
    def done(self) -> bool:
        """Whether nothing is left to do of it."""
        return self.status == TODO_DONE


class TodoUpdateData(Tagged, frozen=True):
    """The payload of todo/update: the whole task list as it is from now on."""

    items: Many[Todo]

    def __post_init__(self) -> None:
        as_tuples(self, "items")


class RunFinishData(Tagged, frozen=True):
    """The payload of run/finish: `status` is `FINISH_COMPLETED` or `FINISH_BLOCKED`."""

    status: str
    summary: str = ""


class TurnContinueData(Tagged, frozen=True):
    """The payload of turn/continue: a turn goes on by itself, with `messages` the model sees."""

    segment: Int64
    reason: str
    steps: Int64
    messages: Many[ModelMessage] = ()

    def __post_init__(self) -> None:
        as_tuples(self, "messages")


class UsageData(Tagged, frozen=True):
    """The payload of usage: the tokens of one model request."""

    input_tokens: Int64
    output_tokens: Int64
    total_tokens: Int64


class RetryStartData(Tagged, frozen=True):
    """The payload of retry/start and summarization/retry/start. `delay_ms` is in ms."""

    attempt: Int64
    max_attempts: Int64
    delay_ms: Int64
    error_message: str


class RetryEndData(Tagged, frozen=True):
    """The payload of retry/end and summarization/retry/end."""

    success: bool
    attempt: Int64
    final_error: str = ""


class OverflowRecoveryData(Tagged, frozen=True):
    """The payload of overflow/recovery: how many measures were `applied` to a context that had
    grown too large.
    """

    applied: Int64
    reason: str = ""
    error: str = ""


class RecoveryData(Tagged, frozen=True):
    """The payload of session/recovery: what was added to close an interrupted turn.

    `steps` is how many had ended, `closed_step` the one that was open, -1 for none.
    """

    turn_start_seq: Int64
    steps: Int64
    orphan_results: Int64
    closed_step: Int64
    reason: str


class CompactionData(Tagged, frozen=True, kw_only=True):
    """The payload of session/compaction: `summary` stands for what came before.

    With a `retained_tail` the model sees the summary, the tail and what follows the compaction;
    without one, the summary and what follows `before_seq`. `first_kept_seq` is where the tail
    began.
    """

    before_seq: Int64 = 0
    first_kept_seq: Int64 = 0
    retained_tail: Many[ModelMessage] = ()
    summary: ModelMessage
    kind: str

    def __post_init__(self) -> None:
        as_tuples(self, "retained_tail")


class SkillLoadData(Tagged, frozen=True):
    """The payload of skill/load: a skill's instructions, and the text the model got of them."""

    name: str
    description: str
    body: str
    resource_base: str = ""
    rendered: str = ""


class SubagentStartData(Tagged, frozen=True):
    """The payload of subagent/start: `agent` works on `task` in the session `session`."""

    agent: str
    session: str
    task: str
    is_async: bool = msgspec.field(default=False, name="async")
    job_id: str = ""


class SubagentEndData(Tagged, frozen=True, kw_only=True):
    """The payload of subagent/end: what became of the sub-agent's session."""

    agent: str
    session: str
    status: str
    summary: str = ""
    steps: Int64
    error: str = ""
    job_id: str = ""

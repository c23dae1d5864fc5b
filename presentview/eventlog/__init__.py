"""The session event log: what an agent does as numbered events, one JSON object a line.

The format is that of the Go package `session` of agentkit, with its keys in its order; unlike its
store, ours writes the session and the time of each event too. Several processes may append to one
log at the same time, one that is killed loses nothing it had appended, and a damaged line costs
only itself when the log is read. For example:

    from presentview import eventlog
    from presentview.eventlog import EventType, ModelMessage, ToolCall, ToolResult, TurnEndData

    with eventlog.EventLog.open("today.jsonl") as log:
        log.append_turn_start("coder")
        log.append_message("coder", EventType.USER_MESSAGE, ModelMessage.of("user", "Fix it"))
        log.append_tool_call("coder", ToolCall.of("c1", "read", {"path": "a.py"}))
        log.append_tool_result("coder", ToolResult("c1", "read", "import b"))
        log.append_turn_end("coder", TurnEndData(steps=1))
    events, problems = eventlog.load("today.jsonl")
    print(eventlog.run_state_from_events(events).start_seq)  # 2

What the events say is told by pure functions over any events (`latest_todos`, `total_usage`, …);
all of them pass over what is undecodable. `index_messages` gives what a model would see now.
"""

from __future__ import annotations

from presentview.eventlog.contracts import Compaction, Conversation, Events, RunLog, Skills
from presentview.eventlog.derivation import IndexedMessage, index_messages, tool_message
from presentview.eventlog.events import EventType, SessionEvent, encode_event
from presentview.eventlog.log import EventLog
from presentview.eventlog.payloads import (
    FINISH_BLOCKED,
    FINISH_COMPLETED,
    METADATA_LOGICAL_CHARS,
    TODO_DONE,
    TODO_IN_PROGRESS,
    TODO_PENDING,
    CompactionData,
    ContentPart,
    ModelMessage,
    OverflowRecoveryData,
    RecoveryData,
    RetryEndData,
    RetryStartData,
    RunFinishData,
    SkillLoadData,
    StepEndData,
    StepStartData,
    SubagentEndData,
    SubagentStartData,
    Todo,
    TodoUpdateData,
    ToolCall,
    ToolResult,
    TurnContinueData,
    TurnEndData,
    TurnStartData,
    UsageData,
)
from presentview.eventlog.projections import (
    ActiveSessions,
    RunState,
    finish_after,
    flatten_text_parts,
    last_assistant_text,
    latest_event_seq,
    latest_todos,
    latest_usage,
    pending_todos,
    resolve_active_session_id,
    run_start_seq,
    run_state_from_events,
    step_count,
    total_usage,
)
from presentview.eventlog.reading import (
    Loaded,
    Placed,
    Scan,
    decode_event,
    load,
    read_events,
    read_line,
)
from presentview.eventlog.recovery import (
    InterruptedTurn,
    answered,
    interrupted_result,
    scan_interrupted,
    unanswered,
)
from presentview.eventlog.repeats import RepeatedRun, repeated_runs, repeated_tool_calls
from presentview.eventlog.sanitising import sanitised_call, sanitised_message
from presentview.eventlog.sizes import (
    estimate_logical_chars,
    estimate_messages_chars,
    metadata_int,
    sum_logical_chars_from_events,
)
from presentview.eventlog.skills import SkillContent, render_skill_content
from presentview.eventlog.store import Store

__all__ = [
    "FINISH_BLOCKED",
    "FINISH_COMPLETED",
    "METADATA_LOGICAL_CHARS",
    "TODO_DONE",
    "TODO_IN_PROGRESS",
    "TODO_PENDING",
    "ActiveSessions",
    "Compaction",
    "CompactionData",
    "ContentPart",
    "Conversation",
    "EventLog",
    "EventType",
    "Events",
    "IndexedMessage",
    "InterruptedTurn",
    "Loaded",
    "ModelMessage",
    "OverflowRecoveryData",
    "Placed",
    "RecoveryData",
    "RepeatedRun",
    "RetryEndData",
    "RetryStartData",
    "RunFinishData",
    "RunLog",
    "RunState",
    "Scan",
    "SessionEvent",
    "SkillContent",
    "SkillLoadData",
    "Skills",
    "StepEndData",
    "StepStartData",
    "Store",
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
    "answered",
    "decode_event",
    "encode_event",
    "estimate_logical_chars",
    "estimate_messages_chars",
    "finish_after",
    "flatten_text_parts",
    "index_messages",
    "interrupted_result",
    "last_assistant_text",
    "latest_event_seq",
    "latest_todos",
    "latest_usage",
    "load",
    "metadata_int",
    "pending_todos",
    "read_events",
    "read_line",
    "render_skill_content",
    "repeated_runs",
    "repeated_tool_calls",
    "resolve_active_session_id",
    "run_start_seq",
    "run_state_from_events",
    "sanitised_call",
    "sanitised_message",
    "scan_interrupted",
    "step_count",
    "sum_logical_chars_from_events",
    "tool_message",
    "total_usage",
    "unanswered",
]

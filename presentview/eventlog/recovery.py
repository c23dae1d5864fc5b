"""A turn that was cut off: finding it, and what has to be recorded to go on from it.

A process that dies leaves a turn that never ended, and calls that nothing answers: models refuse
messages with such calls. Only the last turn can be one of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from presentview.eventlog.derivation import IndexedMessage, tool_message
from presentview.eventlog.events import EventType, SessionEvent
from presentview.eventlog.payloads import (
    ModelMessage,
    RecoveryData,
    StepEndData,
    StepStartData,
    ToolCall,
    ToolResult,
    TurnEndData,
)
from presentview.eventlog.sizes import estimate_logical_chars
from presentview.eventlog.wire import Wire, encode

__all__ = [
    "InterruptedTurn",
    "Repair",
    "answered",
    "interrupted_result",
    "repair_events",
    "scan_interrupted",
    "unanswered",
]

INTERRUPTED: Final = "interrupted"
INTERRUPTED_TEXT: Final = (
    "interrupted: the process ended before this call gave a result. Whether it took effect is not "
    "known; call again if the result is needed."
)
_REASON: Final = "turn/start without turn/end"


class InterruptedTurn(NamedTuple):
    """A turn that began with event `start_seq` and never ended.

    `steps_ended` of `steps_started` steps are over; `open_step` is the number of the one that is
    not, None if there is none. `orphans` are the calls without a result.
    """

    start_seq: int
    agent_id: str = ""
    steps_started: int = 0
    steps_ended: int = 0
    open_step: int | None = None
    orphans: tuple[ToolCall, ...] = ()


class Repair(NamedTuple):
    """The `events` that close an interrupted turn, and the `data` of the last of them."""

    events: tuple[SessionEvent, ...]
    data: RecoveryData


def scan_interrupted(events: Iterable[SessionEvent]) -> InterruptedTurn | None:
    """The turn at the end of `events` that has not ended, None if the last one has."""
    turn: InterruptedTurn | None = None
    events = tuple(events)
    for event in events:
        if event.type == EventType.TURN_START:
            turn = InterruptedTurn(event.seq, event.agent_id)
        elif event.type == EventType.TURN_END:
            turn = None
        elif turn is None:
            continue
        elif event.type == EventType.STEP_START:
            step = event.payload(StepStartData)
            number = turn.open_step if step is None else step.step
            turn = turn._replace(steps_started=turn.steps_started + 1, open_step=number)
        elif event.type == EventType.STEP_END:
            turn = turn._replace(steps_ended=turn.steps_ended + 1, open_step=None)
    return turn._replace(orphans=_orphans(events, turn.start_seq)) if turn else None


def repair_events(turn: InterruptedTurn) -> Repair:
    """What has to be recorded to close `turn`: a result for each orphan, the end of the open
    step, the end of the turn, and a note that this was done.
    """
    step = turn.open_step
    closed = -1 if step is None else step
    data = RecoveryData(turn.start_seq, turn.steps_ended, len(turn.orphans), closed, _REASON)
    payloads: list[tuple[str, Wire]] = [
        *((EventType.TOOL_RESULT, interrupted_result(call)) for call in turn.orphans),
        *(
            (EventType.STEP_END, StepEndData(step))
            for step in (turn.open_step,)
            if step is not None
        ),
        (EventType.TURN_END, TurnEndData(turn.steps_ended)),
        (EventType.RECOVERY, data),
    ]
    events = tuple(
        SessionEvent(agent_id=turn.agent_id, type=type_, data=encode(payload))
        for type_, payload in payloads
    )
    return Repair(events, data)


def interrupted_result(call: ToolCall) -> ToolResult:
    """The result of a call that never gave one, for the model to know of it."""
    return ToolResult(call.id, call.name, INTERRUPTED_TEXT, {"decision": INTERRUPTED})


def unanswered(messages: Sequence[ModelMessage]) -> list[tuple[int, ToolCall]]:
    """Each call in `messages` that no result answers, with the number of its message from 0.

    A result answers one call with its id, the nearest in front of it that is still open.
    """
    open_calls: dict[str, list[tuple[int, ToolCall]]] = {}
    for number, message in enumerate(messages):
        for call in message.tool_calls:
            open_calls.setdefault(call.id, []).append((number, call))
        for result in message.tool_results:
            if waiting := open_calls.get(result.id):
                waiting.pop()
    found = (waiting for calls in open_calls.values() for waiting in calls)
    return sorted(found, key=lambda waiting: waiting[0])


def answered(messages: Sequence[IndexedMessage]) -> list[IndexedMessage]:
    """`messages` with an `interrupted_result` for each call that no result answers.

    It stands behind the results that its message has, and bears the number of that message.
    """
    missing: dict[int, list[ToolCall]] = {}
    for number, call in unanswered([each.message for each in messages]):
        missing.setdefault(number, []).append(call)
    whole: list[IndexedMessage] = []
    waiting: list[IndexedMessage] = []
    for number, indexed in enumerate(messages):
        if indexed.message.role != "tool":
            whole += waiting
            waiting = []
        whole.append(indexed)
        waiting += (_interrupted(call, indexed.seq) for call in missing.get(number, ()))
    return whole + waiting


def _interrupted(call: ToolCall, seq: int) -> IndexedMessage:
    message = tool_message(interrupted_result(call))
    return IndexedMessage(message, seq, False, estimate_logical_chars(message))


def _orphans(events: Sequence[SessionEvent], seq: int) -> tuple[ToolCall, ...]:
    """The calls of assistants after `seq` without a result; each result answers one call."""
    results: Counter[str] = Counter()
    calls: list[ToolCall] = []
    for event in events:
        if event.seq <= seq:
            continue
        if event.type == EventType.TOOL_RESULT:
            result = event.payload(ToolResult)
            results.update(() if result is None else (result.id,))
        elif event.type == EventType.ASSISTANT_MESSAGE:
            message = event.payload(ModelMessage)
            calls += () if message is None else message.tool_calls
    orphans = []
    for call in calls:
        if results[call.id] > 0:
            results[call.id] -= 1
        else:
            orphans.append(call)
    return tuple(orphans)

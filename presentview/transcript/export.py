"""The transcript as plain data, for `show --json` and the session's `.json` address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from presentview.records import Record, Tool
from presentview.transcript.cards import Approval, Card, Part, ToolCard, Turn, UsageCard
from presentview.transcript.collab import read_collab
from presentview.transcript.fold import Transcript

__all__ = ["ReadPart", "call_texts", "export_card", "export_cards", "part_text"]

ReadPart = Callable[[Part], Record | None]
"""Gives the record a part stands for, None where it cannot be read any more."""


def export_cards(
    transcript: Transcript, read: ReadPart, *, alive: bool
) -> Iterator[dict[str, Any]]:
    """Every card in page order, parents first, each as a dict of JSON values.

    Keys: `id`, `kind`, `parent` (a card id or None), `depth`, `turn`, `status`, `at` (unix ms
    or None), `duration_ms` (None: not known), and what the kind has besides.
    """
    for card in transcript.walk():
        yield export_card(card, transcript.turn_of(card), read, alive=alive)


def export_card(card: Card, turn: Turn, read: ReadPart, *, alive: bool) -> dict[str, Any]:
    """One card as a dict of JSON values."""
    out: dict[str, Any] = {
        "id": card.id,
        "kind": card.kind,
        "parent": card.parent.id if card.parent else None,
        "depth": card.depth,
        "turn": card.turn,
        "status": card.status(alive=alive),
        "at": card.at or None,
        "duration_ms": card.duration_ms,
    }
    if isinstance(card, ToolCard):
        out |= _call(card, read)
    elif isinstance(card, UsageCard):
        out |= {
            "input_tokens": card.input,
            "output_tokens": card.output,
            "total_tokens": card.total,
            "cached_tokens": card.cached,
            "requests": card.requests,
            "steps": card.steps or None,
            "turn_ms": turn.duration_ms,
        }
    else:
        out |= _other(card, read)
    return out


def _call(card: ToolCard, read: ReadPart) -> dict[str, Any]:
    texts = call_texts(card, read)
    return {
        "name": card.name,
        "face": card.tool_face,
        "call": card.call,
        "subject": card.face,
        "read_only": card.read_only,
        "background": card.background,
        "truncated": card.truncated,
        "args": texts.args,
        "output": texts.output,
        "err": texts.err,
        "diff": texts.diff,
        "added": card.added,
        "removed": card.removed,
        "attachments": [{"path": item.path, "kind": item.kind} for item in texts.attachments],
        "model": card.model or None,
        "effort": card.effort or None,
        "steps": card.steps,
        "errors": card.faults,
        "tokens": card.tokens,
        "approval": _approval(card.approval),
        "note": card.note or None,
    }


def _approval(approval: Approval | None) -> dict[str, Any] | None:
    if approval is None:
        return None
    return {
        "asked_at": approval.asked_at or None,
        "answered_at": approval.answered_at or None,
        "waited_ms": approval.waited,
        "answer": approval.answer or None,
    }


def _other(card: Card, read: ReadPart) -> dict[str, Any]:
    record = read(card.parts[0]) if card.parts else None
    if card.kind == "compaction":
        done = record.compaction if record else None
        return {
            "trigger": card.face or None,
            "messages": card.count,
            "summary": done.summary if done else "",
            "archive": done.archive if done else "",
        }
    if card.kind == "collab":
        return {"collab": _collab_fields(record)}
    out: dict[str, Any] = {"text": part_text(card, read)}
    if card.kind == "approval":
        out |= {"answer": card.level or None}
    elif card.kind == "notice":
        out |= {"level": card.level, "count": card.count}
    elif card.kind == "retry" and record is not None and record.retry is not None:
        out |= {"attempt": record.retry.attempt, "max": record.retry.max or None}
    elif card.kind == "unknown":
        out["record_kind"] = record.kind if record else card.face
    return out


def _collab_fields(record: Record | None) -> dict[str, Any]:
    collab = read_collab(record.collab if record else None)
    return {
        "run_id": collab.run_id,
        "team": collab.team,
        "task": collab.task,
        "mode": collab.mode,
        "rounds": [
            [{"expert": said.expert, "text": said.text} for said in one] for one in collab.rounds
        ],
        "synthesis": collab.synthesis,
    }


def part_text(card: Card, read: ReadPart) -> str:
    """The whole text of a card that is text: the streamed pieces joined, or the final message."""
    pieces: list[str] = []
    for part in card.parts:
        record = read(part)
        if record is not None:
            whole = card.kind == "reasoning" and record.kind == "message"
            pieces.append(record.reasoning if whole else record.text)
    return "".join(pieces)


class CallTexts:
    """What a call's records hold: `args`, `output` (or the progress so far), `err`, `diff` and
    `attachments`.
    """

    __slots__ = ("args", "attachments", "diff", "err", "output")

    def __init__(self, card: ToolCard, read: ReadPart) -> None:
        dispatch = _tool(card.dispatch, read)
        result = _tool(card.result, read)
        diff = _tool(card.diff, read).file_diff
        self.args = dispatch.args
        self.err = result.err
        self.output = result.output or "".join(_tool(part, read).output for part in card.progress)
        self.diff = diff.diff if diff else ""
        self.attachments = result.attachments or dispatch.attachments


def call_texts(card: ToolCard, read: ReadPart) -> CallTexts:
    """Read a call's arguments, output, error, diff and attachments from its records."""
    return CallTexts(card, read)


def _tool(part: Part | None, read: ReadPart) -> Tool:
    record = read(part) if part is not None else None
    return (record.tool if record else None) or Tool()

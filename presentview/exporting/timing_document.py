"""The times of a session as plain data: what `timings --json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from presentview.follow import Follower
from presentview.sessions import session_id
from presentview.transcript.agents import AgentRun, agent_runs
from presentview.transcript.fold import Transcript
from presentview.transcript.shown import shown_ms
from presentview.transcript.timings import Figures, Span, Step, Timings, by_own, timings_of
from presentview.units import path_text

__all__ = ["figures_document", "timing_document", "timing_document_json"]


def timing_document(follower: Follower) -> dict[str, Any]:
    """`{"session", "spans", "turns", "agents", "tools", "critical_path"}`, all of it JSON values.

    Times are unix ms (of a session without recorded ones: ms from its beginning), durations ms,
    and null means: not known. `docs/timings.md` says what each of them is.
    """
    transcript, alive = follower.transcript, follower.alive
    timings = timings_of(transcript)
    whole = timings.whole
    session = {
        "id": session_id(follower.session_path),
        "path": path_text(follower.path),
        "title": transcript.title,
        "start_ms": whole.start if whole else None,
        "end_ms": whole.end if whole else None,
    }
    return {
        "session": session | figures_document(timings.session),
        "spans": [_span(span, timings, alive) for span in timings.spans],
        "turns": [_turn(number, one, transcript) for number, one in timings.turns.items()],
        "agents": [_agent(run) for run in agent_runs(transcript, timings)],
        "tools": _tools(timings.tools),
        "critical_path": _path(timings.critical_path()),
    }


def timing_document_json(follower: Follower) -> bytes:
    """The `timing_document` as JSON text."""
    return orjson.dumps(timing_document(follower))


def figures_document(one: Figures) -> dict[str, Any]:
    """Figures as JSON values; `max_ms` is the longest call."""
    return {
        "calls": one.calls,
        "errors": one.errors,
        "unknown": one.unknown,
        "wall_ms": one.wall,
        "own_ms": one.own,
        "total_ms": one.total,
        "busy_ms": one.busy,
        "parallelism": one.parallelism,
        "p50_ms": one.p50,
        "p95_ms": one.p95,
        "max_ms": one.longest,
        "share": one.share,
        "waited_ms": one.waited,
        "approval_ms": one.approval,
        "outside_ms": one.outside,
        "inferred": one.inferred,
        "own_inferred": one.own_inferred,
    }


def _span(span: Span, timings: Timings, alive: bool) -> dict[str, Any]:
    card = span.card
    outer = timings.spans[span.parent].card if span.parent >= 0 else None
    return {
        "call": card.call,
        "card": card.id,
        "name": card.name,
        "subject": card.face,
        "parent": outer.call if outer else None,
        "parent_card": outer.id if outer else None,
        "lane": span.lane or None,
        "turn": card.turn,
        "dispatched_ms": span.asked,
        "start_ms": span.asked if span.start is None else span.start,
        "end_ms": span.end,
        "waited_ms": span.waited,
        "approval_ms": span.approval_waited,
        "duration_ms": shown_ms(span),
        "own_ms": span.own,
        "state": card.status(alive=alive),
        "inferred": span.inferred,
        "own_inferred": span.own_inferred,
        "marks": list(span.marks),
    }


def _turn(number: int, one: Figures, transcript: Transcript) -> dict[str, Any]:
    turn = transcript.turns[number - transcript.turns[0].number]
    prompt = turn.prompt.face if turn.prompt else None
    return {"turn": number, "prompt": prompt} | figures_document(one)


def _agent(run: AgentRun) -> dict[str, Any]:
    named = {
        "card": run.card.id if run.card else None,
        "name": run.name,
        "model": run.model or None,
        "effort": run.effort or None,
        "tokens": run.tokens,
        "steps": run.steps,
        "faults": run.faults,
    }
    return named | figures_document(run.figures)


def _tools(tools: Mapping[str, Figures]) -> list[dict[str, Any]]:
    return [{"name": name} | figures_document(one) for name, one in by_own(tools)]


def _path(steps: Iterable[Step]) -> list[dict[str, Any]]:
    return [
        {
            "start_ms": step.start,
            "end_ms": step.end,
            "call": step.call.card.call if step.call else None,
            "card": step.call.card.id if step.call else None,
            "within": step.within.card.call if step.within else None,
        }
        for step in steps
    ]

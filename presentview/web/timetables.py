"""The tables of the timings page: tools, the slowest calls, the agents, the critical path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from presentview import units
from presentview.limits import AGENTS_COMPARED, NAME_CHARS, SUBJECT_CHARS
from presentview.transcript.agents import AgentRun, longest_runs
from presentview.transcript.cards import BAD
from presentview.transcript.faces import tool_face
from presentview.transcript.spans import union_ms
from presentview.transcript.timings import Figures, Step, Timings
from presentview.web.timeview import SORTS

__all__ = [
    "AgentLine",
    "Fact",
    "PathLine",
    "SlowLine",
    "ToolLine",
    "agent_lines",
    "facts_of",
    "path_lines",
    "slow_lines",
    "tool_lines",
]

_SLOWEST: Final = 10
_PATH: Final = 6
_TOOLS: Final = 100
_PAUSE_MS: Final = 1000


class Fact(NamedTuple):
    """A figure with its name; `card_id` is where it leads, `note` what it means."""

    name: str
    text: str
    note: str = ""
    card_id: str = ""


class ToolLine(NamedTuple):
    """One tool: its figures in words, and how its own time compares with the most (%)."""

    name: str
    css_class: str
    calls: str
    errors: str
    own: str
    total: str
    p50: str
    p95: str
    longest: str
    share: str
    width: float


class SlowLine(NamedTuple):
    """One of the slowest calls; `width` compares it with the slowest (%)."""

    card_id: str
    name: str
    subject: str
    time: str
    note: str
    is_bad: bool
    width: float


class AgentLine(NamedTuple):
    """One run of an agent, in words; `width` compares its wall time with the longest (%)."""

    card_id: str
    name: str
    depth: int
    steps: str
    errors: str
    wall: str
    busy: str
    outside: str
    tokens: str
    profile: str
    width: float


class PathLine(NamedTuple):
    """What takes part of the critical path: so much of it in words and in %."""

    name: str
    css_class: str
    time: str
    share: str
    width: float


def _parallelism(one: Figures) -> str:
    if one.parallelism is None:
        return ""
    return f"{'≤ ' if one.inferred else ''}{one.parallelism:.2f}"


def _in_tools(one: Figures) -> str:
    if not one.busy:
        return ""
    # Of two bounds no share can be told.
    share = "" if one.inferred else f" · {units.percent(one.share)}"
    return units.bounded(one.busy, "≥", inferred=one.inferred) + share


def _between(timings: Timings) -> int | None:
    """How long of the session was in no turn, None if that is next to nothing, or not known."""
    one, windows = timings.session, timings.turn_windows.values()
    if one.wall is None or one.inferred or any(window.inferred for window in windows):
        return None
    between = one.wall - union_ms([(window.start, window.end) for window in windows])
    return between if between >= _PAUSE_MS else None


def facts_of(timings: Timings) -> list[Fact]:
    """The figures of the whole session."""
    one = timings.session
    longest = timings.longest
    facts = [
        Fact(
            "Wall", units.bounded(one.wall, "≥", inferred=one.inferred), "from the first record on"
        ),
        Fact(
            "In tools",
            _in_tools(one),
            "the time in which at least one call ran, and its share of the wall time",
        ),
        Fact("Outside tools", units.duration(one.outside), "the model, you, everything else"),
        Fact("Between turns", units.duration(_between(timings)), "waiting for you, a part of that"),
        Fact(
            "Parallelism",
            _parallelism(one),
            "what the calls took themselves, by the time in which any of them ran",
        ),
        Fact(
            "Waited",
            units.duration(one.waited) if one.waited else "",
            "calls, before they ran, for an approval that is not recorded or for their turn",
        ),
    ]
    if one.approval is not None:
        facts.append(
            Fact("Approvals", units.duration(one.approval), "calls, until somebody allowed them")
        )
    if longest is not None:
        name = f"{longest.card.name} {longest.card.face}".strip()[:SUBJECT_CHARS]
        text = units.duration(longest.duration)
        facts.append(Fact("Longest call", text, name, longest.card.id))
    return facts


_KEYS: Final[dict[str, Callable[[tuple[str, Figures]], Any]]] = {
    "own": lambda pair: -pair[1].own,
    "sum": lambda pair: -pair[1].total,
    "calls": lambda pair: -pair[1].calls,
    "errors": lambda pair: -pair[1].errors,
    "p50": lambda pair: -(pair[1].p50 or -1),
    "p95": lambda pair: -(pair[1].p95 or -1),
    "max": lambda pair: -(pair[1].longest or -1),
    "share": lambda pair: -(pair[1].share or -1),
    "name": lambda pair: pair[0],
}


def tool_lines(timings: Timings, sort: str) -> list[ToolLine]:
    """The tools in the order of `sort`, one of `SORTS` (empty: the first)."""
    ordered = sorted(timings.tools.items(), key=lambda pair: pair[0])
    ordered.sort(key=_KEYS[sort or SORTS[0]])
    most = max((one.own for _, one in ordered), default=0)
    return [
        ToolLine(
            name[:NAME_CHARS] or "unnamed",
            "agent" if tool_face(name) == "agent" else "call",
            f"{one.calls:,}",
            f"{one.errors:,}" if one.errors else "",
            units.bounded(one.own, "≤", inferred=one.own_inferred) if one.total else "",
            units.duration(one.total) if one.total else "",
            units.duration(one.p50),
            units.duration(one.p95),
            units.duration(one.longest),
            "" if one.inferred else units.percent(one.share),
            round(100 * one.own / most, 2) if most else 0,
        )
        for name, one in ordered[:_TOOLS]
    ]


def slow_lines(timings: Timings) -> list[SlowLine]:
    """The calls that took longest."""
    known = [span for span in timings.spans if span.duration]
    known.sort(key=lambda span: (-(span.duration or 0), span.card.number))
    most = (known[0].duration or 1) if known else 1
    return [
        SlowLine(
            span.card.id,
            span.card.name[:NAME_CHARS] or "unnamed",
            span.card.face[:SUBJECT_CHARS],
            units.duration(span.duration),
            f"waited {units.duration(span.waited)}" if span.waited else "",
            span.state in BAD,
            round(100 * (span.duration or 0) / most, 2),
        )
        for span in known[:_SLOWEST]
    ]


def agent_lines(runs: Sequence[AgentRun]) -> list[AgentLine]:
    """The agents side by side: the main one, and of many runs the longest."""
    most = max((run.figures.wall or 0 for run in runs[1:]), default=0)
    return [_agent_line(run, most) for run in longest_runs(runs, AGENTS_COMPARED)]


def _agent_line(run: AgentRun, most: int) -> AgentLine:
    one = run.figures
    wall = one.wall or 0
    return AgentLine(
        run.card.id if run.card else "",
        run.name[:SUBJECT_CHARS],
        min(run.depth, 3),
        f"{run.steps:,}",
        f"{run.faults:,}" if run.faults else "",
        units.bounded(one.wall, "≥", inferred=one.inferred),
        units.duration(one.busy) if one.busy else "",
        units.duration(one.outside),
        f"{run.tokens:,}" if run.tokens is not None else "",
        " · ".join(part[:NAME_CHARS] for part in (run.model, run.effort) if part),
        round(100 * wall / most, 2) if most and run.card else 0,
    )


def path_lines(steps: Iterable[Step]) -> list[PathLine]:
    """What the critical path consists of, by tool, the most first."""
    taken: dict[str | None, int] = {}
    for step in steps:
        name = step.call.card.name if step.call else None
        taken[name] = taken.get(name, 0) + step.length
    whole = sum(taken.values())
    ordered = sorted(taken.items(), key=lambda pair: (-pair[1], pair[0] or ""))
    return [
        PathLine(
            "outside tools" if name is None else name[:NAME_CHARS] or "unnamed",
            "wait" if name is None else "agent" if tool_face(name) == "agent" else "call",
            units.duration(ms),
            units.percent(ms / whole),
            round(100 * ms / whole, 2),
        )
        for name, ms in ordered[:_PATH]
        if whole
    ]

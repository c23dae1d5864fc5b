"""The times of a session for a terminal: figures, tools, sub-agents, and a waterfall of bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from presentview import units
from presentview.exporting.columns import Column, table
from presentview.follow import Follower
from presentview.terminal import safe_line
from presentview.transcript.agents import AgentRun, agent_runs, longest_runs
from presentview.transcript.cards import BAD
from presentview.transcript.durations import ABSURD
from presentview.transcript.shown import shown_ms
from presentview.transcript.timemap import TimeMap
from presentview.transcript.timings import Figures, Span, Timings, by_own, timings_of

__all__ = ["MOST_AGENTS", "MOST_ROWS", "figures_line", "timing_lines", "tool_rows"]

MOST_ROWS: Final = 100
"""Calls a waterfall draws unless all are asked for: the longest, and those they are nested in."""

MOST_AGENTS: Final = 20
"""Agents that are listed unless all are asked for: the main one and the longest runs."""

_LABEL: Final = 36
_DEEPEST: Final = 8
_TIME: Final = 11
TOOL_COLUMNS: Final = (
    Column("tool"),
    Column("calls", is_number=True),
    Column("errors", is_number=True),
    Column("own", is_number=True),
    Column("sum", is_number=True),
    Column("p50", is_number=True),
    Column("p95", is_number=True),
    Column("max", is_number=True),
    Column("share", is_number=True),
)
_AGENT_COLUMNS: Final = (
    Column("agent"),
    Column("steps", is_number=True),
    Column("errors", is_number=True),
    Column("wall", is_number=True),
    Column("in tools", is_number=True),
    Column("tokens", is_number=True),
    Column("model"),
)


def timing_lines(follower: Follower, *, width: int, draws_all: bool = False) -> Iterator[str]:
    """The figures and the waterfall as lines of at most about `width` characters; of a long
    session the waterfall leaves out the short calls unless it `draws_all`.
    """
    transcript, alive = follower.transcript, follower.alive
    timings = timings_of(transcript)
    session = timings.session
    yield safe_line(transcript.title or follower.path.name)
    turns = sum(1 for turn in transcript.turns if turn.prompt)
    yield f"{units.plural(turns, 'turn')} · {figures_line(session)}"
    if session.inferred:
        yield (
            "Not every time is recorded: what the order of the records gives is a bound "
            "(≥ at least, ≤ at most)."
        )
    if not timings.spans:
        return
    yield ""
    yield from table(TOOL_COLUMNS, tool_rows(timings.tools))
    runs = list(agent_runs(transcript, timings))
    if len(runs) > 1:
        yield ""
        yield from _agents(runs, draws_all=draws_all)
    yield from _waterfall(timings, alive=alive, width=width, draws_all=draws_all)


def _agents(runs: Sequence[AgentRun], *, draws_all: bool) -> Iterator[str]:
    shown = runs if draws_all else longest_runs(runs, MOST_AGENTS)
    rows = [
        (
            "  " * min(run.depth, _DEEPEST) + safe_line(run.name)[:_LABEL],
            f"{run.steps:,}",
            f"{run.faults:,}" if run.faults else "",
            units.bounded(run.figures.wall, "≥", inferred=run.figures.inferred),
            units.duration(run.figures.busy) if run.figures.busy else "",
            f"{run.tokens:,}" if run.tokens is not None else "",
            safe_line(" · ".join(part for part in (run.model, run.effort) if part)),
        )
        for run in shown
    ]
    yield from table(_AGENT_COLUMNS, rows)
    if len(shown) < len(runs):
        yield f"{units.plural(len(runs) - len(shown), 'shorter run')} not shown (--all shows all)"


def figures_line(one: Figures) -> str:
    """Figures in one line of words."""
    inferred = one.inferred
    parts = [
        units.plural(one.calls, "call"),
        units.plural(one.errors, "error") if one.errors else "",
        f"wall {units.bounded(one.wall, '≥', inferred=inferred)}" if one.wall is not None else "",
        f"own {units.bounded(one.own, '≤', inferred=one.own_inferred)}" if one.own else "",
        f"parallelism {'≤ ' if inferred else ''}{one.parallelism:.2f}" if one.parallelism else "",
        f"outside tools {units.duration(one.outside)}" if one.outside is not None else "",
        f"waited {units.duration(one.waited)}" if one.waited else "",
        f"approvals {units.duration(one.approval)}" if one.approval else "",
        f"{one.unknown:,} of unknown length" if one.unknown else "",
    ]
    return " · ".join(part for part in parts if part)


def tool_rows(tools: Mapping[str, Figures]) -> Iterator[Sequence[str]]:
    """The rows of the table of tools, the one that took most itself first."""
    for name, one in by_own(tools):
        yield (
            safe_line(name)[:_LABEL] or "unnamed",
            f"{one.calls:,}",
            f"{one.errors:,}" if one.errors else "",
            units.bounded(one.own, "≤", inferred=one.own_inferred) if one.total else "",
            units.duration(one.total) if one.total else "",
            units.duration(one.p50),
            units.duration(one.p95),
            units.duration(one.longest),
            "" if one.inferred else units.percent(one.share),
        )


# the waterfall


def _waterfall(timings: Timings, *, alive: bool, width: int, draws_all: bool) -> Iterator[str]:
    spans = timings.spans
    line = TimeMap(_stretches(spans), cuts_outliers=True)
    if not line:
        return
    shown = range(len(spans)) if draws_all else _longest(spans, MOST_ROWS)
    columns = max(20, width - _LABEL - _TIME - 2)
    yield ""
    length = units.duration(line.length)
    yield f"{'':{_LABEL}} 0{length:>{columns - 1}}"
    depths: dict[int, int] = {}
    turn = -1
    for index, span in enumerate(spans):
        depths[index] = depths[span.parent] + 1 if span.parent >= 0 else 0
        if index not in shown:
            continue
        if span.card.turn != turn and span.parent < 0:
            turn = span.card.turn
            yield f"turn {turn}"
        yield _row(span, depths[index], line, columns, alive=alive)
    if len(shown) < len(spans):
        yield units.plural(len(spans) - len(shown), "shorter call") + " not drawn (--all draws all)"
    cuts = [
        f"{units.duration(cut.idle)} {'drawn shorter' if cut.is_busy else 'pause'}"
        for cut in line.breaks(6)
    ]
    if cuts:
        yield f"cut short: {', '.join(cuts)}"
    if any(span.inferred for span in spans):
        yield "▒ is inferred from the order of the records"


def _stretches(spans: Iterable[Span]) -> Iterator[tuple[int, int]]:
    for span in spans:
        start = span.begin
        if start is not None:
            known = span.end is not None and span.start is not None
            yield start, max(start, span.end) if known and span.end is not None else start


def _longest(spans: Sequence[Span], most: int) -> set[int]:
    """Which calls are the longest, and which those are nested in."""
    ordered = sorted(range(len(spans)), key=lambda i: -(spans[i].duration or 0))
    found: set[int] = set()
    for index in ordered[:most]:
        at = index
        while at >= 0 and at not in found:
            found.add(at)
            at = spans[at].parent
    return found


def _row(span: Span, depth: int, line: TimeMap, columns: int, *, alive: bool) -> str:
    card = span.card
    name = "  " * min(depth, _DEEPEST) + f"{safe_line(card.name) or 'unnamed'} "
    label = (name + safe_line(card.face))[:_LABEL]
    status = card.status(alive=alive) or ""
    time = units.duration(span.duration) or (status if span.end is None else "?")
    marks = " ".join(
        word
        for word in (
            "✕" if card.state in BAD else "",
            *span.marks,
            units.duration(shown_ms(span)) if ABSURD in span.marks else "",
        )
        if word
    )
    return f"{label:{_LABEL}} {_bar(span, line, columns)} {time:>{_TIME - 1}} {marks}".rstrip()


def _bar(span: Span, line: TimeMap, columns: int) -> str:
    """A bar of characters: waited `·`, ran `█` (inferred `▒`), without an end `»`."""
    cells = [" "] * columns

    def fill(start: int, end: int, character: str) -> None:
        first = min(columns - 1, int(line.x(start) * columns / 100))
        last = min(columns - 1, max(first, int(line.x(end) * columns / 100 - 1e-9)))
        cells[first : last + 1] = [character] * (last - first + 1)

    if span.start is None or span.end is None:
        if span.asked is not None:
            fill(span.asked, span.asked, "»" if span.end is None else "?")
        return "".join(cells)
    if span.asked is not None and span.asked < span.start:
        fill(span.asked, span.start, "·")
    fill(span.start, span.end, "▒" if span.inferred else "█")
    return "".join(cells)

"""The band under the top bar: one row per agent, and in it what it did when.

However long the session, the drawing has few elements: what lies close together becomes one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import msgspec
from markupsafe import Markup

from presentview import units
from presentview.transcript.cards import Card, ToolCard
from presentview.transcript.faces import tool_face
from presentview.transcript.fold import Transcript
from presentview.transcript.timemap import Break, TimeMap
from presentview.transcript.timings import MAIN, Span, Timings
from presentview.web.bars import Shape, Stretch, calls_drawn, drawn
from presentview.web.glyphs import Glyph, Marked, glyphs_of, marked_cards
from presentview.web.lanes import Lane, packed, runs_of
from presentview.web.templating import render
from presentview.web.timed import timed
from presentview.web.timetables import Fact, facts_of

__all__ = ["AT_ONCE_CARDS", "Band", "Beside", "band_of", "beside"]

AT_ONCE_CARDS: Final = 5_000
"""Cards of a session up to which the band comes with the page; else the page asks for it."""

ROWS: Final = 12
TOOLS: Final = 5
_BREAKS: Final = 6
_TURN_BARS: Final = 12
_MAIN_BARS: Final = 32
_SUB_BARS: Final = 99
_GLYPHS: Final = 16
_TOLD: Final = ("Wall", "Longest call")


class BandRow(NamedTuple):
    """One row: an agent's name, the focus that shows it alone (empty: none), its time in
    words, and what is drawn of it. `label` says all of that.
    """

    name: str
    card_id: str
    label: str
    time: str
    depth: int
    bars: Sequence[Shape]
    glyphs: Sequence[Glyph]


class Band(msgspec.Struct, frozen=True):
    """The whole band. `agents` counts the runs of sub-agents, `more` the rows left out. It
    `is_open` for a session with sub-agents that is not long.
    """

    rows: Sequence[BandRow]
    breaks: Sequence[Break]
    agents: int
    more: int
    time: str
    inferred: bool
    is_open: bool


class ToolTime(NamedTuple):
    """The own time of a tool's calls; `width` compares it with the first (%)."""

    name: str
    time: str
    calls: str
    width: float
    css_class: str


class Beside(NamedTuple):
    """What stands around the cards and is worked out from all of them."""

    band: Markup
    tools: Markup


_drawn: WeakKeyDictionary[Transcript, tuple[Hashable, Beside]] = WeakKeyDictionary()


def beside(
    transcript: Transcript, session: str, version: Hashable, *, at_once: bool = False
) -> Beside:
    """The band and the time by tool of a session, as HTML; the same as before while `version`,
    which stands for what the transcript tells, is.

    With `at_once` only if that takes no time to speak of; otherwise the page asks for it.
    """
    known = _drawn.get(transcript)
    if known is not None and known[0] == version:
        return known[1]
    if at_once and len(transcript.tree) > AT_ONCE_CARDS:
        return Beside(_band_html(None, session, later=True), _tools_html(()))
    timings = timed(transcript, version).timings
    found = Beside(
        _band_html(band_of(transcript, timings), session),
        _tools_html(tool_times(timings), _vital_facts(timings), session),
    )
    _drawn[transcript] = (version, found)
    return found


def _band_html(band: Band | None, session: str, *, later: bool = False) -> Markup:
    return render("_band.html", band=band, later=later, session=session).strip()


def _tools_html(tools: Sequence[ToolTime], facts: Sequence[Fact] = (), session: str = "") -> Markup:
    return render("_tools.html", tools=tools, facts=facts, session=session).strip()


def _vital_facts(timings: Timings) -> list[Fact]:
    """What the vital signs tell of times that is not known from one record to the next."""
    return [fact for fact in facts_of(timings) if fact.text and fact.name not in _TOLD]


def tool_times(timings: Timings) -> list[ToolTime]:
    """The tools that took the most time themselves."""
    figures = [(name, one) for name, one in timings.tools.items() if one.own]
    figures.sort(key=lambda pair: (-pair[1].own, pair[0]))
    most = figures[0][1].own if figures else 1
    return [
        ToolTime(
            name or "unnamed",
            ("≤ " if one.own_inferred else "") + units.duration(one.own),
            units.plural(one.calls, "call"),
            round(max(1.0, 100 * one.own / most), 2),
            "agent" if tool_face(name) == "agent" else "call",
        )
        for name, one in figures[:TOOLS]
    ]


def band_of(transcript: Transcript, timings: Timings) -> Band | None:
    """The band of a transcript; None if no call in it has a time."""
    cards = list(transcript.walk())
    line = TimeMap(_stretches(cards, timings))
    if not line:
        return None
    lanes = packed(runs_of(cards, timings))
    shown = lanes[: ROWS - 1]
    marked = marked_cards(cards, timings)
    rows = [_main_row(timings, line, marked.get(MAIN, ()), alone=not shown)]
    glyphs = _GLYPHS - len(rows[0].glyphs)
    bars = _SUB_BARS // len(shown) if shown else 0
    made = _calls_by_lane(timings, shown)
    for lane in shown:
        inside = [one for run in lane.runs for one in marked.get(run.card.id, ())]
        row = _sub_row(lane, made, timings, line, bars)
        found = glyphs_of(inside, line, min(4, glyphs))
        glyphs -= len(found)
        rows.append(row._replace(glyphs=found))
    session = timings.session
    return Band(
        rows=rows,
        breaks=line.breaks(_BREAKS),
        agents=sum(len(lane.runs) for lane in lanes),
        more=len(lanes) - len(shown),
        time=_time(session.wall, inferred=session.inferred),
        inferred=session.inferred,
        is_open=bool(lanes) and len(cards) <= AT_ONCE_CARDS,
    )


def _time(ms: int | None, *, inferred: bool = False) -> str:
    return ("≥ " if inferred and ms else "") + units.duration(ms)


def _stretches(cards: Iterable[Card], timings: Timings) -> Iterable[tuple[int, int]]:
    """When something happened: calls that lasted, and all other cards. A call that took longer
    than can be true is no more than its beginning.
    """
    for card in cards:
        if not isinstance(card, ToolCard) and card.at:
            yield card.at, max(card.at, card.ended_at)
    for span in timings.spans:
        asked = span.start if span.asked is None else span.asked
        if asked is None:
            asked = span.end
        if asked is not None:
            lasted = span.end is not None and "absurd" not in span.marks
            yield asked, span.end if lasted and span.end is not None else asked


def _calls_by_lane(timings: Timings, lanes: Sequence[Lane]) -> dict[str, list[Span]]:
    made: dict[str, list[Span]] = {run.card.id: [] for lane in lanes for run in lane.runs}
    for span in timings.spans:
        if span.lane in made:
            made[span.lane].append(span)
    return made


# rows


def _main_row(
    timings: Timings,
    line: TimeMap,
    marked: Sequence[Marked],
    *,
    alone: bool,
) -> BandRow:
    turns = [
        Stretch(line.x(window.start), line.x(window.end))
        for window in timings.turn_windows.values()
    ]
    spans = [span for span in timings.spans if span.lane == MAIN]
    figures = timings.session
    errors = sum(1 for one in marked if one.kind == "error")
    time = _time(figures.wall, inferred=figures.inferred)
    steps = units.plural(len(spans), "call")
    faults = units.plural(errors, "error") if errors else ""
    return BandRow(
        name="Main agent" if not alone else "Calls",
        card_id="",
        label=", ".join(
            part for part in (f"Main agent: {time or 'time not recorded'}", steps, faults) if part
        ),
        time=time,
        depth=0,
        bars=drawn({"turn": turns}, _TURN_BARS) + calls_drawn(spans, timings, line, _MAIN_BARS),
        glyphs=glyphs_of(marked, line, _GLYPHS // 2),
    )


def _sub_row(
    lane: Lane, made: dict[str, list[Span]], timings: Timings, line: TimeMap, bars: int
) -> BandRow:
    runs = lane.runs
    first = runs[0].card
    stretches = [
        Stretch(line.x(run.start), line.x(line.end if run.end is None else run.end))
        for run in runs
        if run.start is not None
    ]
    spans = [span for run in runs for span in made[run.card.id]]
    known = [run.duration for run in runs if run.duration is not None]
    time = units.duration(sum(known)) if known else ""
    return BandRow(
        name=lane.name,
        card_id=first.id,
        label=_label(lane, time),
        time=time,
        depth=min(3, runs[0].depth),
        bars=drawn({"run": stretches}, bars // 2)
        + calls_drawn(spans, timings, line, bars - bars // 2),
        glyphs=(),
    )


def _label(lane: Lane, time: str) -> str:
    steps = sum(run.card.steps for run in lane.runs)
    faults = sum(run.card.faults for run in lane.runs)
    parts = [
        time or "time not recorded",
        units.plural(len(lane.runs), "run") if len(lane.runs) > 1 else "",
        units.plural(steps, "step") if steps else "",
        units.plural(faults, "error") if faults else "",
    ]
    return f"Sub-agent {lane.name}: {', '.join(part for part in parts if part)}"

"""The rows of a waterfall as they are drawn: what each says, and its bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from presentview import units
from presentview.transcript.cards import BAD, OPEN, ToolCard
from presentview.transcript.durations import ABSURD
from presentview.transcript.shown import shown_ms
from presentview.transcript.timings import Span, Timings
from presentview.web.bars import Shape, Stretch, calls_drawn, class_of, drawn
from presentview.web.faces import face_of
from presentview.web.timetree import Items, Node
from presentview.web.timeview import Window
from presentview.web.timewords import note_of, span_words

__all__ = ["TimeRow", "rows_drawn"]

_MANY_BARS: Final = 30
_FEW_BARS: Final = 12
_THIN: Final = 0.1
_MOST_ON_PATH: Final = 20
_DEEPEST: Final = 8
_FACE_CHARS: Final = 120


Critical: TypeAlias = Mapping[int, Sequence[tuple[int, int]]]


class TimeRow(NamedTuple):
    """One row. `key` names it, `card_id` is where a click leads (empty: nowhere).

    `note` is the word for its state where that is worth one, `time` how long it took, with
    `clock_from` (unix ms, 0: none) the browser counts up from there. `detail` says
    what else there is to say of it.
    """

    key: str
    card_id: str
    css_class: str
    depth: int
    icon: str
    name: str
    subject: str
    note: str
    time: str
    clock_from: int
    detail: str
    bars: Sequence[Shape]
    has_more: bool
    is_open: bool


class _Drawer:
    """Draws rows of one session at one moment."""

    def __init__(
        self, timings: Timings, window: Window, *, alive: bool, critical: Critical
    ) -> None:
        self._timings = timings
        self._window = window
        self._alive = alive
        self._critical = critical

    def row(self, node: Node) -> TimeRow:
        """One row."""
        if node.card is not None:
            return self._call(node, node.card)
        return self._several(node)

    # a turn, or part of many rows

    def _several(self, node: Node) -> TimeRow:
        spans = list(self._spans_in(node.items))
        turn = node.turn
        errors = sum(1 for span in spans if span.state in BAD)
        words = [units.plural(len(spans), "call"), units.plural(errors, "error") if errors else ""]
        inferred = any(span.inferred for span in spans)
        if turn is not None:
            window = self._timings.turn_windows.get(turn.number)
            length = window.length if window else None
            inferred = inferred or bool(window and window.inferred)
            name = f"Turn {turn.number}" if turn.prompt else "Before the first turn"
            subject = turn.prompt.face if turn.prompt else ""
        else:
            length = node.extent[1] - node.extent[0] if node.extent else None
            noun = "Calls" if isinstance(node.items[0], ToolCard) else "Turns"
            name = f"{noun} {node.first:,}–{node.first + len(node.items) - 1:,}"
            subject = ", ".join(word for word in words if word)
        time = units.bounded(length, "≥", inferred=inferred)
        detail = [time or "time not known", *words]
        figures = self._timings.turn(turn.number) if turn else None
        if figures is not None and figures.outside is not None:
            detail.append(f"{units.duration(figures.outside)} outside tools")
        return TimeRow(
            key=node.key,
            card_id=turn.prompt.id if turn and turn.prompt else "",
            css_class="wf-turn" if turn else "wf-part",
            depth=min(node.depth, _DEEPEST),
            icon="",
            name=name,
            subject=subject[:_FACE_CHARS],
            note=f"✕ {errors:,}" if errors else "",
            time=time,
            clock_from=0,
            detail=", ".join(word for word in detail if word),
            bars=self._frame(node.extent, "turn") + self._many(spans, _MANY_BARS),
            has_more=node.has_more,
            is_open=node.is_open,
        )

    def _spans_in(self, items: Items) -> Iterator[Span]:
        """The calls of turns, or those side by side in a part, without what is nested in them."""
        for item in items:
            if isinstance(item, ToolCard):
                span = self._timings.span(item)
                if span is not None:
                    yield span
            else:
                yield from self._timings.tops_of(item.number)

    # a call

    def _call(self, node: Node, card: ToolCard) -> TimeRow:
        span = self._timings.span(card)
        face = face_of(card, alive=self._alive)
        is_agent = bool(card.children) or card.tool_face == "agent"
        status = card.status(alive=self._alive) or ""
        name = "Lane" if card.kind == "lane" else card.name[:_FACE_CHARS] or face.label
        classes = [status, "agent" if is_agent else ""]
        if span is not None and span.inferred:
            classes.append("inferred")
        bars: list[Shape] = []
        if is_agent:
            bars += self._frame(node.extent if span is None else self._ran(span), "run")
            bars += self._many(list(self._spans_of(card)), _FEW_BARS)
        if span is not None:
            bars += self._bars(span, is_agent=is_agent and bool(card.steps))
            bars += self._on_path(card)
        running = status == "running" and card.at
        return TimeRow(
            key=node.key,
            card_id=card.id,
            css_class=" ".join(word for word in classes if word),
            depth=min(node.depth, _DEEPEST),
            icon=face.icon,
            name=name,
            subject=card.face[:_FACE_CHARS],
            note=note_of(status, span),
            time="" if running else self._time(card, span),
            clock_from=card.at if running else 0,
            detail=self._detail(card, span, status),
            bars=bars,
            has_more=node.has_more,
            is_open=node.is_open,
        )

    def _spans_of(self, card: ToolCard) -> Iterator[Span]:
        """The calls directly in one, or in the lanes it has."""
        for child in card.children or ():
            if isinstance(child, ToolCard):
                span = self._timings.span(child)
                if span is not None:
                    yield span
                else:
                    yield from self._spans_of(child)

    def _time(self, card: ToolCard, span: Span | None) -> str:
        if span is None:
            window = self._timings.window_of(card)
            inferred = window is not None and window.inferred
            return ("≥ " if inferred else "") + units.duration(window.length if window else None)
        shown = shown_ms(span)
        return f"{shown:,} ms" if shown is not None and shown < 0 else units.duration(shown)

    def _detail(self, card: ToolCard, span: Span | None, status: str) -> str:
        """All that is known of a call's times, in words."""
        words = [status]
        if span is None:
            words.append(self._time(card, span) or "time not known")
        else:
            words += span_words(
                span, self._window.line.start, on_path=card.number in self._critical
            )
        if card.steps:
            words.append(units.plural(card.steps, "step"))
        if card.faults:
            words.append(f"{card.faults:,} failed")
        words.append(" · ".join(part for part in (card.model, card.effort) if part)[:_FACE_CHARS])
        return ", ".join(word for word in words if word)

    # bars

    def _asked(self, span: Span, end: int | None) -> list[tuple[int, int, str]]:
        """When somebody was asked whether a call may run: up to their answer, or where there is
        none as long as the call was there.
        """
        approval = span.card.approval
        if approval is None or not approval.asked_at:
            return []
        until = approval.answered_at or end
        if span.start is not None:
            until = min(until or span.start, span.start)
        return (
            []
            if until is None or until < approval.asked_at
            else [(approval.asked_at, until, "ask")]
        )

    def _ran(self, span: Span) -> tuple[int, int] | None:
        start = span.asked if span.start is None else span.start
        end = self._until(span)
        return None if start is None or end is None else (start, end)

    def _until(self, span: Span) -> int | None:
        """Where a bar ends: with its call; that of one that runs, with the line."""
        if span.end is None and span.state == OPEN and self._alive:
            return self._window.line.end
        return self._timings.seen_until(span)

    def _frame(self, extent: tuple[int, int] | None, css_class: str) -> list[Shape]:
        if extent is None or not self._window.shows(*extent):
            return []
        stretch = Stretch(self._window.x(extent[0]), self._window.x(extent[1]))
        return drawn({css_class: [stretch]}, 1)

    def _on_path(self, card: ToolCard) -> list[Shape]:
        window = self._window
        found = [
            Stretch(window.x(start), window.x(end))
            for start, end in self._critical.get(card.number, ())
            if window.shows(start, end)
        ]
        # Too many to be told from each other are one.
        if len(found) > _MOST_ON_PATH:
            found = [Stretch(found[0].begin, found[-1].end)]
        return [shape for one in found for shape in drawn({"critical": [one]}, 1)]

    def _many(self, spans: Sequence[Span], most: int) -> list[Shape]:
        if not self._window.is_whole:
            spans = [s for s in spans if (ran := self._ran(s)) and self._window.shows(*ran)]
        return calls_drawn(spans, self._timings, self._window, most, narrowest=_THIN)

    def _bars(self, span: Span, *, is_agent: bool) -> list[Shape]:
        """The bar of one call: how long it waited, how long it ran; without an end, how long it
        was there.
        """
        window, found = self._window, []
        end = self._until(span)
        if span.start is None or span.end is None:
            at = span.asked if span.asked is not None else span.end
            if at is not None:
                last = at if ABSURD in span.marks or end is None else end
                name = "running" if span.state == OPEN and self._alive else "open"
                name = "absurd" if ABSURD in span.marks or span.end is not None else name
                found.append((at, max(at, last), name))
        else:
            if span.asked is not None and span.asked < span.start:
                found.append((span.asked, span.start, "wait"))
            if not is_agent or span.state in BAD:
                found.append((span.start, span.end, class_of(span.card)))
        found += self._asked(span, end)
        shapes: list[Shape] = []
        for begin, until, name in found:
            if window.shows(begin, until):
                stretch = Stretch(window.x(begin), window.x(until), span.inferred)
                shapes += drawn({name: [stretch]}, 1)
        return shapes


def rows_drawn(
    nodes: Iterable[Node],
    timings: Timings,
    window: Window,
    *,
    alive: bool,
    critical: Critical,
) -> list[TimeRow]:
    """The rows of a waterfall; `critical` says when calls were on the critical path, by the
    numbers of their cards.
    """
    drawer = _Drawer(timings, window, alive=alive, critical=critical)
    return [drawer.row(node) for node in nodes]

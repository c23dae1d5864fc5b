"""What a row of the waterfall says of a call's times, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from presentview import units
from presentview.transcript.durations import ABSURD
from presentview.transcript.shown import shown_ms
from presentview.transcript.timings import Span

__all__ = ["note_of", "span_words"]

_MARKS: Final = {
    "absurd": "cannot be true: left out of sums",
    "backward": "its times go backward",
    "disagrees": "does not fit between the recorded times around it",
}


def span_words(span: Span, origin: int, *, on_path: bool) -> Iterator[str]:
    """When a call was, from `origin` (ms) on, how long it took and waited, and what of that is
    only known in part; `on_path` says that it is on the critical path.
    """
    begin = span.begin
    if begin is not None:
        sign = "≥ " if span.inferred else ""
        yield f"at {sign}{units.duration(max(0, begin - origin)) or '0 ms'}"
    shown = shown_ms(span)
    if ABSURD in span.marks and shown is not None:
        yield f"recorded as {shown:,} ms"
    elif span.duration is not None:
        yield f"ran {units.duration(span.duration)}"
    elif span.end is None:
        yield "no result recorded"
    else:
        yield "length not recorded"
    yield from _waiting_words(span)
    if span.own is not None and span.own != span.duration:
        sign = "≤ " if span.own_inferred else ""
        yield f"{sign}{units.duration(span.own)} of it own"
    if span.inferred:
        yield "when is inferred from the order of the records"
    for mark in span.marks:
        yield _MARKS[mark]
    if on_path:
        yield "on the critical path"


def note_of(status: str, span: Span | None) -> str:
    """The word that a row says beside its time."""
    if span is not None and ABSURD in span.marks:
        return "absurd"
    return status if status in ("failed", "blocked", "interrupted", "running") else ""


def _waiting_words(span: Span) -> Iterator[str]:
    """How long a call waited, and for what as far as that is recorded."""
    approval, waited = span.card.approval, span.waited or 0
    if approval is not None:
        asked = span.approval_waited or 0
        waited = max(0, waited - asked)
        answer = approval.answer or "not answered"
        yield f"waited {units.duration(asked)} for approval: {answer}"
    if waited:
        yield f"waited {units.duration(waited)} before it ran"

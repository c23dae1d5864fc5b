"""How long a call took as it is shown, which is not always what counts."""

from __future__ import annotations

from presentview.transcript.durations import ABSURD
from presentview.transcript.spans import Span

__all__ = ["shown_ms"]


def shown_ms(span: Span) -> int | None:
    """How long a call took in ms as it is recorded, also where that cannot be true; None where it
    is not known.
    """
    if ABSURD not in span.marks:
        return span.duration
    if span.card.recorded_ms or span.asked is None or span.end is None:
        return span.card.recorded_ms or None
    return span.end - span.asked

"""The calls that decided how long something took: had one been faster, so had the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from presentview.transcript.schedule import Window
from presentview.transcript.spans import Span

__all__ = ["Step", "critical_path"]


class Step(NamedTuple):
    """A stretch of a critical path, from `start` to `end` (ms): a call without others in it, or,
    where `call` is None, time outside tools. `within` is the call in which that lies, None for
    the scope itself.
    """

    start: int
    end: int
    call: Span | None = None
    within: Span | None = None

    @property
    def length(self) -> int:
        """How long it is, in ms."""
        return self.end - self.start


class _Scope:
    """A stretch of time that is gone through from its end, and the calls directly in it."""

    def __init__(self, spans: Sequence[Span], start: int, end: int, within: Span | None) -> None:
        # The call that ended last is the last one, of equal ones the longer, then the later.
        timed = [span for span in spans if span.start is not None and span.end is not None]
        timed.sort(key=lambda span: (span.end, span.duration, span.card.number))
        self.calls = timed
        self.start = start
        self.now = end
        self.within = within

    def take(self) -> Span | None:
        """The next call on the path, None if there is no other."""
        while self.calls and self.now > self.start:
            span = self.calls.pop()
            assert span.end is not None
            if self.start < span.end <= self.now:
                return span
        return None


def critical_path(
    window: Window, spans: Sequence[Span], nested: Mapping[int, Sequence[Span]]
) -> tuple[Step, ...]:
    """The critical path through a stretch of time, in order: steps that follow each other from
    its start to its end.

    `spans` are the calls directly in it, `nested` those directly in each call, by the number
    of its card. Calls that end after the stretch are not on it.
    """
    steps: list[Step] = []
    scopes = [_Scope(spans, window.start, window.end, None)]
    while scopes:
        scope = scopes[-1]
        span = scope.take()
        if span is None:
            if scope.now > scope.start:
                steps.append(Step(scope.start, scope.now, within=scope.within))
            scopes.pop()
            continue
        assert span.start is not None
        assert span.end is not None
        if span.end < scope.now:
            steps.append(Step(span.end, scope.now, within=scope.within))
        start = max(span.start, scope.start)
        scope.now = start
        inside = nested.get(span.card.number)
        if inside:
            scopes.append(_Scope(inside, start, span.end, span))
        elif span.end > start:
            steps.append(Step(start, span.end, span, scope.within))
    steps.reverse()
    return tuple(steps)

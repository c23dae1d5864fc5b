"""The whole session: a warm-up, an edit, an audit that ends badly, and a good end."""

from __future__ import annotations

from presentview.demo.audit import HALF_WAY_CALLS, find_callers
from presentview.demo.finale import finish
from presentview.demo.politeness import make_polite
from presentview.demo.steps import Pause, Steps
from presentview.demo.warm_up import warm_up

__all__ = ["HALF_WAY_CALLS", "script", "script_seconds"]


def script(created_at: int = 0) -> Steps:
    """Every step of the session, in order; `created_at` (unix ms) is when it is being played."""
    yield from warm_up()
    yield from make_polite()
    yield from find_callers()
    yield from finish(created_at)


def script_seconds() -> float:
    """How long the session takes at speed 1, in seconds."""
    return sum(step.seconds for step in script() if isinstance(step, Pause))

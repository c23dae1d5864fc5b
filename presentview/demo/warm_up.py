"""The first turn, which the compaction in the second takes away."""

from __future__ import annotations

from typing import Final

from presentview.demo.project import FILES, README, numbered
from presentview.demo.steps import (
    Call,
    Pause,
    Steps,
    Tokens,
    answer,
    think,
    turn_over,
    turn_started,
)

__all__ = ["warm_up"]

_PROMPT: Final = "Good morning. Have a look around: what does this project do?"

_THOUGHT: Final = "A small repository. The list of files and the README should do."

_ANSWER: Final = """\
It is the front desk of a small hotel: `lobby/greet.py` says hello and goodbye, and the revolving \
door, the lift and the minibar all borrow its words.

I have read them. I see why the guests write reviews.
"""


def warm_up() -> Steps:
    """An agent looks around."""
    yield turn_started(_PROMPT)
    yield Pause(0.4)
    yield from think(_THOUGHT, 0.9)
    listing = Call(id="call_look", name="ls", args={"path": "."}, read_only=True)
    readme = Call(id="call_readme", name="read_file", args={"path": "README.md"}, read_only=True)
    yield listing.dispatched()
    yield readme.dispatched()
    yield Pause(0.3)
    yield listing.returned("".join(f"{path}\n" for path in FILES))
    yield Pause(0.2)
    yield readme.returned(numbered(README))
    yield Pause(0.5)
    yield from answer(_ANSWER, 1.6, Tokens(6_210, 0, 148), thought=_THOUGHT)
    yield Pause(0.2)
    yield turn_over()
    yield Pause(0.8)

"""The third turn: sub-agents at work, beside each other and inside each other, and a bad end."""

from __future__ import annotations

from typing import Final

from presentview.demo import project
from presentview.demo.steps import (
    Call,
    Pause,
    Steps,
    Tokens,
    answer,
    notice,
    stream_text,
    think,
    turn_failed,
    turn_started,
    usage,
)
from presentview.demo.terminal import TRACED, trace_calls
from presentview.events import Event, EventKind
from presentview.records import Profile

__all__ = ["HALF_WAY_CALLS", "find_callers"]

_PROMPT: Final = """\
Well done. Now find out who calls `greet()`, and how often.

Send somebody: you have **staff**.
"""

_THOUGHT: Final = """\
Reading tells who can call it, only running tells who does. So: an auditor for the code, and in \
the meantime a simulated day under the tracer.
"""
_PLAN: Final = "One auditor reads, while I watch a simulated day go by."

_AUDIT: Final = Call(
    id="call_audit",
    name="task",
    args={
        "description": "Audit every caller of greet()",
        "prompt": "Find every call of greet() below lobby/. For each say where, why and how loud.",
    },
    profile=Profile(model="heron-mini", effort="high"),
)
_READ_DOOR: Final = _AUDIT.inner("c1", "read_file", {"path": "lobby/door.py"}, read_only=True)
_GREP: Final = _AUDIT.inner("c2", "grep", {"pattern": "greet("}, read_only=True)
_LIFT: Final = _AUDIT.inner(
    "c3",
    "task",
    {
        "description": "Find out why the lift shouts",
        "prompt": "lobby/lift.py answers in capitals. Is that on purpose?",
    },
    profile=Profile(model="wren-nano", effort="low"),
)
_READ_LIFT: Final = _LIFT.inner("g1", "read_file", {"path": "lobby/lift.py"}, read_only=True)
_MANUAL: Final = _LIFT.inner(
    "g2",
    "task",
    {"description": "Consult the lift's manual", "prompt": "Does it say anything on volume?"},
    profile=Profile(model="wren-nano", effort="low"),
)
_FIND_MANUAL: Final = _MANUAL.inner("h1", "glob", {"pattern": "**/*manual*"}, read_only=True)

_TRACE: Final = Call(
    id="call_trace",
    name="bash",
    args={"command": "python -m trace --count --summary tools/one_day.py"},
)

HALF_WAY_CALLS: Final = frozenset(
    call.id for call in (_AUDIT, _LIFT, _MANUAL, _FIND_MANUAL, _TRACE)
)
"""The ids of the calls that are running half way through the script."""

_INTERVIEWS: Final = Call(
    id="call_ask",
    name="task",
    args={
        "description": "Interview the door and the minibar",
        "prompt": "In parallel, one each: ask why they call greet(), and whether they could stop.",
    },
    profile=Profile(model="wren-nano", effort="medium"),
)

_CUT_OFF: Final = "There are three callers, and the worst of them is the revolv"

_ANSWER: Final = """\
There are **three callers**, and the log agrees with the trace:

| caller | where | a day | remark |
|---|---|---:|---|
| revolving door | `lobby/door.py:12` | 160 | once a revolution, whether you like it or not |
| lift | `lobby/lift.py:10` | 80 | in capitals, by accident |
| minibar | `lobby/minibar.py:12` | 80 | declined to comment after midnight |

The front desk itself, for which all of this was written, greeted 40 guests. What is left to do:

- let the lift speak in a normal voice
- ask the door for restraint
- tidy up the log, of which nobody needs 360 lines
"""

_LAST_PLAN: Final = "The log first. "


def find_callers() -> Steps:
    """An agent delegates; then its provider has enough."""
    yield turn_started(_PROMPT)
    yield Pause(0.3)
    yield from think(_THOUGHT, 1.5)
    yield from answer(_PLAN, 0.6, Tokens(10_240, 9_216, 188), thought=_THOUGHT)
    yield from _audit()
    yield from _interviews()
    yield from _read_log()
    yield Event(kind=EventKind.PAUSED)
    yield Pause(1.2)
    yield Event(kind=EventKind.RESUMED)
    yield from stream_text(_CUT_OFF, 0.8)
    yield Pause(0.4)
    yield Event(kind=EventKind.RETRYING, retry_attempt=1, retry_max=3)
    yield Pause(1.3)
    yield from answer(_ANSWER, 2.4, Tokens(18_930, 9_216, 366))
    yield from _clean_up()
    yield Pause(0.8)
    yield turn_failed("the model provider is overloaded (529): gave up after 3 attempts")
    yield Pause(1.5)


def _audit() -> Steps:
    yield _AUDIT.dispatched()
    yield _TRACE.dispatched()
    yield Pause(0.3)
    yield _READ_DOOR.dispatched()
    yield _GREP.dispatched()
    yield Pause(0.2)
    yield _GREP.returned(project.matches("greet("))
    yield Pause(0.1)
    yield _READ_DOOR.returned(project.numbered(project.DOOR))
    yield Pause(0.3)
    yield from _ask_about_the_lift()
    yield from trace_calls(_TRACE)
    yield Pause(0.4)
    yield _FIND_MANUAL.returned("no files")
    yield Pause(0.2)
    yield _MANUAL.returned("There is no manual. There is a sticky note: **louder**.")
    yield Pause(0.3)
    yield _TRACE.returned(TRACED)
    yield Pause(0.3)
    yield usage(Tokens(2_310, 1_024, 96), _LIFT)
    yield _LIFT.returned("`.upper()` was added in a noisy summer and never taken out.")
    yield Pause(0.4)
    yield usage(Tokens(6_120, 4_096, 214), _AUDIT)
    yield _AUDIT.returned(
        "Three callers: the door (once a revolution), the lift (in capitals) and the minibar.\n"
    )
    yield Pause(0.4)


def _ask_about_the_lift() -> Steps:
    yield _LIFT.dispatched()
    yield Pause(0.2)
    yield from _READ_LIFT.ran(0.2, project.numbered(project.LIFT))
    yield _MANUAL.dispatched()
    yield Pause(0.1)
    yield _FIND_MANUAL.dispatched()


def _interviews() -> Steps:
    """Two sub-agents of one call side by side, neither with a record of its own."""
    door, minibar = (_INTERVIEWS.inner(f"p{n}", "", {}) for n in (1, 2))
    read = door.inner("r1", "read_file", {"path": "lobby/door.py"}, read_only=True)
    ask_minibar = minibar.inner(
        "r1", "bash", {"command": "python -c 'from lobby import minibar; minibar.explain()'"}
    )
    spin = door.inner(
        "r2", "bash", {"command": "python -c 'from lobby.door import revolve; revolve(\"Ada\", 3)'"}
    )
    price = minibar.inner("r2", "grep", {"pattern": "PRICE", "path": "lobby"}, read_only=True)
    yield _INTERVIEWS.dispatched()
    yield Pause(0.2)
    yield read.dispatched()
    yield ask_minibar.dispatched()
    yield Pause(0.5)
    yield read.returned(project.numbered(project.DOOR))
    yield spin.dispatched()
    yield Pause(0.4)
    refusal = "AttributeError: module 'lobby.minibar' has no attribute 'explain'\n"
    yield ask_minibar.returned(refusal, err="exit status 1")
    yield price.dispatched()
    yield Pause(0.3)
    yield price.returned(project.matches("PRICE", "lobby/"))
    yield Pause(0.3)
    yield spin.returned("")
    yield Pause(0.3)
    yield _INTERVIEWS.returned(
        "The door says that it is a door. The minibar has no comment, but a price.\n"
    )
    yield Pause(0.4)


def _read_log() -> Steps:
    """A command that says more than the model may hear."""
    log = project.LOG
    shown = 3_000
    elided = len(log) - 2 * shown
    marker = f"\n[truncated {elided:,} of {len(log):,} bytes]\n"
    call = Call(id="call_log", name="bash", args={"command": "cat logs/reception.log"})
    yield call.dispatched()
    yield Pause(0.5)
    yield call.returned(log[:shown] + marker + log[-shown:], truncated=True)
    yield notice(f"tool output truncated: {elided:,} of {len(log):,} bytes elided")
    yield Pause(0.5)


def _clean_up() -> Steps:
    """The agent reaches for more than it may have."""
    yield from stream_text(_LAST_PLAN, 0.3)
    yield Event(kind=EventKind.MESSAGE, text=_LAST_PLAN)
    call = Call(id="call_rm", name="bash", args={"command": "rm -rf logs lobby/minibar.py"})
    blocked = "blocked: the user did not approve of deleting files"
    yield call.dispatched()
    yield call.asked("rm -rf logs lobby/minibar.py")
    yield Pause(1.4)
    yield call.answered("denied")
    yield Pause(0.1)
    yield call.returned(blocked, err=blocked)

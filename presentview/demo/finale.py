"""The last turn: a committee, a web page, a picture, and a good end."""

from __future__ import annotations

from typing import Any, Final

from presentview.demo import project
from presentview.demo.chart import bar_chart
from presentview.demo.politeness import todo
from presentview.demo.steps import (
    Call,
    Pause,
    Steps,
    Tokens,
    Written,
    answer,
    notice,
    think,
    turn_over,
    turn_started,
)
from presentview.events import Event, EventKind
from presentview.records import Attachment

__all__ = ["finish"]

_PROMPT: Final = """\
Try again, and never mind the log. Calm the lift down, and draw the owner a chart.

The owner also asks whether we should say "Dear". Put it to the committee.
"""

_THOUGHT: Final = """\
The lift is one word. The chart is four bars. The committee is the expensive part, so it gets \
something to read first.
"""
_PLAN: Final = "Back again. Etiquette first, then the committee, then the work."

_ETIQUETTE: Final = """\
# On greetings

A greeting has **one** job: to tell the other person that they were seen.

1. Say the name, if you know it.
2. Say the time of day, if you are sure of it.
3. Stop.
"""

_TASK: Final = 'Should the greeting begin with "Dear"?'
_ROUNDS: Final = (
    (
        (
            "The Butler",
            'Certainly. **"Dear"** costs nothing and has never been returned to the kitchen.',
        ),
        (
            "The Minimalist",
            'No. "Good evening, Ada!" is three words. I have lain awake over a fourth.',
        ),
        ("The Lift", "DEAR EVERYBODY. GOING UP."),
    ),
    (
        (
            "The Butler",
            'I withdraw "Dear" for guests the lift has shouted at. They would take it for irony.',
        ),
        (
            "The Minimalist",
            "Then we agree on guests who use the lift, which is all of them. I move that we stop.",
        ),
        ("The Lift", "SECONDED. FOURTH FLOOR."),
    ),
)
_SYNTHESIS: Final = """\
**No "Dear".** Say the name and the time of day, keep the exclamation mark, then stop.

The lift is thanked for its contribution and will be given a lower voice.
"""

_CHART: Final = "charts/greetings.png"

_NOTE: Final = """\
# Who greets whom

| caller | greetings a day |
|---|---:|
""" + "".join(
    f"| {greeter} | {count} |\n"
    for greeter, count in zip(project.GREETERS, project.LOGGED, strict=True)
)

_ANSWER: Final = f"""\
All done, and the hotel is quieter for it.

- **The lift** speaks in a normal voice (`lobby/lift.py`).
- **The committee** was asked about "Dear" and, in the second round, stopped.
- **The chart** is in `{_CHART}`: the door, the lift, the minibar, the front desk.
- **The table** behind it is in `docs/greeters.md`.

```text
>>> arrive("Ada", 4)
'Floor 4. Good afternoon, Ada! How nice to see you.'
```

The door will not be moved. It says that turning is what it does.
"""


def finish(created_at: int = 0) -> Steps:
    """An agent asks around, draws, and comes to an end; `created_at` (unix ms) dates the debate."""
    yield turn_started(_PROMPT)
    yield Pause(0.3)
    yield from think(_THOUGHT, 1.3)
    yield from answer(_PLAN, 0.7, Tokens(19_880, 18_432, 174), thought=_THOUGHT)
    states = ("completed", "completed", "completed", "in_progress")
    yield from todo("call_todo_3", *states).ran(0.1, "4 items, 3 done")
    url = "https://etiquette.example/on-greetings"
    fetch = Call(id="call_fetch", name="web_fetch", args={"url": url}, read_only=True)
    yield from fetch.ran(0.9, _ETIQUETTE)
    yield from _debate(created_at)
    yield from _calm_the_lift()
    yield from _draw()
    yield from _write_down()
    yield notice("session saved")
    yield from todo("call_todo_4", *["completed"] * 4).ran(0.1, "4 items, all done")
    yield Pause(0.3)
    yield from answer(_ANSWER, 2.8, Tokens(22_640, 19_456, 298))
    yield Pause(0.2)
    yield turn_over()


def _debate(created_at: int) -> Steps:
    """The experts' answers as they come in; the last one replaces those before it."""
    rounds: list[list[dict[str, str]]] = []
    for said in _ROUNDS:
        yield Pause(1.4)
        rounds.append([{"ExpertName": expert, "Text": text} for expert, text in said])
        yield _collab(rounds, "", created_at)
    yield Pause(0.9)
    yield _collab(rounds, _SYNTHESIS, created_at)
    yield Pause(0.5)


def _collab(rounds: list[list[dict[str, str]]], synthesis: str, created_at: int) -> Event:
    value: dict[str, Any] = {
        "RunID": "run-dear",
        "TeamID": "team-salutations",
        "TeamName": "Committee on Salutations",
        "Task": _TASK,
        "Mode": "debate",
        "Rounds": [list(said) for said in rounds],
        "Synthesis": synthesis,
        "CreatedAt": created_at,
    }
    return Event(kind=EventKind.EXPERT_COLLAB, collab=value)


def _calm_the_lift() -> Steps:
    args = {
        "path": "lobby/lift.py",
        "old_string": "greet(name).upper()",
        "new_string": "greet(name)",
    }
    diff = project.diff_of("lobby/lift.py", project.LIFT, project.LIFT_CALM)
    edit = Call(id="call_edit_3", name="edit_file", args=args, diff=diff)
    yield edit.dispatched()
    yield edit.asked("edit lobby/lift.py")
    yield Pause(1.2)
    yield edit.answered("approved")
    yield Pause(0.4)
    yield Written("lobby/lift.py", project.LIFT_CALM.encode())
    yield edit.returned("edited lobby/lift.py (1 replacement)")
    yield Pause(0.4)


def _draw() -> Steps:
    bars = dict(zip(project.GREETERS, project.LOGGED, strict=True))
    call = Call(id="call_draw", name="draw_chart", args={"path": _CHART, "bars": bars})
    yield call.dispatched()
    yield Pause(1.1)
    yield Written(_CHART, bar_chart(project.LOGGED))
    yield call.returned(
        f"drew {len(bars)} bars", attachments=(Attachment(path=_CHART, kind="image"),)
    )
    yield Pause(0.8)


def _write_down() -> Steps:
    path = "docs/greeters.md"
    args = {"path": path, "content": _NOTE}
    diff = project.diff_of(path, "", _NOTE)
    call = Call(id="call_note", name="write_file", args=args, diff=diff)
    yield call.dispatched()
    yield Pause(0.3)
    yield Written(path, _NOTE.encode())
    yield call.returned(f"wrote {path} ({_NOTE.count(chr(10))} lines)")
    yield Pause(0.4)

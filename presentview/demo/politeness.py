"""The second turn: a compaction, an edit, a test that fails, a word from the user, and success."""

from __future__ import annotations

from typing import Final

from presentview.demo import project
from presentview.demo.steps import (
    Call,
    Compacted,
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
from presentview.demo.terminal import failing_tests, passing_tests
from presentview.events import Event, EventKind
from presentview.records import Compaction

__all__ = ["make_polite", "todo"]

_PROMPT: Final = """\
Make the front desk polite, please. Guests have begun to imitate it.

- `greet()` **and** `farewell()`
- run the tests *before* you tell me that it works
"""

_ARCHIVE: Final = ".agent/archive/0001.md"
_SUMMARY: Final = """\
**So far.** The user asked what the project does. It is the front desk of a small hotel: \
`lobby/greet.py` says hello and goodbye, and three other modules borrow its words.

| file | what it does |
|---|---|
| `lobby/door.py` | greets once a revolution |
| `lobby/lift.py` | greets in capitals |
| `lobby/minibar.py` | greets, then charges |

**Not done yet.** Nothing was changed. Tests: `python -m pytest`.
"""

_THOUGHT: Final = """\
Two strings are rude, and so is the fallback for guests without a name: "you there". Before I \
touch anything I want to see the tests, and who else relies on the exact wording. Four look-ups \
that do not depend on each other, so all at once.
"""
_PLAN: Final = "I'll read the code and its tests first, then change the words, then run everything."

_EDIT_ARGS: Final = {
    "path": "lobby/greet.py",
    "edits": [
        {"old_string": '"you there"', "new_string": '"dear guest"'},
        {"old_string": "Say something to a guest", "new_string": "Welcome a guest"},
        {
            "old_string": "Oi, {who}! You again?",
            "new_string": "Good {part_of_day(hour)}, {who}. How nice to see you.",
        },
        {
            "old_string": "Off you go, {who}.",
            "new_string": "Safe travels, {who}. Do come again.",
        },
    ],
}

_COLD_CACHE: Final = "the prompt changed near its start: 6,144 cached tokens will be read again"

_STEER: Final = "Keep the exclamation mark! The owner is attached to it."

_SECOND_THOUGHT: Final = """\
"Good night, Ada. How nice to see you." The test is right: that greets guests and sends them to \
bed in one breath. Between midnight and five it has to be "evening". And the exclamation mark \
goes back in.
"""
_SECOND_PLAN: Final = (
    "One failure, and a deserved one: at 3 a.m. we said **good night** on arrival."
)

_ANSWER: Final = """\
The front desk is polite now, and all five tests pass.

| when | before | now |
|---|---|---|
| 9:00 | Oi, Ada! You again? | Good morning, Ada! How nice to see you. |
| 3:00 | Oi, Ada! You again? | Good evening, Ada! How nice to see you. |
| leaving | Off you go, Ada. | Safe travels, Ada. Do come again. |

What changed in `lobby/greet.py`:

1. the words themselves, and the fallback for guests without a name
2. arrivals between midnight and five, who are no longer sent to bed:

```python
day = part_of_day(hour).replace("night", "evening")
return f"Good {day}, {who}! How nice to see you."
```

The exclamation mark stays. Should the owner need more of it, there is \
[a whole article](https://en.wikipedia.org/wiki/Exclamation_mark).
"""


def todo(call: str, *states: str) -> Call:
    """The list of what is to be done, each item in its state."""
    items = (
        ("Make greet() and farewell() polite", "Making the greeting polite"),
        ("Make the tests pass", "Running the tests"),
        ("Find out who calls greet()", "Looking for callers"),
        ("Draw a chart for the owner", "Drawing a chart"),
    )
    todos = [
        {"content": content, "activeForm": active, "status": state}
        for (content, active), state in zip(items, states, strict=False)
    ]
    return Call(id=call, name="todo_write", args={"todos": todos}, read_only=True)


def make_polite() -> Steps:
    """An agent changes some words and is glad of the tests."""
    yield turn_started(_PROMPT)
    yield Pause(0.3)
    yield from _compact()
    yield Event(kind=EventKind.PHASE, text="Understanding")
    yield from think(_THOUGHT, 2.0)
    yield from answer(_PLAN, 0.8, Tokens(4_870, 0, 231), thought=_THOUGHT)
    yield from todo("call_todo_1", "in_progress", "pending").ran(0.1, "2 items")
    yield from _look()
    yield from _first_edit()
    yield from failing_tests(_test_run("call_test_1"))
    yield Pause(0.5)
    yield Event(kind=EventKind.STEER, text=_STEER)
    yield from think(_SECOND_THOUGHT, 1.7)
    yield from answer(_SECOND_PLAN, 0.7, Tokens(7_930, 6_144, 305), thought=_SECOND_THOUGHT)
    yield from _second_edit()
    yield Event(kind=EventKind.PHASE, text="Verifying")
    yield from passing_tests(_test_run("call_test_2"))
    yield notice(_COLD_CACHE, warns=True)
    yield Pause(0.4)
    yield notice(_COLD_CACHE, warns=True)
    yield from todo("call_todo_2", "completed", "completed").ran(0.1, "2 items, all done")
    yield Pause(0.3)
    yield from answer(_ANSWER, 3.0, Tokens(9_410, 2_048, 412))
    yield Pause(0.2)
    yield turn_over()
    yield Pause(1.0)


def _compact() -> Steps:
    """The agent runs out of room, and knows afterwards only what this turn has said so far."""
    started = Compaction(trigger="auto")
    yield Event(kind=EventKind.COMPACTION_STARTED, compaction=started)
    yield Pause(1.6)
    yield Written(_ARCHIVE, f"# What was said before\n\n{_SUMMARY}".encode())
    done = Compaction(trigger="auto", messages=5, summary=_SUMMARY, archive=_ARCHIVE)
    yield Event(kind=EventKind.COMPACTION_DONE, compaction=done)
    yield Compacted(first_turn=2)
    yield Pause(0.4)


def _look() -> Steps:
    greet = Call(
        id="call_read_greet", name="read_file", args={"path": "lobby/greet.py"}, read_only=True
    )
    tests = Call(
        id="call_read_tests", name="read_file", args={"path": "tests/test_greet.py"}, read_only=True
    )
    grep = Call(
        id="call_grep", name="grep", args={"pattern": "greet(", "path": "lobby"}, read_only=True
    )
    glob = Call(id="call_glob", name="glob", args={"pattern": "**/*.py"}, read_only=True)
    for call in (greet, tests, grep, glob):
        yield call.dispatched()
    yield Pause(0.25)
    yield glob.returned("".join(f"{path}\n" for path in project.FILES if path.endswith(".py")))
    yield Pause(0.1)
    yield greet.returned(project.numbered(project.GREET_RUDE))
    yield Pause(0.15)
    yield grep.returned(project.matches("greet(", "lobby/"))
    yield Pause(0.2)
    yield tests.returned(project.numbered(project.TESTS))
    yield Pause(0.6)


def _first_edit() -> Steps:
    diff = project.diff_of("lobby/greet.py", project.GREET_RUDE, project.GREET_FIRST_TRY)
    edit = Call(id="call_edit_1", name="multi_edit", args=_EDIT_ARGS, diff=diff)
    yield edit.announced()
    yield Pause(0.9)
    yield edit.dispatched()
    yield Pause(0.3)
    yield Written("lobby/greet.py", project.GREET_FIRST_TRY.encode())
    yield edit.returned("edited lobby/greet.py (4 replacements)")
    yield Pause(0.5)


def _second_edit() -> Steps:
    before, after = project.GREET_FIRST_TRY, project.GREET_POLITE
    args = {
        "path": "lobby/greet.py",
        "old_string": '    return f"Good {part_of_day(hour)}, {who}. How nice to see you."',
        "new_string": "\n".join(after.splitlines()[10:13]),
    }
    diff = project.diff_of("lobby/greet.py", before, after)
    edit = Call(id="call_edit_2", name="edit_file", args=args, diff=diff)
    yield edit.dispatched()
    yield Pause(0.4)
    yield Written("lobby/greet.py", after.encode())
    yield edit.returned("edited lobby/greet.py (1 replacement)")
    yield Pause(0.4)


def _test_run(call: str) -> Call:
    return Call(id=call, name="bash", args={"command": "python -m pytest -v --color=yes"})

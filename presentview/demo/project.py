"""The agent's workspace: the front desk of a small hotel, before and after it learns manners."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Final

from presentview.records import FileDiff

__all__ = [
    "DOOR",
    "FILES",
    "GREETERS",
    "GREET_FIRST_TRY",
    "GREET_POLITE",
    "GREET_RUDE",
    "LIFT",
    "LIFT_CALM",
    "LOG",
    "LOGGED",
    "MINIBAR",
    "README",
    "TESTS",
    "diff_of",
    "matches",
    "numbered",
]

README: Final = """\
# Hotel Overflow, front desk

The software that says hello. Guests write that it could try harder.

Run the tests with `python -m pytest`.
"""

GREET_RUDE: Final = '''\
"""What the front desk says to people."""

from __future__ import annotations

FALLBACK = "you there"


def greet(name: str, hour: int = 12) -> str:
    """Say something to a guest who arrives at `hour`."""
    who = name.strip() or FALLBACK
    return f"Oi, {who}! You again?"


def part_of_day(hour: int) -> str:
    """Name the part of the day that `hour` (0 to 23) falls in."""
    if hour < 5:
        return "night"
    if hour < 12:
        return "morning"
    return "afternoon" if hour < 18 else "evening"


def farewell(name: str) -> str:
    """See a guest off."""
    who = name.strip() or FALLBACK
    return f"Off you go, {who}."
'''

GREET_FIRST_TRY: Final = (
    GREET_RUDE.replace('"you there"', '"dear guest"')
    .replace("Oi, {who}! You again?", "Good {part_of_day(hour)}, {who}. How nice to see you.")
    .replace("Off you go, {who}.", "Safe travels, {who}. Do come again.")
    .replace("Say something to a guest", "Welcome a guest")
)

GREET_POLITE: Final = GREET_FIRST_TRY.replace(
    '    return f"Good {part_of_day(hour)}, {who}. How',
    "    # Whoever arrives at night is not to be sent to bed.\n"
    '    day = part_of_day(hour).replace("night", "evening")\n'
    '    return f"Good {day}, {who}! How',
)

DOOR: Final = '''\
"""The revolving door. It greets once a revolution."""

from __future__ import annotations

from lobby.greet import farewell, greet


def revolve(name: str, turns: int = 1) -> list[str]:
    """Welcome and see off a guest who cannot decide, once for each of `turns`."""
    said = []
    for _ in range(turns):
        said += [greet(name), farewell(name)]
    return said
'''

LIFT: Final = '''\
"""The lift. It talks."""

from __future__ import annotations

from lobby.greet import greet


def arrive(name: str, floor: int) -> str:
    """Announce a floor to whoever is in the lift."""
    return f"Floor {floor}. {greet(name).upper()}"
'''

LIFT_CALM: Final = LIFT.replace("greet(name).upper()", "greet(name)")

MINIBAR: Final = '''\
"""The minibar. It notices everything."""

from __future__ import annotations

from lobby.greet import greet

PRICE = 7


def open_door(name: str, hour: int) -> str:
    """Greet a guest in the act."""
    return f"{greet(name, hour)} That will be {PRICE}."
'''

TESTS: Final = '''\
"""What guests may expect of the front desk."""

from __future__ import annotations

from lobby.greet import farewell, greet


def test_a_guest_is_greeted_by_name():
    assert "Ada" in greet("Ada")


def test_the_hour_is_honoured():
    assert greet("Ada", hour=9).startswith("Good morning, Ada")


def test_nobody_is_sent_to_bed_on_arrival():
    assert "night" not in greet("Ada", hour=3)


def test_a_guest_without_a_name_is_still_a_guest():
    assert "dear guest" in greet("  ")


def test_a_farewell_asks_for_more():
    assert farewell("Ada").endswith("Do come again.")
'''

GREETERS: Final = ("the door", "the lift", "the minibar", "the front desk")
_ROTA: Final = (0, 1, 0, 2, 0, 3, 1, 0, 2)
_VERDICTS: Final = ("returned the compliment", "left", "wrote a review", "asked for the manager")

LOG: Final = "".join(
    f"{8 + n // 60:02}:{n % 60:02} room {101 + n * 37 % 208} was greeted by "
    f"{GREETERS[_ROTA[n % 9]]} and {_VERDICTS[n * n % 11 % 4]}\n"
    for n in range(360)
)

LOGGED: Final = tuple(LOG.count(f"greeted by {greeter} ") for greeter in GREETERS)
"""How often each of `GREETERS` greeted somebody, as the log has it."""

FILES: Final[Mapping[str, str]] = {
    "README.md": README,
    "lobby/door.py": DOOR,
    "lobby/greet.py": GREET_RUDE,
    "lobby/lift.py": LIFT,
    "lobby/minibar.py": MINIBAR,
    "logs/reception.log": LOG,
    "tests/test_greet.py": TESTS,
}
"""The workspace as the agent finds it."""


def diff_of(path: str, before: str, after: str) -> FileDiff:
    """The edit that makes `after` of `before`; an empty `before` is a new file."""
    lines = list(
        difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            f"a/{path}" if before else "/dev/null",
            f"b/{path}",
        )
    )
    changes = [line[0] for line in lines[2:]]
    return FileDiff(diff="".join(lines), added=changes.count("+"), removed=changes.count("-"))


def numbered(text: str) -> str:
    """`text` as a reading tool shows it."""
    return "".join(f"{n:6}→{line}\n" for n, line in enumerate(text.splitlines(), 1))


def matches(word: str, folder: str = "") -> str:
    """The lines of the workspace, as it is found, that contain `word`."""
    return "".join(
        f"{path}:{number}:{line}\n"
        for path, text in FILES.items()
        if path.startswith(folder) and path.endswith(".py")
        for number, line in enumerate(text.splitlines(), 1)
        if word in line
    )

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import presentview
from presentview import errors
from presentview.errors import (
    AccessDenied,
    HeaderError,
    LogAmbiguous,
    LogExists,
    PresentviewError,
    SaveError,
    SidecarLocked,
    StaleSidecar,
)

CLASSES = {
    name: value
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, Exception)
}
PATH = Path("/x/s")
EXAMPLES = {
    "SidecarError": {"path", "line", "offset"},
    "StaleSidecar": {"found", "expected"},
    "SidecarLocked": {"pid", "host", "since"},
    "SaveError": {"path"},
    "LogExists": {"path"},
    "LogAmbiguous": {"candidates"},
    "AccessDenied": {"status"},
}


def drawn() -> dict[str, str]:
    """Each error in the docstring's drawing, with the one it hangs from."""
    assert errors.__doc__ is not None
    parents: dict[str, str] = {}
    branch: dict[int, str] = {}
    for line in errors.__doc__.splitlines():
        if found := re.match(r"    ([│├└─ ]*)([A-Z]\w+)", line):
            depth = len(found.group(1)) // 4
            branch[depth] = found.group(2)
            parents[found.group(2)] = branch[depth - 1] if depth else "Exception"
    return parents


def test_the_tree_that_is_drawn_is_the_tree_there_is() -> None:
    assert drawn() == {name: error.__bases__[0].__name__ for name, error in CLASSES.items()}
    assert all(len(error.__bases__) == 1 for error in CLASSES.values())


def test_every_error_is_public_under_two_names() -> None:
    assert sorted(errors.__all__) == sorted(CLASSES)
    for name, error in CLASSES.items():
        assert getattr(presentview, name) is error
        assert name in presentview.__all__


def test_the_attributes_drawn_are_there() -> None:
    assert errors.__doc__ is not None
    lines = {found.group(1): found.group(2) for found in re.finditer(
        r"([A-Z]\w+) +((?:\.\w+ ?)+) ", errors.__doc__
    )}  # fmt: skip
    assert {name: set(re.findall(r"\.(\w+)", text)) for name, text in lines.items()} == EXAMPLES
    examples: list[PresentviewError] = [
        HeaderError("why", path=PATH, line=1, offset=2),
        StaleSidecar(path=PATH, found=1, expected=2),
        SidecarLocked(path=PATH, pid=1, host="h", since=3),
        SaveError("why", path=PATH),
        LogExists(path=PATH),
        LogAmbiguous("r", ("r-2", "r")),
        AccessDenied("why", status=401),
    ]
    for error in examples:
        for base in type(error).__mro__:
            assert all(hasattr(error, name) for name in EXAMPLES.get(base.__name__, ()))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (HeaderError("why", path=PATH, line=3, offset=46), "/x/s:3:46: why"),
        (HeaderError("why", path=PATH), "/x/s: why"),
        (
            StaleSidecar(path=PATH, found=1, expected=2),
            "/x/s: rewrite version 1 is older than the session's 2",
        ),
        (
            SidecarLocked(path=PATH, pid=7, host="h"),
            "/x/s: process 7 on h is recording into it; close that one first",
        ),
        (
            SidecarLocked(path=PATH),
            "/x/s: another process is recording into it; close that one first",
        ),
        (SaveError("why", path=PATH), "/x/s: why"),
        (LogExists(path=PATH), "/x/s: a run with this id has a log already"),
        (LogAmbiguous("r", ("r-2", "r")), "'r' may be any of these runs: r-2, r"),
        (AccessDenied("why", status=403), "why"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_a_message_says_where_and_why(error: PresentviewError, text: str) -> None:
    assert str(error) == text


def test_an_error_that_is_not_on_purpose_is_none_of_these() -> None:
    assert not issubclass(PresentviewError, (ValueError, TypeError, OSError, RuntimeError))

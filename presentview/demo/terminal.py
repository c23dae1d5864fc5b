"""What the story's programs print: colours, a progress line that rewrites itself, test reports."""

from __future__ import annotations

from typing import Final

from presentview.demo.steps import Call, HalfWay, Pause, Steps

__all__ = ["TRACED", "failing_tests", "passing_tests", "trace_calls"]

_RED: Final = "\x1b[31m"
_GREEN: Final = "\x1b[32m"
_BOLD: Final = "\x1b[1m"
_DIM: Final = "\x1b[2m"
_PLAIN: Final = "\x1b[0m"
_ERASE_LINE: Final = "\x1b[K"

_NAMES: Final = (
    "test_a_guest_is_greeted_by_name",
    "test_the_hour_is_honoured",
    "test_nobody_is_sent_to_bed_on_arrival",
    "test_a_guest_without_a_name_is_still_a_guest",
    "test_a_farewell_asks_for_more",
)

_FAILURE: Final = f"""
{_RED}{_BOLD}_____________ test_nobody_is_sent_to_bed_on_arrival _____________{_PLAIN}

    def test_nobody_is_sent_to_bed_on_arrival():
>       assert "night" not in greet("Ada", hour=3)
{_RED}{_BOLD}E       AssertionError: assert 'night' not in 'Good night, Ada. How nice to …'{_PLAIN}

{_BOLD}{_RED}tests/test_greet.py{_PLAIN}:17: AssertionError
{_RED}FAILED{_PLAIN} tests/test_greet.py::{_BOLD}test_nobody_is_sent_to_bed_on_arrival{_PLAIN}
"""

_HOURS: Final = (
    f"{_DIM}opening the hotel …{_PLAIN}\n",
    *(
        f"\rsimulating {hour:02}:00 [{'#' * hour}{'.' * (24 - hour)}] {hour * 100 // 24:3} %"
        for hour in range(1, 25)
    ),
    f"\r{_ERASE_LINE}",
)
_TRACE_REPORT: Final = f"""\
{_BOLD}calls of greet() in one simulated day{_PLAIN}
  {_GREEN}ok{_PLAIN}  lobby/door.py:12     160  {_DIM}never stops{_PLAIN}
  {_GREEN}ok{_PLAIN}  lobby/lift.py:10      80  {_DIM}in capitals{_PLAIN}
  {_GREEN}ok{_PLAIN}  lobby/minibar.py:12   80  {_DIM}mostly after midnight{_PLAIN}
"""
TRACED: Final = "".join(_HOURS) + _TRACE_REPORT
"""Everything the tracer prints."""


def failing_tests(call: Call) -> Steps:
    """A test run that finds the fault."""
    summary = f"{_RED}{_BOLD}1 failed{_PLAIN}, {_GREEN}4 passed{_PLAIN} in 1.94s\n"
    yield from _tests(call, failed=2, report=_FAILURE + summary, err="exit status 1")


def passing_tests(call: Call) -> Steps:
    """The same run when all is well."""
    yield from _tests(call, failed=None, report=f"\n{_GREEN}{_BOLD}5 passed{_PLAIN} in 1.61s\n")


def trace_calls(call: Call) -> Steps:
    """A slow program that counts on one line; half way through it the script is half way too."""
    for count, piece in enumerate(_HOURS):
        yield call.printed(piece)
        yield Pause(0.13)
        if count == len(_HOURS) // 2:
            yield HalfWay()


def _tests(call: Call, *, failed: int | None, report: str, err: str = "") -> Steps:
    printed = []
    yield call.dispatched()
    yield Pause(0.4)
    for count in range(1, len(_NAMES) + 1):
        printed.append(f"\r{_DIM}collecting … {count} of {len(_NAMES)}{_PLAIN}")
        yield call.printed(printed[-1])
        yield Pause(0.08)
    printed.append(f"\r{_ERASE_LINE}{_BOLD}collected {len(_NAMES)} items{_PLAIN}\n\n")
    yield call.printed(printed[-1])
    for index, name in enumerate(_NAMES):
        yield Pause(0.2)
        word = f"{_RED}FAILED" if index == failed else f"{_GREEN}PASSED"
        share = f"{(index + 1) * 100 // len(_NAMES):3} %"
        printed.append(f"tests/test_greet.py::{name} {word}{_PLAIN} {_DIM}[{share}]{_PLAIN}\n")
        yield call.printed(printed[-1])
    yield Pause(0.2)
    printed.append(report)
    yield call.printed(report)
    yield call.returned("".join(printed), err=err)

"""JSON text taken apart as far as it goes: where the members of an object stand and end.

Nesting of any depth is passed over without recursion, and nothing here raises on any text.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

from presentview.compact import well_formed

__all__ = [
    "CONTROL",
    "SPACE",
    "TOO_DEEP",
    "UNREADABLE",
    "Container",
    "Member",
    "container",
    "control_in_string",
    "loads",
    "skip_space",
]

SPACE: Final = " \t\r\n"
CONTROL: Final = re.compile("[\x00-\x1f]")
UNREADABLE: Final = object()
"""What `loads` gives for text that is no JSON."""
TOO_DEEP: Final = object()
"""What `loads` gives for JSON nested too deep to be parsed."""

_SPACES = re.compile(r"[ \t\r\n]*+")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_TOKEN = re.compile(_STRING.pattern + r'|[\[\]{}]|[^\[\]{}"]++', re.DOTALL)
_SCALAR = re.compile(_STRING.pattern + r'|[^\s,:\[\]{}"]++', re.DOTALL)
# Python refuses to convert longer ones.
_MOST_DIGITS: Final = 4000


class Member(NamedTuple):
    """A value as it is spelled and where it begins; `key` is empty in a list."""

    key: str
    raw: str
    at: int


class Container(NamedTuple):
    """What an object or list holds, its values unread, and where it ends; None for what is
    neither, with how far it was read.
    """

    end: int
    members: list[Member] | None


def skip_space(text: str, at: int) -> int:
    """The first place from `at` on that is no white space."""
    found = _SPACES.match(text, at)
    return found.end() if found else at


def container(text: str, at: int) -> Container:
    """The object or list that begins at `at`, whatever its values hold."""
    is_object = text[at : at + 1] == "{"
    close = "}" if is_object else "]"
    members: list[Member] = []
    at = skip_space(text, at + 1)
    if text[at : at + 1] == close:
        return Container(at + 1, members)
    while True:
        name = ""
        if is_object:
            key = _STRING.match(text, at)
            if key is None or not isinstance(name := loads(key.group()), str):
                return Container(_read_in_vain(text, at), None)
            at = skip_space(text, key.end())
            if text[at : at + 1] != ":":
                return Container(at, None)
            at = skip_space(text, at + 1)
        end = _value_end(text, at)
        if end is None:
            return Container(_read_in_vain(text, at), None)
        members.append(Member(well_formed(name), text[at:end], at))
        at = skip_space(text, end)
        mark = text[at : at + 1]
        if mark == close:
            return Container(at + 1, members)
        if mark != ",":
            return Container(at, None)
        at = skip_space(text, at + 1)


def _read_in_vain(text: str, at: int) -> int:
    """How far one had to read to find that there is no value at `at`."""
    return len(text) if text[at : at + 1] in ('"', "{", "[") else at


def _value_end(text: str, at: int) -> int | None:
    if text[at : at + 1] not in ("{", "["):
        scalar = _SCALAR.match(text, at)
        if scalar is None or loads(scalar.group()) is UNREADABLE:
            return None
        return scalar.end()
    depth = 0
    for match in _TOKEN.finditer(text, at):
        token = match.group()
        if token in ("{", "["):
            depth += 1
        elif token in ("}", "]"):
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def loads(raw: str, constants: list[str] | None = None) -> Any:
    """The value of JSON text; NaN and infinities are null and are collected in `constants`."""
    found: list[str] = [] if constants is None else constants
    try:
        return json.loads(raw, strict=False, parse_constant=found.append, parse_int=_number)
    except RecursionError:
        return TOO_DEEP
    except ValueError:
        return UNREADABLE


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def control_in_string(text: str, at: int, end: int) -> int | None:
    """Where between `at` and `end` a string holds a raw control character; None if nowhere."""
    if CONTROL.search(text, at, end):
        for string in _STRING.finditer(text, at, end):
            if found := CONTROL.search(text, string.start(), string.end()):
                return found.start()
    return None

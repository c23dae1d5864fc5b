"""JSON objects of any kind, as Python has them, from lines that may be damaged."""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from presentview.loosejson import TOO_DEEP, UNREADABLE, Member, loads
from presentview.objects import Shape, find_objects
from presentview.pieces import Flaw

__all__ = ["dict_of", "dicts_in"]


def dict_of(members: list[Member], flaws: list[Flaw]) -> dict[str, Any]:
    """What an object holds; values that cannot be read are flaws."""
    value: dict[str, Any] = {}
    for member in members:
        read = loads(member.raw)
        if read is UNREADABLE or read is TOO_DEEP:
            flaws.append(Flaw(member.at, f"{member.key!r} cannot be read"))
        else:
            value[member.key] = read
    return value


_ANY: Final = Shape(dict_of, re.compile(r'\{\s*"'))


def dicts_in(line: bytes, *, first: bool = False) -> list[dict[str, Any]]:
    """The JSON objects on a line; `first` allows a byte order mark."""
    try:
        value = orjson.loads(line)
    except ValueError:
        return [p.item for p in find_objects(line, _ANY, first=first) if p.item is not None]
    return [value] if isinstance(value, dict) else []

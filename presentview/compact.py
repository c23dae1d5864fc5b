"""JSON the way Go's encoder spells it, for any Python value and without ever failing."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from presentview.limits import COLLAB_DEPTH

__all__ = [
    "compact",
    "go_escapes",
    "is_json",
    "json_bytes",
    "nested_deeper",
    "plain_text",
    "text_of",
    "well_formed",
]

_LESS, _GREATER, _AMPERSAND = b"<>&"
_SEPARATOR = 0xE2  # how U+2028 and U+2029 begin in UTF-8
_SURROGATES = re.compile("[\ud800-\udfff]")
# Python refuses to convert between longer integers and decimal text.
_PRINTABLE_BITS = 14_000
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_OUTSIDE_STRINGS = re.compile(rf"({_STRING})|[ \t\r\n]+", re.DOTALL)
_STRING_OR_BRACKET = re.compile(rf"{_STRING}|[\[{{]|[\]}}]", re.DOTALL)


def go_escapes(line: bytes) -> bytes:
    """`line` of JSON with the five characters escaped that Go escapes inside strings."""
    # A byte given as a number is found far quicker than as bytes.
    if _LESS in line:
        line = line.replace(b"<", b"\\u003c")
    if _GREATER in line:
        line = line.replace(b">", b"\\u003e")
    if _AMPERSAND in line:
        line = line.replace(b"&", b"\\u0026")
    if _SEPARATOR in line:
        line = line.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")
    return line


def well_formed(text: str) -> str:
    """`text` with every lone surrogate replaced by U+FFFD."""
    return _SURROGATES.sub("\ufffd", text)


def compact(text: str) -> str:
    """JSON `text` without the white space between its tokens; everything else as spelled."""
    return _OUTSIDE_STRINGS.sub(lambda match: match.group(1) or "", text)


def json_bytes(value: Any) -> bytes:
    """`value` as compact JSON in UTF-8. Lone surrogates become U+FFFD, NaN and infinities null.

    Whatever JSON has no word for is written as its `plain_text`, an integer of thousands of
    digits as its hexadecimal text. Raises `RecursionError` when nested too deep and `ValueError`
    when it contains itself.
    """
    dumped = json.dumps(
        _plain(value),
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
        default=plain_text,
    )
    return well_formed(dumped).encode()


def plain_text(value: object) -> str:
    """`value` as text, whatever a program hands over: bytes decoded, all else by `str()`.

    An object that fails to describe itself is named by its type.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - code of the program that is recorded, not ours
        return type(value).__name__


def text_of(value: Any, *, deepest: int = COLLAB_DEPTH) -> str:
    """The JSON text for a collab value: `bytes` verbatim (white space aside), else encoded.

    What is no JSON, holds itself, or is nested deeper than `deepest` becomes a JSON string of its
    text, so that no reader stumbles over it.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        text = bytes(value).decode("utf-8", "replace")
        if _depth(text) <= deepest and is_json(text):
            return compact(text)
        return json_bytes(text).decode()
    if nested_deeper(value, deepest):
        return json_bytes(_deep_text(value)).decode()
    try:
        return json_bytes(value).decode()
    except RecursionError:
        # The program that records is deep in calls of its own.
        return _deep_text(value)


def nested_deeper(value: Any, limit: int) -> bool:
    """Whether `value` holds containers more than `limit` deep (always so if it holds itself)."""
    level = [value]
    for _ in range(limit):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list | tuple)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list | tuple)
        ]
        if not level:
            return False
        if len(level) > 1:
            level = list({id(item): item for item in level}.values())
    return True


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and value.bit_length() > _PRINTABLE_BITS:
        return hex(value)
    if isinstance(value, dict):
        return {_key(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _key(key: Any) -> str:
    return key if isinstance(key, str) else plain_text(key)


def _depth(text: str) -> int:
    depth = deepest = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        token = match.group()
        if token in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "]}":
            depth -= 1
    return deepest


def is_json(text: str) -> bool:
    """Whether `text` is one JSON value, and not nested too deep to be parsed."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


def _deep_text(value: Any) -> str:
    """`value` as JSON text without recursion; a container inside itself becomes null."""
    out: list[str] = []
    stack: list[Any] = [value]
    open_ids: set[int] = set()
    while stack:
        item = stack.pop()
        if isinstance(item, _Literal):
            out.append(item.text)
            open_ids.discard(item.closes)
        elif not isinstance(item, dict | list | tuple):
            out.append(json_bytes(item).decode())
        elif id(item) in open_ids:
            out.append("null")
        else:
            open_ids.add(id(item))
            stack += _unfold(item)
    return "".join(out)


class _Literal:
    __slots__ = ("closes", "text")

    def __init__(self, text: str, closes: int = 0) -> None:
        self.text = text
        self.closes = closes


def _unfold(item: dict[Any, Any] | list[Any] | tuple[Any, ...]) -> list[Any]:
    """The pieces of one container in reverse, ready to be taken from the end of a stack."""
    is_dict = isinstance(item, dict)
    pieces: list[Any] = [_Literal("{" if is_dict else "[")]
    for index, inner in enumerate(item):
        comma = "," if index else ""
        if isinstance(item, dict):
            pieces += (_Literal(f"{comma}{json_bytes(_key(inner)).decode()}:"), item[inner])
        else:
            pieces += (_Literal(comma), inner)
    pieces.append(_Literal("}" if is_dict else "]", closes=id(item)))
    pieces.reverse()
    return pieces

"""Reading the event log's types from JSON as leniently as the Go package does, and more so.

Keys count in any case, unknown ones not at all; what is left out or null is zero. A value of the
wrong type makes a whole struct undecodable, as it does there; `fill` can be told to go on instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, Union, get_args, get_origin

import msgspec

from presentview.compact import well_formed
from presentview.eventlog.wire import W, Wire
from presentview.loosejson import TOO_DEEP, UNREADABLE, Member, container, loads, skip_space
from presentview.records import INT64_MAX, INT64_MIN, fields_of

__all__ = ["decode", "fill", "in_usual_case"]

Refuse: TypeAlias = Callable[[str, Member, str], None]
"""Takes the key, the value and what it should have been, where a value is of the wrong type."""


class _MismatchError(Exception):
    """A value is not what its field wants; the argument says what that is."""


class _Kind(NamedTuple):
    """The type of a field's value, or of each of many."""

    base: Any
    many: bool


_decoder = cache(msgspec.json.Decoder)
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def decode(data: bytes, kind: type[W]) -> W | None:
    """The struct that the JSON in `data` stands for, None where it stands for none."""
    for spelling in (_as_it_is, in_usual_case):
        try:
            decoded: W = _decoder(kind).decode(spelling(data, kind))
        except (ValueError, RecursionError):
            continue
        return decoded
    return _decode_loosely(data.decode("utf-8", "replace"), kind)


def in_usual_case(data: bytes, kind: type[Wire]) -> bytes:
    """The JSON object in `data` with the keys of `kind` in the case they have there, and no others.

    Raises a `ValueError` where `data` is no JSON object or says something twice, and
    `RecursionError` where it is nested too deep.
    """
    keys = _in_any_case(kind)
    renamed: dict[str, msgspec.Raw] = {}
    for name, raw in _members.decode(data).items():
        key = keys.get(name.lower())
        if key in renamed:
            raise ValueError(key)
        if key is not None:
            renamed[key] = raw
    return msgspec.json.encode(renamed)


def _as_it_is(data: bytes, _: type[Wire]) -> bytes:
    return data


def _decode_loosely(text: str, kind: type[W]) -> W | None:
    text = text.strip(" \t\r\n")
    if text == "null":
        return fill(kind, ())
    if not text.startswith("{"):
        return None
    end, members = container(text, 0)
    if members is None or skip_space(text, end) < len(text):
        return None
    try:
        return fill(kind, members)
    except _MismatchError:
        return None


def fill(kind: type[W], members: Iterable[Member], refuse: Refuse | None = None) -> W:
    """A struct of what `members` hold.

    The exact spelling of a key wins over others, the last of equal ones counts. Each value of the
    wrong type is handed to `refuse` and counts as not there; without `refuse` the struct is not
    made, which raises.
    """
    fields, keys = _by_key(kind), _in_any_case(kind)
    chosen: dict[str, Member] = {}
    for member in members:
        key = member.key if member.key in fields else keys.get(member.key.lower())
        if key and (member.key == key or key not in chosen or chosen[key].key != key):
            chosen[key] = member
    values: dict[str, Any] = {}
    for key, member in chosen.items():
        field = fields[key]
        try:
            value = _value(_kind_of(field.type), member.raw)
        except _MismatchError as mismatch:
            if refuse is None:
                raise
            refuse(key, member, str(mismatch))
            continue
        if value is not None:
            values[field.name] = value
    for field in fields.values():
        if field.required and field.name not in values:
            values[field.name] = _zero(_kind_of(field.type))
    return kind(**values)


@cache
def _by_key(kind: type[Wire]) -> dict[str, Any]:
    return {field.encode_name: field for field in fields_of(kind)}


@cache
def _in_any_case(kind: type[Wire]) -> dict[str, str]:
    return {key.lower(): key for key in _by_key(kind)}


@cache
def _kind_of(annotation: Any) -> _Kind:
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(part for part in get_args(annotation) if part is not NoneType)
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is tuple:
        return _Kind(get_args(annotation)[0], many=True)
    return _Kind(get_origin(annotation) or annotation, many=False)


def _zero(kind: _Kind) -> Any:
    if kind.many:
        return ()
    return fill(kind.base, ()) if issubclass(kind.base, Wire) else kind.base()


def _value(kind: _Kind, raw: str) -> Any:
    """The value spelled `raw` as `kind` wants it, None for null. Raises where it is another."""
    base = kind.base
    if base is msgspec.Raw:
        return raw.encode()
    if raw == "null":
        return None
    if base is Any:
        return _anything(raw)
    if kind.many:
        items = container(raw, 0).members if raw.startswith("[") else None
        if items is None:
            raise _MismatchError("a list")
        single = _Kind(base, many=False)
        values = (_value(single, item.raw) for item in items)
        return tuple(_zero(single) if value is None else value for value in values)
    if issubclass(base, Wire):
        members = container(raw, 0).members if raw.startswith("{") else None
        if members is None:
            raise _MismatchError("an object")
        return fill(base, members)
    return _scalar(base, loads(raw))


def _anything(raw: str) -> Any:
    value = loads(raw)
    if value is UNREADABLE:
        raise _MismatchError("JSON")
    return raw if value is TOO_DEEP else value


def _scalar(base: type, value: Any) -> Any:
    if base is str and isinstance(value, str):
        return well_formed(value)
    if base in (bool, dict) and isinstance(value, base):
        return value
    if base is int:
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        if type(whole) is int and INT64_MIN <= whole <= INT64_MAX:
            return whole
    if base is datetime and isinstance(value, str):
        try:
            return msgspec.convert(value, datetime)
        except msgspec.ValidationError:
            pass
    raise _MismatchError(_WANTED[base])


_WANTED: Final = {
    str: "a string",
    bool: "true or false",
    int: "a 64-bit integer",
    dict: "an object",
    datetime: "a time",
}

"""How the event log's types stand in JSON, spelled as the Go package spells them.

That is: its keys in its order, and null for a list or a raw value that is not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Optional,
    TypeAlias,
    TypeVar,
)

import msgspec

from presentview.compact import go_escapes, json_bytes, nested_deeper, text_of
from presentview.limits import COLLAB_DEPTH, EVENT_DATA_DEPTH
from presentview.records import INT64_MAX, INT64_MIN, fields_of

__all__ = [
    "ClassOf",
    "Encoded",
    "Json",
    "Many",
    "Tagged",
    "Untagged",
    "Wire",
    "as_bytes",
    "as_tuples",
    "encode",
    "encode_raw",
    "json_text",
]

T = TypeVar("T")

# Go writes null where a list has nothing in it and where a raw value is not set. Whoever uses
# these types meets an empty tuple and empty bytes instead: msgspec is told more than mypy.
if TYPE_CHECKING:
    Json: TypeAlias = bytes
    Many: TypeAlias = tuple[T, ...]
else:
    Json = msgspec.Raw
    Many = Optional[tuple[T, ...]]  # noqa: UP045 - a union of types cannot be subscripted

W = TypeVar("W", bound="Wire")
ClassOf: TypeAlias = type[W]

_encoder: Final = msgspec.json.Encoder()
_NEVER: Final = "0001-01-01T00:00:00Z"


class Encoded(bytes):
    """JSON text that `encode` made, which nobody has to check again."""

    __slots__ = ()


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _pascal(name: str) -> str:
    return "".join("ID" if part == "id" else part.title() for part in name.split("_"))


class Wire(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A frozen struct that stands in a file as a JSON object."""


class Tagged(Wire, frozen=True, omit_defaults=True, rename=_camel):
    """One with camel case keys, of which those that have a default are left out when zero."""


class Untagged(Wire, frozen=True, rename=_pascal):
    """One with the keys of a Go struct, all of which are always there."""


def as_tuples(wire: Wire, *names: str) -> None:
    """Make the lists of a new struct that were null empty instead."""
    for name in names:
        if getattr(wire, name) is None:
            msgspec.structs.force_setattr(wire, name, ())


def as_bytes(wire: Wire, *names: str) -> None:
    """Make the raw values of a new struct bytes that keep nothing else alive."""
    for name in names:
        if not isinstance(value := getattr(wire, name), bytes):
            msgspec.structs.force_setattr(wire, name, bytes(value))


def encode(wire: Wire) -> Encoded:
    """`wire` as JSON on one line. Never fails on content: see `json_text`."""
    return Encoded(go_escapes(_object(wire).encode("utf-8", "surrogatepass")))


def encode_raw(raw: bytes) -> Encoded:
    """JSON text from anywhere as `encode` would write it; see `json_text`."""
    return raw if isinstance(raw, Encoded) else Encoded(go_escapes(json_text(raw).encode()))


def json_text(value: Any) -> str:
    """The JSON text for any value; `bytes` are JSON already, empty ones null.

    What is no JSON, holds itself or is nested too deep becomes a JSON string of its text. Keys
    are sorted, as Go does with those of a map.
    """
    if type(value) is str:
        return _string(value)
    if isinstance(value, Encoded):
        return value.decode()
    if isinstance(value, bytes):
        return text_of(value, deepest=EVENT_DATA_DEPTH) if value else "null"
    if isinstance(value, datetime) or value is None:
        return "null" if value is None else f'"{_rfc3339(value)}"'
    return text_of(value if nested_deeper(value, COLLAB_DEPTH) else _sorted(value))


def _string(text: str) -> str:
    try:
        return _encoder.encode(text).decode()
    except UnicodeEncodeError:
        return json_bytes(text).decode()


def _object(wire: Wire) -> str:
    return "{" + ",".join(_members(wire)) + "}"


def _members(wire: Wire) -> Iterator[str]:
    always = not wire.__struct_config__.omit_defaults
    for field in fields_of(type(wire)):
        value = getattr(wire, field.name)
        is_map = field.name == "metadata"
        if value or field.required or (always and not is_map):
            yield f'"{field.encode_name}":{_text(field.name, value)}'


def _text(name: str, value: Any) -> str:
    if type(value) is int:
        return str(value) if INT64_MIN <= value <= INT64_MAX else json_text(value)
    if isinstance(value, Wire):
        return _object(value)
    if isinstance(value, tuple):
        return "[" + ",".join(_text("", item) for item in value) + "]" if value else "null"
    if name == "created_at" and value is None:
        return f'"{_NEVER}"'
    return json_text(value)


def _rfc3339(moment: datetime) -> str:
    """A time that is in UTC."""
    text = moment.replace(tzinfo=None).isoformat()
    return (text.rstrip("0") if "." in text else text) + "Z"


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: str(item[0]))
        return {key: _sorted(inner) for key, inner in items}
    if isinstance(value, list | tuple):
        return [_sorted(inner) for inner in value]
    return value

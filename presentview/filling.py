"""From the members of a JSON object to the record or header they spell, whatever is wrong.

Keys count in any case, a value of the wrong type as not recorded; each is named as a flaw.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from msgspec import Struct

from presentview.compact import compact, json_bytes, well_formed
from presentview.loosejson import CONTROL, TOO_DEEP, UNREADABLE, Member, container, loads
from presentview.pieces import Flaw, refused
from presentview.records import (
    HEADER_KIND,
    INT64_MAX,
    INT64_MIN,
    Attachment,
    Extra,
    Header,
    Record,
    encode,
    fields_of,
)

__all__ = ["item_of"]


def item_of(members: list[Member], flaws: list[Flaw]) -> Record | Header:
    """What the object with these `members` records; what is wrong with it is added to `flaws`."""
    kind = next((m for m in reversed(members) if m.key == "kind"), None)
    kind = kind or next((m for m in reversed(members) if m.key.lower() == "kind"), None)
    is_header = kind is not None and loads(kind.raw) == HEADER_KIND
    item: Record | Header = _fill(Header if is_header else Record, members, flaws)
    return item


@cache
def _by_key(struct: type[Struct]) -> dict[str, Any]:
    """The fields of `struct` by their keys in the format."""
    return {field.encode_name: field for field in fields_of(struct) if field.name != "extra"}


@cache
def _in_any_case(struct: type[Struct]) -> dict[str, str]:
    return {key.lower(): key for key in _by_key(struct)}


def _fill(struct: type[Struct], members: list[Member], flaws: list[Flaw], path: str = "") -> Any:
    """A `struct` of what `members` hold, with a flaw for each value of the wrong type."""
    fields, keys = _by_key(struct), _in_any_case(struct)
    chosen: dict[str, Member] = {}
    extra = Extra()
    for member in members:
        key = member.key if member.key in fields else keys.get(member.key.lower())
        if key is None:
            extra[member.key] = _unknown(member, flaws, path)
        elif member.key == key or key not in chosen or chosen[key].key != key:
            chosen[key] = member
    values: dict[str, Any] = {}
    for key, member in chosen.items():
        value = _typed(fields[key], member, flaws, path + key)
        if value is not None:
            values[fields[key].name] = value
    if extra:
        values["extra"] = extra
    for field in fields.values():
        if field.required and field.name not in values:
            values[field.name] = "" if field.type is str else 0
    return struct(**values)


def _typed(field: Any, member: Member, flaws: list[Flaw], path: str) -> Any:
    """The value of `member` as `field` wants it; None (not recorded) where it is something else."""
    if field.name == "collab":
        return _collab(member, flaws)
    if member.raw == "null":
        return None
    if field.name in ("attachments", "images"):
        return _attachments(member, flaws, path)
    nested = _struct_in(field.type)
    if nested is not None:
        return _nested(nested, member, flaws, path)
    value = loads(member.raw)
    if field.type is str and isinstance(value, str):
        return well_formed(value)
    if field.type is bool and isinstance(value, bool):
        return value
    if field.type not in (str, bool):
        if type(value) is int and INT64_MIN <= value <= INT64_MAX:
            return value
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            flaws.append(Flaw(member.at, f"{path}: written {member.raw}, read as {int(value)}"))
            return int(value)
    wanted = {str: "a string", bool: "true or false"}.get(field.type, "a 64-bit integer")
    flaws.append(refused(member.at, path, wanted, member.raw))
    return None


def _nested(struct: type[Struct], member: Member, flaws: list[Flaw], path: str) -> Any:
    members = container(member.raw, 0).members if member.raw.startswith("{") else None
    if members is None:
        flaws.append(refused(member.at, path, "an object", member.raw))
        return None
    found: list[Flaw] = []
    value = _fill(struct, members, found, path + ".")
    flaws += (Flaw(member.at + flaw.offset, flaw.reason) for flaw in found)
    return value


def _attachments(member: Member, flaws: list[Flaw], path: str) -> tuple[Attachment, ...] | None:
    items = container(member.raw, 0).members if member.raw.startswith("[") else None
    if items is None:
        flaws.append(refused(member.at, path, "a list", member.raw))
        return None
    kept: list[Attachment | None] = []
    for number, item in enumerate(items):
        placed = item._replace(at=member.at + item.at)
        null = item.raw == "null"
        kept.append(
            Attachment() if null else _nested(Attachment, placed, flaws, f"{path}[{number}]")
        )
    return tuple(item for item in kept if item is not None)


def _collab(member: Member, flaws: list[Flaw]) -> Any:
    """A parsed collab value, or its bytes where parsing would change how it is written."""
    if member.raw == "null":
        return b"null"
    spelled = compact(member.raw)
    kept = spelled.encode()
    constants: list[str] = []
    value = loads(member.raw, constants)
    if constants:
        flaws.append(Flaw(member.at, f"collab: {constants[0]} is no JSON; read as null"))
        return value
    if value is TOO_DEEP or value is UNREADABLE:
        why = "nested too deep to parse" if value is TOO_DEEP else "not valid JSON"
        flaws.append(Flaw(member.at, f"collab: {why}; kept as text"))
        return kept
    same = encode(Record("", collab=value)) == encode(Record("", collab=kept))
    return value if same or CONTROL.search(spelled) else kept


def _unknown(member: Member, flaws: list[Flaw], path: str) -> str:
    """The JSON text to keep for a key of a newer writer; a JSON string of it if it is not valid."""
    constants: list[str] = []
    value = loads(member.raw, constants)
    if value is TOO_DEEP or value is UNREADABLE or constants:
        flaws.append(Flaw(member.at, f"{path}{member.key}: not JSON to pass on; kept as text"))
        return json_bytes(member.raw).decode()
    spelled = compact(member.raw)
    return json_bytes(value).decode() if CONTROL.search(spelled) else spelled


@cache
def _struct_in(annotation: Any) -> type[Struct] | None:
    for part in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(part, type) and issubclass(part, Struct):
            return part
    return None

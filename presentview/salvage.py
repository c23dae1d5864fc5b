"""What can be saved of a line that is not spelled as a record should be.

Everything a JSON reader could take a record from is taken: several objects on a line, keys in
any case, invalid UTF-8, raw control characters, values of the wrong type, nesting of any depth,
whole records behind a damaged one. Each thing that was not as it should be is named, with its
place in the line. Nothing here recurses and nothing here raises on any input.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from presentview.compact import compact, json_bytes, well_formed
from presentview.limits import MIB
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

__all__ = ["Flaw", "Piece", "read_pieces", "verbatim"]


class Flaw(NamedTuple):
    """Something wrong at byte `offset` of the line, and what."""

    offset: int
    reason: str


class Piece(NamedTuple):
    """One record or header found on a line, at `offset`, `length` bytes long.

    `exact` means that its bytes are what `encode` would spell or another JSON reader would take
    as they are, so that a rewrite may copy them. `item` is None where nothing could be saved.
    """

    item: Record | Header | None
    offset: int
    length: int
    exact: bool
    flaws: tuple[Flaw, ...] = ()


class _Taken(NamedTuple):
    """A piece in characters instead of bytes; `read` is how far the text was looked at."""

    end: int
    item: Record | Header | None
    flaws: list[Flaw]
    read: int


class _Member(NamedTuple):
    key: str
    raw: str
    at: int


class _Container(NamedTuple):
    """What an object or list holds, its values unread, and where it ends; None for what is
    neither, with how far it was read.
    """

    end: int
    members: list[_Member] | None


_SPACE = " \t\r\n"
_SPACES = re.compile(r"[ \t\r\n]*+")
_NULS = re.compile(r"\0(?:[\0 \t\r\n]*\0)?")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_TOKEN = re.compile(_STRING.pattern + r'|[\[\]{}]|[^\[\]{}"]++', re.DOTALL)
_SCALAR = re.compile(_STRING.pattern + r'|[^\s,:\[\]{}"]++', re.DOTALL)
_NEXT_RECORD = re.compile(r'\{\s*"kind"\s*:')
_CONTROL = re.compile("[\x00-\x1f]")
_BAD_BYTE = re.compile("[\udc80-\udcff]")
_BOM: Final = "\ufeff"
# A damaged object may have to be read to the end of its line to find that it has none, and so
# may each of those in it: a line is looked through at most this often, a short one more often.
_TIMES: Final = 4


def read_pieces(line: bytes, *, first: bool = False) -> Iterator[Piece]:
    """Every piece of `line` in order; `first` allows a byte order mark before it.

    A blank line has no pieces. Offsets are bytes from the start of the line.
    """
    source = _decoded(line)
    place = _Places(source, line)
    text = _BAD_BYTE.sub("\ufffd", source)
    valid = source == text
    patience = max(MIB, _TIMES * len(text))
    at = 0
    flaws: list[Flaw] = []
    if first and text.startswith(_BOM):
        at = 1
        flaws.append(Flaw(0, "a byte order mark before the first record"))
    while (at := _skip_space(text, at)) < len(text):
        taken = _take(text, at, give_up=patience < 0)
        if not valid and (bad := _BAD_BYTE.search(source, at, taken.end)):
            taken.flaws.append(Flaw(bad.start(), "not UTF-8; the bytes are shown as U+FFFD"))
        start = place(at)
        flaws += (Flaw(place(flaw.offset), flaw.reason) for flaw in sorted(taken.flaws))
        yield Piece(taken.item, start, place(taken.end) - start, not flaws, tuple(flaws))
        flaws = []
        patience -= taken.read - taken.end
        at = taken.end
    if flaws:
        yield Piece(None, 0, place(at), exact=False, flaws=tuple(flaws))


def verbatim(record: Record, line: bytes) -> Record:
    """`record`, read from `line`, with a collab value that will be written as it was spelled.

    Number spellings such as `1.0e5` are lost in a parsed value; where writing the value again
    would not give the same text, its bytes are kept instead.
    """
    text = line.decode("utf-8", "replace")
    members = _container(text, _skip_space(text, 0)).members or []
    raw = next((member.raw for member in reversed(members) if member.key == "collab"), None)
    if raw is None:
        return record
    kept = msgspec.structs.replace(record, collab=compact(raw).encode())
    return record if encode(kept) == encode(record) else kept


class _Places:
    """Byte offsets of character offsets, each asked for in ascending order."""

    def __init__(self, source: str, line: bytes) -> None:
        self._source = source
        self._same = len(source) == len(line)
        self._chars = self._bytes = 0

    def __call__(self, at: int) -> int:
        if self._same:
            return at
        stretch = self._source[self._chars : at]
        self._bytes += len(stretch.encode("utf-8", "surrogateescape"))
        self._chars = at
        return self._bytes


def _decoded(line: bytes) -> str:
    """The text of `line`, in which a surrogate stands for each byte that is not UTF-8."""
    return line.decode("utf-8", "surrogateescape")


def _skip_space(text: str, at: int) -> int:
    found = _SPACES.match(text, at)
    return found.end() if found else at


# what stands where


def _take(text: str, at: int, *, give_up: bool) -> _Taken:
    """The piece at `at`; with `give_up` no record is looked for behind a damaged one."""
    if nuls := _NULS.match(text, at):
        count = text.count("\0", at, nuls.end())
        flaw = Flaw(at, f"{count} NUL bytes, as a crash leaves them")
        return _Taken(nuls.end(), None, [flaw], nuls.end())
    read = at
    if text[at] == "{":
        read, members = _container(text, at)
        if members is not None:
            flaws: list[Flaw] = []
            item = _item(members, flaws)
            if (control := _control_in_string(text, at, read)) is not None:
                flaws.append(Flaw(control, "a raw control character inside a string"))
            return _Taken(read, item, flaws, read)
    elif text.startswith("null", at) and text[at + 4 : at + 5] in (*_SPACE, "{"):
        return _Taken(at + 4, Record(kind=""), [], at + 4)
    following = None if give_up else _NEXT_RECORD.search(text, at + 1)
    end = following.start() if following else len(text)
    why = "damaged so often that nothing more is looked for" if give_up else _why(text, at, end)
    return _Taken(end, None, [Flaw(at, why)], max(read, end))


def _why(text: str, at: int, end: int) -> str:
    if text[at] != "{":
        return f"not a JSON object: {text[at : min(end, at + 20)]!r}"
    if end == len(text):
        return "cut off: the JSON object does not end"
    return "damaged: not a JSON object"


def _control_in_string(text: str, at: int, end: int) -> int | None:
    if _CONTROL.search(text, at, end):
        for string in _STRING.finditer(text, at, end):
            if found := _CONTROL.search(text, string.start(), string.end()):
                return found.start()
    return None


def _container(text: str, at: int) -> _Container:
    """The object or list that begins at `at`."""
    is_object = text[at : at + 1] == "{"
    close = "}" if is_object else "]"
    members: list[_Member] = []
    at = _skip_space(text, at + 1)
    if text[at : at + 1] == close:
        return _Container(at + 1, members)
    while True:
        name = ""
        if is_object:
            key = _STRING.match(text, at)
            if key is None or not isinstance(name := _loads(key.group()), str):
                return _Container(_read_in_vain(text, at), None)
            at = _skip_space(text, key.end())
            if text[at : at + 1] != ":":
                return _Container(at, None)
            at = _skip_space(text, at + 1)
        end = _value_end(text, at)
        if end is None:
            return _Container(_read_in_vain(text, at), None)
        members.append(_Member(well_formed(name), text[at:end], at))
        at = _skip_space(text, end)
        mark = text[at : at + 1]
        if mark == close:
            return _Container(at + 1, members)
        if mark != ",":
            return _Container(at, None)
        at = _skip_space(text, at + 1)


def _read_in_vain(text: str, at: int) -> int:
    """How far one had to read to find that there is no value at `at`."""
    return len(text) if text[at : at + 1] in ('"', "{", "[") else at


def _value_end(text: str, at: int) -> int | None:
    if text[at : at + 1] not in ("{", "["):
        scalar = _SCALAR.match(text, at)
        if scalar is None or _loads(scalar.group()) is _UNREADABLE:
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


_UNREADABLE: Final = object()
_TOO_DEEP: Final = object()
# Python refuses to convert longer ones.
_MOST_DIGITS: Final = 4000


def _loads(raw: str, constants: list[str] | None = None) -> Any:
    """The value of JSON text; NaN and infinities are null and are collected in `constants`."""
    found: list[str] = [] if constants is None else constants
    try:
        return json.loads(raw, strict=False, parse_constant=found.append, parse_int=_number)
    except RecursionError:
        return _TOO_DEEP
    except ValueError:
        return _UNREADABLE


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


# what it means


def _item(members: list[_Member], flaws: list[Flaw]) -> Record | Header:
    kind = next((m for m in reversed(members) if m.key == "kind"), None)
    kind = kind or next((m for m in reversed(members) if m.key.lower() == "kind"), None)
    is_header = kind is not None and _loads(kind.raw) == HEADER_KIND
    item: Record | Header = _fill(Header if is_header else Record, members, flaws)
    return item


@cache
def _by_key(struct: type[Struct]) -> dict[str, Any]:
    """The fields of `struct` by their keys in the format."""
    return {field.encode_name: field for field in fields_of(struct) if field.name != "extra"}


@cache
def _in_any_case(struct: type[Struct]) -> dict[str, str]:
    return {key.lower(): key for key in _by_key(struct)}


def _fill(struct: type[Struct], members: list[_Member], flaws: list[Flaw], path: str = "") -> Any:
    """A `struct` of what `members` hold, with a flaw for each value of the wrong type."""
    fields, keys = _by_key(struct), _in_any_case(struct)
    chosen: dict[str, _Member] = {}
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


def _typed(field: Any, member: _Member, flaws: list[Flaw], path: str) -> Any:
    """The value of `member` as `field` wants it; None (not recorded) where it is something else."""
    if field.name == "collab":
        return _collab(member, flaws)
    if member.raw == "null":
        return None
    if field.name == "attachments":
        return _attachments(member, flaws, path)
    nested = _struct_in(field.type)
    if nested is not None:
        return _nested(nested, member, flaws, path)
    value = _loads(member.raw)
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
    _refuse(member, flaws, path, wanted)
    return None


def _refuse(member: _Member, flaws: list[Flaw], path: str, wanted: str) -> None:
    shown = member.raw if len(member.raw) <= 40 else member.raw[:37] + "..."
    flaws.append(Flaw(member.at, f"{path}: not {wanted}, so not read: {shown}"))


def _nested(struct: type[Struct], member: _Member, flaws: list[Flaw], path: str) -> Any:
    members = _container(member.raw, 0).members if member.raw.startswith("{") else None
    if members is None:
        _refuse(member, flaws, path, "an object")
        return None
    found: list[Flaw] = []
    value = _fill(struct, members, found, path + ".")
    flaws += (Flaw(member.at + flaw.offset, flaw.reason) for flaw in found)
    return value


def _attachments(member: _Member, flaws: list[Flaw], path: str) -> tuple[Attachment, ...] | None:
    items = _container(member.raw, 0).members if member.raw.startswith("[") else None
    if items is None:
        _refuse(member, flaws, path, "a list")
        return None
    kept: list[Attachment | None] = []
    for number, item in enumerate(items):
        placed = item._replace(at=member.at + item.at)
        null = item.raw == "null"
        kept.append(
            Attachment() if null else _nested(Attachment, placed, flaws, f"{path}[{number}]")
        )
    return tuple(item for item in kept if item is not None)


def _collab(member: _Member, flaws: list[Flaw]) -> Any:
    """A parsed collab value, or its bytes where parsing would change how it is written."""
    if member.raw == "null":
        return b"null"
    spelled = compact(member.raw)
    kept = spelled.encode()
    constants: list[str] = []
    value = _loads(member.raw, constants)
    if constants:
        flaws.append(Flaw(member.at, f"collab: {constants[0]} is no JSON; read as null"))
        return value
    if value is _TOO_DEEP or value is _UNREADABLE:
        why = "nested too deep to parse" if value is _TOO_DEEP else "not valid JSON"
        flaws.append(Flaw(member.at, f"collab: {why}; kept as text"))
        return kept
    same = encode(Record("", collab=value)) == encode(Record("", collab=kept))
    return value if same or _CONTROL.search(spelled) else kept


def _unknown(member: _Member, flaws: list[Flaw], path: str) -> str:
    """The JSON text to keep for a key of a newer writer; a JSON string of it if it is not valid."""
    constants: list[str] = []
    value = _loads(member.raw, constants)
    if value is _TOO_DEEP or value is _UNREADABLE or constants:
        flaws.append(Flaw(member.at, f"{path}{member.key}: not JSON to pass on; kept as text"))
        return json_bytes(member.raw).decode()
    spelled = compact(member.raw)
    return json_bytes(value).decode() if _CONTROL.search(spelled) else spelled


@cache
def _struct_in(annotation: Any) -> type[Struct] | None:
    for part in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(part, type) and issubclass(part, Struct):
            return part
    return None

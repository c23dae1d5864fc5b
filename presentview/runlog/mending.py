"""How records are read of a line of a run log that is not spelled as a record should be."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from presentview.eventlog.decoding import fill
from presentview.eventlog.gotext import trim
from presentview.loosejson import Member, loads
from presentview.objects import Found, Shape, find_objects
from presentview.pieces import Flaw, refused
from presentview.runlog import times
from presentview.runlog.records import Record, decode_line

__all__ = ["RECORDS", "read_carefully", "read_trimmed"]


def _record_of(members: list[Member], flaws: list[Flaw]) -> Record:
    """The record an object spells; a value of the wrong type counts as not recorded."""

    def refuse(key: str, member: Member, wanted: str) -> None:
        flaws.append(refused(member.at, key, wanted, member.raw))

    record = fill(Record, members, refuse)
    if record.stamp and times.parse_ns(record.stamp) is None:
        at = next(member for member in reversed(members) if member.key.lower() == "at")
        refuse("at", at, "a time")
        record = msgspec.structs.replace(record, stamp="")
    activity = record.message.activity if record.message is not None else None
    if activity is not None:
        said = next(m for m in reversed(members) if m.key.lower() == "message")
        flaws += (Flaw(said.at, why) for why in _no_numbers(said.raw, activity.result))
    return record


def _no_numbers(raw: str, result: Any) -> Iterator[str]:
    """What in `raw`, which holds `result`, JSON has no word for or no float can be."""
    constants: list[str] = []
    loads(raw, constants)
    if constants:
        yield f"message: {constants[0]} is no JSON; read as null"
    values = [result]
    while values:
        value = values.pop()
        if isinstance(value, dict | list):
            values += value.values() if isinstance(value, dict) else value
        elif isinstance(value, float) and math.isinf(value):
            yield "message: a number too large to be written again"
            return


# Nested objects begin with a kind too, but only a record goes on with its time.
RECORDS: Final = Shape[Record](
    _record_of, re.compile(r'\{\s*"kind"\s*:\s*"[^"\\]*"\s*,\s*"at"\s*:', re.IGNORECASE), Record()
)


def read_carefully(line: bytes, *, first: bool) -> Iterator[Found[Record]]:
    """Every piece of one line, as `find_objects` gives them.

    White space around it may be any that Go knows. Other readers take nothing from a line with
    several records: what is saved of it is a flaw.
    """
    if line.strip() == b"null":
        # In Go a null is a record that says nothing, wherever the line ends.
        yield Found(Record(), line.index(b"n"), 4, exact=True)
        return
    text = line.decode("utf-8", "surrogateescape")
    trimmed = trim(text)
    if trimmed != text.strip(" \t\r\n"):
        offset = len(text[: text.index(trimmed)].encode("utf-8", "surrogateescape"))
        for found in read_trimmed(trimmed.encode("utf-8", "surrogateescape")):
            flaws = tuple(Flaw(offset + flaw.offset, flaw.reason) for flaw in found.flaws)
            yield found._replace(offset=offset + found.offset, flaws=flaws)
        return
    records = 0
    for found in find_objects(line, RECORDS, first=first):
        records += found.item is not None
        if records > 1 and found.item is not None and not found.flaws:
            flaw = Flaw(found.offset, "behind another record on its line, where others read none")
            yield found._replace(exact=False, flaws=(flaw,))
        else:
            yield found


def read_trimmed(line: bytes) -> Iterator[Found[Record]]:
    """The same for a line without white space around it, which may be a whole record."""
    try:
        record = decode_line(line)
    except (ValueError, RecursionError):
        if line:
            yield from read_carefully(line, first=False)
    else:
        yield Found(record, 0, len(line), exact=True)

"""What can be saved of a line of a session log that is not spelled as an event should be."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from presentview.compact import json_bytes
from presentview.eventlog.decoding import fill
from presentview.eventlog.events import SessionEvent
from presentview.loosejson import CONTROL, UNREADABLE, Member, loads
from presentview.objects import Shape
from presentview.pieces import Flaw, refused

__all__ = ["EVENTS"]


def _event_of(members: list[Member], flaws: list[Flaw]) -> SessionEvent | None:
    """The event an object spells; a value of the wrong type counts as not recorded."""

    def refuse(key: str, member: Member, wanted: str) -> None:
        flaws.append(refused(member.at, key, wanted, member.raw))

    if not any(member.key.lower() in ("type", "seq") for member in members):
        at = members[0].at if members else 0
        flaws.append(Flaw(at, "neither Type nor Seq: not an event of a session"))
        return None
    event = fill(SessionEvent, members, refuse)
    data = _payload(members, event.data, flaws)
    return event if data is event.data else msgspec.structs.replace(event, data=data)


def _payload(members: list[Member], data: bytes, flaws: list[Flaw]) -> bytes:
    """`data` as JSON that every reader takes, where it can be made so."""
    text = data.decode()
    constants: list[str] = []
    value = loads(text, constants)
    if value is UNREADABLE and data:
        at = next(m.at for m in reversed(members) if m.key.lower() == "data")
        flaws.append(Flaw(at, "Data: not valid JSON; kept as text"))
    elif constants:
        at = next(m.at for m in reversed(members) if m.key.lower() == "data")
        flaws.append(Flaw(at, f"Data: {constants[0]} is no JSON; read as null"))
        return json_bytes(value)
    elif CONTROL.search(text) and isinstance(value, dict | list | str):
        return json_bytes(value)
    return data


# Nested objects begin with an id too, but only an event goes on with its number.
EVENTS: Final = Shape[SessionEvent](
    _event_of, re.compile(r'\{\s*"id"\s*:\s*"[^"\\]*"\s*,\s*"seq"\s*:', re.IGNORECASE)
)
"""How events are read of a damaged line."""

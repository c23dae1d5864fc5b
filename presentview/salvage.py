"""What can be saved of a line that is not spelled as a record should be.

Everything a JSON reader could take a record from is taken: what `presentview.objects` finds on a
damaged line, with keys in any case and values of the wrong type. Each thing that was not as it
should be is named, with its place in the line. Nothing here recurses and nothing here raises on
any input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from presentview.compact import compact
from presentview.filling import item_of
from presentview.loosejson import container, skip_space
from presentview.objects import Shape, find_objects
from presentview.pieces import Piece
from presentview.records import Header, Record, encode

__all__ = ["read_pieces", "verbatim"]

_RECORDS: Final = Shape[Record | Header](item_of, re.compile(r'\{\s*"kind"\s*:'), Record(kind=""))


def read_pieces(line: bytes, *, first: bool = False) -> Iterator[Piece]:
    """Every piece of `line` in order; `first` allows a byte order mark before it.

    A blank line has no pieces. Offsets are bytes from the start of the line.
    """
    return (Piece(*found) for found in find_objects(line, _RECORDS, first=first))


def verbatim(record: Record, line: bytes) -> Record:
    """`record`, read from `line`, with a collab value that will be written as it was spelled.

    Number spellings such as `1.0e5` are lost in a parsed value; where writing the value again
    would not give the same text, its bytes are kept instead.
    """
    text = line.decode("utf-8", "replace")
    members = container(text, skip_space(text, 0)).members or []
    raw = next((member.raw for member in reversed(members) if member.key == "collab"), None)
    if raw is None:
        return record
    kept = msgspec.structs.replace(record, collab=compact(raw).encode())
    return record if encode(kept) == encode(record) else kept

"""What is found on one line of a sidecar: records and headers, and what was wrong with them."""

from __future__ import annotations

from typing import Final, NamedTuple

from presentview.records import Header, Record

__all__ = ["Flaw", "Piece", "refused"]

_SHOWN_CHARS: Final = 40


class Flaw(NamedTuple):
    """Something wrong at byte `offset` of the line, and what."""

    offset: int
    reason: str


def refused(at: int, path: str, wanted: str, raw: str) -> Flaw:
    """The flaw of a value, spelled `raw`, that is not what is `wanted` at its `path`."""
    shown = raw if len(raw) <= _SHOWN_CHARS else raw[: _SHOWN_CHARS - 3] + "..."
    return Flaw(at, f"{path}: not {wanted}, so not read: {shown}")


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

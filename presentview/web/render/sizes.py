"""How long a text is in bytes, without encoding more of it than needed."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Parts", "is_longer", "split_at_line"]

_BYTES_PER_CHAR = 4  # at most, in UTF-8


class Parts(NamedTuple):
    """A text cut in two; `rest` is empty when nothing had to be cut."""

    head: str
    rest: str


def is_longer(text: str, limit: int) -> bool:
    """Say whether text takes more than limit bytes in UTF-8."""
    if len(text) * _BYTES_PER_CHAR <= limit:
        return False
    return len(text) > limit or len(text.encode("utf-8", "replace")) > limit


def split_at_line(text: str, limit: int) -> Parts:
    """Cut text after the last line that fits into limit bytes.

    A first line that is too long by itself is cut within, never within a character.
    """
    if not is_longer(text, limit):
        return Parts(text, "")
    # What "ignore" leaves out is the one character that the limit cuts in half.
    chars = len(text[:limit].encode("utf-8", "replace")[:limit].decode("utf-8", "ignore"))
    cut = text.rfind("\n", 0, chars) + 1 or chars
    return Parts(text[:cut], text[cut:])

"""Numbers in the query of an address, which may hold anything."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["number_of"]


def number_of(query: Mapping[str, str], name: str, default: int, *, digits: int = 9) -> int:
    """A number of at most so many digits from a query, `default` where there is none."""
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else default

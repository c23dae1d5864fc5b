"""The one place where a renderer says that a string of its own is HTML."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

__all__ = ["joined"]


def joined(pieces: Iterable[str]) -> Markup:
    """Join pieces of HTML.

    Each must be escaped text or a tag written out by a renderer; text from a transcript gets
    there only through `reveal`.
    """
    return Markup("".join(pieces))  # noqa: S704 - see above

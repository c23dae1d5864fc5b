"""One card that was found: how often it shows the text, and what stands around it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from presentview.limits import FIND_SNIPPET_CHARS
from presentview.transcript.cards import Card
from presentview.web.needle import Needle
from presentview.web.render.controls import remove_unseen

__all__ = ["Hit", "hit_in"]


class Hit(msgspec.Struct, frozen=True):
    """A card that shows the text, how often in the records found so far, and what stands around
    it the first time: `before`, the text itself as `match`, `after`.
    """

    card: Card
    count: int
    before: str
    match: str
    after: str


def hit_in(card: Card, texts: Iterator[str], needle: Needle) -> Hit | None:
    """The hit that a card is whose `texts` are these; None if the text is in none of them."""
    count, first = 0, ""
    for text in texts:
        here = needle.count(text)
        if here and not count:
            first = text
        count += here
    if not count:
        return None
    start = needle.find(first)
    end = start + needle.size
    match = first[start:end]
    return Hit(
        card,
        count,
        _before(first[max(0, start - 2 * FIND_SNIPPET_CHARS) : start]),
        _one_line(match) or match,
        _after(first[end : end + 4 * FIND_SNIPPET_CHARS]),
    )


def _one_line(text: str) -> str:
    """`text` with white space of any kind as single spaces, and without what is not seen."""
    words = remove_unseen(text.replace("\n", " ").replace("\t", " ")).split(" ")
    return " ".join(word for i, word in enumerate(words) if word or i in (0, len(words) - 1))


def _before(text: str) -> str:
    line = _one_line(text)
    return line if len(line) <= FIND_SNIPPET_CHARS else f"…{line[-FIND_SNIPPET_CHARS:]}"


def _after(text: str) -> str:
    line = _one_line(text)
    return line if len(line) <= 2 * FIND_SNIPPET_CHARS else f"{line[: 2 * FIND_SNIPPET_CHARS]}…"

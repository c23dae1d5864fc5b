"""The piece of a session that a page holds: a section of cards, and what lies around it.

A page is told how all sections of its row begin and how high they are, as pairs of numbers
(`table`: by how much the number of the first card differs from that of the section before, and
the height in px), so that it can scroll anywhere and ask for what comes into view.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from presentview.limits import ALL_CARDS, OUTLINE_TURNS, SECTION_CARDS
from presentview.transcript.cards import Card, ToolCard, Turn
from presentview.transcript.fold import Transcript
from presentview.web.cards import CardRenderer
from presentview.web.overview import outline_item
from presentview.web.rows import Row
from presentview.web.sections import section_at
from presentview.web.templating import render

__all__ = [
    "Outline",
    "Window",
    "fits_one_page",
    "outline_around",
    "piece",
    "whole",
    "window",
]


class Window(msgspec.Struct, frozen=True):
    """One filled section of a row and all there is to know of the others.

    `cards` is the section's HTML, `index` its number from 0; `above` and `below` are the px that
    the sections before and after it take; `earlier` and `later` name the first cards of its
    neighbours; `last` is how many cards the last section has; `nearest` is the card of the row at
    which what was asked for stands, or would stand, `turn` the turn that one stands in.
    """

    cards: Markup
    index: int
    table: str
    last: int
    above: int
    below: int
    earlier: str
    later: str
    nearest: str
    turn: int


class Outline(msgspec.Struct, frozen=True):
    """Some turns of the outline: their HTML, the number of the first, and the numbers of the
    first and last of all.
    """

    items: Markup
    first: int
    least: int
    most: int


def window(row: Row, renderer: CardRenderer, transcript: Transcript, at: str) -> Window:
    """The section of `row` in which the card `at` stands, or comes next; for an empty `at` the
    first one.
    """
    index = row.index_of(at, transcript) if at else 0
    number = section_at(row.sections, index)
    sections = row.sections
    here = sections[number] if sections else None
    cards = row.cards[here.start : here.start + here.size] if here else ()
    named = transcript.card(at)
    nearest = row.cards[index] if cards else None

    def first_of(wanted: int) -> str:
        inside = 0 <= wanted < len(sections)
        return row.cards[sections[wanted].start].id if inside else ""

    return Window(
        cards=_section(cards, renderer, named),
        index=number,
        table=row.table,
        last=sections[-1].size if sections else 0,
        above=sum(section.height for section in sections[:number]),
        below=sum(section.height for section in sections[number + 1 :]),
        earlier=first_of(number - 1),
        later=first_of(number + 1),
        nearest=nearest.id if nearest else "",
        turn=nearest.turn if nearest else 0,
    )


def whole(row: Row, renderer: CardRenderer) -> Window | None:
    """All of a row at once with everything nested in it, None if that is too much for a page."""
    if not fits_one_page(row):
        return None
    html = Markup("")
    if row.cards:
        cards = renderer.whole(row.cards)
        html = render("_section.html", first=row.cards[0].id, cards=cards).strip()
    return Window(html, 0, "", len(row.cards), 0, 0, "", "", "", 0)


def fits_one_page(row: Row) -> bool:
    """Whether a row and everything nested in it is little enough for a page of its own."""
    if len(row.cards) > ALL_CARDS:
        return False
    nested = sum(card.steps for card in row.cards if isinstance(card, ToolCard))
    return len(row.cards) + nested <= ALL_CARDS


def piece(row: Row, renderer: CardRenderer, start: Card, until: Card | None) -> str | None:
    """The HTML of the section that begins with one card and ends in front of another; None if
    the row has changed so that these do not follow each other any more.
    """
    cards = row.cards
    try:
        first = cards.index(start)
        end = cards.index(until, first) if until else len(cards)
    except ValueError:
        return None
    if not 0 < end - first <= 4 * SECTION_CARDS:
        return None
    return _section(cards[first:end], renderer, None)


def outline_around(transcript: Transcript, turn: int) -> Outline:
    """The turns of the outline around `turn`."""
    turns = transcript.turns
    least = turns[0].number
    most = turns[-1].number
    start = max(0, min(turn - least - OUTLINE_TURNS // 3, len(turns) - OUTLINE_TURNS))
    shown: Sequence[Turn] = turns[start : start + OUTLINE_TURNS]
    items = Markup("").join(outline_item(one) for one in shown)
    return Outline(items, least + start, least, most)


def _section(cards: Sequence[Card], renderer: CardRenderer, target: Card | None) -> Markup:
    if not cards:
        return Markup("")
    return render("_section.html", first=cards[0].id, cards=renderer.row(cards, target)).strip()

"""The pieces a page holds of a session, put together, are the session."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presentview.limits import KIDS_CARDS, OUTLINE_TURNS, SECTION_CARDS
from presentview.records import Header, Kind, Record, Tool, encode, encode_header
from presentview.sessions import SessionRef
from presentview.transcript.cards import Card
from presentview.web.feeds import Feed
from presentview.web.rows import END
from presentview.web.sections import section_at, split
from presentview.web.views import EVERYTHING, View
from presentview.web.windows import outline_around, piece, whole, window
from tests.strategies import sessions
from tests.web.page_model import Element, everything, parse


def turn(text: str) -> Record:
    return Record(kind=Kind.TURN_STARTED, text=text)


def notice(text: str) -> Record:
    return Record(kind=Kind.NOTICE, text=text)


def dispatch(call: str, name: str = "bash") -> Record:
    return Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id=call, name=name))


def result(call: str) -> Record:
    return Record(kind=Kind.TOOL_RESULT, tool=Tool(id=call, output="done"))


class Session:
    """A session in a file, and a feed of it."""

    def __init__(self, folder: Path, records: Sequence[Record]) -> None:
        self.path = folder / "s.present.jsonl"
        self.path.write_bytes(encode_header(Header()) + b"\n")
        self.feed = Feed(SessionRef("5e551011", folder / "s.jsonl"), "epoch")
        self.record(*records)

    def record(self, *records: Record) -> None:
        with open(self.path, "ab") as file:
            file.write(b"".join(encode(record) + b"\n" for record in records))
        self.feed.look()


@contextmanager
def recorded(records: Sequence[Record]) -> Iterator[Session]:
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder), records)
        try:
            yield session
        finally:
            session.feed.follower.close()


def cards_in(html: str) -> list[Element]:
    return [e for root in parse(html) for e in root.walk() if "card" in e.classes]


def tops_in(html: str) -> list[str]:
    (section,) = parse(html)
    return [element.attributes["id"] for element in section.elements()]


def beginnings(table: str) -> list[str]:
    found, number = [], 0
    for pair in table.split():
        number += int(pair.split(",")[0])
        found.append(f"c{number}")
    return found


def long_session(turns: int = 60) -> list[Record]:
    records: list[Record] = []
    for number in range(turns):
        records += [turn(f"turn {number}"), notice(f"one {number}"), notice(f"two {number}")]
        records += [dispatch(f"call{number}"), result(f"call{number}")]
    return records


def test_the_pieces_between_the_beginnings_are_all_cards_in_order() -> None:
    with recorded(long_session()) as session:
        feed = session.feed
        row = feed.row(EVERYTHING)
        first = window(row, feed.renderer, feed.transcript, "")
        names = beginnings(first.table)
        assert len(names) > 3
        found: list[str] = []
        for here, following in zip(names, [*names[1:], None], strict=True):
            start = feed.transcript.card(here)
            assert start is not None
            until = feed.transcript.card(following) if following else None
            html = piece(row, feed.renderer, start, until)
            assert html is not None
            found += tops_in(html)
        assert found == [card.id for card in feed.transcript.cards]


@settings(max_examples=40)
@given(sessions(max_size=60))
def test_a_window_around_any_card_holds_it(records: list[Record]) -> None:
    with recorded(records) as session:
        feed = session.feed
        row = feed.row(EVERYTHING)
        for card in feed.transcript.walk():
            shown = window(row, feed.renderer, feed.transcript, card.id)
            assert card.id in {c.attributes["id"] for c in cards_in(shown.cards)}


@settings(max_examples=40)
@given(sessions(max_size=60))
def test_a_card_in_a_window_is_the_card_of_the_whole_page(records: list[Record]) -> None:
    with recorded(records) as session:
        feed = session.feed

        def alone(element: Element) -> str:
            for kids in [e for e in element.walk() if "kids" in e.classes]:
                kids.inner.clear()
            return element.html(plain=True)

        all_cards = cards_in(everything(feed).regions["cards"])
        theirs = {e.attributes["id"]: e for e in all_cards}
        row = feed.row(EVERYTHING)
        shown = window(row, feed.renderer, feed.transcript, END)
        for card in cards_in(shown.cards) if shown.cards else []:
            assert alone(card) == alone(theirs[card.attributes["id"]])


def test_sections_hold_so_many_cards_and_are_found_by_their_cards() -> None:
    cards = [Card(number, "notice", 1) for number in range(1, 234)]
    sections = split(cards)
    assert [section.size for section in sections] == [SECTION_CARDS] * 4 + [33]
    assert all(section.height > 0 for section in sections)
    for index in range(len(cards)):
        section = sections[section_at(sections, index)]
        assert section.start <= index < section.start + section.size


@given(st.integers(0, 300), st.integers(0, 200))
def test_sections_that_are_known_go_on_as_if_made_anew(before: int, more: int) -> None:
    cards = [Card(number, "notice", 1) for number in range(before + more)]
    assert split(cards, split(cards[:before])) == split(cards)


def test_what_is_recorded_later_is_in_the_sections_of_a_live_session() -> None:
    with recorded(long_session(20)) as session:
        feed = session.feed
        feed.frame()
        for number in range(40):
            session.record(turn(f"later {number}"), notice("n"), dispatch(f"x{number}"))
            row = feed.row(EVERYTHING)
            assert sum(section.size for section in row.sections) == len(row.cards)
            assert list(row.sections) == split(row.cards)


def test_a_piece_whose_end_is_gone_is_none() -> None:
    with recorded(long_session()) as session:
        feed = session.feed
        row = feed.row(EVERYTHING)
        first, last = row.cards[0], row.cards[-1]
        assert piece(row, feed.renderer, last, first) is None
        assert piece(row, feed.renderer, first, last) is None, "that would be all of it"
        inner = Card(10_000, "notice", 1)
        assert piece(row, feed.renderer, inner, None) is None


def sub_agent(steps: int, name: str = "a") -> list[Record]:
    inner = [dispatch(f"{name}/{number}") for number in range(steps)]
    return [turn("go"), dispatch(name, "task"), *inner, result(name)]


def test_a_closed_card_comes_without_what_is_nested_in_it() -> None:
    with recorded(sub_agent(200)) as session:
        feed = session.feed
        shown = window(feed.row(EVERYTHING), feed.renderer, feed.transcript, "")
        assert [card.attributes["id"] for card in cards_in(shown.cards)] == ["c1", "c2"]
        assert "200 steps" in shown.cards


@pytest.mark.parametrize("step", [0, 49, 50, 130, 199])
def test_nested_cards_come_in_pieces_with_links_to_the_others(step: int) -> None:
    with recorded(sub_agent(200)) as session:
        feed = session.feed
        agent = feed.transcript.card("c2")
        assert agent is not None
        assert agent.children is not None
        html = feed.renderer.kids(agent, agent.children[step])
        found = [card.attributes["id"] for card in cards_in(html)]
        start = step - step % KIDS_CARDS
        assert found == [card.id for card in agent.children[start : start + KIDS_CARDS]]
        assert ('data-side="earlier"' in html) == (start > 0)
        assert ('data-side="later"' in html) == (start + KIDS_CARDS < 200)


def test_a_link_to_a_nested_card_finds_it_in_a_window() -> None:
    with recorded(sub_agent(200)) as session:
        feed = session.feed
        shown = window(feed.row(EVERYTHING), feed.renderer, feed.transcript, "c150")
        assert "c150" in {card.attributes["id"] for card in cards_in(shown.cards)}
        assert shown.nearest == "c2"


def test_a_focus_has_the_nested_cards_as_its_row() -> None:
    with recorded(sub_agent(200)) as session:
        feed = session.feed
        row = feed.row(View(focus="c2"))
        shown = window(row, feed.renderer, feed.transcript, "c150")
        assert "c150" in tops_in(shown.cards)
        assert len(beginnings(shown.table)) == len(row.sections) > 3


def test_everything_at_once_has_a_limit() -> None:
    with recorded([turn(f"{number}") for number in range(2001)]) as session:
        feed = session.feed
        assert whole(feed.row(EVERYTHING), feed.renderer) is None
        few = whole(feed.row(View(kind="notice")), feed.renderer)
        assert few is not None
        assert few.cards == ""


def test_the_outline_is_a_stretch_around_a_turn() -> None:
    with recorded([turn(f"{number}") for number in range(300)]) as session:
        for wanted in (0, 1, 150, 300, 10_000):
            found = outline_around(session.feed.transcript, wanted)
            items = [e.attributes["id"] for e in parse(found.items)]
            assert items == [
                f"o{n}" for n in range(max(found.first, 1), found.first + OUTLINE_TURNS)
            ]
            assert (found.least, found.most) == (0, 300)
            if 1 <= wanted <= 300:
                assert f"o{wanted}" in items

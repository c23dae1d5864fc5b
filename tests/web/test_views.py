"""What an address asks a page to show, and what is found from there."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.limits import MAP_BUCKETS, VIEWS_KEPT
from presentview.records import (
    Compaction,
    FileDiff,
    Header,
    Kind,
    Record,
    Tool,
    encode,
    encode_header,
)
from presentview.transcript.cards import Card
from presentview.transcript.fold import Transcript
from presentview.web.rows import Row, Rows
from presentview.web.sections import split
from presentview.web.sessionmap import ticks
from presentview.web.views import (
    DEPTHS,
    EVERYTHING,
    FILTERS,
    View,
    cards_of,
    next_of,
    scope_of,
    view_of,
)
from tests.strategies import sessions
from tests.web.asking import Serving


def dispatch(call: str, name: str = "bash", args: str = "{}") -> Record:
    return Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id=call, name=name, args=args))


def result(call: str, err: str = "", diff: FileDiff | None = None) -> Record:
    return Record(kind=Kind.TOOL_RESULT, tool=Tool(id=call, output="out", err=err, file_diff=diff))


def notice(text: str, level: str = "") -> Record:
    return Record(kind=Kind.NOTICE, text=text, level=level)


DIFF = FileDiff(diff="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", added=1, removed=1)

# Two turns: the first with a sub-agent that has another one, in which a command failed.
RECORDS = [
    notice("before all"),  # c1
    Record(kind=Kind.TURN_STARTED, text="first"),  # c2
    dispatch("a", "task", '{"description":"the outer"}'),  # c3
    dispatch("a/b", "task", '{"description":"the inner"}'),  # c4
    dispatch("a/b/c"),  # c5
    result("a/b/c", "exit status 3"),
    dispatch("a/d", "read_file", '{"path":"/x"}'),  # c6
    result("a/d"),
    result("a/b"),
    result("a"),
    Record(kind=Kind.MESSAGE, text="said"),  # c7
    Record(kind=Kind.TURN_DONE),
    Record(kind=Kind.TURN_STARTED, text="second"),  # c8
    dispatch("e", "edit_file", '{"path":"/x"}'),  # c9
    result("e", diff=DIFF),
    dispatch("f"),  # c10
    result("f", "blocked: not allowed"),
    notice("take care", "warn"),  # c11
    Record(kind=Kind.COMPACTION_STARTED, compaction=Compaction(trigger="auto")),  # c12
    Record(kind=Kind.TURN_DONE, text="no key", level="error"),  # c13
]


def transcript_of(records: Sequence[Record]) -> Transcript:
    transcript = Transcript()
    for record in records:
        transcript.apply(record)
    return transcript


@pytest.fixture(scope="module")
def transcript() -> Transcript:
    return transcript_of(RECORDS)


def ids(cards: Sequence[Card]) -> list[str]:
    return [card.id for card in cards]


# The address

VIEWS: list[tuple[str, View]] = [
    ("", EVERYTHING),
    ("depth=everything", EVERYTHING),
    ("depth=answers", View(depth="answers")),
    ("depth=ANSWERS&state=odd&focus=x9", EVERYTHING),
    ("state=failed&tool=shell&kind=tool", View(state="failed", tool="shell", kind="tool")),
    ("state=aborted", View(state="aborted")),
    ("focus=t3", View(focus="t3")),
    ("focus=c123456789012", View(focus="c123456789012")),
    ("focus=c1234567890123", EVERYTHING),
    ("focus=t%D9%A3", EVERYTHING),
    ("focus=c-1", EVERYTHING),
    ("focus=c1%0A", EVERYTHING),
    ("focus=", EVERYTHING),
    ("tool=" + "x" * 99, View(tool="x" * 40)),
    ("from=c1&at=c2&all", EVERYTHING),
]


@pytest.mark.parametrize(("query", "view"), VIEWS, ids=[query[:40] for query, _ in VIEWS])
def test_a_view_is_what_an_address_says_and_no_nonsense(query: str, view: View) -> None:
    assert view_of(dict(parse_qsl(query, keep_blank_values=True))) == view


@given(
    st.builds(
        View,
        depth=st.sampled_from(["", *(depth for depth in DEPTHS if depth != "everything")]),
        tool=st.sampled_from(["", *FILTERS["tool"]]) | st.text("a&=#é\x00 ", max_size=40),
        state=st.sampled_from(["", *FILTERS["state"]]),
        kind=st.sampled_from(["", *FILTERS["kind"]]),
        focus=st.sampled_from(["", "t1", "t12", "c7"]),
    )
)
def test_the_query_of_a_view_asks_for_it(view: View) -> None:
    assert view_of(dict(parse_qsl(view.query))) == view
    other = view_of(dict(parse_qsl(view.but(focus="t9", depth=""))))
    assert other == View("", view.tool, view.state, view.kind, "t9")
    assert (view.query == "") == (view == EVERYTHING)


# Its cards

ROWS: list[tuple[str, str, list[int]]] = [
    ("everything", "", [1, 2, 3, 7, 8, 9, 10, 11, 12, 13]),
    ("prompts", "depth=prompts", [2, 8]),
    ("answers", "depth=answers", [2, 7, 8, 12, 13]),
    ("tools", "depth=tools", [2, 3, 7, 8, 9, 10, 12, 13]),
    ("a tool, also nested", "tool=shell", [3, 10]),
    ("a tool by its name", "tool=read_file", [3]),
    ("a tool nobody called", "tool=fetch", []),
    ("what failed, also nested", "state=failed", [3, 13]),
    ("what was blocked", "state=blocked", [10]),
    ("what was cut off", "state=interrupted", [12]),
    ("what runs", "state=running", []),
    ("a kind", "kind=notice", [1, 11]),
    ("all filters must fit", "tool=read&state=failed", []),
    ("depth and filter", "depth=prompts&state=failed", []),
    ("the stretch before the first turn", "focus=t0", [1]),
    ("a turn", "focus=t1", [2, 3, 7]),
    ("another turn", "focus=t2", [8, 9, 10, 11, 12, 13]),
    ("no turn", "focus=t3", []),
    ("a sub-agent", "focus=c3", [4, 6]),
    ("a nested one", "focus=c4", [5]),
    ("a card that holds none", "focus=c7", []),
    ("no card", "focus=c99", []),
    ("a filter in a focus", "focus=c3&state=failed", [4]),
    ("depth in a focus", "focus=t2&depth=answers", [8, 12, 13]),
]


@pytest.mark.parametrize(
    ("query", "numbers"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_a_view_shows_these_cards(transcript: Transcript, query: str, numbers: list[int]) -> None:
    view = view_of(dict(parse_qsl(query)))
    found = cards_of(view, transcript, alive=False)
    assert ids(found) == [f"c{number}" for number in numbers]


def test_whether_something_runs_is_a_question_of_its_writer(transcript: Transcript) -> None:
    running = cards_of(View(state="running"), transcript, alive=True)
    assert ids(running) == ["c12"]


@given(sessions(max_size=40), st.sampled_from([row[1] for row in ROWS]), st.booleans())
def test_views_of_any_session_are_stretches_of_it(
    records: list[Record], query: str, alive: bool
) -> None:
    transcript = transcript_of(records)
    view = view_of(dict(parse_qsl(query)))
    found = cards_of(view, transcript, alive=alive)
    order = {card.id: index for index, card in enumerate(transcript.walk())}
    places = [order[card.id] for card in found]
    assert places == sorted(set(places))
    marks = list(ticks(Row(found, split(found))))
    assert all(0 <= tick.at < MAP_BUCKETS for tick in marks)
    scope = scope_of(view, transcript)
    assert (scope is None) == (not view.focus)


def test_only_so_many_rows_are_kept(transcript: Transcript) -> None:
    rows = Rows()
    all_of_it = rows.of(EVERYTHING, transcript, alive=False)
    for number in range(5 * VIEWS_KEPT):
        rows.of(View(tool=f"{number}"), transcript, alive=False)
    assert len(rows._rows) == VIEWS_KEPT
    assert rows.of(EVERYTHING, transcript, alive=False) is all_of_it


# What a focus is on

SCOPES: list[tuple[str, tuple[str, ...]]] = [
    ("t1", ("Turn 1", "c2", "", "", "t2")),
    ("t2", ("Turn 2", "c8", "", "t1", "")),
    ("t0", ("Before the first turn", "", "", "", "t1")),
    ("t3", ("nothing recorded", "", "", "", "")),
    ("t999999999999", ("nothing recorded", "", "", "", "")),
    ("c3", ("the outer", "c3", "t1", "", "")),
    ("c4", ("the inner", "c4", "c3", "", "")),
    ("c7", ("message", "c7", "t1", "", "")),
    ("c99", ("nothing recorded", "", "", "", "")),
]


@pytest.mark.parametrize(("focus", "scope"), SCOPES, ids=[focus for focus, _ in SCOPES])
def test_a_focus_knows_its_way_back(
    transcript: Transcript, focus: str, scope: tuple[str, ...]
) -> None:
    assert scope_of(View(focus=focus), transcript) == scope


# The next one

NEXT: list[tuple[str, str, str, dict[str, bool], str]] = [
    ("first error", "error", "", {}, "c5"),
    ("out of a sub-agent", "error", "c5", {}, "c10"),
    ("the last error", "error", "c10", {}, "c13"),
    ("no more", "error", "c13", {}, ""),
    ("the one before", "error", "c10", {"back": True}, "c5"),
    ("none before", "error", "c5", {"back": True}, ""),
    ("itself", "error", "c5", {"here": True}, "c5"),
    ("not itself", "error", "c6", {"here": True}, "c10"),
    ("edit", "edit", "c2", {}, "c9"),
    ("edit before", "edit", "c13", {"back": True}, "c9"),
    ("turn", "turn", "c2", {}, "c8"),
    ("turn from inside a sub-agent", "turn", "c5", {"back": True}, "c2"),
    ("after none that is there", "turn", "c99", {}, ""),
    ("nonsense", "odd", "", {}, ""),
    ("nothing", "", "", {}, ""),
]


@pytest.mark.parametrize(
    ("what", "start", "options", "wanted"), [row[1:] for row in NEXT], ids=[row[0] for row in NEXT]
)
def test_the_next_card_of_a_kind(
    transcript: Transcript, what: str, start: str, options: dict[str, bool], wanted: str
) -> None:
    found = next_of(what, transcript.cards, start, **options)
    assert (found.id if found else "") == wanted


def test_the_next_card_is_one_of_the_view(transcript: Transcript) -> None:
    second = cards_of(View(focus="t2"), transcript, alive=False)
    found = next_of("error", second, "")
    assert found is not None
    assert found.id == "c10"


@given(sessions(max_size=40))
def test_forward_and_back_go_through_the_same_cards(records: list[Record]) -> None:
    cards = transcript_of(records).cards
    for what in ("error", "edit", "turn"):

        def path(what: str, *, back: bool) -> Iterator[Card]:
            here = next_of(what, cards, "none" if back else "", back=back)
            while here is not None:
                yield here
                here = next_of(what, cards, here.id, back=back)

        assert list(path(what, back=False)) == list(path(what, back=True))[::-1]


# The map


def test_the_map_marks_the_most_telling_thing_of_a_stretch(transcript: Transcript) -> None:
    row = Row(transcript.cards, split(transcript.cards))
    marks = list(ticks(row))
    assert [tick.css_class for tick in marks] == ["bad", "edit", "bad", "warn", "compaction", "bad"]
    assert sorted({tick.at for tick in marks}) == [tick.at for tick in marks]
    crowded = [notice("n", "warn"), *RECORDS] * 200
    many = transcript_of(crowded)
    marks = list(ticks(Row(many.cards, split(many.cards))))
    assert len(marks) <= MAP_BUCKETS
    assert {tick.css_class for tick in marks} == {"bad"}
    assert list(ticks(Row([], []))) == []


# Asked by whoever knows the address


class Served(Serving):
    """The real app over one session."""

    def __init__(self, folder: Path) -> None:
        lines = [encode_header(Header()), *map(encode, RECORDS)]
        (folder / "s.present.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
        super().__init__(folder)

    def json(self, target: str) -> Any:
        answer = self.ask(self.page + target)
        assert answer.status == 200
        return json.loads(answer.body)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("views").resolve())
    yield served
    served.close()


NUMBERS = ["0", "-1", "99", "1" + "0" * 30, "9" * 900, "%D9%A3", ""]
IDS = [f"{letter}{number}" for letter in ("c", "t", "") for number in NUMBERS]
EVIL = "<i id=evil>"
ODD = [*IDS, "o1", "r2", "C2", "end", "%FF%FE", "%F0%9F%98%80", "c1%00", "c1c2", EVIL]
HOSTILE = [
    f"?at=c{'9' * 5000}&focus={{}}",
    "?focus={}",
    "?at={}",
    "?all&at={}&focus={}",
    "?depth={}&tool={}&state={}&kind={}",
    "/cards?at={}",
    "/cards?from={}&until=c8",
    "/cards?from=c2&until={}",
    "/cards?from={}&until={}&focus={}",
    "/kids/c3?at={}",
    "/kids/c7?at={}",
    "/outline?turn={}",
    "/next?what=error&from={}",
    "/next?what={}&from=c2&back={}&here={}",
    "/map?focus={}&kind={}",
]


@pytest.mark.parametrize("target", HOSTILE)
def test_no_query_is_too_odd(served: Served, target: str) -> None:
    for odd in ODD:
        answer = served.ask(served.page + target.replace("{}", odd))
        assert answer.status == 200, odd
        assert EVIL not in answer.text


@pytest.mark.parametrize("card", ["c3", "c5", "c7", "c8", "c13"])
def test_a_card_of_any_kind_can_be_asked_for_its_kids(served: Served, card: str) -> None:
    for at in ("", "c3", "c4", "c5", "c6", "c8"):
        found = served.json(f"/kids/{card}?at={at}")
        assert ('class="card' in found["cards"]) == (card == "c3")


def test_pieces_that_do_not_lie_so_are_none(served: Served) -> None:
    assert served.json("/cards?from=c8&until=c2")["cards"] is None
    assert served.json("/cards?from=c5")["cards"] is None
    assert served.json("/cards?from=c2&until=c5")["cards"] is None
    assert served.json("/cards?from=c2&until=c99")["cards"] is None
    assert served.json("/cards?from=c2&until=c8&focus=t2")["cards"] is None
    assert served.json("/cards?from=c2&until=c2")["cards"] is None, "nothing is no section"
    assert 'id="c2"' in served.json("/cards?from=c2&until=c8")["cards"]


def test_the_next_card_is_asked_for_in_a_view(served: Served) -> None:
    assert served.json("/next?what=error&from=c5&focus=c3")["card"] == ""
    assert served.json("/next?what=error&from=c4&focus=c3")["card"] == "c5"
    assert served.json("/next?what=turn&from=c2&focus=t1")["card"] == ""
    assert served.json("/next?what=error&from=c10&back=1")["card"] == "c5"


def test_the_map_is_that_of_a_view(served: Served) -> None:
    assert "bad" in served.json("/map")["map"]
    assert served.json("/map?kind=message")["map"] == ""


# Pages

LINK = re.compile(r'(?:href|data-kids|data-body)="([^"]*)"')


def links_of(page: str) -> list[str]:
    return [html.unescape(link) for link in LINK.findall(page)]


def works(served: Served, page: str, link: str) -> bool:
    parts = urlsplit(link)
    assert not parts.scheme
    assert not parts.netloc
    if link.startswith("#"):
        # A card or an element of the page; scripts fetch a card that it does not hold.
        number = link.removeprefix("#")
        whole = served.ask(f"{served.page}?all&depth=everything").text
        return f'id="{number}"' in page or f'id="{number}"' in whole
    if link.startswith("?"):
        return served.ask(served.page + link).status == 200
    if not link.startswith("/"):
        return served.ask(f"{served.page}/kids/{link}").status == 200
    return served.ask(link).status == 200


PAGES = ["focus=c99", "focus=t99", "focus=t0", "focus=t1", "focus=c3", "focus=c4", "focus=c7"]


@pytest.mark.parametrize("query", [*PAGES, "depth=prompts", "state=failed&focus=t2", "tool=fetch"])
def test_every_link_of_a_view_leads_somewhere(served: Served, query: str) -> None:
    page = served.ask(f"{served.page}?{query}").text
    links = set(links_of(page))
    assert len(links) > 10
    assert [link for link in links if not works(served, page, link)] == []


@pytest.mark.parametrize("focus", ["c99", "t99", "c7"])
def test_a_focus_on_nothing_says_so(served: Served, focus: str) -> None:
    page = served.ask(f"{served.page}?focus={focus}").text
    assert "No card is like that." in page
    assert 'class="card' not in page
    assert "Whole session" in page
    if focus != "c7":
        assert "<b>nothing recorded</b>" in page


def test_a_focus_names_where_it_is_and_leads_on(served: Served) -> None:
    turn = served.ask(f"{served.page}?focus=t1&state=failed").text
    onward = urlencode({"state": "failed", "focus": "t2"})
    assert f"{served.page}?{onward}" in links_of(turn)
    assert 'rel="prev"' not in turn
    nested = served.ask(f"{served.page}?focus=c4").text
    assert f"{served.page}?focus=c3&at=c4" in links_of(nested)
    assert "<b>the inner</b>" in nested


def test_what_can_be_focused_has_a_link_that_does(served: Served) -> None:
    page = served.ask(served.page).text
    assert [link for link in links_of(page) if "focus=" in link] == [
        f"{served.page}?focus=t1",
        f"{served.page}?focus=c3&at=c4",
        f"{served.page}?focus=t2",
    ]
    body = served.ask(f"{served.page}/body/c3").text
    assert f"{served.page}?focus=c3" in links_of(body)
    assert "focus=" not in served.ask(f"{served.page}/body/c9").text


def test_a_chosen_filter_stays_chosen(served: Served) -> None:
    page = served.ask(f"{served.page}?depth=tools&state=failed&focus=t1").text
    assert '<option value="failed" selected>' in page
    assert '<input type="hidden" name="focus" value="t1">' in page
    assert '<input type="hidden" name="depth" value="tools">' in page
    assert page.count(" selected>") == 1

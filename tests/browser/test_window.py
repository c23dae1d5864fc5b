"""A page of a long session: what is near the view is here, and the reader's place is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from presentview import Recorder
from presentview.events import Event, EventKind
from presentview.recorder import Recorder as RecorderType
from presentview.records import FileDiff, Kind, Record, Tool, encode
from tests.browser.conftest import Server, page_of, settled, wait_for_position
from tests.sidecars import write_session, write_sidecar

TURNS = 150
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three\n"


def long_session() -> list[Record]:
    """About 900 cards of many heights, some nested."""
    records: list[Record] = []
    for n in range(TURNS):
        records.append(Record(kind=Kind.TURN_STARTED, text=f"prompt {n}"))
        records.append(Record(kind=Kind.MESSAGE, text=f"answer {n}\n\n" + "many words " * (n % 90)))
        records.append(Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id=f"a{n}", name="bash")))
        output = "\n".join(f"line {i} of {n}" for i in range(n % 30))
        failed = "exit status 1" if n % 7 == 0 else ""
        tool = Tool(id=f"a{n}", output=output, err=failed)
        records.append(Record(kind=Kind.TOOL_RESULT, tool=tool))
        if n % 5 == 0:
            for step in ("", "/x", "/y"):
                call = Tool(id=f"t{n}{step}", name="task")
                records.append(Record(kind=Kind.TOOL_DISPATCH, tool=call))
            for step in ("/x", "/y", ""):
                call = Tool(id=f"t{n}{step}", output=f"out {step}")
                records.append(Record(kind=Kind.TOOL_RESULT, tool=call))
        if n % 4 == 0:
            call = Tool(id=f"e{n}", name="edit_file", file_diff=FileDiff(diff=DIFF, added=2))
            records.append(Record(kind=Kind.TOOL_DISPATCH, tool=call))
            records.append(Record(kind=Kind.TOOL_RESULT, tool=Tool(id=f"e{n}", output="ok")))
        records.append(Record(kind=Kind.NOTICE, text=f"notice {n}"))
    return records


@pytest.fixture
def session(folder: Path) -> Path:
    return write_session(folder, long_session())


@pytest.fixture
def live(folder: Path) -> Iterator[RecorderType]:
    """A session that is being recorded, with some screens of cards already."""
    with Recorder.open(folder / "s.jsonl", fsync="never") as recorder:
        recorder.append(Event(kind=EventKind.TURN_STARTED, text="the prompt"))
        for n in range(120):
            recorder.append(Event(kind=EventKind.PHASE, text=f"phase {n}"))
        yield recorder


def say(recorder: RecorderType, text: str) -> None:
    recorder.append(Event(kind=EventKind.PHASE, text=text))


def call(recorder: RecorderType, name: str, err: str = "") -> None:
    recorder.append(Event(kind=EventKind.TOOL_DISPATCH, tool=Tool(id=name, name="bash")))
    recorder.append(Event(kind=EventKind.TOOL_RESULT, tool=Tool(id=name, output="done\n", err=err)))


_PLACE = """() => {
  const { card, offset } = presentview.rows.anchor();
  const open = [...document.querySelectorAll("#cards .card > details[open]")];
  return { id: card.id, offset, open: open.map((details) => details.parentElement.id) };
}"""


def place(page: Page) -> dict[str, Any]:
    """The card at the top of the view, how far it begins from the bar, and what is open."""
    found: dict[str, Any] = page.evaluate(_PLACE)
    return found


def offset_of(page: Page, card: str) -> float:
    """How far a card begins from the bar."""
    found: float = page.evaluate(
        """id => document.getElementById(id).getBoundingClientRect().top
          - document.querySelector(".top").getBoundingClientRect().bottom""",
        card,
    )
    return found


def scroll_to_middle(page: Page) -> None:
    page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight / 2)")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    settled(page)


def wheel(page: Page, by: int) -> None:
    """Scroll as a reader does, and wait until the page has moved."""
    before = page.evaluate("() => scrollY")
    page.mouse.move(600, 450)
    page.mouse.wheel(0, by)
    page.wait_for_function("before => scrollY !== before", arg=before)
    page.evaluate("() => new Promise(requestAnimationFrame)")
    settled(page)


def bodies_are_here(page: Page) -> None:
    page.wait_for_function(
        """() => !document.querySelector("details[open] > .lazy > a[href*='/card/']:only-child")"""
    )
    settled(page)


def test_a_page_holds_what_is_near_the_view(server: Server, session: Path, page: Page) -> None:
    page.goto(server.url(page_of(session)))
    settled(page)
    seen: set[str] = set()
    for _ in range(400):
        found = page.evaluate("() => [...document.querySelectorAll('#cards .card')].map(c => c.id)")
        assert len(found) == len(set(found)) < 300
        seen |= set(found)
        if page.evaluate("() => innerHeight + scrollY >= document.documentElement.scrollHeight"):
            break
        page.evaluate("() => scrollBy(0, 1.5 * innerHeight)")
        page.evaluate("() => new Promise(requestAnimationFrame)")
        settled(page)
    answer = page.request.get(page.url + ".json").json()
    assert {card["id"] for card in answer["cards"] if card["depth"] == 0} <= seen


def test_a_jump_fills_the_view_with_what_belongs_there(
    server: Server, session: Path, page: Page
) -> None:
    page.goto(server.url(page_of(session)))
    settled(page)
    for share in (0.7, 0.2, 1.0, 0.45):
        page.evaluate("s => scrollTo(0, s * document.documentElement.scrollHeight)", share)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        settled(page)
        assert page.evaluate(
            """() => {
              const boxes = [...document.querySelectorAll(".sec")].map((s) => s.getBoundingClientRect());
              const bar = document.querySelector(".top").getBoundingClientRect().bottom;
              const end = Math.min(innerHeight, document.getElementById("cards").getBoundingClientRect().bottom);
              return boxes[0].top <= bar + 80 && boxes.at(-1).bottom >= end - 1;
            }"""  # noqa: E501
        )
        page.wait_for_function(
            """() => {
              const here = document.querySelectorAll("#outline [aria-current]");
              const turn = Number(presentview.rows.anchor().card.dataset.turn);
              return here.length === 1
                && Math.abs(Number(here[0].parentElement.id.slice(1)) - turn) <= 1;
            }"""
        )


def test_a_tab_comes_back_as_it_was(
    server: Server, session: Path, context: BrowserContext, page: Page
) -> None:
    page.goto(server.url(page_of(session)))
    settled(page)
    scroll_to_middle(page)
    closed = page.locator("#cards .sec > .card.tool:not([data-open])")
    ids = [closed.nth(n).get_attribute("id") for n in (1, 3)]
    for card in ids:
        page.locator(f"#{card} > details > summary").first.evaluate("e => e.click()")
    shut = page.locator("#cards .sec > .card.tool[data-open] > details > summary").first
    shut.evaluate("e => e.click()")
    bodies_are_here(page)
    wheel(page, 37)
    before = place(page)
    page.close(run_before_unload=False)
    tab = context.new_page()
    tab.goto(server.url(page_of(session)))
    bodies_are_here(tab)
    after = place(tab)
    assert abs(offset_of(tab, before["id"]) - before["offset"]) <= 2
    assert set(ids) <= set(after["open"])
    assert set(after["open"]) & set(before["open"]) == set(before["open"]) & set(
        tab.evaluate("() => [...document.querySelectorAll('#cards .card')].map(c => c.id)")
    )


def test_a_link_to_here_shows_the_same_in_another_browser(
    server: Server, session: Path, browser: Browser, page: Page
) -> None:
    page.goto(server.url(page_of(session) + "?depth=tools"))
    settled(page)
    scroll_to_middle(page)
    card = page.locator("#cards .sec > .card.tool:not([data-open])").nth(1)
    name = card.get_attribute("id")
    card.locator("summary").first.evaluate("e => e.click()")
    bodies_are_here(page)
    wheel(page, 21)
    before, link = place(page), page.evaluate("() => presentview.linkToHere()")
    other = browser.new_context()
    tab = other.new_page()
    tab.goto(server.url("/"))
    tab.goto(link)
    bodies_are_here(tab)
    assert name in place(tab)["open"]
    assert abs(offset_of(tab, before["id"]) - before["offset"]) <= 2
    expect(tab.locator(".depths [aria-current]")).to_have_text("Tools")
    other.close()


@pytest.mark.parametrize("address", ["?at=c500&{token}", "?{token}#c500"], ids=["query", "hash"])
def test_a_link_into_the_middle_opens_there(
    server: Server, session: Path, page: Page, address: str
) -> None:
    path = page_of(session) + address.replace("{token}", server.token)
    page.goto(f"http://127.0.0.1:{server.port}{path}")
    settled(page)
    expect(page.locator("#c500")).to_be_in_viewport()
    assert page.locator("#cards .card").count() < 300


def test_what_was_opened_stays_so_while_it_is_far_away(
    server: Server, session: Path, page: Page
) -> None:
    page.goto(server.url(page_of(session)))
    settled(page)
    card = page.locator("#cards .card.tool:not([data-open])").first
    name = card.get_attribute("id")
    card.locator("summary").first.click()
    bodies_are_here(page)
    page.evaluate("() => document.activeElement.blur()")
    page.evaluate("() => presentview.rows.toEnd()")
    settled(page)
    expect(page.locator(f"#{name}")).to_have_count(0)
    page.evaluate("id => presentview.rows.goTo(id)", name)
    expect(page.locator(f"#{name} > details")).to_have_attribute("open", "")


def test_nothing_moves_under_the_eyes_of_who_reads(
    server: Server, folder: Path, live: RecorderType, page: Page
) -> None:
    page.goto(server.url(page_of(folder / "s.jsonl")))
    settled(page)
    scroll_to_middle(page)
    wheel(page, -80)
    page.evaluate(
        """() => {
          const { card } = presentview.rows.anchor();
          const text = card.querySelector(".subj").firstChild;
          const range = document.createRange();
          range.selectNodeContents(text);
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        }"""
    )
    before, selected = place(page), page.evaluate("() => getSelection().toString()")
    assert selected
    for n in range(49):
        say(live, f"later {n}")
    call(live, "failing", err="exit status 1")
    wait_for_position(page)
    settled(page)
    after = place(page)
    assert after["id"] == before["id"]
    assert abs(after["offset"] - before["offset"]) < 1
    assert page.evaluate("() => getSelection().toString()") == selected
    button = page.locator("[data-new]")
    expect(button).to_have_text("50 new, 1 error ↓")
    button.click()
    expect(page.locator("#cards .card.failed")).to_be_in_viewport()
    expect(button).to_be_hidden()
    say(live, "the very last")
    expect(page.get_by_text("the very last")).to_be_in_viewport()


def test_a_page_that_follows_stops_when_the_reader_leaves_the_end(
    server: Server, folder: Path, live: RecorderType, page: Page
) -> None:
    page.goto(server.url(page_of(folder / "s.jsonl")))
    settled(page)
    expect(page.locator("body")).to_have_attribute("data-follow", "reading")
    page.keyboard.press("f")
    expect(page.locator("body")).to_have_attribute("data-follow", "following")
    for n in range(70):
        say(live, f"followed {n}")
    expect(page.get_by_text("followed 69")).to_be_in_viewport()
    wheel(page, -700)
    expect(page.locator("body")).to_have_attribute("data-follow", "reading")
    before = place(page)
    for n in range(10):
        say(live, f"unseen {n}")
    wait_for_position(page)
    expect(page.locator("[data-new]")).to_have_text("10 new ↓")
    assert place(page)["offset"] == before["offset"]
    page.keyboard.press("End")
    expect(page.locator("body")).to_have_attribute("data-follow", "following")


STATES = {
    ("following", "away"): "reading",
    ("following", "select"): "held",
    ("held", "release"): "following",
    ("held", "away"): "reading",
    ("held", "ask"): "following",
    ("reading", "end"): "following",
    ("reading", "ask"): "following",
}


def test_only_the_reader_changes_whether_the_page_follows(
    server: Server, session: Path, page: Page
) -> None:
    page.goto(server.url(page_of(session)))
    settled(page)
    for state in ("following", "held", "reading"):
        for event in ("end", "away", "ask", "select", "release", "new card"):
            found = page.evaluate(
                "([state, event]) => presentview.nextFollowState(state, event)", [state, event]
            )
            assert found == STATES.get((state, event), state)


def test_a_line_says_what_is_new_since_the_reader_left(
    server: Server, folder: Path, live: RecorderType, context: BrowserContext, page: Page
) -> None:
    page.goto(server.url(page_of(folder / "s.jsonl")))
    settled(page)
    page.keyboard.press("f")
    expect(page.get_by_text("phase 119")).to_be_in_viewport()
    wheel(page, -300)
    page.close()
    for n in range(5):
        say(live, f"while away {n}")
    tab = context.new_page()
    tab.goto(server.url(page_of(folder / "s.jsonl")))
    settled(tab)
    tab.keyboard.press("f")
    expect(tab.locator(".since")).to_have_count(1)
    following = tab.locator(".since + .card")
    expect(following).to_contain_text("while away 0")


def test_a_file_that_is_another_one_is_shown_from_the_same_place(
    server: Server, folder: Path, session: Path, page: Page
) -> None:
    page.goto(server.url(page_of(session)))
    settled(page)
    scroll_to_middle(page)
    before = place(page)
    fresh = folder / "fresh"
    write_sidecar(fresh, long_session()[:-30])
    fresh.replace(folder / "s.present.jsonl")
    wait_for_position(page)
    settled(page)
    expect(page.locator(f"#{before['id']}")).to_be_in_viewport()
    assert abs(place(page)["offset"] - before["offset"]) <= 2


def test_sections_are_linked_pages_without_scripts(
    server: Server, folder: Path, browser: Browser
) -> None:
    session = write_session(folder, long_session()[:190])
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.url(page_of(session)))
    seen: set[str] = set()
    for _ in range(60):
        cards = page.locator("#cards .sec > .card")
        found = {cards.nth(n).get_attribute("id") or "" for n in range(cards.count())}
        assert not found & seen
        seen |= found
        later = page.get_by_role("link", name="later cards")
        if not later.count():
            break
        with page.expect_navigation(wait_until="load"):
            later.click()
    answer = page.request.get(server.url(page_of(session) + ".json")).json()
    assert seen == {card["id"] for card in answer["cards"] if card["depth"] == 0}
    page.goto(server.url(page_of(session) + "?all"))
    assert page.locator("#cards .card").count() >= len(seen)
    context.close()


def test_a_link_to_a_card_ends_following(
    server: Server, folder: Path, live: RecorderType, page: Page
) -> None:
    page.goto(server.url(page_of(folder / "s.jsonl")))
    settled(page)
    page.keyboard.press("f")
    expect(page.get_by_text("phase 119")).to_be_in_viewport()
    page.evaluate("() => { location.hash = '#c3'; }")
    expect(page.locator("#c3")).to_be_in_viewport()
    for n in range(5):
        say(live, f"meanwhile {n}")
    wait_for_position(page)
    expect(page.locator("#c3")).to_be_in_viewport()
    expect(page.locator("[data-new]")).to_have_text("5 new ↓")


def test_the_steps_of_a_sub_agent_come_as_one_scrolls(
    server: Server, folder: Path, page: Page
) -> None:
    records = [Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="a", name="task"))]
    for n in range(170):
        records.append(Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id=f"a/{n}", name="bash")))
        records.append(Record(kind=Kind.TOOL_RESULT, tool=Tool(id=f"a/{n}", output="done")))
    records.append(Record(kind=Kind.TOOL_RESULT, tool=Tool(id="a", output="done")))
    (folder / "s.present.jsonl").write_bytes(b"".join(encode(one) + b"\n" for one in records))
    page.goto(server.url(page_of(folder / "s.jsonl")))
    settled(page)
    page.locator("#c1 > details > summary").click()
    for count in (50, 100, 150, 170):
        expect(page.locator("#c1 .kids > .card")).to_have_count(count)
        page.locator("#c1 .kids > :last-child").scroll_into_view_if_needed()
    expect(page.locator(".more-kids")).to_have_count(0)
    ids = page.locator("#c1 .kids > .card").evaluate_all("all => all.map((card) => card.id)")
    assert ids == [f"c{n}" for n in range(2, 172)]


def test_a_section_whose_only_card_finds_its_parent_takes_no_other_with_it(
    server: Server, folder: Path, page: Page
) -> None:
    sidecar = folder / "s.present.jsonl"
    notices = [Record(kind=Kind.PHASE, text=f"phase {n}") for n in range(50)]
    later = [
        Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="a/x", name="bash")),
        Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="a", name="task")),
        Record(kind=Kind.PHASE, text="after all"),
    ]
    sidecar.write_bytes(b"".join(encode(one) + b"\n" for one in notices))
    page.goto(server.url(page_of(folder / "s.jsonl")))
    settled(page)
    for record in later:
        with open(sidecar, "ab") as file:
            file.write(encode(record) + b"\n")
        wait_for_position(page)
    tops = "all => all.map((card) => card.id).slice(-3)"
    assert page.locator("#cards .sec > .card").evaluate_all(tops) == ["c50", "c52", "c53"]

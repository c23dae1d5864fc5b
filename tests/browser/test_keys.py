"""Every key does what the list of keys says, also where its card is not in the page yet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from presentview.records import FileDiff, Kind, Record, Tool
from tests.browser.conftest import ROOT, Server, open_session, settled
from tests.sidecars import write_session

DIFF = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-a\n+b\n"


def turn(text: str) -> Record:
    return Record(kind=Kind.TURN_STARTED, text=text)


def notices(count: int) -> list[Record]:
    return [Record(kind=Kind.PHASE, text=f"phase {number}") for number in range(count)]


def call(name: str, tool: str, err: str = "", *inner: Record, diff: str = "") -> list[Record]:
    edit = FileDiff(diff=diff, added=1, removed=1) if diff else None
    return [
        Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id=name, name=tool, file_diff=edit)),
        *inner,
        Record(kind=Kind.TOOL_RESULT, tool=Tool(id=name, output=f"out of {name}\n", err=err)),
    ]


def steps(outer: str, count: int) -> list[Record]:
    return [r for n in range(count) for r in call(f"{outer}/{n}", "read_file")]


# c2 is an agent in which, behind 60 steps, another has failed; what follows is sections away.
DEEP = call("a/b", "task", "", *call("a/b/c", "bash", "exit status 2"))
RECORDS = [
    turn("first"),  # c1
    *call("a", "task", "", *steps("a", 60), *DEEP),  # c2, c3-c62, c63, c64
    *notices(120),  # c65-c184
    turn("second"),  # c185
    *notices(120),  # c186-c305
    *call("e", "edit_file", "", diff=DIFF),  # c306
    turn("third"),  # c307
    *call("z", "task", "", *steps("z", 70), *call("z/e", "write_file")),  # c308, c309-c378, c379
    *call("f", "bash", "exit status 1"),  # c380
    *notices(60),
    Record(kind=Kind.MESSAGE, text="the end"),
]
LAST = 380 + 61


@pytest.fixture
def session(folder: Path) -> Path:
    return write_session(folder, RECORDS)


@pytest.fixture
def opened(server: Server, session: Path, page: Page) -> Page:
    return open_session(page, server, session)


FOCUSED = "() => document.activeElement.closest('.card, .run')?.id ?? ''"


def press(page: Page, key: str) -> None:
    page.keyboard.press(key)
    settled(page)


def expect_at(page: Page, card: str) -> None:
    """The card has the focus, and is in view."""
    page.wait_for_function(f"id => ({FOCUSED})() === id", arg=card)
    settled(page)
    expect(
        page.locator(f"#{card} > details > summary, #{card} > :not(details)").first
    ).to_be_in_viewport()


def test_errors_are_found_wherever_they_are(opened: Page) -> None:
    page = opened
    press(page, "e")
    expect_at(page, "c64")
    expect(page.locator("#c64 > details")).to_have_attribute("open", "")
    for outer in ("c2", "c63"):
        expect(page.locator(f"#{outer} > details")).to_have_attribute("open", "")
    expect(page.locator("#c64 .err")).to_have_text("exit status 2")
    press(page, "e")
    expect_at(page, "c380")
    press(page, "e")
    expect(page.locator("[data-said]")).to_have_text("No later error here")
    expect_at(page, "c380")
    press(page, "E")
    expect_at(page, "c64")
    press(page, "E")
    expect(page.locator("[data-said]")).to_have_text("No earlier error here")


def test_edits_and_turns_are_found_wherever_they_are(opened: Page) -> None:
    page = opened
    press(page, "d")
    expect_at(page, "c306")
    press(page, "d")
    expect_at(page, "c379")
    press(page, "D")
    expect_at(page, "c306")
    press(page, "K")
    expect_at(page, "c185")
    press(page, "K")
    expect_at(page, "c1")
    press(page, "K")
    expect(page.locator("[data-said]")).to_have_text("No earlier turn here")
    press(page, "J")
    expect_at(page, "c185")
    press(page, "J")
    expect_at(page, "c307")


def test_cards_follow_each_other_and_open(opened: Page) -> None:
    page = opened
    for card in ("c1", "c2", "c65"):
        press(page, "j")
        expect_at(page, card)
    press(page, "k")
    press(page, "o")
    expect(page.locator("#c3")).to_be_visible()
    for card in ("c3", "c4"):
        press(page, "j")
        expect_at(page, card)
    press(page, "Enter")
    expect(page.locator("#c4 > details")).to_have_attribute("open", "")
    expect(page.locator("#c4 .out")).to_have_text("out of a/1")
    press(page, "Enter")
    expect(page.locator("#c4 > details")).not_to_have_attribute("open", "")
    for _ in range(2):
        press(page, "k")
    expect_at(page, "c2")
    press(page, "o")
    expect(page.locator("#c3")).to_be_hidden()
    press(page, "j")
    expect_at(page, "c65")


def test_every_card_is_passed_once(opened: Page) -> None:
    """Through nested cards that come as one goes, and through sections that come and go."""
    page = opened
    press(page, "j")
    press(page, "j")
    press(page, "o")
    expect(page.locator("#c3")).to_be_visible()
    passed = [2]
    for _ in range(150):
        page.keyboard.press("j")
        page.wait_for_function(f"before => ({FOCUSED})() !== before", arg=f"c{passed[-1]}")
        here = int(page.evaluate(FOCUSED)[1:])
        if here != passed[-1] + 1:
            settled(page)
        passed.append(here)
    assert passed == [*range(2, 64), *range(65, 65 + 150 - 61)]


def test_a_card_that_was_clicked_is_where_the_keys_go_on(opened: Page) -> None:
    page = opened
    page.locator("#c2 > details > summary").click()
    page.locator("#c2 > details > .in").click()
    press(page, "Enter")
    expect(page.locator("#c2 > details")).not_to_have_attribute("open", "")
    expect_at(page, "c2")
    page.locator("#c66").click()
    press(page, "k")
    expect_at(page, "c65")


def test_the_end_is_one_key_away(opened: Page) -> None:
    page = opened
    press(page, "f")
    expect(page.locator(f"#c{LAST}")).to_be_in_viewport()
    expect(page.locator("body")).to_have_attribute("data-follow", "following")
    press(page, "E")
    expect_at(page, "c380")
    expect(page.locator("body")).to_have_attribute("data-follow", "reading")


def test_keys_do_nothing_while_somebody_types(opened: Page) -> None:
    page = opened
    page.keyboard.press("/")
    expect(page.locator("[data-find] input")).to_be_focused()
    for key in "jkeEdDfo12?J":
        page.keyboard.press(key)
    expect(page.locator("[data-find] input")).to_have_value("jkeEdDfo12?J")
    expect(page.locator("#keys")).to_be_hidden()
    page.locator(".filters select").first.focus()
    page.keyboard.press("?")
    page.keyboard.press("j")
    expect(page.locator("#keys")).to_be_hidden()
    assert page.evaluate("() => scrollY") == 0
    page.locator("body").press("Control+f")
    page.locator("body").press("Alt+e")
    assert page.evaluate(FOCUSED) == ""


def test_the_list_of_keys_is_on_every_page(server: Server, opened: Page) -> None:
    page, here = opened, opened.url
    keys = page.locator("#keys")
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    expect(keys).to_contain_text("next, previous error")
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    assert page.evaluate(FOCUSED) == ""
    page.get_by_role("button", name="Keys").click()
    expect(keys).to_be_visible()
    keys.get_by_role("button", name="Close").click()
    expect(keys).to_be_hidden()
    page.keyboard.press("2")
    page.wait_for_url(f"{here}/timings")
    page.keyboard.press("?")
    expect(keys).to_contain_text("zoom in, zoom out, all of it")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("3")
    page.wait_for_url(re.compile(r"/changes(\?step=\d+)?$"))
    page.wait_for_load_state()
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    expect(keys).to_contain_text("play, pause")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("4")
    page.wait_for_url(f"{here}/raw")
    page.keyboard.press("?")
    expect(keys).to_contain_text("transcript, timings, changes, raw")
    expect(keys).not_to_contain_text("next, previous error")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("1")
    page.wait_for_url(here)
    page.goto(server.url("/"))
    page.keyboard.press("?")
    expect(keys).to_contain_text("find sessions")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()


def test_a_key_pressed_right_after_a_dialog_was_closed_is_for_the_page(
    server: Server, page: Page
) -> None:
    page.goto(server.url("/"))
    page.evaluate(
        """() => {
          const keys = document.getElementById("keys");
          keys.showModal();
          keys.close();
          const slash = new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true });
          keys.querySelector("button").dispatchEvent(slash);
        }"""
    )
    expect(page.locator("#q")).to_be_focused()


def test_the_list_of_keys_names_all_there_are() -> None:
    names = ("keys.js", "timings.js", "changes.js")
    code = "".join((ROOT / "static" / name).read_text() for name in names)
    tables = re.findall(r"const (?:of\w+|everywhere) = \{(.*?)\n  \};", code, re.DOTALL)
    assert len(tables) == 4
    named = re.compile(r'^    "?(\w+|[^\w\s])"?:', re.MULTILINE)
    done = {key for table in tables for key in named.findall(table)}
    assert 'event.key !== "/"' in (ROOT / "static" / "find.js").read_text()
    listed = re.findall(r"<kbd>(.*?)</kbd>", (ROOT / "templates" / "_keys.html").read_text())
    assert set(listed) == done | {"/", "Enter"}

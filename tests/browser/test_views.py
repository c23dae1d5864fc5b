"""What a page shows is chosen on it, and read-only calls fold: also without scripts, also live."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from presentview.limits import MAP_BUCKETS
from presentview.records import FileDiff, Kind, Record, Tool, encode
from tests.browser.conftest import Server, open_session, page_of, settled, wait_for_position
from tests.sidecars import write_session

DIFF = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-a\n+b\n"


def turn(text: str) -> Record:
    return Record(kind=Kind.TURN_STARTED, text=text)


def call(
    name: str, tool: str, *inner: Record, args: str = "{}", err: str = "", ms: int = 0
) -> list[Record]:
    start = Tool(id=name, name=tool, args=args, read_only=tool in ("read_file", "grep"))
    end = Tool(id=name, output=f"out of {name}", err=err, duration_ms=ms)
    return [
        Record(kind=Kind.TOOL_DISPATCH, tool=start),
        *inner,
        Record(kind=Kind.TOOL_RESULT, tool=end),
    ]


def edit(name: str) -> list[Record]:
    tool = Tool(id=name, name="edit_file", file_diff=FileDiff(diff=DIFF, added=1, removed=1))
    return [
        Record(kind=Kind.TOOL_DISPATCH, tool=tool),
        Record(kind=Kind.TOOL_RESULT, tool=Tool(id=name, output="ok")),
    ]


def read(name: str, path: str = "/src/a.py") -> list[Record]:
    return call(name, "read_file", args=f'{{"path":"{path}"}}', ms=400)


RECORDS = [
    turn("first"),  # c1
    *read("r1"),  # c2
    *read("r2", "/src/b.py"),  # c3
    *call("r3", "grep", args='{"pattern":"x"}', ms=400),  # c4
    Record(kind=Kind.MESSAGE, text="the first answer"),  # c5
    turn("second"),  # c6
    *call(
        "a",  # c7
        "task",
        *call(
            "a/b",
            "task",
            *call("a/b/c", "bash", err="exit status 1"),
            args='{"description":"inner"}',
        ),
        args='{"description":"outer"}',
    ),
    Record(kind=Kind.NOTICE, text="a notice"),  # c10
    turn("third"),  # c11
    *edit("e"),  # c12
    *call("f", "bash", err="exit status 2"),  # c13
]


@pytest.fixture
def session(folder: Path) -> Path:
    return write_session(folder, RECORDS)


@pytest.fixture
def opened(server: Server, session: Path, page: Page) -> Page:
    return open_session(page, server, session, height=800)


def tops(page: Page) -> list[str]:
    settled(page)
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("#cards .card")]
          .filter((card) => !card.parentElement.closest(".card")).map((card) => card.id)"""
    )
    return found


def test_depth_and_filters_are_chosen_on_the_page(opened: Page) -> None:
    page = opened
    depths = page.get_by_role("navigation", name="Depth")
    depths.get_by_role("link", name="Prompts").click()
    page.wait_for_url(re.compile(r"\?depth=prompts$"))
    assert tops(page) == ["c1", "c6", "c11"]
    depths.get_by_role("link", name="Everything").click()
    page.wait_for_url(re.compile(r"\?depth=everything$"))
    assert len(tops(page)) == 11
    page.get_by_label("Filter by state").select_option(label="Failed")
    page.wait_for_url(re.compile(r"state=failed"))
    assert tops(page) == ["c7", "c13"]
    depths.get_by_role("link", name="Tools").click()
    page.wait_for_url(re.compile(r"state=failed&depth=tools$"))
    page.get_by_label("Filter by tool").select_option(label="Sub-agent")
    page.wait_for_url(re.compile(r"tool=agent"))
    assert tops(page) == []
    expect(page.locator("main")).to_contain_text("No card is like that.")
    page.get_by_role("link", name="clear").click()
    page.wait_for_url(re.compile(r"\?depth=tools$"))
    assert "c7" in tops(page)
    expect(page.get_by_label("Filter by tool")).to_have_value("")


def test_a_view_can_be_chosen_without_scripts(
    server: Server, session: Path, browser: Browser
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.url(page_of(session)))
    cards = page.locator("#cards .card")
    page.get_by_label("Filter by kind").select_option(label="Answers")
    page.get_by_role("button", name="Show").click()
    expect(cards).to_have_count(1)
    expect(cards).to_contain_text("the first answer")
    page.get_by_role("link", name="clear").click()
    page.get_by_role("link", name="focus on turn 3").click()
    expect(cards).to_have_count(3)
    page.get_by_role("link", name="previous turn").click()
    expect(page.locator(".scope b")).to_have_text("Turn 2")
    context.close()


def test_a_turn_is_focused_and_left_again(opened: Page) -> None:
    page = opened
    link = page.get_by_role("link", name="focus on turn 2")
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"\?focus=t2$"))
    assert tops(page) == ["c6", "c7", "c10"]
    scope = page.get_by_role("navigation", name="Focus")
    expect(scope.locator("b")).to_have_text("Turn 2")
    scope.get_by_role("link", name="next turn").click()
    page.wait_for_url(re.compile(r"\?focus=t3$"))
    assert tops(page) == ["c11", "c12", "c13"]
    expect(scope.get_by_role("link", name="next turn")).to_have_count(0)
    scope.get_by_role("link", name="Whole session").click()
    page.wait_for_url(re.compile(r"depth=everything&at=c11$"))
    expect(page.locator("#c11")).to_be_in_viewport()
    assert len(tops(page)) == 11


def test_a_sub_agent_is_focused_and_left_again(opened: Page) -> None:
    page = opened
    page.locator("#c7 > details > summary").click()
    page.locator("#c7 > details > .in").get_by_role("link", name="focus").click()
    page.wait_for_url(re.compile(r"\?focus=c7$"))
    assert tops(page) == ["c8"]
    scope = page.get_by_role("navigation", name="Focus")
    expect(scope.locator("b")).to_have_text("outer")
    expect(page.locator("#c8 > details")).to_have_attribute("open", "")
    page.locator("#c8 > details > .in").get_by_role("link", name="focus").click()
    page.wait_for_url(re.compile(r"\?focus=c8$"))
    assert tops(page) == ["c9"]
    scope.get_by_role("link", name="around it").click()
    page.wait_for_url(re.compile(r"\?focus=c7&at=c8$"))
    scope.get_by_role("link", name="around it").click()
    page.wait_for_url(re.compile(r"\?focus=t2&at=c7$"))
    # The outline leads out of a focus too.
    page.locator("#o1 a").click()
    page.wait_for_url(re.compile(r"at=c1#c1$"))
    expect(page.locator("#c1")).to_be_in_viewport()
    assert len(tops(page)) == 11


# Runs


def test_read_only_calls_fold_into_a_line_that_names_them(opened: Page) -> None:
    page = opened
    run = page.locator(".run")
    expect(run).to_have_count(1)
    summary = run.locator("> summary")
    expect(summary).to_have_text("3 steps · 2 reads · 1 searcha.py, b.py, x1.2 s")
    expect(page.locator("#c2")).to_be_hidden()
    for _ in range(2):
        page.keyboard.press("j")
    expect(summary).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#c5")).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("o")
    expect(page.locator("#c2")).to_be_visible()
    for card in ("c2", "c3", "c4"):
        page.keyboard.press("j")
        expect(page.locator(f"#{card} > details > summary")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#c5")).to_be_focused()
    page.reload()
    settled(page)
    expect(page.locator(".run")).to_have_attribute("open", "")
    page.locator(".run > summary").click()
    expect(page.locator("#c2")).to_be_hidden()
    page.reload()
    settled(page)
    expect(page.locator(".run")).to_have_count(1)
    expect(page.locator(".run")).not_to_have_attribute("open", "")
    page.evaluate("() => { location.hash = '#c3'; }")
    expect(page.locator("#c3 > details > summary")).to_be_focused()
    expect(page.locator("#c3 > details")).to_have_attribute("open", "")
    expect(page.locator("#c3 .out")).to_be_in_viewport()


def test_read_only_calls_fold_in_a_depth_and_a_turn_alone_but_not_where_they_are_looked_for(
    server: Server, session: Path, page: Page
) -> None:
    here = page_of(session)
    run = page.locator(".run")
    for query, runs in (("depth=tools", 1), ("focus=t1", 1), ("tool=read", 0), ("state=done", 0)):
        page.goto(server.url(f"{here}?{query}"))
        settled(page)
        expect(page.locator("#c2")).to_be_attached()
        assert (query, run.count()) == (query, runs)
    page.goto(server.url(f"{here}?depth=tools"))
    settled(page)
    expect(page.locator("#c2")).to_be_hidden()
    # Of a turn alone everything is open, and so is what is folded in it.
    page.goto(server.url(f"{here}?focus=t1"))
    settled(page)
    expect(page.locator("#c2")).to_be_visible()
    expect(run).to_have_attribute("open", "")
    run.locator("> summary").click()
    expect(page.locator("#c2")).to_be_hidden()


def record(page: Page, session: Path, *records: Record) -> None:
    """Add to a session that a page shows, and wait until it shows that."""
    with open(session.with_suffix(".present.jsonl"), "ab") as file:
        file.write(b"".join(encode(one) + b"\n" for one in records))
    wait_for_position(page)
    settled(page)


def test_a_run_grows_and_a_card_that_changes_leaves_it(
    server: Server, folder: Path, page: Page
) -> None:
    session = write_session(folder, [turn("go"), *(r for n in range(4) for r in read(f"r{n}"))])
    page.goto(server.url(page_of(session)))
    settled(page)
    summary = page.locator(".run > summary")
    expect(summary).to_contain_text("4 steps · 4 reads")
    summary.click()
    record(page, session, *read("r4", "/src/late.py"))
    expect(summary).to_contain_text("5 steps · 5 reads")
    expect(page.locator(".run #c6")).to_be_visible()
    expect(page.locator(".run")).to_have_attribute("open", "")
    # Something nested comes late: the call is no longer one of many.
    late = Tool(id="r3/late", name="bash")
    record(page, session, Record(kind=Kind.TOOL_DISPATCH, tool=late))
    expect(summary).to_contain_text("3 steps · 3 reads")
    expect(page.locator("#c5")).to_be_visible()
    assert page.locator(".run #c5").count() == 0
    order = page.evaluate("() => [...document.querySelectorAll('.sec .card')].map((c) => c.id)")
    assert [card for card in order if card != "c7"] == [f"c{number}" for number in range(1, 7)]


def test_what_the_reader_looks_at_does_not_fold(server: Server, folder: Path, page: Page) -> None:
    long = [Record(kind=Kind.NOTICE, text=f"notice {number}") for number in range(60)]
    session = write_session(folder, [turn("go"), *long, *read("r0"), *read("r1")])
    page.set_viewport_size({"width": 1200, "height": 800})
    page.goto(server.url(page_of(session)))
    settled(page)
    page.evaluate("() => presentview.rows.goTo('c62', { offset: 200 })")
    settled(page)
    page.evaluate("() => presentview.leaveEnd?.()")
    before = page.locator("#c62").bounding_box()
    record(page, session, *read("r2"), *long)
    assert page.locator(".run").count() == 0
    assert page.locator("#c62").bounding_box() == before
    page.evaluate("() => presentview.rows.goTo('c90')")
    settled(page)
    expect(page.locator(".run")).to_have_count(1)


# The map


def test_the_map_marks_the_session_and_leads_there(
    server: Server, folder: Path, page: Page
) -> None:
    records = [turn("go")]
    for number in range(300):
        records += [Record(kind=Kind.MESSAGE, text=f"answer {number}"), *edit(f"e{number}")]
    records += call("bad", "bash", err="exit status 1")
    page.set_viewport_size({"width": 1200, "height": 800})
    page.goto(server.url(page_of(write_session(folder, records))))
    settled(page)
    map_, ticks = page.locator("[data-map]"), page.locator("[data-map] .ticks path")
    expect(map_).to_be_visible()
    expect(ticks).to_have_count(2)
    marks = ticks.evaluate_all("all => all.map((path) => path.getAttribute('d')).join('')")
    assert 50 < marks.count("M") <= MAP_BUCKETS
    expect(map_.locator(".ticks .bad")).to_have_count(1)
    box = map_.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 7, box["y"] + box["height"] - 2)
    settled(page)
    expect(page.locator("#c602")).to_be_in_viewport()
    page.mouse.click(box["x"] + 7, box["y"] + box["height"] / 2)
    settled(page)
    page.wait_for_function(
        "() => { const n = Number(presentview.rows.anchor().card.id.slice(1));"
        " return n > 250 && n < 350; }"
    )
    y, height = (float(map_.locator(".here").get_attribute(name) or 0) for name in ("y", "height"))
    assert 90 < y + height / 2 < 110


def test_a_short_session_has_no_map(opened: Page) -> None:
    expect(opened.locator("[data-map]")).to_be_hidden()

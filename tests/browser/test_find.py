from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Page, expect

from presentview.records import Kind, Record, Tool, encode
from tests.browser.conftest import Server, page_of, settled

NEEDLE = "a needle in the haystack"
TURNS = 120
_MARKED = """() => [...(CSS.highlights.get("found") ?? [])].map((range) => range.toString())"""
_IN_VIEW = """() => {
  const [range] = CSS.highlights.get("found") ?? [];
  const box = range?.getBoundingClientRect();
  const top = document.querySelector(".top").getBoundingClientRect().bottom;
  const isThere = !document.querySelector("[data-going]") && Boolean(box?.height);
  return isThere && box.top >= top && box.bottom <= innerHeight;
}"""


def call(name: str, call_id: str, args: str, output: str) -> Iterable[Record]:
    yield Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id=call_id, name=name, args=args), at=1)
    yield Record(kind=Kind.TOOL_RESULT, tool=Tool(id=call_id, name=name, output=output), at=2)


def turn(number: int) -> Iterable[Record]:
    yield Record(kind=Kind.TURN_STARTED, text=f"prompt {number}", at=1)
    if number in (40, 80):
        task = Tool(id=f"t{number}", name="task", args='{"description":"look around"}')
        yield Record(kind=Kind.TOOL_DISPATCH, tool=task, at=1)
        output = "".join(f"line {n}\n" for n in range(120)) + f"here: {NEEDLE.upper()}\n" + "end\n"
        for n in range(130):
            text = output if n == 110 else "nothing"
            yield from call("bash", f"t{number}/b{n}", f'{{"command":"step {n}"}}', text)
        yield Record(kind=Kind.TOOL_RESULT, tool=Tool(id=f"t{number}", output="done"), at=2)
    for n in range(4):
        yield from call("bash", f"c{number}.{n}", '{"command":"true"}', "lines\n" * 30)
    yield Record(kind=Kind.MESSAGE, text="an answer\n\n" * 10, at=3)
    yield Record(kind=Kind.TURN_DONE, at=4)


def record(path: Path, records: Iterable[Record]) -> Path:
    path.write_bytes(b"".join(encode(one) + b"\n" for one in records))
    return path.with_name(path.name.replace(".present", ""))


def long_session(folder: Path) -> Path:
    records = [one for number in range(1, TURNS + 1) for one in turn(number)]
    records.append(Record(kind=Kind.NOTICE, text=f"the last <b>{NEEDLE}</b>"))
    return record(folder / "s.present.jsonl", records)


def open_page(page: Page, server: Server, session: Path) -> None:
    page.goto(server.url(page_of(session)))
    settled(page)


def ready(page: Page) -> None:
    page.wait_for_function("() => !document.querySelector('[data-find][aria-busy]')")


def test_what_is_deep_in_closed_cards_is_found_opened_and_marked(
    page: Page, server: Server, folder: Path
) -> None:
    open_page(page, server, long_session(folder))
    page.get_by_role("searchbox", name="Find in session").fill(NEEDLE)
    hits = page.locator("[data-find-list] button")
    expect(hits).to_have_count(3)
    expect(page.locator("[data-find-count]")).to_have_text("3 cards")
    expect(hits.first.locator("mark")).to_have_text(NEEDLE.upper())
    assert page.locator("[data-find-list] b b").count() == 0, "what was found is no markup"
    hits.nth(1).click()
    page.wait_for_function(_IN_VIEW)
    assert page.evaluate(_MARKED) == [NEEDLE.upper()]
    card = page.locator("[data-find-list] [aria-current]")
    expect(card).to_contain_text("step 110")
    expect(page.locator("[data-find-count]")).to_have_text("2 of 3")
    opened = page.locator(".card > details[open] > summary", has_text="step 110")
    expect(opened).to_be_visible()
    assert page.locator(".card mark").count() == 0, "the cards stay as they are"


def test_the_keyboard_alone_goes_through_the_hits(page: Page, server: Server, folder: Path) -> None:
    open_page(page, server, long_session(folder))
    page.keyboard.press("/")
    expect(page.locator("#find-text")).to_be_focused()
    page.keyboard.type(NEEDLE)
    counter = page.locator("[data-find-count]")
    for key, count in [
        ("Enter", "1 of 3"),
        ("Enter", "2 of 3"),
        ("Enter", "3 of 3"),
        ("Enter", "1 of 3"),
        ("Shift+Enter", "3 of 3"),
        ("Shift+Enter", "2 of 3"),
    ]:
        page.keyboard.press(key)
        expect(counter).to_have_text(count)
        page.wait_for_function(_IN_VIEW)
        expect(page.locator("#find-text")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(counter).to_have_text("2 of 3")
    page.keyboard.press("Escape")
    expect(page.locator("[data-find-panel]")).to_be_hidden()
    assert page.evaluate(_MARKED) == []
    assert page.evaluate("() => document.activeElement.closest('.card')?.dataset.turn") == "80"


def test_more_hits_come_as_the_list_is_read(page: Page, server: Server, folder: Path) -> None:
    open_page(page, server, long_session(folder))
    page.locator("#find-text").fill("prompt")
    counter = page.locator("[data-find-count]")
    expect(counter).to_contain_text("+ cards")
    listed = page.locator("[data-find-list] button")
    while listed.count() < TURNS:
        before = listed.count()
        page.locator("[data-find-list]").evaluate("list => list.scrollTo(0, list.scrollHeight)")
        page.wait_for_function(
            "count => document.querySelectorAll('[data-find-list] button').length > count",
            arg=before,
        )
    page.locator("[data-find-list]").evaluate("list => list.scrollTo(0, list.scrollHeight)")
    expect(counter).to_have_text(f"{TURNS} cards")
    page.locator("#find-text").fill("prompt nobody wrote")
    expect(counter).to_have_text("not found")
    expect(page.locator("[data-find-panel]")).to_be_hidden()


def test_hostile_text_is_listed_as_text(page: Page, server: Server, folder: Path) -> None:
    hostile = "<img src=x onerror=alert(1)> \u202eevil {{7*7}}"
    session = record(folder / "s.present.jsonl", [Record(kind=Kind.TURN_STARTED, text=hostile)])
    open_page(page, server, session)
    page.locator("#find-text").fill("<img src=x")
    page.keyboard.press("Enter")
    expect(page.locator("[data-find-list] mark")).to_have_text("<img src=x")
    assert page.locator("[data-find-list] img").count() == 0
    page.wait_for_function(_IN_VIEW)


def test_a_hit_that_the_view_leaves_out_is_shown_in_the_whole_session(
    page: Page, server: Server, folder: Path
) -> None:
    session = long_session(folder)
    open_page(page, server, session)
    page.goto(page.url.partition("?")[0] + "?depth=prompts")
    settled(page)
    page.locator("#find-text").fill("step 110")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "at=c" in url)
    settled(page)
    expect(page.locator("summary", has_text="step 110").first).to_be_visible()


def test_a_narrow_page_has_the_box_in_its_own_row(page: Page, server: Server, folder: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    open_page(page, server, long_session(folder))
    box = page.locator("#find-text").bounding_box()
    assert box is not None
    assert box["width"] > 300
    page.locator("#find-text").fill(NEEDLE)
    page.keyboard.press("Enter")
    page.wait_for_function(_IN_VIEW)
    expect(page.locator("[data-find-panel]")).to_be_hidden()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_a_page_lists_the_hits(server: Server, folder: Path, page: Page) -> None:
    session = long_session(folder)
    browser = page.context.browser
    assert browser is not None
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(server.url(page_of(session)))
    plain.get_by_label("Find in session").fill(NEEDLE)
    plain.keyboard.press("Enter")
    links = plain.locator(".found a")
    expect(links).to_have_count(3)
    links.nth(1).click()
    expect(plain.locator("summary", has_text="step 110").first).to_be_visible()
    context.close()

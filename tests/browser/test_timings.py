"""The timings page in a browser: rows that fold, zoom and pan, the way to a card and back, live."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from presentview.records import Profile, Record, Tool, encode
from tests.browser.conftest import ROOT, Server, page_of, settled
from tests.browser.test_band import START, call
from tests.sidecars import write_session
from tests.unit.transcript.story import done, turn

AXE = ROOT / "tests" / "vendor" / "axe-core-4.14.1.min.js"
HOUR = 3_600_000

RECORDS = [
    turn("look around", at=START),  # c1
    *call("ls", 1_000, 1_000),  # c2
    done(at=START + 4_000),
    turn("audit it", at=START + 2 * HOUR),  # c3
    *call(
        "p",  # c4
        2 * HOUR + 1_000,
        9_000,
        *call("p/a", 2 * HOUR + 2_000, 2_000),  # c5
        *call("p/b", 2 * HOUR + 5_000, 2_000, err="exit status 1"),  # c6
        tool="task",
    ),
    *call("make", 2 * HOUR + 11_000, 3_000),  # c7
    done(at=START + 2 * HOUR + 15_000),
]


def address(server: Server, session: Path, query: str = "") -> str:
    return server.url(f"{page_of(session)}/timings{query}")


@pytest.fixture
def session(folder: Path) -> Path:
    return write_session(folder, RECORDS)


@pytest.fixture
def opened(server: Server, session: Path, page: Page) -> Page:
    page.set_default_timeout(15_000)
    page.set_viewport_size({"width": 1200, "height": 700})
    page.goto(address(server, session))
    expect(page.locator("#waterfall")).to_be_visible()
    return page


def span_of(page: Page) -> tuple[float, float]:
    """The part of the line that is shown, in %."""
    low, high = page.evaluate("() => [waterfall.dataset.low, waterfall.dataset.high].map(Number)")
    return low, high


def expect_span(page: Page, condition: str) -> None:
    page.wait_for_function(
        "condition => { const [low, high] = [waterfall.dataset.low, waterfall.dataset.high]"
        ".map(Number); return !waterfall.classList.contains('moving') && ({"
        "zoomed: high - low < 99, whole: low === 0 && high === 100"
        "})[condition]; }",
        arg=condition,
    )


def test_rows_fold_and_the_address_remembers_it(opened: Page) -> None:
    page = opened
    expect(page.locator(".wf-row")).to_have_count(7)
    page.locator("#r-c4").get_by_role("button", name="task: rows in it").click()
    expect(page.locator(".wf-row")).to_have_count(5)
    expect(page.locator("#r-c4").get_by_role("button")).to_be_focused()
    expect(page.locator("#r-c4").get_by_role("button")).to_have_attribute("aria-expanded", "false")
    assert "shut=c4" in page.url
    page.reload()
    expect(page.locator(".wf-row")).to_have_count(5)
    page.get_by_role("button", name="Fold", exact=True).click()
    expect(page.locator(".wf-row")).to_have_count(2)
    page.get_by_role("button", name="Unfold").click()
    expect(page.locator(".wf-row")).to_have_count(7)


def test_a_row_says_all_about_its_call_and_leads_to_its_card_and_back(opened: Page) -> None:
    page = opened
    link = page.locator("#r-c6").get_by_role("link", name="bash p/b")
    expect(link).to_have_accessible_description(re.compile("^failed, at 2 h 00 m, ran 2.0 s"))
    detail = page.locator("[data-detail]")
    expect(detail).to_be_hidden()
    link.focus()
    expect(detail).to_contain_text(
        "bash p/b · failed, at 2 h 00 m, ran 2.0 s, on the critical path"
    )
    page.locator("#r-c2 .plot").hover()
    expect(detail).to_contain_text("bash ls · done, at 1.0 s, ran 1.0 s")
    here = page.url
    link.click()
    settled(page)
    expect(page.locator("#c6 > details")).to_have_attribute("open", "")
    expect(page.locator("#c6")).to_be_in_viewport()
    page.go_back()
    expect(page.locator("#waterfall")).to_be_visible()
    assert page.url == here
    page.locator("#r-c2 .plot").click()
    settled(page)
    expect(page.locator("#c2 > details")).to_have_attribute("open", "")
    expect(page.locator("#c2")).to_be_in_viewport()


def test_buttons_keys_the_wheel_and_a_choice_show_a_part(opened: Page) -> None:
    page = opened
    page.get_by_role("button", name="Zoom in").click()
    expect_span(page, "zoomed")
    assert re.search(r"from=\d+&to=\d+", page.url)
    page.get_by_role("button", name="All").click()
    expect_span(page, "whole")
    assert "from=" not in page.url
    for key, condition in (("+", "zoomed"), ("0", "whole"), ("+", "zoomed")):
        page.keyboard.press(key)
        expect_span(page, condition)
    for key, sign in (("l", 1), ("h", -1)):
        low, _ = span_of(page)
        page.keyboard.press(key)
        page.wait_for_function(
            "([low, sign]) => (Number(waterfall.dataset.low) - low) * sign > 0", arg=[low, sign]
        )
    page.keyboard.press("0")
    expect_span(page, "whole")
    box = page.locator("#r-c4 .plot").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 5)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -480)
    page.keyboard.up("Control")
    expect_span(page, "zoomed")
    low, high = span_of(page)
    assert low < 90 < high
    assert low > 50, "around where the pointer is"
    page.keyboard.press("0")
    expect_span(page, "whole")
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 5, steps=4)
    expect(page.locator(".wf-choice")).to_be_visible()
    page.mouse.up()
    expect_span(page, "zoomed")
    low, high = span_of(page)
    assert low == pytest.approx(50, abs=2)
    assert high == pytest.approx(90, abs=2)
    assert "/timings" in page.url, "a choice is no click"
    page.mouse.down()
    page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 5, steps=4)
    page.mouse.up()
    page.wait_for_function("low => Number(waterfall.dataset.low) < low - 5", arg=low)
    expect_span(page, "zoomed")
    assert span_of(page) == pytest.approx((low - 10, high - 10), abs=1), "what is zoomed moves"
    assert "/timings" in page.url, "neither is this"


def test_fingers_move_and_stretch_what_is_shown(
    server: Server, session: Path, browser: Browser
) -> None:
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 320})
    page = context.new_page()
    page.goto(address(server, session))
    page.locator("#r-c4 .plot").scroll_into_view_if_needed()
    box = page.locator("#r-c4 .plot").bounding_box()
    assert box is not None
    cdp, y = context.new_cdp_session(page), box["y"] + 8

    def touch(kind: str, *fingers: tuple[float, float]) -> None:
        points = [{"x": box["x"] + x * box["width"], "y": at} for x, at in fingers]
        cdp.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    touch("Start", (0.4, y))
    touch("Start", (0.4, y), (0.6, y))
    for spread in (0.05, 0.1, 0.2):
        touch("Move", (0.4 - spread, y), (0.6 + spread, y))
    touch("End")
    expect_span(page, "zoomed")
    assert span_of(page) == pytest.approx((33.3, 66.7), abs=1.5), "around the fingers' middle"
    touch("Start", (0.8, y))
    for x in (0.7, 0.6, 0.5):
        touch("Move", (x, y))
    touch("End")
    page.wait_for_function("() => Number(waterfall.dataset.low) > 40")
    expect_span(page, "zoomed")
    assert span_of(page) == pytest.approx((43.3, 76.7), abs=1.5), "as far as the finger"
    span, top = span_of(page), page.evaluate("() => scrollY")
    touch("Start", (0.5, y))
    for step in range(1, 8):
        touch("Move", (0.5, y - 12 * step))
    touch("End")
    page.wait_for_function("top => scrollY > top + 20", arg=top)
    assert span_of(page) == span, "up and down is for the page"
    page.locator("#r-c4 .plot").tap()
    page.wait_for_url(re.compile("#c4$"))
    context.close()


def test_rows_out_of_the_part_that_is_shown_are_left_out(
    server: Server, session: Path, page: Page
) -> None:
    page.goto(address(server, session, f"?from={2 * HOUR + 4_500}&to={2 * HOUR + 8_000}"))
    expect(page.locator("#r-c6")).to_be_visible()
    for gone in ("t1", "c2", "c5", "c7"):
        expect(page.locator(f"#r-{gone}")).to_have_count(0)


def test_a_night_between_two_turns_is_cut_short_and_said(opened: Page) -> None:
    page = opened
    expect(page.locator(".pauses")).to_have_text("Cut short: 1 h 59 m pause")
    boxes = [page.locator(f"#r-{key} .plot rect").first.bounding_box() for key in ("t1", "t2")]
    widths = [box["width"] for box in boxes if box is not None]
    assert [width > 100 for width in widths] == [True, True], widths


def test_tools_are_sorted_by_any_column(opened: Page) -> None:
    page = opened
    names = page.locator("#by-tool ~ .scroll tbody th")
    expect(names.first).to_have_text("bash")
    page.get_by_role("link", name="Tool", exact=True).click()
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Tool")
    page.get_by_role("link", name="Max").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Max")
    expect(names.first).to_have_text("task")


def test_keys_go_from_row_to_row(opened: Page) -> None:
    page = opened
    focused = "() => document.activeElement.closest('.wf-row')?.id"
    for key, at in (("j", "r-t1"), ("j", "r-c2"), ("e", "r-c6"), ("k", "r-c5"), ("k", "r-c4")):
        page.keyboard.press(key)
        assert page.evaluate(focused) == at
    page.keyboard.press("o")
    expect(page.locator("#r-c5")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("zoom in, zoom out, all of it")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.wait_for_url(re.compile(r"/s/[0-9a-f]+$"))
    page.keyboard.press("2")
    page.wait_for_url(re.compile(r"/timings$"))


def test_a_card_that_is_looked_for_is_unfolded_and_marked(
    server: Server, session: Path, page: Page
) -> None:
    page.set_viewport_size({"width": 1200, "height": 300})
    page.goto(address(server, session, "?rows=none&at=c6"))
    expect(page.locator("#r-c6")).to_have_class(re.compile("sought"))
    expect(page.locator("#r-c6")).to_be_in_viewport()


def test_bars_of_running_calls_grow_and_new_ones_come(
    server: Server, session: Path, page: Page
) -> None:
    import time

    now = int(time.time() * 1000)
    sidecar = session.with_name("s.present.jsonl")

    def add(*records: Record) -> None:
        with sidecar.open("ab") as file:
            file.write(b"".join(encode(record) + b"\n" for record in records))

    first, _ = call("slow", now - START - 20_000, 0)
    add(turn("go on", at=now - 21_000), first)
    page.goto(address(server, session))
    bar = page.locator("#r-c9 .plot rect")
    expect(page.locator("#r-c9")).to_contain_text("running")
    share = "bar => bar.getBoundingClientRect().width / bar.closest('svg').clientWidth"
    before = bar.evaluate(share)
    page.wait_for_function(
        "before => { const bar = document.querySelector('#r-c9 .plot rect');"
        " return bar.getBoundingClientRect().width / bar.closest('svg').clientWidth > before; }",
        arg=before,
        timeout=20_000,
    )
    page.locator("#r-c9 .wf-name > a").focus()
    add(*call("quick", now - START - 5_000, 1_000))
    expect(page.locator("#r-c10")).to_be_visible(timeout=20_000)
    expect(page.locator("#r-c9 .wf-name > a")).to_be_focused()
    add(Record(kind="tool_result", tool=Tool(id="slow", output="x"), at=now))
    expect(page.locator("#r-c9")).not_to_contain_text("running", timeout=20_000)
    expect(page.locator("#facts")).to_contain_text("Longest call20.0 s")


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_anybody_from_using_the_page(
    server: Server, folder: Path, browser: Browser, scheme: str, width: int
) -> None:
    # With everything there is to draw: inferred times, errors, sub-agents, open ends.
    records = [*RECORDS, *(r for r in call("untimed", 0, 0))]
    bare = [Record(r.kind, r.text, level=r.level, tool=r.tool) for r in records]
    profile = Tool(id="z", name="task", profile=Profile("m" * 80, "high"))
    session = write_session(folder, [*records, *bare, Record("tool_dispatch", tool=profile)])
    context = browser.new_context(
        bypass_csp=True,
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 900},
    )
    page = context.new_page()
    page.goto(address(server, session))
    expect(page.locator(".wf-row").first).to_be_visible()
    page.locator(".wf-name > a").first.focus()
    page.evaluate(AXE.read_text())
    found = page.evaluate("() => axe.run().then((result) => result.violations)")
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    assert page.evaluate("() => document.documentElement.scrollWidth") == width
    context.close()


def test_the_page_works_without_scripts(server: Server, session: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address(server, session))
    expect(page.locator(".wf-row")).to_have_count(7)
    page.locator("#r-c4").get_by_role("button").click()
    expect(page.locator(".wf-row")).to_have_count(5)
    page.get_by_role("button", name="Zoom in").click()
    assert "from=" in page.url
    assert "act=" not in page.url
    page.get_by_role("link", name="p95").click()
    expect(page.locator("th[aria-sort]")).to_have_text("p95")
    assert "shut=c4" in page.url
    context.close()

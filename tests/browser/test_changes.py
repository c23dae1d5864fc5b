"""The changes page in a browser: the player, the way there and back, live, without scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from presentview.lock import LOCKING_WRITER
from presentview.records import FileDiff, Header, Kind, Record, Tool, encode
from tests.browser.conftest import Server, page_of, settled
from tests.browser.watching import assert_upright, violations
from tests.sidecars import write_session
from tests.unit.transcript.changes.world import Story, git_diff

LINES = tuple(f"line number {n}\n" for n in range(1, 61))
EDITS = 30


def changed(count: int) -> tuple[str, ...]:
    """The file after so many edits, each of another line."""
    return tuple(f"edited in {n + 1}\n" if n < count else line for n, line in enumerate(LINES))


def story() -> Story:
    """30 edits of one file, a failed one of another, one by a sub-agent, one in flight."""
    found = Story()
    found.add(Record(Kind.TURN_STARTED, "edit it line by line"))
    for n in range(EDITS):
        found.edit(git_diff("src/main.py", changed(n), changed(n + 1)))
        if n == 2:
            found.edit(args={"command": "make"}, name="bash")
    found.result(found.dispatch(git_diff("broken.txt", None, ("x\n",))), err="no space left")
    task = found.dispatch(args={"description": "write the docs", "prompt": "do"}, name="task")
    found.result(found.dispatch(git_diff("docs/a b.md", None, ("# Hello\n",)), parent=task))
    found.result(task)
    found.dispatch(git_diff("src/main.py", changed(EDITS), changed(EDITS + 1)))
    return found


@pytest.fixture
def session(folder: Path) -> Path:
    work = folder / "work"
    (work / "src").mkdir(parents=True)
    (work / "src" / "main.py").write_text("".join(changed(EDITS)))
    header = Header(workspace=str(work), writer=f"test{LOCKING_WRITER}")
    return write_session(folder, story().records, header)


def address(server: Server, session: Path, query: str = "") -> str:
    return server.url(f"{page_of(session)}/changes{query}")


@pytest.fixture
def opened(server: Server, session: Path, page: Page) -> Page:
    page.set_default_timeout(15_000)
    page.set_viewport_size({"width": 1440, "height": 800})
    page.goto(address(server, session, "?step=1"))
    expect_step(page, 1)
    return page


def expect_step(page: Page, step: int) -> None:
    expect(page.locator("#changes")).to_have_attribute("data-step", str(step))
    expect(page.locator("#known:not([data-again])")).to_be_attached()


def test_keys_buttons_and_the_scrubber_go_from_step_to_step(opened: Page) -> None:
    page = opened
    for key, step in (
        *(("ArrowRight", n) for n in (2, 3, 4)),
        *(("ArrowLeft", 3), ("End", 33), ("ArrowRight", 33), ("E", 31), ("Home", 1), ("e", 31)),
    ):
        page.keyboard.press(key)
        expect_step(page, step)
    assert page.url.endswith("?step=31")
    expect(page.locator(".ch-steps [aria-current]")).to_be_in_viewport()
    expect(page.locator(".ch-card")).to_contain_text("no space left")
    for name, step in (
        *(("First step", 1), ("Next step", 2), ("Last step", 33), ("Previous step", 32)),
    ):
        page.get_by_role("link", name=name).click()
        expect_step(page, step)
    scrub = page.get_by_role("slider", name="Step")
    expect(scrub).to_have_attribute("aria-valuetext", "step 32, applied")
    box = scrub.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.5 / 33, box["y"] + box["height"] / 2)
    expect_step(page, 1)
    scrub.press("ArrowRight")
    expect_step(page, 2)
    expect(scrub).to_be_focused()
    assert page.locator(".ch-scrub path").count() == 3, "one for each state"
    page.locator("#step-3 a").click()
    expect_step(page, 3)
    page.go_back()
    expect_step(page, 2)
    page.keyboard.press("s")
    expect(page.locator(".ch-card .diff.split")).to_be_visible()
    assert "layout=split" in page.url


def test_playing_goes_on_until_it_is_paused_or_at_the_end(opened: Page) -> None:
    page = opened
    page.get_by_label("Speed").select_option("10")
    page.locator("body").press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.wait_for_function("() => Number(changes.dataset.step) >= 4")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    stands = page.locator("#changes").get_attribute("data-step")
    page.keyboard.press("ArrowLeft")
    assert stands is not None
    expect(page.locator("#changes")).not_to_have_attribute("data-step", stands)
    page.goto(page.url.partition("?")[0] + "?step=31")
    page.get_by_label("Speed").select_option("10")
    page.get_by_role("button", name="Play").click()
    expect_step(page, 33)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_verdicts_follow_the_files_and_the_file_so_far_the_step(
    opened: Page, session: Path
) -> None:
    page = opened
    main = session.parent / "work" / "src" / "main.py"
    expect(page.locator("#step-1 .verdict")).to_have_text("overwritten by step 2")
    expect(page.locator("#step-30 .verdict")).to_have_text("on disk")
    expect(page.locator("#step-32 .verdict")).to_have_text("file gone")
    expect(page.locator("#step-33 .verdict")).to_have_text("not on disk")
    expect(page.locator("[data-sum]")).to_have_text(
        "30 of 31 applied steps are on disk or overwritten by later ones."
    )
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    expect(page.locator(".known .a")).to_contain_text("edited in 2")
    page.get_by_role("link", name="All edits of the session").click()
    expect(page.locator(".ch-net .diff")).to_contain_text("edited in 30")
    main.write_text("".join(changed(1)))
    expect(page.locator("#step-30 .verdict")).to_have_text("changed since")
    expect(page.locator(".ch-disk > p .verdict")).to_have_text("not on disk")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy this step's patch").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("diff --git a/src/main.py b/src/main.py\n")
    assert "+edited in 2\n" in copied


def test_from_a_card_to_its_step_and_back(server: Server, session: Path, page: Page) -> None:
    page.goto(server.url(f"{page_of(session)}?at=c4"))
    settled(page)
    page.locator("#c4").get_by_role("link", name="its step in the changes").click()
    expect_step(page, 3)
    page.wait_for_load_state()
    page.keyboard.press("t")
    settled(page)
    expect(page.locator("#c4")).to_be_in_viewport()
    expect(page.locator("#c4 > details")).to_have_attribute("open", "")
    page.go_back()
    expect_step(page, 3)
    page.get_by_label("Filter by sub-agent").select_option(label="write the docs")
    expect(page.locator(".ch-steps li[id]")).to_have_count(1)
    expect_step(page, 32)
    assert "agent=c" in page.url
    page.get_by_role("link", name="clear").click()
    expect(page.locator(".ch-steps li[id]")).to_have_count(33)


def test_new_edits_append_and_the_reader_stays(opened: Page, session: Path) -> None:
    page = opened
    page.locator("#step-20 a").click()
    expect_step(page, 20)
    page.locator(".ch-file summary").click()
    page.evaluate("() => scrollTo(0, 150)")
    expect(page.locator("[data-sum]")).not_to_be_empty()
    where = "() => [scrollY, document.querySelector('#step-20').getBoundingClientRect().top]"
    stands = page.evaluate(where)
    row = page.locator(".ch-card .a").first
    row.select_text()
    tool = Tool(id="new", name="edit_file", file_diff=FileDiff(git_diff("n", None, ("n\n",)), 1))
    with session.with_suffix(".present.jsonl").open("ab") as file:
        for record in (
            Record(Kind.TOOL_DISPATCH, tool=tool),
            Record(Kind.TOOL_RESULT, tool=Tool(id="new", output="ok")),
        ):
            file.write(encode(record) + b"\n")
    expect(page.locator("#step-34")).to_be_attached()
    expect(page.locator(".ch-where")).to_have_text("20 of 34")
    expect_step(page, 20)
    assert stands == pytest.approx(page.evaluate(where), abs=8)
    expect(page.locator(".ch-file")).not_to_have_attribute("open", "")
    assert page.evaluate("() => getSelection().toString()").strip().endswith("edited in 20")


def test_everybody_can_use_it(server: Server, session: Path, browser: Browser) -> None:
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(address(server, session, "?step=2&net=1&wait"))
    expect(page.locator("#known:not([data-again])")).to_be_attached()
    for width, scheme in ((1440, "dark"), (390, "light")):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 900})
        assert (width, scheme, violations(page)) == (width, scheme, [])
    page.goto(address(server, session, "?step=32&layout=split"))
    assert_upright(page)
    context.close()


def test_it_can_be_read_without_scripts(server: Server, session: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address(server, session, "?step=2&wait"))
    expect(page.locator(".ch-card .diff")).to_contain_text("edited in 2")
    expect(page.locator(".known").first).to_contain_text("edited in 1")
    expect(page.locator(".ch-disk").first).to_contain_text("overwritten by step 3")
    expect(page.get_by_role("button", name="Play")).to_be_hidden()
    page.get_by_role("link", name="Next step").click()
    expect(page.locator(".ch-head h2")).to_have_text("Step 3")
    page.get_by_label("Filter by state").select_option("failed")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".ch-head h2")).to_have_text("Step 31")
    page.get_by_role("link", name="In the transcript").click()
    expect(page.locator("#c34")).to_be_visible()
    context.close()

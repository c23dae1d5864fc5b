from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from presentview import Recorder
from presentview.events import Event, EventKind
from presentview.recorder import Recorder as RecorderType
from presentview.records import Tool
from tests.browser.conftest import Serve, Server, page_of, wait_for_position

# A page learns of a change within a second even where the system tells nobody.
expect.set_options(timeout=20_000)


def say(recorder: RecorderType, text: str) -> None:
    recorder.append(Event(kind=EventKind.NOTICE, text=text))


def begin(recorder: RecorderType, text: str) -> None:
    recorder.append(Event(kind=EventKind.TURN_STARTED, text=text))


def end(recorder: RecorderType) -> None:
    recorder.append(Event(kind=EventKind.TURN_DONE))


def dispatch(recorder: RecorderType, call: str, name: str = "bash") -> None:
    tool = Tool(id=call, name=name, args='{"command":"make"}')
    recorder.append(Event(kind=EventKind.TOOL_DISPATCH, tool=tool))


def result(recorder: RecorderType, call: str, output: str = "done\n") -> None:
    recorder.append(Event(kind=EventKind.TOOL_RESULT, tool=Tool(id=call, output=output)))


@pytest.fixture
def session(folder: Path) -> Path:
    return folder / "s.jsonl"


@pytest.fixture
def recorder(session: Path) -> Iterator[RecorderType]:
    with Recorder.open(session, fsync="never") as recorder:
        begin(recorder, "the prompt")
        yield recorder


def test_the_list_fills_itself_and_shows_how_sessions_stand(
    serve: Serve, folder: Path, page: Page
) -> None:
    page.goto(serve(folder).url())
    expect(page.locator("#empty")).to_be_visible()
    with Recorder.open(folder / "one.jsonl") as one:
        begin(one, "the first task")
        row = page.locator("#sessions > li")
        expect(row).to_have_count(1)
        expect(row.locator(".title")).to_have_text("the first task")
        expect(row.locator(".pill")).to_have_text("● live")
        expect(page.locator("#empty")).to_be_hidden()
        dispatch(one, "a")
        expect(row.locator(".tools")).to_have_text("1 tool")
        end(one)
        expect(row.locator(".pill")).to_have_text("✓ finished")
    inner = folder / "deeper" / "still"
    inner.mkdir(parents=True)
    with Recorder.open(inner / "two.jsonl") as two:
        begin(two, "the second task")
        titles = page.locator("#sessions .title")
        expect(titles).to_have_text(["the second task", "the first task"])
    expect(page.locator("#sessions .pill").first).to_have_text("⚡ interrupted")
    (folder / "one.present.jsonl").unlink()
    expect(titles).to_have_text(["the second task"])


def test_what_the_reader_opened_and_selected_stays_while_other_cards_change(
    server: Server, session: Path, recorder: RecorderType, page: Page
) -> None:
    dispatch(recorder, "agent", "task")
    dispatch(recorder, "agent/read")
    result(recorder, "agent/read", "select this line\nand more\n")
    page.goto(server.url(page_of(session)))
    card = page.locator("#c3")
    expect(card.locator("> details")).not_to_have_attribute("open", "")
    card.locator("summary").click()
    output = card.locator(".out")
    expect(output).to_contain_text("select this line")
    output.evaluate(
        """element => {
          window.kept = element;
          getSelection().setBaseAndExtent(element.firstChild, 7, element.firstChild, 16);
        }"""
    )
    card.locator("summary").focus()
    for number in range(4):
        dispatch(recorder, f"agent/more{number}")
        say(recorder, f"notice {number}")
        result(recorder, f"agent/more{number}")
        wait_for_position(page)
    result(recorder, "agent")
    end(recorder)
    wait_for_position(page)
    expect(page.locator("#c2 .kids .card")).to_have_count(5)
    assert page.evaluate("() => getSelection().toString()") == "this line"
    assert page.evaluate("() => window.kept.isConnected")
    expect(card.locator("> details")).to_have_attribute("open", "")
    expect(card.locator("summary").first).to_be_focused()


def test_a_card_that_the_reader_closed_stays_closed(
    server: Server, session: Path, recorder: RecorderType, page: Page
) -> None:
    dispatch(recorder, "a")
    page.goto(server.url(page_of(session)))
    details = page.locator("#c2 > details")
    expect(details).to_have_attribute("open", "")
    details.locator("summary").click()
    tool = Tool(id="a", output="step\n")
    recorder.append(Event(kind=EventKind.TOOL_PROGRESS, tool=tool))
    wait_for_position(page)
    expect(details).not_to_have_attribute("open", "")
    result(recorder, "a", "it is done\n")
    wait_for_position(page)
    expect(details).not_to_have_attribute("open", "")
    details.locator("summary").click()
    expect(details.locator(".out")).to_have_text("it is done")


def test_the_body_of_an_open_card_is_what_the_file_says_now(
    server: Server, session: Path, recorder: RecorderType, page: Page
) -> None:
    dispatch(recorder, "a")
    result(recorder, "a", "the first output\n")
    page.goto(server.url(page_of(session)))
    card = page.locator("#c2")
    card.locator("summary").click()
    expect(card.locator(".out")).to_have_text("the first output")
    result(recorder, "a", "the second output\n")
    expect(card.locator(".out")).to_have_text("the second output")
    card.locator("summary").click()
    result(recorder, "a", "the third output\n")
    wait_for_position(page)
    card.locator("summary").click()
    expect(card.locator(".out")).to_have_text("the third output")


def test_a_running_clock_counts(
    server: Server, session: Path, recorder: RecorderType, page: Page
) -> None:
    page.goto(server.url(page_of(session)))
    dispatch(recorder, "a")
    clock = page.locator("#c2 [data-clock=run]")
    expect(clock).not_to_be_empty()
    before = clock.text_content()
    assert before is not None
    expect(clock).not_to_have_text(before)
    result(recorder, "a")
    expect(clock).to_have_count(0)


def test_an_answer_grows_as_it_is_written(
    server: Server, session: Path, recorder: RecorderType, page: Page
) -> None:
    page.goto(server.url(page_of(session)))
    recorder.append(Event(kind=EventKind.TEXT, text="The first paragraph.\n\nThe sec"))
    answer = page.locator(".card.message")
    expect(answer.locator("p")).to_have_text(["The first paragraph.", "The sec"])
    answer.locator("p").first.evaluate(
        "element => getSelection().selectAllChildren(window.kept = element)"
    )
    recorder.append(Event(kind=EventKind.TEXT, text="ond **one**."))
    expect(answer.locator("p").nth(1)).to_have_text("The second one.")
    recorder.append(
        Event(kind=EventKind.MESSAGE, text="The first paragraph.\n\nThe second **one**.")
    )
    expect(answer).not_to_have_class("running")
    wait_for_position(page)
    assert page.evaluate("() => getSelection().toString().trim()") == "The first paragraph."
    expect(answer).to_have_count(1)


def test_a_session_that_is_waited_for_is_shown_when_it_comes(
    serve: Serve, folder: Path, page: Page
) -> None:
    session = folder / "not yet" / "s.jsonl"
    page.goto(serve(session).url(page_of(session)))
    expect(page.locator("#problems")).to_contain_text("Waiting for")
    expect(page.locator(".pill")).to_have_text("… waiting")
    with Recorder.open(session) as recorder:
        begin(recorder, "here it is")
        expect(page.locator("#cards .card")).to_have_count(1)
        expect(page.locator("#problems")).to_have_text("")
        expect(page.locator(".pill")).to_have_text("● live")
        say(recorder, "and on it goes")
        expect(page.locator("#cards .card")).to_have_count(2)


def test_a_file_that_is_removed_and_made_again_is_shown_anew(
    server: Server, session: Path, page: Page
) -> None:
    with Recorder.open(session) as recorder:
        begin(recorder, "the first one")
        page.goto(server.url(page_of(session)))
        expect(page.locator("#cards .card")).to_have_count(1)
    session.with_name("s.present.jsonl").unlink()
    expect(page.locator("#problems")).to_contain_text("Waiting for")
    expect(page.locator("#cards .card")).to_have_count(0)
    with Recorder.open(session) as recorder:
        begin(recorder, "the second one")
        say(recorder, "news")
        expect(page.locator("#cards .card")).to_have_count(2)
        expect(page.locator("#outline")).to_contain_text("the second one")


def test_an_open_page_catches_up_after_the_server_was_started_again(
    serve: Serve, session: Path, recorder: RecorderType, page: Page
) -> None:
    server = serve(session)
    page.goto(server.url(page_of(session)))
    page.evaluate("() => { window.same = true; }")
    server.arguments = ["--port", str(server.port), str(session)]
    server.end()
    expect(page.locator("[data-live-note]")).to_contain_text("Connection lost")
    say(recorder, "while it was away")
    server.start()
    expect(page.locator("#cards")).to_contain_text("while it was away")
    expect(page.locator("[data-live-note]")).to_be_hidden()
    say(recorder, "since then")
    expect(page.locator("#cards")).to_contain_text("since then")
    assert page.evaluate("() => window.same"), "the page must not have been loaded again"
    page.reload()
    expect(page.locator("#cards")).to_contain_text("since then")


def test_a_page_outlives_both_its_server_and_its_file(
    serve: Serve, folder: Path, page: Page
) -> None:
    session = folder / "s.jsonl"
    with Recorder.open(session) as recorder:
        begin(recorder, "the first one")
    server = serve(folder)
    page.goto(server.url(page_of(session)))
    server.arguments = ["--port", str(server.port), str(folder)]
    server.end()
    session.with_name("s.present.jsonl").unlink()
    server.start()
    with Recorder.open(session) as recorder:
        begin(recorder, "the second one")
        expect(page.locator("#cards")).to_contain_text("the second one")
        say(recorder, "news")
        expect(page.locator("#cards")).to_contain_text("news")


def test_the_server_ends_while_pages_are_open(
    serve: Serve, session: Path, recorder: RecorderType, page: Page
) -> None:
    server = serve(session)
    with page.expect_response(lambda answer: "/events" in answer.url):
        page.goto(server.url(page_of(session)))
    assert server.end() == 0

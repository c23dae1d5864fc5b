"""A page of a session whose prompts stand in the agent's own messages."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from presentview import lock, runlog
from presentview.records import Record, encode
from tests.browser.conftest import (
    Server,
    assert_same,
    open_session,
    shown,
    shown_anew,
    wait_for_position,
)
from tests.web.test_joined import Told, event_log, sidecar

PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
        "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
    )
).decode()


def test_prompts_and_their_images_come_from_the_messages_and_stay_live(
    server: Server, folder: Path, page: Page
) -> None:
    session = folder / "s.jsonl"
    content = [
        {"type": "text", "text": "look at <b>this</b>"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/spy.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,PHN2Zz4="}},
    ]
    asked: list[dict[str, object]] = [
        {"role": "user", "content": content},
        {"role": "assistant", "content": "seen"},
    ]
    session.write_text("".join(json.dumps(message) + "\n" for message in asked))
    sidecar = folder / "s.present.jsonl"
    records = [Record("turn_started"), Record("message", text="seen")]
    sidecar.write_bytes(b'{"kind":"_header"}\n' + b"".join(encode(r) + b"\n" for r in records))
    open_session(page, server, session)
    prompt = page.locator("#c1")
    expect(prompt).to_contain_text("look at <b>this</b>")
    image = prompt.locator("img")
    expect(image).to_have_count(1)
    page.wait_for_function("() => document.querySelector('#c1 img').naturalWidth === 1")
    expect(prompt).to_contain_text("on another machine; never fetched")
    expect(prompt).to_contain_text("no image that can be shown")
    with sidecar.open("ab") as file:
        file.write(encode(Record("notice", text="one more")) + b"\n")
    expect(page.locator("#cards")).to_contain_text("one more")


def test_a_page_of_two_files_that_grow_in_turn_is_the_one_that_is_opened(
    server: Server, folder: Path, context: BrowserContext, page: Page
) -> None:
    session, second = folder / "s.jsonl", folder / "s.present.jsonl"
    lock.lock_path(second).touch()
    turns = [Told(f"p{n}", (f"c{n}",), f"answer {n}", (n != 2, n != 1, False)) for n in range(4)]
    (folder / "made").mkdir()
    event_log(folder / "made" / "e.jsonl", [turn for turn in turns if turn.files[0]])
    lines = (folder / "made" / "e.jsonl").read_bytes().splitlines(keepends=True)
    records = sidecar([turn for turn in turns if turn.files[1]], 0).splitlines(keepends=True)
    second.write_bytes(records.pop(0))
    session.write_bytes(b"".join(lines[:4]))
    open_session(page, server, session)
    steps = max(len(records), len(lines) - 4)
    for step in range(steps):
        with second.open("ab") as file:
            file.write(b"".join(records[step : step + 1]))
        with session.open("ab") as file:
            file.write(b"".join(lines[4 + step : 5 + step]))
        if step % 4 == 0:
            wait_for_position(page)
    wait_for_position(page)
    cards = page.locator("#cards")
    expect(cards).to_contain_text("answer 3")
    expect(cards).to_contain_text("Only in s.jsonl")
    expect(cards).to_contain_text("Run completed")
    assert_same(shown(page), shown_anew(context, page))


def test_a_page_leads_to_a_run_that_goes_on_with_its_own_as_soon_as_it_begins(
    server: Server, folder: Path, page: Page
) -> None:
    with runlog.create(folder, "first", runlog.Meta(task="one")) as log:
        log.message(runlog.Message("user", "one"))
    open_session(page, server, log.path)
    expect(page.locator(".kin")).to_have_count(0)
    with runlog.resume(folder, "first") as going_on:
        going_on.message(runlog.Message("user", "two"))
    link = page.locator(".kin a")
    expect(link).to_have_text(going_on.id)
    link.click()
    expect(page.locator(".kin a")).to_have_text("first")
    expect(page.locator("#cards")).to_contain_text("two")

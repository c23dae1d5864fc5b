"""A page of a session whose prompts stand in the agent's own messages."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from playwright.sync_api import Page, expect

from presentview.records import Record, encode
from tests.browser.conftest import Server, open_session

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

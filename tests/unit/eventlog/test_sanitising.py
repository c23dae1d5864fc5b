"""What of a message is stored, how large it was, and what models see of skills."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from presentview.eventlog import (
    ContentPart,
    ModelMessage,
    SkillContent,
    ToolCall,
    ToolResult,
    estimate_logical_chars,
    estimate_messages_chars,
    render_skill_content,
    sanitised_call,
    sanitised_message,
)
from presentview.limits import STORED_INPUT_BYTES, STORED_RESULT_BYTES
from tests.unit.eventlog.examples import messages

DATA = "data:image/png;base64,AAAA"


@pytest.mark.parametrize(
    ("part", "kept"),
    [
        (ContentPart("text", " a\n"), ContentPart("text", "a")),
        (ContentPart("", "a"), ContentPart("text", "a")),
        (ContentPart("text", "a", url="u", detail="d"), ContentPart("text", "a")),
        (ContentPart("text", " \u3000"), None),
        (ContentPart("text", f" {DATA}"), None),
        (ContentPart("thinking", "hm"), None),
        (ContentPart("image_url", url=DATA), None),
        (
            ContentPart("image_url", url=DATA, mime=" image/png ", source=" up/a.png"),
            ContentPart("attachment_ref", mime="image/png", source="up/a.png"),
        ),
        (
            ContentPart("image", url=" https://x/a.png"),
            ContentPart("attachment_ref", url="https://x/a.png"),
        ),
        (
            ContentPart("file", url="u", source="s", mime="m"),
            ContentPart("attachment_ref", source="s", mime="m"),
        ),
        (ContentPart("video"), None),
        (
            ContentPart("attachment_ref", source=" s ", url="u"),
            ContentPart("attachment_ref", source=" s ", url="u"),
        ),
        (
            ContentPart("attachment_ref", source="s", url=DATA),
            ContentPart("attachment_ref", source="s"),
        ),
        (ContentPart("new", url="u", mime="m"), ContentPart("attachment_ref", url="u", mime="m")),
        (ContentPart("new", url=DATA), None),
        (ContentPart("new", "a"), ContentPart("text", "a")),
        (ContentPart("new"), None),
    ],
)
def test_text_is_kept_and_media_by_where_they_lie(
    part: ContentPart, kept: ContentPart | None
) -> None:
    stored = sanitised_message(ModelMessage("user", (part,)))
    assert stored.content == (() if kept is None else (kept,))


@given(messages())
def test_a_stored_message_holds_no_media_and_stays_as_it_is(message: ModelMessage) -> None:
    stored = sanitised_message(message)
    assert sanitised_message(stored) == stored
    assert not any(part.url.strip().startswith("data:") for part in stored.content)
    assert {part.type for part in stored.content} <= {"text", "attachment_ref"}
    assert all(json.loads(call.input) is not Ellipsis for call in stored.tool_calls)


@pytest.mark.parametrize(
    ("raw", "stored"),
    [(b"", b"{}"), (b"{}", b"{}"), (b" [1.0] ", b" [1.0] "), (b"null", b"null")],
)
def test_an_input_that_is_json_is_kept(raw: bytes, stored: bytes) -> None:
    assert sanitised_call(ToolCall("c", "n", raw)) == ToolCall("c", "n", stored)


@pytest.mark.parametrize("raw", [b"{bad", b"NaN", b"[" * 100_000, b"\xff", b"x" * 9000])
def test_an_input_that_is_no_json_is_kept_as_a_preview(raw: bytes) -> None:
    note = json.loads(sanitised_call(ToolCall("c", "n", raw)).input)
    text = raw.decode("utf-8", "replace")
    assert set(note) == {"_storage_note", "preview"}
    assert note["preview"].startswith(text[:8000])
    assert (note["preview"] == text) == (len(raw) <= STORED_INPUT_BYTES)


@pytest.mark.parametrize("character", ["x", "é", "😀"])
def test_a_result_inside_a_message_is_cut_between_characters(character: str) -> None:
    whole = character * 8_000
    result = ToolResult("c", "n", whole, {"a": 1})
    (stored,) = sanitised_message(ModelMessage("tool", tool_results=(result,))).tool_results
    size = len(stored.content.encode())
    if len(whole.encode()) <= STORED_RESULT_BYTES:
        assert stored == result
    else:
        assert STORED_RESULT_BYTES - 4 < size <= STORED_RESULT_BYTES
        kept, _, note = stored.content.partition("\n")
        assert whole.startswith(kept)
        assert note == f"[cut: {len(whole.encode()):,} bytes]"


@pytest.mark.parametrize(
    ("message", "chars"),
    [
        (ModelMessage(), 0),
        (ModelMessage("user"), 4),
        (ModelMessage("", (ContentPart("text", "é", source="ab"),)), 4),
        (ModelMessage("", (ContentPart("image", url=f"  {DATA}"),)), 256),
        (ModelMessage("", (ContentPart("image_url", url="abc"),)), 3),
        (ModelMessage("", (ContentPart("attachment_ref", url=DATA, source="s"),)), 1),
        (ModelMessage("", (ContentPart("attachment_ref", url="ab"),)), 2),
        (ModelMessage("", (ContentPart("file", url=DATA),)), len(DATA)),
        (ModelMessage(tool_calls=(ToolCall("id", "é", b"{ }"),)), 5),
        (ModelMessage(tool_results=(ToolResult("id", "n", "😀"),)), 5),
    ],
)
def test_a_message_is_as_large_as_its_text_in_bytes(message: ModelMessage, chars: int) -> None:
    assert estimate_logical_chars(message) == chars
    assert estimate_messages_chars(iter([message, ModelMessage("a"), message])) == 2 * chars + 1


def test_a_skill_is_wrapped_for_the_model() -> None:
    text = render_skill_content(SkillContent('<"a&b">', "d", "Do <this>.\n", " /skills/a "))
    assert text.startswith('<skill_content name="&lt;&quot;a&amp;b&quot;>">\n<skill_resources>\n')
    assert text.endswith(
        "\n<skill_instructions>\nDo <this>.\n\n</skill_instructions>\n</skill_content>"
    )
    assert "/skills/a;" in text
    assert "/skills" not in render_skill_content(SkillContent("a"))

"""What of a message is stored: text in full, media only by where they lie.

Images and files that a message holds in itself, and what the model thought, are not kept. The
size of a message before this is recorded beside it (`METADATA_LOGICAL_CHARS`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from presentview.compact import is_json
from presentview.eventlog.gotext import is_data_url, trim
from presentview.eventlog.payloads import ContentPart, ModelMessage, ToolCall, ToolResult
from presentview.eventlog.wire import json_text
from presentview.limits import STORED_INPUT_BYTES, STORED_RESULT_BYTES

__all__ = ["sanitised_call", "sanitised_message"]

_MEDIA: Final = frozenset(
    {"image", "image_url", "document", "file", "audio", "video", "attachment_ref"}
)
_NOTE: Final = "the input of this call was no valid JSON"


def sanitised_message(message: ModelMessage) -> ModelMessage:
    """`message` as it is stored. Storing it twice changes nothing more."""
    return ModelMessage(
        message.role,
        tuple(kept for part in message.content for kept in _kept(part)),
        tuple(map(sanitised_call, message.tool_calls)),
        tuple(map(_shortened, message.tool_results)),
    )


def sanitised_call(call: ToolCall) -> ToolCall:
    """`call` with an input that is JSON: an empty one becomes `{}`, any other text a note."""
    if not call.input:
        return msgspec.structs.replace(call, input=b"{}")
    text = call.input.decode("utf-8", "replace")
    if is_json(text):
        return call
    note = {"_storage_note": _NOTE, "preview": _cut(text, STORED_INPUT_BYTES)}
    return msgspec.structs.replace(call, input=json_text(note).encode())


def _kept(part: ContentPart) -> Iterator[ContentPart]:
    """What of a part of a message is stored: at most one part."""
    if part.type == "attachment_ref" and not is_data_url(part.url):
        yield part
    elif part.type in _MEDIA or (part.type not in ("", "text", "thinking") and part.url):
        source, url = trim(part.source), trim(part.url)
        mime = trim(part.mime)
        if source:
            yield ContentPart("attachment_ref", mime=mime, source=source)
        elif url and not is_data_url(url):
            yield ContentPart("attachment_ref", mime=mime, url=url)
    elif part.type != "thinking":
        text = trim(part.text)
        if text and not is_data_url(text):
            yield ContentPart("text", text)


def _shortened(result: ToolResult) -> ToolResult:
    return msgspec.structs.replace(result, content=_cut(result.content, STORED_RESULT_BYTES))


def _cut(text: str, most: int) -> str:
    """`text`, or as much of its beginning as fits in `most` bytes with a note that it is cut."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= most:
        return text
    note = f"\n[cut: {len(encoded):,} bytes]"
    return encoded[: most - len(note)].decode("utf-8", "ignore") + note

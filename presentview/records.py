"""The vocabulary: one presentation record, and how it stands as one line of JSON.

A `Record` is what a session's sidecar holds on each line. The types mirror the Go package this
format comes from, in Python's spelling, and `encode` writes the bytes that package would write:
the same key order, zero values left out, `<`, `>`, `&`, U+2028 and U+2029 as escapes. `decode`
takes such a line back, and refuses anything else: what can be saved of an odd or damaged line
is the business of `presentview.salvage`.
"""

from __future__ import annotations

from collections import UserDict
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from presentview.compact import go_escapes, json_bytes, text_of

__all__ = [
    "HEADER_KIND",
    "Attachment",
    "Collab",
    "Compaction",
    "Extra",
    "FileDiff",
    "Header",
    "Kind",
    "Profile",
    "Record",
    "Retry",
    "Tool",
    "Usage",
    "decode",
    "decode_header",
    "encode",
    "encode_header",
    "fields_of",
]

HEADER_KIND: Final = "_header"

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1

Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=INT64_MIN, le=INT64_MAX)]

Collab: TypeAlias = Any
"""What an expert-collab record carries: any JSON value, or `bytes` of JSON kept as they are."""


class Extra(UserDict[str, str]):
    """Keys this version does not know, each with its value as JSON text, so that a rewrite keeps
    what a newer writer recorded.

    No `dict`, so that the plain encoder refuses a struct that carries it.
    """


class Kind(StrEnum):
    """The kinds of record a frontend shows. A record may carry any other string as its kind."""

    TURN_STARTED = "turn_started"
    REASONING = "reasoning"
    TEXT = "text"
    MESSAGE = "message"
    TOOL_DISPATCH = "tool_dispatch"
    TOOL_RESULT = "tool_result"
    TOOL_PROGRESS = "tool_progress"
    USAGE = "usage"
    NOTICE = "notice"
    PHASE = "phase"
    COMPACTION_STARTED = "compaction_started"
    COMPACTION_DONE = "compaction_done"
    RETRYING = "retrying"
    STEER = "steer"
    PAUSED = "paused"
    RESUMED = "resumed"
    EXPERT_COLLAB = "expert_collab"
    TURN_DONE = "turn_done"
    """An extension: how a turn ended. The Go package passes over it."""
    APPROVAL_REQUEST = "approval_request"
    """An extension: somebody is asked whether the call `tool.id` may run; `text` says what for."""
    APPROVAL_ANSWER = "approval_answer"
    """An extension: the answer for the call `tool.id`, `text`: "approved", "denied" or others."""


def _camel(name: str) -> str | None:
    if name == "extra":
        # Not a key of the format: a noncharacter keeps it apart, its type keeps it undecodable.
        return "\ufdd0extra"
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


class _Wire(
    msgspec.Struct,
    frozen=True,
    gc=False,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename=_camel,
):
    """A frozen struct whose defaults are not written and whose keys are camel case."""


class Attachment(_Wire, frozen=True):
    """A file a tool produced: its `path` as recorded and its `kind` ("image", …)."""

    path: str = ""
    kind: str = ""
    extra: Extra | None = None


class Profile(_Wire, frozen=True):
    """The `model` and `effort` a sub-agent runs with."""

    model: str = ""
    effort: str = ""
    extra: Extra | None = None


class FileDiff(_Wire, frozen=True, omit_defaults=False):
    """An edit as a unified `diff`, with the lines `added` and `removed`. All three are always
    written.
    """

    diff: str = ""
    added: Int64 = 0
    removed: Int64 = 0
    extra: Extra | msgspec.UnsetType | None = msgspec.UNSET


class Tool(_Wire, frozen=True):
    """The tool call a record speaks of.

    A dispatch carries `id`, `name`, `args` (JSON text), `read_only`, `parent_id`, `profile` and
    `file_diff`; a result adds `output`, `err`, `truncated`, `duration_ms` and `attachments`; a
    progress record has `id` and a piece of `output`. Zero values are not written, so that a
    `duration_ms` of 0 means: not known.
    """

    id: str = ""
    name: str = ""
    args: str = ""
    output: str = ""
    err: str = ""
    read_only: bool = False
    truncated: bool = False
    duration_ms: Int64 = 0
    parent_id: str = ""
    attachments: tuple[Attachment, ...] = ()
    profile: Profile | None = None
    file_diff: FileDiff | None = None
    extra: Extra | None = None


class Usage(_Wire, frozen=True):
    """Tokens of one model request: input, output, total, and input read from a cache.

    As extensions the record's `tool.id` names the call whose sub-agent made the request, and
    `steps` counts the steps of an agent's loop that ended with it.
    """

    input_tokens: Int64 = 0
    output_tokens: Int64 = 0
    total_tokens: Int64 = 0
    cache_read: Int64 = 0
    steps: Int64 = 0
    extra: Extra | None = None


class Compaction(_Wire, frozen=True):
    """A compaction: its `trigger` ("auto", "manual"), how many `messages` went, the `summary`
    that replaced them and the path of the `archive`.
    """

    trigger: str = ""
    messages: Int64 = 0
    summary: str = ""
    archive: str = ""
    extra: Extra | None = None


class Retry(_Wire, frozen=True):
    """Attempt `attempt` of `max` (0: not known) to reach the model. `attempt` is always
    written.
    """

    attempt: Int64
    max: Int64 = 0
    extra: Extra | None = None


class Record(_Wire, frozen=True):
    """One presentation event: one line of a sidecar.

    Only the fields that mean something for `kind` are filled. `at` (unix ms, 0: not recorded)
    and the `images` of a prompt are extensions, `at` always the last key. `extra` holds the keys
    this version does not know.
    """

    kind: str
    text: str = ""
    reasoning: str = ""
    level: str = ""
    tool: Tool | None = None
    usage: Usage | None = None
    compaction: Compaction | None = None
    collab: Collab = None
    retry: Retry | None = None
    images: tuple[Attachment, ...] = ()
    at: Int64 = 0
    extra: Extra | None = None


class Header(_Wire, frozen=True):
    """The first line of a sidecar.

    `rewrite_version` says how often the session's messages were rewritten. The other keys are
    extensions: `started_at` is unix ms; `turns_dropped` and `cards_dropped` count what earlier
    compactions took away, so that turns and cards keep their numbers. Of the first `edits_kept`
    of those cards every edit is kept beside the sidecar, in `edit_lines` lines; -1: some are lost.
    """

    kind: str = HEADER_KIND
    rewrite_version: Int64 = 0
    workspace: str = ""
    started_at: Int64 = 0
    writer: str = ""
    turns_dropped: Int64 = 0
    cards_dropped: Int64 = 0
    edits_kept: Int64 = 0
    edit_lines: Int64 = 0
    extra: Extra | None = None


_decoder = msgspec.json.Decoder(Record)
_header_decoder = msgspec.json.Decoder(Header)
_encoder = msgspec.json.Encoder()

fields_of: Final = cache(msgspec.structs.fields)
"""The fields of a struct type; working them out takes longer than reading a record."""

decode = _decoder.decode
"""The `Record` on one line, as `bytes`. Raises `msgspec.DecodeError` (a `ValueError`) or
`RecursionError` for anything but a record spelled as `encode` would spell its keys and types."""


def decode_header(line: bytes) -> Header:
    """The `Header` on one line. Raises `msgspec.DecodeError` like `decode`."""
    return _header_decoder.decode(line)


def encode(record: Record) -> bytes:
    """The line that holds `record`, without its newline.

    Never fails on content: lone surrogates become U+FFFD, NaN and infinities become null.
    """
    if record.collab is None and record.extra is None:
        try:
            return go_escapes(_encoder.encode(record))
        except (TypeError, UnicodeEncodeError, OverflowError):
            pass
    return go_escapes(_assemble(record))


def encode_header(header: Header) -> bytes:
    """The header line, without its newline: `kind` always, the rest where it is not zero."""
    return go_escapes(_join([f'"kind":"{HEADER_KIND}"', *_members(header)]))


def _assemble(record: Record) -> bytes:
    """`record` as JSON, member by member: for what the plain encoder cannot write."""
    return _join(_members(record))


def _join(members: list[str]) -> bytes:
    return ("{" + ",".join(members) + "}").encode("utf-8", "surrogatepass")


def _members(struct: _Wire) -> list[str]:
    members: list[str] = []
    last: str | None = None
    always = not struct.__struct_config__.omit_defaults
    for field in fields_of(type(struct)):
        if field.name == "extra":
            continue
        value = getattr(struct, field.name)
        if not (always or field.required) and _is_default(value, field.default):
            continue
        member = f'"{field.encode_name}":{_value(field.name, value)}'
        if field.name == "at":
            last = member
        else:
            members.append(member)
    extra = struct.extra  # type: ignore[attr-defined]
    if isinstance(extra, Extra):
        members += (f"{json_bytes(key).decode()}:{raw}" for key, raw in extra.items())
    if last is not None:
        members.append(last)
    return members


def _is_default(value: object, default: object) -> bool:
    return value is default or (type(value) is type(default) and value == default)


def _value(name: str, value: Any) -> str:
    if isinstance(value, _Wire):
        return "{" + ",".join(_members(value)) + "}"
    if name in ("attachments", "images"):
        return "[" + ",".join(_value("", item) for item in value) + "]"
    if name == "collab":
        return text_of(value)
    return json_bytes(value).decode()

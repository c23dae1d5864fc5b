"""What the fold takes of a record: from the record itself, or from a digest of a long one.

A record too long to be read in the server's own process comes as a `Digest`: its long texts are
cut, and what the fold counts and compares in them was found out where they were whole. Whichever
it is, the fold asks the functions here and makes the same cards of it.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from msgspec.structs import replace

from presentview import limits
from presentview.records import Record, Tool
from presentview.transcript.collab import summarize_collab
from presentview.transcript.faces import FACES, read_background, read_subject

__all__ = [
    "Digest",
    "args_key",
    "diff_lines",
    "digest_of",
    "files_named",
    "output_lines",
    "runs_in_background",
    "subject",
    "text_key",
]


class Digest(Record, frozen=True):
    """A record whose texts of more than `KEPT_CHARS` are cut, and of its values those left out
    that the fold does not look at.

    `args_key` and `text_key` stand for texts that were cut (0: none was), `subjects` are those
    of cut arguments, by the face of their card. A collab is its summary.
    """

    args_key: int = 0
    text_key: int = 0
    subjects: dict[str, str] = msgspec.field(default_factory=dict)
    background: bool = False
    lines: int = 0
    diff_lines: int = 0
    files: int = 0


def digest_of(record: Record) -> Digest:
    """The digest of a record."""
    values: dict[str, Any] = {name: getattr(record, name) for name in record.__struct_fields__}
    kept = limits.KEPT_CHARS
    values |= {"text": record.text[:kept], "reasoning": record.reasoning[:kept], "extra": None}
    values["images"] = ()
    if len(record.text) > kept:
        values["text_key"] = _key_of(record.text)
    if record.collab is not None:
        values["collab"] = summarize_collab(record.collab)
    if record.compaction is not None:
        done = record.compaction
        texts = {name: getattr(done, name)[:kept] for name in ("summary", "archive")}
        values["compaction"] = replace(done, extra=None, **texts)
    if record.tool is not None:
        values |= _of_tool(record, record.tool)
    return Digest(**values)


def _of_tool(record: Record, tool: Tool) -> dict[str, Any]:
    kept = limits.KEPT_CHARS
    texts = {name: getattr(tool, name)[:kept] for name in ("args", "output", "err")}
    values: dict[str, Any] = {"files": len(tool.attachments)}
    if len(tool.args) > kept:
        values["args_key"] = _key_of(tool.args)
        values["background"] = read_background(tool.args)
        values["subjects"] = {face: read_subject(face, tool.args) for face in FACES}
    if len(tool.output) > kept:
        values["lines"] = output_lines(record, tool)
    diff = tool.file_diff
    if diff is not None:
        values["diff_lines"] = diff_lines(record, diff.diff)
        diff = replace(diff, diff=diff.diff[:kept], extra=msgspec.UNSET)
    values["tool"] = replace(tool, attachments=(), file_diff=diff, extra=None, **texts)
    return values


def args_key(record: Record, args: str) -> int | None:
    """What is equal for equal arguments; None where there are none."""
    if type(record) is Digest and record.args_key:
        return record.args_key
    if len(args) > limits.KEPT_CHARS:
        return _key_of(args)
    return hash(args) if args else None


def text_key(record: Record) -> str | int:
    """What is equal for equal texts."""
    if type(record) is Digest and record.text_key:
        return record.text_key
    return record.text if len(record.text) <= limits.KEPT_CHARS else _key_of(record.text)


def subject(record: Record, face: str, args: str) -> str:
    """What a call with a card of this `face` is about, see `read_subject`."""
    if type(record) is Digest and record.args_key:
        return record.subjects.get(face, "")
    return read_subject(face, args)


def runs_in_background(record: Record, args: str) -> bool:
    """Whether the arguments send a call to run in the background."""
    if type(record) is Digest and record.args_key:
        return record.background
    return read_background(args)


def output_lines(record: Record, tool: Tool) -> int:
    """How many lines of output there are; 0 if there is none."""
    if type(record) is Digest and record.lines:
        return record.lines
    output = tool.output
    return output.count("\n") + (output[-1] != "\n") if output else 0


def diff_lines(record: Record, diff: str) -> int:
    """How many lines a diff has."""
    return record.diff_lines if type(record) is Digest else diff.count("\n")


def files_named(record: Record, tool: Tool) -> int:
    """How many files a call names."""
    return record.files if type(record) is Digest else len(tool.attachments)


def _key_of(text: str) -> int:
    """A number, never 0, that stands for a long text in whichever process that is read."""
    found = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found) or 1

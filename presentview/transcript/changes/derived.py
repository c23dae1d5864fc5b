"""The edit a call makes as its arguments tell it, where the agent recorded no diff.

Known are the argument shapes of the common agents: replace a text (one, several, or every
occurrence), write a file, insert after a line, `apply_patch` and search and replace blocks, also
in a shell command. What the arguments do not tell stays unknown.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from presentview.limits import DERIVED_DIFF_WORK
from presentview.transcript.changes.blocks import (
    is_patch_block,
    read_patch_block,
    read_search_blocks,
)
from presentview.transcript.changes.edits import (
    FileEdit,
    PlacedHunk,
    Row,
    Swap,
    edits_of,
    split_lines,
)
from presentview.transcript.changes.parsing import parse_patch

__all__ = ["derive_edits", "derived_text"]

_PATHS: Final = ("path", "file_path", "filePath", "target_file", "filename", "notebook_path")
_OLDS: Final = ("old_string", "old_str", "oldString", "oldText", "old_text")
_NEWS: Final = ("new_string", "new_str", "newString", "newText", "new_text")
_CONTENTS: Final = ("content", "contents", "file_text", "fileText", "text")
_ORIGINALS: Final = ("originalFile", "original_content", "originalContent", "old_content")
_PATCHES: Final = ("input", "patch", "patchText", "diff", "patch_text")
_EVERY: Final = ("replace_all", "replaceAll")
_EXPECTED: Final = "expected_replacements"
_INSERT_LINES: Final = ("insert_line", "insertLine")
_INSERTED: Final = ("insert_text", "new_str", "text")
_READING: Final = ("view", "undo_edit")
_UNTOLD: Final = "its arguments do not tell what it changed"


def derive_edits(face: str, args: str) -> tuple[FileEdit, ...]:
    """What a call with the arguments `args` (JSON text, or a bare patch) does to files.

    Empty for a call that edits none. Never raises for what the arguments are.
    """
    arguments = _decoded(args)
    if not isinstance(arguments, dict):
        text = arguments if isinstance(arguments, str) else args
        return read_patch_block(text) if is_patch_block(text) else ()
    if face == "shell":
        return _in_command(arguments)
    if arguments.get("command") in _READING:
        return ()
    block = _string(arguments, _PATCHES)
    if is_patch_block(block):
        return read_patch_block(block)
    return tuple(_of_arguments(arguments, face, block))


def _of_arguments(arguments: dict[str, Any], face: str, block: str) -> Iterator[FileEdit]:
    path = _string(arguments, _PATHS)
    swaps = tuple(_swaps(arguments))
    if block and not swaps:
        patched = edits_of(parse_patch(block, path=path), derived=True)
        searched = read_search_blocks(block)
        if searched and path:
            yield FileEdit(path, swaps=searched, derived=True)
            return
        if any(edit.hunks for edit in patched):
            yield from patched
            return
    if not path:
        return
    content = next((v for key in _CONTENTS if isinstance(v := arguments.get(key), str)), None)
    if swaps:
        yield FileEdit(path, swaps=swaps, derived=True)
    elif inserted := _insertion(arguments):
        yield FileEdit(path, hunks=(inserted,), derived=True)
    elif content is not None and (face == "write" or arguments.get("command") == "create"):
        original = next((v for key in _ORIGINALS if isinstance(v := arguments.get(key), str)), None)
        yield FileEdit(
            path,
            "write",
            content=split_lines(content),
            original=None if original is None else split_lines(original),
            derived=True,
        )
    else:
        yield FileEdit(path, derived=True, opaque=_UNTOLD)


def _swaps(arguments: dict[str, Any]) -> Iterator[Swap]:
    several = arguments.get("edits")
    for one in (arguments, *(several if isinstance(several, list) else ())):
        if not isinstance(one, dict):
            continue
        old = next((v for key in _OLDS if isinstance(v := one.get(key), str)), None)
        new = next((v for key in _NEWS if isinstance(v := one.get(key), str)), None)
        if old and new is not None:
            expected = one.get(_EXPECTED)
            many = isinstance(expected, int) and expected > 1
            yield Swap(old, new, many or any(one.get(key) is True for key in _EVERY))


def _insertion(arguments: dict[str, Any]) -> PlacedHunk | None:
    line = next((v for key in _INSERT_LINES if isinstance(v := arguments.get(key), int)), None)
    text = _string(arguments, _INSERTED)
    if line is None or line < 0 or isinstance(line, bool) or not text:
        return None
    rows = split_lines(text if text.endswith("\n") else f"{text}\n")
    return PlacedHunk(line, tuple(Row("+", row) for row in rows))


def _in_command(arguments: dict[str, Any]) -> tuple[FileEdit, ...]:
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, list):
        command = "\n".join(part for part in command if isinstance(part, str))
    if not isinstance(command, str) or not is_patch_block(command):
        return ()
    return read_patch_block(command)


def _decoded(args: str) -> Any:
    try:
        return msgspec.json.decode(args)
    except (ValueError, RecursionError, UnicodeError):
        return None


def _string(arguments: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((v for key in keys if isinstance(v := arguments.get(key), str) and v), "")


def derived_text(edits: tuple[FileEdit, ...]) -> str:
    """A unified diff of derived edits, for showing: without line numbers where none are known."""
    lines: list[str] = []
    for edit in edits:
        if edit.opaque:
            continue
        lines += _header(edit)
        for hunk in edit.hunks:
            lines += _hunk_lines(hunk)
        for swap in edit.swaps:
            lines += _swap_lines(split_lines(swap.old), split_lines(swap.new))
        if edit.content is not None:
            lines += _swap_lines(edit.original or (), edit.content)
    return "".join(f"{line}\n" for line in lines)


def _header(edit: FileEdit) -> Iterator[str]:
    old, new = f"a/{edit.source}", f"b/{edit.path}"
    if edit.action == "rename":
        yield f"diff --git {old} {new}"
        yield f"rename from {edit.source}"
        yield f"rename to {edit.path}"
        if not edit.hunks:
            return
    yield f"--- {'/dev/null' if edit.action == 'create' else old}"
    yield f"+++ {'/dev/null' if edit.action == 'delete' else new}"


def _hunk_lines(hunk: PlacedHunk) -> Iterator[str]:
    if hunk.at is None:
        yield "@@"
    else:
        old, new = len(hunk.before), len(hunk.after)
        yield f"@@ -{hunk.at + (old > 0)},{old} +{hunk.at + 1},{new} @@"
    for row in hunk.rows:
        yield from _row_lines(row.sign, row.line)


def _swap_lines(old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[str]:
    """The difference of two texts whose place in the file is not known."""
    if len(old) * len(new) > DERIVED_DIFF_WORK:
        yield "@@"
        for line in old:
            yield from _row_lines("-", line)
        for line in new:
            yield from _row_lines("+", line)
        return
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        yield "@@"
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                for line in old[old_from:old_to]:
                    yield from _row_lines(" ", line)
                continue
            for line in old[old_from:old_to]:
                yield from _row_lines("-", line)
            for line in new[new_from:new_to]:
                yield from _row_lines("+", line)


def _row_lines(sign: str, line: str) -> Iterator[str]:
    yield sign + line.removesuffix("\n")

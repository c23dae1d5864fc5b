"""Edits in the forms that models write them: `apply_patch` blocks, search and replace blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from presentview.transcript.changes.edits import FileEdit, PlacedHunk, Row, Sign, Swap

__all__ = ["is_patch_block", "read_patch_block", "read_search_blocks"]

_BEGIN: Final = "*** Begin Patch"
_END: Final = "*** End Patch"
_SECTION: Final = re.compile(r"\*\*\* (Update|Add|Delete) File: (.+)")
_MOVE: Final = "*** Move to: "
_EOF: Final = "*** End of File"
_SIGNS: Final[dict[str, Sign]] = {" ": " ", "+": "+", "-": "-"}
_SEARCH: Final = re.compile(r"(?:-{5,}|<{5,}) ?SEARCH>?\s*")
_DIVIDER: Final = re.compile(r"={5,}\s*")
_REPLACE: Final = re.compile(r"(?:\+{5,}|>{5,}) ?REPLACE\s*")


def is_patch_block(text: str) -> bool:
    """Whether `text` holds an `apply_patch` block."""
    return _BEGIN in text


def read_patch_block(text: str) -> tuple[FileEdit, ...]:
    """The edits of the `apply_patch` block in `text`, in order; none where there is no block.

    Such a block has no line numbers: each hunk is found by its lines.
    """
    body = text.partition(_BEGIN)[2].partition(f"\n{_END}")[0]
    edits: list[FileEdit] = []
    lines: list[str] = []
    kind, path = "", ""
    for line in (line.removesuffix("\r") for line in body.split("\n")):
        section = _SECTION.match(line)
        if section is None:
            lines.append(line)
            continue
        if kind:
            edits.append(_section(kind, path, lines))
        kind, path, lines = section[1], section[2].strip(), []
    if kind:
        edits.append(_section(kind, path, lines))
    return tuple(edits)


def _section(kind: str, path: str, lines: list[str]) -> FileEdit:
    if kind == "Delete":
        return FileEdit(path, "delete", derived=True)
    if kind == "Add":
        content = tuple(f"{line[1:]}\n" for line in lines if line.startswith("+"))
        return FileEdit(path, "create", content=content, derived=True)
    edit = FileEdit(path, hunks=tuple(_hunks(lines)), derived=True)
    moved = next((line for line in lines if line.startswith(_MOVE)), "")
    if moved:
        new = moved.removeprefix(_MOVE).strip()
        return edit._replace(action="rename", path=new, old_path=path)
    return edit


def _hunks(lines: list[str]) -> Iterator[PlacedHunk]:
    rows: list[Row] = []
    while lines and not lines[-1]:
        lines = lines[:-1]
    for line in lines:
        if line.startswith("@@"):
            if rows:
                yield PlacedHunk(None, tuple(rows))
            rows = []
        elif not line.startswith((_MOVE, _EOF)):
            sign = _SIGNS.get(line[:1])
            rows.append(Row(sign or " ", f"{line[1:] if sign else line}\n"))
    if rows:
        yield PlacedHunk(None, tuple(rows))


def read_search_blocks(text: str) -> tuple[Swap, ...]:
    """The replacements of the search and replace blocks in `text`, in order."""
    swaps: list[Swap] = []
    old: list[str] = []
    new: list[str] = []
    inside = ""
    for line in text.split("\n"):
        if not inside and _SEARCH.fullmatch(line):
            old, new, inside = [], [], "old"
        elif inside == "old" and _DIVIDER.fullmatch(line):
            inside = "new"
        elif inside == "new" and _REPLACE.fullmatch(line):
            swaps.append(Swap("".join(old), "".join(new)))
            inside = ""
        elif inside:
            (old if inside == "old" else new).append(f"{line}\n")
    return tuple(swap for swap in swaps if swap.old)

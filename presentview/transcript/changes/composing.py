"""All edits of one file as one: what stands there now in the place of what stood at the base."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from presentview.limits import DERIVED_DIFF_WORK
from presentview.transcript.changes.edits import Lines, Row
from presentview.transcript.changes.filestate import FileState
from presentview.transcript.changes.sheet import Sheet
from presentview.transcript.changes.walk import Piece

__all__ = ["CONTEXT", "Region", "file_header", "region_text", "regions"]

CONTEXT: Final = 3
"""Lines that are kept around what changed, as far as they are known."""

NO_NEWLINE: Final = "\\ No newline at end of file\n"
_NULL: Final = "/dev/null"
_PLAIN_MODE: Final = "100644"
_TO_QUOTE: Final = re.compile(r'[\x00-\x1f\x7f"\\]|[^\x00-\x7f]')
_ESCAPES: Final = {
    "\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r",
    '"': '\\"', "\\": "\\\\",
}  # fmt: skip


class Region(NamedTuple):
    """Changed lines that stand together, with known ones around them. `at` lines of the base come
    before it. `by` are the steps that made it. `problem` says why it is not certain; empty if it
    is. It is followed by the "end" of the file, by the "rest" of which nothing is known, or by
    "lines".
    """

    at: int
    rows: tuple[Row, ...]
    by: frozenset[int]
    problem: str = ""
    followed_by: Literal["end", "rest", "lines"] = "lines"

    @property
    def leading(self) -> int:
        """How many lines in front of the first changed one it has."""
        return next((n for n, row in enumerate(self.rows) if row.sign != " "), 0)

    @property
    def trailing(self) -> int:
        """How many lines behind the last changed one it has."""
        return next((n for n, row in enumerate(reversed(self.rows)) if row.sign != " "), 0)

    @property
    def growth(self) -> int:
        """How many lines it adds to the file."""
        return sum((row.sign == "+") - (row.sign == "-") for row in self.rows)


class _Token(NamedTuple):
    """A part of a file: the same lines, other lines, or (`rows` is None) `gap` unknown ones."""

    rows: tuple[Row, ...] | None
    changed: bool = False
    by: frozenset[int] = frozenset()
    gap: int = 0
    problem: str = ""
    is_rest: bool = False


def regions(sheet: Sheet, context: int = CONTEXT) -> Iterator[Region]:
    """What changed in a file, from top to bottom."""
    at = 0
    held: list[Row] = []
    by: frozenset[int] = frozenset()
    problem = ""
    start, has_change, tail = 0, False, 0
    for token in _merged(_tokens(sheet)):
        if token.rows is None:
            if has_change:
                follows: Literal["rest", "lines"] = (
                    "rest" if token.is_rest and not tail else "lines"
                )
                yield Region(start, _trimmed(held, tail, context), by, problem, follows)
            held, has_change, by, problem, tail = [], False, frozenset(), "", 0
            at += max(0, token.gap)
            start = at
        elif token.changed:
            held += token.rows
            has_change, tail = True, 0
            by |= token.by
            problem = problem or token.problem
            at += sum(row.sign == "-" for row in token.rows)
        else:
            rows = token.rows
            at += len(rows)
            if has_change and len(rows) > 2 * context:
                held += rows[:context]
                yield Region(start, tuple(held), by, problem)
                held, has_change, by, problem = [], False, frozenset(), ""
            held += rows
            tail = len(rows)
            if not has_change:
                held = held[max(0, len(held) - context) :]
                start = at - len(held)
    if has_change:
        end: Literal["end", "lines"] = "end" if tail <= context else "lines"
        yield Region(start, _trimmed(held, tail, context), by, problem, end)


def _trimmed(rows: list[Row], tail: int, context: int) -> tuple[Row, ...]:
    return tuple(rows[: len(rows) - max(0, tail - context)])


def _merged(tokens: Iterator[_Token]) -> Iterator[_Token]:
    """The parts, lines that are the same and stand side by side made one."""
    held: _Token | None = None
    for token in tokens:
        if held is not None and held.rows and token.rows and not (held.changed or token.changed):
            held = _Token(held.rows + token.rows)
            continue
        if held is not None:
            yield held
        held = token
    if held is not None:
        yield held


def _tokens(sheet: Sheet) -> Iterator[_Token]:
    """The parts of a sheet, changed pieces that stand together compared line by line."""
    group: list[Piece] = []
    for piece in sheet.pieces:
        if piece.lines is not None and not piece.is_same:
            group.append(piece)
            continue
        yield from _changed(group)
        group = []
        if piece.lines is None:
            yield _Token(None, gap=piece.extent, is_rest=piece.extent < 0)
        elif piece.read:
            yield _Token(None, gap=len(piece.lines))
        else:
            yield _Token(tuple(Row(" ", line) for line in piece.lines))
    yield from _changed(group)


def _changed(group: Sequence[Piece]) -> Iterator[_Token]:
    if not group:
        return
    by = frozenset[int]().union(*(piece.by for piece in group))
    new: Lines = tuple(line for piece in group for line in piece.lines or ())
    if any(piece.base is None for piece in group):
        rows = tuple(Row("+", line) for line in new)
        yield _Token(rows, True, by, problem="what it held before was not recorded")
        return
    problem = ""
    if any(piece.read for piece in group):
        problem = "its place is known only from what the agent read"
    old: Lines = tuple(line for piece in group for line in piece.base or ())
    if len(old) * len(new) > DERIVED_DIFF_WORK:
        yield _Token(_replaced(old, new), True, by, problem=problem)
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            yield _Token(tuple(Row(" ", line) for line in old[old_from:old_to]))
        else:
            rows = _replaced(old[old_from:old_to], new[new_from:new_to])
            yield _Token(rows, True, by, problem=problem)


def _replaced(old: Lines, new: Lines) -> tuple[Row, ...]:
    return (*(Row("-", line) for line in old), *(Row("+", line) for line in new))


# as text


def region_text(region: Region, shift: int) -> str:
    """A region as a hunk; `shift` is by how many lines the ones in front made the file longer."""
    old = sum(row.sign != "+" for row in region.rows)
    new = sum(row.sign != "-" for row in region.rows)
    old_start = region.at + (old > 0)
    new_start = region.at + shift + (new > 0)
    head = f"@@ -{_range(old_start, old)} +{_range(new_start, new)} @@\n"
    return head + "".join(map(_row_text, region.rows))


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"


def _row_text(row: Row) -> str:
    text = f"{row.sign}{row.line}"
    return text if text.endswith("\n") else f"{text}\n{NO_NEWLINE}"


def file_header(state: FileState, *, has_hunks: bool) -> str:
    """The lines in front of the hunks that take a file from its base to `state`, as git writes
    them.
    """
    created, deleted = state.base == "absent", not state.exists
    old = state.path if created else state.base_path
    new = state.base_path if deleted else state.path
    lines = [f"diff --git {_quoted('a/', old)} {_quoted('b/', new)}"]
    base_mode = state.base_mode or _PLAIN_MODE
    if created:
        lines.append(f"new file mode {state.mode or _PLAIN_MODE}")
    elif deleted:
        lines.append(f"deleted file mode {base_mode}")
    else:
        if state.mode and state.base_mode and state.mode != state.base_mode:
            lines += (f"old mode {state.base_mode}", f"new mode {state.mode}")
        if old != new:
            lines += (f"rename from {_quoted('', old)}", f"rename to {_quoted('', new)}")
    if has_hunks:
        lines.append(f"--- {_NULL if created else _named('a/', old)}")
        lines.append(f"+++ {_NULL if deleted else _named('b/', new)}")
    return "".join(f"{line}\n" for line in lines)


def _named(prefix: str, path: str) -> str:
    quoted = _quoted(prefix, path)
    # A name with a space is told from the time that may follow it by a tab.
    return f"{quoted}\t" if " " in path and not quoted.startswith('"') else quoted


def _quoted(prefix: str, path: str) -> str:
    """A path as git writes it, in quotes if there is anything unusual in it."""
    if not _TO_QUOTE.search(path):
        return prefix + path
    return f'"{prefix}{_TO_QUOTE.sub(_escaped, path)}"'


def _escaped(found: re.Match[str]) -> str:
    char = found.group()
    octal = "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogatepass"))
    return _ESCAPES.get(char, octal)

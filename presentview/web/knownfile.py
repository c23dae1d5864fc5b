"""The file so far as a page draws it: known lines with their numbers, and what is not known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from presentview.limits import DIFF_LINE_CHARS, FLOATING_LINES, KNOWN_LINES
from presentview.transcript.changes.edits import Lines
from presentview.transcript.changes.filestate import Block, Break, FileState
from presentview.transcript.changes.sheet import Sheet
from presentview.transcript.changes.walk import size_of
from presentview.web.render.code import highlight_lines

__all__ = ["FloatingPiece", "KnownFile", "KnownLine", "known_file"]


class KnownLine(NamedTuple):
    """A row: line `number` with its `markup`, and a CSS class that says whether the step made it
    ("a") or it was only read ("read"). Of lines that are not known there is one row, which has
    no number but says which these are (`gap`).
    """

    number: int
    markup: Markup
    css_class: str = ""
    gap: str = ""


class FloatingPiece(NamedTuple):
    """Lines known to have been in the file at a step; `more` of them are not shown."""

    step: int
    lines: tuple[Markup, ...]
    more: int


class KnownFile(NamedTuple):
    """What is known of a file after a step: `rows` around a line, the lines to go on from
    (`earlier`, `later`, 0 where there are none), and what has no place.
    """

    path: str
    exists: bool
    is_full: bool
    rows: tuple[KnownLine, ...] = ()
    earlier: int = 0
    later: int = 0
    floating: tuple[FloatingPiece, ...] = ()
    broken: Break | None = None
    has_read: bool = False


class _Stretch(NamedTuple):
    """Lines from number `start` on, None where they are not known; `end` -1: to the end."""

    start: int
    end: int
    lines: Lines | None
    read: bool = False


def known_file(state: FileState, blocks: Sequence[Block] | None, line: int = 0) -> KnownFile:
    """The file around `line`, or around what the step changed in its `blocks`."""
    changed = [part for block in blocks or () for part in block.changed]
    focus = line or (changed[0][0] + 1 if changed else 1)
    first = max(1, focus - KNOWN_LINES // 4)
    stretches = list(_stretches(state.sheet)) if state.exists else []
    count = max((s.end if s.end >= 0 else s.start for s in stretches), default=0)
    first = max(1, min(first, count - KNOWN_LINES + 1))
    last = first + KNOWN_LINES - 1
    rows = tuple(row for s in stretches for row in _rows(s, first, last, state.path, changed))
    return KnownFile(
        path=state.path,
        exists=state.exists,
        is_full=state.is_full,
        rows=rows,
        earlier=max(1, first - KNOWN_LINES * 3 // 4) if first > 1 else 0,
        later=last + KNOWN_LINES // 4 if last < count else 0,
        floating=tuple(
            FloatingPiece(
                piece.step,
                tuple(_drawn(piece.lines[:FLOATING_LINES], state.path)),
                max(0, len(piece.lines) - FLOATING_LINES),
            )
            for piece in state.floating
        ),
        broken=state.broken,
        has_read=any(row.css_class == "read" for row in rows),
    )


def _stretches(sheet: Sheet) -> Iterator[_Stretch]:
    at = 0
    held: list[str] = []
    start, read = 1, False
    for piece in sheet.pieces:
        if held and (piece.lines is None or (piece.lines and piece.read != read)):
            yield _Stretch(start, at, tuple(held), read)
            held = []
        size = size_of(piece)
        if piece.lines is None:
            if size:
                yield _Stretch(at + 1, at + size if size > 0 else -1, None)
        elif piece.lines:
            if not held:
                start, read = at + 1, piece.read
            held += piece.lines
        at += max(0, size)
    if held:
        yield _Stretch(start, at, tuple(held), read)


def _rows(
    stretch: _Stretch, first: int, last: int, path: str, changed: Sequence[tuple[int, int]]
) -> Iterator[KnownLine]:
    if stretch.start > last or 0 <= stretch.end < first:
        return
    if stretch.lines is None:
        yield KnownLine(0, Markup(""), "gap", _gap(stretch))
        return
    low = max(first, stretch.start)
    shown = stretch.lines[low - stretch.start : last + 1 - stretch.start]
    for number, markup in enumerate(_drawn(shown, path), low):
        made = any(start < number <= end for start, end in changed)
        yield KnownLine(number, markup, "a" if made else "read" if stretch.read else "")


def _gap(stretch: _Stretch) -> str:
    if stretch.end < 0:
        return "nothing is known of this file" if stretch.start == 1 else "the rest is not known"
    if stretch.start == stretch.end:
        return f"line {stretch.start:,} is not known"
    return f"lines {stretch.start:,}–{stretch.end:,} are not known"


def _drawn(lines: Sequence[str], path: str) -> list[Markup]:
    if not lines:
        return []
    # What ends the line is not shown; a carriage return is, where only some lines have one.
    texts = [line.removesuffix("\n") for line in lines]
    if all(text.endswith("\r") or not text for text in texts):
        texts = [text.removesuffix("\r") for text in texts]
    cut = [text if len(text) <= DIFF_LINE_CHARS else f"{text[:DIFF_LINE_CHARS]}…" for text in texts]
    return [markup or Markup("\n") for markup in highlight_lines("\n".join(cut), filename=path)]

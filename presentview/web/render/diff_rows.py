"""A diff as rows of cells, ready for the template that lays them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from presentview.limits import HIGHLIGHT_BYTES
from presentview.transcript.changes.patch import LineKind
from presentview.web.render.code import highlight_lines
from presentview.web.render.controls import reveal
from presentview.web.render.diff_model import (
    Diff,
    DiffLine,
    FileChange,
    Hunk,
    split_indexes,
)
from presentview.web.render.markup import joined

__all__ = ["FileRows", "HunkRows", "LineCells", "PairedCells", "diff_files"]

_CSS_CLASSES: dict[LineKind, str] = {"context": "", "add": "a", "del": "d", "note": "n"}
_SIGNS: dict[LineKind, str] = {"context": " ", "add": "+", "del": "−", "note": ""}


@dataclass(frozen=True, slots=True)
class LineCells:
    """What the cells of one line hold; numbers that are not known are empty."""

    css_class: str
    old: str
    new: str
    sign: str
    markup: Markup


@dataclass(frozen=True, slots=True)
class PairedCells:
    """One row of the side-by-side view; None where a side has no line."""

    left: LineCells | None
    right: LineCells | None


@dataclass(frozen=True, slots=True)
class HunkRows:
    """The rows of a hunk, below each other and side by side."""

    header: str
    lines: tuple[LineCells, ...]
    pairs: tuple[PairedCells, ...]


@dataclass(frozen=True, slots=True)
class FileRows:
    """The rows of one file."""

    change: FileChange
    hunks: tuple[HunkRows, ...]


def diff_files(diff: Diff) -> tuple[FileRows, ...]:
    """Return the files of diff with the HTML of each line.

    Lines show either which words changed or the colours of their language, and the latter only
    as long as all of the diff's code together is no longer than highlighting allows for a file.
    """
    highlighter = _Highlighter()
    return tuple(
        FileRows(
            file, tuple(_hunk_rows(hunk, highlighter.lines(hunk, file.path)) for hunk in file.hunks)
        )
        for file in diff.files
    )


class _Highlighter:
    def __init__(self) -> None:
        self._chars_left = HIGHLIGHT_BYTES

    def lines(self, hunk: Hunk, path: str) -> Sequence[Markup]:
        """Return the HTML of each line of hunk."""
        plain = [_marked(line) for line in hunk.lines]
        chars = sum(len(line.text) for line in hunk.lines)
        # A carriage return here is one that only some lines have, and must stay visible.
        is_mixed = any("\r" in line.text for line in hunk.lines)
        if not path or is_mixed or chars > self._chars_left:
            return plain
        self._chars_left -= chars
        for side in _sides(hunk):
            indexes = [
                index for index, line in enumerate(hunk.lines) if line.kind in {"context", side}
            ]
            if not indexes:
                continue
            code = "\n".join(hunk.lines[index].text for index in indexes)
            for index, markup in zip(indexes, highlight_lines(code, filename=path), strict=True):
                if not hunk.lines[index].has_marks:
                    plain[index] = markup
        return plain


def _sides(hunk: Hunk) -> list[str]:
    """The sides to colour: those with lines that show no marks, else one for the lines kept."""
    plain = {line.kind for line in hunk.lines if not line.has_marks}
    return [side for side in ("add", "del") if side in plain] or ["add"]


def _marked(line: DiffLine) -> Markup:
    return joined(
        f"<b>{reveal(segment.text)}</b>" if segment.marked else reveal(segment.text)
        for segment in line.segments
    )


def _hunk_rows(hunk: Hunk, markups: Sequence[Markup]) -> HunkRows:
    cells = tuple(map(_line_cells, hunk.lines, markups))
    return HunkRows(
        header=hunk.header,
        lines=cells,
        pairs=tuple(
            PairedCells(
                None if left is None else cells[left], None if right is None else cells[right]
            )
            for left, right in split_indexes(hunk.lines)
        ),
    )


def _line_cells(line: DiffLine, markup: Markup) -> LineCells:
    return LineCells(
        css_class=_CSS_CLASSES[line.kind],
        old="" if line.old is None else str(line.old),
        new="" if line.new is None else str(line.new),
        sign=_SIGNS[line.kind],
        # Without a line feed, an empty line would be missing from copied text.
        markup=markup or Markup("\n"),
    )

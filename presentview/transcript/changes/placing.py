"""Where an edit goes that names no line: found by its text, in what is known of the file.

Nothing is claimed that is not certain: a text that fits once is placed; one that fits nowhere
stands in a stretch nobody recorded, and what that may have moved or changed is no longer known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from presentview.limits import SWAP_MATCHES
from presentview.transcript.changes.edits import Lines, PlacedHunk, Row, Swap, split_lines
from presentview.transcript.changes.sheet import Sheet, Stretch
from presentview.transcript.changes.walk import UNKNOWN, Piece

__all__ = ["Ambiguous", "Found", "Nowhere", "find_lines", "find_text", "lost_in"]


class Nowhere(Exception):
    """A text stands in no known stretch."""


class Ambiguous(Exception):
    """A text stands in more than one place."""


class Found(NamedTuple):
    """The hunks that make an edit, by line, and whether they rest on what was only read."""

    hunks: tuple[PlacedHunk, ...]
    read: bool


class _Match(NamedTuple):
    """The lines from character `start` to `end` of a stretch in which a text was found."""

    stretch: Stretch
    text: str
    start: int
    end: int


def find_lines(sheet: Sheet, hunk: PlacedHunk) -> Found:
    """A hunk without line numbers where its lines stand.

    Raises `Nowhere` or `Ambiguous`.
    """
    before = hunk.before
    if not before:
        raise Ambiguous
    found: list[Found] = []
    for stretch in sheet.stretches():
        at = -1
        while (at := _index(stretch.lines, before, at + 1)) >= 0:
            placed = PlacedHunk(stretch.start - 1 + at, hunk.rows)
            found.append(Found((placed,), stretch.read))
            if len(found) > 1:
                raise Ambiguous
    if not found:
        raise Nowhere
    return found[0]


def _index(lines: Lines, wanted: Lines, start: int) -> int:
    """Where `wanted` stands in `lines`, from index `start` on; -1 where it does not."""
    last = len(lines) - len(wanted)
    try:
        while (at := lines.index(wanted[0], start, last + 1 if last >= 0 else 0)) >= 0:
            if lines[at : at + len(wanted)] == wanted:
                return at
            start = at + 1
    except ValueError:
        pass
    return -1


def find_text(sheet: Sheet, swap: Swap) -> Found:
    """The hunks that put one text in the place of another: where it stands, or everywhere in
    what is known.

    Raises `Nowhere` or `Ambiguous`.
    """
    matches = [match for stretch in sheet.stretches() for match in _matches(stretch, swap)]
    if not matches:
        raise Nowhere
    if len(matches) > 1 and not swap.every:
        raise Ambiguous
    if swap.every and sheet.has_gaps and _overlaps_itself(swap.old):
        # Which of the places that overlap is taken depends on what stands in front of them.
        raise Ambiguous
    hunks = tuple(_swapped(group, sheet, swap) for group in _closed(matches, swap))
    return Found(hunks, any(match.stretch.read for match in matches))


def _overlaps_itself(text: str) -> bool:
    """Whether a text can begin before another occurrence of it has ended."""
    return any(text.startswith(text[at:]) for at in range(1, len(text)))


def _matches(stretch: Stretch, swap: Swap) -> Iterator[_Match]:
    text = "".join(stretch.lines)
    step = len(swap.old) if swap.every else 1
    at = text.find(swap.old)
    for _ in range(SWAP_MATCHES):
        if at < 0:
            return
        yield _whole_lines(stretch, text, at, swap)
        at = text.find(swap.old, at + step)
    raise Ambiguous


def _whole_lines(stretch: Stretch, text: str, at: int, swap: Swap) -> _Match:
    """The whole lines that putting in the new text touches."""
    start, end = text.rfind("\n", 0, at) + 1, at + len(swap.old)
    whole = text[end - 1] == "\n" and (swap.new.endswith("\n") or (not swap.new and at == start))
    if not whole:
        end = text.find("\n", end) + 1 or len(text)
    return _Match(stretch, text, start, end)


def _closed(matches: Iterable[_Match], swap: Swap) -> Iterator[_Match]:
    """The matches, those in the same lines made one, each with the line that it would join when
    the new text is in.
    """
    held: _Match | None = None
    for match in matches:
        if held is not None and match.stretch is held.stretch and match.start < held.end:
            match = held._replace(end=max(held.end, match.end))  # noqa: PLW2901
        elif held is not None:
            yield held
        while match.end < len(match.text) and not _put_in(match, swap).endswith("\n"):
            if not _put_in(match, swap):
                break
            end = match.text.find("\n", match.end) + 1 or len(match.text)
            match = match._replace(end=end)  # noqa: PLW2901
        held = match
    if held is not None:
        yield held


def _put_in(match: _Match, swap: Swap) -> str:
    """What the lines of a match become."""
    return match.text[match.start : match.end].replace(swap.old, swap.new, -1 if swap.every else 1)


def _swapped(match: _Match, sheet: Sheet, swap: Swap) -> PlacedHunk:
    old, new = match.text[match.start : match.end], _put_in(match, swap)
    last = match.stretch.start - 1 + len(match.stretch.lines)
    if new and not new.endswith("\n") and (match.end < len(match.text) or sheet.end != last):
        # It would join a line that nobody knows.
        raise Ambiguous
    before, after = split_lines(old), split_lines(new)
    at = match.stretch.start - 1 + match.text.count("\n", 0, match.start)
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    rows = (
        *(Row(" ", line) for line in before[:same]),
        *(Row("-", line) for line in before[same:]),
        *(Row("+", line) for line in after[same:]),
    )
    return PlacedHunk(at, rows)


def lost_in(sheet: Sheet, old: str, new: str) -> Sheet:
    """What is still known for certain once `new` took the place of `old`, or of several of them,
    somewhere in the stretches that are not known.
    """
    pieces: list[Piece] = []
    at = 0
    unsure = {number for stretch in sheet.stretches() for number in _unsure(sheet, stretch, old)}
    moves = old.count("\n") != new.count("\n")
    for piece in sheet.pieces:
        if piece.lines is None:
            if moves:
                return Sheet((*pieces, UNKNOWN))
            pieces.append(piece)
            at += max(0, piece.extent)
            continue
        for line in piece.lines:
            if at in unsure:
                if moves:
                    return Sheet((*pieces, UNKNOWN))
                pieces.append(Piece(None, None, 1))
            else:
                pieces.append(Piece(None, (line,), read=piece.read))
            at += 1
    return Sheet(tuple(pieces))


def _unsure(sheet: Sheet, stretch: Stretch, old: str) -> Iterator[int]:
    """The lines of a stretch, by how many lines come before them, that the text may reach into
    from the unknown ones around it.
    """
    text, first = "".join(stretch.lines), stretch.start - 1
    last = first + len(stretch.lines)
    begins, ends = first == 0, sheet.end == last
    if not (begins or ends) and text in old:
        yield from range(first, last)
        return
    if not ends:
        reach = next((n for n in range(len(old) - 1, 0, -1) if text.endswith(old[:n])), 0)
        lines = len(split_lines(text[len(text) - reach :])) if reach else 0
        yield from range(last - lines, last)
    if not begins:
        reach = next((n for n in range(len(old) - 1, 0, -1) if text.startswith(old[-n:])), 0)
        lines = len(split_lines(text[:reach]))
        yield from range(first, first + lines)

"""What one edit makes of what is known of a file.

A hunk that disagrees with what is known says that the file was changed outside the recorded
edits: it wins, and all other knowledge of the file becomes floating, for nobody knows where it
stands now. So does an edit whose place is not certain. Nothing is invented.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from presentview.limits import DERIVED_DIFF_WORK, FLOATING_PIECES
from presentview.transcript.changes.edits import FileEdit, Lines, PlacedHunk, split_lines
from presentview.transcript.changes.filestate import (
    Block,
    Break,
    FileState,
    Floating,
    Played,
)
from presentview.transcript.changes.placing import (
    Ambiguous,
    Found,
    Nowhere,
    find_lines,
    find_text,
    lost_in,
)
from presentview.transcript.changes.rebasing import Conflict, rebased
from presentview.transcript.changes.sheet import Run, Sheet, blank, filled
from presentview.transcript.changes.walk import Disagrees, Piece

__all__ = ["OUTSIDE", "play", "renamed"]

OUTSIDE = "changed outside the recorded edits"
_UNCERTAIN = "it fits in more than one place"
_ATONCE = "another step changed the same lines at the same time"
_UNRECORDED = "what it held before was not recorded"


def play(
    state: FileState,
    edit: FileEdit,
    step: int,
    between: Sequence[Sequence[Run]] | None = (),
) -> Played:
    """What is known of a file after `edit`, made by `step`.

    `between` are the changes that took effect after the edit was told and before it did; None if
    they cannot be followed. Renames and copies are the caller's to do first.
    """
    base_mode = state.base_mode or ("" if state.mode else edit.old_mode)
    state = state._replace(mode=edit.new_mode or state.mode, base_mode=base_mode)
    if edit.opaque:
        return _broken(state, step, edit.opaque, exists=edit.action != "delete")
    if edit.action in ("create", "write"):
        return _write(state, edit, step)
    if edit.action == "delete":
        return _delete(state, edit, step)
    if not (edit.hunks or edit.swaps or edit.content is not None):
        return Played(state, (), ())
    return _modify(state, edit, step, between)


def renamed(state: FileState, path: str) -> FileState:
    """The same file under another name."""
    return state._replace(path=path)


# whole files


def _write(state: FileState, edit: FileEdit, step: int) -> Played:
    content = edit.content
    if content is None:
        # A file that came with a diff that is cut off.
        fresh = state._replace(sheet=blank(), exists=True, base="unknown", floating=())
        return _modify(fresh._replace(unpatchable="its diff is cut off"), edit, step, ())
    if edit.original is not None:
        state = _with_original(state, edit.original, step)
    elif edit.action == "create" and _is_there(state):
        state = _broken(state, step, OUTSIDE).state._replace(unpatchable=OUTSIDE)
    sheet, base, unpatchable = state.sheet, state.base, state.unpatchable
    if edit.action == "create" and not unpatchable and _is_untouched(state):
        sheet, base = filled(content, step), "absent"
    elif _has_base(state) and not unpatchable:
        sheet = _rewritten(sheet, content, step)
    else:
        unpatchable = unpatchable or _UNRECORDED
        sheet, base = filled(content, step, None), "unknown"
    written = state._replace(
        sheet=sheet, base=base, exists=True, floating=(), unpatchable=unpatchable
    )
    return Played(written)


def _is_there(state: FileState) -> bool:
    """Whether the recorded edits say that there is such a file."""
    return state.exists and not _is_untouched(state)


def _is_untouched(state: FileState) -> bool:
    return state.sheet == blank() and state.base == "file" and not state.broken and state.exists


def _has_base(state: FileState) -> bool:
    return state.sheet.has_base and state.base != "unknown"


def _rewritten(sheet: Sheet, content: Lines, step: int) -> Sheet:
    """The sheet with other content, its base compared with that line by line."""
    base = sheet.base_lines()
    if len(base) * len(content) > DERIVED_DIFF_WORK:
        return filled(content, step, base)
    pieces: list[Piece] = []
    matcher = difflib.SequenceMatcher(None, base, content, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        old, new = base[old_from:old_to], content[new_from:new_to]
        changed = Piece(old, new, by=frozenset((step,)))
        pieces.append(Piece(old, old) if tag == "equal" else changed)
    return Sheet(tuple(pieces))


def _delete(state: FileState, edit: FileEdit, step: int) -> Played:
    if not state.exists:
        state = _broken(state, step, OUTSIDE).state
    if edit.original is not None:
        state = _with_original(state, edit.original, step)
    unpatchable = state.unpatchable
    if not _has_base(state):
        unpatchable = unpatchable or "not all of the file it deletes is recorded"
    gone = state._replace(exists=False, floating=(), unpatchable=unpatchable)
    return Played(gone)


def _with_original(state: FileState, original: Lines, step: int) -> FileState:
    """The state with all of the file known as an edit found it."""
    try:
        return state._replace(sheet=state.sheet.unread().told(original, whole=True))
    except Disagrees:
        broken = _broken(state, step, OUTSIDE).state
        return broken._replace(sheet=blank().told(original, whole=True))


# parts of files


def _modify(
    state: FileState, edit: FileEdit, step: int, between: Sequence[Sequence[Run]] | None
) -> Played:
    if not state.exists:
        state = _broken(state, step, OUTSIDE).state
    if edit.original is not None:
        state = _with_original(state, edit.original, step)
    if not edit.swaps and all(hunk.at is not None for hunk in edit.hunks):
        played = _numbered(state, edit, step, between)
    else:
        played = _sought(state, edit, step)
    return _with_content(played, edit.content)


def _with_content(played: Played, content: Lines | None) -> Played:
    """With all of the file known as it is after an edit, unless the edit's hunks tell another."""
    if content is None:
        return played
    try:
        sheet = played.state.sheet.unread().told(content, whole=True)
    except Disagrees:
        return played
    return played._replace(state=played.state._replace(sheet=sheet, floating=()))


def _numbered(
    state: FileState, edit: FileEdit, step: int, between: Sequence[Sequence[Run]] | None
) -> Played:
    if between is None:
        return _broken(state, step, _ATONCE, edit.hunks)
    try:
        hunks = rebased(edit.hunks, between)
    except Conflict:
        return _broken(state, step, _ATONCE, edit.hunks)
    for sheet in (state.sheet, state.sheet.unread()):
        try:
            placed = sheet.edited(hunks, step)
        except Disagrees:
            continue
        blocks = _blocks(placed.blocks, placed.runs)
        return Played(state._replace(sheet=placed.sheet), (placed.runs,), blocks)
    if between:
        return _broken(state, step, OUTSIDE, edit.hunks)
    return _won(state, edit, step)


def _won(state: FileState, edit: FileEdit, step: int) -> Played:
    """The hunks alone are known, in a file that was changed outside the recorded edits."""
    broken = _broken(state, step, OUTSIDE)
    try:
        placed = blank().edited(edit.hunks, step)
    except Disagrees:
        return _broken(state, step, "its diff contradicts itself", edit.hunks)
    blocks = _blocks(placed.blocks, placed.runs)
    return Played(broken.state._replace(sheet=placed.sheet), None, blocks)


def _blocks(ranges: Sequence[tuple[int, int]], runs: Sequence[Run]) -> tuple[Block, ...]:
    changed: list[tuple[int, int]] = []
    shift = 0
    for run in runs:
        changed.append((run.at + shift, run.at + shift + run.new))
        shift += run.new - run.old
    return tuple(
        Block(start, end, tuple(part for part in changed if start <= part[0] and part[1] <= end))
        for start, end in ranges
    )


class _Part(NamedTuple):
    """One of the replacements of an edit that names no line."""

    find: Callable[[Sheet], Found]
    old: str
    new: str
    every: bool = False


def _parts(edit: FileEdit) -> Iterator[_Part]:
    for hunk in edit.hunks:
        before, after = "".join(hunk.before), "".join(hunk.after)
        yield _Part(partial(find_lines, hunk=hunk), before, after)
    for swap in edit.swaps:
        yield _Part(partial(find_text, swap=swap), swap.old, swap.new, swap.every)


def _sought(state: FileState, edit: FileEdit, step: int) -> Played:
    """The edits that name no line, one after the other, each where its text is found."""
    stages: list[tuple[Run, ...]] = []
    blocks: list[Block] = []
    lost = False
    for part in _parts(edit):
        try:
            found = part.find(state.sheet)
        except Ambiguous:
            return _broken(state, step, _UNCERTAIN, edit.hunks, part.new)
        except Nowhere:
            if state.sheet.is_full:
                return _broken(state, step, OUTSIDE, edit.hunks, part.new)
            state, lost = _lost(state, step, part), True
            state = _floated(state, Floating(split_lines(part.new), step))
            continue
        try:
            placed = state.sheet.edited(found.hunks, step, read=found.read)
        except Disagrees:
            return _broken(state, step, _UNCERTAIN, edit.hunks, part.new)
        state = state._replace(sheet=placed.sheet)
        if found.read:
            state = _unpatchable(state, "its place is known only from what the agent read")
        blocks = [_grown(block, placed.runs) for block in blocks]
        blocks += _blocks(placed.blocks, placed.runs)
        stages.append(placed.runs)
        if part.every and placed.sheet.has_gaps:
            state, lost = _lost(state, step, part), True
    return Played(state, None, None) if lost else Played(state, tuple(stages), tuple(blocks))


def _grown(block: Block, runs: Sequence[Run]) -> Block:
    """A block after a later part of its own step, which may have changed it again."""
    moved = block.moved(runs)
    if moved is not None and moved.is_whole:
        return moved
    before = [run for run in runs if run.at + run.old < block.start]
    inside = [run for run in runs if run not in before and run.at <= block.end]
    shift = sum(run.new - run.old for run in before)
    start = min([block.start, *(run.at for run in inside)]) + shift
    end = max([block.end, *(run.at + run.old for run in inside)]) + shift
    end += sum(run.new - run.old for run in inside)
    return Block(start, end, ((start, end),))


def _lost(state: FileState, step: int, part: _Part) -> FileState:
    """The state after an edit that is, or may also be, somewhere nobody knows."""
    known = state.sheet if state.sheet.has_gaps else state.sheet.unread()
    sheet = lost_in(known, part.old, part.new)
    kept = {(stretch.start, stretch.lines) for stretch in sheet.stretches()}
    floating = (
        Floating(stretch.lines, step - 1)
        for stretch in state.sheet.stretches()
        if (stretch.start, stretch.lines) not in kept
    )
    state = _unpatchable(state, f"where step {step} changed it is not known")
    return _floated(state._replace(sheet=sheet), *floating)


def _unpatchable(state: FileState, reason: str) -> FileState:
    return state._replace(unpatchable=state.unpatchable or reason)


def _floated(state: FileState, *pieces: Floating) -> FileState:
    floating = (*state.floating, *(piece for piece in pieces if piece.lines))
    return state._replace(floating=floating[-FLOATING_PIECES:])


def _broken(
    state: FileState,
    step: int,
    reason: str,
    hunks: Sequence[PlacedHunk] = (),
    text: str = "",
    *,
    exists: bool = True,
) -> Played:
    """Nothing is known any more of where anything stands; `hunks` and `text` are in there."""
    known = (Floating(stretch.lines, step - 1) for stretch in state.sheet.stretches())
    added = (Floating(hunk.after, step) for hunk in hunks)
    broken = state._replace(
        sheet=blank(), exists=exists, base="unknown", broken=Break(step, reason)
    )
    broken = _floated(_unpatchable(broken, reason), *(known if state.exists else ()), *added)
    return Played(_floated(broken, Floating(split_lines(text), step)))

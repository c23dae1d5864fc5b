"""What became of the lines of one edit in the later edits of its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from presentview.transcript.changes.edits import FileEdit
from presentview.transcript.changes.filestate import Block
from presentview.transcript.changes.playback import Trace
from presentview.transcript.changes.sheet import Run
from presentview.transcript.changes.standing import places_of, sides_of

__all__ = ["Fate", "fates_of", "overwriter"]


class Fate(NamedTuple):
    """What became of an edit's lines: they were `kept`, with the `blocks` in which they stand, or
    changed again (`hit`); neither where they cannot be followed.
    """

    kept: bool = False
    hit: bool = False
    blocks: tuple[Block, ...] | None = None


def fates_of(traces: Sequence[Trace], index: int) -> Iterator[Fate]:
    """The fate of an edit's lines after itself and each later edit of its file, up to the first
    that changed them again.
    """
    edit = traces[index].edit
    fate = Fate(True, blocks=_blocks_of(traces[index]))
    yield fate
    for later in traces[index + 1 :]:
        if later.replaces_all:
            again = _found_again(edit, fate.blocks, later.edit)
            fate = Fate(again is not None, again is None, again)
        elif fate.blocks is None or later.stages is None:
            fate = Fate()
        else:
            fate = _moved(fate.blocks, later.stages)
        yield fate
        if fate.hit:
            return


def _moved(blocks: tuple[Block, ...], stages: Iterable[Sequence[Run]]) -> Fate:
    for runs in stages:
        moved = [block.moved(runs) for block in blocks]
        if None in moved:
            return Fate(hit=True)
        blocks = tuple(block for block in moved if block is not None)
    return Fate(True, blocks=blocks)


def overwriter(traces: Sequence[Trace], index: int) -> int:
    """The index of the first later edit that changed lines of an edit, or lines around them that
    it kept; 0 if there is none.
    """
    for at, fate in enumerate(fates_of(traces, index), index):
        if fate.hit or not all(block.is_whole for block in fate.blocks or ()):
            return at
    return 0


def _blocks_of(trace: Trace) -> tuple[Block, ...] | None:
    if trace.blocks is not None:
        return trace.blocks
    content = trace.edit.content
    if content is None or not trace.replaces_all:
        return None
    return (Block(0, len(content), ((0, len(content)),)),)


def _found_again(
    edit: FileEdit, blocks: Sequence[Block] | None, later: FileEdit
) -> tuple[Block, ...] | None:
    """Where the lines of an edit stand in what a later one wrote anew, if all do, in order."""
    if later.content is None or edit.action == "delete":
        return None
    text = "".join(later.content)
    content = text.encode("utf-8", "surrogatepass")
    sides = sides_of(edit, None)
    if not sides or (blocks is not None and len(blocks) != len(sides)):
        return None
    found: list[Block] = []
    for number, side in enumerate(sides):
        places = places_of(side.after, content, fragment=side.fragment)
        if len(places) != 1:
            return None
        start = content.count(b"\n", 0, places[0])
        end = start + (side.after or "").count("\n") + (not (side.after or "").endswith("\n"))
        changed: tuple[tuple[int, int], ...] = ((start, end),)
        if blocks is not None and blocks[number].is_whole and not side.fragment:
            shift = start - blocks[number].start
            changed = tuple((a + shift, b + shift) for a, b in blocks[number].changed)
        found.append(Block(start, end, changed))
    starts = [block.start for block in found]
    return tuple(found) if starts == sorted(starts) else None

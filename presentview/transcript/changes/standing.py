"""Whether the lines of a hunk stand in a file: decided by content, never by line numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from presentview.limits import STANDING_PLACES
from presentview.transcript.changes.edits import FileEdit, Lines, Swap

__all__ = ["Sides", "Standing", "places_of", "sides_of", "standing"]

_LEAST_CHARS: Final = 4


class Sides(NamedTuple):
    """What a hunk says stood there `before`, and `after` it. None: not known; `absent`: there was
    no such file. A `fragment` may begin and end in the middle of a line; an `enclosed` hunk has
    lines it kept on both sides of what it changed.
    """

    before: str | None
    after: str | None
    fragment: bool = False
    absent: bool = False
    enclosed: bool = False


class Standing(NamedTuple):
    """How a hunk stands in a file: its lines `after` ("after"), those "before", "neither", or
    "unclear", and in which line (from 1) of the file they begin, 0 where they do not.
    """

    what: str
    line: int = 0
    at: int = 0


def sides_of(edit: FileEdit, earlier: str | None) -> tuple[Sides, ...]:
    """The hunks of an edit, each with what it says; `earlier` is all of the file before it, where
    that is known.
    """
    if edit.opaque:
        return ()
    if edit.action == "delete":
        original = earlier if edit.original is None else "".join(edit.original)
        return (Sides(original, None),)
    if edit.hunks and not (edit.action == "create" and edit.content is not None):
        sides = tuple(
            Sides("".join(hunk.before), "".join(hunk.after), enclosed=hunk.is_enclosed)
            for hunk in edit.hunks
        )
    elif edit.content is not None:
        created = edit.action == "create"
        before = "".join(edit.original) if edit.original is not None else earlier
        whole = "".join(edit.content)
        return (Sides(None if created else before, whole, absent=created),)
    else:
        sides = ()
    return (*sides, *_of_swaps(edit.swaps))


def _of_swaps(swaps: tuple[Swap, ...]) -> Iterator[Sides]:
    """Replacements as they stand in the end: a later one may have changed what one put in."""
    kept: list[Sides] = []
    for swap in swaps:
        inside = [n for n, side in enumerate(kept) if side.after and swap.old in side.after]
        for n in inside:
            after = (kept[n].after or "").replace(swap.old, swap.new, -1 if swap.every else 1)
            kept[n] = kept[n]._replace(after=after)
        if not inside or swap.every:
            kept.append(Sides(swap.old, swap.new, fragment=True))
    yield from kept


def standing(sides: Sides, content: bytes) -> Standing:
    """How a hunk stands in a file with this content.

    Where lines were only removed, those around them stand in the old file too: they do not count
    inside lines as they stood before. If the removed ones repeat those around them, nothing tells
    whether it was one more or is one less.
    """
    before = places_of(sides.before, content, fragment=sides.fragment)
    after = places_of(sides.after, content, fragment=sides.fragment)
    if before and after and sides.before and sides.after and sides.after in sides.before:
        if sides.enclosed:
            return Standing("unclear")
        after = _outside(after, len(_bytes(sides.after)), before, len(_bytes(sides.before)))
    if len(after) == 1 and _tells(sides.after):
        return Standing("after", content.count(b"\n", 0, after[0]) + 1, after[0])
    if after:
        return Standing("unclear")
    if len(before) == 1 and _tells(sides.before):
        return Standing("before", content.count(b"\n", 0, before[0]) + 1, before[0])
    if before:
        return Standing("unclear")
    known = (sides.before or sides.absent) and (sides.after or sides.after is None)
    return Standing("neither" if known else "unclear")


def places_of(text: str | None, content: bytes, *, fragment: bool = False) -> list[int]:
    """The bytes at which a text stands in a file, as whole lines unless it is a `fragment`.

    No more than `limits.STANDING_PLACES`, which is as good as any number.
    """
    if not text:
        return []
    wanted = _bytes(text)
    found: list[int] = []
    at = content.find(wanted)
    while at >= 0 and len(found) < STANDING_PLACES:
        end = at + len(wanted)
        starts = at == 0 or content[at - 1 : at] == b"\n"
        ends = wanted.endswith(b"\n") or end == len(content)
        if fragment or (starts and ends):
            found.append(at)
        at = content.find(wanted, at + 1)
    return found


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _outside(inner: list[int], size: int, outer: list[int], outer_size: int) -> list[int]:
    """The places of `inner` that do not lie in one of `outer`."""
    return [
        at
        for at in inner
        if not any(start <= at and at + size <= start + outer_size for start in outer)
    ]


def _tells(text: str | None) -> bool:
    """Whether a text has a line that says something: four characters that are not blank."""
    lines: Lines = tuple((text or "").split("\n"))
    return any(len("".join(line.split())) >= _LEAST_CHARS for line in lines)

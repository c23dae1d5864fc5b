"""The JSON objects on one line of a file, whatever is wrong with it.

Everything a JSON reader could take an object from is taken: several objects on a line, invalid
UTF-8, raw control characters, nesting of any depth, whole objects behind a damaged one. What an
object means is told by a `Shape`, one for each kind of file. Each thing that was not as it should
be is named, with its place in the line. Nothing here recurses and nothing here raises on any input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, Generic, NamedTuple, TypeVar

from presentview.limits import MIB
from presentview.loosejson import SPACE, Member, container, control_in_string, skip_space
from presentview.pieces import Flaw

__all__ = ["Found", "Shape", "find_objects"]

T = TypeVar("T")


class Shape(NamedTuple, Generic[T]):
    """How the objects of one kind of file are read.

    `read` makes an item of an object's members, or None, and adds what is wrong with them to a
    list. `start` matches how an object begins, so that one is found behind a damaged one. `null`
    is what a bare null stands for, None where it is no item.
    """

    read: Callable[[list[Member], list[Flaw]], T | None]
    start: re.Pattern[str]
    null: T | None = None


class Found(NamedTuple, Generic[T]):
    """One piece of a line: an item, or None where none could be saved, at byte `offset`,
    `length` bytes long. `exact` means that another JSON reader would take its bytes as they are.
    """

    item: T | None
    offset: int
    length: int
    exact: bool
    flaws: tuple[Flaw, ...] = ()


class _Taken(NamedTuple, Generic[T]):
    """A piece in characters instead of bytes; `read` is how far the text was looked at."""

    end: int
    item: T | None
    flaws: list[Flaw]
    read: int


_NULS = re.compile(r"\0(?:[\0 \t\r\n]*\0)?")
_BAD_BYTE = re.compile("[\udc80-\udcff]")
_BOM: Final = "\ufeff"
# A damaged object may have to be read to the end of its line to find that it has none, and so
# may each of those in it: a line is looked through at most this often, a short one more often.
_TIMES: Final = 4


def find_objects(line: bytes, shape: Shape[T], *, first: bool = False) -> Iterator[Found[T]]:
    """Every piece of `line` in order; `first` allows a byte order mark before it.

    A blank line has no pieces. Offsets are bytes from the start of the line.
    """
    source = _decoded(line)
    place = _Places(source, line)
    text = _BAD_BYTE.sub("\ufffd", source)
    valid = source == text
    patience = max(MIB, _TIMES * len(text))
    at = 0
    flaws: list[Flaw] = []
    if first and text.startswith(_BOM):
        at = 1
        flaws.append(Flaw(0, "a byte order mark before the first record"))
    while (at := skip_space(text, at)) < len(text):
        taken = _take(text, at, shape, give_up=patience < 0)
        if not valid and (bad := _BAD_BYTE.search(source, at, taken.end)):
            taken.flaws.append(Flaw(bad.start(), "not UTF-8; the bytes are shown as U+FFFD"))
        start = place(at)
        flaws += (Flaw(place(flaw.offset), flaw.reason) for flaw in sorted(taken.flaws))
        yield Found(taken.item, start, place(taken.end) - start, not flaws, tuple(flaws))
        flaws = []
        patience -= taken.read - taken.end
        at = taken.end
    if flaws:
        yield Found(None, 0, place(at), exact=False, flaws=tuple(flaws))


class _Places:
    """Byte offsets of character offsets, each asked for in ascending order."""

    def __init__(self, source: str, line: bytes) -> None:
        self._source = source
        self._same = len(source) == len(line)
        self._chars = self._bytes = 0

    def __call__(self, at: int) -> int:
        if self._same:
            return at
        stretch = self._source[self._chars : at]
        self._bytes += len(stretch.encode("utf-8", "surrogateescape"))
        self._chars = at
        return self._bytes


def _decoded(line: bytes) -> str:
    """The text of `line`, in which a surrogate stands for each byte that is not UTF-8."""
    return line.decode("utf-8", "surrogateescape")


def _take(text: str, at: int, shape: Shape[T], *, give_up: bool) -> _Taken[T]:
    """The piece at `at`; with `give_up` nothing is looked for behind a damaged one."""
    if nuls := _NULS.match(text, at):
        count = text.count("\0", at, nuls.end())
        flaw = Flaw(at, f"{count} NUL bytes, as a crash leaves them")
        return _Taken(nuls.end(), None, [flaw], nuls.end())
    read = at
    if text[at] == "{":
        read, members = container(text, at)
        if members is not None:
            flaws: list[Flaw] = []
            item = shape.read(members, flaws)
            if (control := control_in_string(text, at, read)) is not None:
                flaws.append(Flaw(control, "a raw control character inside a string"))
            return _Taken(read, item, flaws, read)
    elif _is_null(text, at) and shape.null is not None:
        return _Taken(at + 4, shape.null, [], at + 4)
    following = None if give_up else shape.start.search(text, at + 1)
    end = following.start() if following else len(text)
    why = "damaged so often that nothing more is looked for" if give_up else _why(text, at, end)
    return _Taken(end, None, [Flaw(at, why)], max(read, end))


def _is_null(text: str, at: int) -> bool:
    return text.startswith("null", at) and text[at + 4 : at + 5] in (*SPACE, "{")


def _why(text: str, at: int, end: int) -> str:
    if text[at] != "{":
        return f"not a JSON object: {text[at : min(end, at + 20)]!r}"
    if end == len(text):
        return "cut off: the JSON object does not end"
    return "damaged: not a JSON object"

"""Reading JSON values from a file of lines that grows, and losing none for a damaged one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from presentview.limits import LINE_BYTES
from presentview.loosejson import TOO_DEEP, UNREADABLE, Member, loads
from presentview.objects import Shape, find_objects
from presentview.openfile import OpenFile
from presentview.pieces import Flaw
from presentview.sidecar import WHITE, Problem
from presentview.sources.sofar import SoFar

__all__ = ["JsonLines", "Value", "values_of"]

_FINGERPRINT_BYTES: Final = 4096


class Value(NamedTuple):
    """One JSON object of a file and where it stands: byte `offset`, `length`, `line` from 1."""

    value: dict[str, Any]
    offset: int
    length: int
    line: int


class Placed(NamedTuple):
    """A JSON object at byte `offset` of its line, `length` bytes long."""

    value: dict[str, Any]
    offset: int
    length: int


class JsonLines:
    """The JSON objects of the file at `path`, read on each time they are asked for.

    `problems` names what could not be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._tail: list[Problem] = []
        self._so_far = SoFar()
        self._offset = 0
        self._line = 1

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """What could not be read, the file's end included."""
        return (*self.problems, *self._tail)

    def read_on(self, *, alive: bool) -> tuple[bool, list[Value]]:
        """Whether the file is another than the one read before, and what follows what was read
        of it (all of another one).

        A last line that no newline ends is taken if it is whole; otherwise it waits if the
        writer is `alive`, and is a problem if not. Raises `OSError`.
        """
        opened = OpenFile(self.path)
        try:
            restarted = not self._so_far.stands_in(opened)
            if restarted:
                self._offset, self._line = 0, 1
                self.problems = []
            self._tail = []
            found = list(self._rest(opened, alive=alive))
            self._so_far.note(opened, self._offset)
        finally:
            opened.close()
        return restarted, found

    def _rest(self, opened: OpenFile, *, alive: bool) -> Iterator[Value]:
        file = opened.file
        file.seek(self._offset)
        while raw := file.readline(LINE_BYTES + 1):
            if len(raw) > LINE_BYTES:
                self._pass_over(opened, raw)
                continue
            offset, line = self._offset, self._line
            found, flaws = values_of(raw, first=offset == 0)
            ends = raw.endswith(b"\n")
            if flaws and not ends and alive:
                return
            named = [Problem(self.path, line, offset + flaw.offset, flaw.reason) for flaw in flaws]
            if ends or not flaws:
                self.problems += named
                self._offset += len(raw)
                self._line += ends
            else:
                self._tail = named
            for one in found:
                yield Value(one.value, offset + one.offset, one.length, line)
            if not ends:
                return

    def _pass_over(self, opened: OpenFile, raw: bytes) -> None:
        start = self._offset
        self._offset += len(raw)
        while not raw.endswith(b"\n") and (raw := opened.file.readline(LINE_BYTES)):
            self._offset += len(raw)
        reason = f"a line of more than {LINE_BYTES:,} bytes ({self._offset - start:,}); not read"
        self.problems.append(Problem(self.path, self._line, start, reason))
        self._line += 1


def values_of(raw: bytes, *, first: bool = False) -> tuple[list[Placed], list[Flaw]]:
    """The JSON objects on a line, and what else stands there; `first` allows a byte order mark."""
    try:
        value = orjson.loads(raw)
    except ValueError:
        pieces = list(find_objects(raw, _SHAPE, first=first))
        found = [Placed(p.item, p.offset, p.length) for p in pieces if p.item is not None]
        return found, [flaw for piece in pieces for flaw in piece.flaws]
    if isinstance(value, dict):
        return [Placed(value, 0, len(raw.rstrip(WHITE)))], []
    return [], [] if value is None else [Flaw(0, "not a JSON object")]


def _dict_of(members: list[Member], flaws: list[Flaw]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for member in members:
        read = loads(member.raw)
        if read is UNREADABLE or read is TOO_DEEP:
            flaws.append(Flaw(member.at, f"{member.key!r} cannot be read"))
        else:
            value[member.key] = read
    return value


_SHAPE: Final = Shape(_dict_of, re.compile(r'\{\s*"'))

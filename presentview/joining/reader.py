"""Reading a sidecar and the agent's own log beside it as one session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from presentview import lock
from presentview.continuity import Mark, mark_of
from presentview.joining.outline import SidecarOutline
from presentview.joining.own import OWN, own_log
from presentview.joining.plan import Plan, plan
from presentview.joining.stretches import Insert
from presentview.openfile import OpenFile
from presentview.records import Header, Kind, Record
from presentview.sidecar import Problem, Scan
from presentview.sources.base import Origin, Placed, Poll, Source
from presentview.units import path_text

__all__ = ["JoinedReader"]


class _Point(NamedTuple):
    """A point in the sidecar: the byte and line read up to, and the turn that goes on there."""

    offset: int = 0
    line: int = 1
    turn: int = 0


class JoinedReader:
    """Reads the session at `session_path` (a `presentview.sources.base.Reader`)."""

    def __init__(self, session_path: Path, sidecar: Path, source: Source) -> None:
        """Join the session's own log, whose format is `source`, with its `sidecar`."""
        self.paths = (sidecar, session_path)
        self._own = own_log(source, session_path)
        self._scan = Scan(self.paths[0])
        self._outline = SidecarOutline()
        self._sidecar: OpenFile | None = None
        self._mark: Mark | None = None
        self._plan = plan(self._outline.turns, (), from_start=False)
        # How much both held when it was made, and whether the sidecar was growing.
        self._planned = (0, 0, False)

    @property
    def header(self) -> Header:
        """The sidecar's, with the turns counted from what is in front of it now."""
        header = self._scan.header or Header()
        said = self._own.said
        in_front = (insert for inserts in self._plan.inserts[:2] for insert in inserts)
        older = sum(said[at].what == "prompt" and not unplaced for at, _, unplaced, _ in in_front)
        return replace(header, turns_dropped=max(0, header.turns_dropped - older))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of the sidecar, and then of the agent's own log."""
        return (*self._scan.problems, *self._own.problems)

    @property
    def note(self) -> str:
        """Nothing: where something is missing, it is said there."""
        return ""

    def is_alive(self) -> bool:
        """Whether the sidecar's writer lives."""
        header = self._scan.header
        return lock.is_alive(self.paths[0], writer=header.writer if header else "")

    def close(self) -> None:
        """Let the files go."""
        self._own.close()
        if self._sidecar is not None:
            self._sidecar.close()
            self._sidecar = None

    def poll(self) -> Poll:
        """Read what is new; see `presentview.sources.base.Reader.poll`."""
        before = _Point(self._scan.offset, self._scan.line, len(self._outline.turns) - 1)
        restarted = self._read_sidecar()
        restarted |= self._own.read_on(alive=self.is_alive())
        old = self._plan
        read = (self._outline.marks, len(self._own.said), self.is_alive())
        if restarted or read != self._planned:
            self._plan, self._planned = self._new_plan(growing=read[-1]), read
        end = self._scan.offset
        if not restarted and self._goes_on(old, before):
            return Poll(_Again(lambda: self._woven(before, end, goes_on=True)), restarted=False)
        return Poll(_Again(lambda: self._woven(_Point(), end)), restarted=True)

    def _new_plan(self, *, growing: bool) -> Plan:
        first = self._scan.first_header or Header()
        return plan(
            self._outline.turns,
            self._own.said,
            from_start=not first.turns_dropped and not first.rewrite_version,
            growing=growing,
        )

    def _goes_on(self, old: Plan, before: _Point) -> bool:
        """Whether what was told so far is still the beginning of what there is to tell."""
        new, turns = self._plan, before.turn + 1
        if before.offset == self._scan.offset:
            return old == new
        told = (old.prompts[:turns], old.inserts[:turns])
        return not old.inserts[-1] and told == (new.prompts[:turns], new.inserts[:turns])

    # the two files

    def _read_sidecar(self) -> bool:
        """Read on in the sidecar; whether it is another one than before."""
        opened = OpenFile(self.paths[0])
        old, self._sidecar = self._sidecar, opened
        same = old is not None and old.identity == opened.identity
        if old is not None:
            old.close()
        stamp = opened.stamp()
        mark = self._mark
        if same and mark is not None and stamp == mark.stamp:
            return False
        restarted = not (
            same
            and mark is not None
            and stamp.size > mark.stamp.size
            and not mark.mid_line
            and mark.holds(self._scan, opened)
        )
        if restarted:
            self._scan = Scan(self.paths[0])
            self._outline = SidecarOutline()
        for lying in self._scan.records(opened.file, alive=self.is_alive()):
            self._outline.take(lying.record)
        self._mark = mark_of(self._scan, opened, stamp)
        return restarted

    # telling

    def _woven(self, start: _Point, end: int, *, goes_on: bool = False) -> Iterator[Placed]:
        """The records from a point in the sidecar on, with what the other log adds to them."""
        assert self._sidecar is not None
        told = self._plan
        scan = Scan(self.paths[0])
        scan.offset, scan.line = start.offset, start.line
        turn = start.turn
        if not goes_on:
            yield from self._inserted(told.inserts[0])
        for lying in scan.records(self._sidecar.file):
            if lying.offset >= end:
                break
            record = lying.record
            origin = Origin(0, lying.offset, lying.length, lying.line)
            if record.kind == Kind.TURN_STARTED:
                turn += 1
                yield from self._inserted(told.inserts[turn])
                record = self._with_prompt(record, told.prompts[turn])
            yield Placed(record, origin)
        if not goes_on or start.offset < end:
            yield from self._inserted(told.inserts[-1])

    def _with_prompt(self, record: Record, index: int | None) -> Record:
        """The beginning of a turn, with the prompt that its file does not tell."""
        if index is None or record.text:
            return record
        prompt = self._own.prompt(index)
        return replace(record, text=prompt.text, images=prompt.images)

    def _inserted(self, inserts: Iterable[Insert]) -> Iterator[Placed]:
        """What only the agent's own log tells."""
        for insert in inserts:
            if insert.unplaced:
                yield from self._unplaced(insert)
            elif insert.lasting:
                yield from self._own.told(insert.start, insert.end)
            else:
                yield from self._plain(self._own.told(insert.start, insert.end))

    def _unplaced(self, insert: Insert) -> Iterator[Placed]:
        for placed in self._own.told(insert.start, insert.end):
            asked = placed.record.text or ("(images)" if placed.record.images else "")
            if asked and placed.record.kind == Kind.TURN_STARTED:
                text = f"Asked in a turn that cannot be told: {asked}"
                yield placed._replace(record=Record(Kind.NOTICE, text=text))

    def _plain(self, told: Sequence[Placed]) -> Iterator[Placed]:
        """A turn as far as the agent's own log tells of it."""
        begins = bool(told) and told[0].record.kind == Kind.TURN_STARTED
        yield from told[:begins]
        if begins or not all(placed.lasting for placed in told):
            text = f"Only in {path_text(self.paths[OWN].name)}: {self._own.missing}"
            yield Placed(Record(Kind.NOTICE, text=text, level="info"), told[0].origin)
        yield from told[begins:]


class _Again(Iterable[Placed]):
    """Records that are read anew each time somebody goes through them."""

    def __init__(self, begin: Callable[[], Iterator[Placed]]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[Placed]:
        return self._begin()

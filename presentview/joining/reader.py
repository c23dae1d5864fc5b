"""Reading a sidecar and the message list beside it as one session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from presentview import lock
from presentview.continuity import Mark, mark_of
from presentview.joining.outline import Said, SidecarOutline, said_of
from presentview.joining.plan import Insert, Plan, plan
from presentview.openfile import OpenFile
from presentview.records import Header, Kind, Record
from presentview.sidecar import Problem, Scan
from presentview.sources.base import Origin, Placed, Poll
from presentview.sources.chat import Message, MessageScan, message_in
from presentview.sources.growing import Growing
from presentview.sources.messages import prompt_record, records_of
from presentview.units import path_text

__all__ = ["JoinedReader"]

_MESSAGES: Final = 1  # the index of the message list among the paths


class _Point(NamedTuple):
    """A point in the sidecar: the byte and line read up to, and the turn that goes on there."""

    offset: int = 0
    line: int = 1
    turn: int = 0


class JoinedReader:
    """Reads the session at `session_path` (a `presentview.sources.base.Reader`)."""

    def __init__(self, session_path: Path, sidecar: Path) -> None:
        """Join the session's own log with its `sidecar`."""
        self.paths = (sidecar, session_path)
        self._messages = Growing(session_path, MessageScan)
        self._said: list[Said] = []
        self._scan = Scan(self.paths[0])
        self._outline = SidecarOutline()
        self._sidecar: OpenFile | None = None
        self._mark: Mark | None = None
        self._plan = plan(self._outline.turns, (), from_start=False)

    @property
    def header(self) -> Header:
        """The sidecar's, with the turns counted from what is in front of it now."""
        header = self._scan.header or Header()
        older = sum(not insert.unplaced for insert in self._plan.inserts[0])
        if len(self._plan.inserts) > 1:
            older += sum(not insert.unplaced for insert in self._plan.inserts[1])
        return replace(header, turns_dropped=max(0, header.turns_dropped - older))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of the sidecar, and then of the message list."""
        return (*self._scan.problems, *self._messages.problems)

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
        if self._sidecar is not None:
            self._sidecar.close()
            self._sidecar = None

    def poll(self) -> Poll:
        """Read what is new; see `presentview.sources.base.Reader.poll`."""
        before = _Point(self._scan.offset, self._scan.line, len(self._outline.turns) - 1)
        restarted = self._read_sidecar()
        self._read_messages()
        old = self._plan
        first = self._scan.first_header or Header()
        self._plan = plan(
            self._outline.turns,
            self._said,
            from_start=not first.turns_dropped and not first.rewrite_version,
        )
        end = self._scan.offset
        if not restarted and self._goes_on(old, before):
            return Poll(_Again(lambda: self._woven(before, end, goes_on=True)), restarted=False)
        return Poll(_Again(lambda: self._woven(_Point(), end)), restarted=True)

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

    def _read_messages(self) -> None:
        try:
            with self._messages.reading(alive=self.is_alive()) as grown:
                if grown.restarted:
                    self._said = []
                for message, *place in grown.placed:
                    self._said.append(said_of(message, Origin(_MESSAGES, *place)))
        except OSError:
            # It was there a moment ago, and may be again.
            self._said = []

    # telling

    def _woven(self, start: _Point, end: int, *, goes_on: bool = False) -> Iterator[Placed]:
        """The records from a point in the sidecar on, with what the messages add to them."""
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
        for _, message in self._read_again(index, index + 1):
            prompt = prompt_record(message)
            return replace(record, text=prompt.text, images=prompt.images)
        return record

    def _inserted(self, inserts: Iterable[Insert]) -> Iterator[Placed]:
        """What only the message list tells."""
        for insert in inserts:
            found = list(self._read_again(insert.start, insert.end))
            if insert.unplaced:
                for origin, message in found:
                    text = f"Asked in a turn that cannot be told: {message.text}"
                    yield Placed(Record(Kind.NOTICE, text=text), origin)
            else:
                yield from self._plain(found)

    def _plain(self, found: Sequence[tuple[Origin, Message]]) -> Iterator[Placed]:
        """A turn as far as the message list tells of it."""
        told = [Placed(one, origin) for origin, message in found for one in records_of(message)]
        if not told:
            return
        begins = told[0].record.kind == Kind.TURN_STARTED
        yield from told[:begins]
        name = path_text(self.paths[1].name)
        text = f"Only in {name}: times, notices, diffs and sub-agents were not recorded"
        yield Placed(Record(Kind.PHASE, text=text), told[0].origin)
        yield from told[begins:]
        messages = [message for _, message in found]
        answered = {message.call for message in messages if message.role == "tool"}
        calls = {call.id for message in messages for call in message.calls}
        if begins and calls <= answered and messages[-1].role == "assistant":
            yield Placed(Record(Kind.TURN_DONE), told[-1].origin)

    def _read_again(self, start: int, end: int) -> Iterator[tuple[Origin, Message]]:
        """The messages from index `start` up to `end`, read again from their file."""
        try:
            opened = OpenFile(self.paths[1])
        except OSError:
            return
        try:
            for one in self._said[start:end]:
                message = message_in(opened.read(one.origin.offset, one.origin.length))
                if message is not None:
                    yield one.origin, message
        finally:
            opened.close()


class _Again(Iterable[Placed]):
    """Records that are read anew each time somebody goes through them."""

    def __init__(self, begin: Callable[[], Iterator[Placed]]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[Placed]:
        return self._begin()

"""The agent's own log of a session, as it is joined with a sidecar: what it says entry by entry.

A list of messages is read again where something of it is shown. What another log says depends on
all that stands before: it is told once, and the records lie in a file without a name.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol

from presentview.errors import SidecarError
from presentview.follow import parsed
from presentview.joining.outline import RecordKeys, Said, said_of, said_of_record
from presentview.openfile import OpenFile
from presentview.records import Kind, Record, encode
from presentview.scratch import ScratchFile
from presentview.sidecar import Problem
from presentview.sources.base import Origin, Placed, Reader, Source
from presentview.sources.chat import Message, MessageScan, message_in
from presentview.sources.growing import Growing
from presentview.sources.messages import SOURCE as MESSAGES
from presentview.sources.messages import prompt_record, records_of

__all__ = ["OWN", "OwnLog", "own_log"]

OWN: Final = 1
"""The index of the agent's own log among the files of a joined session."""


class OwnLog(Protocol):
    """The agent's own log, entry by entry; `missing` is what it does not tell of a turn."""

    missing: str

    @property
    def said(self) -> Sequence[Said]:
        """The outline of each entry."""
        ...

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of it."""
        ...

    def read_on(self, *, alive: bool) -> bool:
        """Read what is new; whether it is another log than before."""
        ...

    def prompt(self, index: int) -> Record:
        """The beginning of a turn as the entry at `index` tells it."""
        ...

    def told(self, start: int, end: int) -> list[Placed]:
        """The records of the entries from index `start` up to `end`."""
        ...

    def close(self) -> None:
        """Let what it is kept in go."""
        ...


def own_log(source: Source, path: Path) -> OwnLog:
    """The log at `path`, whose format is `source`."""
    return MessageLog(path) if source is MESSAGES else NarratedLog(path, source.open(path))


class MessageLog:
    """A list of messages."""

    missing = "times, notices, diffs and sub-agents were not recorded"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._messages = Growing(path, MessageScan)
        self._origins: list[Origin] = []
        self.said: list[Said] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of it."""
        return self._messages.problems

    def read_on(self, *, alive: bool) -> bool:
        """Read what is new; whether it is another list than before."""
        try:
            with self._messages.reading(alive=alive) as grown:
                if grown.restarted:
                    self._forget()
                for message, *place in grown.placed:
                    self.said.append(said_of(message))
                    self._origins.append(Origin(OWN, *place))
                return grown.restarted
        except (OSError, SidecarError):
            # It was there a moment ago, and may be again.
            self._forget()
            return True

    def _forget(self) -> None:
        self.said = []
        self._origins = []

    def prompt(self, index: int) -> Record:
        """The beginning of a turn whose prompt is the message at `index`."""
        return next((prompt_record(m) for m, _ in self._again(index, index + 1)), _NO_PROMPT)

    def told(self, start: int, end: int) -> list[Placed]:
        """The records of some messages, of a whole turn with its end."""
        found = list(self._again(start, end))
        told = [Placed(one, origin) for message, origin in found for one in records_of(message)]
        messages = [message for message, _ in found]
        answered = {message.call for message in messages if message.role == "tool"}
        calls = {call.id for message in messages for call in message.calls}
        begins = bool(told) and told[0].record.kind == Kind.TURN_STARTED
        if begins and calls <= answered and messages[-1].role == "assistant":
            told.append(Placed(Record(Kind.TURN_DONE), told[-1].origin))
        return told

    def _again(self, start: int, end: int) -> Iterator[tuple[Message, Origin]]:
        """The messages from index `start` up to `end`, read again from their file."""
        try:
            opened = OpenFile(self._path)
        except (OSError, SidecarError):
            return
        try:
            for origin in self._origins[start:end]:
                message = message_in(opened.read(origin.offset, origin.length))
                if message is not None:
                    yield message, origin
        finally:
            opened.close()

    def close(self) -> None:
        """Nothing is held."""


class NarratedLog:
    """Any other log, which a reader tells as records."""

    missing = "notices, diffs and the calls of sub-agents were not recorded"

    def __init__(self, path: Path, reader: Reader) -> None:
        self._path = path
        self._reader = reader
        self._scratch: ScratchFile | None = None
        self._forget()

    def _forget(self) -> None:
        self.close()
        self.said: list[Said] = []
        self._keys = RecordKeys()
        # Of each record where its line lies, with its end, and three numbers of its origin.
        self._ends = array("q", [0])
        self._origins = array("q")

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read of it."""
        return self._reader.problems

    def read_on(self, *, alive: bool) -> bool:
        """Read what is new; whether it is another log than before."""
        del alive  # the reader tells by the log itself
        try:
            poll = self._reader.poll()
            if poll.restarted:
                self._forget()
            self._take(poll.records)
        except (OSError, SidecarError):
            self._forget()
            return True
        return poll.restarted

    def _take(self, records: Iterable[Placed]) -> None:
        lines: list[bytes] = []
        for placed in records:
            line = encode(placed.record)
            lines.append(line)
            self.said.append(said_of_record(placed, self._keys))
            self._ends.append(self._ends[-1] + len(line))
            self._origins.extend(placed.origin[1:])
        if lines:
            self._scratch = self._scratch or ScratchFile(self._path)
            self._scratch.add(b"".join(lines))

    def prompt(self, index: int) -> Record:
        """The beginning of a turn as the record at `index` tells it."""
        return next((placed.record for placed in self.told(index, index + 1)), _NO_PROMPT)

    def told(self, start: int, end: int) -> list[Placed]:
        """Some of the records."""
        scratch, ends, origins = self._scratch, self._ends, self._origins
        told: list[Placed] = []
        if scratch is None:
            return told
        for at in range(start, min(end, len(self.said))):
            record = parsed(scratch.read(ends[at], ends[at + 1] - ends[at]))
            if record is not None:
                origin = Origin(OWN, *origins[3 * at : 3 * at + 3])
                told.append(Placed(record, origin, self.said[at].lasting))
        return told

    def close(self) -> None:
        """Let the file without a name go."""
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None


_NO_PROMPT: Final = Record(Kind.TURN_STARTED)

"""Run logs (`presentview.runlog`), as what a person would have seen of the run."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from presentview.records import Compaction, Header, Kind, Record, Tool, Usage
from presentview.runlog import Activity, Event, Message, Meta, Result, Scan
from presentview.runlog import Kind as LogKind
from presentview.runlog import Record as Entry
from presentview.sources.base import Reader, Source
from presentview.sources.narrated import NarratedReader, Repeats, notice

__all__ = ["SOURCE", "RunNarrator"]

_KINDS: Final = frozenset(kind.value for kind in LogKind)
_COUNTERS: Final = ("iterations", "calls", "continuations", "cycles", "settles")
_WELL: Final = frozenset({"settled", "stop"})


class RunNarrator:
    """Tells the records of one run log.

    Messages are written when an iteration ends; when something happened, its event tells. A
    conversation that was reset and written again is told once.
    """

    def __init__(self) -> None:
        self.header = Header()
        self._moments: dict[tuple[str, str], deque[int]] = {}
        self._began: dict[str, int] = {}
        self._told: list[Message] = []
        self._again: deque[Message] = deque()
        self._repeats = Repeats()
        self._iteration = 0
        self._event_tellers: Mapping[str, Callable[[Event, int], Record]] = {
            "retry": lambda event, at: Record(Kind.RETRYING, text=event.text, at=at),
            "runaway": lambda event, at: notice(f"Runaway: {event.text}", at),
            "compact": lambda event, at: Record(Kind.PHASE, text=event.text or "Compacted", at=at),
        }

    def tell(self, entry: Entry) -> Iterator[Record]:
        """The records of the next one of the log."""
        if entry.meta is not None and entry.kind == LogKind.META:
            yield from self._meta(entry.meta, entry.at)
        elif entry.message is not None and entry.kind == LogKind.MESSAGE:
            yield from self._message(entry.message, entry.at)
        elif entry.event is not None and entry.kind == LogKind.EVENT:
            yield from self._event(entry.event, entry.at)
        elif entry.result is not None and entry.kind == LogKind.RESULT:
            yield from _result(entry.result, entry.at)
        elif entry.kind == LogKind.RESET:
            self._again = deque(self._told)
            self._told = []

    @staticmethod
    def is_lasting(entry: Entry, record: Record) -> bool:
        """Whether it is the outcome, the run that this one continues, or a warning of calls that
        repeat.
        """
        if entry.kind == LogKind.META:
            return True
        return record.kind == Kind.NOTICE and entry.kind in (LogKind.RESULT, LogKind.MESSAGE)

    def _meta(self, meta: Meta, at: int) -> Iterator[Record]:
        self.header = Header(workspace=meta.workdir, started_at=at)
        if meta.resumed_from:
            yield Record(Kind.PHASE, text=f"Continues run {meta.resumed_from}", at=at)

    # events

    def _event(self, event: Event, at: int) -> Iterator[Record]:
        if event.iteration > self._iteration:
            # Events name the iteration they fall in, also where its own event is missing.
            steps = event.iteration - self._iteration
            self._iteration = event.iteration
            yield Record(Kind.USAGE, usage=Usage(steps=steps), at=at)
        if event.kind == "message":
            self._note("message", event.text, at)
        elif event.kind == "toolCallStart":
            self._note("start", event.tool, at)
        elif event.kind in ("toolCallEnd", "toolCallError"):
            self._note("end", event.tool, at)
        elif event.kind in self._event_tellers:
            yield self._event_tellers[event.kind](event, at)

    def _note(self, what: str, name: str, at: int) -> None:
        self._moments.setdefault((what, name), deque()).append(at)

    def _moment(self, what: str, name: str) -> int:
        """When it happened, if an event told that; else 0."""
        moments = self._moments.get((what, name))
        return moments.popleft() if moments else 0

    # messages

    def _message(self, message: Message, at: int) -> Iterator[Record]:
        self._told.append(message)
        if self._is_told(message):
            return
        if message.type == "user":
            yield Record(Kind.TURN_STARTED, text=message.text, at=at)
        elif message.type == "bot":
            moment = self._moment("message", message.text)
            yield Record(Kind.MESSAGE, text=message.text, at=moment)
        elif message.type == "reasoning":
            yield Record(Kind.MESSAGE, reasoning=message.text)
        elif message.type == "checkpoint":
            yield Record(Kind.COMPACTION_DONE, compaction=Compaction(summary=message.text), at=at)
        elif message.activity is not None:
            yield from self._activity(message.activity, message.text)

    def _is_told(self, message: Message) -> bool:
        """Whether a message only stands there again, after a reset."""
        if message not in self._again:
            return False
        while self._again.popleft() != message:
            pass
        return True

    def _activity(self, activity: Activity, text: str) -> Iterator[Record]:
        call, name = activity.id, activity.name
        if activity.kind == "request":
            at = self._moment("start", name)
            yield Record(Kind.TOOL_DISPATCH, tool=Tool(call, name, activity.arguments), at=at)
            yield from self._repeats.warnings(name, activity.arguments, 0)
        elif activity.kind == "response":
            result = activity.result
            output = result if isinstance(result, str) else "" if result is None else _json(result)
            tool = Tool(call, name, activity.arguments, output=output, err=activity.failure)
            yield Record(Kind.TOOL_RESULT, tool=tool, at=self._moment("end", name))
        else:
            said = " · ".join(filter(None, (activity.kind, name, text)))
            yield Record(Kind.PHASE, text=said)


def _result(result: Result, at: int) -> Iterator[Record]:
    """How the run ended: its counters, and whether that was well."""
    counted = [(name, getattr(result, name)) for name in _COUNTERS]
    said = [f"{count:,} {name if count != 1 else name[:-1]}" for name, count in counted if count]
    ended = f"Run ended: {result.reason}"
    said = [f"code {result.code}", *said] if result.code else said
    text = " · ".join([f"{ended}: {result.message}" if result.message else ended, *said])
    went_well = not result.code and result.reason in _WELL
    yield notice(text, at, "info" if went_well else "warn")
    if result.input_tokens or result.output_tokens:
        usage = Usage(result.input_tokens, result.output_tokens)
        yield Record(Kind.USAGE, usage=usage, at=at)
    error = "" if went_well else result.error or result.message or f"the run ended: {result.reason}"
    yield Record(Kind.TURN_DONE, text=error, level="" if went_well else "error", at=at)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _fits(value: dict[str, Any]) -> bool:
    """Whether a JSON object is a record of a run log."""
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        return False
    return kind == LogKind.RESET or isinstance(value.get(kind), dict)


def _open(path: Path) -> Reader:
    return NarratedReader(path, Scan, RunNarrator)


_BEGINS: Final = re.compile(
    rb'\{\s*"kind"\s*:\s*"(?:meta|message|event|result|reset)"\s*,\s*"at"\s*:'
)

SOURCE: Final = Source("run log", _fits, _BEGINS, _open)

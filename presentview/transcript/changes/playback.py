"""The edits of a session played in order of effect: what is known of each file after each step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from presentview.transcript.changes.edits import FileEdit
from presentview.transcript.changes.filestate import Block, FileState, Played
from presentview.transcript.changes.playing import play, renamed
from presentview.transcript.changes.sheet import Run, Sheet, filled
from presentview.transcript.changes.step import Order, Reading, Step
from presentview.transcript.changes.walk import Disagrees, Piece

__all__ = ["Edits", "Playback", "Trace"]


class Edits(Protocol):
    """Tells what each step did, and when that was told."""

    def edits(self, step: Step) -> Sequence[FileEdit]:
        """The edits of a step, one for each file."""

    def told(self, step: Step) -> Order:
        """When the edits were told."""


class Trace(NamedTuple):
    """One edit of a step as it was played: the file it is about (`lineage`), what it is called
    afterwards, and where its lines stand (see `Played`).
    """

    step: Step
    edit: FileEdit
    lineage: int
    path: str
    stages: tuple[tuple[Run, ...], ...] | None
    blocks: tuple[Block, ...] | None
    state: FileState

    @property
    def replaces_all(self) -> bool:
        """Whether it writes, removes or replaces the file as a whole."""
        return self.edit.action in ("write", "create", "delete") or (
            self.stages is None and self.edit.content is not None
        )


class Playback:
    """Plays steps: those that took effect, and with `in_flight` those nobody knows of, last.

    `traces` are all edits in order, `lineages` those of one file. Failed and blocked steps do
    nothing.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        edits: Edits,
        readings: Sequence[Reading] = (),
        *,
        in_flight: bool = False,
        only: Collection[str] | None = None,
        known: Mapping[str, FileState] | None = None,
    ) -> None:
        """`only` the files at these paths are played, if that is given; renames and copies must
        not lead out of them. `known` is what files are known to be like before the first step.
        """
        self._in_flight = in_flight
        self._only = only
        self._known = known or {}
        self._histories: dict[str, list[FileState]] = {}
        self._steps_of: dict[str, list[int]] = {}
        self._lineages = 0
        self._next_reading = 0
        self.hear_of(edits, readings)
        self.traces: list[Trace] = []
        self._first_of: dict[int, int] = {}
        self.lineages: dict[int, list[Trace]] = {}
        told = tuple(steps)
        for step in told:
            self.take(step)
        if told:
            self.read_rest()

    def covers(self, path: str) -> bool:
        """Whether the file at a path is played."""
        return self._only is None or path in self._only

    def hear_of(self, edits: Edits, readings: Iterable[Reading]) -> None:
        """Take these as all that is recorded: what was taken in already is the beginning of it."""
        self._edits = edits
        self._readings = [reading for reading in readings if self.covers(reading.path)]

    @property
    def readings(self) -> int:
        """How many readings are known of, taken in or not."""
        return len(self._readings)

    # what is known

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that a step was about, in order of appearance."""
        return tuple(self._histories)

    def state(self, path: str, step: int | None = None) -> FileState | None:
        """What is known of the file at `path` after `step` (default: the last); None if no step
        was about it yet.
        """
        history = self._histories.get(path)
        if history is None:
            return None
        if step is None:
            return history[-1]
        index = bisect_right(self._steps_of[path], step) - 1
        return history[index] if index >= 0 else None

    def traces_of(self, step: int) -> Iterator[Trace]:
        """The edits of one step."""
        for trace in self.traces[self._first_of.get(step, len(self.traces)) :]:
            if trace.step.number != step:
                return
            yield trace

    # playing

    def take(self, step: Step) -> None:
        """Play the next step."""
        if not (step.took_effect or (self._in_flight and step.in_flight)):
            return
        self._read_up_to(step.order)
        for edit in self._edits.edits(step):
            if not self.covers(edit.path):
                continue
            state = self._state_for(edit, step)
            played = play(state, edit, step.number, self._between(state.lineage, step))
            self._keep(step, edit, played)

    def read_rest(self) -> None:
        """Take in what was read of files after the last step."""
        self._read_up_to(None)

    def _read_up_to(self, order: Order | None) -> None:
        """Take in what was read of files up to a moment, None: ever."""
        while self._next_reading < len(self._readings):
            reading = self._readings[self._next_reading]
            if order is not None and reading.order > order:
                return
            self._next_reading += 1
            state = self._histories.get(reading.path, [None])[-1]
            if state is None:
                state = self._fresh(reading.path)
            elif not state.exists:
                continue
            lines = reading.lines()
            if lines is None:
                continue
            try:
                sheet = state.sheet.told(lines.lines, lines.start - 1, read=True)
            except Disagrees:
                continue
            steps = self._steps_of.get(reading.path)
            self._note(state._replace(sheet=sheet), steps[-1] if steps else 0)

    def _fresh(self, path: str) -> FileState:
        self._lineages += 1
        known = self._known.get(path)
        if known is not None:
            return known._replace(lineage=self._lineages)
        return FileState(path, path, self._lineages)

    def _current(self, path: str) -> FileState:
        history = self._histories.get(path)
        return history[-1] if history else self._fresh(path)

    def _state_for(self, edit: FileEdit, step: Step) -> FileState:
        """The file an edit is about, under the name it has afterwards."""
        source = self._current(edit.source)
        if edit.action == "copy":
            return self._copied(source, edit, step)
        if edit.action != "rename" or edit.source == edit.path:
            return source
        away = self._fresh(edit.source)._replace(sheet=Sheet(()), exists=False, base="absent")
        self._note(away, step.number)
        return renamed(source, edit.path)

    def _copied(self, source: FileState, edit: FileEdit, step: Step) -> FileState:
        copy = self._fresh(edit.path)._replace(base="absent", mode=source.mode)
        if source.is_full:
            return copy._replace(sheet=filled(source.sheet.lines(), step.number))
        pieces = tuple(Piece(None, p.lines, p.extent, p.read) for p in source.sheet.pieces)
        reason = "not all of the file it copies is recorded"
        return copy._replace(sheet=Sheet(pieces), base="unknown", unpatchable=reason)

    def _between(self, lineage: int, step: Step) -> list[tuple[Run, ...]] | None:
        """What changed in the file after the step's edit was told and before it took effect."""
        stages: list[tuple[Run, ...]] = []
        told = step.dispatched
        for trace in reversed(self.lineages.get(lineage, ())):
            if trace.step.order <= told or trace.step is step:
                break
            told = told if stages else self._edits.told(step)
            if trace.step.order <= told:
                break
            if trace.stages is None:
                return None
            stages[:0] = trace.stages
        return stages

    def _keep(self, step: Step, edit: FileEdit, played: Played) -> None:
        state = played.state
        trace = Trace(step, edit, state.lineage, edit.path, played.stages, played.blocks, state)
        self._first_of.setdefault(step.number, len(self.traces))
        self.traces.append(trace)
        self.lineages.setdefault(state.lineage, []).append(trace)
        self._note(state, step.number)

    def _note(self, state: FileState, step: int) -> None:
        self._histories.setdefault(state.path, []).append(state)
        self._steps_of.setdefault(state.path, []).append(step)

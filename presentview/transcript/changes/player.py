"""Plays one family of files, step by step, only as far as somebody wants to see it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from presentview.transcript.changes.playback import Edits, Playback
from presentview.transcript.changes.step import Reading, Step

__all__ = ["Player", "Progress"]


class Progress(NamedTuple):
    """How many steps of a family are `played`, of how many."""

    played: int
    of: int


class Player:
    """The playback of one family of files, steps in flight included. Playing may take long: it
    goes on where it was whenever there is time for it.
    """

    def __init__(
        self,
        paths: frozenset[str],
        steps: Sequence[Step],
        edits: Edits,
        readings: Sequence[Reading] = (),
    ) -> None:
        self.paths = paths
        self.playback = Playback((), edits, readings, in_flight=True, only=paths)
        self._steps = steps
        self._next = 0

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return Progress(self._next, len(self._steps))

    @property
    def is_done(self) -> bool:
        """Whether every step is played."""
        return self._next == len(self._steps)

    def reach(self, step: int, until: float) -> bool:
        """Play up to and with this step, but not past the moment `until` (of `time.monotonic`).

        One step at least is played, if any is left. Returns whether it came that far.
        """
        while not self.has(step):
            self.playback.take(self._steps[self._next])
            self._next += 1
            if self.is_done:
                self.playback.read_rest()
            if time.monotonic() >= until:
                return self.has(step)
        return True

    def has(self, step: int) -> bool:
        """Whether everything up to and with a step is played."""
        return self.is_done or self._steps[self._next].number > step

    def goes_on(self, steps: Sequence[Step], edits: Edits, readings: Sequence[Reading]) -> bool:
        """Take these as all that is recorded, if what is played is the beginning of it."""
        played = list(self._steps[: self._next])
        if list(steps[: self._next]) != played:
            return False
        before = self.playback.readings
        self._steps = steps
        self.playback.hear_of(edits, readings)
        if played and self.is_done:
            self.playback.read_rest()
        # Whatever is read comes before a step in flight.
        return self.playback.readings == before or not any(step.in_flight for step in played)

"""Plays a script through a recorder, the way an agent's own code would call it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

import msgspec

from presentview.demo.steps import Compacted, HalfWay, Pause, Step, Written
from presentview.errors import ConfigError
from presentview.events import Event, EventKind
from presentview.recorder import Recorder

__all__ = ["Clock", "RealClock", "ScriptClock", "check_speed", "play"]


class Clock(Protocol):
    """Tells the time and lets it pass."""

    def now(self) -> int:
        """The time in unix ms."""

    def pause(self, seconds: float) -> None:
        """Let so many `seconds` of the script pass."""


class RealClock:
    """The clock on the wall, in front of which the script runs `speed` times as fast."""

    def __init__(self, speed: float) -> None:
        self._speed = speed

    def now(self) -> int:
        """The time in unix ms."""
        return time.time_ns() // 1_000_000

    def pause(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds / self._speed)


class ScriptClock:
    """A clock that waits for nobody: a pause moves its hands on. `start` is in unix ms."""

    def __init__(self, start: int) -> None:
        self._now = float(start)

    def now(self) -> int:
        """The time in unix ms."""
        return round(self._now)

    def pause(self, seconds: float) -> None:
        """Move the hands on."""
        self._now += seconds * 1000


def check_speed(speed: float) -> None:
    """Raise `ConfigError` unless `speed` is a speed: 0 (no pauses at all) or more."""
    if not (math.isfinite(speed) and speed >= 0):
        raise ConfigError(
            f"--speed {speed} is no speed; 1 is as written, 2 twice as fast, 0 without any pause"
        )


def play(
    steps: Iterable[Step],
    recorder: Recorder,
    clock: Clock,
    workspace: Path,
    at_half_way: Callable[[], object] = lambda: None,
) -> None:
    """Do each of `steps` in turn, with real pauses and measured durations.

    The session is saved at the end of each turn and after a compaction. `at_half_way` is called
    in the middle. Raises what the recorder raises, and `OSError` for a file of the workspace.
    """
    playing = _Playing(recorder, clock)
    for step in steps:
        match step:
            case Event():
                playing.emit(step)
            case Pause(seconds):
                clock.pause(seconds)
            case Written(path, content):
                target = workspace / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            case Compacted(first_turn):
                playing.compacted(first_turn)
            case HalfWay():
                at_half_way()


class _Playing:
    """An agent with a recorder: what it must remember to keep the two in step."""

    def __init__(self, recorder: Recorder, clock: Clock) -> None:
        self._recorder = recorder
        self._clock = clock
        self._dispatched: dict[str, int] = {}
        self._version = 0
        self._last_done: Event | None = None

    def emit(self, event: Event) -> None:
        now = self._clock.now()
        self._recorder.append(self._timed(event, now))
        if event.kind is EventKind.COMPACTION_DONE:
            self._last_done = event
        elif event.kind is EventKind.TURN_DONE:
            self._save()

    def compacted(self, first_turn: int) -> None:
        """The model forgot what came before `first_turn`, and so do the records."""
        self._version += 1
        self._recorder.truncate_to_turn(first_turn)
        self._save()

    def _save(self) -> None:
        self._recorder.sync_before_save(self._version, self._last_done)
        self._recorder.save()

    def _timed(self, event: Event, now: int) -> Event:
        tool = event.tool
        if tool is not None and event.kind is EventKind.TOOL_DISPATCH:
            self._dispatched.setdefault(tool.id, now)
        elif tool is not None and event.kind is EventKind.APPROVAL_ANSWER:
            # It only begins to run now.
            self._dispatched[tool.id] = now
        elif tool is not None and event.kind is EventKind.TOOL_RESULT:
            took = now - self._dispatched.pop(tool.id, now)
            tool = msgspec.structs.replace(tool, duration_ms=took)
        return msgspec.structs.replace(event, tool=tool, at=now)

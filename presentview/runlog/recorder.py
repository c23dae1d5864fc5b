"""What an engine tells of its run, and where that ends up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from presentview.runlog.records import Event, Message, Result, encode
from presentview.runlog.writing import Writer

__all__ = ["Recorder"]

# The finished message says the same; with these a log would be ten times as long.
_NARRATION: Final = frozenset({"token", "reasoningToken"})


class Recorder:
    """Records a run into the log of `writer`; without one everything is passed over.

    Every method raises what the writer raises: `LogClosed`, `SaveError`. A log that `resume` made
    is gone on with.
    """

    def __init__(self, writer: Writer | None = None) -> None:
        self._writer = writer

    @classmethod
    def null(cls) -> Recorder:
        """One that records nothing."""
        return cls()

    def record_message(self, message: Message) -> None:
        """Record one message of the conversation."""
        if self._writer is not None:
            self._writer.message(message)

    def record_event(self, event: Event) -> None:
        """Record something that happened, unless it is a piece of a message being streamed."""
        if self._writer is not None and event.kind not in _NARRATION:
            self._writer.event(event)

    def record_reset(self) -> None:
        """Discard the messages recorded so far."""
        if self._writer is not None:
            self._writer.reset()

    def record_result(self, result: Result) -> None:
        """Record how the run ended. Nothing can be recorded after that."""
        if self._writer is not None:
            self._writer.result(result)

    def sync(self, conversation: Iterable[Message]) -> None:
        """Make the recorded messages those of `conversation`.

        What comes after the recorded ones is added. Where these are no longer its beginning,
        since the engine has compacted it, they are discarded and all is recorded anew.
        """
        if self._writer is None:
            return
        messages = tuple(conversation)
        recorded = self._writer.recorded
        if tuple(bytes(encode(each)) for each in messages[: len(recorded)]) != recorded:
            self._writer.reset()
            recorded = ()
        for message in messages[len(recorded) :]:
            self._writer.message(message)

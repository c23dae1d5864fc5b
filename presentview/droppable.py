"""How much a rewrite could leave out, estimated while records come in.

What exactly can go only the fold knows (`presentview.covering`); whether asking it is worth a
rewrite must be known at any time and cost next to nothing.
"""

from __future__ import annotations

from typing import Final

from presentview.records import Kind, Record

__all__ = ["ANSWER", "ANSWER_ENDS", "Droppable"]

ANSWER: Final = frozenset({Kind.TEXT, Kind.REASONING})
"""The kinds of which an answer is streamed."""

ANSWER_ENDS: Final = frozenset({Kind.MESSAGE, Kind.RETRYING, Kind.TURN_STARTED, Kind.TURN_DONE})
"""The kinds after which another answer begins."""

# A member of an enum takes long to look up, and this is asked for each record.
_PROGRESS: Final = Kind.TOOL_PROGRESS
_RESULT: Final = Kind.TOOL_RESULT


class Droppable:
    """About how many `bytes` of a file a rewrite would save, kept up to date record by record."""

    def __init__(self) -> None:
        self.bytes = 0
        self._answer = 0
        self._progress: dict[str, int] = {}

    def add(self, record: Record, size: int) -> None:
        """Count one record of `size` bytes."""
        kind = record.kind
        if kind in ANSWER:
            self._answer += size
        elif kind in ANSWER_ENDS:
            self.bytes += self._answer if record.text and kind == Kind.MESSAGE else 0
            self._answer = 0
        elif record.tool is None:
            return
        elif kind == _PROGRESS:
            call = record.tool.id
            self._progress[call] = self._progress.get(call, 0) + size
        elif kind == _RESULT:
            size = self._progress.pop(record.tool.id, 0)
            self.bytes += size if record.tool.output else 0

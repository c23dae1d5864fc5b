"""A whole session in a few figures: what the list and the top of the page show."""

from __future__ import annotations

from typing import Literal

import msgspec

from presentview.transcript.fold import INTERRUPTION, Transcript

__all__ = ["SessionState", "Summary", "session_state", "summarize"]

SessionState = Literal["live", "finished", "failed", "interrupted", "waiting"]


class Summary(msgspec.Struct, frozen=True):
    """Totals over a transcript. Times are unix ms and durations ms; 0 and None: not recorded."""

    title: str
    state: SessionState
    turns: int
    tools: int
    errors: int
    added: int
    removed: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    cached_tokens: int
    started_at: int
    last_at: int
    wall_ms: int | None
    tool_ms: int


def summarize(transcript: Transcript, *, alive: bool, exists: bool = True) -> Summary:
    """The figures of a transcript; whether its writer is `alive` and its file `exists` decides
    its state.
    """
    turns = transcript.turns
    footers = [turn.footer for turn in turns if turn.footer is not None]
    first, last = transcript.first_at, transcript.last_at
    return Summary(
        title=transcript.title,
        state=session_state(transcript, alive=alive) if exists else "waiting",
        turns=sum(1 for turn in turns if turn.prompt is not None),
        tools=transcript.calls.count,
        errors=transcript.calls.errors + sum(1 for turn in turns if turn.error),
        added=sum(turn.added for turn in turns),
        removed=sum(turn.removed for turn in turns),
        input_tokens=sum(footer.input for footer in footers),
        output_tokens=sum(footer.output for footer in footers),
        total_tokens=sum(footer.total for footer in footers),
        cached_tokens=sum(footer.cached for footer in footers),
        started_at=first,
        last_at=last,
        wall_ms=last - first if first and last >= first else None,
        tool_ms=sum(turn.tool_ms for turn in turns),
    )


def session_state(transcript: Transcript, *, alive: bool) -> SessionState:
    """Whether the session is live, or how it ended: its last turn finished, failed, or was cut
    off.
    """
    turn = transcript.turn
    if transcript.is_unfinished:
        return "live" if alive else "interrupted"
    if turn.error:
        return "interrupted" if turn.error == INTERRUPTION else "failed"
    return "finished"

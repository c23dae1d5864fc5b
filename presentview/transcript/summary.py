"""A whole session in a few figures: what the list and the top of the page show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec

from presentview.transcript.cards import Change, Turn
from presentview.transcript.durations import counted_ms, longest_call
from presentview.transcript.fold import INTERRUPTION, Transcript

__all__ = ["SessionState", "Summary", "Tally", "session_state", "summarize"]

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


class _Sums(NamedTuple):
    """What one turn, or all of them, add to the figures of a session."""

    turns: int = 0
    errors: int = 0
    added: int = 0
    removed: int = 0
    tool_ms: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0


class Tally:
    """The figures of a transcript, kept up to date by what changed in it.

    To add up a long session again for each of its records would take longer than to show them.
    `slowest` is the call at the top that took longest, None while none is known to have ended.
    """

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._parts = [_sums_of(turn) for turn in transcript.turns]
        self._sums = _Sums(*map(sum, zip(*self._parts, strict=True)))
        self.slowest = longest_call(map(transcript.longest_in, transcript.turns))
        self._slowest_ms = self._took()

    def take(self, changes: Iterable[Change]) -> set[int]:
        """Take in what changed; the numbers of the turns that may be others now: those of changed
        cards, and those that ran since the last time, for a turn can end without a card that
        changes.
        """
        transcript, first = self._transcript, self._transcript.turns[0].number
        touched = set(range(first + len(self._parts) - 1, transcript.turn.number + 1))
        for change in changes:
            card = transcript.card(change.card or "")
            if card is not None:
                touched.add(card.turn)
        self._parts += [_Sums()] * (len(transcript.turns) - len(self._parts))
        for number in touched:
            index = number - first
            before, now = self._parts[index], _sums_of(transcript.turns[index])
            if before != now:
                self._parts[index] = now
                figures = zip(self._sums, before, now, strict=True)
                self._sums = _Sums(*(whole - old + new for whole, old, new in figures))
        self._compare([transcript.turns[number - first] for number in touched])
        return touched

    def summary(self, *, alive: bool, exists: bool = True) -> Summary:
        """The figures; whether the writer is `alive` and the file `exists` decides the state."""
        transcript, sums = self._transcript, self._sums
        first, last = transcript.first_at, transcript.last_at
        return Summary(
            title=transcript.title,
            state=session_state(transcript, alive=alive) if exists else "waiting",
            turns=sums.turns,
            tools=transcript.calls.count,
            errors=transcript.calls.errors + sums.errors,
            added=sums.added,
            removed=sums.removed,
            input_tokens=sums.input_tokens,
            output_tokens=sums.output_tokens,
            total_tokens=sums.total_tokens,
            cached_tokens=sums.cached_tokens,
            started_at=first,
            last_at=last,
            wall_ms=last - first if first and last >= first else None,
            tool_ms=sums.tool_ms,
        )

    def _compare(self, touched: Iterable[Turn]) -> None:
        """Compare the slowest call with the longest ones of the turns that may be others now."""
        transcript, known = self._transcript, self.slowest
        if known is not None:
            leads = transcript.longest_in(transcript.turn_of(known)) is known
            if not leads or self._took() < self._slowest_ms:
                touched = transcript.turns
        self.slowest = longest_call([known, *map(transcript.longest_in, touched)])
        self._slowest_ms = self._took()

    def _took(self) -> int:
        return (counted_ms(self.slowest) or 0) if self.slowest else 0


def _sums_of(turn: Turn) -> _Sums:
    footer = turn.footer
    counted = (
        turn.prompt is not None,
        bool(turn.error),
        turn.added,
        turn.removed,
        turn.tool_ms,
    )
    if footer is None:
        return _Sums(*counted)
    return _Sums(*counted, footer.input, footer.output, footer.total, footer.cached)


def summarize(transcript: Transcript, *, alive: bool, exists: bool = True) -> Summary:
    """The figures of a transcript; whether its writer is `alive` and its file `exists` decides
    its state.
    """
    return Tally(transcript).summary(alive=alive, exists=exists)


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

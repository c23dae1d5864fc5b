"""Events as an agent emits them, and what its sidecar holds afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from presentview.events import Event, EventKind
from presentview.recorder import Recorder
from presentview.records import Compaction, Header, Tool, decode_header
from presentview.sidecar import load
from presentview.transcript.fold import Transcript


def turn(prompt: str = "") -> Event:
    return Event(kind=EventKind.TURN_STARTED, text=prompt)


def ended(error: str = "") -> Event:
    return Event(kind=EventKind.TURN_DONE, err=error)


def delta(text: str) -> Event:
    return Event(kind=EventKind.TEXT, text=text)


def message(text: str) -> Event:
    return Event(kind=EventKind.MESSAGE, text=text)


def notice(text: str) -> Event:
    return Event(kind=EventKind.NOTICE, text=text)


def dispatch(call: str, **about: Any) -> Event:
    return Event(kind=EventKind.TOOL_DISPATCH, tool=Tool(id=call, name="bash", **about))


def result(call: str, output: str = "") -> Event:
    return Event(kind=EventKind.TOOL_RESULT, tool=Tool(id=call, name="bash", output=output))


def compacted(summary: str = "so far") -> Event:
    about = Compaction(trigger="auto", messages=3, summary=summary)
    return Event(kind=EventKind.COMPACTION_DONE, compaction=about)


def collab(value: Any) -> Event:
    return Event(kind=EventKind.EXPERT_COLLAB, collab=value)


def record(recorder: Recorder, events: Iterable[Event]) -> None:
    for event in events:
        recorder.append(event)


def turns(first: int, last: int) -> list[Event]:
    """Turns that each say which one they are."""
    return [event for n in range(first, last + 1) for event in (turn(f"{n}"), notice(f"in {n}"))]


def said(recorder: Recorder) -> list[str]:
    """The texts in memory."""
    return [each.text for each in recorder.records]


def said_in(path: Path) -> list[str]:
    """The texts in a sidecar that has nothing wrong with it."""
    loaded = load(path)
    assert loaded.problems == ()
    return [each.text for each in loaded.records]


def header_of(path: Path) -> Header:
    return decode_header(path.read_bytes().partition(b"\n")[0])


def transcript_of(path: Path) -> Transcript:
    """The transcript of a sidecar, its numbers going on from what was dropped."""
    header = header_of(path)
    transcript = Transcript(turns_dropped=header.turns_dropped, cards_dropped=header.cards_dropped)
    for each in load(path).records:
        transcript.apply(each)
    return transcript


def faces(path: Path) -> dict[str, str]:
    """What stands on each card, by its id."""
    return {card.id: card.face for card in transcript_of(path).walk()}

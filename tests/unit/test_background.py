from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from presentview import Event, EventKind, Kind, Recorder, Tool, present_path
from presentview.follow import Follower
from presentview.transcript.cards import ToolCard

BACKGROUND = Tool(id="t1", name="bash", args='{"command":"watch","run_in_background":true}')


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session whose process ended while a call was still running behind its last turn."""
    path = tmp_path / "s.jsonl"
    with Recorder.open(path, fsync="never") as recorder:
        recorder.append(Event(kind=EventKind.TURN_STARTED, text="go"))
        recorder.append(Event(kind=EventKind.TOOL_DISPATCH, tool=BACKGROUND))
        recorder.append(Event(kind=EventKind.TURN_DONE))
    return path


@pytest.fixture
def follower(session: Path) -> Iterator[Follower]:
    follower = Follower(session)
    yield follower
    follower.close()


def state(follower: Follower) -> str | None:
    follower.refresh()
    (card,) = (card for card in follower.transcript.walk() if isinstance(card, ToolCard))
    return card.status(alive=follower.alive)


def test_a_call_behind_a_finished_turn_does_not_run_in_the_next_process(
    session: Path, follower: Follower
) -> None:
    assert state(follower) == "interrupted"
    with Recorder.open(session, fsync="never"):
        assert follower.header.writer
        assert state(follower) == "interrupted"
        assert follower.alive
        turn = follower.transcript.turn
        assert (turn.ended, turn.error) == (True, "")
        assert [card.kind for card in follower.transcript.walk()] == ["prompt", "tool"]


def test_its_result_may_still_come(session: Path, follower: Follower) -> None:
    with Recorder.open(session, fsync="never") as recorder:
        recorder.append(Event(kind=EventKind.TURN_STARTED, text="and?"))
        result = Tool(id="t1", output="seen\n")
        recorder.append(Event(kind=EventKind.TOOL_RESULT, tool=result))
        assert state(follower) == "done"


def test_it_is_closed_once(session: Path) -> None:
    sizes: list[int] = []
    for _ in range(3):
        with Recorder.open(session, fsync="never") as recorder:
            assert [record.kind for record in recorder.records][-2:] == [Kind.TURN_DONE] * 2
        sizes.append(present_path(session).stat().st_size)
    assert len(set(sizes)) == 1

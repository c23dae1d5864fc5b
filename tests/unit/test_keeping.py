"""The edits of a session outlive the turns they were made in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from presentview import atomic
from presentview.cli import main
from presentview.errors import SaveError
from presentview.events import Event, EventKind
from presentview.follow import Follower
from presentview.keeping import Kept, changes_path, read_kept
from presentview.recorder import Recorder
from presentview.records import Compaction, FileDiff, Tool
from presentview.sessionchanges import SessionChanges, changes_of
from presentview.sessions import Roots, find_sessions
from tests.unit.transcript.changes.world import git_diff


def call(recorder: Recorder, name: str, *, done: bool = True, diff: bool = True) -> None:
    text = git_diff(name, None, (f"{name}\n",))
    args = f'{{"path":"{name}","content":"{name}\\n"}}'
    change = FileDiff(text, 1, 0) if diff else None
    tool = Tool(id=name, name="write_file", args=args, file_diff=change)
    recorder.append(Event(kind=EventKind.TOOL_DISPATCH, tool=tool))
    if done:
        result(recorder, name)


def result(recorder: Recorder, name: str) -> None:
    recorder.append(Event(kind=EventKind.TOOL_RESULT, tool=Tool(id=name, output="ok")))


def turn(recorder: Recorder, *names: str) -> None:
    recorder.append(Event(kind=EventKind.TURN_STARTED, text="go on"))
    for name in names:
        call(recorder, name)
    recorder.append(Event(kind=EventKind.MESSAGE, text="done"))
    recorder.append(Event(kind=EventKind.TURN_DONE))


def seen(session: Path) -> SessionChanges:
    with closing(Follower(session)) as follower:
        follower.refresh()
        return changes_of(follower)


def told(session: Path) -> list[tuple[str, int, str]]:
    return [(step.call, step.turn, step.state) for step in seen(session).steps.steps]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


@pytest.fixture
def recorder(session: Path) -> Iterator[Recorder]:
    with Recorder.open(session) as found:
        yield found


def test_what_a_truncation_drops_is_still_told(session: Path, recorder: Recorder) -> None:
    for number in range(1, 5):
        turn(recorder, f"a{number}", f"b{number}")
    before = told(session)
    recorder.truncate_to_turn(3)
    recorder.save()
    recorder.truncate_to_turn(4)
    recorder.save()
    assert told(session) == before
    found = seen(session)
    assert found.complete
    assert [step.card for step in found.steps.steps[:6]] == [""] * 6
    assert [bool(step.card) for step in found.steps.steps[6:]] == [True, True]
    assert found.steps.edits(found.steps.steps[0])[0].content == ("a1\n",)


def test_every_way_to_drop_turns_keeps_their_edits(session: Path) -> None:
    with Recorder.open(session, max_turns=1) as recorder:
        for number in range(1, 4):
            turn(recorder, f"a{number}")
        recorder.save()
        recorder.sync_before_save(1)
        turn(recorder, "a4")
        done = Event(
            kind=EventKind.COMPACTION_DONE, compaction=Compaction("auto", 3, "what was done")
        )
        recorder.sync_before_save(2, last_done=done)
        turn(recorder, "a5")
        recorder.save()
    assert [(call, number) for call, number, _ in told(session)] == [
        (f"a{number}", number) for number in range(1, 6)
    ]
    assert seen(session).complete


def test_a_later_process_goes_on_with_it(session: Path) -> None:
    for number in range(1, 4):
        with Recorder.open(session) as recorder:
            turn(recorder, f"a{number}")
            recorder.truncate_to_turn(number)
    assert [call for call, _, _ in told(session)] == ["a1", "a2", "a3"]
    assert seen(session).complete


def test_edits_without_a_recorded_diff_and_those_of_sub_agents_are_kept_too(
    session: Path, recorder: Recorder
) -> None:
    recorder.append(Event(kind=EventKind.TURN_STARTED))
    task = Tool(id="t", name="task", args='{"description":"tidy up"}')
    recorder.append(Event(kind=EventKind.TOOL_DISPATCH, tool=task))
    call(recorder, "t/inner")
    call(recorder, "plain", diff=False)
    turn(recorder)
    recorder.truncate_to_turn(2)
    recorder.save()
    steps = seen(session).steps.steps
    assert [(step.call, step.agent_name) for step in steps] == [
        ("t/inner", "tidy up"),
        ("plain", ""),
    ]


def test_a_result_that_comes_after_its_call_was_dropped_is_the_calls(
    session: Path, recorder: Recorder
) -> None:
    recorder.append(Event(kind=EventKind.TURN_STARTED))
    call(recorder, "slow", done=False)
    turn(recorder, "quick")
    recorder.truncate_to_turn(2)
    recorder.save()
    assert told(session)[-1] == ("slow", 1, "interrupted")
    result(recorder, "slow")
    assert told(session) == [("quick", 2, "applied"), ("slow", 1, "applied")]
    turn(recorder)
    recorder.truncate_to_turn(3)
    recorder.save()
    assert told(session) == [("quick", 2, "applied"), ("slow", 1, "applied")]


def test_where_nothing_was_dropped_there_is_no_file(session: Path, recorder: Recorder) -> None:
    recorder.append(Event(kind=EventKind.TURN_STARTED))
    turn(recorder, "a")
    recorder.truncate_to_turn(2)
    recorder.save()
    assert not changes_path(session).exists()
    assert seen(session).complete


def test_keeping_can_be_turned_off_and_is_said_to_be(session: Path) -> None:
    with Recorder.open(session, keep_changes=False) as recorder:
        turn(recorder, "a")
        turn(recorder, "b")
        recorder.truncate_to_turn(2)
    assert not changes_path(session).exists()
    found = seen(session)
    assert [step.call for step in found.steps.steps] == ["b"]
    assert not found.complete
    with Recorder.open(session) as recorder:
        turn(recorder, "c")
        recorder.truncate_to_turn(3)
    assert not seen(session).complete


def test_a_file_that_lost_what_was_kept_is_not_complete(session: Path, recorder: Recorder) -> None:
    turn(recorder, "a")
    turn(recorder, "b")
    recorder.truncate_to_turn(2)
    recorder.save()
    changes_path(session).unlink()
    assert not seen(session).complete


def test_edits_are_on_the_disk_before_they_leave_the_sidecar(
    session: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn(recorder, "a")
    turn(recorder, "b")
    order: list[str] = []
    fsync, rename = os.fsync, os.rename

    def synced(fd: int) -> None:
        order.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
        fsync(fd)

    def renamed(old: str, new: Path) -> None:
        order.append("renamed")
        rename(old, new)

    monkeypatch.setattr("presentview.atomic.os.fsync", synced)
    monkeypatch.setattr("presentview.atomic.os.rename", renamed)
    recorder.truncate_to_turn(2)
    recorder.save()
    assert "s.changes.jsonl" in order
    assert order.index("s.changes.jsonl") < order.index("renamed")


def test_a_death_between_the_two_files_tells_nothing_twice(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder.open(session)
    turn(recorder, "a")
    turn(recorder, "b")
    recorder.truncate_to_turn(2)

    def dies(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "replace", dies)
        with pytest.raises(KeyboardInterrupt):
            recorder.save()
    recorder.reset()
    assert changes_path(session).exists()
    assert [call for call, _, _ in told(session)] == ["a", "b"]
    with Recorder.open(session) as again:
        again.truncate_to_turn(2)
    assert [call for call, _, _ in told(session)] == ["a", "b"]
    assert seen(session).complete


def test_what_cannot_be_kept_is_not_dropped(session: Path, tmp_path: Path) -> None:
    told_of: list[Exception] = []
    recorder = Recorder.open(session, on_error=told_of.append)
    turn(recorder, "a")
    turn(recorder, "b")
    changes_path(session).mkdir()
    recorder.truncate_to_turn(2)
    recorder.save()
    assert isinstance(told_of[0], SaveError)
    assert "s.changes.jsonl" in str(told_of[0])
    assert "write_file" in (tmp_path / "s.present.jsonl").read_text().splitlines()[2]
    changes_path(session).rmdir()
    recorder.close()
    assert [call for call, _, _ in told(session)] == ["a", "b"]
    assert seen(session).complete


def test_sessions_never_mix(session: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    with Recorder.open(session) as recorder:
        turn(recorder, "a")
        recorder.truncate_to_turn(2)
        recorder.rebind(other)
        turn(recorder, "b")
        turn(recorder, "c")
        recorder.truncate_to_turn(2)
    assert [call for call, _, _ in told(session)] == ["a"]
    assert [call for call, _, _ in told(other)] == ["b", "c"]
    assert not changes_path(session).exists()
    # Somebody removes a session but not what was kept of it, and another takes its name.
    (tmp_path / "other.present.jsonl").unlink()
    with Recorder.open(other) as recorder:
        turn(recorder, "d")
        turn(recorder, "e")
        recorder.truncate_to_turn(2)
    assert [call for call, _, _ in told(other)] == ["d", "e"]
    assert seen(other).complete


def test_a_torn_line_costs_only_itself(session: Path, recorder: Recorder) -> None:
    turn(recorder, "a")
    turn(recorder, "b")
    recorder.truncate_to_turn(2)
    recorder.save()
    with open(changes_path(session), "ab") as file:
        file.write(b'{"kind":"tool_dis')
    turn(recorder, "c")
    recorder.truncate_to_turn(3)
    recorder.save()
    assert [call for call, _, _ in told(session)] == ["a", "b", "c"]


def test_a_line_that_is_spelled_otherwise_is_read_too(session: Path) -> None:
    path = changes_path(session)
    path.write_bytes(
        b'{"kind":"_header","startedAt":5}\n'
        b'{"KIND":"tool_result", "tool":{"id":"x","new":1}, "turn":3, "card":7}\n'
        b'{"kind":"_header","startedAt":6}\n{"kind":"notice"}\n'
    )
    (line,) = read_kept(path, 5)
    assert isinstance(line.record, Kept)
    assert (line.record.turn, line.record.card) == (3, 7)
    assert line.record.tool is not None
    assert line.record.tool.id == "x"


def test_a_recorder_in_memory_keeps_them_beside_each_file_it_saves_to(tmp_path: Path) -> None:
    recorder = Recorder(max_turns=1)
    one, two = tmp_path / "one.present.jsonl", tmp_path / "two.present.jsonl"
    turn(recorder, "a")
    turn(recorder, "b")
    recorder.save(one)
    turn(recorder, "c")
    recorder.save(one)
    recorder.save(two)
    recorder.save(two)
    for sidecar in (one, two):
        found = seen(tmp_path / sidecar.name.replace(".present", ""))
        assert [step.call for step in found.steps.steps] == ["a", "b", "c"]
        assert found.complete
    assert changes_path(one).read_bytes().count(b"\n") == 6
    assert changes_path(two).read_bytes().count(b"\n") == 5


def test_without_extensions_the_sidecar_says_nothing_of_it(session: Path) -> None:
    with Recorder.open(session, extensions=False) as recorder:
        turn(recorder, "a")
        turn(recorder, "b")
        recorder.truncate_to_turn(2)
    header = session.with_name("s.present.jsonl").read_bytes().splitlines()[0]
    assert header == b'{"kind":"_header"}'
    assert changes_path(session).exists()


def test_what_was_kept_is_no_session_and_names_the_one_it_is_of(
    session: Path, recorder: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    turn(recorder, "a")
    turn(recorder, "b")
    recorder.truncate_to_turn(2)
    recorder.save()
    kept = changes_path(session)
    assert [ref.path for ref in find_sessions(Roots.of([session.parent])).values()] == [session]
    assert Roots.of([kept]).sessions == (session,)
    assert main(["changes", str(kept)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 steps, 2 applied"

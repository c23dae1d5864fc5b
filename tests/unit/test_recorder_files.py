"""Going on with files that exist: either name, links, other writers' bytes, and damage."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from presentview.atomic import temp_prefix
from presentview.errors import SaveError, SidecarError
from presentview.journal import line_of
from presentview.recorder import Recorder
from presentview.records import Header, Kind, Record, encode_header
from presentview.sidecar import Entry, load, present_path
from presentview.transcript.fold import Transcript
from tests.unit.agent import (
    delta,
    dispatch,
    ended,
    faces,
    header_of,
    message,
    notice,
    record,
    result,
    said,
    said_in,
    transcript_of,
    turn,
    turns,
)

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "sidecars"
WHOLE = (
    "01-basic-v0",
    "02-subagent-errors",
    "03-compacted-collab-v2",
    "04-unicode-escaping",
    "04b-unicode-escaping.go127-jsonv2",
)
DAMAGED = (
    "05a-truncated",
    "05b-odd-lines",
    "05c-malformed-middle",
    "05d-type-mismatch",
    "05e-headers-anywhere",
)


@pytest.fixture
def documented(sidecar: Path) -> Path:
    return sidecar


@pytest.fixture
def originals(tmp_path: Path) -> Path:
    """The name that the Go program gives a sidecar."""
    return tmp_path / "s.jsonl.present.jsonl"


def sample(name: str) -> Path:
    return SAMPLES / f"{name}.jsonl.present.jsonl"


def write(path: Path, *lines: bytes) -> None:
    path.write_bytes(b"\n".join(lines))


HEADER = b'{"kind":"_header"}'
STARTED = b'{"kind":"turn_started"}'
NOTICE = b'{"kind":"notice","text":"n","level":"info"}'


# names, links and modes


def test_a_new_sidecar_gets_the_documented_name(session: Path, documented: Path) -> None:
    with Recorder.open(session) as recorder:
        recorder.append(turn())
        assert recorder.path == documented


def test_an_existing_file_under_the_other_name_is_gone_on_with(
    session: Path, documented: Path, originals: Path
) -> None:
    write(originals, HEADER, NOTICE, b"")
    with Recorder.open(session) as recorder:
        assert recorder.path == originals
        assert said(recorder) == ["n"]
        recorder.append(notice("m"))
        assert recorder.problems == ()
    assert said_in(originals) == ["n", "m"]
    assert not documented.exists()


def test_of_two_sidecars_the_documented_one_is_used_and_the_other_reported(
    session: Path, documented: Path, originals: Path
) -> None:
    write(originals, HEADER, NOTICE, b"")
    write(documented, HEADER, b"")
    before = originals.read_bytes()
    with Recorder.open(session) as recorder:
        assert recorder.path == documented
        assert [problem.path for problem in recorder.problems] == [originals]
        recorder.append(turn("mine"))
    assert originals.read_bytes() == before
    assert said_in(documented) == ["mine"]


def test_a_new_file_is_for_its_owner_only_and_an_old_one_keeps_its_mode(
    session: Path, sidecar: Path
) -> None:
    with Recorder.open(session) as recorder:
        recorder.append(turn())
        assert sidecar.stat().st_mode & 0o777 == 0o600
        sidecar.chmod(0o640)
        recorder.save(sidecar)
        assert sidecar.stat().st_mode & 0o777 == 0o640
        recorder.append(notice("n"))
    with Recorder.open(session) as recorder:
        recorder.sync_before_save(1)
    assert sidecar.stat().st_mode & 0o777 == 0o640


def test_a_symlink_stays_and_its_target_is_written(session: Path, sidecar: Path) -> None:
    target = sidecar.with_name("elsewhere") / "real"
    target.parent.mkdir()
    sidecar.symlink_to(target)
    with Recorder.open(session) as recorder:
        record(recorder, [turn("a"), notice("b")])
        recorder.save(sidecar)
        recorder.append(notice("c"))
    with Recorder.open(session) as recorder:
        recorder.append(notice("d"))
        recorder.truncate_to_turn(1)
    assert sidecar.is_symlink()
    assert said_in(target)[:3] == ["a", "b", "c"]
    assert os.listdir(target.parent) == ["real"]


def test_old_temp_files_of_dead_writers_are_swept_at_open(session: Path, sidecar: Path) -> None:
    old, young = (sidecar.with_name(f"{temp_prefix(sidecar)}{n}.tmp") for n in "12")
    for path in (old, young):
        path.write_bytes(b"")
    os.utime(old, (1, 1))
    Recorder.open(session).close()
    assert not old.exists()
    assert young.exists()


def test_a_session_may_have_the_longest_name_that_leaves_room_for_a_lock(tmp_path: Path) -> None:
    room = 255 - len(".present.jsonl.lock")
    session = tmp_path / ("x" * room + ".jsonl")
    for word in ("a", "b"):
        with Recorder.open(session) as recorder:
            recorder.append(notice(word))
            recorder.truncate_to_turn(1)
            recorder.save(present_path(session))
    assert said_in(present_path(session)) == ["a", "b"]


# bytes of others


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_passes_through_byte_for_byte(name: str, sidecar: Path) -> None:
    recorder = Recorder(extensions=False, drop_deltas=False)
    recorder.seed_from_path(sample(name))
    recorder.save(sidecar)
    assert sidecar.read_bytes() == sample(name).read_bytes()


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_is_gone_on_with_byte_for_byte(name: str, session: Path, originals: Path) -> None:
    shutil.copyfile(sample(name), originals)
    before = originals.read_bytes()
    with Recorder.open(session, extensions=False, drop_deltas=False) as recorder:
        recorder.save()
        assert originals.read_bytes() == before
        recorder.append(notice("n"))
        recorder.save(originals)
    assert originals.read_bytes() == before + NOTICE + b"\n"


@pytest.mark.parametrize("name", WHOLE)
def test_records_encode_to_the_bytes_they_were_read_from(name: str) -> None:
    # The older Go encoder escapes what was not UTF-8 in another way than the newer one.
    expected = sample(name.replace("04-unicode-escaping", WHOLE[-1])).read_bytes()
    loaded = load(sample(name))
    lines = [encode_header(Header(rewrite_version=loaded.rewrite_version)) + b"\n"]
    lines += (line_of(Entry(each)) for each in loaded.records)
    assert b"".join(lines) == expected


@pytest.mark.parametrize("name", WHOLE)
def test_records_of_others_never_gain_a_time(name: str, session: Path, originals: Path) -> None:
    shutil.copyfile(sample(name), originals)
    with Recorder.open(session) as recorder:
        recorder.append(notice("n"))
        recorder.save(originals)
    times = [each.at for each in load(originals).records]
    assert set(times[:-1]) == {0}
    assert times[-1] > 0


@pytest.mark.parametrize("name", WHOLE + DAMAGED)
def test_a_rewrite_with_default_options_changes_no_card(
    name: str, session: Path, originals: Path
) -> None:
    shutil.copyfile(sample(name), originals)

    def cards() -> list[tuple[str, str, str | None]]:
        transcript = Transcript()
        for each in load(originals).records:
            transcript.apply(each)
        return [(card.id, card.face, card.state) for card in transcript.walk()]

    with Recorder.open(session) as recorder:
        before = cards()
        recorder.save(originals)
        assert cards() == before
    assert load(originals).problems == ()


def test_unknown_kinds_and_keys_survive_a_rewrite(session: Path, sidecar: Path) -> None:
    lines = [
        b'{"kind":"_header","rewriteVersion":2,"color":{"a": 1}}',
        b'{"kind":"hologram","text":"x","depth":3,"at":5}',
        b'{"kind":"notice","text":"n","level":"info","urgency":1.50}',
        b'{"kind":"tool_dispatch","tool":{"id":"a","planet":"Mars"},"at":6}',
    ]
    write(sidecar, *lines, b"")
    with Recorder.open(session) as recorder:
        recorder.append(ended())
        recorder.sync_before_save(0)
        recorder.save(sidecar)
    written = sidecar.read_bytes().splitlines()
    assert written[1:4] == lines[1:]
    assert b'"color":{"a":1}' in written[0]
    assert load(sidecar).rewrite_version == 2


def test_a_header_that_is_missing_is_written_with_the_next_record(
    session: Path, sidecar: Path, tmp_path: Path
) -> None:
    write(sidecar, NOTICE, b"")
    with Recorder.open(session, workspace=tmp_path) as recorder:
        recorder.append(notice("m"))
        assert said_in(sidecar) == ["n", "m"]
        assert header_of(sidecar).workspace == str(tmp_path)


@pytest.mark.parametrize("content", [b"", b'{"kind":"_hea'], ids=["empty", "torn header"])
def test_a_file_that_never_got_its_header_gets_one(
    content: bytes, session: Path, sidecar: Path
) -> None:
    sidecar.write_bytes(content)
    with Recorder.open(session) as recorder:
        recorder.append(turn("hello"))
        assert said_in(sidecar) == ["hello"]


def test_the_workspace_is_added_to_a_file_without_one(
    session: Path, sidecar: Path, tmp_path: Path
) -> None:
    write(sidecar, HEADER, NOTICE, b"")
    with Recorder.open(session) as recorder:
        recorder.append(notice("m"))
    assert sidecar.read_bytes().startswith(HEADER + b"\n")
    with Recorder.open(session, workspace=tmp_path):
        pass
    assert header_of(sidecar).workspace == str(tmp_path)
    with Recorder.open(session) as recorder:
        recorder.save(sidecar)
    assert header_of(sidecar).workspace == str(tmp_path)


# seeding


def test_seeding_takes_over_records_and_version(sidecar: Path) -> None:
    write(sidecar, b'{"kind":"_header","rewriteVersion":4}', NOTICE, b"")
    recorder = Recorder()
    recorder.seed_from_path(sidecar)
    assert (said(recorder), recorder.rewrite_version) == (["n"], 4)
    recorder.seed_from_path(sidecar)
    assert said(recorder) == ["n"]


@pytest.mark.parametrize("state", ["records", "version", "seeded"])
def test_seeding_a_recorder_that_has_something_is_a_no_op(state: str, sidecar: Path) -> None:
    recorder = Recorder()
    if state == "records":
        recorder.append(notice("mine"))
    elif state == "version":
        recorder.set_rewrite_version(1)
    else:
        write(sidecar, HEADER, b"")
        recorder.seed_from_path(sidecar)
    before = recorder.snapshot()
    write(sidecar, b'{"kind":"_header","rewriteVersion":4}', NOTICE, b"")
    recorder.seed_from_path(sidecar)
    assert recorder.snapshot() == before


def test_seeding_from_nothing_is_a_no_op_that_can_be_repeated(sidecar: Path) -> None:
    recorder = Recorder()
    recorder.seed_from_path("")
    recorder.seed_from_path(sidecar)
    write(sidecar, HEADER, NOTICE, b"")
    recorder.seed_from_path(sidecar)
    assert said(recorder) == ["n"]


def test_a_failed_seed_refuses_to_save_over_what_could_not_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "s.present.jsonl"
    folder.mkdir()
    recorder = Recorder()
    with pytest.raises(SidecarError, match="cannot be read"):
        recorder.seed_from_path(folder)
    recorder.append(notice("n"))
    link = tmp_path / "link"
    link.symlink_to(folder)
    for path in (folder, tmp_path / "." / "x" / ".." / folder.name, link):
        with pytest.raises(SaveError, match="erase") as caught:
            recorder.save(path)
        assert caught.value.path == path
    assert list(folder.iterdir()) == []
    recorder.save(tmp_path / "other")
    assert said_in(tmp_path / "other") == ["n"]


def test_a_seed_that_works_at_the_second_try_can_be_saved(sidecar: Path) -> None:
    sidecar.mkdir()
    recorder = Recorder()
    with pytest.raises(SidecarError):
        recorder.seed_from_path(sidecar)
    sidecar.rmdir()
    write(sidecar, HEADER, NOTICE, b"")
    recorder.seed_from_path(sidecar)
    recorder.append(notice("m"))
    recorder.save(sidecar)
    assert said_in(sidecar) == ["n", "m"]


def test_a_new_session_can_begin_with_the_records_of_the_one_it_came_from(
    tmp_path: Path,
) -> None:
    with Recorder.open(tmp_path / "one.jsonl") as one:
        record(one, [*turns(1, 3), ended()])
        one.truncate_to_turn(2)
    with Recorder.open(tmp_path / "two.jsonl", workspace=tmp_path) as two:
        two.seed_from_path(tmp_path / "one.present.jsonl")
        record(two, turns(4, 4))
    one_faces = faces(tmp_path / "one.present.jsonl")
    two_faces = faces(tmp_path / "two.present.jsonl")
    assert one_faces.items() <= two_faces.items()
    assert list(two_faces.values())[-2:] == ["4", "in 4"]
    assert header_of(tmp_path / "two.present.jsonl").workspace == str(tmp_path)


# ends of files


@pytest.mark.parametrize(
    "tail",
    [b'{"kind":"text","text":"cut o', b"{", b"\0\0\0\0", b'{"kind":"notice"}{"kind":"no'],
    ids=["cut off", "one byte", "NUL bytes", "behind a whole record"],
)
def test_a_torn_tail_is_cut_off_and_reported(tail: bytes, session: Path, sidecar: Path) -> None:
    write(sidecar, HEADER, NOTICE, tail)
    with Recorder.open(session) as recorder:
        assert [problem.line for problem in recorder.problems] == [3]
        assert "torn" in recorder.problems[0].reason
        recorder.append(notice("m"))
        recorder.append(notice("o"))
        texts = said_in(sidecar)
    assert texts == (
        ["n", "", "m", "o"] if tail.startswith(b'{"kind":"notice"}') else ["n", "m", "o"]
    )


def test_a_torn_tail_goes_at_open_even_if_nothing_follows(session: Path, sidecar: Path) -> None:
    write(sidecar, HEADER, NOTICE, b'{"kind":"te')
    Recorder.open(session).close()
    assert sidecar.read_bytes() == HEADER + b"\n" + NOTICE + b"\n"


def test_a_last_record_without_newline_gets_one(session: Path, sidecar: Path) -> None:
    write(sidecar, HEADER, NOTICE)
    with Recorder.open(session) as recorder:
        assert recorder.problems == ()
        assert said(recorder) == ["n"]
        recorder.append(notice("m"))
        recorder.append(notice("o"))
        assert sidecar.read_bytes().startswith(HEADER + b"\n" + NOTICE + b"\n{")
    assert said_in(sidecar) == ["n", "m", "o"]


def test_a_turn_that_a_dead_process_left_open_is_closed_as_interrupted(
    session: Path, sidecar: Path
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), dispatch("a"), delta("I will")])
        last = recorder.records[-1].at
    with Recorder.open(session) as recorder:
        done = recorder.records[-1]
        assert done == Record(Kind.TURN_DONE, text="interrupted", level="error", at=last)
        assert load(sidecar).records[-1] == done
    states = {card.kind: card.status(alive=True) for card in transcript_of(sidecar).walk()}
    assert states["tool"] == states["message"] == states["turn_error"] == "interrupted"
    before = sidecar.read_bytes()
    with Recorder.open(session):
        pass
    assert sidecar.read_bytes() == before


def test_an_open_call_in_a_turn_whose_start_went_is_closed(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        recorder.append(turn("hello"))
        recorder.sync_before_save(1)
        recorder.append(dispatch("a"))
    Recorder.open(session).close()
    assert {card.status(alive=True) for card in transcript_of(sidecar).walk()} == {"interrupted"}


def test_a_turn_whose_start_went_is_left_as_it_is_if_nothing_is_open(
    session: Path, sidecar: Path
) -> None:
    with Recorder.open(session) as recorder:
        recorder.append(turn("hello"))
        recorder.sync_before_save(1)
        recorder.append(notice("n"))
    before = sidecar.read_bytes()
    Recorder.open(session).close()
    assert sidecar.read_bytes() == before


def test_a_finished_turn_is_left_as_it_is(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), dispatch("a"), result("a", "x"), ended()])
    before = sidecar.read_bytes()
    Recorder.open(session).close()
    assert sidecar.read_bytes() == before


def test_an_open_turn_stays_open_without_extensions(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), dispatch("a")])
    before = sidecar.read_bytes()
    Recorder.open(session, extensions=False).close()
    assert sidecar.read_bytes() == before


def test_an_open_call_in_a_file_of_the_go_program_is_closed(session: Path, originals: Path) -> None:
    write(originals, HEADER, STARTED, b'{"kind":"tool_dispatch","tool":{"id":"a"}}', b"")
    with Recorder.open(session) as recorder:
        assert recorder.records[-1] == Record(Kind.TURN_DONE, text="interrupted", level="error")


# damage


DAMAGE = b'{"kind":"notice","text":'


def test_damaged_pieces_leave_at_the_first_rewrite_and_are_kept_once(
    session: Path, sidecar: Path
) -> None:
    aside = sidecar.with_name("s.present.jsonl.damaged")
    write(sidecar, HEADER, NOTICE, DAMAGE, NOTICE, b"")
    original = sidecar.read_bytes()
    with Recorder.open(session) as recorder:
        assert [problem.line for problem in recorder.problems] == [3]
        recorder.append(notice("m"))
        assert DAMAGE in sidecar.read_bytes()
        assert not aside.exists()
        recorder.save(sidecar)
        assert said_in(sidecar) == ["n", "n", "m"]
        kept = aside.read_bytes()
        assert kept.startswith(original)
        recorder.save(sidecar)
    sidecar.write_bytes(sidecar.read_bytes() + DAMAGE + b"\n")
    with Recorder.open(session) as recorder:
        recorder.save(sidecar)
    assert said_in(sidecar) == ["n", "n", "m"]
    assert aside.read_bytes() == kept
    assert aside.stat().st_mode & 0o777 == 0o600


def test_an_undamaged_file_leaves_nothing_aside(session: Path, sidecar: Path) -> None:
    write(sidecar, HEADER, NOTICE, b"")
    with Recorder.open(session) as recorder:
        recorder.save(sidecar)
    assert os.listdir(sidecar.parent) == [sidecar.name]


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_keeps_every_record_that_can_be_read(
    name: str, session: Path, originals: Path
) -> None:
    shutil.copyfile(sample(name), originals)
    os.utime(originals, (1, 1))
    before = load(originals)
    assert name == "05e-headers-anywhere" or before.problems
    with Recorder.open(session, extensions=False, drop_deltas=False) as recorder:
        assert recorder.records == before.records
        recorder.append(notice("n"))
        recorder.save(originals)
    after = load(originals)
    assert after.problems == ()
    assert after.records[:-1] == before.records
    assert after.rewrite_version == before.rewrite_version


def test_a_line_that_go_cannot_read_is_spelled_anew(session: Path, originals: Path) -> None:
    shutil.copyfile(sample("05d-type-mismatch"), originals)
    with Recorder.open(session, extensions=False) as recorder:
        recorder.save(originals)
    assert b'{"kind":"tool_result","tool":{"id":"x"}}\n' in originals.read_bytes()


def test_records_read_and_unchanged_are_written_back_as_their_own_bytes(
    session: Path, sidecar: Path
) -> None:
    lines = [
        b'{"Kind":"notice" , "text":"\\u0041","text":"b","level":"info"}',
        b'{"kind":"expert_collab","collab":{"n":1.0e+5 , "x":[ ]}}',
        b'{"text":"order","kind":"phase"}',
    ]
    write(sidecar, HEADER, *lines, b"")
    with Recorder.open(session) as recorder:
        recorder.save(sidecar)
    assert sidecar.read_bytes().splitlines()[1:] == lines


def test_a_rewrite_while_a_message_is_streamed_leaves_it_whole(
    session: Path, sidecar: Path
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn(), delta("one "), delta("two ")])
        recorder.save(sidecar)
        record(recorder, [delta("three"), message("one two three"), ended()])
        recorder.save(sidecar)
        assert said_in(sidecar) == ["", "one ", "one two three", ""]


def test_a_file_cut_anywhere_is_gone_on_with(session: Path, sidecar: Path) -> None:
    with Recorder.open(session) as recorder:
        record(
            recorder, [turn("hello"), dispatch("a"), result("a", "x"), notice("ümläut"), ended()]
        )
    whole = sidecar.read_bytes()
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole)):
        sidecar.write_bytes(whole[:size])
        with Recorder.open(session, fsync="never") as recorder:
            recorder.append(notice("after"))
        kept = sum(end <= size for end in ends[1:])
        found = [text for text in said_in(sidecar) if text != "interrupted"]
        assert found == [*["hello", "", "", "ümläut", ""][:kept], "after"]

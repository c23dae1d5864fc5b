"""The file of a log: what is appended stays, numbers go on, and damage is passed over."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview import atomic, lock
from presentview.errors import ConfigError, SaveError, SaveNotDurable
from presentview.eventlog import EventType, SessionEvent, Store, encode_event, load
from presentview.records import INT64_MAX
from tests.unit.eventlog.examples import SAMPLE, event, loose_events

WHOLE = SAMPLE.read_bytes()
CALL = SessionEvent(type="tool/call", data=b"{}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def seqs(path: Path) -> list[int]:
    return [each.seq for each in load(path).events]


def test_an_event_is_stored_with_its_number_session_and_time(path: Path) -> None:
    with Store(path) as store, Store(path, session_id="other") as other:
        assert not path.exists()
        first = store.append(CALL)
        second = other.append(
            SessionEvent(id="x", data=b' { "a":\n"<" }', user_id="u", metadata={"b": 1, "a": "<"})
        )
    assert (first.seq, first.session_id, second.seq, second.session_id) == (1, "s", 2, "other")
    assert first.created_at is not None
    assert first.created_at <= (second.created_at or first.created_at)
    assert load(path) == ((first, second), ())
    assert path.read_bytes() == encode_event(first) + b"\n" + encode_event(second) + b"\n"
    assert b'"UserID":"u","metadata":{"a":"\\u003c","b":1}}' in path.read_bytes()


@pytest.mark.parametrize(
    ("given_data", "data"),
    [
        (b"", b"null"),
        (b'{"n": 12345678901234567890123}', b'{"n":12345678901234567890123}'),
        (b"{bad\n", b'"{bad\\n"'),
        (b'"\xff"', '"\ufffd"'.encode()),
        (b'"\xe2\x80\xa8"', b'"\\u2028"'),
    ],
)
def test_a_payload_is_stored_as_json_on_one_line(
    given_data: bytes, data: bytes, path: Path
) -> None:
    stored = Store(path).append(SessionEvent(data=given_data))
    assert stored.data == data
    assert load(path).events == (stored,)


def test_a_time_that_is_given_is_kept(path: Path) -> None:
    (first, *_) = load(SAMPLE).events
    now = Store(path).append(CALL).created_at
    assert Store(path).append(SessionEvent(created_at=now)).created_at == now
    assert Store(path).append(first).created_at is not None


@given(st.lists(loose_events(), max_size=6))
def test_whatever_is_appended_is_loaded_back(
    tmp_path_factory: pytest.TempPathFactory, events: list[SessionEvent]
) -> None:
    path = tmp_path_factory.mktemp("log") / "s.jsonl"
    store = Store(path, fsync="never")
    stored = [store.append(each) for each in events]
    assert [each.seq for each in stored] == list(range(1, len(events) + 1))
    assert load(path) == (
        tuple(msgspec.structs.replace(each, metadata=each.metadata or None) for each in stored),
        (),
    )
    for given_, each in zip(events, stored, strict=True):
        assert json.loads(each.data) == json.loads(given_.data)
        assert (each.type, each.agent_id) == (given_.type, given_.agent_id)


def test_several_events_are_written_all_or_none_and_only_after_the_expected_one(
    path: Path,
) -> None:
    store = Store(path)
    assert store.append_all(()) == ()
    assert [each.seq for each in store.append_all((CALL, CALL), only_after=0)] == [1, 2]
    assert store.append_all((CALL,), only_after=1) == ()
    assert store.append_all((CALL,), only_after=3) == ()
    Store(path).append(CALL)
    assert [each.seq for each in store.append_all((CALL,), only_after=3)] == [4]
    assert seqs(path) == [1, 2, 3, 4]


def test_numbers_go_on_from_the_greatest_wherever_it_stands(path: Path) -> None:
    lines = [encode_event(event(seq, "usage")) + b"\n" for seq in (3, 7, 7, 5)]
    path.write_bytes(
        b"".join(lines) + b"bad\n" + b'{"seq":9,"type":"x"}\n{"Seq":"99","Type":"x"}\n'
    )
    store = Store(path)
    assert store.append(CALL).seq == 10
    assert len(store.problems) == 2
    with path.open("ab") as file:
        file.write(encode_event(event(20, "usage")) + b"\n")
    assert store.append(CALL).seq == 21
    path.write_bytes(lines[0])
    assert store.append(CALL).seq == 4
    path.unlink()
    assert store.append(CALL).seq == 1
    other = path.with_name("other")
    other.write_bytes(lines[1])
    other.replace(path)
    assert store.append(CALL).seq == 8


def test_after_the_last_number_there_is_no_other(path: Path) -> None:
    path.write_bytes(encode_event(event(INT64_MAX, "usage")) + b"\n")
    with pytest.raises(SaveError, match="no number comes after"):
        Store(path).append(CALL)
    assert seqs(path) == [INT64_MAX]


@given(st.integers(0, len(WHOLE)))
def test_a_log_cut_off_anywhere_loses_one_event_and_goes_on(
    tmp_path_factory: pytest.TempPathFactory, end: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "s.jsonl"
    path.write_bytes(WHOLE[:end])
    # A last line that lacks no more than its end is whole.
    whole = WHOLE[:end].count(b"\n") + (WHOLE[end : end + 1] == b"\n")
    assert seqs(path) == list(range(1, whole + 1))
    store = Store(path, fsync="never")
    assert store.append(CALL).seq == whole + 1
    assert store.append(CALL).seq == whole + 2
    assert seqs(path) == list(range(1, whole + 3))
    assert load(path).problems == ()
    torn = WHOLE[:end].rpartition(b"\n")[2] if WHOLE[end : end + 1] != b"\n" else b""
    assert [each.reason.partition(": ")[0] for each in store.problems] == (
        ["torn at the end of the file"] if torn else []
    )
    assert not torn or store.problems[0].reason.endswith(f"; these {len(torn):,} bytes are cut off")


@pytest.mark.parametrize(
    ("end", "kept"),
    [
        (b"\0" * 512, b""),
        (b'{"ID":"","Seq":9,"Ty', b""),
        (encode_event(event(9, "usage")) + b'{"ID', encode_event(event(9, "usage"))),
        (encode_event(event(9, "usage")), encode_event(event(9, "usage"))),
        (b"text of another kind", b"text of another kind"),
        (b'{"another":"document"}', b'{"another":"document"}'),
        (b"  ", b"  "),
    ],
)
def test_only_what_may_be_the_beginning_of_an_event_is_cut_off(
    path: Path, end: bytes, kept: bytes
) -> None:
    path.write_bytes(WHOLE + end)
    stored = Store(path).append(CALL)
    kept += b"\n" * bool(kept)
    assert path.read_bytes() == WHOLE + kept + encode_event(stored) + b"\n"


def test_a_log_that_continues_one_of_the_go_store_can_be_read_by_it(path: Path) -> None:
    path.write_bytes(WHOLE)
    with Store(path) as store:
        store.append(CALL)
    added = path.read_bytes().removeprefix(WHOLE)
    keys = [b'"ID"', b'"Seq"', b'"SessionID"', b'"AgentID"', b'"Type"', b'"Data"', b'"CreatedAt"']
    places = [added.index(key) for key in keys]
    assert places == sorted(places)
    assert added.endswith(b'Z","UserID":""}\n')


@pytest.mark.parametrize("mode", [None, 0o644, 0o600])
def test_a_new_log_is_private_and_an_old_one_keeps_its_mode(path: Path, mode: int | None) -> None:
    if mode is not None:
        path.touch()
        path.chmod(mode)
    Store(path).append(CALL)
    assert stat.S_IMODE(path.stat().st_mode) == (mode or 0o600)


def test_folders_are_made_and_links_followed(tmp_path: Path) -> None:
    real = tmp_path / "a" / "b" / "s.jsonl"
    link = tmp_path / "link.jsonl"
    link.symlink_to(real)
    real.parent.mkdir(parents=True)
    Store(link).append(CALL)
    Store(real).append(CALL)
    assert link.is_symlink()
    assert seqs(real) == [1, 2]
    Store(tmp_path / "c" / "d" / "s.jsonl").append(CALL)
    assert seqs(tmp_path / "c" / "d" / "s.jsonl") == [1]


def test_what_is_no_file_is_not_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "pipe" / "s.jsonl"):
        with pytest.raises(SaveError) as caught:
            Store(path).append(CALL)
        assert caught.value.path == path


def test_a_closed_store_is_not_written_to(path: Path) -> None:
    store = Store(path)
    store.append(CALL)
    store.close()
    store.close()
    with pytest.raises(RuntimeError, match="closed"):
        store.append(CALL)
    assert store.load().events[0].seq == 1


def test_misuse_is_told_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="fsync must be one of always, turn, never"):
        Store(path, fsync="often")  # type: ignore[arg-type]
    monkeypatch.setattr(lock, "fcntl", None)
    with pytest.raises(ConfigError, match="flock"):
        Store(path)


class Syncs:
    """Counts the calls that force something to the disk, and lets them fail."""

    def __init__(self) -> None:
        self.files = self.folders = 0
        self.failing: set[str] = set()

    def sync(self, fd: int) -> None:
        self.files += 1
        if "file" in self.failing:
            raise OSError(errno.EIO, "I/O error")

    def sync_folder(self, folder: Path) -> None:
        self.folders += 1
        if "folder" in self.failing:
            raise OSError(errno.EIO, "I/O error")


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> Syncs:
    counter = Syncs()
    monkeypatch.setattr(atomic, "sync", counter.sync)
    monkeypatch.setattr(atomic, "sync_folder", counter.sync_folder)
    return counter


@pytest.mark.parametrize(
    ("fsync", "after"),
    [("always", [1, 2, 3, 4, 4]), ("turn", [1, 1, 2, 2, 3]), ("never", [0, 0, 0, 0, 0])],
)
def test_events_are_forced_to_the_disk_when_asked_for(
    fsync: Any, after: list[int], path: Path, syncs: Syncs
) -> None:
    counts = []
    with Store(path, fsync=fsync) as store:
        for kind in (EventType.TURN_START, "usage", EventType.TURN_END, "usage"):
            store.append(SessionEvent(type=kind))
            counts.append(syncs.files)
    counts.append(syncs.files)
    assert counts == after
    assert syncs.folders == (fsync != "never")


def test_an_event_that_could_not_be_forced_to_the_disk_is_in_a_new_file_after_the_next(
    path: Path, syncs: Syncs
) -> None:
    store = Store(path, fsync="always")
    other = Store(path, fsync="never")
    store.append(CALL)
    syncs.failing = {"file"}
    with pytest.raises(SaveNotDurable, match="I/O error"):
        store.append(CALL)
    assert seqs(path) == [1, 2]
    before = path.stat().st_ino
    syncs.failing = set()
    assert store.append(CALL).seq == 3
    assert path.stat().st_ino != before
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    inode = path.stat().st_ino
    assert other.append(CALL).seq == 4
    assert store.append(CALL).seq == 5
    assert path.stat().st_ino == inode
    assert seqs(path) == [1, 2, 3, 4, 5]


def test_closing_after_a_failed_sync_keeps_what_others_wrote(path: Path, syncs: Syncs) -> None:
    store = Store(path, fsync="always")
    syncs.failing = {"file"}
    with pytest.raises(SaveNotDurable):
        store.append(CALL)
    Store(path, fsync="never").append(CALL)
    syncs.failing = set()
    store.close()
    assert seqs(path) == [1, 2]


def test_a_folder_that_cannot_be_forced_to_the_disk_is_told(path: Path, syncs: Syncs) -> None:
    store = Store(path, fsync="always")
    syncs.failing = {"folder"}
    for count in (1, 2):
        inode = path.stat().st_ino if path.exists() else None
        with pytest.raises(SaveNotDurable):
            store.append(CALL)
        assert inode in (None, path.stat().st_ino)
        assert len(seqs(path)) == count
    syncs.failing = set()
    assert store.append(CALL).seq == 3


@pytest.mark.parametrize("written", [0, 10])
def test_an_event_that_could_not_be_written_leaves_nothing(
    written: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(path)
    store.append(CALL)
    before = path.read_bytes()

    def fail(fd: int, data: bytes) -> None:
        os.write(fd, data[:written])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "write_all", fail)
        with pytest.raises(SaveError, match="No space left") as caught:
            store.append(CALL)
        assert not isinstance(caught.value, SaveNotDurable)
    assert path.read_bytes() == before
    assert store.append(CALL).seq == 2


def test_a_torn_end_that_cannot_be_cut_off_is_not_written_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(WHOLE[:-9])
    store = Store(path)

    def fail(fd: int, size: int) -> None:
        raise OSError(errno.EIO, "I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "ftruncate", fail)
        with pytest.raises(SaveError, match="I/O error"):
            store.append(CALL)
    assert path.read_bytes() == WHOLE[:-9]
    assert store.append(CALL).seq == 24
    assert seqs(path) == list(range(1, 25))


def test_an_interrupt_anywhere_in_an_append_costs_no_number(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(path)
    store.append(CALL)

    def write_and_stop(fd: int, data: bytes) -> None:
        os.write(fd, data)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "write_all", write_and_stop)
        with pytest.raises(KeyboardInterrupt):
            store.append(CALL)
    assert store.append(CALL).seq == 3
    assert seqs(path) == [1, 2, 3]


def test_who_interrupts_an_append_to_make_another_is_told_instead_of_waiting(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(path)
    told: list[SaveError] = []

    def write_all(fd: int, data: bytes) -> None:
        with pytest.raises(SaveError, match="just now") as caught:
            store.append(CALL)
        told.append(caught.value)
        os.write(fd, data)

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "write_all", write_all)
        assert store.append(CALL).seq == 1
    assert len(told) == 1
    assert store.append(CALL).seq == 2


def test_threads_may_share_a_store(path: Path) -> None:
    store = Store(path, fsync="never")
    found: list[list[int]] = [[] for _ in range(8)]

    def write(mine: list[int]) -> None:
        mine += (store.append(CALL).seq for _ in range(50))

    threads = [threading.Thread(target=write, args=(mine,)) for mine in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seqs(path) == list(range(1, 401))
    assert sorted(seq for mine in found for seq in mine) == list(range(1, 401))
    assert all(mine == sorted(mine) for mine in found)


def test_no_descriptor_stays_open(path: Path) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("descriptors cannot be counted here")
    store = Store(path, fsync="always")
    store.append(CALL)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        store.append(CALL)
        load(path)
    assert len(os.listdir("/proc/self/fd")) == before

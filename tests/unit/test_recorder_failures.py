"""Full disks, failed syncs, interrupts: nothing is lost and nothing is written twice."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from presentview import atomic, journal
from presentview.errors import SaveError, SaveNotDurable
from presentview.recorder import Recorder
from tests.unit.agent import dispatch, ended, header_of, notice, record, said, said_in, turn


class Fault:
    """Makes a function of `presentview.atomic` or `journal.Journal` fail while it is on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch

    def on(self) -> None:
        def fail(*_: object) -> Any:
            raise OSError(28, "No space left on device")

        self._patch.setattr(journal.Journal, "append", lambda *_: False)
        self._patch.setattr(atomic, "write_all", fail)

    def off(self) -> None:
        self._patch.undo()


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Fault:
    return Fault(monkeypatch)


def test_what_could_not_be_written_stays_in_memory_and_is_written_next(
    session: Path, sidecar: Path, full_disk: Fault
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), notice("1")])
        before = sidecar.read_bytes()
        full_disk.on()
        for text in ("2", "3"):
            with pytest.raises(SaveError, match="No space left") as caught:
                recorder.append(notice(text))
            assert caught.value.path == sidecar
            assert not isinstance(caught.value, SaveNotDurable)
        assert sidecar.read_bytes() == before
        assert said(recorder) == ["hello", "1", "2", "3"]
        full_disk.off()
        recorder.append(notice("4"))
        assert said_in(sidecar) == ["hello", "1", "2", "3", "4"]


def test_with_on_error_the_agent_goes_on(session: Path, sidecar: Path, full_disk: Fault) -> None:
    told: list[Exception] = []
    with Recorder.open(session, on_error=told.append) as recorder:
        recorder.append(turn("hello"))
        full_disk.on()
        record(recorder, [notice("1"), notice("2")])
        recorder.sync_before_save(1)
        recorder.save()
        recorder.save(session.with_name("copy"))
        assert [type(error) for error in told] == [SaveError] * 4
        recorder.append(notice("3"))
        full_disk.off()
    assert said_in(sidecar) == ["3"]


def test_closing_on_a_full_disk_with_on_error_lets_the_file_go(
    session: Path, full_disk: Fault
) -> None:
    told: list[Exception] = []
    with Recorder.open(session, on_error=told.append) as recorder:
        full_disk.on()
        recorder.append(turn())
    assert len(told) == 2
    full_disk.off()
    Recorder.open(session).close()


def test_closing_on_a_full_disk_raises_after_letting_the_file_go(
    session: Path, full_disk: Fault
) -> None:
    recorder = Recorder.open(session)
    full_disk.on()
    with pytest.raises(SaveError):
        recorder.append(turn())
    with pytest.raises(SaveError):
        recorder.close()
    full_disk.off()
    Recorder.open(session).close()


def test_a_failure_that_is_shown_as_a_notice_is_told_once(
    session: Path, sidecar: Path, full_disk: Fault
) -> None:
    told: list[Exception] = []

    def show(error: Exception) -> None:
        told.append(error)
        recorder.append(notice("could not be recorded"))

    with Recorder.open(session, on_error=show) as recorder:
        recorder.append(turn("hello"))
        full_disk.on()
        recorder.append(notice("1"))
        full_disk.off()
    assert len(told) == 1
    assert said_in(sidecar) == ["hello", "1", "could not be recorded"]


def unfinished(session: Path, sidecar: Path) -> bytes:
    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), dispatch("a")])
    return sidecar.read_bytes()


def test_open_on_a_full_disk_raises_and_lets_the_lock_go(
    session: Path, sidecar: Path, full_disk: Fault
) -> None:
    before = unfinished(session, sidecar)
    full_disk.on()
    with pytest.raises(SaveError):
        Recorder.open(session)
    assert sidecar.read_bytes() == before
    full_disk.off()
    with Recorder.open(session) as recorder:
        assert said(recorder) == ["hello", "", "interrupted"]


def test_open_on_a_full_disk_with_on_error_goes_on(
    session: Path, sidecar: Path, full_disk: Fault
) -> None:
    unfinished(session, sidecar)
    told: list[Exception] = []
    full_disk.on()
    recorder = Recorder.open(session, on_error=told.append)
    assert [type(error) for error in told] == [SaveError]
    full_disk.off()
    recorder.append(notice("n"))
    recorder.close()
    assert said_in(sidecar) == ["hello", "", "interrupted", "n"]


def test_a_file_that_cannot_be_taken_over_is_told_of_and_replaced(
    session: Path, sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), ended()])

    def refuse(own: journal.Journal, *_: object) -> None:
        raise SaveError("cannot be written: Permission denied", path=own.path)

    monkeypatch.setattr(journal.Journal, "take_over", refuse)
    with pytest.raises(SaveError, match="Permission denied"):
        Recorder.open(session)
    told: list[Exception] = []
    with Recorder.open(session, on_error=told.append) as recorder:
        assert len(told) == 1
        recorder.append(notice("n"))
    assert said_in(sidecar) == ["hello", "", "n"]


@pytest.mark.parametrize("moment", ["before the bytes", "after the bytes"])
@pytest.mark.parametrize("way", ["append", "append_all"])
def test_an_interrupt_neither_loses_nor_repeats_a_record(
    moment: str, way: str, session: Path, sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(write: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any) -> Any:
            if moment == "after the bytes":
                write(*args)
            raise KeyboardInterrupt

        return act

    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), notice("1")])
        with monkeypatch.context() as patch:
            if way == "append":
                patch.setattr(os, "write", interrupted(os.write))
            else:
                patch.setattr(journal.Journal, "append", lambda *_: False)
                patch.setattr(atomic, "write_all", interrupted(atomic.write_all))
            with pytest.raises(KeyboardInterrupt):
                recorder.append(notice("2"))
        recorder.append(notice("3"))
        assert said_in(sidecar) == ["hello", "1", "2", "3"]


def test_after_a_failed_sync_the_file_is_written_anew_and_never_synced_again(
    session: Path, sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), notice("1")])
        inode = sidecar.stat().st_ino
        synced: list[int] = []

        def fail(fd: int) -> None:
            synced.append(fd)
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(atomic, "sync", fail)
            with pytest.raises(SaveError, match="Input/output"):
                recorder.append(ended())
            recorder.append(notice("2"))
        assert len(synced) == 1
        assert sidecar.stat().st_ino != inode
        assert said_in(sidecar) == ["hello", "1", "", "2"]


def test_a_folder_that_cannot_be_synced_is_told_of_and_synced_next(
    session: Path, sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Path) -> None:
        raise OSError(5, "Input/output error")

    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), notice("1")])
        with monkeypatch.context() as patch:
            patch.setattr(atomic, "sync_folder", fail)
            recorder.set_rewrite_version(1)
            with pytest.raises(SaveNotDurable) as caught:
                recorder.save()
            assert caught.value.path == sidecar
            assert header_of(sidecar).rewrite_version == 1
            with pytest.raises(SaveNotDurable):
                recorder.append(notice("2"))
        recorder.append(notice("3"))
        assert said_in(sidecar) == ["hello", "1", "2", "3"]


def test_a_line_that_can_be_neither_finished_nor_cut_back_is_gone_after_the_next_rewrite(
    session: Path, sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def torn(fd: int, data: bytes) -> int:
        if len(data) == 5:
            raise OSError(28, "No space left on device")
        return write(fd, data[:-5])

    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), notice("1")])
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", torn)
            patch.setattr(os, "ftruncate", refuse)
            with pytest.raises(SaveError, match="No space left"):
                recorder.append(notice("2"))
        recorder.append(notice("3"))
        assert said_in(sidecar) == ["hello", "1", "2", "3"]


def test_a_short_write_is_cut_back_and_made_good(
    session: Path, sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    with Recorder.open(session) as recorder:
        record(recorder, [turn("hello"), notice("1")])
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda fd, data: write(fd, data[: len(data) // 2 + 1]))
            record(recorder, [notice("2"), notice("3")])
        assert said_in(sidecar) == ["hello", "1", "2", "3"]

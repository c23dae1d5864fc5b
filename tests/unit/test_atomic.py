from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from presentview.atomic import copy_aside, replace, sweep, sync, temp_prefix, write_all
from presentview.errors import SaveError, SaveNotDurable
from presentview.limits import MIB, STALE_TEMP_SECONDS

OLD, NEW = b"old\n", b"new, and longer\n"
CALLS = ("open", "write", "fchmod", "fsync", "rename")


class Watched:
    """The calls made of `os`, of which one can be made to fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failing: int | None = None) -> None:
        self.names: list[str] = []
        self._failing = failing
        for name in CALLS:
            monkeypatch.setattr(os, name, self._watched(name, getattr(os, name)))

    def _watched(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any) -> Any:
            self.names.append(name)
            if len(self.names) - 1 == self._failing:
                raise OSError(errno.ENOSPC, "No space left on device")
            return call(*args)

        return watched


def in_folder(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with old content, alone in its folder, with a mode of its own."""
    path = tmp_path / "s.present.jsonl"
    path.write_bytes(OLD)
    path.chmod(0o640)
    return path


# what is there afterwards


@pytest.mark.parametrize(
    "chunks",
    [[], [b""], [b"a"], [b"a", b"", b"b"], [b"x" * MIB] * 9],
    ids=["none", "empty", "one", "several", "large"],
)
def test_the_content_is_all_chunks_and_nothing_else(path: Path, chunks: list[bytes]) -> None:
    os.close(replace(path, chunks))
    assert path.read_bytes() == b"".join(chunks)
    assert in_folder(path) == [path.name]


def test_the_descriptor_reads_and_goes_on_at_the_end(path: Path) -> None:
    fd = replace(path, [NEW])
    assert os.pread(fd, 3, 0) == NEW[:3]
    os.write(fd, b"more\n")
    sync(fd)
    os.close(fd)
    assert path.read_bytes() == NEW + b"more\n"


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127], ids=["ascii", "utf-8"])
def test_a_name_as_long_as_names_can_be_can_be_saved_to(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for content in (OLD, NEW):
        os.close(replace(path, [content]))
        assert path.read_bytes() == content
    assert in_folder(path) == [name]


def test_a_new_file_is_private_whatever_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        os.close(replace(tmp_path / "new", [NEW]))
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "new") == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o400, 0o666], ids=oct)
def test_an_existing_mode_is_kept(path: Path, mode: int) -> None:
    path.chmod(mode)
    os.close(replace(path, [NEW]))
    assert mode_of(path) == mode
    assert path.read_bytes() == NEW


def test_missing_folders_are_made(tmp_path: Path) -> None:
    os.close(replace(tmp_path / "a" / "b" / "s", [NEW]))
    assert (tmp_path / "a" / "b" / "s").read_bytes() == NEW


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
def test_a_symlink_is_followed_and_kept(tmp_path: Path, relative: bool) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    target, link = folder / "s", tmp_path / "link"
    target.write_bytes(OLD)
    target.chmod(0o640)
    link.symlink_to(Path("real/s") if relative else target)
    os.close(replace(link, [NEW]))
    assert link.is_symlink()
    assert target.read_bytes() == NEW
    assert mode_of(target) == 0o640
    assert in_folder(target) == ["s"]
    assert in_folder(link) == ["link", "real"]


def test_a_symlink_to_nothing_gets_its_target(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("missing")
    os.close(replace(link, [NEW]))
    assert link.is_symlink()
    assert (tmp_path / "missing").read_bytes() == NEW


def test_whoever_has_the_old_file_open_keeps_the_old_content(path: Path) -> None:
    with path.open("rb") as reader:
        os.close(replace(path, [NEW]))
        assert reader.read() == OLD


# the steps, and each of them failing


def test_the_file_is_synced_before_it_is_renamed_and_the_folder_after(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch)
    os.close(replace(path, [NEW]))
    assert watched.names == ["open", "write", "fchmod", "fsync", "rename", "open", "fsync"]


def test_the_temp_file_is_new_private_and_beside_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, int, int]] = []
    os_open = os.open

    def watched(name: str, flags: int, mode: int = 0) -> int:
        made.append((name, flags, mode))
        return os_open(name, flags, mode)

    monkeypatch.setattr(os, "open", watched)
    os.close(replace(path, [NEW]))
    name, flags, mode = made[0]
    assert Path(name).parent == path.parent
    assert Path(name).name.startswith(temp_prefix(path))
    assert name.endswith(".tmp")
    assert flags & os.O_EXCL
    assert mode == 0o600


@pytest.mark.parametrize("failing", range(5))
def test_whichever_call_fails_the_old_content_is_whole_and_no_temp_file_is_left(
    path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    before = open_files()
    with monkeypatch.context() as patch:
        Watched(patch, failing)
        with pytest.raises(SaveError, match="cannot be saved: No space left") as caught:
            replace(path, [NEW])
    assert type(caught.value) is SaveError
    assert caught.value.path == path
    assert isinstance(caught.value.__cause__, OSError)
    assert path.read_bytes() == OLD
    assert mode_of(path) == 0o640
    assert in_folder(path) == [path.name]
    assert open_files() == before


@pytest.mark.parametrize("failing", [5, 6], ids=["open", "fsync"])
def test_when_only_the_folder_cannot_be_synced_the_new_content_is_there_and_it_is_said(
    path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    before = open_files()
    with monkeypatch.context() as patch:
        Watched(patch, failing)
        with pytest.raises(SaveNotDurable) as caught:
            replace(path, [NEW])
    assert caught.value.path == path
    assert path.read_bytes() == NEW
    assert in_folder(path) == [path.name]
    assert open_files() == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, GeneratorExit])
def test_chunks_that_fail_leave_everything_as_it_was(
    path: Path, error: type[BaseException]
) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"x" * 5 * MIB
        raise error

    before = open_files()
    with pytest.raises(error):
        replace(path, chunks())
    assert path.read_bytes() == OLD
    assert in_folder(path) == [path.name]
    assert open_files() == before


def test_a_folder_in_the_files_place_cannot_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    with pytest.raises(SaveError, match="cannot be saved"):
        replace(tmp_path / "s", [NEW])
    assert in_folder(tmp_path / "s") == ["s"]


def test_a_file_in_a_folders_place_is_an_error(path: Path) -> None:
    with pytest.raises(SaveError, match="cannot be saved"):
        replace(path / "s", [NEW])
    assert path.read_bytes() == OLD


def test_short_writes_are_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os_write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: os_write(fd, data[:3]))
    os.close(replace(tmp_path / "s", [NEW]))
    assert (tmp_path / "s").read_bytes() == NEW


def test_of_a_failed_write_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fd = os.open(tmp_path / "s", os.O_WRONLY | os.O_CREAT)
    os_write = os.write

    def fills_the_disk(fd: int, data: bytes) -> int:
        if len(data) < len(NEW):
            raise OSError(errno.ENOSPC, "No space left on device")
        return os_write(fd, data[:3])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fills_the_disk)
        with pytest.raises(OSError, match="No space left"):
            write_all(fd, NEW)
    os.close(fd)
    assert (tmp_path / "s").read_bytes() == NEW[:3]


# keeping a copy


def test_a_copy_is_kept_once(path: Path) -> None:
    aside = path.with_name("s.damaged")
    copy_aside(path, aside)
    assert aside.read_bytes() == OLD
    path.write_bytes(NEW)
    copy_aside(path, aside)
    assert aside.read_bytes() == OLD
    assert mode_of(aside) == 0o600


def test_of_a_copy_that_fails_nothing_is_left(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aside = path.with_name("s.damaged")
    with monkeypatch.context() as patch:
        Watched(patch, failing=1)
        with pytest.raises(SaveError):
            copy_aside(path, aside)
    assert in_folder(path) == [path.name]
    with pytest.raises(SaveError, match=r"cannot be kept as s\.damaged: No such file"):
        copy_aside(path.with_name("missing"), aside)


# what dead writers left


def test_only_old_temp_files_of_this_file_are_swept(path: Path) -> None:
    old = time.time() - STALE_TEMP_SECONDS - 60
    mine = path.with_name(f"{temp_prefix(path)}0123.tmp")
    fresh = path.with_name(f"{temp_prefix(path)}4567.tmp")
    another = temp_prefix(path.with_name("other"))
    names = (f"{another}89.tmp", f"{temp_prefix(path)}89", "x.tmp", f".{path.name}.0123.tmp")
    others = [path.with_name(name) for name in names]
    for file in (mine, fresh, *others):
        file.touch()
        if file is not fresh:
            os.utime(file, (old, old))
    sweep(path)
    assert in_folder(path) == sorted(file.name for file in (path, fresh, *others))


def test_sweeping_looks_behind_a_symlink(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    temp = folder / f"{temp_prefix(folder / 's')}0123.tmp"
    temp.touch()
    os.utime(temp, (0, 0))
    link = tmp_path / "link"
    link.symlink_to(folder / "s")
    sweep(link)
    assert not temp.exists()


def test_sweeping_where_nothing_is_does_nothing(tmp_path: Path) -> None:
    sweep(tmp_path / "missing" / "s")

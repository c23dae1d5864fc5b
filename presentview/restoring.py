"""Writing the files of a session into a new folder, as they are known to have been.

Files known to the last byte are written as they are; of others what is known, with what is
missing said in its place. Nothing that is there is ever written over.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from presentview.errors import ConfigError
from presentview.transcript.changes.filestate import FileState
from presentview.transcript.changes.names import inside
from presentview.transcript.changes.playback import Playback

__all__ = ["Restored", "restore"]

PARTIAL: Final = ".partial"
_PLAIN: Final = 0o644
_EXECUTABLE: Final = 0o755


class Restored(NamedTuple):
    """What became of one file: where it was `written` to, empty if nowhere, and what is `missing`
    of it, empty if nothing is.
    """

    path: str
    written: str
    missing: tuple[str, ...] = ()


def restore(playback: Playback, folder: Path, workspace: str) -> Iterator[Restored]:
    """Write every file that is there at the end of a playback below `folder`, one by one.

    The folder must be new or empty, and neither inside the `workspace` nor around it; raises
    `ConfigError` before anything is written if it is not.
    """
    _check(folder, workspace)
    for path in playback.paths:
        state = playback.state(path)
        if state is not None and state.exists and _was_made(state):
            yield _restored(state, folder)


def _check(folder: Path, workspace: str) -> None:
    target = Path(os.path.realpath(folder))
    if workspace and os.path.isabs(workspace):
        tree = Path(os.path.realpath(workspace))
        if target.is_relative_to(tree) or tree.is_relative_to(target):
            raise ConfigError(
                f"{folder} lies in the session's workspace or around it; name a folder elsewhere"
            )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        empty = not any(folder.iterdir())
    except OSError as error:
        raise ConfigError(f"{folder} cannot be used: {error.strerror}") from error
    if not empty:
        raise ConfigError(f"{folder} is not empty; name a new folder")


def _was_made(state: FileState) -> bool:
    """Whether a step was about the file, or only a call that read it."""
    return bool(state.broken) or any(piece.by for piece in state.sheet.pieces) or state.is_full


def _restored(state: FileState, folder: Path) -> Restored:
    if not inside(state.path):
        return Restored(state.path, "", ("it is outside the workspace",))
    name = state.path if state.is_full else state.path + PARTIAL
    missing = () if state.is_full else tuple(_missing(state))
    data = state.content if state.is_full else _partial(state, missing)
    mode = _EXECUTABLE if state.mode.endswith("755") else _PLAIN
    try:
        _write(folder, name, data, mode)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return Restored(state.path, "", (f"it cannot be written: {why}",))
    return Restored(state.path, name, missing)


def _write(folder: Path, name: str, data: bytes, mode: int) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    # A name that another file took, as those that differ only in case do on some disks, is left.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    fd = os.open(path, flags | getattr(os, "O_BINARY", 0), mode)
    with open(fd, "wb") as file:
        file.write(data)


def _missing(state: FileState) -> Iterator[str]:
    """The ranges of lines that are not known."""
    at = 1
    for stretch in state.sheet.stretches():
        if stretch.start > at:
            yield _range(at, stretch.start - 1)
        if stretch.read:
            last = stretch.start + len(stretch.lines) - 1
            yield f"{_range(stretch.start, last)}, but for what a call read"
        at = stretch.start + len(stretch.lines)
    end = state.sheet.end
    if end is None:
        yield f"what follows line {at - 1}" if at > 1 else "all lines"
    elif end >= at:
        yield _range(at, end)


def _range(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _partial(state: FileState, missing: tuple[str, ...]) -> bytes:
    """What is known of a file, in order, with a remark wherever something is missing."""
    parts: list[str] = []
    at = 1
    for stretch in state.sheet.stretches():
        if stretch.start > at:
            parts.append(_remark(f"{_range(at, stretch.start - 1)}: not recorded"))
        parts += stretch.lines
        at = stretch.start + len(stretch.lines)
    end = state.sheet.end
    if end is None or end >= at:
        parts.append(_remark(f"{missing[-1]}: not recorded"))
    if parts and not parts[-1].endswith("\n"):
        parts.append("\n")
    for piece in state.floating:
        parts.append(_remark(f"in the file at step {piece.step}, nobody knows where:"))
        parts += piece.lines
    return "".join(parts).encode("utf-8", "surrogatepass")


def _remark(text: str) -> str:
    return f"[presentview: {text}]\n"

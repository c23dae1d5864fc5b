"""Opening files below a folder without following any link on the way.

What lies below a folder may be changed by others at any time. Each part of a path is opened in
the folder that was opened before it, so that nothing can be swapped in between a check and the
reading.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = ["can_open_below", "open_below"]

_PLAIN: Final[int] = sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)
_FOLDER: Final[int] = sum(
    getattr(os, name, 0) for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC")
)


def can_open_below() -> bool:
    """Whether this system has what it takes."""
    return os.open in os.supports_dir_fd


def open_below(root: Path, parts: Sequence[str]) -> int:
    """A descriptor of the file at `parts` below `root`, for reading.

    Raises `OSError`; with `errno.ELOOP` wherever a link is in the way, the root included.
    """
    fd = _open(os.fspath(root), _FOLDER, None)
    for index, part in enumerate(parts):
        try:
            inner = _open(part, _PLAIN if index == len(parts) - 1 else _FOLDER, fd)
        finally:
            os.close(fd)
        fd = inner
    return fd


def _open(name: str, flags: int, folder: int | None) -> int:
    try:
        return os.open(name, os.O_RDONLY | flags, dir_fd=folder)
    except NotADirectoryError as error:
        # What a link is called where a folder is asked for.
        if _is_link(name, folder):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from error
        raise


def _is_link(name: str, folder: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False

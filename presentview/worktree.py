"""Reading the files of a workspace, to compare them with what a session recorded of them.

Only regular files below the folder are read, none that a link leads to, none that is larger than
`limits.WORKTREE_FILE_BYTES`. Nothing is ever written.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

from presentview.below import can_open_below, open_below
from presentview.limits import MIB, WORKTREE_FILE_BYTES
from presentview.transcript.changes.verdicts import Found

__all__ = ["Worktree"]

_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR})
_TOO_LARGE: Final = f"larger than {WORKTREE_FILE_BYTES // MIB} MiB"


class Worktree:
    """The files below the folder `root`."""

    def __init__(self, root: Path) -> None:
        """Links that lead to `root` itself are followed now, and none later."""
        self.root = Path(os.path.realpath(root))

    def look(self, path: str) -> Found:
        """What is at a relative `path`: its content, nothing, or why it was not looked at."""
        if not can_open_below():
            return Found(reason="this system has no safe way to open it")
        parts = tuple(path.split("/"))
        if not all(part not in ("", ".", "..") and "\0" not in part for part in parts):
            return Found(reason="outside the workspace")
        try:
            fd = open_below(self.root, parts)
        except (OSError, ValueError) as error:
            return _not_there(error)
        try:
            return _read(fd)
        except OSError as error:
            return Found(reason=f"cannot be read: {error.strerror}")
        finally:
            os.close(fd)


def _not_there(error: OSError | ValueError) -> Found:
    if not isinstance(error, OSError):
        return Found(reason="not a name of a file")
    if error.errno in _ABSENT:
        return Found()
    if error.errno == errno.ELOOP:
        return Found(reason="a link")
    return Found(reason=f"cannot be read: {error.strerror}")


def _read(fd: int) -> Found:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        return Found(reason="no regular file")
    if found.st_size > WORKTREE_FILE_BYTES:
        return Found(reason=_TOO_LARGE)
    with open(fd, "rb", closefd=False) as file:
        content = file.read(WORKTREE_FILE_BYTES + 1)
    if len(content) > WORKTREE_FILE_BYTES:
        return Found(reason=_TOO_LARGE)
    return Found(content, executable=bool(found.st_mode & stat.S_IXUSR))

"""Files a session names: which may be shown, and how.

Only a path that stands in the session is ever opened, and only if it lies under the session's
workspace, beside the session, or under a folder the person allowed. Links are followed first;
what they lead to is then opened part by part without following any, so that nothing can be
swapped in between the check and the reading.

A hard link is a file like any other and is shown: nobody can tell it from the file itself, and
to make one takes as much as to copy the file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from presentview.errors import AccessDenied
from presentview.limits import ATTACHMENT_BYTES

__all__ = ["OpenedFile", "attachment_roots", "open_attachment"]

_IMAGES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_SYSTEM: Final = (
    "/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/usr", "/Library", "/System", "/private/etc"
)  # fmt: skip


class OpenedFile(NamedTuple):
    """The content of a file and its media type; empty for what is not shown but downloaded."""

    data: bytes
    image_type: str
    name: str


def attachment_roots(workspace: str, session: Path, allowed: Iterable[Path]) -> list[Path]:
    """The folders whose files a session may show: those the person `allowed`, the session's own,
    and the workspace it names.

    Of the latter two, which whoever wrote the file could choose, none counts that is or holds
    the person's own folder; and a workspace does not count if it is the system's, at the top of
    the disk, or hidden in the person's folder. A session cannot open `~/.ssh` by saying that it
    worked there.
    """
    home = Path.home().resolve()
    roots = [folder.resolve() for folder in allowed]
    beside = session.parent.resolve()
    if not home.is_relative_to(beside):
        roots.append(beside)
    with contextlib.suppress(OSError, ValueError):  # no name a folder can have
        folder = Path(os.path.realpath(workspace))
        if os.path.isabs(workspace) and _may_be_workspace(folder, home):
            roots.append(folder)
    return roots


def _may_be_workspace(folder: Path, home: Path) -> bool:
    if len(folder.parts) < 3 or home.is_relative_to(folder):
        return False
    if folder.is_relative_to(home) and folder.relative_to(home).parts[0].startswith("."):
        return False
    return not any(folder.is_relative_to(system) for system in _SYSTEM)


def open_attachment(recorded: str, workspace: str, roots: Iterable[Path]) -> OpenedFile:
    """Read the file that a session names as `recorded`, relative to its `workspace`.

    Raises `AccessDenied` with status 404 if it is not there, is no regular file, is too large,
    or lies outside all `roots`.
    """
    try:
        path = Path(os.path.realpath(os.path.join(workspace or "/", recorded)))
    except (OSError, ValueError) as error:  # changed meanwhile; or no name a file can have
        raise AccessDenied("no such file", status=404) from error
    for root in roots:
        if path != root and path.is_relative_to(root):
            return _read(root, path)
    raise AccessDenied("outside the session's workspace; --allow its folder", status=404)


def _read(root: Path, path: Path) -> OpenedFile:
    fd = _open_below(root, path.relative_to(root).parts)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise AccessDenied("no regular file", status=404)
        with open(fd, "rb", closefd=False) as file:
            data = file.read(ATTACHMENT_BYTES + 1)
    except OSError as error:
        raise AccessDenied(error.strerror or "not readable", status=404) from error
    finally:
        os.close(fd)
    if len(data) > ATTACHMENT_BYTES:
        raise AccessDenied("too large to be shown", status=404)
    return OpenedFile(data, _image_type(data), path.name)


def _open_below(root: Path, parts: tuple[str, ...]) -> int:
    """Open a file below `root` without following any link on the way."""
    folder = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    plain = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(root, folder)
        for index, part in enumerate(parts):
            flags = plain if index == len(parts) - 1 else folder
            try:
                inner = os.open(part, flags, dir_fd=fd)
            finally:
                os.close(fd)
            fd = inner
    except OSError as error:
        why = "a link" if error.errno == errno.ELOOP else (error.strerror or "not readable")
        raise AccessDenied(why, status=404) from error
    return fd


def _image_type(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _IMAGES if data.startswith(magic)), "")

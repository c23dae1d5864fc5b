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
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from presentview.below import can_open_below, open_below
from presentview.errors import AccessDenied
from presentview.limits import ATTACHMENT_BYTES, DOWNLOAD_CHUNK, MIB

__all__ = [
    "Look",
    "LookAt",
    "OpenedFile",
    "SessionFiles",
    "attachment_roots",
    "image_type_of",
    "open_attachment",
]

_IMAGES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_SYSTEM: Final = (
    "/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/usr", "/Library", "/System", "/private/etc"
)  # fmt: skip

_MAGIC_BYTES: Final = 16
_NOT_FOUND: Final = "not found"
_OUTSIDE: Final = "outside the session's workspace; --allow its folder"
_TOO_LARGE: Final = f"too large to be shown: more than {ATTACHMENT_BYTES // MIB} MiB"


class OpenedFile(NamedTuple):
    """A file that may be shown: its descriptor `fd`, to be closed by whoever asked for it, its
    first bytes (`head`), how many it had when it was opened (`size`), its `name`, and its media
    type as these first bytes tell it; that is empty for what is not shown but downloaded.
    """

    fd: int
    head: bytes
    size: int
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
    """Open the file that a session names as `recorded`, relative to its `workspace`.

    Raises `AccessDenied` with status 404 if it is not there, is no regular file, is too large,
    or lies outside all `roots`.
    """
    with _opened(recorded, workspace, roots) as (fd, name):
        head = _start(fd, DOWNLOAD_CHUNK)
        return OpenedFile(os.dup(fd), head, os.fstat(fd).st_size, image_type_of(head), name)


class Look(NamedTuple):
    """What there is to see of a file a session names: whether it `is_image`, and if it cannot be
    had at all, the `reason`.
    """

    is_image: bool = False
    reason: str = ""


LookAt = Callable[[str], Look]
"""Looks at the file that a session names by this path."""


class SessionFiles:
    """The files that the session at `session` may show: the rules that all its pages go by."""

    def __init__(self, session: Path, allowed: Iterable[Path] = ()) -> None:
        """Files below the `allowed` folders may be shown too."""
        self._session = session
        self._allowed = tuple(allowed)

    def open(self, recorded: str, workspace: str) -> OpenedFile:
        """The file the session names as `recorded`; `workspace` is what its header says.

        Raises `AccessDenied` like `open_attachment`.
        """
        roots = attachment_roots(workspace, self._session, self._allowed)
        return open_attachment(recorded, workspace or str(self._session.parent), roots)

    def looker(self, workspace: str) -> LookAt:
        """What looks at the files of the session, without reading more than their first bytes.

        What it says is what `open` would do at the same moment.
        """
        base = workspace or str(self._session.parent)
        # Most cards name no files, and to find out where these may lie takes the file system.
        roots = cache(lambda: attachment_roots(workspace, self._session, self._allowed))

        def look(recorded: str) -> Look:
            try:
                with _opened(recorded, base, roots()) as (fd, _):
                    return Look(is_image=bool(image_type_of(_start(fd, _MAGIC_BYTES))))
            except AccessDenied as error:
                return Look(reason=error.reason)

        return look


@contextlib.contextmanager
def _opened(recorded: str, workspace: str, roots: Iterable[Path]) -> Iterator[tuple[int, str]]:
    """The descriptor and the name of a file that may be shown. Raises `AccessDenied`."""
    try:
        path = Path(os.path.realpath(os.path.join(workspace or "/", recorded)))
    except (OSError, ValueError) as error:  # changed meanwhile; or no name a file can have
        raise AccessDenied(_NOT_FOUND, status=404) from error
    root = next((root for root in roots if path != root and path.is_relative_to(root)), None)
    if root is None:
        raise AccessDenied(_OUTSIDE, status=404)
    fd = _open_below(root, path.relative_to(root).parts)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise AccessDenied("no regular file", status=404)
        if found.st_size > ATTACHMENT_BYTES:
            raise AccessDenied(_TOO_LARGE, status=404)
        yield fd, path.name
    finally:
        os.close(fd)


def _start(fd: int, size: int) -> bytes:
    """Up to `size` bytes from the start of a file."""
    try:
        with open(fd, "rb", closefd=False) as file:
            return file.read(size)
    except OSError as error:
        raise AccessDenied(_why(error), status=404) from error


def _why(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "a link"
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
        return _NOT_FOUND
    return error.strerror or "not readable"


def _open_below(root: Path, parts: tuple[str, ...]) -> int:
    """Open a file below `root` without following any link on the way."""
    if not can_open_below():
        raise AccessDenied("this system has no safe way to open attachments", status=404)
    try:
        return open_below(root, parts)
    except OSError as error:
        raise AccessDenied(_why(error), status=404) from error


def image_type_of(data: bytes) -> str:
    """The media type of an image that begins with `data`; empty for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _IMAGES if data.startswith(magic)), "")

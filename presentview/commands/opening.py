"""What commands that read one session have in common: opening it, and printing what it says."""

from __future__ import annotations

from pathlib import Path

from presentview.errors import PresentviewError
from presentview.follow import Follower
from presentview.sessionfiles import follow
from presentview.sidecar import session_named_by, session_path_of

__all__ = ["opened", "printable", "safe_line"]


def opened(path: Path) -> Follower:
    """The session of a file that is named by its own path or its session's, read to its end.

    Raises `PresentviewError` if there is none.
    """
    if not path.exists() and not path.name.endswith(".jsonl"):
        raise PresentviewError(f"{path}: there is no such file")
    if _is_sidecar(path):
        follower = Follower(session_path_of(path), sidecar=path)
    else:
        follower = follow(session_named_by(path))
    follower.refresh()
    if not follower.exists:
        follower.close()
        raise PresentviewError(follower.problem or f"{follower.path}: there is no such sidecar")
    return follower


def _is_sidecar(path: Path) -> bool:
    return session_path_of(path) != path


def printable(text: str) -> str:
    """`text` without what a terminal would act on."""
    from presentview.terminal import safe

    return safe(text)


def safe_line(text: str) -> str:
    """`printable` text in one line."""
    from presentview.terminal import safe_line

    return safe_line(text)

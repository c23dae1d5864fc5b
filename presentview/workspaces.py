"""Which folders may be compared with what sessions recorded: those that the person gave.

Whoever wrote a session's file could name any folder as its workspace.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from presentview.units import path_text

__all__ = ["Workspaces", "allowing_command"]


class Workspaces:
    """The folders that the person gave: a workspace that lies in one of them counts."""

    def __init__(self, given: Iterable[Path], usual: Path | None = None) -> None:
        """`usual` is the workspace of sessions that name none."""
        self._usual = usual
        folders = (*given, *((usual,) if usual else ()))
        self._given = tuple(Path(os.path.realpath(folder)) for folder in folders)

    def of(self, named: str) -> Path | None:
        """The workspace of a session that says it worked in the folder `named`; None if that
        must not be looked into.
        """
        if not named:
            return self._usual
        if not os.path.isabs(named) or "\0" in named:
            return None
        folder = Path(os.path.realpath(named))
        return folder if any(map(folder.is_relative_to, self._given)) else None


def allowing_command(session: Path, named: str) -> str:
    """What to type so that a session is compared with the folder it names (or with DIR)."""
    where = shlex.quote(named) if named else "DIR"
    return f"presentview serve {shlex.quote(path_text(session))} --workspace {where}"

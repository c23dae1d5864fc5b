"""How the files of a session are named: relative to its workspace where they lie in it."""

from __future__ import annotations

import posixpath
from functools import lru_cache

__all__ = ["inside", "normal_path"]


@lru_cache(maxsize=16_384)
def normal_path(path: str, workspace: str = "") -> str:
    """One spelling of a recorded path: below the workspace relative to it, others as they are.

    Steps up (`..`) are resolved by name; one that leads out of the workspace stays in front.
    """
    if not path or "\0" in path:
        return path
    base = posixpath.normpath(workspace) if workspace.startswith("/") else ""
    plain = posixpath.normpath(path)
    if plain.startswith("//"):
        plain = plain[1:]
    if base and plain.startswith("/"):
        root = base.rstrip("/") + "/"
        if plain.startswith(root):
            return plain[len(root) :]
    return plain


def inside(path: str) -> bool:
    """Whether a normal path names a file below the workspace that may be written there.

    Nothing of version control is one, nor what no file system takes as a name.
    """
    parts = path.split("/")
    if not path or path.startswith("/") or "\0" in path or "\\" in path:
        return False
    return not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)

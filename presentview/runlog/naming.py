"""Where run logs lie, and what a run may be called."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from presentview.errors import LogError
from presentview.limits import RUN_ID_BYTES
from presentview.sidecar import CHANGES_SUFFIX
from presentview.sidecar import SUFFIX as SIDECAR

__all__ = ["SUFFIX", "check_id", "default_dir", "id_of", "log_path"]

SUFFIX: Final = ".jsonl"

_REFUSED: Final = re.compile("[\x00-\x1f\x7f-\x9f/\\\\\ud800-\udfff]")


def default_dir(env: Mapping[str, str] | None = None) -> Path:
    """The folder of the run logs: `$ZOT_SESSION_DIR`, else `zot/sessions` below
    `$XDG_STATE_HOME` or `~/.local/state`. `env` (default: the process's) may name the home too.
    """
    env = os.environ if env is None else env
    if named := env.get("ZOT_SESSION_DIR"):
        return Path(named)
    if state := env.get("XDG_STATE_HOME"):
        return Path(state, "zot", "sessions")
    home = env.get("HOME") or os.path.expanduser("~")
    return Path(home, ".local", "state", "zot", "sessions")


def check_id(run_id: str) -> str:
    """`run_id` if a run may be called so.

    Raises `LogError` for one that is empty, too long, begins with a dot, or holds a separator or
    a control character: as the name of a file it could be another file than meant.
    """
    if not run_id:
        raise LogError("a run needs an id")
    if run_id.startswith(".") or _REFUSED.search(run_id):
        raise LogError(
            f"{run_id!r} cannot be the id of a run: leave out separators, control characters and "
            "a dot at the start"
        )
    if len(run_id.encode()) > RUN_ID_BYTES:
        raise LogError(f"the id of a run may have {RUN_ID_BYTES} bytes, not more")
    if (run_id + SUFFIX).endswith((SIDECAR, CHANGES_SUFFIX)):
        raise LogError(f"{run_id!r} cannot be the id of a run: its log would look like a sidecar")
    return run_id


def log_path(folder: str | os.PathLike[str], run_id: str) -> Path:
    """The log of the run `run_id`. Raises `LogError` for what no run may be called."""
    return Path(folder, check_id(run_id) + SUFFIX)


def id_of(path: Path) -> str:
    """The id of the run whose log is at `path`."""
    return path.name.removesuffix(SUFFIX)

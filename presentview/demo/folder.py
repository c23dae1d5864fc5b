"""Where a demo lives: a folder with `sessions`, and the `workspace` the agent works in."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from presentview.demo.project import FILES
from presentview.errors import ConfigError
from presentview.sidecar import find_sidecar

__all__ = ["DemoFolder"]

_NAME: Final = "presentview-demo"
_MARK: Final = "made-by-presentview-demo.txt"
_MARK_TEXT: Final = "The agent of `presentview demo` works here, and each new demo overwrites it.\n"


class DemoFolder(NamedTuple):
    """A demo's folder by its absolute `path`; it need not exist."""

    path: Path

    @classmethod
    def choose(cls, folder: Path | None) -> DemoFolder:
        """The folder a person named, else `presentview-demo` in the current folder, else, where
        that cannot be written, a new temporary one.
        """
        if folder is not None:
            return cls(folder.absolute())
        here = Path.cwd()
        beside = here / _NAME
        if os.access(beside if beside.exists() else here, os.W_OK | os.X_OK):
            return cls(beside)
        return cls(Path(tempfile.mkdtemp(prefix=f"{_NAME}-")))

    @property
    def sessions(self) -> Path:
        """The folder of the recorded sessions."""
        return self.path / "sessions"

    @property
    def workspace(self) -> Path:
        """The folder the agent works in."""
        return self.path / "workspace"

    def new_session(self) -> str:
        """A name, after the time of day, for a session that is not there yet."""
        first = name = time.strftime("%Y%m%d-%H%M%S")
        count = 1
        while find_sidecar(self.session(name)).path.exists():
            count += 1
            name = f"{first}-{count}"
        return name

    def session(self, name: str) -> Path:
        """The path of the session called `name`."""
        return self.sessions / f"{name}.jsonl"

    def prepare(self) -> None:
        """Make the folders, and the workspace as the agent finds it.

        Files of an earlier demo are overwritten, those of anybody else never: raises
        `ConfigError` where there is a workspace of another origin, or nothing can be written.
        """
        mark = self.workspace / _MARK
        try:
            if self.workspace.exists() and not mark.exists() and any(self.workspace.iterdir()):
                raise ConfigError(
                    f"{self.workspace} holds files that no demo made; choose another --folder"
                )
            self.sessions.mkdir(parents=True, exist_ok=True)
            self.workspace.mkdir(exist_ok=True)
            mark.write_text(_MARK_TEXT, encoding="utf-8")
            for name, text in FILES.items():
                target = self.workspace / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConfigError(
                f"cannot write to {self.path}: {error.strerror}; choose another --folder"
            ) from error

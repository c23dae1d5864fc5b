"""The process of the demo agent, seen from outside: started, waited for, killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from presentview.demo.folder import DemoFolder
from presentview.sidecar import find_sidecar

__all__ = ["AgentProcess"]

_POLL_SECONDS: Final = 0.02


class AgentProcess:
    """A demo agent in a process of its own, recording a new session of `folder`.

    With `crash` it is killed half way, while several of its calls are running.
    """

    def __init__(self, folder: DemoFolder, *, crash: bool, speed: float) -> None:
        self.session: Path = folder.session(folder.new_session())
        self._crash = crash
        self._arguments = [os.fspath(folder.path), f"--session={self.session.stem}"]
        self._arguments += [f"--speed={speed!r}", *["--wait-half-way"] * crash]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The number of the process, None before it is started."""
        return self._process.pid if self._process else None

    @property
    def was_killed(self) -> bool:
        """Whether SIGKILL ended it."""
        return self._process is not None and self._process.returncode == -signal.SIGKILL

    @property
    def failed(self) -> bool:
        """Whether it ended by itself and not well."""
        return self._process is not None and (self._process.returncode or 0) > 0

    def start(self) -> None:
        """Start the process and return when its session is there to be shown."""
        pipe = subprocess.PIPE if self._crash else subprocess.DEVNULL
        self._process = process = subprocess.Popen(
            # -P: nothing that lies in the current folder is imported.
            [sys.executable, "-P", "-m", "presentview.demo.agent", *self._arguments],
            stdin=pipe,
            stdout=pipe,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            # Ctrl-C reaches the server only, which then ends this process.
            start_new_session=True,
        )
        sidecar = find_sidecar(self.session).path
        while process.poll() is None and not sidecar.exists():
            time.sleep(_POLL_SECONDS)

    def wait(self) -> None:
        """Return when the process has ended; with `crash`, kill it when it is half way."""
        process = self._process
        if process is None:
            return
        if process.stdout is not None and process.stdout.readline():
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def stop(self) -> None:
        """End the process if it is still running."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

"""The demo as a person runs it: an agent records in one process, and this one shows it live."""

from __future__ import annotations

import http.client
import os
import shlex
import shutil
import signal
import sys
import threading
from pathlib import Path
from typing import Final

from presentview.demo.folder import DemoFolder
from presentview.demo.player import check_speed
from presentview.demo.process import AgentProcess
from presentview.lock import check_can_lock
from presentview.web.network import NetworkPolicy

__all__ = ["how_to_reopen", "run_demo"]

_ANSWER_SECONDS: Final = 30
_KILLED: Final = """\
Killed the recording process (SIGKILL, pid {pid}) in the middle of its work: a shell command and a
sub-agent were running. Everything up to that moment is in the file.
"""
_ENDED: Final = "The agent has finished.\n"
_FAILED: Final = "The agent failed; what it had recorded is in the file.\n"
_STAYS: Final = "The page stays until you press Ctrl-C.\n"


def run_demo(
    *,
    folder: Path | None = None,
    crash: bool = False,
    open_browser: bool = True,
    speed: float = 1.0,
    port: int | None = None,
) -> int:
    """Let a scripted agent record a session, show it live, and return the exit code.

    `folder` is made if need be; None is `presentview-demo` in the current folder. With `crash`
    the agent is killed half way. With `open_browser` the session's page is opened and served
    until Ctrl-C, otherwise everything ends when the agent does. `speed` 2 is twice as fast, 0
    does without pauses. The last lines printed say how to open the session again.

    Raises `ConfigError` for a folder, speed or port that cannot be used, and where nothing can
    be recorded.
    """
    # Only now: recording alone must not need the web app.
    from presentview.demo.pages import serve_session

    check_can_lock()
    check_speed(speed)
    place = DemoFolder.choose(folder)
    place.prepare()
    agent = AgentProcess(place, crash=crash, speed=speed)
    show = _Show(place, agent, goes_on=open_browser)
    try:
        serve_session(
            agent.session,
            show.begin,
            workspace=place.workspace,
            port=port,
            open_browser=open_browser,
        )
    except KeyboardInterrupt:
        pass  # before the server took over the signal
    finally:
        show.end()
    _say(how_to_reopen(place))
    return int(agent.failed)


def how_to_reopen(place: DemoFolder) -> str:
    """The lines that say where the demo was recorded and which command shows it again."""
    command = ["presentview"]
    if shutil.which("presentview") is None:
        command = [sys.executable, "-m", "presentview"]
    command += ["serve", os.fspath(place.sessions), "--workspace", os.fspath(place.workspace)]
    return f"Recorded into {place.path}\nOpen it again with:\n  {shlex.join(command)}\n"


class _Show:
    """The agent beside the server: starts with it, and outside a browser ends it."""

    def __init__(self, place: DemoFolder, agent: AgentProcess, *, goes_on: bool) -> None:
        self._place = place
        self._agent = agent
        self._goes_on = goes_on
        self._interrupted = False
        self._thread: threading.Thread | None = None

    def begin(self, policy: NetworkPolicy) -> None:
        """Start the agent, so that its page is there when a browser asks for it."""
        self._agent.start()
        self._thread = threading.Thread(target=self._attend, args=(policy,), name="demo")
        self._thread.start()

    def end(self) -> None:
        """End the agent if it is still at work."""
        self._interrupted = True
        self._agent.stop()
        if self._thread is not None:
            self._thread.join()

    def _attend(self, policy: NetworkPolicy) -> None:
        agent = self._agent
        agent.wait()
        # An agent may be over before its page is there; what is said of it comes after the address.
        if not _is_serving(policy) or self._interrupted:
            return
        if agent.was_killed:
            _say(_KILLED.format(pid=agent.pid))
        else:
            _say(_FAILED if agent.failed else _ENDED)
        if self._goes_on:
            _say(_STAYS + how_to_reopen(self._place))
        else:
            os.kill(os.getpid(), signal.SIGINT)


def _is_serving(policy: NetworkPolicy) -> bool:
    """Wait until the server answers; from then on it takes a signal for what it is."""
    connection = http.client.HTTPConnection(policy.host, policy.port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", "/")
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()

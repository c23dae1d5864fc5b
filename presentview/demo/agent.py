"""The recording process of the demo: `python -m presentview.demo.agent FOLDER`.

It is a process of its own because agents are: they can be killed, and what they recorded up to
then has to be in the file.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from presentview.demo.folder import DemoFolder
from presentview.demo.player import Clock, RealClock, ScriptClock, check_speed, play
from presentview.demo.script import script, script_seconds
from presentview.errors import PresentviewError
from presentview.recorder import Recorder

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the script into a new session of the given folder and return the exit code.

    Prints nothing but errors, except with `--wait-half-way`: then a line says that the middle is
    reached, and the process waits there until its standard input ends.
    """
    options = _parser().parse_args(arguments)
    try:
        _record(options)
    except (PresentviewError, OSError) as error:
        sys.stderr.write(f"presentview demo: {error}\n")
        return 1
    return 0


def _record(options: argparse.Namespace) -> None:
    check_speed(options.speed)
    folder = DemoFolder.choose(options.folder)
    folder.prepare()
    session = folder.session(options.session or folder.new_session())
    with Recorder.open(session, workspace=folder.workspace) as recorder:
        clock = _clock(options.speed)
        steps = script(created_at=clock.now())
        at_half_way = _wait if options.wait_half_way else _go_on
        play(steps, recorder, clock, folder.workspace, at_half_way)


def _clock(speed: float) -> Clock:
    if speed:
        return RealClock(speed)
    # Without pauses the session is over now, and began accordingly earlier.
    return ScriptClock(time.time_ns() // 1_000_000 - round(1000 * script_seconds()))


def _wait() -> None:
    sys.stdout.write("half way\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()


def _go_on() -> None:
    pass


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m presentview.demo.agent",
        description="Record a scripted session, as an agent would record itself.",
    )
    parser.add_argument("folder", type=Path, help="where sessions/ and workspace/ are made")
    parser.add_argument("--session", help="the session's name (default: the time of day)")
    parser.add_argument(
        "--speed", type=float, default=1.0, help="2 is twice as fast, 0 without any pause"
    )
    parser.add_argument(
        "--wait-half-way",
        action="store_true",
        help="stop in the middle, say so, and wait there for the end of standard input",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())

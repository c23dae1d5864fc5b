"""The command `presentview`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence

from presentview._version import __version__
from presentview.commands import changes, check, demo, resume_messages, runs, serve, show, timings
from presentview.errors import PresentviewError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (default: the process's) and return its exit code.

    0: done; 1: done, but something in a file could not be read; 2: could not be done.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal or pipe that cannot take a character of a session gets a question mark.
        sys.stdout.reconfigure(errors="replace")
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except PresentviewError as error:
        print(f"presentview: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="presentview",
        description="See again what exactly happened in a coding agent's session.",
    )
    parser.add_argument("--version", action="version", version=f"presentview {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (serve, show, timings, changes, check, runs, resume_messages, demo):
        command.add(commands)
    return parser

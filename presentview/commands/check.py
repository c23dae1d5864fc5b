"""The command `check`: what of a file could not be read."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from presentview.commands import Commands
from presentview.commands.opening import opened, printable

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command to the parser's."""
    check = commands.add_parser(
        "check",
        help="name every place in a file that could not be read",
        description="Print each problem as file:line:byte: reason. Exit code 0 only if there is "
        "none.",
    )
    check.add_argument("file", metavar="FILE", type=Path, help="a sidecar, or its session")
    check.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    with opened(options.file) as follower:
        for note in follower.notes:
            print(printable(note), file=sys.stderr)
        for problem in follower.problems:
            print(printable(str(problem)))
        return 1 if follower.problems else 0

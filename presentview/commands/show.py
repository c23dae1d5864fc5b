"""The command `show`: a session in the terminal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from presentview.commands import Commands
from presentview.commands.opening import opened, printable

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command to the parser's."""
    show = commands.add_parser(
        "show",
        help="print a session in the terminal",
        description="Print what a person saw of a session. Exit code 1 if a part of the file "
        "could not be read.",
    )
    show.add_argument("file", metavar="FILE", type=Path, help="a sidecar, or its session")
    show.add_argument("--json", action="store_true", help="print it as one JSON document")
    show.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    with opened(options.file) as follower:
        if options.json:
            from presentview.document import document_json

            sys.stdout.buffer.write(document_json(follower) + b"\n")
        else:
            from presentview.terminal import show_lines

            for line in show_lines(follower):
                print(line)
        for note in follower.notes:
            print(printable(note), file=sys.stderr)
        for problem in follower.problems:
            print(printable(str(problem)), file=sys.stderr)
        return 1 if follower.problems else 0

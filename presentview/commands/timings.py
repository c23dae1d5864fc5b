"""The command `timings`: where the time of a session went."""

from __future__ import annotations

import argparse
import shutil
import sys
from contextlib import closing
from pathlib import Path

from presentview.commands import Commands
from presentview.commands.opening import opened, printable

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command to the parser's."""
    timings = commands.add_parser(
        "timings",
        help="show where the time of a session went",
        description="Print what each tool and sub-agent took and a waterfall of the calls. Exit "
        "code 1 if a part of the file could not be read.",
    )
    timings.add_argument("file", metavar="FILE", type=Path, help="a sidecar, or its session")
    timings.add_argument("--json", action="store_true", help="print it as one JSON document")
    timings.add_argument(
        "--all", action="store_true", help="draw every call of a long session, not the longest"
    )
    timings.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    with closing(opened(options.file)) as follower:
        if options.json:
            from presentview.exporting.timing_document import timing_document_json

            sys.stdout.buffer.write(timing_document_json(follower) + b"\n")
        else:
            from presentview.exporting.timing_text import timing_lines

            width = shutil.get_terminal_size((110, 24)).columns
            for line in timing_lines(follower, width=width, draws_all=options.all):
                print(line)
        for problem in follower.problems:
            print(printable(str(problem)), file=sys.stderr)
        return 1 if follower.problems else 0

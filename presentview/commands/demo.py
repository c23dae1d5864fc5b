"""The command `demo`: a scripted agent, recorded while one watches."""

from __future__ import annotations

import argparse
from pathlib import Path

from presentview.commands import Commands

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command to the parser's."""
    demo = commands.add_parser(
        "demo",
        help="watch a scripted agent being recorded",
        description="Record a scripted agent through the real recorder while you watch it in the "
        "browser. The last lines say how to open the recording again.",
    )
    demo.add_argument("--crash", action="store_true", help="kill the recording process half way")
    demo.add_argument(
        "--no-open", action="store_true", help="no browser: play to the end, then stop"
    )
    demo.add_argument(
        "--speed", type=float, default=1.0, help="how many times faster to play; 0 makes no pauses"
    )
    demo.add_argument("--folder", type=Path, help="where to record (default: ./presentview-demo)")
    demo.add_argument("--port", type=int, help="the port; 0 takes any free one")
    demo.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from presentview.demo.run import run_demo

    return run_demo(
        folder=options.folder,
        crash=options.crash,
        open_browser=not options.no_open,
        speed=options.speed,
        port=options.port,
    )

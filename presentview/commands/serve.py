"""The command `serve`: sessions in the browser."""

from __future__ import annotations

import argparse
from pathlib import Path

from presentview.commands import Commands

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command to the parser's."""
    serve = commands.add_parser(
        "serve",
        help="show sessions in the browser, live while they are recorded",
        description="Show the sessions below folders, or single ones, in the browser. Prints the "
        "address to open; ends with Ctrl-C.",
    )
    serve.add_argument(
        "paths",
        nargs="*",
        default=["."],
        metavar="PATH",
        help="a folder with sessions, a sidecar, or a session that will be recorded "
        "(default: the current folder)",
    )
    serve.add_argument("--port", type=int, help="the port; 0 takes any free one")
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    serve.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name by which browsers may reach this server; needed for any --host but this "
        "machine's own",
    )
    serve.add_argument(
        "--allow",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="a folder whose files sessions may show as attachments, besides their workspaces; "
        "edits of sessions that worked in it are compared with the files there",
    )
    serve.add_argument(
        "--workspace",
        type=Path,
        metavar="DIR",
        help="compare the edits of sessions that worked in this folder, or do not say where they "
        "did, with the files in it (as in any folder PATH)",
    )
    serve.add_argument(
        "--no-open", action="store_true", help="print the address, do not open a browser"
    )
    serve.add_argument(
        "--no-token", action="store_true", help="let anybody on this machine in (loopback only)"
    )
    serve.add_argument(
        "--new-token", action="store_true", help="make a new token; old addresses end to work"
    )
    serve.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    # The web framework takes most of the start: the other commands do without it.
    from presentview.errors import ConfigError
    from presentview.sessions import Roots
    from presentview.web.app import make_factory
    from presentview.web.server import serve

    for folder in (*options.allow, *((options.workspace,) if options.workspace else ())):
        if not folder.is_dir():
            raise ConfigError(f"{folder} is no folder")
    roots = Roots.of(options.paths)
    return serve(
        make_factory(roots, allowed=options.allow, workspace=options.workspace),
        host=options.host,
        port=options.port,
        allowed_hosts=options.allow_host,
        token=not options.no_token,
        new_token=options.new_token,
        open_browser=not options.no_open,
    )

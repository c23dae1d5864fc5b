"""The command `presentview`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from presentview._version import __version__
from presentview.errors import PresentviewError
from presentview.follow import Follower
from presentview.sidecar import session_path_of

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
    _add_serve(commands)
    _add_show(commands)
    _add_check(commands)
    _add_demo(commands)
    return parser


# argparse has no public name for it.
Commands = argparse._SubParsersAction  # noqa: SLF001


def _add_serve(commands: Commands[argparse.ArgumentParser]) -> None:
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
        help="a folder whose files sessions may show as attachments, besides their workspaces",
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
    serve.set_defaults(run=_serve)


def _add_show(commands: Commands[argparse.ArgumentParser]) -> None:
    show = commands.add_parser(
        "show",
        help="print a session in the terminal",
        description="Print what a person saw of a session. Exit code 1 if a part of the file "
        "could not be read.",
    )
    show.add_argument("file", metavar="FILE", type=Path, help="a sidecar, or its session")
    show.add_argument("--json", action="store_true", help="print it as one JSON document")
    show.set_defaults(run=_show)


def _add_check(commands: Commands[argparse.ArgumentParser]) -> None:
    check = commands.add_parser(
        "check",
        help="name every place in a file that could not be read",
        description="Print each problem as file:line:byte: reason. Exit code 0 only if there is "
        "none.",
    )
    check.add_argument("file", metavar="FILE", type=Path, help="a sidecar, or its session")
    check.set_defaults(run=_check)


def _add_demo(commands: Commands[argparse.ArgumentParser]) -> None:
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
    demo.set_defaults(run=_demo)


def _serve(options: argparse.Namespace) -> int:
    # The web framework takes most of the start: the other commands do without it.
    from presentview.sessions import Roots
    from presentview.web.app import make_factory
    from presentview.web.server import serve

    roots = Roots.of(options.paths)
    return serve(
        make_factory(roots, allowed=options.allow),
        host=options.host,
        port=options.port,
        allowed_hosts=options.allow_host,
        token=not options.no_token,
        new_token=options.new_token,
        open_browser=not options.no_open,
    )


def _opened(path: Path) -> Follower:
    """The session of a file that is named by its own path or its session's."""
    if not path.exists() and not path.name.endswith(".jsonl"):
        raise PresentviewError(f"{path}: there is no such file")
    follower = Follower(session_path_of(path), sidecar=path if _is_sidecar(path) else None)
    follower.refresh()
    if not follower.exists:
        raise PresentviewError(follower.problem or f"{follower.path}: there is no such sidecar")
    return follower


def _is_sidecar(path: Path) -> bool:
    return session_path_of(path) != path


def _show(options: argparse.Namespace) -> int:
    follower = _opened(options.file)
    if options.json:
        from presentview.document import document_json

        sys.stdout.buffer.write(document_json(follower) + b"\n")
    else:
        from presentview.terminal import show_lines

        for line in show_lines(follower):
            print(line)
    for problem in follower.problems:
        print(_printable(str(problem)), file=sys.stderr)
    return 1 if follower.problems else 0


def _check(options: argparse.Namespace) -> int:
    follower = _opened(options.file)
    for problem in follower.problems:
        print(_printable(str(problem)))
    return 1 if follower.problems else 0


def _printable(text: str) -> str:
    from presentview.terminal import safe

    return safe(text)


def _demo(options: argparse.Namespace) -> int:
    from presentview.demo.run import run_demo

    return run_demo(
        folder=options.folder,
        crash=options.crash,
        open_browser=not options.no_open,
        speed=options.speed,
        port=options.port,
    )

"""The command `timings`: where the time of a session went."""

from __future__ import annotations

import argparse
import shutil
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from presentview.commands import Commands
from presentview.commands.opening import opened, printable
from presentview.errors import ConfigError
from presentview.follow import Follower

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command to the parser's."""
    timings = commands.add_parser(
        "timings",
        help="show where the time of a session went, or compare two",
        description="Print what each tool and sub-agent took and a waterfall of the calls; of two "
        "files, how they differ. Exit code 1 if a part of a file could not be read.",
    )
    timings.add_argument("file", metavar="FILE", type=Path, help="a sidecar, or its session")
    timings.add_argument(
        "other", metavar="OTHER", type=Path, nargs="?", help="one to compare it with"
    )
    timings.add_argument(
        "--json", dest="format", action="store_const", const="json", help="as one JSON document"
    )
    timings.add_argument(
        "--format",
        choices=("table", "json", "chrome", "otlp"),
        help="chrome: a trace that Perfetto opens; otlp: OpenTelemetry traces as JSON",
    )
    timings.add_argument(
        "--all", action="store_true", help="draw every call of a long session, not the longest"
    )
    timings.add_argument(
        "--content",
        action="store_true",
        help="put prompts, arguments and outputs into a trace, which otherwise says only what "
        "was called when",
    )
    timings.add_argument(
        "--start",
        metavar="TIME",
        type=_moment,
        help="when a session without recorded times began, as 2026-11-30T14:02 (for otlp)",
    )
    timings.add_argument(
        "--otlp-endpoint",
        metavar="URL",
        help="send the OpenTelemetry traces there (http or https) instead of printing them",
    )
    timings.set_defaults(run=_run)


def _moment(text: str) -> int:
    """A time in ISO 8601 as unix ms; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"no time like 2026-11-30T14:02: {text!r}") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def _run(options: argparse.Namespace) -> int:
    paths = [path for path in (options.file, options.other) if path is not None]
    with ExitStack() as stack:
        followers = [stack.enter_context(opened(path)) for path in paths]
        if options.otlp_endpoint is not None:
            _send(followers, options)
        elif len(followers) > 1:
            _compare(followers[0], followers[1], options)
        else:
            _print(followers[0], options)
        problems = [problem for follower in followers for problem in follower.problems]
        for problem in problems:
            print(printable(str(problem)), file=sys.stderr)
        return 1 if problems else 0


def _send(followers: list[Follower], options: argparse.Namespace) -> None:
    from presentview.exporting.otlp import otlp_batches
    from presentview.exporting.sending import checked_endpoint, send

    if options.format not in (None, "otlp"):
        raise ConfigError(f"--otlp-endpoint takes the format otlp, not {options.format}")
    endpoint = checked_endpoint(options.otlp_endpoint)
    for follower in followers:
        bodies = otlp_batches(follower, start_ms=options.start, content=options.content)
        count = send(endpoint, bodies)
        print(printable(f"{follower.path}: sent to {endpoint} in {count} requests"))


def _compare(one: Follower, other: Follower, options: argparse.Namespace) -> None:
    from presentview.exporting.comparison import comparison_document, comparison_lines

    if options.format == "json":
        import orjson

        _write(orjson.dumps(comparison_document(one, other)))
        return
    if options.format not in (None, "table"):
        raise ConfigError(f"two sessions are compared as table or json, not {options.format}")
    for line in comparison_lines(one, other):
        print(line)


def _print(follower: Follower, options: argparse.Namespace) -> None:
    if options.format == "json":
        from presentview.exporting.timing_document import timing_document_json

        _write(timing_document_json(follower))
    elif options.format == "chrome":
        from presentview.exporting.chrome import chrome_json

        _write(chrome_json(follower, content=options.content))
    elif options.format == "otlp":
        from presentview.exporting.otlp import otlp_json

        _write(otlp_json(follower, start_ms=options.start, content=options.content))
    else:
        from presentview.exporting.timing_text import timing_lines

        width = shutil.get_terminal_size((110, 24)).columns
        for line in timing_lines(follower, width=width, draws_all=options.all):
            print(line)


def _write(document: bytes) -> None:
    sys.stdout.buffer.write(document + b"\n")

"""The command `changes`: the edits of a session, and what is left of them on the disk."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from presentview.commands import Commands
from presentview.commands.opening import opened, printable
from presentview.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from presentview.sessionchanges import SessionChanges
    from presentview.transcript.changes.patching import Composed
    from presentview.transcript.changes.step import Step
    from presentview.transcript.changes.verdicts import Judge, StepVerdict

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command to the parser's."""
    changes = commands.add_parser(
        "changes",
        help="list a session's edits, check them against the disk, save them",
        description="List the edits of a session in the order in which they took effect. With "
        "--check, exit code 1 if any that was applied is not on the disk any more, 2 if that "
        "cannot be told of some. With --patch or --restore, exit code 1 if something had to be "
        "left out. Nothing is ever written into the session's workspace.",
    )
    changes.add_argument("file", metavar="FILE", type=Path, help="a sidecar, or its session")
    changes.add_argument("--json", action="store_true", help="print them as one JSON document")
    changes.add_argument(
        "--check",
        nargs="?",
        const="",
        metavar="DIR",
        help="compare each step with the files in DIR (default: the session's workspace, if that "
        "is the current folder or below it)",
    )
    what = changes.add_mutually_exclusive_group()
    what.add_argument(
        "--patch",
        action="store_true",
        help="print one patch for git apply on the files as they were before the session",
    )
    what.add_argument(
        "--restore",
        type=Path,
        metavar="NEWDIR",
        help="write the files as the session left them into a new folder",
    )
    changes.add_argument(
        "--only",
        choices=["missing"],
        help="of the patch: what --check does not find, for the files as they are",
    )
    changes.add_argument(
        "--until", type=int, metavar="STEP", help="of the patch: no step after this one"
    )
    changes.add_argument("--file", metavar="PATH", dest="path", help="of the patch: only this file")
    changes.add_argument(
        "--with-in-flight",
        action="store_true",
        help="of the patch: also the steps that had no result when the record ended",
    )
    changes.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from presentview.sessionchanges import changes_of

    if not options.patch and (options.only or options.until is not None or options.path):
        raise ConfigError("--only, --until and --file are about a patch: add --patch")
    with closing(opened(options.file)) as follower:
        changes = changes_of(follower)
        if options.patch:
            return _patch(options, changes)
        if options.restore is not None:
            return _restore(options, changes)
        return _list(options, changes)


# listing and checking


def _list(options: argparse.Namespace, changes: SessionChanges) -> int:
    from presentview.changelisting import change_lines, changes_json
    from presentview.transcript.changes.verdicts import exit_code

    steps = changes.steps.steps
    verdicts: dict[int, StepVerdict] = {}
    if options.check is not None:
        judge = _judge(options, changes)
        verdicts = {step.number: judge.verdict(step) for step in steps}
    if options.json:
        sys.stdout.buffer.write(changes_json(changes, verdicts) + b"\n")
    else:
        for line in change_lines(changes, verdicts, checked=options.check is not None):
            print(printable(line))
    applied = (verdicts[step.number] for step in steps if step.took_effect and verdicts)
    return exit_code(applied)


def _judge(options: argparse.Namespace, changes: SessionChanges) -> Judge:
    from presentview.transcript.changes.playback import Playback
    from presentview.transcript.changes.verdicts import Judge
    from presentview.worktree import Worktree

    root = _workspace(options, changes)
    steps = changes.steps
    playback = Playback(steps.steps, steps, steps.readings, in_flight=True)
    return Judge(playback, steps, Worktree(root).look)


def _workspace(options: argparse.Namespace, changes: SessionChanges) -> Path:
    """The folder to compare with: the one a session names only if the person is in it or above."""
    from presentview.workspaces import Workspaces

    if options.check:
        given = Path(options.check)
        if not given.is_dir():
            raise ConfigError(f"{given} is no folder")
        return given
    named = changes.workspace
    found = Workspaces((Path.cwd(),)).of(named)
    if found is not None:
        return found
    where = printable(named) if named else "DIR"
    said = f"the session says that it worked in {where}" if named else "the session names no folder"
    raise ConfigError(f"{said}; to compare with it, name it: --check {where}")


# saving


def _patch(options: argparse.Namespace, changes: SessionChanges) -> int:
    from presentview.transcript.changes.names import normal_path
    from presentview.transcript.changes.patching import composed
    from presentview.transcript.changes.playback import Playback

    last = options.until if options.until is not None else sys.maxsize
    steps = changes.steps
    chosen = [step for step in steps.steps if step.number <= last and _counts(options, step)]
    path = normal_path(options.path, changes.workspace) if options.path else ""
    if options.only:
        made = _missing(options, changes, chosen, path)
    else:
        playback = Playback(chosen, steps, steps.readings, in_flight=options.with_in_flight)
        made = composed(playback, lambda trace: not path or path in (trace.path, trace.edit.source))
    return _print_patch(made, changes)


def _counts(options: argparse.Namespace, step: Step) -> bool:
    return step.took_effect or (step.in_flight and options.with_in_flight)


def _missing(
    options: argparse.Namespace, changes: SessionChanges, chosen: Iterable[Step], path: str
) -> Composed:
    from presentview.transcript.changes.missing import missing
    from presentview.transcript.changes.playback import Playback

    judge = _judge(options, changes)
    steps = changes.steps
    playback = Playback(steps.steps, steps, steps.readings)
    return missing(playback, steps, judge, chosen, path)


def _print_patch(made: Composed, changes: SessionChanges) -> int:
    sys.stdout.flush()
    sys.stdout.buffer.write(made.text.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()
    if changes.gap:
        _say(f"{_not_recorded()}: {changes.gap}")
    for one in made.left_out:
        _say(f"step {one.step} is left out, because of {one.path}: {one.reason}")
    if not made.text and not made.left_out:
        _say("there is nothing to write")
    return 1 if made.left_out else 0


def _restore(options: argparse.Namespace, changes: SessionChanges) -> int:
    from presentview.restoring import restore
    from presentview.transcript.changes.playback import Playback

    steps = changes.steps
    playback = Playback(steps.steps, steps, steps.readings)
    partly = 0
    for file in restore(playback, options.restore, changes.workspace):
        if file.missing:
            partly += 1
            where = f" (as {file.written})" if file.written else ", not written"
            print(printable(f"{file.path}{where}: missing: {'; '.join(file.missing)}"))
        else:
            print(printable(file.path))
    if changes.gap:
        _say(f"{_not_recorded()}: {changes.gap}")
    return 1 if partly else 0


def _not_recorded() -> str:
    from presentview.sessionchanges import NOT_RECORDED

    return NOT_RECORDED


def _say(text: str) -> None:
    print(printable(text), file=sys.stderr)

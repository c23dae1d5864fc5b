"""A session that edits files for real, so that what is known of them can be compared with them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from presentview.records import FileDiff, Kind, Record, Tool
from presentview.transcript.cards import Part, Place
from presentview.transcript.changes.edits import Lines
from presentview.transcript.changes.playback import Playback
from presentview.transcript.changes.step import Source
from presentview.transcript.changes.steps import Steps
from presentview.transcript.fold import Transcript

__all__ = ["Story", "git_diff", "unified"]

NO_NEWLINE = "\\ No newline at end of file\n"


def unified(old: Lines, new: Lines, context: int = 3) -> str:
    """The hunks between two files as git writes them."""
    text = ""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        first, last = group[0], group[-1]
        old_count, new_count = last[2] - first[1], last[4] - first[3]
        old_start = first[1] + (old_count > 0)
        new_start = first[3] + (new_count > 0)
        text += f"@@ -{old_start},{old_count} +{new_start},{new_count} @@\n"
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                text += "".join(map(_row, " " * (old_to - old_from), old[old_from:old_to]))
                continue
            text += "".join(map(_row, "-" * (old_to - old_from), old[old_from:old_to]))
            text += "".join(map(_row, "+" * (new_to - new_from), new[new_from:new_to]))
    return text


def _row(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{NO_NEWLINE}"


def git_diff(
    path: str, old: Lines | None, new: Lines | None, context: int = 3, *, was: str = ""
) -> str:
    """A diff of one file as git writes it; None: no such file, `was`: its name before."""
    before = was or path
    head = f"diff --git a/{before} b/{path}\n"
    if old is None:
        head += "new file mode 100644\n"
    if new is None:
        head += "deleted file mode 100644\n"
    if was:
        head += f"rename from {was}\nrename to {path}\n"
    hunks = unified(old or (), new or (), context)
    if not hunks:
        return head
    names = (f"a/{before}" if old is not None else "/dev/null", f"b/{path}")
    after = names[1] if new is not None else "/dev/null"
    return f"{head}--- {names[0]}\n+++ {after}\n{hunks}"


class Story:
    """The records of a session in which calls edit files."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.calls = 0

    def add(self, *records: Record) -> None:
        """Add records as they are."""
        self.records += records

    def dispatch(
        self, diff: str = "", args: Any = None, name: str = "edit_file", parent: str = ""
    ) -> str:
        """A call that was sent, with the diff that its server told; its id."""
        self.calls += 1
        call = f"{parent}/e{self.calls}" if parent else f"e{self.calls}"
        counts = diff.count("\n+") - diff.count("\n+++"), diff.count("\n-") - diff.count("\n---")
        tool = Tool(
            id=call,
            name=name,
            args=args if isinstance(args, str) else json.dumps(args or {"path": "f"}),
            file_diff=FileDiff(diff, *counts) if diff else None,
            parent_id=parent,
        )
        self.add(Record(Kind.TOOL_DISPATCH, tool=tool))
        return call

    def result(self, call: str, output: str = "ok", err: str = "") -> None:
        """The result of a call."""
        self.add(Record(Kind.TOOL_RESULT, tool=Tool(id=call, output=output, err=err)))

    def edit(self, diff: str = "", args: Any = None, name: str = "edit_file") -> str:
        """A call that edits and is done; its id."""
        call = self.dispatch(diff, args, name)
        self.result(call)
        return call

    def steps(self, *, alive: bool = False, workspace: str = "") -> Steps:
        """The steps of what was recorded so far."""
        return Steps([source(self.records)], alive=alive, workspace=workspace)

    def play(self, *, in_flight: bool = False) -> Playback:
        """The steps, played."""
        steps = self.steps()
        return Playback(steps.steps, steps, steps.readings, in_flight=in_flight)


def source(records: Sequence[Record]) -> Source:
    """Records as the part of a file that was read."""

    def read(part: Part) -> Record | None:
        return part if isinstance(part, Record) else records[part.offset]

    transcript = Transcript()
    feed(transcript, records)
    return Source(transcript, read)


def feed(transcript: Transcript, records: Iterable[Record]) -> None:
    """Give records to a transcript, each at the place of its number."""
    for index, record in enumerate(records):
        transcript.apply(record, Place(index, 1, index + 1))

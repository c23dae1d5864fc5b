"""The edits of one session: from its sidecar, and whether that has all of them."""

from __future__ import annotations

import sys
from typing import NamedTuple

from presentview.follow import Follower
from presentview.keeping import Kept, changes_path, decode_kept, read_kept
from presentview.openfile import read_at
from presentview.records import Header, Record
from presentview.sidecar import NO_HEADER
from presentview.transcript.cards import Part, Place, ToolCard
from presentview.transcript.changes.step import About, Source
from presentview.transcript.changes.steps import Steps
from presentview.transcript.fold import Transcript

__all__ = ["NOT_RECORDED", "SessionChanges", "changes_of"]

NOT_RECORDED = "edits before this point are not recorded"
"""What is said wherever edits are, or may be, missing."""


class SessionChanges(NamedTuple):
    """The steps of a session. `gap` says why edits in front of the first step may be missing, empty
    if none is; `workspace` is the folder that the session says it worked in.
    """

    steps: Steps
    gap: str
    workspace: str

    @property
    def complete(self) -> bool:
        """Whether every edit of the session is recorded."""
        return not self.gap


def changes_of(
    follower: Follower,
    seen: dict[object, About] | None = None,
    *,
    longest: int = sys.maxsize,
) -> SessionChanges:
    """The edits of a session as it was last looked at; `seen` as in `Steps`. Of records of more
    than `longest` bytes it is only known that they are there.
    """

    def read(part: Part) -> Record | None:
        if isinstance(part, Place) and part.length > longest:
            return None
        return follower.record(part)

    header = follower.header
    earlier = _Earlier(follower) if _dropped(header) else None
    sources = [Source(follower.transcript, read)]
    if earlier is not None:
        sources.insert(0, earlier.source)
    steps = Steps(sources, alive=follower.alive, workspace=header.workspace, seen=seen)
    return SessionChanges(steps, _gap(follower, header, earlier), header.workspace)


class _Earlier:
    """What was kept of the edits that have left the sidecar: `source` reads it from its file, and
    `lines` counts it. `problem` says why it cannot be read.
    """

    def __init__(self, follower: Follower) -> None:
        self._path = changes_path(follower.path)
        self.lines = 0
        self.problem = ""
        transcript, turns = Transcript(), dict[int, int]()
        try:
            for record, offset, length in read_kept(self._path, follower.header.started_at):
                self.lines += 1
                if not _stays(follower.transcript, record):
                    turns[offset] = record.turn
                    transcript.feed(record, offset, length, 0)
        except OSError as error:
            self.problem = f"{self._path.name} cannot be read: {error.strerror}"
        self.source = Source(transcript, self._record, turns)

    def _record(self, part: Part) -> Record | None:
        if isinstance(part, Record):
            return part
        try:
            with open(self._path, "rb") as file:
                return decode_kept(read_at(file.fileno(), part.length, part.offset))
        except OSError:
            return None


def _stays(transcript: Transcript, record: Kept) -> bool:
    """Whether a kept record is in the sidecar still: its recorder died before it could drop it."""
    card = transcript.card(f"c{record.card}")
    return isinstance(card, ToolCard) and record.tool is not None and card.call == record.tool.id


def _dropped(header: Header) -> bool:
    return header.turns_dropped > 0 or header.cards_dropped > 0 or header.rewrite_version > 0


def _gap(follower: Follower, header: Header, earlier: _Earlier | None) -> str:
    if header.edits_kept < 0 or header.edits_kept < header.cards_dropped:
        return "a compaction dropped turns without keeping their edits"
    if header.rewrite_version > 0 and not header.writer:
        return "the session was rewritten, and its recorder may have dropped earlier turns"
    if earlier is not None and earlier.problem:
        return earlier.problem
    if earlier is not None and earlier.lines < header.edit_lines:
        return "what was kept of them is not beside the sidecar any more"
    if not header.cards_dropped and _begins_inside(follower.transcript):
        return "the record begins in the middle of a turn"
    if any(not problem.reason.startswith(NO_HEADER) for problem in follower.problems):
        return "a part of the record cannot be read"
    return ""


def _begins_inside(transcript: Transcript) -> bool:
    """Whether calls stand in front of the first turn, as they do where a turn's start is gone."""
    first = transcript.cards[:1]
    return any(card.kind == "tool" and card.turn == transcript.turns[0].number for card in first)

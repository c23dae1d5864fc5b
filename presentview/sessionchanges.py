"""The edits of one session: from its sidecar, and whether that has all of them."""

from __future__ import annotations

from typing import NamedTuple

from presentview.follow import Follower
from presentview.records import Header
from presentview.sidecar import NO_HEADER
from presentview.transcript.changes.step import Source
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
    follower: Follower, seen: dict[object, tuple[str, ...]] | None = None
) -> SessionChanges:
    """The edits of a session as it was last looked at; `seen` as in `Steps`."""
    header = follower.header
    sources = [Source(follower.transcript, follower.record)]
    steps = Steps(sources, alive=follower.alive, workspace=header.workspace, seen=seen)
    return SessionChanges(steps, _gap(follower, header), header.workspace)


def _gap(follower: Follower, header: Header) -> str:
    if header.turns_dropped > 0 or header.cards_dropped > 0:
        return "earlier turns were dropped when the session was compacted"
    if header.rewrite_version > 0:
        return "the session was rewritten, and its recorder may have dropped earlier turns"
    if _begins_inside(follower.transcript):
        return "the record begins in the middle of a turn"
    if any(not problem.reason.startswith(NO_HEADER) for problem in follower.problems):
        return "a part of the record cannot be read"
    return ""


def _begins_inside(transcript: Transcript) -> bool:
    """Whether calls stand in front of the first turn, as they do where a turn's start is gone."""
    return any(card.turn == 0 and card.kind == "tool" for card in transcript.cards[:1])

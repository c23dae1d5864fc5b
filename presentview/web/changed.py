"""The steps of a session as its pages draw them, found once for what its files hold."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from presentview.keeping import changes_path
from presentview.limits import CHANGES_KEPT, PLAYED_KEPT, PLAYED_RECORD_BYTES, PLAYERS_KEPT
from presentview.sessionchanges import SessionChanges, changes_of
from presentview.transcript.changes.edits import FileEdit
from presentview.transcript.changes.families import Families
from presentview.transcript.changes.player import Player
from presentview.transcript.changes.step import About, Order, Step
from presentview.transcript.fold import Transcript
from presentview.web.feeds import Feed

__all__ = ["Changed", "changed"]

T = TypeVar("T")


class Changed:
    """The steps of a session, and the players of those files that somebody looks at."""

    def __init__(self, feed: Feed, before: Changed | None = None) -> None:
        """`before` is what was known when less was recorded."""
        self.seen: dict[object, About] = before.seen if before else {}
        self.changes: SessionChanges = changes_of(
            feed.follower, self.seen, longest=PLAYED_RECORD_BYTES
        )
        self.players: OrderedDict[frozenset[str], Player] = OrderedDict()
        self._kept: OrderedDict[Hashable, tuple[object, Any]] = OrderedDict()
        self._edits: tuple[int, tuple[FileEdit, ...]] | None = None
        if before is not None:
            self._take_over(before)

    @property
    def steps(self) -> list[Step]:
        """The steps, in order of effect."""
        return self.changes.steps.steps

    @cached_property
    def families(self) -> Families:
        """Which files have to be played together."""
        return Families(self.steps)

    @cached_property
    def by_card(self) -> dict[str, Step]:
        """The steps whose calls have a card in the transcript, by its id."""
        return {step.card: step for step in self.steps if step.card}

    def edits(self, step: Step) -> tuple[FileEdit, ...]:
        """What a step did to each of its files."""
        if self._edits is None or self._edits[0] != step.number:
            self._edits = (step.number, self.changes.steps.edits(step))
        return self._edits[1]

    def told(self, step: Step) -> Order:
        """When the edits of a step were told."""
        return self.changes.steps.told(step)

    def kept(self, what: object, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` made of `what` under a key, made anew only if it was forgotten."""
        full = (id(what), key)
        known = self._kept.pop(full, None)
        if known is None:
            # Held together, for another thing may get the id of one that is gone.
            known = (what, make())
        self._kept[full] = known
        if len(self._kept) > PLAYERS_KEPT:
            self._kept.popitem(last=False)
        found: T = known[1]
        return found

    def player(self, path: str) -> Player:
        """What plays the file at a path, from where it was left."""
        paths = self.families.of(path)
        player = self.players.pop(paths, None)
        if player is None:
            steps = self.changes.steps
            player = Player(paths, self.families.steps(path), self, steps.readings)
        self.players[paths] = player
        self._forget()
        return player

    def _take_over(self, before: Changed) -> None:
        steps = self.changes.steps
        for paths, player in before.players.items():
            path = next(iter(paths))
            if self.families.of(path) == paths and player.goes_on(
                self.families.steps(path), self, steps.readings
            ):
                self.players[paths] = player

    def _forget(self) -> None:
        """Drop what was not looked at for long, where too much is held."""
        held = sum(player.progress.played for player in self.players.values())
        while len(self.players) > 1 and (held > PLAYED_KEPT or len(self.players) > PLAYERS_KEPT):
            _, oldest = self.players.popitem(last=False)
            held -= oldest.progress.played


class _Kept(NamedTuple):
    """The steps of a session, and what it was like when they were found."""

    transcript: Transcript
    version: Hashable
    found: Changed


_kept: OrderedDict[str, _Kept] = OrderedDict()
_lock = threading.Lock()


def changed(feed: Feed) -> Changed:
    """The steps of a session; the same as before while its files hold the same. To be called
    with the follower's `reading` held.
    """
    transcript = feed.transcript
    version = (feed.version, feed.follower.alive, _kept_size(feed))
    with _lock:
        kept = _kept.get(feed.ref.id)
    before = kept.found if kept is not None and kept.transcript is transcript else None
    if kept is None or before is None or kept.version != version:
        kept = _Kept(transcript, version, Changed(feed, before))
    with _lock:
        _kept[feed.ref.id] = kept
        _kept.move_to_end(feed.ref.id)
        while len(_kept) > CHANGES_KEPT:
            _kept.popitem(last=False)
    return kept.found


def _kept_size(feed: Feed) -> int:
    """How much was kept of edits that left the session's file."""
    try:
        return changes_path(feed.follower.path).stat().st_size
    except OSError:
        return -1

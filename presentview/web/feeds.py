"""What a page of one session shows, and how that changes: snapshots and batches of patches.

Every batch has a position; the next batch says which one it follows. A page that has seen
everything up to a position applies what follows it, and one that missed something asks for what
lies between, or takes a new snapshot.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from markupsafe import Markup

from presentview.follow import What
from presentview.limits import DOM_DEPTH, PATCH_LOG
from presentview.sessionfiles import Parts, follow, parts_of
from presentview.sessions import SessionRef
from presentview.transcript.cards import Card, Change
from presentview.transcript.fold import Transcript
from presentview.transcript.tree import condensed
from presentview.units import path_text
from presentview.web.apart import Apart
from presentview.web.attachments import SessionFiles
from presentview.web.cards import CardRenderer
from presentview.web.kin import kin_of
from presentview.web.overview import Head, head_of, outline_item, summary_of, vitals_of
from presentview.web.reading import Reader
from presentview.web.rows import Row, Rows
from presentview.web.templating import render
from presentview.web.views import View

__all__ = ["Batch", "BatchLog", "Feed", "Op", "Snapshot"]

PROBLEMS_SHOWN: Final = 50


class Op(msgspec.Struct, frozen=True):
    """One change to a page: the element `id` is added to `parent` (in front of `before`),
    replaced (keeping what is nested in it, unless `deep`), moved or removed.
    """

    op: str
    id: str = ""
    parent: str = ""
    before: str = ""
    html: str = ""
    deep: bool = False


class Batch(msgspec.Struct, frozen=True):
    """Changes that bring a page from position `prev` to `pos`."""

    prev: str
    pos: str
    ops: tuple[Op, ...]


class Snapshot(msgspec.Struct, frozen=True):
    """Everything a page shows at position `pos`, as HTML for the elements of these ids."""

    pos: str
    regions: Mapping[str, str]


class BatchLog:
    """The last batches of one page. `epoch` is new with each run of the server."""

    def __init__(self, epoch: str) -> None:
        self._epoch = epoch
        self._count = 0
        self._batches: deque[Batch] = deque(maxlen=PATCH_LOG)

    @property
    def position(self) -> str:
        """The position of a page that shows everything up to now."""
        return f"{self._epoch}.{self._count}"

    def add(self, ops: Sequence[Op]) -> Batch:
        """Note changes and return them as the next batch."""
        previous = self.position
        self._count += 1
        batch = Batch(previous, self.position, tuple(ops))
        self._batches.append(batch)
        return batch

    def since(self, position: str) -> list[Batch] | None:
        """The batches after `position`, None if they are not all there any more."""
        if position == self.position:
            return []
        found = [i for i, batch in enumerate(self._batches) if batch.prev == position]
        batches = list(self._batches)[found[0] :] if found else []
        if not batches or any(op.op == "reset" for batch in batches for op in batch.ops):
            return None
        return batches


class Feed:
    """One session as its pages see it.

    `look` and `snapshot` do the work and may take long: call them in a thread, one at a time.
    Until there is a snapshot no page shows anything, and no change to it is worth drawing.
    """

    def __init__(
        self,
        ref: SessionRef,
        epoch: str,
        allowed: Iterable[Path] = (),
        apart: Apart | None = None,
        known: Callable[[], Mapping[str, SessionRef]] = dict,
    ) -> None:
        """Files below the `allowed` folders may be shown as attachments too; long records are
        read `apart`. Other sessions are linked if they are `known`.
        """
        self.ref = ref
        self._known = known
        self.files = SessionFiles(ref.path, allowed)
        self._apart = apart
        self._follow(parts_of(ref.path))
        self.log = BatchLog(epoch)
        self._rows = Rows()
        # What a page at the log's position shows beside the cards; None while there is no page.
        self._regions: dict[str, Markup] | None = None

    def _follow(self, parts: Parts) -> None:
        """Follow the session's files anew: there are others than before."""
        self._parts = parts
        read_long = self._apart.pieces if self._apart else None
        self.follower = follow(self.ref.path, parts, read_long=read_long)
        self.reader = Reader(self.follower, self.files, self._apart)
        self.renderer = CardRenderer(self.follower, self.ref.id, self.reader)

    @property
    def transcript(self) -> Transcript:
        """The session's transcript; hold the follower's `reading` while working with it."""
        return self.follower.transcript

    @property
    def version(self) -> tuple[int, int]:
        """Stands for what the file held at the last look."""
        return self.follower.size, self.follower.changed_at

    def row(self, view: View) -> Row:
        """The cards of a view."""
        return self._rows.of(view, self.transcript, alive=self.follower.alive)

    def look(self) -> Batch | None:
        """Read on in the file and return the changes to the page, None if there are none."""
        parts = parts_of(self.ref.path)
        changed = parts != self._parts
        if changed:
            self.follower.close()
            self._follow(parts)
        follower = self.follower
        with follower.reading:
            update = follower.refresh()
            is_another = changed or update.what in (What.RESET, What.GONE)
            if is_another:
                self._rows.reset()
            elif update.changes:
                self._rows.take(update.changes, follower.transcript)
            if self._regions is None:
                return None
            changes = condensed(list(update.changes))
            ops = None if is_another else self._card_ops(changes)
            if ops is None:
                self._regions = None
                self.renderer.has_flattened = False
                return self.log.add([Op("reset")])
            ops += self._frame_ops()
            ops += self._outline_ops(update.turns)
            return self.log.add(ops) if ops else None

    def frame(self) -> Snapshot:
        """What the page shows now beside the cards and the outline."""
        with self.follower.reading:
            frame = self._frame()
            self._regions = frame | self._outline(self._recent_turns())
            return Snapshot(self.log.position, dict(frame))

    def head(self) -> Head:
        """The top bar."""
        with self.follower.reading:
            return head_of(self.follower, summary_of(self.follower))

    def problems(self) -> Markup:
        """The notes about the file: which sessions it has to do with, what could not be read,
        and what is waited for.
        """
        follower = self.follower
        notes = [] if follower.exists else [f"Waiting for {path_text(follower.path)}"]
        notes += follower.notes
        problems = follower.problems
        files = {path: number for number, path in enumerate(follower.paths)}
        return render(
            "_problems.html",
            kin=kin_of(self.ref, self._known(), self.transcript),
            notes=notes,
            problems=problems[:PROBLEMS_SHOWN],
            problem_count=len(problems),
            files=files,
            session=self.ref.id,
        ).strip()

    def _frame(self) -> dict[str, Markup]:
        """The parts of the page that are small enough to be drawn anew each time."""
        summary = summary_of(self.follower)
        head = head_of(self.follower, summary)
        vitals = vitals_of(self.follower.tally, summary)
        return {
            "head": render("_head.html", head=head).strip(),
            "vitals": render("_vitals.html", vitals=vitals).strip(),
            "problems": self.problems(),
        }

    def _frame_ops(self) -> list[Op]:
        return [Op("replace", name, html=html) for name, html in self._news(self._frame())]

    def _outline(self, numbers: Iterable[int]) -> dict[str, Markup]:
        """The outline's items for the turns of these numbers, by their ids."""
        turns = self.follower.transcript.turns
        items = {f"o{n}": outline_item(turns[n - turns[0].number]) for n in numbers}
        return {name: html for name, html in items.items() if html}

    def _recent_turns(self) -> list[int]:
        """The turns whose items in the outline are remembered: most changes are to them, and all
        would be a page of their own.
        """
        return [turn.number for turn in self.transcript.turns[-3:]]

    def _outline_ops(self, numbers: Iterable[int]) -> list[Op]:
        items = self._outline(sorted(numbers))
        news = self._news(items)
        assert self._regions is not None
        for name in items.keys() - {f"o{number}" for number in self._recent_turns()}:
            del self._regions[name]
        return [Op("add", name, parent="outline", html=html) for name, html in news]

    def _news(self, drawn: dict[str, Markup]) -> list[tuple[str, Markup]]:
        """What of this the page does not show yet."""
        shown = self._regions
        assert shown is not None
        news = [(name, html) for name, html in drawn.items() if shown.get(name) != html]
        shown.update(news)
        return news

    def _card_ops(self, changes: Sequence[Change]) -> list[Op] | None:
        """The changes to the cards, each drawn as it is now; None if that needs a new page.

        Cards are put in their places first and drawn anew then: what is nested in a card has to
        be where it belongs before the card around it says so.
        """
        transcript = self.follower.transcript
        placed: list[Op] = []
        drawn: list[Op] = []
        deep: dict[str, Card] = {}
        for change in changes:
            card = transcript.card(change.card or "")
            if card is None:
                continue
            if change.op == "move" and self._leaves_its_row(card):
                return None
            outer = _drawn_in(card)
            if outer is not None:
                deep[outer.id] = outer
            elif change.op == "replace":
                drawn.append(Op("replace", card.id, html=self.renderer.shell(card)))
            else:
                html = "" if change.op == "move" else self.renderer.shell(card)
                parent, before = change.parent or "cards", change.before or ""
                placed.append(Op(change.op, card.id, parent, before, html))
        drawn += (
            Op("replace", outer.id, html=self.renderer.whole([outer]), deep=True)
            for outer in deep.values()
        )
        return placed + drawn

    def _leaves_its_row(self, card: Card) -> bool:
        """Whether a card that moved, or one nested in it, stands or may have stood among those
        that are too deep for a place of their own.
        """
        return self.renderer.has_flattened or card.depth + _height(card) >= DOM_DEPTH


def _drawn_in(card: Card) -> Card | None:
    """The card in which one nested deeper than pages nest is drawn, None for others."""
    line = list(card.ancestors())
    return line[len(line) - DOM_DEPTH] if len(line) >= DOM_DEPTH else None


def _height(card: Card) -> int:
    """How many cards deep the nesting in a card is."""
    height, level = 0, card.children or []
    while level:
        height += 1
        level = [inner for child in level for inner in child.children or ()]
    return height


def batches_json(session: str, batches: Iterable[Batch]) -> list[dict[str, Any]]:
    """Batches as values for JSON, each with the page it belongs to."""
    return [
        {"s": session, "prev": b.prev, "pos": b.pos, "ops": [_op_json(op) for op in b.ops]}
        for b in batches
    ]


def _op_json(op: Op) -> dict[str, Any]:
    values = {name: getattr(op, name) for name in op.__struct_fields__}
    return {name: value for name, value in values.items() if value}

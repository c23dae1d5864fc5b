"""Cards as HTML: the same bytes for a page that is opened and for a patch to one that is live."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from presentview.follow import Follower
from presentview.limits import DOM_DEPTH, PREVIEW_BYTES
from presentview.records import Attachment
from presentview.transcript.cards import Card, Place, ToolCard
from presentview.transcript.export import call_texts
from presentview.web.bodies import Body, body_of, has_body
from presentview.web.faces import face_of, usage_parts
from presentview.web.templating import render
from presentview.web.waterfall import waterfall

__all__ = ["CardRenderer"]


class CardRenderer:
    """Draws the cards of one session, whose id is part of their addresses.

    `has_flattened` says that some were too deep to be drawn inside the card they belong to. The
    transcript must not change meanwhile: hold the follower's `reading`.
    """

    def __init__(self, follower: Follower, session: str) -> None:
        self._follower = follower
        self._session = session
        self.has_flattened = False

    def all(self) -> Markup:
        """Every card, nested ones inside their parents."""
        return self._siblings(self._follower.transcript.cards)

    def tree(self, card: Card) -> Markup:
        """One card with everything nested in it."""
        return self._siblings([card], card.depth)

    def shell(self, card: Card) -> Markup:
        """One card with its place for nested cards left empty."""
        return self._one(card, Markup("") if card.children else None)

    def body(self, card: Card) -> Markup:
        """What opening the card shows."""
        return render(
            "body/_body.html", body=self._body(card), session=self._session, card_id=card.id
        )

    def raw(self, card: Card) -> str:
        """The card's first record as it stands in the file, as far as a page shows it."""
        part = card.parts[0] if card.parts else None
        if not isinstance(part, Place):
            return ""
        return self._follower.raw(part)[: 4 * PREVIEW_BYTES].decode("utf-8", "replace")

    def attachments(self, card: Card) -> tuple[Attachment, ...]:
        """The files a card names."""
        if not isinstance(card, ToolCard):
            return ()
        return call_texts(card, self._follower.record).attachments

    def _siblings(self, cards: Iterable[Card], depth: int = 0) -> Markup:
        """Cards that stand `depth` deep, with all that is nested in them, without recursion
        however deep that is.
        """
        # Each frame holds cards still to draw and the HTML of those already drawn.
        stack: list[tuple[list[Card], list[Markup], Card | None]] = [(list(cards)[::-1], [], None)]
        while True:
            waiting, drawn, owner = stack[-1]
            if waiting:
                card = waiting.pop()
                nested = self._nested(card, depth + len(stack))
                if nested:
                    stack.append((nested[::-1], [], card))
                else:
                    drawn.append(self.shell(card))
                continue
            html = Markup("").join(drawn)
            stack.pop()
            if owner is None:
                return html
            stack[-1][1].append(self._one(owner, html))

    def _nested(self, card: Card, level: int) -> list[Card]:
        """What is drawn inside a card: its children, or at the deepest level all its
        descendants in a row.
        """
        if level < DOM_DEPTH:
            return card.children or []
        if level > DOM_DEPTH:
            return []
        found: list[Card] = []
        stack = (card.children or [])[::-1]
        self.has_flattened |= bool(stack)
        while stack:
            inner = stack.pop()
            found.append(inner)
            stack += reversed(inner.children or [])
        return found

    def _one(self, card: Card, nested: Markup | None) -> Markup:
        transcript = self._follower.transcript
        alive = self._follower.alive
        face = face_of(card, alive=alive)
        turn = transcript.turn_of(card)
        shows = has_body(card)
        return render(
            face.template,
            face=face,
            card=card,
            turn=turn,
            session=self._session,
            body=self._body(card) if shows and face.is_open else None,
            has_body=shows,
            nested=nested,
            usage=usage_parts(card) if card.kind == "usage" else (),  # type: ignore[arg-type]
            waterfall=waterfall(card) if isinstance(card, ToolCard) else (),
            alive=alive,
        ).strip()

    def _body(self, card: Card) -> Body:
        raw = self.raw(card) if card.kind in ("unknown", "collab") else ""
        return body_of(card, self._follower.record, raw)

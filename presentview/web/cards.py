"""Cards as HTML: the same bytes for a page that is opened and for a patch to one that is live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup
from msgspec.structs import replace

from presentview.follow import Follower
from presentview.limits import DOM_DEPTH, KIDS_CARDS
from presentview.transcript.cards import Card, ToolCard
from presentview.transcript.tree import in_page_order
from presentview.web.attachments import SessionFiles
from presentview.web.bodies import Body, has_body
from presentview.web.faces import Face, face_of, usage_parts
from presentview.web.reading import Reader
from presentview.web.templating import render
from presentview.web.waterfall import waterfall

__all__ = ["CardRenderer"]


class _Nested(NamedTuple):
    """What is drawn inside a card, and how many of its children before and after are left out."""

    cards: Sequence[Card]
    before: int = 0
    after: int = 0


_NOTHING = _Nested(())


class CardRenderer:
    """Draws the cards of one session, whose id is part of their addresses.

    `has_flattened` says that some were too deep to be drawn inside the card they belong to. The
    transcript must not change meanwhile: hold the follower's `reading`.
    """

    def __init__(self, follower: Follower, session: str, reader: Reader | None = None) -> None:
        """Draw what `reader` reads."""
        self._reader = reader or Reader(follower, SessionFiles(follower.session_path))
        self._follower = follower
        self._session = session
        self.has_flattened = False

    def whole(self, cards: Sequence[Card]) -> Markup:
        """Cards that stand side by side with everything nested in them."""
        return self._siblings(cards, lambda card, level: _Nested(self._inner(card, level)))

    def row(self, cards: Sequence[Card], target: Card | None = None) -> Markup:
        """Cards that stand side by side, with what is nested in those that are open; `target`
        and what it is nested in count as open.
        """
        opened = {target, *target.ancestors()} if target else set()

        def nested(card: Card, level: int) -> _Nested:
            found = self._inner(card, level)
            if found and card not in opened and not self._is_open(card):
                return _Nested((), after=len(found))
            inside = next((i for i, inner in enumerate(found) if inner in opened), 0)
            return _cut(found, inside)

        return self._siblings(cards, nested)

    def kids(self, card: Card, at: Card | None) -> Markup:
        """Some of the cards nested in a card: those around `at`, or the first."""
        found = self._inner(card, card.depth + 1)
        around = _cut(found, found.index(at) if at in found else 0)
        return self._links(card, around, self.row(around.cards))

    def shell(self, card: Card) -> Markup:
        """One card with its place for nested cards left empty."""
        return self._one(card, Markup("") if card.children else None)

    def body(self, card: Card) -> Markup:
        """What opening the card shows."""
        return render(
            "body/_body.html", body=self._reader.body(card), session=self._session, card_id=card.id
        )

    def opened(self, card: Card, *, split: bool) -> Markup:
        """One card alone and open, its diff side by side if `split`."""
        body = self._reader.body(card, split=split) if has_body(card) else None
        return self._drawn(card, replace(self._face(card), is_open=True), body, None)

    def _siblings(self, cards: Sequence[Card], nested: Callable[[Card, int], _Nested]) -> Markup:
        """Cards that stand side by side with what is `nested` in them, without recursion however
        deep that is.
        """
        depth = cards[0].depth if cards else 0
        # Each frame holds cards still to draw and the HTML of those already drawn.
        stack: list[tuple[list[Card], list[Markup], Card | None, _Nested]] = [
            (list(cards)[::-1], [], None, _NOTHING)
        ]
        while True:
            waiting, drawn, owner, inside = stack[-1]
            if waiting:
                card = waiting.pop()
                inner = nested(card, depth + len(stack))
                if inner.cards:
                    stack.append((list(inner.cards)[::-1], [], card, inner))
                elif inner.after:
                    drawn.append(self._one(card, self._links(card, inner, Markup(""))))
                else:
                    drawn.append(self.shell(card))
                continue
            html = Markup("").join(drawn)
            stack.pop()
            if owner is None:
                return html
            stack[-1][1].append(self._one(owner, self._links(owner, inside, html)))

    def _links(self, owner: Card, inside: _Nested, html: Markup) -> Markup:
        """The HTML of some nested cards with links to those before and after them."""
        if not (inside.before or inside.after):
            return html
        siblings = self._inner(owner, owner.depth + 1)
        around = {
            "earlier": siblings[inside.before - 1] if inside.before else None,
            "later": siblings[-inside.after] if inside.after else None,
        }
        more = {
            side: render(
                "_more.html",
                session=self._session,
                owner=owner.id,
                at=card.id,
                side=side,
                is_rest=bool(html),
                count=inside.before if side == "earlier" else inside.after,
            ).strip()
            for side, card in around.items()
            if card is not None
        }
        return more.get("earlier", Markup("")) + html + more.get("later", Markup(""))

    def _is_open(self, card: Card) -> bool:
        return self._face(card).is_open

    def _inner(self, card: Card, level: int) -> Sequence[Card]:
        """What belongs inside a card on a page: its children, or at the deepest level all its
        descendants in a row.
        """
        children = card.children or ()
        if level < DOM_DEPTH:
            return children
        if level > DOM_DEPTH:
            return ()
        self.has_flattened |= bool(children)
        return list(in_page_order(children))

    def _one(self, card: Card, nested: Markup | None) -> Markup:
        face = self._face(card)
        body = self._reader.body(card) if has_body(card) and face.is_open else None
        return self._drawn(card, face, body, nested)

    def _face(self, card: Card) -> Face:
        return face_of(card, alive=self._follower.alive)

    def _drawn(self, card: Card, face: Face, body: Body | None, nested: Markup | None) -> Markup:
        transcript = self._follower.transcript
        turn = transcript.turn_of(card)
        return render(
            face.template,
            face=face,
            card=card,
            turn=turn,
            session=self._session,
            body=body,
            has_body=has_body(card),
            nested=nested,
            before=transcript.turn_before(card).at if card.kind == "prompt" else 0,
            longest=transcript.longest_in(turn) if card.kind == "usage" else None,
            usage=usage_parts(card) if card.kind == "usage" else (),  # type: ignore[arg-type]
            waterfall=waterfall(card) if isinstance(card, ToolCard) else None,
            alive=self._follower.alive,
        ).strip()


def _cut(cards: Sequence[Card], index: int) -> _Nested:
    """The stretch of `cards` around the one at `index` that is shown at once."""
    start = index - index % KIDS_CARDS
    shown = cards[start : start + KIDS_CARDS]
    return _Nested(shown, start, len(cards) - start - len(shown))

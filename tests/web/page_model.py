"""A page as a tree of elements, changed as static/live.js changes one.

The HTML of a page is kept as it was written, start tags and text alike, so that two pages can be
compared byte for byte. The parser takes nothing that a browser would have to repair.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html.parser import HTMLParser

from markupsafe import Markup

from presentview.web.feeds import Batch, Feed, Op, Snapshot
from presentview.web.overview import outline_item

__all__ = ["CARDS_AND_RAILS", "Element", "Page", "everything", "parse"]

CARDS_AND_RAILS = ("head", "problems", "vitals", "outline", "cards")
_LISTS = frozenset({"cards", "outline", "sessions"})
_VOID = frozenset({"br", "col", "hr", "img", "input"})
_OPEN = re.compile(r" open(?=[ >])")


class Element:
    """One element: its start tag as written, its attributes, and what it holds."""

    def __init__(self, tag: str, start: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.start = start
        self.attributes = attributes
        self.inner: list[Element | str] = []
        self.outer: Element | None = None

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def elements(self) -> list[Element]:
        return [part for part in self.inner if isinstance(part, Element)]

    def walk(self) -> Iterator[Element]:
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack += reversed(element.elements())

    def child(self, tag: str, css_class: str = "") -> Element | None:
        found = (e for e in self.elements() if e.tag == tag)
        return next((e for e in found if not css_class or css_class in e.classes), None)

    def append(self, part: Element | str) -> None:
        self.insert(part, None)

    def insert(self, part: Element | str, before: Element | None) -> None:
        if isinstance(part, Element):
            part.detach()
            part.outer = self
        at = len(self.inner) if before is None else self.inner.index(before)
        self.inner.insert(at, part)

    def detach(self) -> None:
        if self.outer is not None:
            self.outer.inner.remove(self)
            self.outer = None

    def replace_by(self, fresh: Element) -> None:
        assert self.outer is not None
        self.outer.insert(fresh, self)
        self.detach()

    def html(self, *, plain: bool = False) -> str:
        """The element as it was written; `plain` leaves out what scripts may change in a card."""
        written: list[str] = []
        stack: list[Element | str] = [self]
        while stack:
            part = stack.pop()
            if isinstance(part, str):
                written.append(part)
                continue
            written.append(_OPEN.sub("", part.start) if plain else part.start)
            if part.tag not in _VOID:
                stack.append(f"</{part.tag}>")
                if not (plain and "data-clock" in part.attributes):
                    stack += reversed(part.inner)
        return "".join(written)


class _Builder(HTMLParser):
    """Builds the tree; anything but balanced, properly ended elements is an error."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.root = Element("", "", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute stands twice in <{tag}>"
        start = self.get_starttag_text()
        assert start is not None
        element = Element(tag, start, {name: value or "" for name, value in attrs})
        self.open[-1].append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"<{tag}/> ends itself")

    def handle_endtag(self, tag: str) -> None:
        ended = self.open.pop()
        assert ended.tag == tag, f"</{tag}> where <{ended.tag}> is open"

    def handle_data(self, data: str) -> None:
        self.open[-1].append(data)

    def handle_entityref(self, name: str) -> None:
        self.open[-1].append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.open[-1].append(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl!r}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data!r}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data!r}")


def parse(html: str) -> list[Element]:
    """The elements of a fragment, of which nothing may be lost: it is written back the same."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert len(builder.open) == 1, f"<{builder.open[-1].tag}> is never ended"
    found = builder.root.elements()
    assert len(found) == len(builder.root.inner) or html.strip() != html
    assert "".join(e.html() for e in found) == html.strip()
    for element in found:
        element.outer = None
    return found


def _only(html: str) -> Element:
    (element,) = parse(html)
    return element


def everything(feed: Feed) -> Snapshot:
    """All there is to show of a session: what a page holds of it, it holds in pieces."""
    with feed.follower.reading:
        frame, transcript = feed.frame(), feed.transcript
        outline = Markup("").join(outline_item(turn) for turn in transcript.turns)
        cards = feed.renderer.whole(transcript.cards)
        return Snapshot(frame.pos, {**frame.regions, "outline": outline, "cards": cards})


class Page:
    """The page of a session (or the list), at the position of the snapshot it was made from."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.position = ""
        self.regions: dict[str, Element] = {}
        self.snapshots = -1
        self.take(snapshot)

    def take(self, snapshot: Snapshot) -> None:
        """Show everything anew."""
        self.snapshots += 1
        self.position = snapshot.pos
        self.regions = {}
        for name, html in snapshot.regions.items():
            region = Element("div", f'<div id="{name}">', {"id": name})
            if name in _LISTS:
                for element in parse(html):
                    region.append(element)
            else:
                region = _only(html)
            self.regions[name] = region

    def apply(self, batch: Batch) -> bool:
        """Apply a batch that follows the page's position; False if the page must be taken anew."""
        assert batch.prev == self.position
        for op in batch.ops:
            change: Callable[[Op], bool] | None = getattr(self, f"_{op.op}", None)
            if change is None or not change(op):
                return False
        self.position = batch.pos
        return True

    def find(self, wanted: str) -> Element | None:
        found = [
            element
            for region in self.regions.values()
            for element in region.walk()
            if element.attributes.get("id") == wanted
        ]
        assert len(found) < 2, f"{wanted} is there {len(found)} times"
        return found[0] if found else None

    def cards(self) -> dict[str, tuple[str, str]]:
        """Each card by its id: the id of what it stands in, and its HTML without what scripts
        change; in page order.
        """
        return {
            card.attributes["id"]: (_holder(card), card.html(plain=True))
            for card in self.regions["cards"].walk()
            if "card" in card.classes
        }

    def html(self, names: Sequence[str] = CARDS_AND_RAILS) -> dict[str, str]:
        """The regions of the page without what scripts change."""
        return {name: self.regions[name].html(plain=True) for name in names}

    # the operations

    def _container(self, wanted: str) -> Element | None:
        element = self.find(wanted)
        if element is None or "card" not in element.classes:
            return element
        details = element.child("details")
        if details is None:
            return None
        kids = details.child("div", "kids")
        if kids is None:
            kids = _only('<div class="kids"></div>')
            details.append(kids)
        return kids

    def _put(self, op: Op, element: Element) -> bool:
        parent = self._container(op.parent)
        before = self.find(op.before) if op.before else None
        if parent is None or (op.before and (before is None or before.outer is not parent)):
            return False
        parent.insert(element, before)
        return True

    def _add(self, op: Op) -> bool:
        fresh, old = _only(op.html), self.find(op.id)
        if old is None:
            return self._put(op, fresh)
        done = self._update(old, fresh, deep=False)
        return done and (op.parent == "outline" or self._put(op, fresh))

    def _replace(self, op: Op) -> bool:
        old = self.find(op.id)
        if old is None:
            return False
        if op.id in self.regions:
            self.regions[op.id] = _only(op.html)
            return True
        return self._update(old, _only(op.html), deep=op.deep)

    @staticmethod
    def _update(old: Element, fresh: Element, *, deep: bool) -> bool:
        mine, theirs = old.child("details"), fresh.child("details")
        if not deep and mine is not None and theirs is not None:
            kids, place = mine.child("div", "kids"), theirs.child("div", "kids")
            if kids is not None and kids.inner and place is None:
                return False
            for kid in kids.elements() if kids is not None else ():
                assert place is not None
                place.append(kid)
        old.replace_by(fresh)
        return True

    def _move(self, op: Op) -> bool:
        element = self.find(op.id)
        left = element.outer if element is not None else None
        if element is None or left is None or not self._put(op, element):
            return False
        if "kids" in left.classes and not left.inner:
            left.detach()
        return True

    def _remove(self, op: Op) -> bool:
        element = self.find(op.id)
        if element is not None:
            element.detach()
        return True


def _holder(card: Element) -> str:
    outer = card.outer
    while outer is not None and "id" not in outer.attributes:
        outer = outer.outer
    return outer.attributes["id"] if outer is not None else ""

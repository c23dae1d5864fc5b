"""Reads what the renderers write the way a browser would, strictly."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from typing import NamedTuple

VOID = {"br", "hr", "col"}
LINK = {"href", "rel", "target", "class"}


class Element(NamedTuple):
    tag: str
    attributes: dict[str, str | None]

    @property
    def classes(self) -> set[str]:
        return set((self.attributes.get("class") or "").split())


class Page(HTMLParser):
    """The elements and the text of some HTML. Raises `AssertionError` where it is not balanced.

    `text` leaves out what renderers add for the reader: the host of a link.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.text = ""
        self.comments: list[str] = []
        self._open: list[Element] = []
        self.feed(str(html))
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), f"attribute twice in {self.get_starttag_text()}"
        element = Element(tag, dict(attrs))
        self.elements.append(element)
        if "host" in element.classes:
            self.text = self.text.removesuffix(" ")
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop().tag == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if not any("host" in element.classes for element in self._open):
            self.text += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def handle_decl(self, decl: str) -> None:
        self.comments.append(decl)

    def unknown_decl(self, data: str) -> None:
        self.comments.append(data)

    def handle_pi(self, data: str) -> None:
        self.comments.append(data)

    @property
    def tags(self) -> Counter[str]:
        return Counter(element.tag for element in self.elements)

    @property
    def labels(self) -> list[str | None]:
        """The code points shown in place of unseen characters."""
        return [
            element.attributes["data-ch"] for element in self.elements if element.classes == {"ctl"}
        ]

    @property
    def links(self) -> list[str | None]:
        return [element.attributes["href"] for element in self.elements if element.tag == "a"]

    def assert_only(self, allowed: dict[str, set[str]]) -> None:
        """Check that there is nothing but the elements and attributes allowed."""
        assert not self.comments
        for element in self.elements:
            assert element.tag in allowed, element
            assert set(element.attributes) <= allowed[element.tag], element
            if element.tag == "a":
                assert_safe_link(element)


def assert_safe_link(element: Element) -> None:
    assert element.attributes["rel"] == "noopener noreferrer nofollow"
    assert element.attributes["target"] == "_blank"
    href = element.attributes["href"] or ""
    assert href.startswith(("http://", "https://", "mailto:")), href
    assert href.isascii()
    assert href.isprintable()


def in_document(text: str) -> str:
    """Return text with what cannot stand in HTML replaced, as the renderers do."""
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)

"""Messages, which are Markdown, as HTML.

The parser's HTML output is not used: its tokens are written out here, one kind after the other,
so that no tag, attribute or address reaches the page that this module does not write itself.
HTML in a message is text, images become links, links lead only where `links` allows, and
headings start at the third level, below the page's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from presentview import limits
from presentview.web.render.code import highlight
from presentview.web.render.controls import reveal
from presentview.web.render.links import link_markup
from presentview.web.render.markup import joined
from presentview.web.render.sizes import split_at_line

__all__ = ["render_markdown"]

# The parser recurses for each level, leaves out what is nested deeper, and takes time that grows
# with this number on texts made of brackets.
_MOST_NESTING = 30
_LANGUAGE_CHARS = 40
_HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5"}
_LOWEST_HEADING = "h6"
_OWN_DIRECTION = {"p", "li", "td", "th"}
_BLOCKS = {"blockquote", "ul", "ol", "li", "thead", "tbody", "tr", "td", "th", "p"}
_INLINE_TAGS = {"em", "strong", "s"}
_ALIGNMENTS = {"text-align:center": "ta-center", "text-align:right": "ta-right"}


def render_markdown(text: str, *, limit: int = limits.MARKDOWN_BYTES) -> Markup:
    """Return the HTML of a message: a sequence of block elements.

    Past limit bytes the text is shown as it was written, in a `pre` of class `md-rest`. So is
    all of it if it is nested too deeply.
    """
    head, rest = split_at_line(text, limit)
    rendered = _cached(head) if len(head) <= limits.MARKDOWN_BYTES else _rendered(head)
    return joined((rendered, _as_written(rest))) if rest else rendered


@functools.lru_cache(maxsize=256)
def _cached(text: str) -> Markup:
    return _rendered(text)


def _rendered(text: str) -> Markup:
    try:
        tokens = _parser().parse(text)
    except RecursionError:
        return _as_written(text)
    if any(token.level >= _MOST_NESTING - 1 for token in tokens):
        return _as_written(text)
    return _blocks(tokens)


class _Parser(MarkdownIt):
    """Leaves addresses as they are: they are looked at when links are written."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link


@functools.cache
def _parser() -> _Parser:
    parser = _Parser("commonmark", {"html": False, "maxNesting": _MOST_NESTING})
    parser.enable(["table", "strikethrough"])
    return parser


def _as_written(text: str) -> Markup:
    # A line feed directly after the tag would not be shown.
    return joined(('<pre class="md-rest" dir="auto" tabindex="0">\n', reveal(text), "</pre>"))


def _blocks(tokens: Sequence[Token]) -> Markup:
    pieces: list[str] = []
    for token in tokens:
        if token.hidden:
            continue
        if token.type == "inline":
            pieces.append(_inline(token.children or ()))
        elif token.type in {"fence", "code_block"}:
            pieces.append(_code(token))
        elif token.nesting:
            pieces.append(_block_tag(token))
        elif token.type == "hr":
            pieces.append("<hr>\n")
        else:
            pieces.append(reveal(token.content))
    return joined(pieces)


def _block_tag(token: Token) -> str:
    is_end = token.nesting < 0
    if token.tag == "table":
        if is_end:
            return "</table></div>\n"
        return '<div class="md-table" tabindex="0"><table>\n'
    if token.type in {"heading_open", "heading_close"}:
        tag = _HEADINGS.get(token.tag, _LOWEST_HEADING)
        return f"</{tag}>\n" if is_end else f'<{tag} dir="auto">'
    if token.tag not in _BLOCKS:
        return ""
    return f"</{token.tag}>\n" if is_end else f"<{token.tag}{_attributes(token)}>"


def _attributes(token: Token) -> str:
    attributes = ' dir="auto"' if token.tag in _OWN_DIRECTION else ""
    if token.tag == "ol" and isinstance(start := token.attrGet("start"), int):
        attributes += f' start="{start}"'
    if alignment := _ALIGNMENTS.get(str(token.attrGet("style"))):
        attributes += f' class="{alignment}"'
    return attributes


def _code(token: Token) -> str:
    words = token.info.split(maxsplit=1)
    language = words[0][:_LANGUAGE_CHARS] if words else ""
    code = highlight(token.content.removesuffix("\n"), language=language)
    return f'<pre class="code" dir="ltr" tabindex="0"><code>{code}</code></pre>\n'


@dataclass(slots=True)
class _Scope:
    """The inside of a paragraph, or of a link in it, as far as it has been written."""

    url: str = ""
    pieces: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def add(self, markup: str, text: str = "") -> None:
        self.pieces.append(markup)
        self.texts.append(text)


def _inline(tokens: Sequence[Token]) -> Markup:
    scopes = [_Scope()]
    for token in tokens:
        if token.type == "link_open":
            scopes.append(_Scope(url=str(token.attrGet("href") or "")))
        elif token.type == "link_close" and len(scopes) > 1:
            link = scopes.pop()
            text = "".join(link.texts)
            scopes[-1].add(link_markup(link.url, joined(link.pieces), text), text)
        elif token.type == "image":
            _add_image(scopes[-1], token, is_in_link=len(scopes) > 1)
        elif token.tag in _INLINE_TAGS:
            scopes[-1].add(f"</{token.tag}>" if token.nesting < 0 else f"<{token.tag}>")
        else:
            write = _WRITTEN.get(token.type, reveal)
            scopes[-1].add(write(token.content), token.content)
    return joined(scopes[0].pieces)


def _add_image(scope: _Scope, token: Token, *, is_in_link: bool) -> None:
    """Add an image as a link to it; in a link, as its description only."""
    text = "image: " + _plain_text(token.children or ()) if token.children else "image"
    label = reveal(text)
    if not is_in_link:
        label = link_markup(str(token.attrGet("src") or ""), label, text)
    scope.add(label, text)


def _plain_text(tokens: Sequence[Token]) -> str:
    return "".join(
        token.content if not token.children else _plain_text(token.children) for token in tokens
    )


def _line_feed(_content: str) -> str:
    return "\n"


def _line_break(_content: str) -> str:
    return "<br>\n"


def _inline_code(content: str) -> str:
    return f"<code>{reveal(content)}</code>"


_WRITTEN: dict[str, Callable[[str], str]] = {
    "softbreak": _line_feed,
    "hardbreak": _line_break,
    "code_inline": _inline_code,
}

"""Source code as HTML, with a few calm colours.

The language is taken from its name or from the file's name and never guessed from the text:
guessing is slow and wrong often enough. Long texts and texts with very long lines (minified,
generated) stay plain, and so does a text on which a lexer takes too long, which some do on
purposeful ones. Whatever a lexer does, the text shown is the text given.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from markupsafe import Markup
from pygments.token import Token

from presentview.limits import HIGHLIGHT_BYTES, HIGHLIGHT_LINE_CHARS
from presentview.web.render.controls import reveal
from presentview.web.render.lexers import find_lexer
from presentview.web.render.markup import joined
from presentview.web.render.sizes import is_longer

__all__ = ["highlight", "highlight_lines"]

_SECONDS = 0.5  # of processor time; real files of the longest size take a fifth of this
_CACHED_CHARS = 8 * 1024  # longer texts are lexed again each time

# Kinds of tokens that get a colour of their own, with what follows them in pygments' tree.
_CLASSES = {
    Token.Comment: "hl-c",
    Token.Comment.Preproc: "hl-m",
    Token.Keyword: "hl-k",
    Token.Keyword.Type: "hl-t",
    Token.Keyword.Constant: "hl-n",
    Token.Literal.String: "hl-s",
    Token.Literal.String.Escape: "hl-e",
    Token.Literal.String.Interpol: "hl-e",
    Token.Literal.Number: "hl-n",
    Token.Literal.Date: "hl-n",
    Token.Name.Attribute: "hl-a",
    Token.Name.Builtin: "hl-t",
    Token.Name.Class: "hl-t",
    Token.Name.Constant: "hl-n",
    Token.Name.Decorator: "hl-m",
    Token.Name.Exception: "hl-t",
    Token.Name.Function: "hl-f",
    Token.Name.Tag: "hl-k",
    Token.Name.Variable: "hl-v",
    Token.Operator.Word: "hl-k",
    Token.Generic.Deleted: "hl-gd",
    Token.Generic.Heading: "hl-gh",
    Token.Generic.Inserted: "hl-gi",
    Token.Generic.Prompt: "hl-c",
    Token.Generic.Subheading: "hl-gh",
}


class _Piece(NamedTuple):
    css_class: str
    text: str


class _TooSlow(Exception):
    """A lexer used up its time."""


def highlight(code: str, *, filename: str = "", language: str = "") -> Markup:
    """Return the HTML of code, for the inside of a `code` element.

    language is the name written on a code block, filename any path; the first that is known
    wins, and without one the text is plain. Every element ends on the line on which it starts.
    """
    code = code.replace("\r\n", "\n")
    lines = _lines_of(code, filename, language)
    return reveal(code) if lines is None else joined(("\n".join(lines),))


def highlight_lines(code: str, *, filename: str = "", language: str = "") -> list[Markup]:
    """Return the HTML of each line of code: one more than code has line feeds."""
    code = code.replace("\r\n", "\n")
    lines = _lines_of(code, filename, language)
    if lines is None:
        return [reveal(line) for line in code.split("\n")]
    return [joined((line,)) for line in lines]


def _lines_of(code: str, filename: str, language: str) -> tuple[str, ...] | None:
    if is_longer(code, HIGHLIGHT_BYTES) or _longest_line(code) > HIGHLIGHT_LINE_CHARS:
        return None
    lexer_class = find_lexer(language, PurePosixPath(filename.replace("\\", "/")).name)
    if lexer_class is None:
        return None
    run = _highlighted if len(code) <= _CACHED_CHARS else _highlighted.__wrapped__
    return run(code, lexer_class)


def _longest_line(code: str) -> int:
    return max(map(len, code.split("\n")))


@functools.lru_cache(maxsize=256)
def _highlighted(code: str, lexer_class: Any) -> tuple[str, ...] | None:
    text = code + "\n"  # many lexers want a line end behind the last line
    try:
        lexer = lexer_class()
        pieces = list(_merged(lexer.get_tokens_unprocessed(text)))
    except Exception:  # noqa: BLE001 - hundreds of lexers, none written for hostile text
        return None
    if "".join(piece.text for piece in pieces) != text:
        return None
    return tuple(_split_lines(pieces))[:-1]


def _merged(tokens: Iterable[tuple[int, Any, str]]) -> Iterator[_Piece]:
    """Yield the text of tokens, neighbours of the same class as one piece."""
    css_class = ""
    texts: list[str] = []
    deadline = time.thread_time() + _SECONDS
    for _, kind, text in tokens:
        if time.thread_time() > deadline:
            raise _TooSlow
        found = _class_of(kind)
        if found != css_class:
            yield _Piece(css_class, "".join(texts))
            css_class, texts = found, []
        texts.append(text)
    yield _Piece(css_class, "".join(texts))


def _class_of(kind: Any) -> str:
    while kind is not None:
        if kind in _CLASSES:
            return _CLASSES[kind]
        kind = kind.parent
    return ""


def _split_lines(pieces: Iterable[_Piece]) -> Iterator[str]:
    line: list[str] = []
    for piece in pieces:
        first, *others = piece.text.split("\n")
        line.append(_markup(piece.css_class, first))
        for text in others:
            yield "".join(line)
            line = [_markup(piece.css_class, text)]
    yield "".join(line)


def _markup(css_class: str, text: str) -> str:
    shown = reveal(text)
    if not css_class or not text or text.isspace():
        return shown
    return f'<span class="{css_class}">{shown}</span>'

"""The arguments of a tool call, which are JSON most of the time, in a form to read.

The text is laid out anew, never parsed and written again: numbers keep their spelling and their
digits, keys that come twice come twice. Strings of several lines are shown with their line
breaks. Text that is not JSON from start to end, as when it was cut, is shown as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from presentview.limits import JSON_BYTES, JSON_DEPTH
from presentview.web.render.controls import reveal
from presentview.web.render.markup import joined
from presentview.web.render.sizes import is_longer

__all__ = ["pretty_json"]

_INDENT = "  "
_TOKEN = re.compile(
    r"[ \t\r\n]*+(?:"
    r'(?P<string>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)"
    r"|(?P<literal>true|false|null)"
    r"|(?P<mark>[\[\]{}:,])"
    r"|(?P<end>\Z))"
)
_BLOCK_END = "</span>"
_CLOSING = {"{": "}", "[": "]"}


class _NotJson(Exception):
    """The text is not one JSON value."""


class _Token(NamedTuple):
    kind: str
    text: str


def pretty_json(text: str) -> Markup:
    """Return the HTML of text, for the inside of a `pre` element: indented if it is JSON.

    Values nested deeper than `limits.JSON_DEPTH` stay on one line.
    """
    if is_longer(text, JSON_BYTES):
        return reveal(text)
    try:
        return joined(_Layout().pieces(text))
    except _NotJson:
        return reveal(text)


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _NotJson
        kind = match.lastgroup or ""
        yield _Token(kind, match[kind])  # once at the end, that again and again
        at = match.end()


class _Layout:
    """Checks the order of the tokens and puts each where it belongs."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._is_first = False  # nothing stands yet in the innermost object or array

    def pieces(self, text: str) -> list[str]:
        """Return the HTML of text in pieces, or raise `_NotJson`."""
        tokens = _tokens(text)
        self._value(next(tokens))
        while self._open:
            self._next_in_container(next(tokens), tokens)
        if next(tokens).kind != "end":
            raise _NotJson
        return self._pieces

    def _next_in_container(self, token: _Token, tokens: Iterator[_Token]) -> None:
        if token.text == _CLOSING[self._open[-1]]:
            self._close(token.text)
            return
        if not self._is_first:
            if token.text != ",":
                raise _NotJson
            # In a block of several lines, a comma outside would stand beside the first.
            self._pieces.insert(len(self._pieces) - (self._pieces[-1] == _BLOCK_END), ",")
            token = next(tokens)
        self._new_line()
        self._is_first = False
        if self._open[-1] == "{":
            self._key(token, next(tokens))
            token = next(tokens)
        self._value(token)

    def _value(self, token: _Token) -> None:
        if token.text in _CLOSING:
            self._pieces.append(token.text)
            self._open.append(token.text)
            self._is_first = True
        elif token.kind == "string":
            self._string(token.text)
        elif token.kind in {"number", "literal"}:
            css_class = "j-num" if token.kind == "number" else "j-lit"
            self._pieces.append(f'<span class="{css_class}">{token.text}</span>')
        else:
            raise _NotJson

    def _string(self, string: str) -> None:
        value: str = json.loads(string) if "\\n" in string else ""
        if "\n" in value:
            self._pieces += ['<span class="j-str j-block">"', reveal(value), '"', _BLOCK_END]
        else:
            self._pieces.append(f'<span class="j-str">{reveal(_readable(string))}</span>')

    def _key(self, key: _Token, colon: _Token) -> None:
        if key.kind != "string" or colon.text != ":":
            raise _NotJson
        self._pieces.append(f'<span class="j-key">{reveal(_readable(key.text))}</span>: ')

    def _close(self, mark: str) -> None:
        was_deep = len(self._open) > JSON_DEPTH
        self._open.pop()
        if not self._is_first and not was_deep:
            self._new_line()
        self._pieces.append(mark)
        self._is_first = False

    def _new_line(self) -> None:
        depth = len(self._open)
        if depth <= JSON_DEPTH:
            self._pieces.append("\n" + _INDENT * depth)
        elif not self._is_first:
            self._pieces.append(" ")


def _readable(string: str) -> str:
    """Return a JSON string with only those characters escaped that must be."""
    return json.dumps(json.loads(string), ensure_ascii=False) if "\\" in string else string

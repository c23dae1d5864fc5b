"""Terminal output as HTML.

Shown is what a terminal would show at the end: colours and weights become classes, a carriage
return, a backspace or an erased line does to the text before it what it does there, and every
other escape sequence is left out. Two things differ on purpose. The cursor never leaves its
line, so programs that redraw several lines show each state. And text is never hidden: concealed
text is shown, and a sequence that was cut off takes at most its own line with it.

Time is linear in the length of the text, whatever it holds.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from presentview.web.render.controls import reveal
from presentview.web.render.links import web_link_markup
from presentview.web.render.markup import joined
from presentview.web.render.sgr import PLAIN, Style, apply_sgr, style_classes

__all__ = ["render_ansi", "strip_ansi"]

_LINK_CHARS = 2048  # longer link targets are left out
_SGR_CHARS = 256  # longer lists of colours and weights are left out

# Quantifiers that never give back keep matching linear. A string sequence (title, image, answer)
# ends at its terminator; without one, at the next escape or the end of the line.
_CSI = r"(?:\x1b\[|\x9b)"
_BODY = r"[^\x07\x1b\x80-\x9f"
_END = r"(?:\x07|\x1b\\|\x9c)"
_TOKEN = re.compile(
    rf"(?P<return>\r+)"
    rf"|(?P<back>\x08+)"
    rf"|(?P<sgr>{_CSI}(?P<params>[0-9;:]*+)m)"
    rf"|(?P<erase>{_CSI}(?P<part>[0-9]?)[JK])"
    rf"|(?P<home>{_CSI}[01]?G)"
    rf"|(?P<link>(?:\x1b\]|\x9d)8;{_BODY};\r\n]*+;(?P<url>{_BODY}\r\n]*+){_END})"
    rf"|(?:{_CSI}[0-?]*+[ -/]*+(?:[@-FHIL-ln-~]|(?![@-~]))"  # any other, or one cut off
    rf"|(?:\x1b\]|\x9d){_BODY}\r\n]*+{_END}?"
    rf"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])(?:{_BODY}]*+{_END}|{_BODY}\r\n]*+)"
    rf"|\x1b[ -/]++[0-~]?"
    rf"|\x1b(?![\[\]PX^_])[0-~]?"
    rf"|[\x07\x0e\x0f\x80-\x8f\x91-\x97\x99\x9a\x9c])++"
    rf"|{_CSI}[0-?]*+[ -/]*+[@-~]"
)
_SPECIAL = re.compile(r"[\x07\x08\r\x0e\x0f\x1b\x80-\x9f]")


class _Look(NamedTuple):
    style: Style = PLAIN
    url: str = ""


class _Run(NamedTuple):
    text: str
    look: _Look


_PLAIN_LOOK = _Look()


def render_ansi(text: str) -> Markup:
    """Return the HTML of terminal output, for the inside of a `pre` element.

    Every element ends on the line on which it starts, so the result can be cut at line feeds.
    """
    if not _SPECIAL.search(text):
        return reveal(text)
    return joined(("\n".join(map(_line_markup, _lines(text))),))


def strip_ansi(text: str) -> str:
    """Return terminal output as plain text: the words of `render_ansi` without their looks."""
    if not _SPECIAL.search(text):
        return text
    return "\n".join("".join(run.text for run in line) for line in _lines(text))


def _lines(text: str) -> Iterator[list[_Run]]:
    line = _Line()
    look = _PLAIN_LOOK
    done = 0
    for token in _TOKEN.finditer(text):
        if token.start() > done:
            first, *others = text[done : token.start()].split("\n")
            line.write(first, look)
            if others:
                yield line.runs()
                # An address is not taken along: on line after line, a long one grows too much.
                look = look._replace(url="")
                yield from ([_Run(part, look)] for part in others[:-1])
                line = _Line()
                line.write(others[-1], look)
        done = token.end()
        look = _look_after(token, look)
        _move(token, line)
    first, *others = text[done:].split("\n")
    line.write(first, look)
    yield line.runs()
    look = look._replace(url="")
    yield from ([_Run(part, look)] for part in others)


def _look_after(token: re.Match[str], look: _Look) -> _Look:
    if token.lastgroup == "sgr" and token.end() - token.start() <= _SGR_CHARS:
        return look._replace(style=apply_sgr(look.style, token["params"]))
    if token.lastgroup == "link":
        return look._replace(url=token["url"] if len(token["url"]) <= _LINK_CHARS else "")
    return look


def _move(token: re.Match[str], line: _Line) -> None:
    kind = token.lastgroup
    if kind in {"return", "home"}:
        line.go_home()
    elif kind == "back":
        line.go_back(token.end() - token.start())
    elif kind == "erase":
        line.erase(token["part"], is_line=token[0].endswith("K"))


class _Line:
    """One line of a terminal.

    Text is kept in runs for as long as it is only appended to, and in cells from the first time
    that the cursor moves back and something is written there.
    """

    __slots__ = ("_chars", "_column", "_is_struck", "_looks", "_runs")

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._chars: list[str] | None = None
        self._looks: list[_Look] = []
        self._column: int | None = None  # None: at the end of the runs
        self._is_struck = False

    def write(self, text: str, look: _Look) -> None:
        """Put text at the cursor, over what stands there."""
        if not text:
            return
        if self._column is None:
            self._runs.append(_Run(text, look))
            return
        chars = self._as_cells()
        cells = _cells(text)
        start, end = self._column, self._column + len(cells)
        looks = [look] * len(cells)
        if self._is_struck and start < len(chars):
            looks[0] = _struck_look(chars[start], cells[0], look)
        chars[start:end] = cells
        self._looks[start:end] = looks
        self._column = end
        self._is_struck = False

    def go_home(self) -> None:
        """Move the cursor to the start of the line."""
        if self._runs:
            self._column = 0
            self._is_struck = False

    def go_back(self, count: int) -> None:
        """Move the cursor back by count cells, at most to the start."""
        end = len(self._as_cells())
        self._column = max(0, (end if self._column is None else self._column) - count)
        # Printers had bold and underline this way, and manual pages still have; a counter that
        # goes back over several digits means nothing of the kind.
        self._is_struck = count == 1

    def erase(self, part: str, *, is_line: bool) -> None:
        """Erase from the cursor on, or all of the line, as the sequence's number says."""
        if part in {"", "0"}:
            if self._column is not None:
                del self._as_cells()[self._column :]
                del self._looks[self._column :]
        elif part == "2" and is_line:
            # Programs go home next anyway; staying would ask for spaces that no one wrote.
            self._runs, self._chars, self._looks, self._column = [], None, [], None

    def runs(self) -> list[_Run]:
        """Return what the line shows in the end, neighbours of the same look as one."""
        if self._chars is None:
            return _merged(self._runs) if len(self._runs) > 1 else self._runs
        return _merged(map(_Run, self._chars, self._looks))

    def _as_cells(self) -> list[str]:
        if self._chars is None:
            self._chars = []
            for run in self._runs:
                cells = _cells(run.text)
                self._chars += cells
                self._looks += [run.look] * len(cells)
        return self._chars


def _merged(runs: Iterator[_Run] | list[_Run]) -> list[_Run]:
    return [
        _Run("".join(run.text for run in same), look)
        for look, same in itertools.groupby(runs, key=lambda run: run.look)
    ]


def _cells(text: str) -> list[str]:
    """Return text as terminal cells: wide characters take two, combining ones none."""
    if text.isascii():
        return list(text)
    cells: list[str] = []
    start = 0
    for at in range(1, len(text) + 1):
        if at < len(text) and _is_zero_width(text[at]):
            continue
        cells.append(text[start:at])
        if unicodedata.east_asian_width(text[start]) in "WF":
            cells.append("")
        start = at
    return cells


def _is_zero_width(char: str) -> bool:
    return char > "\x7f" and unicodedata.category(char) in {"Mn", "Me", "Cf"}


@functools.lru_cache(maxsize=1024)
def _struck_look(old: str, new: str, look: _Look) -> _Look:
    if old == new and new.strip():
        flag = "bold"
    elif old == "_":
        flag = "underline"
    else:
        return look
    return look._replace(style=look.style._replace(flags=look.style.flags | {flag}))


def _line_markup(runs: list[_Run]) -> str:
    if len(runs) == 1 and not runs[0].look.url:
        return _run_markup(runs[0])
    pieces: list[str] = []
    for url, linked in itertools.groupby(runs, key=lambda run: run.look.url):
        same = list(linked)
        label = joined(map(_run_markup, same))
        if url:
            label = web_link_markup(url, label, "".join(run.text for run in same))
        pieces.append(label)
    return joined(pieces)


def _run_markup(run: _Run) -> str:
    if not run.text:
        return ""
    classes = style_classes(run.look.style)
    text = reveal(run.text)
    return f'<span class="{classes}">{text}</span>' if classes else text

"""Colours and weights of terminal text: what the numbers of a `CSI … m` sequence mean."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from presentview.web.render.palette import nearest_index

__all__ = ["PLAIN", "Style", "apply_sgr", "style_classes"]

_MOST_DIGITS = 4  # of a number; longer ones mean nothing
_DEFAULT = -1


class Style(NamedTuple):
    """How a piece of text looks: colours from 0 to 255 (or -1 for the page's own) and flags."""

    fg: int = _DEFAULT
    bg: int = _DEFAULT
    flags: frozenset[str] = frozenset()


PLAIN = Style()

_SWITCHED_ON = {
    1: "bold",
    2: "dim",
    3: "italic",
    4: "underline",
    7: "inverse",
    9: "strike",
    21: "underline",
}
_SWITCHED_OFF = {
    22: frozenset({"bold", "dim"}),
    23: frozenset({"italic"}),
    24: frozenset({"underline"}),
    27: frozenset({"inverse"}),
    29: frozenset({"strike"}),
}
_FLAG_ORDER = ("bold", "dim", "italic", "underline", "strike", "inverse")
_FOREGROUND, _BACKGROUND, _UNDERLINE_COLOUR = 38, 48, 58


@functools.lru_cache(maxsize=1024)
def apply_sgr(style: Style, params: str) -> Style:
    """Return style changed by params, the text between `CSI` and `m`.

    Numbers without a meaning for us (blinking, fonts, concealed text) change nothing.
    """
    fields = iter(params.split(";"))
    for field in fields:
        number, *parts = (_number(part) for part in field.split(":"))
        if number in {_FOREGROUND, _BACKGROUND, _UNDERLINE_COLOUR}:
            colour = _colour_of_parts(parts) if parts else _colour_of_fields(fields)
            style = _coloured(style, number, colour)
        else:
            style = _changed(style, number, is_off=bool(parts) and parts[0] == 0)
    return style


@functools.lru_cache(maxsize=1024)
def style_classes(style: Style) -> str:
    """Return the CSS classes of style, separated by spaces; empty for text without any."""
    classes = [flag for flag in _FLAG_ORDER if flag in style.flags]
    if style.fg != _DEFAULT:
        classes.append(f"fg-{style.fg}")
    if style.bg != _DEFAULT:
        classes.append(f"bg-{style.bg}")
    return " ".join(classes)


def _number(field: str) -> int:
    if not field:
        return 0
    return int(field) if len(field) <= _MOST_DIGITS else _DEFAULT


def _changed(style: Style, number: int, *, is_off: bool) -> Style:
    if number == 0:
        return PLAIN
    if flag := _SWITCHED_ON.get(number):
        flags = style.flags - {flag} if is_off else style.flags | {flag}
        return style._replace(flags=flags)
    if off := _SWITCHED_OFF.get(number):
        return style._replace(flags=style.flags - off)
    return _base_coloured(style, number)


def _base_coloured(style: Style, number: int) -> Style:
    tens, colour = divmod(number, 10)
    if tens in {3, 4}:
        value = _DEFAULT if colour == 9 else colour
        return style._replace(fg=value) if tens == 3 else style._replace(bg=value)
    if tens in {9, 10} and colour < 8:
        return style._replace(fg=colour + 8) if tens == 9 else style._replace(bg=colour + 8)
    return style


def _coloured(style: Style, number: int, colour: int | None) -> Style:
    if colour is None or number == _UNDERLINE_COLOUR:
        return style
    return style._replace(fg=colour) if number == _FOREGROUND else style._replace(bg=colour)


def _colour_of_fields(fields: Iterator[str]) -> int | None:
    """Take as many fields as a colour needs (`5;n` or `2;r;g;b`) and return its index."""
    count = {"5": 1, "2": 3}.get(next(fields, ""), 0)
    channels = [_number(field.split(":")[0]) for field in itertools.islice(fields, count)]
    return _indexed(channels) if len(channels) == count else None


def _colour_of_parts(parts: list[int]) -> int | None:
    """Return the index of a colour written as `5:n`, `2:r:g:b` or `2:space:r:g:b`."""
    kind, *values = parts
    if kind == 5:
        return _indexed(values[:1])
    return _indexed(values[-3:] if len(values) == 3 else values[1:4]) if kind == 2 else None


def _indexed(channels: list[int]) -> int | None:
    if not channels or not all(0 <= channel <= 255 for channel in channels):
        return None
    if len(channels) == 1:
        return channels[0]
    return nearest_index(*channels) if len(channels) == 3 else None

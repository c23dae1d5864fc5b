"""The 256 colours of a terminal, made readable on a light and on a dark page.

Programs choose colours for a terminal whose background they do not know. Here each colour keeps
its hue and gets the lightness at which it can be read: as text with a contrast of at least 4.5
to the page's code background, as a background with at least 4.5 to the page's own text and at
least 3 to every other colour's text.

`static/ansi.css` is what `stylesheet` returns; this writes it anew:

    python -m presentview.web.render.palette > static/ansi.css
"""

from __future__ import annotations

import colorsys
import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

__all__ = [
    "DARK",
    "LIGHT",
    "Rgb",
    "Theme",
    "background",
    "contrast",
    "foreground",
    "nearest_index",
    "stylesheet",
    "xterm_rgb",
]


class Rgb(NamedTuple):
    """A colour, each channel from 0 to 255."""

    red: int
    green: int
    blue: int

    def __str__(self) -> str:
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"


@dataclass(frozen=True)
class Theme:
    """What the colours must be readable with, and the theme's own 16 base colours."""

    page: Rgb
    ink: Rgb
    faint_ink: Rgb
    is_dark: bool
    base: tuple[Rgb, ...]


def _colours(values: str) -> tuple[Rgb, ...]:
    return tuple(Rgb(*bytes.fromhex(value.removeprefix("#"))) for value in values.split())


def _colour(value: str) -> Rgb:
    return _colours(value)[0]


LIGHT = Theme(
    page=_colour("#f7f8fa"),
    ink=_colour("#1b1f27"),
    faint_ink=_colour("#5b6472"),
    is_dark=False,
    base=_colours(
        "#1b1f27 #b3261e #1a7440 #8a5a00 #2f5bd7 #8e3aa8 #0b6e80 #5b6472"
        " #4d5665 #c22f26 #1d7a45 #916000 #3a63dc #9a44b5 #0d7486 #69717e"
    ),
)
DARK = Theme(
    page=_colour("#14171d"),
    ink=_colour("#e7eaf0"),
    faint_ink=_colour("#9aa3b2"),
    is_dark=True,
    base=_colours(
        "#8b94a3 #ff8f87 #6fd39b #e9bd62 #8fb0ff #d3a1f0 #67cfdc #cfd4dc"
        " #a3acba #ffa9a3 #8be3b0 #f3cf85 #adc5ff #e0bdf6 #8fdfe9 #ffffff"
    ),
)

_READABLE = 4.5
_TINT_CONTRAST = 3.0
_CUBE_STEPS = (0, 95, 135, 175, 215, 255)
_CUBE_START, _GREY_START = 16, 232
# Each terminal draws 0 to 15 its own way; these are the calm ones that backgrounds start from.
_BASE_HUES = _colours(
    "#20242c #c4473f #3f9a63 #c9a227 #4a6fdc #a25bbd #2f97a8 #d5d9e0"
    " #7f8794 #d9655d #5bb37d #dcb94a #6f8ee6 #b679cf #52b1c1 #f2f4f7"
)


def xterm_rgb(index: int) -> Rgb:
    """Return the colour of index, 0 to 255: from 16 on the one that xterm draws."""
    if index < _CUBE_START:
        return _BASE_HUES[index]
    if index >= _GREY_START:
        level = 8 + 10 * (index - _GREY_START)
        return Rgb(level, level, level)
    cell = index - _CUBE_START
    return Rgb(_CUBE_STEPS[cell // 36], _CUBE_STEPS[cell // 6 % 6], _CUBE_STEPS[cell % 6])


@functools.lru_cache(maxsize=4096)
def nearest_index(red: int, green: int, blue: int) -> int:
    """Return the colour of the cube or the greys, 16 to 255, nearest to the channels given."""
    wanted = Rgb(red, green, blue)
    steps = [_nearest_step(channel) for channel in wanted]
    cube = _CUBE_START + 36 * steps[0] + 6 * steps[1] + steps[2]
    grey_level = round((sum(wanted) / 3 - 8) / 10)
    grey = _GREY_START + min(max(grey_level, 0), 23)
    return min(cube, grey, key=lambda index: _distance(xterm_rgb(index), wanted))


def contrast(one: Rgb, other: Rgb) -> float:
    """Return the contrast of two colours as WCAG defines it, from 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def foreground(index: int, theme: Theme) -> Rgb:
    """Return the text colour for index, readable on the theme's code background."""
    if index < _CUBE_START:
        return theme.base[index]
    return _moved(
        xterm_rgb(index),
        lambda colour: contrast(colour, theme.page) >= _READABLE,
        lighter=theme.is_dark,
    )


def background(index: int, theme: Theme) -> Rgb:
    """Return the background colour for index, on which text of every colour can be read."""
    # The text colour that comes nearest to the page has just the contrast asked for there.
    page = _luminance(theme.page) + 0.05
    text = page * _READABLE if theme.is_dark else page / _READABLE

    def is_readable(colour: Rgb) -> bool:
        tint = _luminance(colour) + 0.05
        return (text / tint if theme.is_dark else tint / text) >= _TINT_CONTRAST

    return _moved(xterm_rgb(index), is_readable, lighter=not theme.is_dark)


def stylesheet() -> str:
    """Return the text of `static/ansi.css`."""
    dark = _properties(DARK)
    rules = [
        "/* Colours of terminal output. Written by presentview.web.render.palette. */",
        f":root {{ {_properties(LIGHT)} }}",
        f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}',
        f':root[data-theme="dark"] {{ {dark} }}',
        "span.dim { color: var(--ansi-dim) }",
        "span.bold { font-weight: 700 }",
        "span.italic { font-style: italic }",
        "span.underline { text-decoration: underline }",
        "span.strike { text-decoration: line-through }",
        "span.underline.strike { text-decoration: underline line-through }",
        'span[class*="fg-"] { color: var(--fg) }',
        'span[class*="bg-"] { background: var(--bg) }',
        *(
            f".fg-{index} {{ --fg: var(--f{index}) }} .bg-{index} {{ --bg: var(--b{index}) }}"
            for index in range(256)
        ),
        "span.inverse { color: var(--bg, var(--ansi-page)) }",
        "span.inverse { background: var(--fg, var(--ansi-ink)) }",
    ]
    return "\n".join(rules) + "\n"


def _properties(theme: Theme) -> str:
    named = {"ansi-page": theme.page, "ansi-ink": theme.ink, "ansi-dim": theme.faint_ink}
    for index in range(256):
        named[f"f{index}"] = foreground(index, theme)
    for index in range(256):
        named[f"b{index}"] = background(index, theme)
    return " ".join(f"--{name}: {colour};" for name, colour in named.items())


def _nearest_step(channel: int) -> int:
    return min(range(len(_CUBE_STEPS)), key=lambda step: abs(_CUBE_STEPS[step] - channel))


def _distance(one: Rgb, other: Rgb) -> int:
    return sum((left - right) ** 2 for left, right in zip(one, other, strict=True))


def _luminance(colour: Rgb) -> float:
    linear = []
    for channel in colour:
        part = channel / 255
        linear.append(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _moved(colour: Rgb, is_good: Callable[[Rgb], bool], *, lighter: bool) -> Rgb:
    """Return colour made lighter (or darker) just as far as is_good asks for."""
    if is_good(colour):
        return colour
    hue, lightness, saturation = colorsys.rgb_to_hls(*(channel / 255 for channel in colour))
    bad, good = lightness, 1.0 if lighter else 0.0
    for _ in range(16):
        middle = (bad + good) / 2
        if is_good(_from_hls(hue, middle, saturation)):
            good = middle
        else:
            bad = middle
    return _from_hls(hue, good, saturation)


def _from_hls(hue: float, lightness: float, saturation: float) -> Rgb:
    return Rgb(
        *(round(channel * 255) for channel in colorsys.hls_to_rgb(hue, lightness, saturation))
    )


if __name__ == "__main__":
    sys.stdout.write(stylesheet())

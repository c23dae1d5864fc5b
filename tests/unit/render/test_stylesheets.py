"""The style sheets of what the renderers write: complete, readable, the same in both switches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from presentview.web.render import code
from presentview.web.render.palette import (
    DARK,
    LIGHT,
    Rgb,
    Theme,
    background,
    contrast,
    foreground,
    nearest_index,
    stylesheet,
    xterm_rgb,
)

STATIC = Path(__file__).resolve().parents[3] / "static"
SURFACES = {
    "light": ("#f7f8fa", "#ffffff", "#e6f6ec", "#fdebec"),
    "dark": ("#14171d", "#181b22", "#12301f", "#371a1d"),
}
THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def colour(value: str) -> Rgb:
    return Rgb(*bytes.fromhex(value.removeprefix("#")))


def properties(css: str, start: str) -> dict[str, str]:
    """Return the custom properties of the first rule that follows start."""
    inside = css[css.index(start) :].split("{", 1 + start.count("@"))[-1]
    block, _, _ = inside.partition("}")
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


def test_the_colours_of_the_terminal_are_those_of_the_palette() -> None:
    assert (STATIC / "ansi.css").read_text("utf-8") == stylesheet()


@THEMES
def test_every_terminal_colour_can_be_read_as_text(theme: Theme) -> None:
    assert min(contrast(foreground(index, theme), theme.page) for index in range(256)) >= 4.5
    assert contrast(theme.faint_ink, theme.page) >= 4.5


@THEMES
def test_text_can_be_read_on_every_terminal_colour(theme: Theme) -> None:
    backgrounds = [background(index, theme) for index in range(256)]
    assert min(contrast(theme.ink, tint) for tint in backgrounds) >= 4.5
    texts = [foreground(index, theme) for index in range(256)]
    assert min(contrast(text, tint) for text in texts for tint in backgrounds) >= 3


@pytest.mark.parametrize(
    ("index", "rgb"),
    [
        (16, "#000000"),
        (196, "#ff0000"),
        (67, "#5f87af"),
        (231, "#ffffff"),
        (232, "#080808"),
        (255, "#eeeeee"),
    ],
)
def test_the_cube_and_the_greys_are_those_of_xterm(index: int, rgb: str) -> None:
    assert xterm_rgb(index) == colour(rgb)
    assert nearest_index(*colour(rgb)) == index


def test_a_true_colour_becomes_the_nearest_of_all() -> None:
    for rgb in (Rgb(1, 2, 3), Rgb(250, 128, 114), Rgb(100, 149, 237), Rgb(77, 77, 77)):
        distances = {
            index: sum((a - b) ** 2 for a, b in zip(xterm_rgb(index), rgb, strict=True))
            for index in range(16, 256)
        }
        assert distances[nearest_index(*rgb)] == min(distances.values())


@pytest.mark.parametrize("name", ["ansi.css", "code.css"])
def test_the_system_and_the_switch_give_the_same_dark_colours(name: str) -> None:
    css = (STATIC / name).read_text("utf-8")
    by_system = properties(css, "@media (prefers-color-scheme: dark)")
    by_switch = properties(css, ':root[data-theme="dark"]')
    light = properties(css, ":root {")
    assert by_system == by_switch
    assert set(light) == set(by_switch)
    assert light != by_switch
    assert ':root:not([data-theme="light"])' in css


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_code_can_be_read_on_code_blocks_and_diff_rows(theme: str) -> None:
    css = (STATIC / "code.css").read_text("utf-8")
    found = properties(css, ":root {" if theme == "light" else ':root[data-theme="dark"]')
    inks = {name: value for name, value in found.items() if name.startswith("hl-")}
    assert len(inks) > 8
    for name, value in inks.items():
        for surface in SURFACES[theme]:
            assert contrast(colour(value), colour(surface)) >= 4.5, (name, surface)
    assert contrast(colour(found["ctl-ink"]), colour(found["ctl-fill"])) >= 4.5


def test_every_class_of_the_renderers_has_a_rule() -> None:
    css = (STATIC / "code.css").read_text("utf-8")
    written = {*code._CLASSES.values(), "ctl", "j-key", "j-str", "j-num", "j-lit", "j-block"}
    written |= {"host", "md-rest", "md-table", "ta-center", "ta-right", "diff", "gap"}
    assert {name for name in written if not re.search(rf"\.{name}\b", css)} == set()


@pytest.mark.parametrize("name", ["ansi.css", "code.css"])
def test_style_sheets_load_nothing(name: str) -> None:
    css = (STATIC / name).read_text("utf-8")
    assert "url(" not in css
    assert "@import" not in css

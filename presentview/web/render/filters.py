"""The renderers under the names by which templates call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from presentview.web.render.ansi import render_ansi, strip_ansi
from presentview.web.render.arguments import pretty_json
from presentview.web.render.code import highlight
from presentview.web.render.controls import reveal
from presentview.web.render.diff_rows import diff_files
from presentview.web.render.folding import folded
from presentview.web.render.markdown import render_markdown

__all__ = ["FILTERS"]

FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "ansi": render_ansi,
    "diff_files": diff_files,
    "folded": folded,
    "highlight": highlight,
    "markdown": render_markdown,
    "pretty_json": pretty_json,
    "reveal": reveal,
    "strip_ansi": strip_ansi,
}

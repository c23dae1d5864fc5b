"""The templates and how they are set up: escaping always, nothing undefined."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from presentview import units
from presentview._assets import templates_dir
from presentview._version import __version__
from presentview.limits import PREVIEW_BYTES
from presentview.web.render.filters import FILTERS

__all__ = ["environment", "render"]


@cache
def environment() -> Environment:
    """The one Jinja environment of the process."""
    env = Environment(
        loader=FileSystemLoader(templates_dir()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    env.filters.update(FILTERS)
    env.filters.update(
        duration=units.duration,
        instant=units.instant,
        iso=units.iso,
        sentence=_sentence,
        size=units.size,
    )
    env.globals.update(plural=units.plural, version=__version__, preview=PREVIEW_BYTES)
    return env


def _sentence(words: str) -> str:
    """Words as a sentence begins; what stands in them keeps its capitals."""
    return words[:1].upper() + words[1:]


def render(template: str, **context: Any) -> Markup:
    """The template's output. It is markup: everything in `context` was escaped on the way."""
    # What a template with autoescape writes is markup by construction.
    return Markup(environment().get_template(template).render(**context))  # noqa: S704

"""The page for a browser that is not signed in."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from presentview._assets import templates_dir

__all__ = ["render_denied"]


class _Field(NamedTuple):
    name: str
    value: str


def render_denied(return_to: str) -> bytes:
    """Return the page that says how to get in, and leads to the address `return_to` afterwards.

    `return_to` is a path of this server, perhaps with a query. A form replaces the query of its
    address, so the query goes into hidden fields.
    """
    path, _, query = return_to.partition("?")
    fields = [_Field(*pair) for pair in parse_qsl(query, keep_blank_values=True)]
    return _template().render(path=path, fields=fields).encode("utf-8", "replace")


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(templates_dir()), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("denied.html")

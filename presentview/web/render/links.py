"""Links out of a transcript, which may lead to other hosts and nowhere else.

A link is made for `http`, `https` and `mailto`. Its address is taken apart and put together
again, so that a browser finds the host that is shown: user names before the host, backslashes
and hosts that are not letters, digits, dots and dashes make it plain text. Hosts in other
scripts are shown, and followed, in their ASCII form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlsplit

from markupsafe import Markup, escape

from presentview.web.render.controls import remove_unseen, reveal
from presentview.web.render.markup import joined

__all__ = ["Target", "find_target", "link_markup", "refused_link_markup", "web_link_markup"]

_URL_CHARS = 4096  # longer addresses stay text
_SHOWN_CHARS = 200  # of an address that is not linked
_WEB_ADDRESS = re.compile(r"https?://[^/]", re.IGNORECASE)
_MAIL_ADDRESS = re.compile(r"mailto:(?P<who>[^\s?]+@[^\s?]+)(?:\?[^\s]*)?", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]")
_SCHEME = re.compile(r"\s*(?:https?://|mailto:)?", re.IGNORECASE)
_AFTER_HOST = re.compile(r"[/?#:\s]|$")
# Reserved and unreserved characters of URLs, and "%", so that what is quoted stays as it is.
_KEPT_CHARS = "%/:@!$&'()*+,;=~-._?[]"
_LINK_ATTRIBUTES = 'rel="noopener noreferrer nofollow" target="_blank" class="ext"'


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads: the address to follow and the host (or mailbox) to show."""

    href: str
    host: str


def find_target(url: str) -> Target | None:
    """Return where url leads, or None if it must not become a link."""
    address = remove_unseen(url).strip()
    if len(address) > _URL_CHARS or "\\" in address:
        return None
    if mail := _MAIL_ADDRESS.fullmatch(address):
        return Target(_quoted(address), mail["who"])
    if not _WEB_ADDRESS.match(address):
        return None
    try:
        return _web_target(urlsplit(address))
    except ValueError:  # a port that is no number, a host that is no name
        return None


def link_markup(url: str, label: Markup, text: str) -> Markup:
    """Return a link to url around label, whose plain text is text.

    An address that must not be followed is written behind the label instead.
    """
    target = find_target(url)
    return refused_link_markup(url, label, text) if target is None else _anchor(target, label, text)


def web_link_markup(url: str, label: Markup, text: str) -> Markup:
    """Return a link to url around label; the label alone unless url is an http(s) address."""
    target = find_target(url)
    if target is None or target.href.lower().startswith("mailto:"):
        return label
    return _anchor(target, label, text)


def refused_link_markup(url: str, label: Markup, text: str) -> Markup:
    """Return label with the address it would have led to, as text."""
    if not url:
        return label
    shown = url if len(url) <= _SHOWN_CHARS else url[:_SHOWN_CHARS] + "…"
    code = joined(("<code>", reveal(shown), "</code>"))
    return code if text.strip() in {"", url} else joined((label, " ", code))


def _anchor(target: Target, label: Markup, text: str) -> Markup:
    pieces = [
        f'<a href="{escape(target.href)}" {_LINK_ATTRIBUTES}>',
        label if text.strip() else reveal(target.href),
    ]
    if text.strip() and not _starts_with_host(text, target.host):
        pieces += [' <span class="host">(', reveal(target.host), ")</span>"]
    return joined((*pieces, "</a>"))


def _starts_with_host(text: str, host: str) -> bool:
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() if scheme else 0 :]
    return rest[: len(host)].lower() == host.lower() and bool(_AFTER_HOST.match(rest, len(host)))


def _web_target(parts: SplitResult) -> Target | None:
    name = parts.hostname or ""
    if "@" in parts.netloc:
        return None
    if ":" in name:
        name = f"[{name}]"
    elif not name.isascii():
        name = name.encode("idna").decode("ascii").lower()
    if not _HOST.fullmatch(name):
        return None
    host = name if parts.port is None else f"{name}:{parts.port}"
    rest = parts.path
    if parts.query:
        rest += f"?{parts.query}"
    if parts.fragment:
        rest += f"#{parts.fragment}"
    return Target(f"{parts.scheme}://{host}{_quoted(rest)}", host)


def _quoted(rest: str) -> str:
    return quote(rest, safe=_KEPT_CHARS + "#", errors="replace")

"""Where a request comes from: the checks before anything of ours is looked at.

Browsers say who asks, in headers that scripts cannot set. Nothing but our own pages may ask, with
one exception: following a link to a page, so that links can be shared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from presentview.errors import AccessDenied
from presentview.web.network import AllowedHost, NetworkPolicy

__all__ = ["RequestHeaders", "check_request"]

_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
_OWN_SITES: Final = frozenset({"same-origin", "none"})
_OTHER_SITES: Final = frozenset({"cross-site", "same-site"})


class RequestHeaders:
    """The headers of one request, asked by name in lower case."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in raw:
            self._values.setdefault(name.decode("latin-1").lower(), []).append(
                value.decode("latin-1")
            )

    def all(self, name: str) -> list[str]:
        """Return every value sent under this name, in order."""
        return self._values.get(name, [])

    def one(self, name: str) -> str | None:
        """Return the value, None if there is none; raises `AccessDenied` (400) if it came twice."""
        values = self.all(name)
        if len(values) > 1:
            raise AccessDenied(
                f"The request has {len(values)} headers named {name.title()}; it may have one.",
                status=400,
            )
        return values[0] if values else None


def check_request(policy: NetworkPolicy, method: str, headers: RequestHeaders) -> AllowedHost:
    """Return the name under which we were asked, if this request may come from where it does.

    Raises `AccessDenied`: 400 for a Host that is not ours, 403 for a page that is not ours.
    """
    host = headers.one("host")
    if host is None:
        raise AccessDenied("The request has no Host header; it must say whom it asks.", status=400)
    asked = policy.match_host(host)
    site = headers.one("sec-fetch-site")
    if site is not None and not _site_may_ask(site, method, headers):
        raise AccessDenied(
            "Another page asked for this. Only pages of this server may; from elsewhere a link to"
            " a page can be followed, nothing more.",
            status=403,
        )
    origin = headers.one("origin")
    source = policy.match_origin(origin) if origin is not None else None
    if method not in _SAFE_METHODS:
        _check_change(asked, source, headers)
    return asked


def _site_may_ask(site: str, method: str, headers: RequestHeaders) -> bool:
    if site in _OWN_SITES:
        return True
    return (
        site in _OTHER_SITES
        and method == "GET"
        and headers.one("sec-fetch-mode") == "navigate"
        and headers.one("sec-fetch-dest") == "document"
    )


def _check_change(asked: AllowedHost, source: AllowedHost | None, headers: RequestHeaders) -> None:
    # A form or image on another page can send a POST, but only a script of ours adds a header.
    if source is not None and (source.host, source.port) != (asked.host, asked.port):
        raise AccessDenied(
            f"A page from {source} asked {asked} to change something; open it under one name.",
            status=403,
        )
    if headers.one("hx-request") != "true" and headers.one("x-presentview") != "1":
        raise AccessDenied(
            "A request that changes something needs the header X-Presentview: 1.", status=403
        )

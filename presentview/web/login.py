"""Who may see the pages: the token, once in the address, then a cookie.

A right token in the address is exchanged for a cookie by a redirect to the same address without it,
so that it stays neither in the address bar nor in what is copied from there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import quote, unquote_plus

from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from presentview.errors import AccessDenied
from presentview.web.origin import RequestHeaders
from presentview.web.tokens import TokenStore

__all__ = ["Login", "Wanted", "wanted_address"]

_COOKIE_SECONDS: Final = 365 * 24 * 3600
_PATH_CHARS: Final = "/%:@!$&'()*+,;=~"
_QUERY_CHARS: Final = _PATH_CHARS + "?"
_PARAMETER: Final = "token"

DeniedPage = Callable[[str], bytes]


class Wanted(NamedTuple):
    """What a request asks for: the address on this server without tokens, and the tokens."""

    address: str
    tokens: tuple[str, ...]


class Login:
    """Decides whether a request knows the secret, and answers those which do not."""

    def __init__(self, tokens: TokenStore, denied: DeniedPage) -> None:
        self._tokens = tokens
        self._denied = denied

    def answer(self, scope: Scope, headers: RequestHeaders, port: int) -> Response | None:
        """Return the redirect that signs in or the 401 page; None lets the request through.

        `port` is the one the browser used: it is part of the cookie.
        """
        wanted = wanted_address(scope)
        known = self._is_known(headers, port)
        if wanted.tokens and _is_navigation(scope, headers):
            # An old token in a kept link does no harm to a browser that is signed in.
            signed_in = len(wanted.tokens) == 1 and self._tokens.matches(_pasted(wanted.tokens[0]))
            if signed_in or known:
                return self._redirect(wanted.address, port if signed_in else None)
        elif known:
            return None
        return self._refuse(scope, headers, wanted.address)

    def _is_known(self, headers: RequestHeaders, port: int) -> bool:
        for value in headers.all("authorization"):
            scheme, _, credential = value.partition(" ")
            if scheme.lower() == "bearer" and self._tokens.matches(credential.strip()):
                return True
        name = self._tokens.cookie_name(port)
        pairs = (pair.partition("=") for line in headers.all("cookie") for pair in line.split(";"))
        # Another server on this host name can add one of the same name: any right one counts.
        return any(
            self._tokens.matches_cookie(port, value.strip())
            for key, _, value in pairs
            if key.strip() == name
        )

    def _redirect(self, address: str, cookie_port: int | None) -> Response:
        response = RedirectResponse(address, status_code=303)
        if cookie_port is not None:
            response.set_cookie(
                self._tokens.cookie_name(cookie_port),
                self._tokens.cookie_value(cookie_port),
                max_age=_COOKIE_SECONDS,
                path="/",
                httponly=True,
                samesite="lax",
            )
        return response

    def _refuse(self, scope: Scope, headers: RequestHeaders, address: str) -> Response:
        body = self._denied(address if scope["method"] == "GET" else "/")
        response = Response(body, status_code=401, media_type="text/html")
        response.headers["www-authenticate"] = "Bearer"
        if headers.all("hx-request"):
            # Otherwise the page would land in the middle of another; reloading shows it whole.
            response.headers["hx-refresh"] = "true"
        return response


def wanted_address(scope: Scope) -> Wanted:
    """Split what a request asks for into the address to return to and the tokens in its query.

    The address always begins with exactly one slash and holds no backslash and no raw control
    character, so a browser sent there stays on this server. Raises `AccessDenied` (400) if the
    request asks for a whole URL instead of a path.
    """
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    path = raw.decode("latin-1")
    if not path.startswith("/"):
        raise AccessDenied("The request must ask for a path that begins with a slash.", status=400)
    address = "/" + quote(path.lstrip("/\\"), safe=_PATH_CHARS, encoding="latin-1")
    tokens: list[str] = []
    kept: list[str] = []
    for part in scope.get("query_string", b"").decode("latin-1").split("&"):
        name, _, value = part.partition("=")
        if unquote_plus(name) == _PARAMETER:
            tokens.append(unquote_plus(value))
        elif part:
            kept.append(quote(part, safe=_QUERY_CHARS, encoding="latin-1"))
    return Wanted(address + ("?" + "&".join(kept) if kept else ""), tuple(tokens))


def _is_navigation(scope: Scope, headers: RequestHeaders) -> bool:
    return scope["method"] == "GET" and headers.one("sec-fetch-mode") in (None, "navigate")


def _pasted(text: str) -> str:
    """Return the token in what was pasted: people copy the whole printed address as well."""
    return text.rpartition(f"{_PARAMETER}=")[2].strip()

"""The guard before the web app: every request passes here, every response leaves through here.

Pages, fragments, event streams and static files all take the same way; only the style sheet of the
401 page and its neighbours under /static/ need no token. WebSockets are not spoken.

Trade-off accepted: what the HTTP parser refuses by itself (malformed requests) never gets here, and
is answered by the server without our headers and without anything of ours.
"""

from __future__ import annotations

from typing import Final

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from presentview import limits
from presentview.errors import AccessDenied
from presentview.web.denied import render_denied
from presentview.web.headers import sealed
from presentview.web.login import DeniedPage, Login
from presentview.web.network import NetworkPolicy
from presentview.web.origin import RequestHeaders, check_request
from presentview.web.tokens import TokenStore

__all__ = ["Guard"]

_PUBLIC: Final = "/static/"
_POLICY_VIOLATION: Final = 1008


class Guard:
    """ASGI middleware that lets through what policy allows and puts our headers on every answer.

    `tokens` is None only where the policy asks for no token; another combination is a `ValueError`.
    `denied` makes the HTML of the 401 page from the address that was wanted.
    """

    def __init__(
        self,
        app: ASGIApp,
        policy: NetworkPolicy,
        tokens: TokenStore | None,
        *,
        denied: DeniedPage = render_denied,
    ) -> None:
        if policy.token != (tokens is not None):
            raise ValueError("a token store is needed exactly when the policy asks for a token")
        self._app = app
        self._policy = policy
        self._login = Login(tokens, denied) if tokens is not None else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on to the app."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, _SealedSend(send))
        else:
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})

    async def _http(self, scope: Scope, receive: Receive, send: _SealedSend) -> None:
        try:
            answer = self._check(scope)
        except AccessDenied as error:
            answer = PlainTextResponse(f"{error.reason}\n", status_code=error.status)
        if answer is not None:
            await answer(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        except Exception:
            if not send.started:
                await PlainTextResponse("Internal Server Error\n", 500)(scope, receive, send)
            raise

    def _check(self, scope: Scope) -> Response | None:
        _check_size(scope)
        headers = RequestHeaders(scope["headers"])
        asked = check_request(self._policy, scope["method"], headers)
        if self._login is None or _is_public(scope):
            return None
        return self._login.answer(scope, headers, asked.port)


class _SealedSend:
    """Sends the messages of a response on, its first one with our headers."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            message = {**message, "headers": sealed(message.get("headers", ()))}
        await self._send(message)


def _check_size(scope: Scope) -> None:
    # The parser only limits what it has to keep while it waits for more.
    size = sum(len(name) + len(value) for name, value in scope["headers"])
    size += len(scope["path"]) + len(scope.get("query_string", b""))
    if size > limits.HEADER_BYTES:
        raise AccessDenied(
            f"The address and headers of the request take {size} bytes; {limits.HEADER_BYTES} are "
            "taken at most.",
            status=431,
        )


def _is_public(scope: Scope) -> bool:
    path: str = scope["path"]
    if scope["method"] not in ("GET", "HEAD") or not path.startswith(_PUBLIC):
        return False
    parts = path.removeprefix(_PUBLIC).split("/")
    return "\\" not in path and not any(part in ("", ".", "..") for part in parts)

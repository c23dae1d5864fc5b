from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from presentview import limits
from presentview.web.headers import CONTENT_SECURITY_POLICY
from presentview.web.network import resolve_policy
from presentview.web.security import Guard
from tests.web.asking import BEARER, HOST, TOKENS, Answer, Headers

SECRET = "what only a person who is signed in may read"
COOKIE = f"presentview_8377={TOKENS.cookie_value(8377)}"
LINK = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
OUR_SCRIPT = ("X-Presentview", "1")


def page(_request: Request) -> Response:
    return HTMLResponse(f"<p>{SECRET}</p>")


def events(_request: Request) -> Response:
    async def stream() -> AsyncIterator[dict[str, str]]:
        yield {"data": SECRET}

    return EventSourceResponse(stream())


def attachment(_request: Request) -> Response:
    own = {
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cache-Control": "private, max-age=60",
        "X-Frame-Options": "ALLOWALL",
        "Access-Control-Allow-Origin": "*",
    }
    return PlainTextResponse(SECRET, headers=own)


def broken(_request: Request) -> Response:
    raise ZeroDivisionError


def moved(_request: Request) -> Response:
    return RedirectResponse("/page")


def small_app(static: Path) -> Starlette:
    return Starlette(
        routes=[
            Route("/", page),
            Route("/page", page),
            Route("/events", events),
            Route("/attachment", attachment),
            Route("/broken", broken),
            Route("/moved", moved),
            Route("/change", page, methods=["POST", "DELETE"]),
            Mount("/static", StaticFiles(directory=static), name="static"),
        ]
    )


@pytest.fixture
def app(tmp_path: Path) -> Starlette:
    (tmp_path / "page.css").write_text("p { margin: 0 }")
    return small_app(tmp_path)


@pytest.fixture
def guard(app: Starlette) -> Guard:
    return Guard(app, resolve_policy(host="127.0.0.1", port=8377), TOKENS)


PAGES = ["/", "/page", "/page?a=1", "/events", "/attachment", "/broken", "/moved", "/nowhere"]
STATIC = ["/static/page.css", "/static/nowhere.css"]


def ask(
    guard: Guard,
    target: str,
    headers: Iterable[tuple[str, str]] = (),
    *,
    method: str = "GET",
    host: str | None = HOST,
) -> Answer:
    """Send one request with exactly these headers, past every client that would tidy them up."""
    raw_path, _, query = target.partition("?")
    sent = [] if host is None else [("Host", host)]
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": raw_path,
        "raw_path": raw_path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "server": ("127.0.0.1", 8377),
        "client": ("127.0.0.1", 40000),
        "headers": [
            (key.lower().encode(), value.encode("latin-1")) for key, value in (*sent, *headers)
        ],
    }
    answer = Answer()

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            assert answer.status == 0, "a response started twice"
            answer.status = message["status"]
            answer.headers = [
                (key.decode().lower(), value.decode()) for key, value in message["headers"]
            ]
        else:
            answer.body += message.get("body", b"")

    async def talk() -> None:
        requests: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Message:
            while not requests:
                await anyio.sleep_forever()
            return requests.pop()

        try:
            await guard(scope, receive, send)
        except ZeroDivisionError:
            assert raw_path == "/broken"

    anyio.run(talk)
    return answer


def assert_refused(answer: Answer, status: int) -> None:
    assert answer.status == status
    assert SECRET.encode() not in answer.body
    assert TOKENS.token.encode() not in answer.body
    assert answer.all("set-cookie") == []
    assert answer.all("location") == []
    assert_sealed(answer)


def assert_sealed(answer: Answer) -> None:
    assert answer.all("x-content-type-options") == ["nosniff"]
    assert answer.all("x-frame-options") == ["DENY"]
    assert answer.all("referrer-policy") == ["no-referrer"]
    assert answer.all("cross-origin-opener-policy") == ["same-origin"]
    assert answer.all("cross-origin-resource-policy") == ["same-origin"]
    assert len(answer.all("permissions-policy")) == 1
    assert len(answer.all("content-security-policy")) == 1
    assert len(answer.all("cache-control")) == 1
    assert not [key for key, _ in answer.headers if key.startswith("access-control-")]


BAD_HOSTS: list[tuple[str, str | None, Headers]] = [
    ("no host", None, []),
    ("empty host", "", []),
    ("foreign host", "evil.test:8377", []),
    ("foreign host without port", "evil.test", []),
    ("right host, wrong port", "127.0.0.1:8378", []),
    ("right host, port that is none", "127.0.0.1:999999", []),
    ("right host without port", "localhost", []),
    ("two hosts", HOST, [("Host", HOST)]),
    ("two hosts in one", f"{HOST}, evil.test", []),
    ("user before the host", f"evil@{HOST}", []),
    ("any address", "0.0.0.0:8377", []),
    ("bare IPv6", "::1:8377", []),
    ("null byte", f"{HOST}\0", []),
    ("forwarded host", "evil.test:8377", [("X-Forwarded-Host", HOST)]),
]

FOREIGN: list[tuple[str, Headers]] = [
    ("origin null", [("Origin", "null")]),
    ("foreign origin", [("Origin", "http://evil.test")]),
    ("origin with another port", [("Origin", "http://127.0.0.1:3000")]),
    ("origin without port", [("Origin", "http://127.0.0.1")]),
    ("https origin", [("Origin", f"https://{HOST}")]),
    ("cross-site", [("Sec-Fetch-Site", "cross-site")]),
    ("same-site", [("Sec-Fetch-Site", "same-site")]),
    ("unknown site", [("Sec-Fetch-Site", "nearby")]),
    ("empty site", [("Sec-Fetch-Site", "")]),
    ("cross-site fetch", [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors")]),
    (
        "cross-site frame",
        [
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "iframe"),
        ],
    ),
    (
        "cross-site script",
        [
            ("Sec-Fetch-Site", "same-site"),
            ("Sec-Fetch-Mode", "no-cors"),
            ("Sec-Fetch-Dest", "script"),
        ],
    ),
    (
        "cross-site navigation with a foreign origin",
        [("Sec-Fetch-Site", "cross-site"), *LINK, ("Origin", "http://evil.test")],
    ),
]

STRANGERS: list[tuple[str, Headers]] = [
    ("no token", []),
    ("wrong bearer", [("Authorization", "Bearer " + "x" * 43)]),
    ("empty bearer", [("Authorization", "Bearer ")]),
    ("token without scheme", [("Authorization", TOKENS.token)]),
    ("basic", [("Authorization", f"Basic {TOKENS.token}")]),
    ("the token as cookie", [("Cookie", f"presentview_8377={TOKENS.token}")]),
    ("empty cookie", [("Cookie", "presentview_8377=")]),
    ("cookie of another port", [("Cookie", f"presentview_8378={TOKENS.cookie_value(8378)}")]),
    ("cookie moved here", [("Cookie", f"presentview_8377={TOKENS.cookie_value(8378)}")]),
    ("cookie of another name", [("Cookie", f"xpresentview_8377={TOKENS.cookie_value(8377)}")]),
    ("cookie of an old token", [("Cookie", "presentview_8377=" + "0" * 64)]),
]


@pytest.mark.parametrize("path", PAGES + STATIC)
@pytest.mark.parametrize(
    ("host", "headers"), [row[1:] for row in BAD_HOSTS], ids=[row[0] for row in BAD_HOSTS]
)
def test_a_host_that_is_not_ours_gets_400_everywhere(
    guard: Guard, path: str, host: str | None, headers: Headers
) -> None:
    assert_refused(ask(guard, path, [*headers, BEARER, ("Cookie", COOKIE)], host=host), 400)


@pytest.mark.parametrize("path", PAGES + STATIC)
@pytest.mark.parametrize("headers", [row[1] for row in FOREIGN], ids=[row[0] for row in FOREIGN])
def test_a_page_that_is_not_ours_gets_403_everywhere(
    guard: Guard, path: str, headers: Headers
) -> None:
    assert_refused(ask(guard, path, [*headers, BEARER, ("Cookie", COOKIE)]), 403)


@pytest.mark.parametrize(
    "path", [*PAGES, "/static/", "/static/../page", "/static/a//b", "/statics"]
)
@pytest.mark.parametrize(
    "headers", [row[1] for row in STRANGERS], ids=[row[0] for row in STRANGERS]
)
def test_a_stranger_gets_401_everywhere_but_for_static_files(
    guard: Guard, path: str, headers: Headers
) -> None:
    answer = ask(guard, path, headers)
    assert_refused(answer, 401)
    assert answer.all("content-type") == ["text/html; charset=utf-8"]
    assert answer.all("www-authenticate") == ["Bearer"]


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS", "PUT", "TRACE", "get"])
def test_a_change_by_a_stranger_is_refused(guard: Guard, method: str) -> None:
    assert_refused(ask(guard, "/change", [OUR_SCRIPT], method=method), 401)
    assert_refused(ask(guard, "/static/page.css", [OUR_SCRIPT], method=method), 401)


SIGNED_IN: list[tuple[str, Headers]] = [
    ("bearer", [BEARER]),
    ("bearer in small letters", [("Authorization", f"bearer  {TOKENS.token}")]),
    ("cookie", [("Cookie", COOKIE)]),
    ("cookie among others", [("Cookie", f"a=b; {COOKIE}; c")]),
    ("second cookie header", [("Cookie", "a=b"), ("Cookie", COOKIE)]),
    ("a wrong one of the same name first", [("Cookie", f"presentview_8377=evil; {COOKIE}")]),
    ("basic of a proxy and a cookie", [("Authorization", "Basic abc"), ("Cookie", COOKIE)]),
]
OWN_PAGES: list[tuple[str, Headers]] = [
    ("script", []),
    ("typed address", [("Sec-Fetch-Site", "none"), *LINK]),
    ("own page", [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Mode", "cors")]),
    ("own page with origin", [("Sec-Fetch-Site", "same-origin"), ("Origin", f"http://{HOST}")]),
    ("link from elsewhere", [("Sec-Fetch-Site", "cross-site"), *LINK]),
    ("link from another local server", [("Sec-Fetch-Site", "same-site"), *LINK]),
]


@pytest.mark.parametrize("known", [row[1] for row in SIGNED_IN], ids=[row[0] for row in SIGNED_IN])
@pytest.mark.parametrize("source", [row[1] for row in OWN_PAGES], ids=[row[0] for row in OWN_PAGES])
@pytest.mark.parametrize("path", ["/", "/page?a=1", "/events", "/attachment"])
def test_who_is_signed_in_sees_the_pages(
    guard: Guard, path: str, source: Headers, known: Headers
) -> None:
    answer = ask(guard, path, [*source, *known])
    assert answer.status == 200
    assert SECRET.encode() in answer.body
    assert answer.all("set-cookie") == []
    assert_sealed(answer)


@pytest.mark.parametrize("host", ["localhost:8377", "LOCALHOST:8377", "[::1]:8377"])
def test_each_loopback_name_will_do(guard: Guard, host: str) -> None:
    assert ask(guard, "/page", [BEARER], host=host).status == 200


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_static_file_needs_no_token(guard: Guard, method: str) -> None:
    answer = ask(guard, "/static/page.css", method=method)
    assert answer.status == 200
    assert_sealed(answer)
    assert ask(guard, "/static/nowhere.css", method=method).status == 404


@pytest.mark.parametrize(
    "path", ["/static/../page", "/static/%2e%2e/page", "/static/./page.css", "/static/..\\page"]
)
def test_a_detour_through_static_files_leads_nowhere(guard: Guard, path: str) -> None:
    answer = ask(guard, path.replace("%2e", "."))
    assert_refused(answer, 401)


@pytest.mark.parametrize("known", [BEARER, ("Cookie", COOKIE)], ids=["bearer", "cookie"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([OUR_SCRIPT], 200),
        ([("HX-Request", "true")], 200),
        ([OUR_SCRIPT, ("Origin", f"http://{HOST}"), ("Sec-Fetch-Site", "same-origin")], 200),
        ([], 403),
        ([("X-Presentview", "0")], 403),
        ([("HX-Request", "false")], 403),
        ([("Origin", f"http://{HOST}")], 403),
        ([OUR_SCRIPT, ("Origin", "http://localhost:8377")], 403),
        ([OUR_SCRIPT, ("Origin", "null")], 403),
        ([OUR_SCRIPT, ("Sec-Fetch-Site", "cross-site"), *LINK], 403),
        ([OUR_SCRIPT, ("Sec-Fetch-Site", "same-site")], 403),
    ],
)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_change_needs_a_header_and_our_own_page(
    guard: Guard, method: str, headers: Headers, status: int, known: tuple[str, str]
) -> None:
    answer = ask(guard, "/change", [*headers, known], method=method)
    assert answer.status == status
    assert (SECRET.encode() in answer.body) == (status == 200)
    assert_sealed(answer)


@pytest.mark.parametrize(
    "name", ["Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "X-Presentview"]
)
def test_a_deciding_header_that_comes_twice_is_refused(guard: Guard, name: str) -> None:
    values = {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin", "X-Presentview": "1"}
    twice = [(name, values.get(name, "navigate"))] * 2
    site = [] if name == "Sec-Fetch-Site" else [("Sec-Fetch-Site", "cross-site")]
    if name in ("Origin", "X-Presentview"):
        site = []
    elif name == "Sec-Fetch-Dest":
        site.append(("Sec-Fetch-Mode", "navigate"))
    method = "POST" if name == "X-Presentview" else "GET"
    assert_refused(ask(guard, "/change", [*twice, *site, BEARER], method=method), 400)


def test_refusals_say_in_plain_text_what_is_wrong(guard: Guard) -> None:
    host = ask(guard, "/", host="<b>evil.test")
    assert host.all("content-type") == ["text/plain; charset=utf-8"]
    assert b"'<b>evil.test'" in host.body
    assert b"--allow-host" in host.body
    origin = ask(guard, "/", [("Origin", "http://evil.test")])
    assert origin.all("content-type") == ["text/plain; charset=utf-8"]
    assert b"'http://evil.test'" in origin.body


@pytest.mark.parametrize("path", ["/page", "/static/page.css"])
def test_more_headers_than_a_browser_sends_are_refused(guard: Guard, path: str) -> None:
    assert_refused(ask(guard, path, [BEARER, ("X-Big", "a" * limits.HEADER_BYTES)]), 431)
    assert_refused(ask(guard, f"{path}?{'a' * limits.HEADER_BYTES}", [BEARER]), 431)


def test_a_whole_url_as_target_is_refused(guard: Guard) -> None:
    assert_refused(ask(guard, "http://evil.test/", [BEARER]), 400)


@pytest.mark.parametrize("path", [*PAGES, *STATIC])
def test_every_answer_of_the_app_carries_our_headers(guard: Guard, path: str) -> None:
    assert_sealed(ask(guard, path, [BEARER]))


def test_a_page_gets_our_policy_and_is_not_kept(guard: Guard) -> None:
    answer = ask(guard, "/page", [BEARER])
    assert answer.all("content-security-policy") == [CONTENT_SECURITY_POLICY]
    assert answer.all("cache-control") == ["no-store"]


def test_a_response_keeps_its_own_policy_and_cache_rule_and_nothing_else(guard: Guard) -> None:
    answer = ask(guard, "/attachment", [BEARER])
    assert answer.all("content-security-policy") == ["sandbox; default-src 'none'"]
    assert answer.all("cache-control") == ["private, max-age=60"]
    assert_sealed(answer)


def test_an_app_that_fails_before_it_answers_still_gives_a_sealed_500() -> None:
    async def failing(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise ZeroDivisionError

    guard = Guard(failing, resolve_policy(host="127.0.0.1", port=8377), TOKENS)
    answer = ask(guard, "/broken", [BEARER])
    assert answer.status == 500
    assert_sealed(answer)


def test_without_a_token_the_other_checks_stay(app: Starlette) -> None:
    policy = resolve_policy(host="127.0.0.1", port=8377, token=False)
    guard = Guard(app, policy, None)
    assert ask(guard, "/page").status == 200
    assert ask(guard, "/page?token=of-before").status == 200
    assert_refused(ask(guard, "/page", host="evil.test:8377"), 400)
    assert_refused(ask(guard, "/page", [("Sec-Fetch-Site", "cross-site")]), 403)
    assert_refused(ask(guard, "/change", method="POST"), 403)


def test_a_guard_without_the_tokens_its_policy_asks_for_is_a_mistake(app: Starlette) -> None:
    with pytest.raises(ValueError, match="token"):
        Guard(app, resolve_policy(host="127.0.0.1", port=8377), None)
    with pytest.raises(ValueError, match="token"):
        Guard(app, resolve_policy(host="127.0.0.1", port=8377, token=False), TOKENS)


def test_a_websocket_is_closed_before_the_app_sees_it() -> None:
    sent: list[Message] = []

    async def unreachable(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    guard = Guard(unreachable, resolve_policy(host="127.0.0.1", port=8377), TOKENS)
    headers = [(b"host", HOST.encode()), (b"cookie", COOKIE.encode())]
    scope: Scope = {"type": "websocket", "path": "/page", "headers": headers}
    anyio.run(guard, scope, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_lifespan_reaches_the_app() -> None:
    seen: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["type"])

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(_message: Message) -> None:
        raise AssertionError

    guard = Guard(app, resolve_policy(host="127.0.0.1", port=8377), TOKENS)
    scope: Scope = {"type": "lifespan"}
    anyio.run(guard, scope, receive, send)
    assert seen == ["lifespan"]

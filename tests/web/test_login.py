from __future__ import annotations

import html
import re
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from presentview.web.denied import render_denied
from presentview.web.login import wanted_address
from presentview.web.network import resolve_policy
from presentview.web.security import Guard
from presentview.web.tokens import TokenStore

BASE = "http://127.0.0.1:8377"
TOKENS = TokenStore("t" * 43)
TOKEN = TOKENS.token


def echo(request: Request) -> Response:
    return PlainTextResponse(str(request.url.path) + "?" + request.url.query)


GUARD = Guard(
    Starlette(routes=[Route("/{path:path}", echo)]),
    resolve_policy(host="127.0.0.1", port=8377, allowed_hosts=["localhost:9000"]),
    TOKENS,
)


def get(address: str, base: str = BASE, **headers: str) -> httpx2.Response:
    sent = {key.replace("_", "-"): value for key, value in headers.items()}

    async def talk() -> httpx2.Response:
        transport = httpx2.ASGITransport(GUARD)
        async with httpx2.AsyncClient(transport=transport, base_url=base) as client:
            return await client.get(address, headers=sent)

    return anyio.run(talk)


@pytest.mark.parametrize(
    ("address", "target"),
    [
        (f"/?token={TOKEN}", "/"),
        (f"/s/abc?token={TOKEN}", "/s/abc"),
        (f"/s/abc?a=1&token={TOKEN}&b=%20c&d", "/s/abc?a=1&b=%20c&d"),
        (f"/s/%C3%A4%2Fb?t%6Fken={TOKEN}", "/s/%C3%A4%2Fb"),
        (f"//evil.test/x?token={TOKEN}", "/evil.test/x"),
        (f"///evil.test?token={TOKEN}", "/evil.test"),
        (f"/?token=http%3A%2F%2F127.0.0.1%3A8377%2F%3Ftoken%3D{TOKEN}%0A", "/"),
    ],
)
def test_a_right_token_is_exchanged_for_a_cookie_and_leaves_the_address(
    address: str, target: str
) -> None:
    answer = get(BASE + address)
    assert answer.status_code == 303
    assert answer.headers["location"] == target
    assert answer.content == b""
    assert answer.headers["cache-control"] == "no-store"
    cookie = answer.headers["set-cookie"]
    assert TOKEN not in cookie
    pair, *attributes = cookie.split("; ")
    assert pair == f"presentview_8377={TOKENS.cookie_value(8377)}"
    assert sorted(attributes) == ["HttpOnly", "Max-Age=31536000", "Path=/", "SameSite=lax"]
    assert get(target, cookie=pair).status_code == 200


def test_the_cookie_carries_the_port_the_browser_used() -> None:
    answer = get(f"/?token={TOKEN}", base="http://localhost:9000")
    pair = answer.headers["set-cookie"].partition(";")[0]
    assert pair == f"presentview_9000={TOKENS.cookie_value(9000)}"
    assert get("/", base="http://localhost:9000", cookie=pair).status_code == 200
    assert get("/", cookie=pair).status_code == 401


@pytest.mark.parametrize(
    "query",
    [
        "token=",
        "token",
        "token=wrong",
        f"token={TOKEN}x",
        f"token={TOKEN}&token={TOKEN}",
        f"token=wrong&token={TOKEN}",
        f"Token={TOKEN}",
        f"a=token={TOKEN}",
    ],
)
def test_a_wrong_token_gets_the_sign_in_page(query: str) -> None:
    answer = get(f"/s/abc?{query}")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "location" not in answer.headers


def test_a_token_in_the_address_counts_only_where_a_person_goes_there() -> None:
    assert get(f"/?token={TOKEN}", sec_fetch_mode="navigate").status_code == 303
    assert get(f"/?token={TOKEN}", sec_fetch_mode="cors").status_code == 401


def test_an_old_token_in_a_kept_link_is_removed_for_who_is_signed_in() -> None:
    cookie = f"presentview_8377={TOKENS.cookie_value(8377)}"
    answer = get("/s/abc?token=old&a=1", cookie=cookie)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/s/abc?a=1"
    assert "set-cookie" not in answer.headers


def test_a_fragment_for_a_stranger_makes_htmx_reload_the_page() -> None:
    assert get("/part", hx_request="true").headers["hx-refresh"] == "true"
    assert "hx-refresh" not in get("/part").headers


@given(path=st.binary(max_size=40), query=st.binary(max_size=40))
def test_no_address_leads_away_or_keeps_a_token(path: bytes, query: bytes) -> None:
    scope = {"path": "/", "raw_path": b"/" + path, "query_string": query + b"&token=secret"}
    address = wanted_address(scope).address
    assert re.fullmatch(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*", address)
    landed = urlsplit(urljoin(BASE + "/x/y", address))
    assert (landed.scheme, landed.netloc) == ("http", "127.0.0.1:8377")
    assert not re.search(r"[?&]token=", address)


@pytest.mark.parametrize(
    ("raw", "address"),
    [
        (b"//evil.test", "/evil.test"),
        (b"/\\evil.test", "/evil.test"),
        (b"/\\/\\//evil.test", "/evil.test"),
        (b"/\t/evil.test", "/%09/evil.test"),
        (b"/\r\nSet-Cookie:a=b", "/%0D%0ASet-Cookie:a=b"),
        (b"/a\\..\\b", "/a%5C..%5Cb"),
        (b"/\xff<\"'>", "/%FF%3C%22'%3E"),
    ],
)
def test_the_way_back_stays_on_this_server(raw: bytes, address: str) -> None:
    assert wanted_address({"path": "/", "raw_path": raw}).address == address


def test_a_server_that_gives_no_raw_path_will_do() -> None:
    assert wanted_address({"path": "/ä b"}).address == "/%C3%A4%20b"


def fields(page: str) -> list[tuple[str, str]]:
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page)
    return [(html.unescape(name), html.unescape(value)) for name, value in found]


def action(page: str) -> str:
    (found,) = re.findall(r'<form method="get" action="([^"]*)">', page)
    return html.unescape(found)


def test_the_form_leads_back_to_the_wanted_address() -> None:
    page = get("/s/a%20b?a=1&a=2&q=x%26y+z&empty&token=wrong").text
    assert action(page) == "/s/a%20b"
    assert fields(page) == [("a", "1"), ("a", "2"), ("q", "x&y z"), ("empty", "")]
    assert "presentview serve" in page


def test_the_sign_in_page_obeys_its_own_policy() -> None:
    page = render_denied("/s/abc?a=1").decode()
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=|https?://", page)
    assert set(re.findall(r'(?:href|src)="([^"]*)"', page)) == {"/static/denied.css"}


@given(st.text())
def test_no_address_breaks_out_of_the_sign_in_page(text: str) -> None:
    page = render_denied(f"/{text}?{text}").decode()
    tags = re.findall(r"<(/?[a-z0-9]+)", page)
    plain = re.findall(r"<(/?[a-z0-9]+)", render_denied("/").decode())
    assert [tag for tag in tags if tag != "input"] == [tag for tag in plain if tag != "input"]


def test_a_hostile_address_is_text_in_the_sign_in_page() -> None:
    page = get("/%22%3E%3Cimg%20src=x%3E?%22%3E%3Cscript%3E=%3C/form%3E").text
    assert "<img" not in page
    assert "<script" not in page
    assert fields(page) == [('"><script>', "</form>")]

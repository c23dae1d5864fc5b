from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from presentview.web.render.links import Target, find_target, link_markup
from tests.unit.render.page import LINK, Page


@pytest.mark.parametrize(
    ("url", "href", "host"),
    [
        ("https://example.org", "https://example.org", "example.org"),
        ("HTTP://Example.ORG/Path", "http://example.org/Path", "example.org"),
        ("http://localhost:8000/x?y=1#z", "http://localhost:8000/x?y=1#z", "localhost:8000"),
        ("http://[::1]:80/", "http://[::1]:80/", "[::1]:80"),
        ("https://example.org/a b", "https://example.org/a%20b", "example.org"),
        ("https://example.org/é?q=ü", "https://example.org/%C3%A9?q=%C3%BC", "example.org"),
        ("https://пример.рф/", "https://xn--e1afmkfd.xn--p1ai/", "xn--e1afmkfd.xn--p1ai"),
        ("https://аpple.com", "https://xn--pple-43d.com", "xn--pple-43d.com"),
        ("mailto:a@example.org?subject=x", "mailto:a@example.org?subject=x", "a@example.org"),
        ("ht\ntps://exam\u200bple.org", "https://example.org", "example.org"),
    ],
    ids=ascii,
)
def test_a_link_leads_to_the_host_that_is_shown(url: str, href: str, host: str) -> None:
    assert find_target(url) == Target(href, host)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " java\tscript:alert(1)",
        "java\u200bscript:alert(1)",
        "\x01javascript:alert(1)",
        "vbscript:x",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "blob:https://example.org/x",
        "//example.org",
        "/sessions",
        "other.html",
        "#top",
        "",
        "http:example.org",
        "http:/example.org",
        "https:///example.org",
        "https:\\\\example.org",
        "https://good.example\\@evil.example",
        "https://good.example@evil.example",
        "https://user:pw@example.org",
        "https://exa mple.org",
        "https://example.org:port/",
        "https://%65xample.org",
        "https://[::1",
        "https://.",
        "https://\u202e/",
        "https://example.org\uff0fpath@x",
        "mailto:",
        "mailto:nobody",
        "https://example.org/" + "a" * 5000,
    ],
    ids=lambda url: ascii(url)[:40],
)
def test_anything_else_is_no_link(url: str) -> None:
    assert find_target(url) is None


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("the docs", True),
        ("example.org", False),
        ("https://example.org/a", False),
        ("Example.org/a", False),
        ("example.org.evil.example", True),
        ("example.organic", True),
        ("https://good.example/", True),
    ],
)
def test_the_host_is_shown_unless_the_text_begins_with_it(text: str, is_shown: bool) -> None:
    html = link_markup("https://example.org/a", escape(text), text)
    assert ('<span class="host">(example.org)</span>' in html) is is_shown


def test_a_link_without_a_text_shows_its_address() -> None:
    assert (
        Page(link_markup("https://example.org/a", escape(""), "")).text == "https://example.org/a"
    )


def test_an_address_that_is_not_followed_stands_behind_its_text() -> None:
    html = link_markup("javascript:alert(1)", escape("click"), "click")
    assert html == "click <code>javascript:alert(1)</code>"


def test_a_long_address_that_is_not_followed_is_shortened() -> None:
    html = link_markup("data:image/png;base64," + "A" * 100_000, escape("x"), "x")
    assert len(html) < 300
    assert "…" in html


@given(st.text(), st.text())
def test_whatever_the_address_a_link_is_safe_or_none(rest: str, text: str) -> None:
    for scheme in ("", "http://", "https://a", "mailto:", "javascript:"):
        page = Page(link_markup(scheme + rest, escape(text), text))
        page.assert_only({"a": LINK, "code": set(), "span": {"class", "data-ch"}})

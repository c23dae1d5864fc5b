from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.errors import AccessDenied, ConfigError
from presentview.web.network import Authority, NetworkPolicy, parse_authority, resolve_policy


def loopback(*allowed: str, port: int = 8377, token: bool = True) -> NetworkPolicy:
    return resolve_policy(host="127.0.0.1", port=port, allowed_hosts=allowed, token=token)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost", Authority("localhost", None)),
        ("LocalHost:8377", Authority("localhost", 8377)),
        ("127.0.0.1:1", Authority("127.0.0.1", 1)),
        ("[::1]:8377", Authority("::1", 8377)),
        ("[0:0:0:0:0:0:0:1]", Authority("::1", None)),
        ("box.tail-1234.example:65535", Authority("box.tail-1234.example", 65535)),
        ("my_box:80", Authority("my_box", 80)),
    ],
)
def test_an_authority_splits_into_host_and_port(text: str, expected: Authority) -> None:
    assert parse_authority(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":8377",
        "localhost:",
        "localhost:0",
        "localhost:08377",
        "localhost:65536",
        "localhost:999999",
        "localhost:8377:8377",
        "localhost:+1",
        "localhost: 8377",
        " localhost",
        "localhost ",
        "localhost.",
        "localhost\n",
        "local\x00host",
        "localhost\t:8377",
        "user@localhost:8377",
        "user:pass@localhost",
        "http://localhost",
        "localhost/path",
        "localhost,evil.test",
        "*",
        "*.localhost",
        "::1",
        "::1:8377",
        "[::1",
        "[::1]8377",
        "[::1%25lo]",
        "[:::]",
        "[127.0.0.1]",
        "localho\u017ft",
        "loc\u0430lhost",
        "\u212aelvin",
        "localhost:\u0661",
        "-localhost",
        "a" * 300,
    ],
    ids=ascii,
)
def test_anything_else_is_no_authority(text: str) -> None:
    assert parse_authority(text) is None


@given(st.text())
def test_no_text_makes_the_parser_fail(text: str) -> None:
    found = parse_authority(text)
    assert found is None or found.host == found.host.lower()


@given(st.text(alphabet=st.characters(max_codepoint=255)))
def test_no_host_header_passes_but_the_allowed_ones(text: str) -> None:
    if text.lower() not in {"127.0.0.1:8377", "localhost:8377", "[::1]:8377"}:
        with pytest.raises(AccessDenied) as caught:
            loopback().match_host(text)
        assert caught.value.status == 400
        assert caught.value.reason.replace("\n", "").isprintable()


@pytest.mark.parametrize("name", ["127.0.0.1:8377", "localhost:8377", "[::1]:8377"])
def test_a_loopback_server_answers_to_the_loopback_names_with_its_port(name: str) -> None:
    assert str(loopback().match_host(name)) == name
    assert str(loopback().match_origin(f"http://{name}")) == name


@pytest.mark.parametrize(
    "name",
    ["localhost", "localhost:80", "localhost:8378", "evil.test:8377", "0.0.0.0:8377", "127.1:8377"],
)
def test_the_reason_names_what_came_what_is_allowed_and_the_option(name: str) -> None:
    with pytest.raises(AccessDenied) as caught:
        loopback().match_host(name)
    assert caught.value.status == 400
    for part in (name, "127.0.0.1:8377, localhost:8377, [::1]:8377", "--allow-host"):
        assert part in caught.value.reason


def test_control_characters_of_a_host_do_not_reach_the_reason() -> None:
    with pytest.raises(AccessDenied) as caught:
        loopback().match_host("evil\x1b[31m\r\nSet-Cookie: a=b\xff")
    assert r"evil\x1b[31m\x0d\x0aSet-Cookie: a=b\xff" in caught.value.reason


def test_a_long_host_is_cut_in_the_reason() -> None:
    with pytest.raises(AccessDenied) as caught:
        loopback().match_host("a" * 10_000)
    assert len(caught.value.reason) < 1000


def test_a_host_without_port_means_port_80() -> None:
    assert loopback(port=80).match_host("localhost").port == 80
    assert loopback(port=80).match_origin("http://localhost").port == 80
    with pytest.raises(AccessDenied):
        loopback(port=443).match_host("localhost")


def test_an_allowed_host_takes_the_port_of_the_server_or_its_own() -> None:
    policy = loopback("Box.Example", "localhost:9000", "[2001:db8::1]:81")
    for name in ("box.example:8377", "localhost:9000", "[2001:db8::1]:81"):
        assert str(policy.match_host(name)) == name
    for name in ("box.example:9000", "box.example", "[2001:db8::1]:8377"):
        with pytest.raises(AccessDenied):
            policy.match_host(name)


def test_a_host_behind_https_leaves_out_its_port() -> None:
    policy = loopback("box.example:443")
    assert policy.match_host("box.example").port == 443
    assert policy.match_origin("https://box.example").port == 443
    with pytest.raises(AccessDenied):
        policy.match_origin("http://box.example")


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.test",
        "http://evil.test:8377",
        "http://localhost",
        "http://localhost:3000",
        "https://localhost:8377",
        "http://localhost:8377/",
        "http://localhost:8377.evil.test",
        "http://localhost:8377@evil.test",
        "http://user@localhost:8377",
        "http://localhost:8377 http://localhost:8377",
        "HTTP://localhost:8377",
        "ws://localhost:8377",
        "file://",
        "localhost:8377",
        "chrome-extension://abcdef",
    ],
)
def test_every_other_origin_is_refused(origin: str) -> None:
    with pytest.raises(AccessDenied) as caught:
        loopback().match_origin(origin)
    assert caught.value.status == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]", "192.168.1.5", "box.example"])
@pytest.mark.parametrize(
    ("names", "token", "advice"),
    [
        ((), True, "add --allow-host NAME"),
        (("box.example",), False, "leave out --no-token"),
        ((), False, "leave out --no-token"),
    ],
    ids=["no name", "no token", "neither"],
)
def test_a_reachable_bind_needs_a_token_and_a_name(
    host: str, names: tuple[str, ...], token: bool, advice: str
) -> None:
    with pytest.raises(ConfigError, match=advice):
        resolve_policy(host=host, port=8377, allowed_hosts=names, token=token)


def test_no_token_with_a_name_others_can_reach_is_refused() -> None:
    with pytest.raises(ConfigError, match="leave out one of the two"):
        loopback("box.example", token=False)
    assert not loopback("localhost:9000", token=False).token


@pytest.mark.parametrize(
    ("host", "names", "url"),
    [
        ("127.0.0.1", (), "http://127.0.0.1:8377"),
        ("127.0.0.2", (), "http://127.0.0.2:8377"),
        ("localhost", (), "http://localhost:8377"),
        ("::1", (), "http://[::1]:8377"),
        ("[::1]", (), "http://[::1]:8377"),
        ("127.0.0.1", ("box.example",), "http://127.0.0.1:8377"),
        ("0.0.0.0", ("box.example", "10.0.0.1"), "http://box.example:8377"),
        ("::", ("box.example:443",), "https://box.example"),
        ("192.168.1.5", ("[2001:db8::1]",), "http://[2001:db8::1]:8377"),
    ],
)
def test_the_address_to_open_is_one_the_server_answers_to(
    host: str, names: tuple[str, ...], url: str
) -> None:
    policy = resolve_policy(host=host, port=8377, allowed_hosts=names)
    assert policy.url == url
    assert policy.match_host(url.partition("://")[2]).url == url


@pytest.mark.parametrize(
    "name",
    [
        "",
        "*",
        "http://box",
        "box/",
        "box:0",
        "box:99999",
        "2001:db8::1",
        "0.0.0.0",
        "[::]",
        "bücher",
    ],
)
def test_a_name_that_cannot_work_is_refused_with_advice(name: str) -> None:
    with pytest.raises(ConfigError, match=r"write"):
        loopback(name)


@pytest.mark.parametrize("host", ["", "localhost:80", "http://localhost", "a b", "*"])
def test_a_bind_address_that_cannot_work_is_refused(host: str) -> None:
    with pytest.raises(ConfigError, match="--host"):
        resolve_policy(host=host, port=8377)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_does_not_exist_is_refused(port: int) -> None:
    with pytest.raises(ConfigError, match="65535"):
        loopback(port=port)

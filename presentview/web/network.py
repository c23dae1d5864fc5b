"""Which names the server answers to, decided once at start.

A loopback address is no wall: any page in the person's browser can send requests to it, and a name
that an attacker owns can be made to resolve to it. So the server answers only to names it was told,
each with its port, and a bind that other machines can reach needs a token and a spoken name.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from presentview.errors import AccessDenied, ConfigError

__all__ = ["AllowedHost", "Authority", "NetworkPolicy", "parse_authority", "resolve_policy"]

_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "::1")
_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<v6>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?))"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
)
_ORIGIN: Final = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/@?#\\]+)")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_SHOWN_CHARS: Final = 120
_CONTROLS: Final = {code: f"\\x{code:02x}" for code in (*range(32), 127)}


class Authority(NamedTuple):
    """A host in lower case, IPv6 without brackets, and its port, None where none was written."""

    host: str
    port: int | None


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """A name and port under which the server may be reached.

    `named` marks those the person asked for: something that speaks https may stand before them.
    """

    host: str
    port: int
    named: bool = False

    def __str__(self) -> str:
        return f"{_bracketed(self.host)}:{self.port}"

    @property
    def url(self) -> str:
        """The address a browser opens, without a path."""
        if self.named and self.port == _DEFAULT_PORTS["https"]:
            return f"https://{_bracketed(self.host)}"
        return f"http://{self}"

    def answers(self, host: Authority) -> bool:
        """Tell whether a Host header that parsed to this names us.

        Browsers leave out the default port: 80, and 443 where https stands before a named host.
        """
        if host.host != self.host:
            return False
        if host.port is not None:
            return host.port == self.port
        return self.port == _DEFAULT_PORTS["http"] or (
            self.named and self.port == _DEFAULT_PORTS["https"]
        )


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """Where the server listens, under which names it answers and whether it wants a token."""

    host: str
    port: int
    allowed: tuple[AllowedHost, ...]
    token: bool

    @property
    def url(self) -> str:
        """The address to print and open: the one bound, or the first name given if that is none."""
        if _is_loopback(self.host):
            return AllowedHost(self.host, self.port).url
        return next(host for host in self.allowed if host.named).url

    def match_host(self, value: str) -> AllowedHost:
        """Return the allowed host which a Host header names.

        Raises `AccessDenied` (400) when it is malformed or names another host or port.
        """
        authority = parse_authority(value)
        if authority is not None:
            for allowed in self.allowed:
                if allowed.answers(authority):
                    return allowed
        raise AccessDenied(
            f"This server was asked for under the name {_shown(value)}, which it does not know.\n"
            f"It answers to: {', '.join(map(str, self.allowed))}.\n"
            "To reach it under another name, start it with --allow-host NAME, or with\n"
            "--allow-host NAME:PORT if the port differs (443 behind https).",
            status=400,
        )

    def match_origin(self, value: str) -> AllowedHost:
        """Return the allowed host which an Origin header names.

        Raises `AccessDenied` (403) for every other origin, `null` included.
        """
        parts = _ORIGIN.fullmatch(value)
        authority = parse_authority(parts["authority"]) if parts else None
        if parts and authority:
            port = authority.port or _DEFAULT_PORTS[parts["scheme"]]
            for allowed in self.allowed:
                if (allowed.host, allowed.port) == (authority.host, port) and (
                    parts["scheme"] == "http" or allowed.named
                ):
                    return allowed
        raise AccessDenied(
            f"A page from {_shown(value)} asked for this, and this server shares nothing with"
            " other origins.",
            status=403,
        )


def parse_authority(text: str) -> Authority | None:
    """Split `host` or `host:port` strictly; None for anything else.

    Refused are user names, paths, wildcards, zones, control and non-ASCII characters, an IPv6
    address without brackets, an empty port, and one with leading zeros or over 65535.
    """
    match = _AUTHORITY.fullmatch(text.lower()) if text.isascii() else None
    if match is None:
        return None
    port = int(match["port"]) if match["port"] else None
    if port is not None and port > 65535:
        return None
    if match["v6"] is None:
        return Authority(match["name"], port)
    try:
        return Authority(str(ipaddress.IPv6Address(match["v6"])), port)
    except ValueError:
        return None


def resolve_policy(
    *, host: str, port: int, allowed_hosts: Sequence[str] = (), token: bool = True
) -> NetworkPolicy:
    """Decide under which names a server bound to host and port answers.

    `allowed_hosts` are the person's own: `NAME`, which takes the port of the server, or
    `NAME:PORT` for a tunnel or proxy. Raises `ConfigError` for a name that cannot work, and when
    other machines could reach a server that has no token or was told no name.
    """
    bound = _bind_host(host)
    if not 0 <= port <= 65535:
        raise ConfigError(f"port {port} does not exist; choose one from 0 (any free one) to 65535")
    named = tuple(_named_host(text, port) for text in allowed_hosts)
    reachable = not _is_loopback(bound)
    if reachable and not token:
        raise ConfigError(
            f"--no-token on {bound} would show every session to anyone who reaches this machine; "
            "leave out --no-token, or leave out --host"
        )
    if reachable and not named:
        raise ConfigError(
            f"on {bound} other machines reach the server, so it must know the name they use; "
            "add --allow-host NAME (the host name or address to type in the browser)"
        )
    exposed = next((entry for entry in named if not _is_loopback(entry.host)), None)
    if exposed and not token:
        raise ConfigError(
            f"--allow-host {exposed} with --no-token would show every session to anyone who "
            "reaches that name; leave out one of the two"
        )
    names = dict.fromkeys((bound, *_LOOPBACK_NAMES) if not reachable else _LOOPBACK_NAMES)
    own = tuple(AllowedHost(name, port) for name in names)
    return NetworkPolicy(bound, port, tuple(dict.fromkeys(own + named)), token)


def _bind_host(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text.removeprefix("[").removesuffix("]")))
    except ValueError:
        authority = parse_authority(text)
    if authority is None or authority.port is not None:
        raise ConfigError(
            f"--host {_shown(text)} is no address; write one like 127.0.0.1 or ::1, and the port "
            "with --port"
        )
    return authority.host


def _named_host(text: str, port: int) -> AllowedHost:
    authority = parse_authority(text)
    if authority is None:
        raise ConfigError(
            f"--allow-host {_shown(text)} is no host name; write NAME or NAME:PORT, without "
            "http:// and path, IPv6 in brackets, international names as xn--, no wildcards"
        )
    if _is_wildcard(authority.host):
        raise ConfigError(
            f"--allow-host {authority.host} means every address and names none; write the name or "
            "address that is typed in the browser"
        )
    return AllowedHost(authority.host, authority.port or port, named=True)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_wildcard(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _shown(text: str) -> str:
    short = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
    return "'" + short.encode("ascii", "backslashreplace").decode().translate(_CONTROLS) + "'"

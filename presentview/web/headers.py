"""The headers that every response carries, whoever made it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

__all__ = ["CONTENT_SECURITY_POLICY", "FIXED_HEADERS", "sealed"]

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

FIXED_HEADERS: Final[dict[bytes, bytes]] = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": (
        b"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"
    ),
}

_DEFAULT_HEADERS: Final[dict[bytes, bytes]] = {
    b"content-security-policy": CONTENT_SECURITY_POLICY.encode(),
    b"cache-control": b"no-store",
}

RawHeaders = Iterable[tuple[bytes, bytes]]


def sealed(headers: RawHeaders) -> list[tuple[bytes, bytes]]:
    """Return the headers of a response with ours added.

    A content security policy and a cache rule the response has of its own stay; of the rest ours
    replace what was there, and nothing that opens a response to other origins gets out.
    """
    kept = [
        (name, value)
        for name, value in headers
        if name.lower() not in FIXED_HEADERS and not name.lower().startswith(b"access-control-")
    ]
    present = {name.lower() for name, _ in kept}
    kept.extend(FIXED_HEADERS.items())
    kept.extend(pair for pair in _DEFAULT_HEADERS.items() if pair[0] not in present)
    return kept

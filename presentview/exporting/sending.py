"""Sending traces to a collector by HTTP."""

from __future__ import annotations

import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from presentview.errors import ConfigError, PresentviewError
from presentview.limits import OTLP_ANSWER_BYTES

__all__ = ["HEADERS_VARIABLE", "checked_endpoint", "send"]

HEADERS_VARIABLE: Final = "OTEL_EXPORTER_OTLP_HEADERS"
"""The variable of the environment with further headers, as `name=value,name=value`."""

_SECONDS: Final = 30
_PATH: Final = "/v1/traces"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """What is sent is not for whoever the receiver names."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""
        return


def checked_endpoint(url: str) -> str:
    """The address to send to: `url`, with `/v1/traces` if it has no path. Raises `ConfigError` for
    anything but http and https, and for a name or password in it, which would be printed.
    """
    try:
        parts = urlsplit(url)
        if "@" in parts.netloc:
            raise ConfigError(
                "--otlp-endpoint takes an address without a name and password: send them as a "
                f"header, by {HEADERS_VARIABLE}"
            )
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
        valid = valid and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(f"--otlp-endpoint takes an http or https address, not {url!r}")
    return url if parts.path.strip("/") else parts._replace(path=_PATH).geturl()


def send(endpoint: str, bodies: Iterable[bytes]) -> int:
    """Post each body as JSON, and return how many there were.

    Headers named by `OTEL_EXPORTER_OTLP_HEADERS` go along. Raises `PresentviewError` if one is
    not taken; those before it have been.
    """
    opener = urllib.request.build_opener(_NoRedirects)
    count = 0
    for body in bodies:
        headers = {**_further_headers(), "Content-Type": "application/json"}
        # The scheme was checked by `checked_endpoint`.
        request = urllib.request.Request(endpoint, body, headers, method="POST")  # noqa: S310
        try:
            with opener.open(request, timeout=_SECONDS) as answer:
                answer.read(OTLP_ANSWER_BYTES)
        except urllib.error.HTTPError as error:
            with error:
                said = error.read(OTLP_ANSWER_BYTES).decode("utf-8", "replace").strip()
            told = f"{error.code} {error.reason}" + (f": {said}" if said else "")
            raise PresentviewError(f"{endpoint} answered {told}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise PresentviewError(f"cannot send to {endpoint}: {reason}") from error
        count += 1
    return count


def _further_headers() -> dict[str, str]:
    pairs = (part.partition("=") for part in os.environ.get(HEADERS_VARIABLE, "").split(","))
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs if name.strip()}

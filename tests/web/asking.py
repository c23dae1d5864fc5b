"""Requests past every client that would tidy them up, straight into the guarded app."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anyio
from starlette.types import Message

from presentview.sessions import Roots, session_id
from presentview.web.app import create_app
from presentview.web.headers import CONTENT_SECURITY_POLICY, FIXED_HEADERS
from presentview.web.hub import Hub
from presentview.web.network import resolve_policy
from presentview.web.security import Guard
from presentview.web.tokens import TokenStore

__all__ = [
    "BEARER",
    "HOST",
    "TOKENS",
    "Answer",
    "Headers",
    "Serving",
    "ask",
    "assert_sealed",
]

Headers = list[tuple[str, str]]

HOST = "127.0.0.1:8377"
TOKENS = TokenStore("t" * 43)
BEARER = ("Authorization", f"Bearer {TOKENS.token}")


@dataclass
class Answer:
    status: int = 0
    headers: Headers = field(default_factory=list)
    body: bytes = b""

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    def one(self, name: str) -> str:
        (value,) = self.all(name)
        return value

    @property
    def text(self) -> str:
        return self.body.decode()


class Serving:
    """The real app over one folder, behind its guard; the address of its session `s`."""

    def __init__(self, folder: Path) -> None:
        self.app = create_app(Roots((folder,), ()))
        self.hub: Hub = self.app.state.hub
        self.guard = Guard(self.app, resolve_policy(host="127.0.0.1", port=8377), TOKENS)
        self.session = session_id(folder / "s.jsonl")
        self.page = f"/s/{self.session}"

    def ask(self, target: str) -> Answer:
        return ask(self.guard, target)

    def close(self) -> None:
        """What the server does as it ends."""

        async def end() -> None:
            self.hub.close()
            await self.hub.run()

        anyio.run(end)


def ask(
    guard: Guard,
    target: str,
    headers: Iterable[tuple[str, str]] = (BEARER,),
    *,
    method: str = "GET",
    host: str = HOST,
    leaves_at: str = "",
) -> Answer:
    """The answer to one request. An event stream is left after its first piece or, with
    `leaves_at` "once" or "start", at once or when it has started.
    """
    answer = Answer()
    raw_path, _, query = target.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(raw_path, errors="replace"),
        "raw_path": raw_path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "server": ("127.0.0.1", 8377),
        "client": ("127.0.0.1", 40000),
        "headers": [
            (key.lower().encode(), value.encode("latin-1"))
            for key, value in (("Host", host), *headers)
        ],
    }

    async def talk() -> None:
        leaves = anyio.Event()
        asked = False
        if leaves_at == "once":
            leaves.set()

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                assert answer.status == 0, "a response started twice"
                answer.status = message["status"]
                answer.headers = [
                    (key.decode("latin-1").lower(), value.decode("latin-1"))
                    for key, value in message["headers"]
                ]
                if leaves_at == "start":
                    leaves.set()
            else:
                answer.body += message.get("body", b"")
                goes_on = message.get("more_body") and "event-stream" not in str(answer.headers)
                if not goes_on:
                    leaves.set()

        async def receive() -> Message:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await leaves.wait()
            return {"type": "http.disconnect"}

        await guard(scope, receive, send)

    anyio.run(talk)
    return answer


def assert_sealed(answer: Answer, *, policy: str = CONTENT_SECURITY_POLICY) -> None:
    """Whatever is answered carries our headers, each once, and opens nothing to others."""
    for name, value in FIXED_HEADERS.items():
        assert answer.all(name.decode()) == [value.decode()]
    assert answer.all("content-security-policy") == [policy]
    assert len(answer.all("cache-control")) == 1
    assert not [key for key, _ in answer.headers if key.startswith("access-control-")]

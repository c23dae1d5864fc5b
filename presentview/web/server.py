"""Run the web app on one socket, from the printed address to a quiet end.

The socket is bound and listening before its address is printed, so the address is true and a
browser that is faster than the app waits. Ctrl-C and SIGTERM end the server with exit code 0, also
while event streams are open: ending a server this way is how it is meant to end. A second Ctrl-C
does not wait for anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from starlette.applications import Starlette

from presentview import limits
from presentview.errors import ConfigError
from presentview.web.network import NetworkPolicy, resolve_policy
from presentview.web.security import Guard
from presentview.web.tokens import TokenStore

__all__ = ["AppFactory", "bind", "serve"]

AppFactory = Callable[[NetworkPolicy], Starlette]

_PORTS_TRIED: Final = 20
_BACKLOG: Final = 128
_DRAIN_SECONDS: Final = 1
_CUT_OFF_MESSAGES: Final = (
    "Cancel %s running task(s)",
    "ASGI callable returned without completing response",
)


def serve(
    app_factory: AppFactory,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    allowed_hosts: Sequence[str] = (),
    token: bool = True,
    new_token: bool = False,
    open_browser: bool = False,
    path: str = "/",
    state: Path | None = None,
) -> int:
    """Serve the app until it is interrupted, and return the exit code, 0.

    `port` None takes the default port or the next free one, 0 any free one. The address of `path`,
    which has no query, is printed alone on its line, flushed, with the token added. `state` is the
    folder of the token (default: `state_folder`).

    The app is put behind `Guard`. If it has `app.state.begin_shutdown`, that is called without
    arguments in the event loop when the end begins, so that streams can close by themselves; what
    still runs a second later is cancelled. Raises `ConfigError` when the settings cannot work or
    the port is taken.
    """
    resolve_policy(host=host, port=port or 0, allowed_hosts=allowed_hosts, token=token)
    with bind(host, port) as listener:
        policy = resolve_policy(
            host=host,
            port=listener.getsockname()[1],
            allowed_hosts=allowed_hosts,
            token=token,
        )
        # Only now: a start that fails must not have thrown the old token away.
        tokens = TokenStore.open(state, new=new_token) if token else None
        app = app_factory(policy)
        server = _Server(_uvicorn_config(Guard(app, policy, tokens)), app)
        url = policy.url + path + (f"?token={tokens.token}" if tokens else "")
        with _signals_end(server), _quiet_end(server):
            sys.stdout.write(f"{url}\n")
            sys.stdout.flush()
            if open_browser:
                _open_browser(url)
            server.run(sockets=[listener])
    return 0


def bind(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens on host and port; None as port means the default or one near.

    Raises `ConfigError` when the port is taken, not permitted, or host is no address of this
    machine.
    """
    if port is not None:
        return _listen(host, port)
    last = limits.DEFAULT_PORT + _PORTS_TRIED - 1
    for candidate in range(limits.DEFAULT_PORT, last + 1):
        with contextlib.suppress(_PortTaken):
            return _listen(host, candidate)
    raise ConfigError(
        f"the ports {limits.DEFAULT_PORT} to {last} are all taken; choose another with --port, or "
        "any free one with --port 0"
    )


class _PortTaken(ConfigError):
    """Something else listens there."""


def _listen(host: str, port: int) -> socket.socket:
    bare = host.removeprefix("[").removesuffix("]")
    # The resolver may answer with any address for localhost; the policy took it for loopback.
    address = "127.0.0.1" if bare.lower() == "localhost" else bare
    listener: socket.socket | None = None
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        if os.name == "posix":  # elsewhere it would share a port that is in use
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        # Two sockets may be bound to one port as long as none listens, so this settles it.
        listener.listen(_BACKLOG)
    except OSError as error:
        if listener is not None:
            listener.close()
        raise _bind_error(host, port, error) from error
    return listener


def _bind_error(host: str, port: int, error: OSError) -> ConfigError:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return ConfigError(
            f"--host {host} is no address of this machine; leave it out to use 127.0.0.1"
        )
    if error.errno == errno.EADDRINUSE:
        return _PortTaken(
            f"port {port} is taken, perhaps by another presentview; choose another with --port, or "
            "leave it out to get a free one"
        )
    if error.errno == errno.EACCES:
        return ConfigError(f"port {port} is not permitted to this user; choose one from 1024 up")
    return ConfigError(f"cannot listen on {host} port {port}: {error.strerror or error}")


def _uvicorn_config(app: Guard) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="h11",  # the parser whose header size can be limited
        ws="none",
        h11_max_incomplete_event_size=limits.HEADER_BYTES,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )


class _Server(uvicorn.Server):
    """A server for which a signal is a request to end, not a reason to die."""

    def __init__(self, config: uvicorn.Config, app: Starlette) -> None:
        super().__init__(config)
        self._begin_shutdown: Callable[[], object] | None = getattr(
            app.state, "begin_shutdown", None
        )

    def handle_exit(self, _sig: int, _frame: FrameType | None) -> None:
        """Begin to end; a second signal ends without waiting.

        The inherited method remembers the signal and raises it again in the end.
        """
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let the app close its streams, then wait for what still runs."""
        if self._begin_shutdown is not None:
            self._begin_shutdown()
        await super().shutdown(sockets)


@contextlib.contextmanager
def _signals_end(server: _Server) -> Iterator[None]:
    """Let signals end the server from now on, also before it runs: whoever was told the address
    may end it at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, server.handle_exit) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _quiet_end(server: uvicorn.Server) -> Iterator[None]:
    """Keep out of the log that streams are cut off because the server ends."""

    def is_news(record: logging.LogRecord) -> bool:
        if not server.should_exit:
            return True
        error = record.exc_info[1] if record.exc_info else None
        return not (
            isinstance(error, asyncio.CancelledError)
            or str(record.msg).startswith(_CUT_OFF_MESSAGES)
        )

    logger = logging.getLogger("uvicorn.error")
    logger.addFilter(is_news)
    try:
        yield
    finally:
        logger.removeFilter(is_news)


def _open_browser(url: str) -> None:
    """Open url in the person's browser if there is one, without waiting for it."""

    def attempt() -> None:
        with contextlib.suppress(Exception):
            webbrowser.open(url)

    threading.Thread(target=attempt, name="open browser", daemon=True).start()

"""How the demo calls the web app."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from starlette.applications import Starlette

from presentview.sessions import Roots, session_id
from presentview.web.app import create_app
from presentview.web.network import NetworkPolicy
from presentview.web.server import serve

__all__ = ["serve_session"]


def serve_session(
    session: Path,
    on_bound: Callable[[NetworkPolicy], None],
    *,
    workspace: Path,
    port: int | None,
    open_browser: bool,
) -> None:
    """Serve the folder of `session`, with its page first, until the server is interrupted. Its
    edits are compared with the files in the `workspace`.

    `on_bound` is called when the port is taken, before the address is printed. Raises
    `ConfigError` as `serve` does.
    """

    def make_app(policy: NetworkPolicy) -> Starlette:
        app = create_app(Roots.of([session.parent]), workspace=workspace)
        on_bound(policy)
        return app

    path = f"/s/{session_id(session)}"
    serve(make_app, port=port, open_browser=open_browser, path=path)

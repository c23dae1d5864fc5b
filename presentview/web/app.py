"""The web app: its routes and how they hang together."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from presentview._assets import static_dir
from presentview.sessions import Roots
from presentview.web import changepage, pages, parts, timepage
from presentview.web.apart import ApartError
from presentview.web.finding import found
from presentview.web.hub import Hub
from presentview.web.network import NetworkPolicy
from presentview.web.stream import events

__all__ = ["create_app", "make_factory"]

_ROUTES: Final = (
    Route("/", pages.session_list, name="list"),
    Route("/events", events, name="events"),
    Route("/s/{session}.json", pages.as_json, name="json"),
    Route("/s/{session}", pages.transcript, name="session"),
    Route("/s/{session}/timings", timepage.timings, name="timings"),
    Route("/s/{session}/timings/waterfall", timepage.waterfall, name="waterfall"),
    Route("/s/{session}/timings/figures", timepage.tools, name="figures"),
    Route("/s/{session}/changes", changepage.changes, name="changes"),
    Route("/s/{session}/changes/part", changepage.part, name="changes-part"),
    Route("/s/{session}/changes/known", changepage.known, name="changes-known"),
    Route("/s/{session}/changes/verdicts", changepage.verdicts, name="changes-verdicts"),
    Route("/s/{session}/changes/patch", changepage.patch, name="changes-patch"),
    Route("/s/{session}/raw", pages.raw, name="raw"),
    Route("/s/{session}/file", pages.download, name="download"),
    Route("/s/{session}/since/{position}", parts.since, name="since"),
    Route("/s/{session}/cards", parts.cards, name="cards"),
    Route("/s/{session}/kids/{card}", parts.kids, name="kids"),
    Route("/s/{session}/next", parts.next_card, name="next"),
    Route("/s/{session}/map", parts.session_map, name="map"),
    Route("/s/{session}/band", parts.band, name="band"),
    Route("/s/{session}/outline", parts.outline, name="outline"),
    Route("/s/{session}/find", found, name="find"),
    Route("/s/{session}/card/{card}", pages.one_card, name="card"),
    Route("/s/{session}/body/{card}", pages.body, name="body"),
    Route("/s/{session}/text/{card}", pages.text, name="text"),
    Route("/s/{session}/file/{card}/{index:int}", pages.attachment, name="attachment"),
)


# What the system says of these may be wrong, and browsers refuse a script of another type.
_TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


class _Static(StaticFiles):
    """Files that browsers keep and ask about: a newer presentview is seen at once."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, to be checked for changes each time it is used."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        kind = _TYPES.get(os.path.splitext(path)[1])
        if kind is not None and "content-type" in response.headers:
            response.headers["content-type"] = kind
        return response


def create_app(
    roots: Roots, *, allowed: Sequence[Path] = (), workspace: Path | None = None
) -> Starlette:
    """The app that shows the sessions under `roots`; files below `allowed` folders may be shown
    as attachments too, and in these, in the folders among `roots` and in `workspace` it is looked
    whether edits are on the disk. It must stand behind `presentview.web.security.Guard`.
    """
    hub = Hub(roots, allowed, workspace)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(hub.run())
        try:
            yield
        finally:
            hub.close()
            await watching

    app = Starlette(
        routes=[*_ROUTES, Mount("/static", _Static(directory=static_dir()), name="static")],
        lifespan=lifespan,
        exception_handlers={404: _not_found, ApartError: _not_read},
    )
    app.state.hub = hub
    app.state.begin_shutdown = hub.close
    return app


def make_factory(
    roots: Roots, *, allowed: Sequence[Path] = (), workspace: Path | None = None
) -> Callable[[NetworkPolicy], Starlette]:
    """`create_app` as the server wants it: told its network policy, which the app needs not."""
    return lambda _: create_app(roots, allowed=allowed, workspace=workspace)


async def _not_found(request: Request, error: Exception) -> Response:
    return pages.not_found(request, str(getattr(error, "detail", "")))


async def _not_read(_: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), status_code=503)

"""What each address answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from presentview.document import document_json
from presentview.errors import AccessDenied
from presentview.transcript.cards import Card
from presentview.units import path_text
from presentview.web.attachments import attachment_roots, open_attachment
from presentview.web.bodies import full_text
from presentview.web.download import SANDBOX, Download, saved_as
from presentview.web.faces import face_of
from presentview.web.feeds import BatchLog, Feed, Snapshot, batches_json
from presentview.web.hub import LIST, Hub
from presentview.web.rawpage import raw_context
from presentview.web.templating import render

__all__ = [
    "as_json",
    "attachment",
    "body",
    "download",
    "not_found",
    "one_card",
    "raw",
    "session_list",
    "since",
    "text",
    "transcript",
]


class _Json(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


def _hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


async def _feed(request: Request) -> Feed:
    feed = await _hub(request).feed(request.path_params["session"])
    if feed is None:
        raise HTTPException(404, "There is no such session here")
    return feed


def _card(feed: Feed, request: Request) -> Card:
    """The card an address names; to be asked while nothing else works on the session, for where
    its body lies is true of the file as it is read then.
    """
    card = feed.follower.transcript.card(request.path_params["card"])
    if card is None:
        raise HTTPException(404, "This session has no such card")
    return card


async def session_list(request: Request) -> Response:
    """`/`: the sessions, newest first."""
    hub = _hub(request)
    snapshot = await hub.list_now()
    roots = hub.listing.roots
    html = render(
        "list.html",
        rows=Markup(snapshot.regions["sessions"]),  # noqa: S704
        position=snapshot.pos,
        roots=[path_text(path) for path in (*roots.folders, *roots.sessions)],
    )
    return HTMLResponse(html)


async def transcript(request: Request) -> Response:
    """`/s/<id>`: the session's transcript."""
    feed = await _feed(request)

    def draw() -> str:
        snapshot = feed.snapshot()
        regions = {name: Markup(html) for name, html in snapshot.regions.items()}  # noqa: S704
        return render(
            "session.html",
            session=feed.ref.id,
            position=snapshot.pos,
            head=feed.head(),
            regions=regions,
        )

    return HTMLResponse(await _hub(request).working(feed.ref.id, draw))


async def since(request: Request) -> Response:
    """`/s/<id>/since/<position>`: the batches after a position, or everything anew."""
    position, topic = request.path_params["position"], request.path_params["session"]
    hub = _hub(request)
    if topic == LIST:
        await hub.list_now()
        log, draw = hub.listing.log, hub.listing.snapshot
    else:
        feed = await _feed(request)
        log, draw = feed.log, feed.snapshot
    return _Json(await hub.working(topic, lambda: _missed(topic, log, draw, position)))


def _missed(
    topic: str, log: BatchLog, draw: Callable[[], Snapshot], position: str
) -> dict[str, Any]:
    batches = log.since(position)
    if batches is not None:
        return {"batches": batches_json(topic, batches)}
    snapshot = draw()
    return {"pos": snapshot.pos, "regions": snapshot.regions}


async def as_json(request: Request) -> Response:
    """`/s/<id>.json`: the same document that `presentview show --json` prints."""
    feed = await _feed(request)

    def draw() -> bytes:
        with feed.follower.reading:
            return document_json(feed.follower)

    content = await _hub(request).working(feed.ref.id, draw)
    return Response(content, media_type="application/json")


async def one_card(request: Request) -> Response:
    """`/s/<id>/card/<card>`: one card alone, opened; works without scripts."""
    feed = await _feed(request)

    def draw() -> str:
        card = _card(feed, request)
        with feed.follower.reading:
            return render(
                "card.html",
                session=feed.ref.id,
                card_id=card.id,
                head=feed.head(),
                face=face_of(card, alive=feed.follower.alive),
                body=feed.renderer.body(card),
            )

    return HTMLResponse(await _hub(request).working(feed.ref.id, draw))


async def body(request: Request) -> Response:
    """`/s/<id>/body/<card>`: what opening a card shows, for the page to put in."""
    feed = await _feed(request)
    html = await _hub(request).working(
        feed.ref.id, lambda: feed.renderer.body(_card(feed, request))
    )
    return HTMLResponse(html)


async def text(request: Request) -> Response:
    """`/s/<id>/text/<card>`: the whole text of a card, to copy or download."""
    feed = await _feed(request)

    def read() -> str:
        card = _card(feed, request)
        return full_text(card, feed.follower.record, feed.renderer.raw(card))

    content = await _hub(request).working(feed.ref.id, read)
    return PlainTextResponse(
        content.encode("utf-8", "replace"),
        headers=saved_as(f"{request.path_params['card']}.txt"),
    )


async def attachment(request: Request) -> Response:
    """`/s/<id>/file/<card>/<n>`: the n-th file a card names, from 0. Images are shown, anything
    else is downloaded.
    """
    feed = await _feed(request)
    index = request.path_params["index"]
    follower = feed.follower

    def read() -> Response:
        named = feed.renderer.attachments(_card(feed, request))
        if index >= len(named):
            raise AccessDenied("this card names no such file", status=404)
        workspace = follower.header.workspace
        roots = attachment_roots(workspace, follower.session_path, request.app.state.allowed)
        base = workspace or str(follower.session_path.parent)
        found = open_attachment(named[index].path, base, roots)
        if found.image_type:
            only_shown = {"Content-Security-Policy": SANDBOX}
            return Response(found.data, media_type=found.image_type, headers=only_shown)
        kind = "application/octet-stream"
        return Response(found.data, media_type=kind, headers=saved_as(found.name))

    try:
        return await _hub(request).working(feed.ref.id, read)
    except AccessDenied as error:
        return PlainTextResponse(error.reason, status_code=error.status)


async def raw(request: Request) -> Response:
    """`/s/<id>/raw?line=<n>`: every record as it stands in the file, with its line."""
    feed = await _feed(request)
    try:
        first = max(1, int(request.query_params.get("line", "1")))
    except ValueError:
        first = 1

    def draw() -> str:
        with feed.follower.reading:
            context = raw_context(feed.follower, first)
            return render(
                "raw.html",
                session=feed.ref.id,
                head=feed.head(),
                problems_html=feed.problems(),
                **context,
            )

    return HTMLResponse(await _hub(request).working(feed.ref.id, draw))


async def download(request: Request) -> Response:
    """`/s/<id>/file`: the sidecar itself."""
    feed = await _feed(request)
    follower = feed.follower
    fd = await _hub(request).working(feed.ref.id, follower.duplicate)
    if fd is None:
        raise HTTPException(404, "The file of this session is not there (yet)")
    return Download(fd, name=follower.path.name, media_type="application/x-ndjson")


def not_found(request: Request, reason: str) -> Response:
    """The page for an address that nothing answers."""
    if request.url.path.startswith(("/static/", "/events")) or "HX-Request" in request.headers:
        return PlainTextResponse(reason or "Not found", status_code=404)
    return HTMLResponse(render("missing.html", reason=reason), status_code=404)

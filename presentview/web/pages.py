"""What the addresses a person opens or follows answer."""

from __future__ import annotations

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse

from presentview.document import document_json
from presentview.errors import AccessDenied
from presentview.units import path_text
from presentview.web.asking import card_of, feed_of, hub_of
from presentview.web.band import beside
from presentview.web.download import SANDBOX, Download, saved_as
from presentview.web.embedded import embedded_image, is_embedded
from presentview.web.faces import face_of
from presentview.web.hub import LIST
from presentview.web.numbers import number_of
from presentview.web.rawpage import raw_context
from presentview.web.templating import render
from presentview.web.views import DEPTHS, FILTERS, scope_of, view_of
from presentview.web.windows import fits_one_page, outline_around, whole, window

__all__ = [
    "as_json",
    "attachment",
    "body",
    "download",
    "not_found",
    "one_card",
    "raw",
    "session_list",
    "text",
    "transcript",
]


async def session_list(request: Request) -> Response:
    """`/`: the sessions; `?q=`, `?state=`, `?sort=` and `?page=` say which, in what order."""
    hub = hub_of(request)
    await hub.list_now()
    roots = hub.listing.roots

    def draw() -> str:
        return render(
            "list.html",
            roots=[path_text(path) for path in (*roots.folders, *roots.sessions)],
            **hub.listing.page(request.query_params),
        )

    return HTMLResponse(await hub.working(LIST, draw))


async def transcript(request: Request) -> Response:
    """`/s/<id>`: the session's transcript, or the section of it around the card `?at=` names;
    `?all` shows everything at once. What is left out is a view's to say.
    """
    feed = await feed_of(request)
    view, at = view_of(request.query_params), request.query_params.get("at", "")
    shows_all = "all" in request.query_params

    def draw() -> str:
        with feed.follower.reading:
            snapshot = feed.frame()
            row = feed.row(view)
            shown = whole(row, feed.renderer) if shows_all else None
            shown = shown or window(row, feed.renderer, feed.transcript, at)
            return render(
                "session.html",
                session=feed.ref.id,
                position=snapshot.pos,
                head=feed.head(),
                regions={name: Markup(html) for name, html in snapshot.regions.items()},  # noqa: S704
                window=shown,
                outline=outline_around(feed.transcript, shown.turn),
                view=view,
                beside=beside(feed.transcript, feed.ref.id, feed.version, at_once=True),
                filters=FILTERS,
                scope=scope_of(view, feed.transcript),
                depths=tuple(DEPTHS),
                kinds=" ".join(sorted(DEPTHS.get(view.depth, ()))),
                newest=feed.transcript.tree.next_number - 1,
                shows_all=shows_all and not shown.table,
                too_many=len(row.cards) if shows_all and shown.table else 0,
                fits_one_page=fits_one_page(row),
            )

    return HTMLResponse(await hub_of(request).working(feed.ref.id, draw))


async def as_json(request: Request) -> Response:
    """`/s/<id>.json`: the same document that `presentview show --json` prints."""
    feed = await feed_of(request)

    def draw() -> bytes:
        with feed.follower.reading:
            return document_json(feed.follower)

    content = await hub_of(request).working(feed.ref.id, draw)
    return Response(content, media_type="application/json")


async def one_card(request: Request) -> Response:
    """`/s/<id>/card/<card>`: one card alone, opened; works without scripts."""
    feed = await feed_of(request)

    def draw() -> str:
        card = card_of(feed, request)
        with feed.follower.reading:
            return render(
                "card.html",
                session=feed.ref.id,
                card_id=card.id,
                head=feed.head(),
                face=face_of(card, alive=feed.follower.alive),
                body=feed.renderer.body(card),
            )

    return HTMLResponse(await hub_of(request).working(feed.ref.id, draw))


async def body(request: Request) -> Response:
    """`/s/<id>/body/<card>`: what opening a card shows, for the page to put in."""
    feed = await feed_of(request)
    html = await hub_of(request).working(
        feed.ref.id, lambda: feed.renderer.body(card_of(feed, request))
    )
    return HTMLResponse(html)


async def text(request: Request) -> Response:
    """`/s/<id>/text/<card>`: the whole text of a card, to copy or download; with `?from=<n>` a
    step of it for the page to show, from character n (from 0).
    """
    feed = await feed_of(request)
    start = number_of(request.query_params, "from", -1)

    content = await hub_of(request).working(
        feed.ref.id, lambda: feed.reader.text(card_of(feed, request), start)
    )
    return StreamingResponse(
        iter(content),
        media_type=PlainTextResponse.media_type,
        headers=saved_as(f"{request.path_params['card']}.txt"),
    )


async def attachment(request: Request) -> Response:
    """`/s/<id>/file/<card>/<n>`: the n-th file a card names, from 0. Images are shown, anything
    else is downloaded.
    """
    feed = await feed_of(request)
    index = request.path_params["index"]

    def read() -> Response:
        named = feed.reader.attachments(card_of(feed, request))
        if index >= len(named):
            raise AccessDenied("this card names no such file", status=404)
        path = named[index].path
        only_shown = {"Content-Security-Policy": SANDBOX}
        if is_embedded(path):
            image = embedded_image(path)
            if image is None:
                raise AccessDenied("this is no image that can be shown", status=404)
            return Response(image.content, headers=only_shown, media_type=image.media_type)
        found = feed.files.open(path, feed.follower.header.workspace)
        return Download(
            found.fd,
            only_shown if found.image_type else saved_as(found.name),
            media_type=found.image_type or "application/octet-stream",
            head=found.head,
            # No more than the check allowed, however much the file may have grown since.
            most=found.size,
        )

    try:
        return await hub_of(request).working(feed.ref.id, read)
    except AccessDenied as error:
        return PlainTextResponse(error.reason, status_code=error.status)


async def raw(request: Request) -> Response:
    """`/s/<id>/raw?line=<n>&file=<n>`: every record as it stands in its file, with its line."""
    feed = await feed_of(request)
    file = number_of(request.query_params, "file", 0)
    first = max(1, number_of(request.query_params, "line", 1))

    def draw() -> str:
        with feed.follower.reading:
            context = raw_context(feed.follower, first, file)
            return render(
                "raw.html",
                session=feed.ref.id,
                head=feed.head(),
                problems_html=feed.problems(),
                **context,
            )

    return HTMLResponse(await hub_of(request).working(feed.ref.id, draw))


async def download(request: Request) -> Response:
    """`/s/<id>/file?file=<n>`: a file of the session itself, the first without a number."""
    feed = await feed_of(request)
    follower = feed.follower
    file = number_of(request.query_params, "file", 0)
    fd = await hub_of(request).working(feed.ref.id, lambda: follower.original(file))
    if fd is None:
        raise HTTPException(404, "The file of this session is not there (yet)")
    headers = saved_as(follower.paths[file].name)
    return Download(fd, headers, media_type="application/x-ndjson")


def not_found(request: Request, reason: str) -> Response:
    """The page for an address that nothing answers."""
    if request.url.path.startswith(("/static/", "/events")) or "HX-Request" in request.headers:
        return PlainTextResponse(reason or "Not found", status_code=404)
    return HTMLResponse(render("missing.html", reason=reason), status_code=404)

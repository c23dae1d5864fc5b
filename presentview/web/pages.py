"""What each address answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import orjson
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from presentview.document import document_json
from presentview.errors import AccessDenied
from presentview.limits import STEP_CHARS
from presentview.transcript.cards import Card
from presentview.units import path_text
from presentview.web.band import Beside, beside
from presentview.web.bodies import full_text
from presentview.web.download import SANDBOX, Download, saved_as
from presentview.web.faces import face_of
from presentview.web.feeds import BatchLog, Feed, Snapshot, batches_json
from presentview.web.hub import LIST, Hub
from presentview.web.rawpage import raw_context
from presentview.web.sessionmap import map_of
from presentview.web.templating import render
from presentview.web.views import DEPTHS, FILTERS, next_of, scope_of, view_of
from presentview.web.windows import fits_one_page, outline_around, piece, whole, window, window_json

__all__ = [
    "as_json",
    "attachment",
    "band",
    "body",
    "cards",
    "download",
    "kids",
    "next_card",
    "not_found",
    "one_card",
    "outline",
    "raw",
    "session_list",
    "session_map",
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
    """`/`: the sessions; `?q=`, `?state=`, `?sort=` and `?page=` say which, in what order."""
    hub = _hub(request)
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
    feed = await _feed(request)
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
                beside=_beside(feed, at_once=True),
                filters=FILTERS,
                scope=scope_of(view, feed.transcript),
                depths=tuple(DEPTHS),
                kinds=" ".join(sorted(DEPTHS.get(view.depth, ()))),
                newest=feed.transcript.tree.next_number - 1,
                shows_all=shows_all and not shown.table,
                too_many=len(row.cards) if shows_all and shown.table else 0,
                fits_one_page=fits_one_page(row),
            )

    return HTMLResponse(await _hub(request).working(feed.ref.id, draw))


async def cards(request: Request) -> Response:
    """`/s/<id>/cards`: a section of cards for a page to fill in, as JSON with its position.

    `?from=<card>` and `?until=<card>` ask for what lies between; `?at=<card>` for the window
    around one. An answer without cards says that the page's sections are not as they were.
    """
    feed = await _feed(request)
    query = request.query_params
    view = view_of(query)

    def draw() -> dict[str, Any]:
        with feed.follower.reading:
            row, find = feed.row(view), feed.transcript.card
            answer: dict[str, Any] = {"pos": feed.log.position}
            if start := find(query.get("from", "")):
                until = query.get("until", "")
                end = find(until)
                known = bool(end) or not until
                answer["cards"] = piece(row, feed.renderer, start, end) if known else None
            else:
                shown = window(row, feed.renderer, feed.transcript, query.get("at", ""))
                answer |= window_json(shown)
            return answer

    return _Json(await _hub(request).working(feed.ref.id, draw))


async def kids(request: Request) -> Response:
    """`/s/<id>/kids/<card>`: cards nested in one, around the card `?at=` names or the first."""
    feed = await _feed(request)

    def draw() -> dict[str, Any]:
        with feed.follower.reading:
            owner = _card(feed, request)
            at = feed.transcript.card(request.query_params.get("at", ""))
            return {"pos": feed.log.position, "cards": feed.renderer.kids(owner, at)}

    return _Json(await _hub(request).working(feed.ref.id, draw))


async def outline(request: Request) -> Response:
    """`/s/<id>/outline?turn=<n>`: the turns of the outline around one."""
    feed = await _feed(request)
    turn = _number(request, "turn", 0)

    def draw() -> dict[str, Any]:
        with feed.follower.reading:
            found = outline_around(feed.transcript, turn)
            return {"pos": feed.log.position, **msgspec.structs.asdict(found)}

    return _Json(await _hub(request).working(feed.ref.id, draw))


async def next_card(request: Request) -> Response:
    """`/s/<id>/next?what=<error|edit|turn>&from=<card>`: the next card of a kind in a view,
    `&back=1` for the one before, `&here=1` for the card itself if it is one.
    """
    feed = await _feed(request)
    query = request.query_params
    view = view_of(query)
    options = {name: name in query for name in ("back", "here")}

    def find() -> dict[str, Any]:
        with feed.follower.reading:
            start = query.get("from", "")
            card = next_of(query.get("what", ""), feed.row(view).cards, start, **options)
            return {"pos": feed.log.position, "card": card.id if card else ""}

    return _Json(await _hub(request).working(feed.ref.id, find))


async def session_map(request: Request) -> Response:
    """`/s/<id>/map`: the marks of the map of a view."""
    feed = await _feed(request)
    view = view_of(request.query_params)

    def draw() -> dict[str, Any]:
        with feed.follower.reading:
            return {"pos": feed.log.position, "map": map_of(feed.row(view))}

    return _Json(await _hub(request).working(feed.ref.id, draw))


async def band(request: Request) -> Response:
    """`/s/<id>/band`: the band and the time by tool as they are now."""
    feed = await _feed(request)

    def draw() -> dict[str, Any]:
        with feed.follower.reading:
            found = _beside(feed)
            return {"pos": feed.log.position, "band": found.band, "tools": found.tools}

    return _Json(await _hub(request).working(feed.ref.id, draw))


def _beside(feed: Feed, *, at_once: bool = False) -> Beside:
    follower = feed.follower
    version = (follower.size, follower.changed_at)
    return beside(feed.transcript, feed.ref.id, version, at_once=at_once)


def _number(request: Request, name: str, default: int) -> int:
    """A number from the query, `default` where there is none."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


async def since(request: Request) -> Response:
    """`/s/<id>/since/<position>`: the batches after a position, or what stands around the cards
    anew.
    """
    position, topic = request.path_params["position"], request.path_params["session"]
    hub = _hub(request)
    if topic == LIST:
        await hub.list_now()
        log, draw = hub.listing.log, hub.listing.snapshot
    else:
        feed = await _feed(request)
        log, draw = feed.log, feed.frame
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
    """`/s/<id>/text/<card>`: the whole text of a card, to copy or download; with `?from=<n>` a
    step of it for the page to show, from character n (from 0).
    """
    feed = await _feed(request)
    start = _number(request, "from", -1)

    def read() -> str:
        card = _card(feed, request)
        whole = full_text(card, feed.follower.record, feed.renderer.raw(card))
        return whole if start < 0 else whole[start : start + STEP_CHARS]

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

    def read() -> Response:
        named = feed.renderer.attachments(_card(feed, request))
        if index >= len(named):
            raise AccessDenied("this card names no such file", status=404)
        found = feed.renderer.files.open(named[index].path, feed.follower.header.workspace)
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
    first = max(1, _number(request, "line", 1))

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

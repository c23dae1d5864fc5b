"""The parts of a session's page that its scripts ask for, as JSON.

Each answer names the position of the page it is true of, so that a page which has seen more
already asks again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from presentview.web.asking import Json, card_of, feed_of, hub_of, number_of
from presentview.web.band import beside
from presentview.web.feeds import BatchLog, Snapshot, batches_json
from presentview.web.hub import LIST
from presentview.web.sessionmap import map_of
from presentview.web.views import next_of, view_of
from presentview.web.windows import outline_around, piece, window, window_json

__all__ = ["band", "cards", "kids", "next_card", "outline", "session_map", "since"]


async def cards(request: Request) -> Response:
    """`/s/<id>/cards`: a section of cards for a page to fill in, as JSON with its position.

    `?from=<card>` and `?until=<card>` ask for what lies between; `?at=<card>` for the window
    around one. An answer without cards says that the page's sections are not as they were.
    """
    feed = await feed_of(request)
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

    return Json(await hub_of(request).working(feed.ref.id, draw))


async def kids(request: Request) -> Response:
    """`/s/<id>/kids/<card>`: cards nested in one, around the card `?at=` names or the first."""
    feed = await feed_of(request)

    def draw() -> dict[str, Any]:
        with feed.follower.reading:
            owner = card_of(feed, request)
            at = feed.transcript.card(request.query_params.get("at", ""))
            return {"pos": feed.log.position, "cards": feed.renderer.kids(owner, at)}

    return Json(await hub_of(request).working(feed.ref.id, draw))


async def outline(request: Request) -> Response:
    """`/s/<id>/outline?turn=<n>`: the turns of the outline around one."""
    feed = await feed_of(request)
    turn = number_of(request, "turn", 0)

    def draw() -> dict[str, Any]:
        with feed.follower.reading:
            found = outline_around(feed.transcript, turn)
            return {"pos": feed.log.position, **msgspec.structs.asdict(found)}

    return Json(await hub_of(request).working(feed.ref.id, draw))


async def next_card(request: Request) -> Response:
    """`/s/<id>/next?what=<error|edit|turn>&from=<card>`: the next card of a kind in a view,
    `&back=1` for the one before, `&here=1` for the card itself if it is one.
    """
    feed = await feed_of(request)
    query = request.query_params
    view = view_of(query)
    options = {name: name in query for name in ("back", "here")}

    def find() -> dict[str, Any]:
        with feed.follower.reading:
            start = query.get("from", "")
            card = next_of(query.get("what", ""), feed.row(view).cards, start, **options)
            return {"pos": feed.log.position, "card": card.id if card else ""}

    return Json(await hub_of(request).working(feed.ref.id, find))


async def session_map(request: Request) -> Response:
    """`/s/<id>/map`: the marks of the map of a view."""
    feed = await feed_of(request)
    view = view_of(request.query_params)

    def draw() -> dict[str, Any]:
        with feed.follower.reading:
            return {"pos": feed.log.position, "map": map_of(feed.row(view))}

    return Json(await hub_of(request).working(feed.ref.id, draw))


async def band(request: Request) -> Response:
    """`/s/<id>/band`: the band and the time by tool as they are now."""
    feed = await feed_of(request)

    def draw() -> dict[str, Any]:
        with feed.follower.reading:
            found = beside(feed.transcript, feed.ref.id, feed.version)
            return {"pos": feed.log.position, "band": found.band, "tools": found.tools}

    return Json(await hub_of(request).working(feed.ref.id, draw))


async def since(request: Request) -> Response:
    """`/s/<id>/since/<position>`: the batches after a position, or what stands around the cards
    anew.
    """
    position, topic = request.path_params["position"], request.path_params["session"]
    hub = hub_of(request)
    if topic == LIST:
        await hub.list_now()
        log, draw = hub.listing.log, hub.listing.snapshot
    else:
        feed = await feed_of(request)
        log, draw = feed.log, feed.frame
    return Json(await hub.working(topic, lambda: _missed(topic, log, draw, position)))


def _missed(
    topic: str, log: BatchLog, draw: Callable[[], Snapshot], position: str
) -> dict[str, Any]:
    batches = log.since(position)
    if batches is not None:
        return {"batches": batches_json(topic, batches)}
    snapshot = draw()
    return {"pos": snapshot.pos, "regions": snapshot.regions}

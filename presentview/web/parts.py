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

from presentview.web.asking import Json, card_of, feed_of, hub_of
from presentview.web.band import beside
from presentview.web.feeds import BatchLog, Feed, Snapshot, batches_json
from presentview.web.hub import LIST
from presentview.web.numbers import number_of
from presentview.web.sessionmap import map_of
from presentview.web.views import next_of, view_of
from presentview.web.windows import outline_around, piece, window

__all__ = ["band", "cards", "kids", "next_card", "outline", "session_map", "since"]


async def _part(request: Request, draw: Callable[[Feed], dict[str, Any]]) -> Response:
    """What `draw` makes of the session while nothing else works on it, and the position."""
    feed = await feed_of(request)

    def drawn() -> dict[str, Any]:
        with feed.follower.reading:
            return {"pos": feed.log.position, **draw(feed)}

    return Json(await hub_of(request).working(feed.ref.id, drawn))


async def cards(request: Request) -> Response:
    """`/s/<id>/cards`: a section of cards for a page to fill in.

    `?from=<card>` and `?until=<card>` ask for what lies between; `?at=<card>` for the window
    around one. An answer without cards says that the page's sections are not as they were.
    """
    query = request.query_params

    def draw(feed: Feed) -> dict[str, Any]:
        row, find = feed.row(view_of(query)), feed.transcript.card
        start, until = find(query.get("from", "")), query.get("until", "")
        if start is None:
            shown = window(row, feed.renderer, feed.transcript, query.get("at", ""))
            return msgspec.structs.asdict(shown)
        end = find(until)
        is_known = end is not None or not until
        return {"cards": piece(row, feed.renderer, start, end) if is_known else None}

    return await _part(request, draw)


async def kids(request: Request) -> Response:
    """`/s/<id>/kids/<card>`: cards nested in one, around the card `?at=` names or the first."""

    def draw(feed: Feed) -> dict[str, Any]:
        at = feed.transcript.card(request.query_params.get("at", ""))
        return {"cards": feed.renderer.kids(card_of(feed, request), at)}

    return await _part(request, draw)


async def outline(request: Request) -> Response:
    """`/s/<id>/outline?turn=<n>`: the turns of the outline around one."""
    turn = number_of(request.query_params, "turn", 0)
    return await _part(
        request, lambda feed: msgspec.structs.asdict(outline_around(feed.transcript, turn))
    )


async def next_card(request: Request) -> Response:
    """`/s/<id>/next?what=<error|edit|turn>&from=<card>`: the next card of a kind in a view,
    `&back=1` for the one before, `&here=1` for the card itself if it is one.
    """
    query = request.query_params
    options = {name: name in query for name in ("back", "here")}

    def find(feed: Feed) -> dict[str, Any]:
        row = feed.row(view_of(query))
        card = next_of(query.get("what", ""), row.cards, query.get("from", ""), **options)
        return {"card": card.id if card else ""}

    return await _part(request, find)


async def session_map(request: Request) -> Response:
    """`/s/<id>/map`: the marks of the map of a view."""
    view = view_of(request.query_params)
    return await _part(request, lambda feed: {"map": map_of(feed.row(view))})


async def band(request: Request) -> Response:
    """`/s/<id>/band`: the band and the time by tool as they are now."""
    return await _part(
        request, lambda feed: beside(feed.transcript, feed.ref.id, feed.version)._asdict()
    )


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

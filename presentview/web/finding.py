"""What the address for finding a text in a session answers: JSON to scripts, a page to people."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from presentview.limits import FIND_HITS, FIND_QUERY_CHARS
from presentview.web.asking import Json, feed_of, hub_of
from presentview.web.faces import face_of
from presentview.web.feeds import Feed
from presentview.web.find import Found, find
from presentview.web.numbers import number_of
from presentview.web.overview import Head
from presentview.web.templating import render

__all__ = ["found"]

_MOST_ROUNDS: Final = 40
_BYTE_DIGITS: Final = 14


async def found(request: Request) -> Response:
    """`/s/<id>/find?q=<text>&from=<byte>`: the cards that show a text, in the order of the file.

    An answer may hold no hits and still say where to go on. A browser that asks for a page gets
    one that works without scripts, with hits on it if there are any.
    """
    hub, feed = hub_of(request), await feed_of(request)
    query = request.query_params.get("q", "")
    begin = number_of(request.query_params, "from", 0, digits=_BYTE_DIGITS)
    is_page = "text/html" in request.headers.get("accept", "")
    answer = await hub.working(feed.ref.id, partial(_answer, feed, query, begin))
    if not is_page:
        return Json(answer)
    hits = {hit["card"]: hit for hit in answer["hits"]}
    for _ in range(_MOST_ROUNDS):
        if len(hits) >= FIND_HITS or answer["next"] is None:
            break
        begin = answer["next"]
        answer = await hub.working(feed.ref.id, partial(_answer, feed, query, begin))
        hits |= {hit["card"]: hit for hit in answer["hits"] if hit["card"] not in hits}
    answer["hits"] = [*hits.values()]
    html = await hub.working(feed.ref.id, partial(_page, feed, query, answer))
    return HTMLResponse(html)


def _answer(feed: Feed, query: str, start: int) -> dict[str, Any]:
    with feed.follower.reading:
        return {
            "pos": feed.log.position,
            **_as_json(find(feed.follower, query, start, reader=feed.reader), feed),
        }


def _as_json(result: Found, feed: Feed) -> dict[str, Any]:
    alive = feed.follower.alive
    hits = [
        {
            "card": hit.card.id,
            "turn": hit.card.turn,
            "label": face.label,
            "subject": face.subject,
            "count": hit.count,
            "before": hit.before,
            "match": hit.match,
            "after": hit.after,
        }
        for hit in result.hits
        for face in (face_of(hit.card, alive=alive),)
    ]
    return {"hits": hits, "next": result.next, "share": result.share}


def _page(feed: Feed, query: str, answer: dict[str, Any]) -> str:
    with feed.follower.reading:
        head: Head = feed.head()
        return render(
            "find.html",
            session=feed.ref.id,
            head=head,
            query=query[:FIND_QUERY_CHARS],
            hits=answer["hits"],
            following=answer["next"],
        )

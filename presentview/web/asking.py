"""What a request is about: its session, its card; and an answer to a script."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from presentview.transcript.cards import Card
from presentview.web.feeds import Feed
from presentview.web.hub import Hub

__all__ = ["Json", "card_of", "feed_of", "hub_of"]


class Json(Response):
    """Values as JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The values as bytes."""
        return orjson.dumps(content)


def hub_of(request: Request) -> Hub:
    """The app's hub."""
    hub: Hub = request.app.state.hub
    return hub


async def feed_of(request: Request) -> Feed:
    """The feed of the session an address names, up to date. Raises a 404."""
    feed = await hub_of(request).feed(request.path_params["session"])
    if feed is None:
        raise HTTPException(404, "There is no such session here")
    return feed


def card_of(feed: Feed, request: Request) -> Card:
    """The card an address names; to be asked while nothing else works on the session, for where
    its body lies is true of the file as it is read then. Raises a 404.
    """
    card = feed.follower.transcript.card(request.path_params["card"])
    if card is None:
        raise HTTPException(404, "This session has no such card")
    return card

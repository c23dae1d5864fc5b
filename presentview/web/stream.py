"""The event stream: one for all tabs of a browser."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import orjson
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from presentview.limits import STREAM_TOPICS, STREAMS
from presentview.web.hub import LIST, Hub, Stream

__all__ = ["events"]

_PING_SECONDS = 15
_SEND_SECONDS = 20


async def events(request: Request) -> Response:
    """`GET /events?s=<id>&s=<id>&list=1`: changes to these pages as they happen.

    Each event is JSON: `{"s", "pos"}` says where a page stands as the stream begins,
    `{"s", "prev", "pos", "ops"}` is a batch of changes, `{"lost": true}` says that this reader
    was too slow and must ask for what it missed. 503 when there are too many streams.
    """
    topics = request.query_params.getlist("s")[:STREAM_TOPICS]
    if "list" in request.query_params:
        topics.append(LIST)
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    return _Events(request.app.state.hub, topics)


class _Events(Response):
    """Holds a place among the streams for as long as it is being sent, however that ends."""

    def __init__(self, hub: Hub, topics: Sequence[str]) -> None:
        super().__init__()
        self._hub = hub
        self._topics = topics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._hub.stream(self._topics) as stream:
            answer = _too_many() if stream is None else _answer(stream)
            await answer(scope, receive, send)


def _too_many() -> Response:
    return PlainTextResponse(
        f"{STREAMS} event streams are open already; close a tab and try again",
        status_code=503,
        headers={"Retry-After": "10"},
    )


def _answer(stream: Stream) -> Response:
    async def written() -> AsyncIterator[ServerSentEvent]:
        async for message in stream.messages():
            yield ServerSentEvent(data=orjson.dumps(message).decode(), id=message.get("pos"))

    return EventSourceResponse(
        written(),
        ping=_PING_SECONDS,
        send_timeout=_SEND_SECONDS,
        headers={"Cache-Control": "no-store"},
    )

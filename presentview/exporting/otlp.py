"""A session as OpenTelemetry traces, by the conventions for generative AI, in OTLP's JSON.

One span for the session, one for each turn in it, one for each call in those. Ids are made from
the session's and the cards' own, so that sending a session twice tells the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from presentview._version import __version__
from presentview.errors import ConfigError
from presentview.follow import Follower
from presentview.limits import OTLP_BATCH, OTLP_TEXT_CHARS
from presentview.sessions import session_id
from presentview.transcript.cards import BAD, OPEN, ToolCard, Turn
from presentview.transcript.durations import ABSURD
from presentview.transcript.export import call_texts, part_text
from presentview.transcript.timings import Span, Timings, Window, timings_of

__all__ = ["otlp_batches", "otlp_document", "otlp_json", "span_id_of", "trace_id_of"]

_NS: Final = 1_000_000
_INTERNAL: Final = 1
_ERROR: Final = 2


class _Place(NamedTuple):
    """What the spans of a session have in common."""

    follower: Follower
    timings: Timings
    session: str
    trace: str
    shift: int
    content: bool


def trace_id_of(session: str) -> str:
    """The trace id of a session: 32 hex digits."""
    return hashlib.sha256(f"presentview trace {session}".encode()).hexdigest()[:32]


def span_id_of(session: str, key: str) -> str:
    """The id of a span: 16 hex digits. `key` is the id of a call's card, `t<n>` of a turn, empty
    for the session itself.
    """
    return hashlib.sha256(f"presentview span {session} {key}".encode()).hexdigest()[:16]


def otlp_json(follower: Follower, *, start_ms: int | None = None, content: bool = False) -> bytes:
    """The whole session as one `ExportTraceServiceRequest` in JSON. Raises what `otlp_document`
    raises.
    """
    return orjson.dumps(otlp_document(follower, start_ms=start_ms, content=content))


def otlp_document(
    follower: Follower, *, start_ms: int | None = None, content: bool = False
) -> dict[str, Any]:
    """The same as JSON values.

    A session without any recorded time begins at `start_ms` (unix ms), and its spans are marked
    as inferred; where times are recorded it is passed over. With `content` prompts, arguments,
    outputs and errors are there too. Raises `ConfigError` if there is no time to begin with.
    """
    return _request(list(_spans(_place_of(follower, start_ms, content))))


def otlp_batches(
    follower: Follower, *, start_ms: int | None = None, content: bool = False
) -> Iterator[bytes]:
    """The same as several requests that a collector takes, each of some spans."""
    place = _place_of(follower, start_ms, content)
    spans = list(_spans(place))
    for start in range(0, len(spans), OTLP_BATCH):
        yield orjson.dumps(_request(spans[start : start + OTLP_BATCH]))


def _place_of(follower: Follower, start_ms: int | None, content: bool) -> _Place:
    transcript = follower.transcript
    timings = timings_of(transcript)
    shift = 0
    if not transcript.first_at:
        if start_ms is None:
            raise ConfigError(
                f"{follower.path}: no time is recorded in it; --start TIME says when it began"
            )
        shift = start_ms - (timings.whole.start if timings.whole else 0)
    session = session_id(follower.session_path)
    return _Place(follower, timings, session, trace_id_of(session), shift, content)


def _request(spans: list[dict[str, Any]]) -> dict[str, Any]:
    resource = {"attributes": _attributes({"service.name": "presentview"})}
    scope = {"name": "presentview", "version": __version__}
    return {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]
    }


def _spans(place: _Place) -> Iterator[dict[str, Any]]:
    timings, transcript = place.timings, place.follower.transcript
    whole = timings.whole or _around(timings)
    if whole is None:
        return
    yield _session_span(place, whole)
    for turn in transcript.turns:
        window = timings.turn_windows.get(turn.number)
        if window is not None and (turn.prompt or turn.number in timings.turns):
            yield _turn_span(place, turn, window)
    for span in timings.spans:
        bounds = _bounds(span, timings)
        if bounds is not None:
            yield _call_span(place, span, *bounds)


def _around(timings: Timings) -> Window | None:
    """When the calls of a session were whose own times tell nothing."""
    found = [bounds for span in timings.spans if (bounds := _bounds(span, timings)) is not None]
    if not found:
        return None
    return Window(min(start for start, _ in found), max(end for _, end in found), inferred=True)


def _session_span(place: _Place, whole: Window) -> dict[str, Any]:
    summary = place.follower.transcript
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": place.session,
        "presentview.turns": sum(1 for turn in summary.turns if turn.prompt),
        "presentview.inferred": whole.inferred,
    }
    if place.content and summary.title:
        attributes["presentview.title"] = summary.title
    return _span(place, "", None, "invoke_agent", (whole.start, whole.end), attributes)


def _turn_span(place: _Place, turn: Turn, window: Window) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": place.session,
        "presentview.turn": turn.number,
        "presentview.inferred": window.inferred,
    }
    footer = turn.footer
    if footer is not None:
        attributes["gen_ai.usage.input_tokens"] = footer.input
        attributes["gen_ai.usage.output_tokens"] = footer.output
    if place.content and turn.prompt is not None:
        attributes["presentview.prompt"] = _cut(part_text(turn.prompt, place.follower.record))
    key, name = f"t{turn.number}", f"invoke_agent turn {turn.number}"
    bounds = (window.start, max(window.start, window.end))
    error = (turn.error if place.content else "turn failed") if turn.error else ""
    return _span(place, key, "", name, bounds, attributes, error=error, error_type="turn_error")


def _call_span(place: _Place, span: Span, start: int, end: int) -> dict[str, Any]:
    card = span.card
    operation = "invoke_agent" if card.steps else "execute_tool"
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": operation,
        "gen_ai.conversation.id": place.session,
        "gen_ai.tool.name": card.name,
        "gen_ai.tool.call.id": card.call,
        "presentview.card": card.id,
        "presentview.state": card.status(alive=place.follower.alive) or "",
        "presentview.inferred": span.inferred,
    }
    if card.steps:
        attributes["gen_ai.agent.name"] = card.name
    if card.model:
        attributes["gen_ai.request.model"] = card.model
    figures = {
        "presentview.own_ms": span.own,
        "presentview.waited_ms": span.waited,
        "presentview.approval_ms": span.approval_waited,
        "gen_ai.usage.total_tokens": card.tokens,
    }
    attributes |= {name: value for name, value in figures.items() if value is not None}
    if span.marks:
        attributes["presentview.marks"] = list(span.marks)
    error = (card.state or "") if card.state in BAD else ""
    if place.content:
        texts = call_texts(card, place.follower.record)
        attributes["gen_ai.tool.call.arguments"] = _cut(texts.args)
        attributes["gen_ai.tool.call.result"] = _cut(texts.output)
        error = (texts.err or error) if error else ""
    name = f"{operation} {card.name}".strip()
    parent = _parent_key(place, span)
    kind = card.state or ""
    return _span(place, card.id, parent, name, (start, end), attributes, error, kind)


def _parent_key(place: _Place, span: Span) -> str:
    """The key of the span a call's lies in: the call around it, its turn, or the session."""
    timings = place.timings
    at = span.parent
    while at >= 0:
        outer = timings.spans[at]
        if _bounds(outer, timings) is not None:
            return outer.card.id
        at = outer.parent
    card: ToolCard = span.card
    return f"t{card.turn}" if card.turn in timings.turn_windows else ""


def _bounds(span: Span, timings: Timings) -> tuple[int, int] | None:
    """From when to when a call ran, as far as known; one without a result to where it was last
    seen. None if no moment of it is known.
    """
    if span.start is not None and span.end is not None:
        return span.start, span.end
    begin = span.end if span.asked is None else span.asked
    if begin is None:
        return None
    if span.end is not None or ABSURD in span.marks or span.state != OPEN:
        return begin, begin
    return begin, max(begin, timings.seen_until(span) or begin)


def _span(
    place: _Place,
    key: str,
    parent: str | None,
    name: str,
    bounds: tuple[int, int],
    attributes: Mapping[str, Any],
    error: str = "",
    error_type: str = "",
) -> dict[str, Any]:
    start, end = (max(0, ms + place.shift) * _NS for ms in bounds)
    found: dict[str, Any] = {
        "traceId": place.trace,
        "spanId": span_id_of(place.session, key),
        "name": name,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end),
    }
    if parent is not None:
        found["parentSpanId"] = span_id_of(place.session, parent)
    if error:
        found["status"] = {"code": _ERROR, "message": _cut(error)}
        attributes = {**attributes, "error.type": error_type}
    found["attributes"] = _attributes(attributes)
    return found


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


def _cut(text: str) -> str:
    return text if len(text) <= OTLP_TEXT_CHARS else text[: OTLP_TEXT_CHARS - 1] + "…"

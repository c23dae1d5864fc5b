"""What cards show of their records: read here, or apart where a record is long.

Either way the same functions do it, so that nobody sees where a card was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from presentview import limits
from presentview.follow import Follower, parsed
from presentview.limits import PREVIEW_BYTES, READ_CHUNK, STEP_CHARS
from presentview.records import Attachment, Record
from presentview.transcript.cards import Card, Part, Place, ToolCard, places_of
from presentview.transcript.export import call_texts
from presentview.web.apart import Apart, ApartError
from presentview.web.attachments import SessionFiles
from presentview.web.bodies import Body, body_of, full_text
from presentview.web.hits import Hit, hit_in
from presentview.web.needle import Needle
from presentview.web.shown import shown_texts

__all__ = ["JOBS", "Reader"]

_RAW_KINDS: Final = frozenset({"unknown", "collab"})
RawOf = Callable[[Place], bytes]


class Reader:
    """Reads what the cards of one session show; long records in `apart`, if that is there."""

    def __init__(self, follower: Follower, files: SessionFiles, apart: Apart | None = None) -> None:
        self._follower = follower
        self._files = files
        self._apart = apart

    def body(self, card: Card, *, split: bool = False) -> Body:
        """What opening the card shows, its diff side by side if `split`."""
        workspace = self._follower.header.workspace
        try:
            found: Body = self._one(_body, [card], places_of(card), self._files, workspace, split)
        except ApartError as error:
            return Body("body/_text.html", card, text=error.reason)
        return replace(found, card=card)

    def attachments(self, card: Card) -> tuple[Attachment, ...]:
        """The files a card names. Raises `ApartError`."""
        found: tuple[Attachment, ...] = self._one(_attachments, [card], places_of(card))
        return found

    def text(self, card: Card, start: int = -1) -> list[bytes]:
        """The whole text of a card in pieces, or the step of it that begins at character `start`.

        Raises `ApartError`.
        """
        return list(self._asked(_text, [card], places_of(card), start))

    def hits(self, place: Place, cards: Sequence[Card], needle: Needle) -> list[Hit]:
        """The cards among those of one record that show a text; none where it cannot be read."""
        try:
            found: list[Hit] = self._one(_hits, cards, [place], place, needle)
        except ApartError:
            return []
        by_number = {card.number: card for card in cards}
        return [replace(hit, card=by_number[hit.card.number]) for hit in found]

    def _one(
        self, job: _JobOn, cards: Sequence[Card], places: Iterable[Place], *arguments: Any
    ) -> Any:
        [answer] = self._asked(job, cards, places, *arguments)
        return answer

    def _asked(
        self, job: _JobOn, cards: Sequence[Card], places: Iterable[Place], *arguments: Any
    ) -> Iterator[Any]:
        """What `job` makes of cards and their records at `places`, apart if one is long."""
        read = self._follower.raw
        found = tuple(dict.fromkeys(places))
        longest = max((place.length for place in found), default=0)
        if self._apart is None or longest <= limits.LONG_LINE_BYTES:
            return job(read, cards, *arguments)
        alone = [replace(card, parent=None, children=None) for card in cards]
        return self._apart.run(job.__name__, [*map(self._chunks, found)], found, alone, *arguments)

    def _chunks(self, place: Place) -> Iterator[bytes]:
        for at in range(0, place.length, READ_CHUNK):
            size = min(READ_CHUNK, place.length - at)
            yield self._follower.raw(replace(place, offset=place.offset + at, length=size))


# The jobs. Each is given what reads the bytes of a record, and cards.

_JobOn = Callable[..., Iterator[Any]]


def _body(
    raw: RawOf, cards: Sequence[Card], files: SessionFiles, workspace: str, split: bool
) -> Iterator[Body]:
    card = cards[0]
    look = files.looker(workspace)
    yield body_of(card, _records(raw), _raw_of(card, raw), look, split=split)


def _attachments(raw: RawOf, cards: Sequence[Card]) -> Iterator[tuple[Attachment, ...]]:
    card = cards[0]
    read = _records(raw)
    if isinstance(card, ToolCard):
        yield call_texts(card, read).attachments
    else:
        record = read(card.parts[0]) if card.parts else None
        yield record.images if record is not None else ()


def _text(raw: RawOf, cards: Sequence[Card], start: int) -> Iterator[bytes]:
    card = cards[0]
    whole = full_text(card, _records(raw), _raw_of(card, raw))
    end = len(whole) if start < 0 else min(len(whole), start + STEP_CHARS)
    for at in range(max(0, start), end, STEP_CHARS):
        yield whole[at : min(end, at + STEP_CHARS)].encode("utf-8", "replace")


def _hits(raw: RawOf, cards: Sequence[Card], place: Place, needle: Needle) -> Iterator[list[Hit]]:
    record = _records(raw)(place)
    if record is None:
        yield []
        return
    found = (hit_in(card, shown_texts(card, place, record, raw), needle) for card in cards)
    yield [hit for hit in found if hit is not None]


def _records(raw: RawOf) -> Callable[[Part], Record | None]:
    def read(part: Part) -> Record | None:
        return part if isinstance(part, Record) else parsed(raw(part))

    return read


def _raw_of(card: Card, raw: RawOf) -> str:
    """The first record of a card that shows it as it stands, as far as a page does."""
    part = card.parts[0] if card.kind in _RAW_KINDS and card.parts else None
    if not isinstance(part, Place):
        return ""
    return raw(part)[: 4 * PREVIEW_BYTES].decode("utf-8", "replace")


def _given(job: _JobOn) -> Callable[..., Iterator[Any]]:
    def do(raws: Sequence[bytes], places: Sequence[Place], *arguments: Any) -> Iterator[Any]:
        known = dict(zip(places, raws, strict=True))
        return job(known.__getitem__, *arguments)

    return do


JOBS: Final[Mapping[str, Callable[..., Iterator[Any]]]] = {
    job.__name__: _given(job) for job in (_body, _attachments, _text, _hits)
}
"""What can be done apart, by name: each is given the bytes of records, their places, and what the
job is about.
"""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.records import Header, Record, decode, encode, encode_header
from presentview.salvage import read_pieces
from presentview.sidecar import load
from presentview.transcript.cards import Card, Place
from presentview.transcript.fold import Transcript
from presentview.transcript.opening import gc_paused, read_transcript
from tests.strategies import sessions
from tests.unit.transcript.story import notice, result, shown

ODD = {
    "a body that is no UTF-8": encode(result("a", "x\n")).replace(b"x", b"\xff"),
    "an escape that is none": encode(notice("x")).replace(b'"x"', rb'"\x"'),
    "half a surrogate pair": encode(notice("x")).replace(b'"x"', rb'"\ud83d"'),
    "no JSON": b"{]",
}


def read_back(value: Any, content: bytes) -> Any:
    """What a card shows, with the records it is read from in place of where they lie."""
    if isinstance(value, Place):
        raw = content[value.offset : value.offset + value.length]
        return [piece.item for piece in read_pieces(raw)] if raw in ODD.values() else [decode(raw)]
    if isinstance(value, Record):
        return [value]
    if isinstance(value, tuple):
        return tuple(read_back(item, content) for item in value)
    return value


def looks(card: Card, transcript: Transcript, content: bytes = b"") -> dict[str, Any]:
    return {name: read_back(value, content) for name, value in shown(card, transcript).items()} | {
        "id": card.id,
        "parent": card.parent and card.parent.id,
    }


@given(
    sessions(),
    st.none() | st.builds(Header, cards_dropped=st.integers(0, 9), turns_dropped=st.integers(0, 9)),
    st.none() | st.sampled_from(sorted(ODD)),
    st.integers(0, 30),
)
def test_a_file_is_opened_with_the_cards_that_its_records_give_when_applied(
    records: list[Record], header: Header | None, odd: str | None, where: int
) -> None:
    lines = [encode(record) for record in records]
    if header is not None:
        lines.insert(0, encode_header(header))
    if odd is not None:
        lines.insert(max(where, 1), ODD[odd])
    content = b"".join(line + b"\n" for line in lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.present.jsonl"
        path.write_bytes(content)
        opened, loaded = read_transcript(path), load(path)
    begun = header or Header()
    applied = Transcript(turns_dropped=begun.turns_dropped, cards_dropped=begun.cards_dropped)
    for record in loaded.records:
        applied.apply(record)
    assert opened.scan.problems == loaded.problems
    found = opened.transcript
    assert [looks(card, found, content) for card in found.walk()] == [
        looks(card, applied) for card in applied.walk()
    ]
    assert found.title == applied.title


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was_after_a_pause(enabled: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with gc_paused():
            assert not gc.isenabled()
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()

"""Whatever stands in a session, each of its pages can be drawn."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presentview.document import document_json
from presentview.records import INT64_MAX, INT64_MIN, Kind, Record, Tool, Usage, encode
from presentview.sessions import Roots, SessionRef
from presentview.terminal import show_lines
from presentview.web.changed import changed
from presentview.web.changerows import step_list, tree_of
from presentview.web.changestep import drawn_step, known_of, patch_of
from presentview.web.changeview import ChangeView, picked
from presentview.web.feeds import Feed
from presentview.web.listing import Listing
from presentview.web.rawpage import raw_context
from tests.strategies import records, session_records
from tests.web.page_model import Page, everything, parse


def draw_everything(folder: Path, data: bytes) -> None:
    (folder / "s.present.jsonl").write_bytes(data)
    feed = Feed(SessionRef("5e551011", folder / "s.jsonl"), "epoch")
    listing = Listing(Roots((folder,), ()), "epoch")
    try:
        feed.look()
        Page(everything(feed))
        follower = feed.follower
        for card in follower.transcript.walk():
            parse(f"<div>{feed.renderer.body(card)}</div>")
            feed.reader.text(card)
        json.loads(document_json(follower))
        for line in show_lines(follower):
            line.encode()
        raw_context(follower, 1)
        draw_changes(feed)
        listing.look()
        Page(listing.snapshot())
    finally:
        feed.follower.close()
        listing.close()


def draw_changes(feed: Feed) -> None:
    """Every step with all that a page shows of it."""
    found = changed(feed)
    for step in found.steps:
        for layout in ("", "split"):
            view = ChangeView(step=step.number, layout=layout, net=1)
            parse(f"<div>{drawn_step(feed, found, step, view).card}</div>")
        known = known_of(found, step, view, math.inf, may_wait=False)
        assert known.playing is None
        patch_of(found, step, math.inf)
        step_list(found, picked(found, view))
        tree_of(found, step)


def lines(found: list[Record]) -> bytes:
    return b"".join(encode(record) + b"\n" for record in found)


@settings(max_examples=60)
@given(st.lists(records(extra=True, surrogates=True) | session_records(), max_size=12))
def test_any_records_can_be_shown(found: list[Record]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        draw_everything(Path(folder), lines(found))


@settings(max_examples=60)
@given(
    st.lists(
        st.binary(max_size=40)
        | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass"))
        | (records() | session_records()).map(encode),
        max_size=8,
    )
)
def test_any_bytes_can_be_shown(found: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        draw_everything(Path(folder), b"\n".join(found))


@pytest.mark.parametrize("number", [INT64_MAX, INT64_MIN, -1])
def test_sums_of_the_largest_numbers_can_be_shown(tmp_path: Path, number: int) -> None:
    used = Usage(input_tokens=number, output_tokens=number, total_tokens=number, cache_read=number)
    found = [Record(kind=Kind.TURN_STARTED, at=number)]
    for call in ("a", "b", "c"):
        found += [
            Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id=call), at=1),
            Record(kind=Kind.TOOL_RESULT, tool=Tool(id=call, duration_ms=number), at=number),
            Record(kind=Kind.USAGE, usage=used, at=number),
        ]
    found.append(Record(kind=Kind.TURN_DONE, at=number))
    draw_everything(tmp_path, lines(found))

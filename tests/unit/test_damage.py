from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path

import pytest

from presentview.sidecar import load
from tests.damage import BYTES, Read, flipped, has_the_rest, read, whole

SMALL = 12_000


def undamaged(content: bytes) -> Read:
    found = read(content)
    assert found.problems == ()
    assert len(found.records) > 50
    return found


def flip(size: int, seed: int, times: int) -> int:
    """Change one byte after the other, each alone; how often that was noticed."""
    chance = random.Random(seed)
    content = whole(size)
    good = undamaged(content)
    header = content.index(b"\n") + 1
    named = 0
    for _ in range(times):
        at = chance.randrange(len(content))
        damaged, lines = flipped(content, at, content[at] ^ (1 << chance.randrange(8)))
        found = read(damaged)
        assert has_the_rest(found, good, lines), at
        lost = len(found.records) < len(good.records)
        assert found.problems or not lost or at < header, f"what was lost at {at} is named"
        assert len({card.id for card in found.cards}) == len(found.cards)
        named += bool(found.problems)
    return named


def test_a_byte_that_is_wrong_costs_no_more_than_its_line() -> None:
    assert flip(SMALL, 1, 2_000) > 200
    assert flip(BYTES, 2, 50) > 5


@pytest.mark.soak
@pytest.mark.parametrize("part", range(20))
def test_a_hundred_thousand_wrong_bytes_cost_no_more_than_their_lines(part: int) -> None:
    assert flip(BYTES, 100 + part, 5_000) > 500


def cut(content: bytes, ends: Iterable[int]) -> None:
    """Read the first bytes of a file, as many as each of `ends` says."""
    good = undamaged(content)
    header = content.index(b"\n")
    starts = [offset for offset, _ in good.records]
    for end in ends:
        complete = content.rfind(b"\n", 0, end) + 1
        kept = bisect_left(starts, complete)
        for alive in (True, False):
            found = read(content[:end], alive=alive)
            assert found.records[:kept] == good.records[:kept], end
            assert len(found.records) <= kept + 1, end
            torn = complete < end != header and len(found.records) == kept
            assert bool(found.problems) == (end == 0 or (torn and not alive)), end


def test_a_beginning_of_a_file_is_what_is_whole_of_it() -> None:
    content = whole(SMALL)
    breaks = [at for at, byte in enumerate(content) if byte == 0x0A]
    near = {end for at in breaks for end in (at - 1, at, at + 1)}
    cut(content, sorted({*near, *range(300), *range(0, len(content), 29)}))
    cut(whole(), range(BYTES // 2, BYTES // 2 + 20))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(40))
def test_every_beginning_of_a_file_is_what_is_whole_of_it(part: int) -> None:
    cut(whole(), range(part, len(whole()), 40))


def test_loading_tells_the_same(tmp_path: Path) -> None:
    content = whole(SMALL)
    chance = random.Random(3)
    path = tmp_path / "s.present.jsonl"
    for _ in range(50):
        at = chance.randrange(len(content))
        damaged, _lines = flipped(content, at, chance.randrange(256))
        path.write_bytes(damaged)
        loaded, found = load(path), read(damaged)
        assert [*loaded.records] == [record for _, record in found.records]
        reasons = [(problem.line, problem.offset, problem.reason) for problem in loaded.problems]
        assert reasons == [(p.line, p.offset, p.reason) for p in found.problems]

from __future__ import annotations

import random
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Server, page_of
from tests.browser.watching import Watcher
from tests.damage import flipped, read, whole

SMALL = 12_000


def show_flips(server: Server, folder: Path, page: Page, watcher: Watcher, *, times: int) -> None:
    """Change one byte of a session, each time another, and open its page."""
    chance = random.Random(times)
    content = whole(SMALL)
    good = len(read(content).cards)
    shown = expected = 0
    for number in range(times):
        at = chance.randrange(len(content))
        damaged, _ = flipped(content, at, chance.randrange(256))
        found = read(damaged)
        session = folder / f"s{number}.jsonl"
        session.with_name(f"s{number}.present.jsonl").write_bytes(damaged)
        answer = page.goto(server.url(f"{page_of(session)}?all"))
        assert answer is not None
        assert answer.status == 200
        problems = page.locator("#problems .problems")
        expect(problems).to_have_count(int(bool(found.problems)))
        tops = [card for card in found.cards if card.parent is None]
        assert page.locator("#cards > .sec > .card").count() == len(tops), at
        shown += len(found.cards)
        expected += good
    assert shown > 0.98 * expected, "a page has no more than a line of damage"
    watcher.assert_quiet()


@pytest.fixture
def watcher(context: BrowserContext, server: Server) -> Watcher:
    return Watcher(context, server)


def test_a_damaged_session_is_shown_with_its_damage_named(
    server: Server, folder: Path, page: Page, watcher: Watcher
) -> None:
    show_flips(server, folder, page, watcher, times=8)


@pytest.mark.soak
def test_two_hundred_damaged_sessions_are_shown_with_their_damage_named(
    server: Server, folder: Path, page: Page, watcher: Watcher
) -> None:
    show_flips(server, folder, page, watcher, times=200)

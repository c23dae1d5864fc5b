"""The promise, in a browser: a page that watched a session shows what one shows that is opened."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import BrowserContext, Page

from presentview import Recorder
from presentview.events import Event, EventKind
from presentview.records import Compaction, Record, encode
from tests.browser.conftest import (
    ROOT,
    Proxy,
    Serve,
    Server,
    assert_same,
    page_of,
    shown,
    shown_anew,
    wait_for_position,
)
from tests.random_session import random_events

SEED = 20_261_130


def in_bursts(events: list[Event], random: Random) -> Iterator[list[Event]]:
    at = 0
    while at < len(events):
        size = random.choice([1, 1, 2, 5, 15])
        yield events[at : at + size]
        at += size


def assert_kept(context: BrowserContext, page: Page) -> None:
    wait_for_position(page)
    assert_same(shown(page), shown_anew(context, page))


def test_a_page_that_watched_a_long_session_shows_what_a_new_one_shows(
    serve: Serve, folder: Path, proxy: Proxy, context: BrowserContext, page: Page
) -> None:
    session = folder / "s.jsonl"
    sidecar = folder / "s.present.jsonl"
    seeds = [Record(kind="of another time", text="?"), Record(kind="notice", text="before")]
    sidecar.write_bytes(b"".join(encode(record) + b"\n" for record in seeds))
    server = serve(folder, arguments=["--port", "0", "--allow-host", f"127.0.0.1:{proxy.port}"])
    proxy.target = server.port
    page.goto(server.url(page_of(session), port=proxy.port))
    events = random_events(SEED, 300)
    bursts = list(in_bursts(events, Random(SEED)))
    turns = 0
    with Recorder.open(session, workspace=folder, fsync="never") as recorder:
        for number, burst in enumerate(bursts):
            for event in burst:
                recorder.append(event)
                turns += event.kind is EventKind.TURN_STARTED
            place = number * 12 // len(bursts)
            if number * 12 % len(bursts) < 12:
                if place in (2, 8):
                    recorder.save(recorder.path)
                elif place == 4:
                    proxy.cut()
                elif place == 5:
                    proxy.mend()
                elif place == 6:
                    done = Compaction(trigger="auto", messages=9, summary="what was before")
                    recorder.truncate_to_turn(turns - 1)
                    recorder.sync_before_save(
                        1, Event(kind=EventKind.COMPACTION_DONE, compaction=done)
                    )
                    recorder.save()
                elif place == 10:
                    assert_kept(context, page)
            elif place != 4:
                wait_for_position(page)
        assert_kept(context, page)
    assert_kept(context, page)


def test_a_page_keeps_step_with_a_writer_that_rewrites_the_file_each_time(
    server: Server, folder: Path, context: BrowserContext, page: Page
) -> None:
    session = folder / "s.jsonl"
    sidecar = folder / "s.jsonl.present.jsonl"
    recorder = Recorder(extensions=False, drop_deltas=False)
    recorder.save(sidecar)
    page.goto(server.url(page_of(session)))
    events = random_events(SEED + 1, 120)
    for number, burst in enumerate(in_bursts(events, Random(1))):
        for event in burst:
            recorder.append(event)
        recorder.set_rewrite_version(number)
        recorder.save(sidecar)
        wait_for_position(page)
    assert_kept(context, page)


WRITER = """
import sys
from pathlib import Path
from presentview import Recorder
from tests.random_session import random_events

recorder = Recorder.open(Path(sys.argv[1]), fsync="never")
for event in random_events(int(sys.argv[2]), int(sys.argv[3])):
    sys.stdin.readline()
    recorder.append(event)
    print(flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("count", [7, 61, 148])
def test_a_page_shows_a_session_that_was_killed_as_a_new_one_does(
    server: Server, folder: Path, context: BrowserContext, page: Page, count: int
) -> None:
    session = folder / "s.jsonl"
    session.with_name("s.present.jsonl").touch()
    page.goto(server.url(page_of(session)))
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, session, str(SEED + count), str(count)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        for number in range(count):
            writer.stdin.write(b"\n")
            writer.stdin.flush()
            assert writer.stdout.readline() == b"\n"
            if number % 25 == 0:
                wait_for_position(page)
        wait_for_position(page)
        page.wait_for_selector(".pill.live")
        assert_kept(context, page)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        page.wait_for_selector(".pill.interrupted")
        assert_kept(context, page)
        assert page.locator(".card.running").count() == 0

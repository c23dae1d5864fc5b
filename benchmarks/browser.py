"""What a session costs a reader in Chromium: its elements, loading, scrolling, what is new."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.generate import write_calls, write_cards
from benchmarks.measure import Figure
from benchmarks.pages import middle_of
from benchmarks.serving import Server, page_path, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["arriving", "loading", "nodes", "scrolling", "timing_rows"]

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS: Final = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
_WINDOW: Final = {"width": 1280, "height": 900}
_ROUNDS: Final = 7
_CARDS: Final = (100_000, 100)
_CALLS: Final = (5_000, 60)
_APPENDS: Final = 40
_PAUSE_SECONDS: Final = 0.15
_WHEEL_STEPS: Final = 80
_WHEEL_PX: Final = 300

_IS_READY: Final = """
() => document.body?.dataset.restored !== undefined && presentview.rows.ready
  && !document.querySelector(".htmx-request")
"""
# When the page was in its place and complete for the first time, in ms since the navigation.
_LOADED: Final = """
const look = setInterval(() => {
  if (document.body?.dataset.restored === undefined || !window.presentview?.rows?.ready) return;
  clearInterval(look);
  window.loadedAt = performance.now();
}, 1);
"""
_NODES: Final = """
() => {
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
  let all = 1;
  while (walker.nextNode()) all += 1;
  return [document.getElementsByTagName("*").length, all];
}
"""
_FRAMES: Final = """
() => {
  window.frames_ = [];
  let before = 0;
  window.frame_ = requestAnimationFrame(function next(now) {
    if (before) window.frames_.push(now - before);
    before = now;
    window.frame_ = requestAnimationFrame(next);
  });
}
"""
_FRAMES_END: Final = "() => { cancelAnimationFrame(window.frame_); return window.frames_; }"
# Notes the time of day at which a card with a text is in the page for the first time.
_ARRIVALS: Final = """
() => {
  window.arrived = {};
  new MutationObserver((changes) => {
    const now = performance.timeOrigin + performance.now();
    for (const { addedNodes } of changes) for (const node of addedNodes) {
      const number = /\\barrival (\\d+) of\\b/.exec(node.textContent)?.[1];
      if (number && node.isConnected) window.arrived[number] ??= now;
    }
  }).observe(document.getElementById("cards"), { childList: true, subtree: true });
}
"""


def nodes(path: Path) -> Iterator[Figure]:
    """How many elements a page has: at the start of a session, in its middle, at its end, and
    after some scrolling.
    """
    with _browsing("nodes") as browser:
        if browser is None:
            return
        with _shown(path) as server:
            page = page_path(path)
            middle = middle_of(server, page)
            for name, query in (("start", ""), ("middle", f"?at={middle}"), ("end", "?at=end")):
                tab = _tab(browser)
                _load(tab, server.address + page + query)
                if name == "end":
                    tab.evaluate("() => presentview.rows.toEnd()")
                    tab.wait_for_function(_IS_READY)
                yield _count(tab, name)
                if name == "middle":
                    _wheel(tab, itertools.repeat(_WHEEL_PX, _WHEEL_STEPS))
                    tab.wait_for_function(_IS_READY)
                    yield _count(tab, "after scrolling")
                tab.context.close()


def _count(tab: Page, name: str) -> Figure:
    elements, every = tab.evaluate(_NODES)
    cards = tab.locator("#cards .card").count()
    raw = f"{cards} cards; {every} nodes with texts and comments"
    return Figure(f"elements, {name}", elements, 2000, "", raw)


def loading(path: Path) -> Iterator[Figure]:
    """From the start of the navigation until the page is in its place: a session of very many
    cards that the server has open, against a short one.
    """
    del path
    with _browsing("scale") as browser:
        if browser is None:
            return
        with _made(_CARDS) as (server, pages):
            times: list[list[float]] = [[] for _ in pages]
            for _ in range(_ROUNDS + 1):
                for address, taken in zip(pages, times, strict=True):
                    tab = _tab(browser)
                    _load(tab, address)
                    taken.append(tab.evaluate("() => window.loadedAt"))
                    tab.context.close()
            del server
    many, few = (statistics.median(taken[1:]) for taken in times)
    ratios = [one / other for one, other in zip(*times, strict=True)][1:]
    raw = f"{many:.0f} ms against {few:.0f} ms, ratios {min(ratios):.2f}-{max(ratios):.2f}"
    name = f"load, {_CARDS[0]:,} / {_CARDS[1]} cards"
    yield Figure(name, statistics.median(ratios), 3.0, "x", raw)


def scrolling(path: Path) -> Iterator[Figure]:
    """The slow frames while a long session is scrolled by wheel, against those of a short one."""
    with _browsing("scroll") as browser:
        if browser is None:
            return
        with _made(_CARDS[1:], path) as (_, pages):
            yield _slow_frames("frames, long / 100 cards", browser, pages, _load)


def _slow_frames(
    name: str, browser: Browser, pages: Sequence[str], load: Callable[[Page, str], None]
) -> Figure:
    """How the slow frames of the first page stand to those of the second."""
    slow: list[list[float]] = [[] for _ in pages]
    longest: list[list[float]] = [[] for _ in pages]
    for _ in range(_ROUNDS):
        for which, address in enumerate(pages):
            tab = _tab(browser)
            load(tab, address)
            deltas = _frames_while_scrolling(tab)
            slow[which].append(_percentile(deltas, 95))
            longest[which].append(max(deltas))
            tab.context.close()
    long, short = (statistics.median(found) for found in slow)
    ratios = [one / other for one, other in zip(*slow, strict=True)]
    raw = (
        f"p95 {long:.1f} ms against {short:.1f} ms, ratios {min(ratios):.2f}-{max(ratios):.2f}; "
        f"longest frames {max(longest[0]):.0f} and {max(longest[1]):.0f} ms"
    )
    return Figure(name, statistics.median(ratios), 2.0, "x", raw)


def timing_rows(path: Path) -> Iterator[Figure]:
    """The slow frames while the timings of 5,000 calls are scrolled, with as many rows as a page
    has, against those of a session whose rows fit in two windows.
    """
    del path
    with _browsing("timings-scroll") as browser, tempfile.TemporaryDirectory() as folder:
        if browser is None:
            return
        made = [Path(folder) / f"{count}.present.jsonl" for count in _CALLS]
        for file, count in zip(made, _CALLS, strict=True):
            write_calls(file, count, timed=True)
        with _shown(*made) as server:
            pages = [f"{server.address}{page_path(file)}/timings?rows=all" for file in made]
            yield _slow_frames("frames, timings of 5,000 / 60 calls", browser, pages, _load_timings)


def arriving(path: Path) -> Iterator[Figure]:
    """From an append to the file until the card is in the page of a reader at the end."""
    with _browsing("live") as browser, tempfile.TemporaryDirectory() as folder:
        if browser is None:
            return
        copy = Path(folder) / "session.present.jsonl"
        copy.write_bytes(path.read_bytes())
        with _shown(copy) as server:
            tab = _tab(browser)
            _load(tab, server.address + page_path(copy))
            tab.evaluate("() => presentview.rows.toEnd()")
            tab.wait_for_function(_IS_READY)
            tab.evaluate(_ARRIVALS)
            times = [_arrival(tab, copy, number) for number in range(_APPENDS)]
            tab.context.close()
    times.sort()
    raw = f"median {statistics.median(times):.0f} ms, longest {times[-1]:.0f} ms of {_APPENDS}"
    yield Figure("append until shown, p95", _percentile(times, 95), 300, "ms", raw)


def _arrival(tab: Page, path: Path, number: int) -> float:
    line = b'{"kind":"notice","text":"arrival %d of some","level":"info"}\n' % number
    began = time.time()
    with path.open("ab") as file:
        file.write(line)
    tab.wait_for_function("number => window.arrived[number]", arg=number, timeout=60_000)
    at: float = tab.evaluate("number => window.arrived[number]", number)
    time.sleep(_PAUSE_SECONDS)
    return at - began * 1000


def _frames_while_scrolling(tab: Page) -> list[float]:
    """Scroll down as far as there is something, and back again, and time the frames (in ms)."""
    height: float = tab.evaluate("() => document.documentElement.scrollHeight - innerHeight")
    reach = max(1, min(_WHEEL_STEPS, int(height / _WHEEL_PX)))
    steps = (_WHEEL_PX if step // reach % 2 == 0 else -_WHEEL_PX for step in range(_WHEEL_STEPS))
    tab.evaluate(_FRAMES)
    _wheel(tab, steps)
    deltas: list[float] = tab.evaluate(_FRAMES_END)
    return deltas


def _wheel(tab: Page, steps: Iterator[int]) -> None:
    tab.mouse.move(_WINDOW["width"] / 2, _WINDOW["height"] / 2)
    for step in steps:
        tab.mouse.wheel(0, step)
        tab.wait_for_timeout(30)


def _percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def _tab(browser: Browser) -> Page:
    """A tab of a reader who was never here."""
    tab = browser.new_context(viewport=_WINDOW).new_page()  # type: ignore[arg-type]
    tab.set_default_timeout(120_000)
    tab.add_init_script(_LOADED)
    return tab


def _load(tab: Page, address: str) -> None:
    tab.goto(address)
    tab.wait_for_function("() => window.loadedAt")
    tab.wait_for_function(_IS_READY)


def _load_timings(tab: Page, address: str) -> None:
    tab.goto(address)
    tab.wait_for_function("() => document.querySelector('.wf-row')")


@contextlib.contextmanager
def _browsing(figure: str) -> Iterator[Browser | None]:
    """Chromium, None where there is none or nothing to drive it, which is said."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print(f"{figure}: left out, there is no playwright here", file=sys.stderr)
        yield None
        return
    named = os.environ.get("PRESENTVIEW_CHROMIUM")
    found = (shutil.which(name) for name in ((named,) if named else _NAMES))
    chromium = next((one for one in found if one), None)
    if chromium is None:
        print(f"{figure}: left out, there is no Chromium here", file=sys.stderr)
        yield None
        return
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=_FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def _shown(*paths: Path) -> Iterator[Server]:
    """A server that has opened these sessions."""
    with tempfile.TemporaryDirectory() as bytecode, serving(*paths, bytecode=bytecode) as server:
        for path in paths:
            server.get(page_path(path))
        yield server


@contextlib.contextmanager
def _made(counts: Sequence[int], *others: Path) -> Iterator[tuple[Server, list[str]]]:
    """A server that has opened others, and made-up sessions of so many cards; the addresses."""
    with tempfile.TemporaryDirectory() as folder:
        made = [Path(folder) / f"{count}.present.jsonl" for count in counts]
        for path, count in zip(made, counts, strict=True):
            write_cards(path, count)
        with _shown(*others, *made) as server:
            yield server, [server.address + page_path(path) for path in (*others, *made)]

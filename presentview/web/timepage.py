"""What the addresses of a session's timings answer: the page, its waterfall, its tools."""

from __future__ import annotations

import time
from typing import Any, Final

import msgspec
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from presentview.transcript.agents import agent_runs
from presentview.web.asking import feed_of, hub_of
from presentview.web.feeds import Feed
from presentview.web.ruler import cuts_of, ticks_of
from presentview.web.templating import render
from presentview.web.timed import Timed, timed, until_of
from presentview.web.timerows import rows_drawn
from presentview.web.timetables import agent_lines, facts_of, path_lines, slow_lines, tool_lines
from presentview.web.timetree import tree_of, unfolded
from presentview.web.timeview import SORTS, TimeView, Window, acted, time_view_of, window_of

__all__ = ["timings", "tools", "waterfall"]

_MOST_BOUNDARIES: Final = 60


async def timings(request: Request) -> Response:
    """`/s/<id>/timings`: where the time went. `?from=` and `?to=` (ms) say which part of it is
    shown, `?open=` and `?shut=` which rows are unfolded, `?at=<card>` which is looked for.
    """
    feed = await feed_of(request)
    asked, act = time_view_of(request.query_params), request.query_params.get("act", "")

    def draw() -> Response:
        with feed.follower.reading:
            view = unfolded(asked, feed.transcript)
            if act:
                # A button, without scripts: the address it leads to does not press it again.
                query = _acted(feed, view, act).query
                return RedirectResponse(f"{request.url.path}?{query}", status_code=303)
            snapshot = feed.frame()
            found = _timed(feed)
            return HTMLResponse(
                render(
                    "timings.html",
                    session=feed.ref.id,
                    position=snapshot.pos,
                    head=feed.head(),
                    at=view.at,
                    problems_html=Markup(snapshot.regions["problems"]),  # noqa: S704
                    waterfall=_waterfall(feed, found, view),
                    **_around(feed, found, view),
                )
            )

    return await hub_of(request).working(feed.ref.id, draw)


async def waterfall(request: Request) -> Response:
    """`/s/<id>/timings/waterfall`: the waterfall alone, after what the button `?act=` does."""
    feed = await feed_of(request)
    asked, act = time_view_of(request.query_params), request.query_params.get("act", "")

    def draw() -> str:
        with feed.follower.reading:
            view = _acted(feed, asked, act) if act else asked
            return _waterfall(feed, _timed(feed), view)

    return HTMLResponse(await hub_of(request).working(feed.ref.id, draw))


async def tools(request: Request) -> Response:
    """`/s/<id>/timings/figures`: what stands around the waterfall, the tools as `?sort=` says."""
    feed = await feed_of(request)
    view = time_view_of(request.query_params)

    def draw() -> str:
        with feed.follower.reading:
            context = _around(feed, _timed(feed), view)
            names = ("_facts.html", "_time_figures.html")
            return "".join(render(name, session=feed.ref.id, **context) for name in names)

    return HTMLResponse(await hub_of(request).working(feed.ref.id, draw))


def _timed(feed: Feed) -> Timed:
    return timed(feed.transcript, feed.version)


def _until(feed: Feed, found: Timed) -> int | None:
    now = time.time_ns() // 1_000_000
    return until_of(found.timings, alive=feed.follower.alive, now=now)


def _acted(feed: Feed, view: TimeView, act: str) -> TimeView:
    found = _timed(feed)
    return acted(view, act, found.line(feed.transcript, _until(feed, found)))


def _waterfall(feed: Feed, found: Timed, view: TimeView) -> Markup:
    """The waterfall as HTML; that of a session in which nothing runs is remembered for a while."""
    until = _until(feed, found)
    if until is not None:
        return _waterfall_drawn(feed, found, view, until)
    shown = msgspec.structs.replace(view, at="")
    key = ("waterfall", shown, feed.follower.alive)
    return found.kept(key, lambda: _waterfall_drawn(feed, found, shown, until))


def _waterfall_drawn(feed: Feed, found: Timed, view: TimeView, until: int | None) -> Markup:
    transcript, alive = feed.transcript, feed.follower.alive
    line = found.line(transcript, until)
    window = window_of(view, line)
    tree = tree_of(transcript, found, view, window)
    whole = found.timings.whole
    rows = rows_drawn(tree.rows, found.timings, window, alive=alive, critical=found.critical)
    return render(
        "_waterfall.html",
        session=feed.ref.id,
        view=view,
        fields=msgspec.structs.replace(view, sort="").fields,
        rows=rows,
        is_cut=tree.is_cut,
        is_drawn=bool(line),
        is_whole=window.is_whole,
        is_running=until is not None,
        inferred=bool(whole and whole.inferred),
        ticks=ticks_of(window),
        cuts=cuts_of(window),
        boundaries=_boundaries(found, window),
        low=round(window.low, 5),
        high=round(window.high, 5),
    ).strip()


def _boundaries(found: Timed, window: Window) -> list[float]:
    """Where turns begin in the part that is shown; of so many that they lie side by side none."""
    line = window.line
    first, last = line.at(window.low), line.at(window.high)
    starts = [w.start for w in found.timings.turn_windows.values() if first < w.start < last]
    if len(starts) > _MOST_BOUNDARIES:
        return []
    return [round(window.x(start), 2) for start in starts]


def _around(feed: Feed, found: Timed, view: TimeView) -> dict[str, Any]:
    """What the tables and figures around the waterfall are drawn from."""
    session = found.timings.session
    shared = found.kept("around", lambda: _whole_session(feed, found))
    return {
        **shared,
        "view": view,
        "tools": tool_lines(found.timings, view.sort),
        "sort": view.sort or SORTS[0],
        "inferred": session.inferred,
        "unknown": session.unknown,
    }


def _whole_session(feed: Feed, found: Timed) -> dict[str, Any]:
    return {
        "facts": facts_of(found.timings),
        "slowest": slow_lines(found.timings),
        "agents": agent_lines(list(agent_runs(feed.transcript, found.timings))),
        "path": [] if found.timings.session.inferred else path_lines(found.path),
    }

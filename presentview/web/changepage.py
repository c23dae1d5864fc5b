"""What the addresses of a session's changes answer: the page, its parts, the patch of a step."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from presentview.limits import PLAY_SECONDS, PLAY_WAIT_SECONDS
from presentview.web.asking import Json, feed_of, hub_of
from presentview.web.changecheck import Check, touched_folders, word_of
from presentview.web.changed import Changed, changed
from presentview.web.changerows import (
    agents_of,
    files_of,
    shells_before,
    step_list,
    tick_paths,
    tree_of,
)
from presentview.web.changestep import drawn_step, known_of, patch_of
from presentview.web.changeview import STATES, ChangeView, Picked, change_view_of, picked
from presentview.web.download import saved_as
from presentview.web.feeds import Feed
from presentview.web.numbers import number_of
from presentview.web.templating import render
from presentview.workspaces import allowing_command

__all__ = ["changes", "known", "part", "patch", "verdicts"]

T = TypeVar("T")


async def _drawn(request: Request, draw: Callable[[Feed, Changed], T]) -> T:
    """What `draw` makes of the session and its steps while nothing else works on it."""
    feed = await feed_of(request)

    def work() -> T:
        with feed.follower.reading:
            return draw(feed, changed(feed))

    return await hub_of(request).working(feed.ref.id, work)


async def changes(request: Request) -> Response:
    """`/s/<id>/changes`: every edit of the session, one of them shown. `?step=<n>` or
    `?card=<card>` say which; `?file=`, `?agent=` and `?state=` leave others out, `?layout=split`
    draws it side by side. `&wait` waits longer for what has to be played.
    """
    page = _Page(request)

    def draw(feed: Feed, found: Changed) -> str:
        snapshot = feed.frame()
        chosen = picked(found, page.view)
        page.look_around(found, chosen)
        return render(
            "changes.html",
            position=snapshot.pos,
            head=feed.head(),
            problems_html=Markup(snapshot.regions["problems"]),  # noqa: S704
            **page.context(feed, found, chosen),
        )

    html = await _drawn(request, draw)
    page.watch()
    return HTMLResponse(html)


async def part(request: Request) -> Response:
    """`/s/<id>/changes/part`: what of the page is another for another step."""
    page = _Page(request)

    def draw(feed: Feed, found: Changed) -> str:
        return render("_changes.html", **page.context(feed, found, picked(found, page.view)))

    return HTMLResponse(await _drawn(request, draw))


async def known(request: Request) -> Response:
    """`/s/<id>/changes/known`: what is known of the files of a step, as far as they are played."""
    page = _Page(request)
    html = await _drawn(
        request, lambda feed, found: render("_known.html", **page.known(feed, found))
    )
    return HTMLResponse(html)


async def verdicts(request: Request) -> Response:
    """`/s/<id>/changes/verdicts?from=<n>`: the verdicts on the steps of the list after one of
    them, as many as there is time for; `next` is where to go on, null at the end.
    """
    page = _Page(request)
    after = number_of(request.query_params, "from", 0)

    def draw(_: Feed, found: Changed) -> dict[str, Any]:
        chosen = picked(found, page.view)
        page.look_around(found, chosen)
        rows = [row.step for row in step_list(found, chosen).rows if row.step.number > after]
        check = page.check(found)
        told: dict[str, tuple[str, str]] = {}
        for step in rows if check else ():
            assert check is not None
            verdict = check.verdict(step, page.until)
            if verdict is None:
                return {"verdicts": told, "next": step.number - 1}
            told[str(step.number)] = word_of(verdict)[:]
            if time.monotonic() >= page.until:
                is_last = step is rows[-1]
                return {"verdicts": told, "next": None if is_last else step.number}
        return {"verdicts": told, "next": None}

    answer = Json(await _drawn(request, draw))
    page.watch()
    return answer


async def patch(request: Request) -> Response:
    """`/s/<id>/changes/patch?step=<n>`: the patch of one step, for its files as they were before
    it; 409 with the reason where there is none.
    """
    view = change_view_of(request.query_params)

    def draw(_: Feed, found: Changed) -> Response:
        step = picked(found, view).step
        if step is None:
            return PlainTextResponse("there is no such step", status_code=404)
        made = patch_of(found, step, time.monotonic() + PLAY_WAIT_SECONDS)
        if not made.text:
            return PlainTextResponse(made.reason, status_code=409)
        text = made.text.encode("utf-8", "surrogatepass")
        return Response(
            text, media_type="text/plain", headers=saved_as(f"step-{step.number}.patch")
        )

    return await _drawn(request, draw)


class _Page:
    """One request for the page or a part of it."""

    def __init__(self, request: Request) -> None:
        self.view: ChangeView = change_view_of(request.query_params)
        self._hub = hub_of(request)
        self._session: str = request.path_params["session"]
        waits = "wait" in request.query_params
        self.until = time.monotonic() + (PLAY_WAIT_SECONDS if waits else PLAY_SECONDS)
        self._folders: list[Path] = []

    def context(self, feed: Feed, found: Changed, chosen: Picked) -> dict[str, Any]:
        """What the page is drawn from, but for what stands around it."""
        view, step = self.view, chosen.step
        return {
            "shown": None if step is None else drawn_step(feed, found, step, view),
            "shells": shells_before(found, chosen.steps, chosen.index) if step else 0,
            "chosen": chosen,
            "newest": len(found.steps),
            "list": step_list(found, chosen),
            "ticks": found.kept(
                found.steps, ("ticks", view.filters), lambda: tick_paths(chosen.steps)
            ),
            "tree": tree_of(found, step),
            "states": STATES,
            "files": found.kept(found.steps, ("files", view.file), lambda: files_of(found, view)),
            "agents": agents_of(found, view),
            **self.known(feed, found, chosen),
        }

    def known(self, feed: Feed, found: Changed, chosen: Picked | None = None) -> dict[str, Any]:
        """What is known of the files of the step that is shown."""
        view = self.view
        step = (chosen or picked(found, view)).step
        check = self.check(found)
        verdict = None if step is None or check is None else check.verdict(step, self.until)
        return {
            "session": self._session,
            "view": view,
            "step": step,
            "gap": found.changes.gap,
            "workspace": found.changes.workspace,
            "is_compared": check is not None,
            "command": allowing_command(feed.ref.path, found.changes.workspace),
            "verdict": verdict,
            "word_of": word_of,
            "known": known_of(found, step, view, self.until, may_wait=chosen is not None)
            if step
            else None,
        }

    def check(self, found: Changed) -> Check | None:
        """What compares steps with the workspace; None if that must not be looked into."""
        root = self._hub.workspaces.of(found.changes.workspace)
        return None if root is None else Check(found, root)

    def look_around(self, found: Changed, chosen: Picked) -> None:
        """Find the folders to watch: first that of the step that is shown, then the latest."""
        root = self._hub.workspaces.of(found.changes.workspace)
        if root is not None and chosen.step is not None:
            self._folders = touched_folders(root, (chosen.step, *reversed(found.steps)))

    def watch(self) -> None:
        """Watch the folders that were found."""
        self._hub.trees.want(self._session, self._folders)

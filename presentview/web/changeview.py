"""What of a session's steps a page shows: which one, which are left out, and how it is drawn."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

import msgspec

from presentview.transcript.changes.step import Step
from presentview.web.changed import Changed
from presentview.web.numbers import number_of

__all__ = ["MAIN", "STATES", "ChangeView", "Picked", "change_view_of", "picked"]

STATES: Final = {
    "applied": "Applied",
    "failed": "Failed",
    "blocked": "Blocked",
    "interrupted": "Interrupted",
    "running": "Running",
}
"""The states of steps, with the words for them."""

MAIN: Final = "main"
"""Stands for the steps that no sub-agent made."""

_CARD: Final = re.compile(r"c\d{1,12}")
_PATH_CHARS: Final = 4096


class ChangeView(msgspec.Struct, frozen=True):
    """What an address asks for; fields that ask for nothing are 0 or empty.

    `step` is a step's number, `card` the card of one, `nth` which one of those that are not left
    out (from 1), `trouble` the "next" or the "previous" one that was not applied. Steps are left
    out unless they are about `file`, made by the sub-agent of card `agent` (or `MAIN`), and in
    `state`. `layout` is "split" or empty, `part` which of the step's files is shown (from 0), from
    about its `line`, and whether with its `net` diff.
    """

    step: int = 0
    card: str = ""
    nth: int = 0
    file: str = ""
    agent: str = ""
    state: str = ""
    layout: str = ""
    part: int = 0
    line: int = 0
    trouble: str = ""
    net: int = 0

    @property
    def fields(self) -> dict[str, str]:
        """The view as the fields of a query."""
        values = {name: str(getattr(self, name) or "") for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value}

    @property
    def query(self) -> str:
        """The view as a query, empty for what a page shows at first."""
        return urlencode(self.fields, errors="replace")

    def but(self, **changes: str | int) -> str:
        """The query of this view with other values for some fields."""
        return msgspec.structs.replace(self, **changes).query

    def at(self, step: int) -> str:
        """The query that shows another step, by its number."""
        return self.but(step=step, card="", nth=0, part=0, line=0, trouble="", net=0)

    @property
    def filters(self) -> tuple[str, str, str]:
        """What leaves steps out: file, sub-agent and state."""
        return self.file, self.agent, self.state

    @property
    def is_filtered(self) -> bool:
        """Whether steps are left out."""
        return any(self.filters)

    def shows(self, step: Step) -> bool:
        """Whether a step is not left out."""
        return (
            self.file in ("", *step.paths, *(move.old for move in step.moves))
            and self.agent in ("", step.agent or MAIN)
            and self.state in ("", step.state)
        )


def change_view_of(query: Mapping[str, str]) -> ChangeView:
    """The view an address asks for; what means nothing is left out."""
    card, agent, state = query.get("card", ""), query.get("agent", ""), query.get("state", "")
    return ChangeView(
        step=number_of(query, "step", 0),
        card=card if _CARD.fullmatch(card) else "",
        nth=number_of(query, "nth", 0),
        file=query.get("file", "")[:_PATH_CHARS],
        agent=agent if agent == MAIN or _CARD.fullmatch(agent) else "",
        state=state if state in STATES else "",
        layout="split" if query.get("layout") == "split" else "",
        part=number_of(query, "part", 0),
        line=number_of(query, "line", 0),
        net=min(1, number_of(query, "net", 0)),
        trouble=query["trouble"] if query.get("trouble") in ("next", "previous") else "",
    )


class Picked(msgspec.Struct, frozen=True):
    """The steps that are not left out, and which of them is shown (`index` from 0, -1: none)."""

    steps: Sequence[Step]
    index: int

    @property
    def step(self) -> Step | None:
        """The step that is shown."""
        return self.steps[self.index] if self.index >= 0 else None


def picked(found: Changed, view: ChangeView) -> Picked:
    """The steps a view shows. Without a step that is asked for the last one is shown; of one
    that is left out the next that is not.
    """
    steps = [step for step in found.steps if view.shows(step)] if view.is_filtered else found.steps
    if not steps:
        return Picked((), -1)
    last = len(steps) - 1
    wanted = found.by_card[view.card].number if view.card in found.by_card else view.step
    if view.nth:
        return Picked(steps, min(view.nth - 1, last))
    index = bisect_left(steps, wanted, key=lambda step: step.number) if wanted else last
    return Picked(steps, _trouble(steps, min(index, last), view.trouble))


def _trouble(steps: Sequence[Step], index: int, which: str) -> int:
    """The nearest step that was not applied; the one at `index` where there is none."""
    around = {"next": range(index + 1, len(steps)), "previous": range(index - 1, -1, -1)}
    found = (n for n in around.get(which, ()) if not steps[n].took_effect)
    return next(found, index)

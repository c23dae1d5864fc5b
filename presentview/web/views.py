"""What a page shows of a session: all of it, or what its address asks for.

Depth leaves out kinds of cards, a focus shows one turn or one sub-agent alone, filters show the
cards of some tools, states or kinds and those around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlencode

import msgspec

from presentview.transcript.cards import BAD, OPEN, Card, ToolCard
from presentview.transcript.fold import Transcript
from presentview.transcript.tree import in_page_order
from presentview.web.faces import TOOL_LABELS

__all__ = [
    "DEPTHS",
    "EVERYTHING",
    "FILTERS",
    "Scope",
    "View",
    "cards_of",
    "matching",
    "next_of",
    "scope_of",
    "view_of",
]

DEPTHS: Final = {
    "prompts": frozenset({"prompt", "steer"}),
    "answers": frozenset({"prompt", "steer", "message", "collab", "turn_error", "compaction"}),
    "tools": frozenset(
        {
            *("prompt", "steer", "message", "collab", "turn_error", "compaction"),
            *("tool", "lane", "retry", "paused", "resumed", "phase", "approval"),
        }
    ),
    "everything": frozenset[str](),
}
"""The kinds of cards that a page of each depth shows; everything names none."""

FILTERS: Final = {
    "tool": {face: label for face, label in TOOL_LABELS.items() if face != "image"}
    | {"other": "Other tools"},
    "state": {
        "failed": "Failed",
        "blocked": "Blocked",
        "interrupted": "Interrupted",
        "running": "Running",
    },
    "kind": {
        "prompt": "Prompts",
        "message": "Answers",
        "reasoning": "Reasoning",
        "notice": "Notices",
        "compaction": "Compactions",
        "collab": "Expert collabs",
        "usage": "Usage",
        "unknown": "Unknown records",
    },
}
"""What a page can be filtered by, with the words for it."""

_FOCUS: Final = re.compile(r"[ct][0-9]{1,12}")
_STATES: Final = ("failed", "blocked", "interrupted", "running", "done", "aborted")
_MOST_CHARS: Final = 40


class View(msgspec.Struct, frozen=True):
    """What is shown: an empty field leaves nothing out.

    `depth` is a key of `DEPTHS`; `tool`, `state` and `kind` are words as cards have them (the
    kind of tool card, the state, the kind of card); `focus` is a turn `t<n>` or a card `c<n>`.
    """

    depth: str = ""
    tool: str = ""
    state: str = ""
    kind: str = ""
    focus: str = ""

    @property
    def query(self) -> str:
        """The view as the query of an address, empty for everything."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        return urlencode({name: value for name, value in fields.items() if value})

    def but(self, **changes: str) -> str:
        """The query of this view with other values for some fields; empty ones are left out."""
        return msgspec.structs.replace(self, **changes).query

    @property
    def is_filtered(self) -> bool:
        """Whether cards are looked for wherever they are nested."""
        return bool(self.tool or self.state or self.kind)


EVERYTHING: Final = View()


def view_of(query: Mapping[str, str]) -> View:
    """The view an address asks for; what it asks for in words that mean nothing is left out."""
    depth, state = query.get("depth", ""), query.get("state", "")
    focus = query.get("focus", "")
    return View(
        depth=depth if depth in DEPTHS and depth != "everything" else "",
        tool=query.get("tool", "")[:_MOST_CHARS],
        state=state if state in _STATES else "",
        kind=query.get("kind", "")[:_MOST_CHARS],
        focus=focus if _FOCUS.fullmatch(focus) else "",
    )


class Scope(NamedTuple):
    """What a focus is on: words for it, the card of it, the focus around it, and the focuses on
    the turns before and after it; empty where there is none.
    """

    label: str
    card: str = ""
    outer: str = ""
    earlier: str = ""
    later: str = ""


def scope_of(view: View, transcript: Transcript) -> Scope | None:
    """What the page is focused on, None if it shows the whole session."""
    if not view.focus:
        return None
    if view.focus.startswith("t"):
        return _turn_scope(int(view.focus[1:]), transcript)
    card = transcript.card(view.focus)
    if card is None:
        return Scope("nothing recorded")
    outer = card.parent.id if card.parent else f"t{card.turn}"
    return Scope(card.face or getattr(card, "name", "") or card.kind, card.id, outer)


def _turn_scope(number: int, transcript: Transcript) -> Scope:
    turns = transcript.turns
    least = turns[0].number
    index = number - least
    if not 0 <= index < len(turns):
        return Scope("nothing recorded")

    def focus(wanted: int) -> str:
        # What comes before the first prompt is no turn that one would go through.
        there = 0 <= wanted < len(turns) and turns[wanted].prompt is not None
        return f"t{least + wanted}" if there else ""

    prompt = turns[index].prompt
    label = f"Turn {number}" if prompt else "Before the first turn"
    card = prompt.id if prompt else ""
    return Scope(label, card, earlier=focus(index - 1), later=focus(index + 1))


def cards_of(view: View, transcript: Transcript, *, alive: bool) -> Sequence[Card]:
    """The cards that stand at the top of a page with this view, in page order."""
    if view == EVERYTHING:
        return transcript.cards
    cards = _focused(view.focus, transcript)
    kinds = DEPTHS.get(view.depth)
    if kinds:
        cards = [card for card in cards if card.kind in kinds]
    if view.is_filtered:
        cards = [card for card in cards if _has(card, view, alive)]
    return cards


def _focused(focus: str, transcript: Transcript) -> Sequence[Card]:
    if focus.startswith("t"):
        number = int(focus[1:])
        return [card for card in transcript.cards if card.turn == number]
    if focus:
        card = transcript.card(focus)
        return () if card is None else (card.children or ())
    return transcript.cards


def _has(card: Card, view: View, alive: bool) -> bool:
    """Whether `card`, or one nested in it, is what the view's filters look for."""
    if not card.children:
        return matching(card, view, alive=alive)
    return any(matching(inner, view, alive=alive) for inner in in_page_order([card]))


def matching(card: Card, view: View, *, alive: bool) -> bool:
    """Whether a card by itself is what the view's filters look for."""
    if view.kind and card.kind != view.kind:
        return False
    if view.tool and not (isinstance(card, ToolCard) and view.tool in (card.tool_face, card.name)):
        return False
    if not view.state:
        return True
    if view.state == "failed" and card.kind == "turn_error":
        return card.state in BAD
    if card.state == OPEN or card.kind == "lane":
        return card.status(alive=alive) == view.state
    return card.state == view.state


def next_of(
    what: str, row: Sequence[Card], start: str, *, back: bool = False, here: bool = False
) -> Card | None:
    """The next card after `start`, in the order of a page whose cards are `row`, that is an
    `error`, an `edit` or the prompt of a `turn`; with `back` the one before it, with `here` the
    card itself if it is one. Cards that are nested in those of the row are among them.
    """
    is_meant = _MEANT.get(what)
    if is_meant is None:
        return None
    found: Card | None = None
    passed = start == ""
    for card in in_page_order(row):
        if card.id == start:
            if back:
                return found
            passed = True
            if not here:
                continue
        if (back or passed) and is_meant(card):
            if not back:
                return card
            found = card
    return found


def _is_error(card: Card) -> bool:
    return card.state in BAD or card.kind == "turn_error"


def _is_edit(card: Card) -> bool:
    return isinstance(card, ToolCard) and card.tool_face in ("edit", "write")


_MEANT: Final[Mapping[str, Callable[[Card], bool]]] = {
    "error": _is_error,
    "edit": _is_edit,
    "turn": lambda card: card.kind == "prompt",
}

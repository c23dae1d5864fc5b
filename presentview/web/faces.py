"""The closed card: everything its face shows, ready for the template."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from presentview import units
from presentview.limits import DIFF_OPEN_LINES, NAME_CHARS, SUBJECT_CHARS
from presentview.transcript.cards import FAILED, RUNNING, Approval, Card, ToolCard, UsageCard

__all__ = ["TOOL_LABELS", "Badge", "Face", "face_of", "opens_diff", "usage_parts"]

TOOL_LABELS: Final = {
    "shell": "Shell",
    "read": "Read",
    "search": "Search",
    "list": "List",
    "edit": "Edit",
    "write": "Write",
    "todo": "To-do",
    "agent": "Sub-agent",
    "fetch": "Fetch",
    "web_search": "Web search",
    "image": "Image",
}
"""The kinds of tool cards that have a name of their own."""

_LABELS: Final = {
    "reasoning": "Thought",
    "message": "Answer",
    "prompt": "You",
    "compaction": "Context compacted",
    "collab": "Expert collab",
    "unknown": "Unknown record",
    "turn_error": "Turn failed",
    "steer": "You, mid-turn",
    "paused": "Paused",
    "resumed": "Resumed",
    "retry": "Retrying",
    "phase": "Phase",
    "approval": "Approval",
    "notice": "Notice",
    "usage": "Usage",
}
_TEMPLATES: Final = {
    "prompt": "card/_prompt.html",
    "message": "card/_message.html",
    "reasoning": "card/_reasoning.html",
    "usage": "card/_usage.html",
} | dict.fromkeys(
    ("notice", "phase", "steer", "paused", "resumed", "retry", "turn_error", "approval"),
    "card/_row.html",
)
_EXIT: Final = re.compile(r"exit(?:ed)?(?: with)?(?: status| code)?:? (\d{1,3})\b")


class Badge(msgspec.Struct, frozen=True):
    """A small label on a card's face: its `text`, a CSS class and what hovering says."""

    text: str
    css_class: str = ""
    title: str = ""


class Face(msgspec.Struct, frozen=True):
    """What a closed card shows.

    `template` draws it; `css_class` holds its kind and state; `icon` names a symbol of the
    sprite; `state` is the word for its state where one is shown; `duration` and its exact
    `duration_title` are empty where it is not known; `clock_from` (unix ms, 0: none) makes the
    browser count up from there. `is_open` is what the page opens by itself.
    """

    card: Card
    template: str
    css_class: str
    icon: str
    label: str
    subject: str
    state: str = ""
    badges: tuple[Badge, ...] = ()
    duration: str = ""
    duration_title: str = ""
    clock_from: int = 0
    is_open: bool = False


def face_of(card: Card, *, alive: bool) -> Face:
    """The face of a card while its writer is `alive` or not."""
    status = card.status(alive=alive)
    if isinstance(card, ToolCard):
        return _call_face(card, status)
    duration = card.duration_ms if card.kind in ("reasoning", "compaction", "approval") else None
    # A level is what the file says: any other word could be the class of something else.
    level = "warn" if card.level == "warn" else ""
    return Face(
        card,
        template=_TEMPLATES.get(card.kind, "card/_details.html"),
        css_class=" ".join(part for part in ("card", card.kind, status, level) if part),
        icon=_icon(card, status),
        label=_label(card, status),
        subject=card.face[:SUBJECT_CHARS],
        state=status if status in (RUNNING, "interrupted", "aborted") else "",
        badges=_badges(card),
        duration=units.duration(duration),
        duration_title=f"{duration:,} ms" if duration is not None else "",
        clock_from=card.at if status == RUNNING and card.kind == "compaction" else 0,
        is_open=card.kind in ("prompt", "message")
        or (card.kind == "reasoning" and status == RUNNING),
    )


def _icon(card: Card, status: str | None) -> str:
    if card.kind == "notice":
        return "warn" if card.level == "warn" else "info"
    if card.kind in ("compaction", "message") and status in ("interrupted", "aborted"):
        return "interrupted"
    return {"turn_error": "failed"}.get(card.kind, card.kind)


def _label(card: Card, status: str | None) -> str:
    if card.kind == "compaction":
        return {
            RUNNING: "Compacting context…",
            "aborted": "Compaction aborted",
            "interrupted": "Compaction interrupted",
        }.get(status or "", "Context compacted")
    if card.kind == "turn_error" and status == "interrupted":
        return "Turn interrupted"
    if card.kind == "approval" and status in (RUNNING, "interrupted"):
        return "Asks for approval" if status == RUNNING else "Asked for approval"
    if card.kind == "reasoning":
        return "Thinking…" if status == RUNNING else "Thought"
    return _LABELS.get(card.kind, card.kind)


def _badges(card: Card) -> tuple[Badge, ...]:
    if card.kind == "notice" and card.count > 1:
        return (Badge(f"×{card.count:,}", title="came so many times in a row"),)
    if card.kind == "approval":
        return tuple(_approval_row_badges(card))
    if card.kind == "compaction" and card.count:
        return (Badge(units.plural(card.count, "message")),)
    if card.kind == "collab" and card.count:
        return (Badge(units.plural(card.count, "round")),)
    return ()


def _approval_row_badges(card: Card) -> Iterator[Badge]:
    if card.level:
        yield Badge(card.level, "" if card.level == "approved" else "warn")
    if card.duration_ms:
        yield Badge(f"waited {units.duration(card.duration_ms)}", "count")


def approval_badge(approval: Approval, *, running: bool) -> Badge | None:
    """What a call's card says of its approval; None where that is nothing."""
    waited = units.duration(approval.waited) if approval.waited else ""
    if not approval.answer:
        return Badge("waits for approval" if running else "approval not answered", "warn")
    words = f"waited {waited} for approval" if waited else "approval"
    if approval.answer != "approved":
        return Badge(f"{words}: {approval.answer}", "warn")
    return Badge(words, "count" if waited else "", title="approved") if waited else None


def _call_face(card: ToolCard, status: str | None) -> Face:
    duration = card.duration_ms if status != RUNNING else None
    quiet = card.read_only and status == "done" and card.parent is None
    classes = ("card", "tool", card.tool_face, status, "quiet" if quiet else "")
    if card.kind == "lane":
        label = "Lane"
    else:
        label = TOOL_LABELS.get(card.tool_face) or card.name[:NAME_CHARS] or "Tool"
    return Face(
        card,
        template="card/_details.html",
        css_class=" ".join(part for part in classes if part),
        icon=status if status in (FAILED, "blocked", "interrupted", RUNNING) else card.tool_face,
        label=label,
        subject=card.face,
        state=_state_words(card, status),
        badges=tuple(_call_badges(card, running=status == RUNNING)),
        duration=units.duration(duration),
        duration_title=f"{duration:,} ms" if duration is not None else "",
        clock_from=card.at if status == RUNNING else 0,
        is_open=status in (RUNNING, FAILED) or opens_diff(card),
    )


def opens_diff(card: ToolCard) -> bool:
    """Whether a page shows the card's diff without being asked."""
    return card.diff is not None and 0 < card.diff_lines <= DIFF_OPEN_LINES


def _state_words(card: ToolCard, status: str | None) -> str:
    if status == FAILED:
        code = _EXIT.search(card.err)
        return f"failed · exit {code.group(1)}" if code else "failed"
    if status == "interrupted":
        return "interrupted: no result recorded"
    return status if status in (RUNNING, "blocked") else ""


def _call_badges(card: ToolCard, *, running: bool) -> list[Badge]:
    badges: list[Badge] = []
    if card.approval is not None:
        badges += filter(None, (approval_badge(card.approval, running=running),))
    if card.note:
        badges.append(Badge("unplaced", "warn", card.note))
    if card.background:
        badges.append(Badge("background"))
    if card.model or card.effort:
        badges.append(
            Badge(" · ".join(part[:NAME_CHARS] for part in (card.model, card.effort) if part))
        )
    if card.truncated:
        badges.append(Badge("output cut", "warn", "The agent recorded only a part of the output"))
    if card.added:
        badges.append(Badge(f"+{card.added:,}", "plus", "lines added"))
    if card.removed:
        badges.append(Badge(f"−{card.removed:,}", "minus", "lines removed"))
    if card.steps:
        badges.append(Badge(units.plural(card.steps, "step"), "count"))
    if card.faults:
        badges.append(Badge(f"{card.faults:,} failed", "bad"))
    if card.attachments:
        badges.append(Badge(units.plural(card.attachments, "file"), "count"))
    return badges


def usage_parts(card: UsageCard) -> list[str]:
    """The steps and tokens of a turn's footer as words; what was not recorded is left out."""
    steps = [units.plural(card.steps, "step")] if card.steps else []
    figures = (
        (card.input, "in"),
        (card.output, "out"),
        (card.cached, "cached"),
        (card.total, "total"),
    )
    return [*steps, *(f"{count:,} {word}" for count, word in figures if count)]

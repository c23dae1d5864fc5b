"""What stands around the cards: the top bar, the vital signs, the outline, rows of the list."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from markupsafe import Markup

from presentview import units
from presentview.follow import Follower
from presentview.records import Header
from presentview.transcript.cards import Turn
from presentview.transcript.summary import Summary, Tally
from presentview.web.templating import render

__all__ = ["Head", "Row", "Total", "Vital", "head_of", "outline_item", "row_of", "vitals_of"]

_STATE_LABELS: Final = {
    "live": "● live",
    "finished": "✓ finished",
    "failed": "✕ failed",
    "interrupted": "⚡ interrupted",
    "waiting": "… waiting",
}


class Total(NamedTuple):
    """One figure of a session in words."""

    text: str
    css_class: str = ""


class Head(msgspec.Struct, frozen=True):
    """The top bar of a session's pages."""

    title: str
    state: str
    state_label: str
    workspace: str
    workspace_short: str
    totals: tuple[Total, ...]


class Vital(NamedTuple):
    """One of the vital signs: words, a card or a view to go to, or a time; none: not recorded."""

    label: str
    text: str = ""
    card_id: str = ""
    at: int = 0
    query: str = ""


class Row(msgspec.Struct, frozen=True):
    """One session in the list. `when` is unix ms; `when_is_mtime` says that no time was
    recorded and the file's is shown instead.
    """

    id: str
    title: str
    state: str
    state_label: str
    where: str
    when: int
    when_is_mtime: bool
    totals: tuple[Total, ...]


def head_of(follower: Follower, summary: Summary) -> Head:
    """The top bar of the session that `follower` follows."""
    workspace = follower.header.workspace
    return Head(
        title=_title(summary, follower.session_path),
        state=summary.state,
        state_label=_state_label(summary.state),
        workspace=workspace,
        workspace_short=_short_path(workspace),
        totals=_totals(summary),
    )


def row_of(session: str, path: Path, header: Header, summary: Summary, changed_at: int) -> Row:
    """The session's row in the list; `changed_at` is when its file was last changed."""
    when = summary.last_at or changed_at
    return Row(
        id=session,
        title=_title(summary, path),
        state=summary.state,
        state_label=_state_label(summary.state),
        where=_short_path(header.workspace or units.path_text(path.parent)),
        when=when,
        when_is_mtime=not summary.last_at and when > 0,
        totals=_totals(summary),
    )


def vitals_of(tally: Tally, summary: Summary) -> tuple[Vital, ...]:
    """The vital signs of a session."""
    slowest = tally.slowest
    tokens = f"{summary.input_tokens:,} in · {summary.output_tokens:,} out"
    vitals = [
        Vital("Started", at=summary.started_at),
        Vital("Wall", units.duration(summary.wall_ms)),
        Vital("Turns", f"{summary.turns:,}"),
        Vital("Calls", f"{summary.tools:,}"),
        Vital("Errors", f"{summary.errors:,}", query="state=failed" if summary.errors else ""),
        Vital("Tokens", tokens if summary.input_tokens or summary.output_tokens else ""),
    ]
    if slowest is not None:
        name = slowest.face or slowest.kind
        vitals.insert(
            2, Vital("Slowest", f"{units.duration(slowest.duration_ms)} · {name}", slowest.id)
        )
    return tuple(vitals)


def outline_item(turn: Turn) -> Markup:
    """One turn of the outline, empty for the stretch before the first."""
    if turn.prompt is None:
        return Markup("")
    return render("_outline_item.html", turn=turn).strip()


def summary_of(follower: Follower) -> Summary:
    """The figures of the session that `follower` follows."""
    return follower.tally.summary(alive=follower.alive, exists=follower.exists)


def _state_label(state: str) -> str:
    return _STATE_LABELS[state]


def _title(summary: Summary, path: Path) -> str:
    return summary.title or units.path_text(path.name.removesuffix(".jsonl"))


def _totals(summary: Summary) -> tuple[Total, ...]:
    totals = [
        Total(units.plural(summary.turns, "turn"), "turns"),
        Total(units.plural(summary.tools, "tool"), "tools"),
    ]
    if summary.errors:
        totals.append(Total(units.plural(summary.errors, "error"), "bad"))
    if summary.wall_ms is not None:
        totals.append(Total(units.duration(summary.wall_ms), "wall"))
    if summary.added:
        totals.append(Total(f"+{summary.added:,}", "plus"))
    if summary.removed:
        totals.append(Total(f"−{summary.removed:,}", "minus"))
    return tuple(totals)


def _short_path(path: str) -> str:
    """`path` with the user's own folder as `~`."""
    home = os.path.expanduser("~")
    if home != "/" and (path == home or path.startswith(home + os.sep)):
        return "~" + path[len(home) :]
    return path

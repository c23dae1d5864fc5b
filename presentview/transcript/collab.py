"""An expert collab, from either of its two spellings.

The sidecar has the keys in Pascal case (`TeamName`), the session file in camel case
(`teamName`); they are read alike.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec

from presentview.records import Collab
from presentview.transcript.faces import first_line

__all__ = [
    "CollabSummary",
    "ExpertCollab",
    "Statement",
    "collab_value",
    "read_collab",
    "summarize_collab",
]


class Statement(NamedTuple):
    """What one expert said in one round."""

    expert: str
    text: str


class ExpertCollab(msgspec.Struct, frozen=True):
    """A discussion of several experts: what was asked, what each said in each round, and the
    synthesis. `created_at` is unix ms, 0 if not recorded.
    """

    run_id: str = ""
    team: str = ""
    task: str = ""
    mode: str = ""
    rounds: tuple[tuple[Statement, ...], ...] = ()
    synthesis: str = ""
    created_at: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it was recorded that this version can show."""
        return not (self.team or self.task or self.rounds or self.synthesis)


class CollabSummary(NamedTuple):
    """What the closed card shows of a collab."""

    run_id: str
    face: str
    rounds: int


def collab_value(collab: Collab) -> Any:
    """The value of a collab that may be kept as bytes; its text where it cannot be parsed."""
    if not isinstance(collab, bytes):
        return collab
    try:
        return json.loads(collab)
    except (ValueError, RecursionError):
        return collab.decode("utf-8", "replace")


def read_collab(collab: Collab) -> ExpertCollab:
    """Everything that can be shown of a collab; what has another shape is left empty."""
    value = collab_value(collab)
    if not isinstance(value, dict):
        return ExpertCollab()
    found = _lower(value)
    rounds = found.get("rounds")
    created = found.get("createdat")
    return ExpertCollab(
        run_id=_text(found.get("runid")),
        team=_text(found.get("teamname")) or _text(found.get("teamid")),
        task=_text(found.get("task")),
        mode=_text(found.get("mode")),
        rounds=tuple(_round(item) for item in rounds) if isinstance(rounds, list) else (),
        synthesis=_text(found.get("synthesis")),
        created_at=created if type(created) is int else 0,
    )


def summarize_collab(collab: Collab) -> CollabSummary:
    """The face of a collab's card, without reading what the experts said; a summary is its own."""
    if isinstance(collab, CollabSummary):
        return collab
    value = collab_value(collab)
    found = _lower(value) if isinstance(value, dict) else {}
    team = _text(found.get("teamname")) or _text(found.get("teamid"))
    parts = (team, _text(found.get("mode")), _text(found.get("task")))
    rounds = found.get("rounds")
    return CollabSummary(
        _text(found.get("runid")),
        first_line(" · ".join(part for part in parts if part)),
        len(rounds) if isinstance(rounds, list) else 0,
    )


def _round(item: Any) -> tuple[Statement, ...]:
    said = [_lower(one) for one in item if isinstance(one, dict)] if isinstance(item, list) else []
    return tuple(Statement(_text(s.get("expertname")), _text(s.get("text"))) for s in said)


def _lower(value: dict[Any, Any]) -> dict[str, Any]:
    return {str(key).lower(): inner for key, inner in value.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

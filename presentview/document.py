"""One session as a JSON document: what `show --json` prints and the `.json` address answers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import orjson

from presentview.follow import Follower
from presentview.sessions import session_id
from presentview.sidecar import Problem
from presentview.transcript.export import export_cards
from presentview.transcript.summary import summarize
from presentview.units import path_text

__all__ = ["document", "document_json", "problem_documents"]


def document(follower: Follower) -> dict[str, Any]:
    """`{"session": {…}, "cards": […], "notes": […], "problems": […]}`, all of it JSON values.

    Times are unix ms and durations ms; null means: not recorded.
    """
    header, alive = follower.header, follower.alive
    summary = summarize(follower.transcript, alive=alive, exists=follower.exists)
    session: dict[str, Any] = {
        "id": session_id(follower.session_path),
        "path": path_text(follower.path),
        "workspace": header.workspace or None,
        "rewrite_version": header.rewrite_version,
        "alive": alive,
        "changed_at": follower.changed_at or None,
    }
    session |= {
        key: value or None if key.endswith("_at") else value
        for key, value in msgspec.to_builtins(summary).items()
    }
    return {
        "session": session,
        "cards": list(export_cards(follower.transcript, follower.record, alive=alive)),
        "notes": list(follower.notes),
        "problems": problem_documents(follower.problems),
    }


def problem_documents(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """Problems as JSON values: `{"path", "line", "offset", "reason"}`."""
    return [
        {"path": path_text(p.path), "line": p.line, "offset": p.offset, "reason": p.reason}
        for p in problems
    ]


def document_json(follower: Follower) -> bytes:
    """The `document` as JSON text."""
    found = document(follower)
    try:
        return orjson.dumps(found)
    except TypeError:
        # A sum of numbers that fit into 64 bits need not fit.
        return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()

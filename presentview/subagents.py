"""Transcripts of sub-agents that belong to another session.

They lie in the folder `subagents` beside their session's files, each with a file `….meta.json`
that names the session and the call they were made for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from presentview.filememo import FileMemo
from presentview.limits import SUB_AGENT_META_BYTES
from presentview.openfile import OpenFile, Stamp
from presentview.sidecar import SESSION_SUFFIX

__all__ = ["SUB_AGENTS", "SubAgent", "parent_path", "sub_agent_at"]

SUB_AGENTS: Final = "subagents"
"""The folder, beside those of its sessions, that transcripts of sub-agents lie in."""

_META: Final = ".meta.json"
_SEPARATOR: Final = re.compile(r"[/\\]")


class SubAgent(msgspec.Struct, frozen=True, rename="camel"):
    """What is told of a sub-agent: the session and the call it was made for, and what it is."""

    parent_session: str = ""
    parent_tool_call_id: str = ""
    kind: str = ""
    status: str = ""
    model: str = ""
    effort: str = ""


_read = msgspec.json.Decoder(SubAgent, strict=False).decode


def sub_agent_at(path: Path) -> SubAgent | None:
    """What is told of the sub-agent whose transcript is at `path`; None where it is none's."""
    if os.path.basename(os.path.dirname(path)) != SUB_AGENTS:
        return None
    return _told.of(path.with_name(path.name.removesuffix(SESSION_SUFFIX) + _META))


def _meta_in(opened: OpenFile, _: Stamp) -> SubAgent | None:
    try:
        return _read(opened.read(0, SUB_AGENT_META_BYTES))
    except (ValueError, RecursionError):
        return None


_told: Final = FileMemo(_meta_in)


def parent_path(path: Path, sessions: Mapping[str, object]) -> str:
    """Which of the `sessions`, by their paths, the sub-agent's transcript at `path` belongs to;
    empty if it is none's.

    Its session is named by a path or a name, of which only the name counts: it lies in the folder
    above.
    """
    found = sub_agent_at(path)
    if found is None or not found.parent_session:
        return ""
    name = _SEPARATOR.split(found.parent_session)[-1].removesuffix(SESSION_SUFFIX)
    wanted = os.path.join(os.path.dirname(path.parent), name + SESSION_SUFFIX)
    return wanted if wanted in sessions else ""

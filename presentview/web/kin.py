"""Sessions that have to do with one another: runs that continue others, agents' sub-agents.

A log names another session by its id only. It is looked for among the sessions that are known to
lie in the same folder, by their names; what stands in a log is never made a path or an address.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from presentview.errors import PresentviewError
from presentview.limits import KIN_SHOWN
from presentview.runlog import Meta, meta_of
from presentview.sessionfiles import source_of
from presentview.sessions import SessionRef
from presentview.sources import EVENT_LOG, RUN_LOG
from presentview.transcript.faces import first_line
from presentview.transcript.fold import Transcript
from presentview.units import path_text

__all__ = ["Kin", "KinRow", "kin_of"]

_MOST_KNOWN: Final = 16_384
_metas: dict[Path, Meta] = {}


class Kin(NamedTuple):
    """A session that is known here: its `id`, its `name`, and what it is about."""

    id: str
    name: str
    about: str = ""


class KinRow(NamedTuple):
    """How some sessions have to do with one that is shown: `words` in front of them, `end` behind
    them.
    """

    words: str
    sessions: tuple[Kin, ...]
    end: str = ""


def kin_of(
    ref: SessionRef, known: Mapping[str, SessionRef], transcript: Transcript
) -> tuple[KinRow, ...]:
    """What there is to say of the session `ref`, with this `transcript`, and the `known` ones."""
    source = source_of(ref.path)
    if source is RUN_LOG:
        runs = _beside(ref, known)
        return (*_chain(ref, runs), *_resumed(ref, runs))
    if source is EVENT_LOG:
        return tuple(_sub_agents(ref, known, transcript))
    return ()


def _beside(ref: SessionRef, known: Mapping[str, SessionRef]) -> dict[str, SessionRef]:
    """The sessions in the folder of `ref`, by their names."""
    # Of thousands of sessions the paths as texts are compared in a moment.
    folder = os.path.dirname(ref.path)
    beside = (other for other in known.values() if os.path.dirname(other.path) == folder)
    return {_name(other): other for other in beside}


def _name(ref: SessionRef) -> str:
    return ref.path.name.removesuffix(".jsonl")


def _kin(ref: SessionRef, about: str = "") -> Kin:
    return Kin(ref.id, path_text(_name(ref)), first_line(about) if about else "")


def _meta(path: Path) -> Meta:
    """What a run log says of its run; it is written first and never again."""
    meta = _metas.get(path)
    if meta is None:
        try:
            meta = meta_of(path) if source_of(path) is RUN_LOG else Meta()
        except (OSError, PresentviewError):
            return Meta()
        if meta != Meta():
            if len(_metas) >= _MOST_KNOWN:
                _metas.clear()
            _metas[path] = meta
    return meta


def _chain(ref: SessionRef, runs: Mapping[str, SessionRef]) -> Iterator[KinRow]:
    """The run that this one continues, the one that that one continues, and so on."""
    found: list[Kin] = []
    seen = {_name(ref)}
    end = ""
    before = _meta(ref.path).resumed_from
    while before:
        other = runs.get(before)
        if before in seen:
            end = f"{before}, which stands in this row already"
        elif other is None:
            end = f"{before}, whose log is not here"
        elif len(found) == KIN_SHOWN:
            end = "earlier ones"
        if end or other is None:
            break
        meta = _meta(other.path)
        found.append(_kin(other, meta.task))
        seen.add(before)
        before = meta.resumed_from
    if found or end:
        yield KinRow("Continues", tuple(found), end)


def _resumed(ref: SessionRef, runs: Mapping[str, SessionRef]) -> Iterator[KinRow]:
    """The runs that say that they continue this one."""
    mine = _name(ref)
    later = [
        _kin(other, meta.task)
        for name, other in sorted(runs.items())
        if name != mine and (meta := _meta(other.path)).resumed_from == mine
    ]
    if later:
        more = len(later) - KIN_SHOWN
        yield KinRow("Resumed as", tuple(later[:KIN_SHOWN]), f"{more:,} more" if more > 0 else "")


def _sub_agents(
    ref: SessionRef, known: Mapping[str, SessionRef], transcript: Transcript
) -> Iterator[KinRow]:
    """The sessions that sub-agents of this one have of their own."""
    calls = transcript.calls.newest
    found = [
        _kin(other, call.face)
        for name, other in sorted(_beside(ref, known).items())
        if other.id != ref.id and (call := calls.get(name)) and call.tool_face == "agent"
    ]
    if found:
        more = len(found) - KIN_SHOWN
        end = f"{more:,} more" if more > 0 else ""
        yield KinRow("Sessions of sub-agents", tuple(found[:KIN_SHOWN]), end)

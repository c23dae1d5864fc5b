"""Sessions that have to do with one another: runs that continue others, agents' sub-agents.

A log names another session by its id only. It is looked for among the sessions that are known to
lie in the same folder, by their names; what stands in a log is never made a path or an address.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from presentview.errors import PresentviewError
from presentview.limits import KIN_SHOWN, NAME_CHARS, RUN_ID_BYTES
from presentview.runlog import Meta, meta_of
from presentview.sessionfiles import source_of
from presentview.sessions import SessionRef
from presentview.sources import EVENT_LOG, RUN_LOG
from presentview.subagents import sub_agent_at
from presentview.transcript.faces import first_line
from presentview.transcript.fold import Transcript
from presentview.units import path_text

__all__ = ["Kin", "KinRow", "kin_of"]

_MOST_KNOWN: Final = 16_384


class _Run(NamedTuple):
    """What of a run's log counts here: the run that it continues, and its task."""

    resumed_from: str = ""
    task: str = ""


_runs: dict[Path, _Run] = {}


class Kin(NamedTuple):
    """A session that is known here: its `id`, its `name`, what it is `about`, and the card of the
    call it belongs to.
    """

    id: str
    name: str
    about: str = ""
    card: str = ""


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
    rows = [*_parent(ref, known), *_transcripts(ref, known, transcript)]
    source = source_of(ref.path)
    if source is RUN_LOG:
        runs = _beside(ref, known)
        rows += (*_chain(ref, runs), *_resumed(ref, runs))
    elif source is EVENT_LOG:
        rows += _sub_agents(ref, known, transcript)
    return tuple(rows)


def _beside(ref: SessionRef, known: Mapping[str, SessionRef]) -> dict[str, SessionRef]:
    """The sessions in the folder of `ref`, by their names."""
    # Of thousands of sessions the paths as texts are compared in a moment.
    folder = os.path.dirname(ref.path)
    beside = (other for other in known.values() if os.path.dirname(other.path) == folder)
    return {_name(other): other for other in beside}


def _name(ref: SessionRef) -> str:
    return ref.path.name.removesuffix(".jsonl")


def _kin(ref: SessionRef, about: str = "") -> Kin:
    return Kin(ref.id, path_text(_name(ref)), about)


def _run_at(path: Path) -> _Run:
    """What a run log says of its run; it is written first and never again."""
    run = _runs.get(path)
    if run is None:
        try:
            meta = meta_of(path) if source_of(path) is RUN_LOG else Meta()
        except (OSError, PresentviewError):
            meta = Meta()
        # What is longer than any id is none; its beginning is enough to say so.
        run = _Run(meta.resumed_from[: RUN_ID_BYTES + 1], first_line(meta.task))
        if meta != Meta():
            if len(_runs) >= _MOST_KNOWN:
                _runs.clear()
            _runs[path] = run
    return run


def _chain(ref: SessionRef, runs: Mapping[str, SessionRef]) -> Iterator[KinRow]:
    """The run that this one continues, the one that that one continues, and so on."""
    found: list[Kin] = []
    seen = {_name(ref)}
    end = ""
    before = _run_at(ref.path).resumed_from
    while before:
        other = runs.get(before)
        if before in seen:
            end = f"{first_line(before)[:NAME_CHARS]}, which stands in this row already"
        elif other is None:
            end = f"{first_line(before)[:NAME_CHARS]}, whose log is not here"
        elif len(found) == KIN_SHOWN:
            end = "earlier ones"
        if end or other is None:
            break
        run = _run_at(other.path)
        found.append(_kin(other, run.task))
        seen.add(before)
        before = run.resumed_from
    if found or end:
        yield KinRow("Continues", tuple(found), end)


def _resumed(ref: SessionRef, runs: Mapping[str, SessionRef]) -> Iterator[KinRow]:
    """The runs that say that they continue this one."""
    mine = _name(ref)
    later = [
        _kin(other, run.task)
        for name, other in sorted(runs.items())
        if name != mine and (run := _run_at(other.path)).resumed_from == mine
    ]
    yield from _row("Resumed as", later)


def _sub_agents(
    ref: SessionRef, known: Mapping[str, SessionRef], transcript: Transcript
) -> Iterator[KinRow]:
    """The sessions that sub-agents of this one have of their own."""
    calls = transcript.calls.newest
    found = [
        _kin(other, call.face)._replace(card=call.id)
        for name, other in sorted(_beside(ref, known).items())
        if other.id != ref.id and (call := calls.get(name)) and call.tool_face == "agent"
    ]
    yield from _row("Sessions of sub-agents", found)


def _parent(ref: SessionRef, known: Mapping[str, SessionRef]) -> Iterator[KinRow]:
    """The session whose sub-agent this is the transcript of."""
    if parent := known.get(ref.parent):
        yield KinRow("Sub-agent of", (_kin(parent),), _told_of(ref))


def _transcripts(
    ref: SessionRef, known: Mapping[str, SessionRef], transcript: Transcript
) -> Iterator[KinRow]:
    """The transcripts of this session's sub-agents, each with the call it was made for."""
    found: list[Kin] = []
    for other in sorted((one for one in known.values() if one.parent == ref.id), key=_name):
        told = sub_agent_at(other.path)
        call = transcript.calls.newest.get(told.parent_tool_call_id) if told else None
        found.append(_kin(other, _told_of(other))._replace(card=call.id if call else ""))
    yield from _row("Transcripts of sub-agents", found)


def _told_of(ref: SessionRef) -> str:
    told = sub_agent_at(ref.path)
    words = (told.kind, told.status, told.model, told.effort) if told else ()
    return " · ".join(filter(None, words))


def _row(words: str, found: Sequence[Kin]) -> Iterator[KinRow]:
    """A row of some sessions, as many as fit, if there are any."""
    if found:
        more = len(found) - KIN_SHOWN
        yield KinRow(words, tuple(found[:KIN_SHOWN]), f"{more:,} more" if more > 0 else "")

"""The edits of a session as lines for a terminal, and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from presentview.sessionchanges import NOT_RECORDED, SessionChanges
from presentview.transcript.changes.edits import FileEdit
from presentview.transcript.changes.step import Step
from presentview.transcript.changes.verdicts import FileVerdict, StepVerdict, Verdict
from presentview.units import plural

__all__ = ["change_lines", "changes_json", "verdict_text"]

_GOOD = frozenset({Verdict.ON_DISK, Verdict.OVERWRITTEN})


def verdict_text(verdict: Verdict, by: int = 0) -> str:
    """A verdict as a person reads it: `on disk`, `overwritten by step 12`."""
    return f"overwritten by step {by}" if verdict is Verdict.OVERWRITTEN else verdict.value


def change_lines(
    changes: SessionChanges, verdicts: Mapping[int, StepVerdict], *, checked: bool
) -> Iterator[str]:
    """One line for each step, with what it did to each file, and a last one that sums it up."""
    if changes.gap:
        yield f"{NOT_RECORDED}: {changes.gap}"
    steps = changes.steps.steps
    for step in steps:
        if step.shells:
            yield f"      {plural(step.shells, 'shell command')} ran between these steps"
        yield from _step_lines(changes, step, verdicts.get(step.number))
    yield _summary(changes, verdicts, checked=checked)


def _step_lines(changes: SessionChanges, step: Step, verdict: StepVerdict | None) -> Iterator[str]:
    edits = changes.steps.edits(step)
    words = [
        f"{step.number:5} {'in flight' if step.in_flight else step.state:9}",
        f"{verdict_text(verdict.verdict, verdict.by):14}" if verdict else "",
        f"turn {step.turn}",
        step.name,
        f"by {step.agent_name}" if step.agent_name else "",
        "told by its arguments" if step.derived else "",
    ]
    yield "  ".join(_line(word) for word in words if word)
    for index, edit in enumerate(edits):
        found = verdict.files[index] if verdict and len(verdict.files) == len(edits) else None
        yield f"        {_line(_file_line(edit, found, alone=len(edits) == 1))}"
    if note := _miscounted(step, edits):
        yield f"        {note}"


def _file_line(edit: FileEdit, found: FileVerdict | None, *, alone: bool) -> str:
    added, removed = edit.counts
    words = [
        f"{edit.old_path} → {edit.path}" if edit.old_path else edit.path,
        "" if edit.action == "modify" else f"({edit.action})",
        f"+{added} -{removed}",
    ]
    notes = [edit.opaque, *edit.remarks]
    if found is not None:
        notes.append(found.reason)
        if not alone:
            notes.append(verdict_text(found.verdict, found.by))
    return " ".join(word for word in words if word) + "".join(f"; {n}" for n in notes if n)


def _miscounted(step: Step, edits: tuple[FileEdit, ...]) -> str:
    """Says where the lines of a diff are not as many as its call said."""
    added, removed = (sum(counts) for counts in zip(*(e.counts for e in edits), strict=True))
    if step.derived or (added, removed) == (step.added, step.removed):
        return ""
    return f"recorded as +{step.added} -{step.removed}, but its lines are +{added} -{removed}"


def _summary(changes: SessionChanges, verdicts: Mapping[int, StepVerdict], *, checked: bool) -> str:
    steps = changes.steps.steps
    applied = [step for step in steps if step.took_effect]
    said = f"{plural(len(steps), 'step')}, {len(applied)} applied"
    flying = sum(step.in_flight for step in steps)
    said += f", {flying} in flight when the record ends" if flying else ""
    if not checked:
        return said
    good = sum(verdicts[step.number].verdict in _GOOD for step in applied)
    if good < len(applied):
        return f"{said}; {good} of those applied are on disk or overwritten by later ones"
    if changes.gap:
        return f"{said}; those recorded are on disk, but {NOT_RECORDED}"
    return f"{said}; all on disk" if applied else said


def _line(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")


def changes_json(changes: SessionChanges, verdicts: Mapping[int, StepVerdict]) -> bytes:
    """`{"workspace": …, "complete": …, "gap": …, "steps": […]}` as JSON text.

    Times are unix ms; null means: not recorded, or for a verdict: not asked for.
    """
    document = {
        "workspace": changes.workspace or None,
        "complete": changes.complete,
        "gap": f"{NOT_RECORDED}: {changes.gap}" if changes.gap else None,
        "steps": [
            _step_json(changes, step, verdicts.get(step.number)) for step in changes.steps.steps
        ],
    }
    return orjson.dumps(_sendable(document))


def _step_json(changes: SessionChanges, step: Step, verdict: StepVerdict | None) -> dict[str, Any]:
    edits = changes.steps.edits(step)
    files = verdict.files if verdict and len(verdict.files) == len(edits) else ()
    return {
        "step": step.number,
        "card": step.card or None,
        "call": step.call,
        "tool": step.name,
        "turn": step.turn,
        "state": step.state,
        "in_flight": step.in_flight,
        "at": step.at or None,
        "ended_at": step.ended_at or None,
        "agent": step.agent or None,
        "agent_name": step.agent_name or None,
        "derived": step.derived,
        "added": None if step.derived else step.added,
        "removed": None if step.derived else step.removed,
        "shells_before": step.shells,
        "verdict": verdict.verdict.value if verdict else None,
        "overwritten_by": verdict.by or None if verdict else None,
        "files": [
            _file_json(edit, files[index] if files else None) for index, edit in enumerate(edits)
        ],
    }


def _file_json(edit: FileEdit, found: FileVerdict | None) -> dict[str, Any]:
    added, removed = edit.counts
    return {
        "path": edit.path,
        "old_path": edit.old_path or None,
        "action": edit.action,
        "added": added,
        "removed": removed,
        "notes": [note for note in (edit.opaque, *edit.remarks) if note],
        "verdict": found.verdict.value if found else None,
        "overwritten_by": found.by or None if found else None,
        "reason": found.reason or None if found else None,
        "hunks": [{"stands": h.what, "line": h.line or None} for h in found.hunks] if found else [],
    }


def _sendable(value: Any) -> Any:
    """The value with question marks for lone surrogates, which no JSON holds."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if isinstance(value, dict):
        return {key: _sendable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_sendable(item) for item in value]
    return value

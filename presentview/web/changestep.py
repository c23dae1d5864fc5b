"""The step that is shown: its diff as the transcript has it, its files as far as they are known."""

from __future__ import annotations

import time
from typing import NamedTuple

from markupsafe import Markup

from presentview.limits import DIFF_LINES, STEP_FILES
from presentview.transcript.changes.derived import derive_edits, derived_text
from presentview.transcript.changes.edits import FileEdit
from presentview.transcript.changes.filestate import FileState
from presentview.transcript.changes.patching import composed, line_changes, written
from presentview.transcript.changes.playback import Playback, Trace
from presentview.transcript.changes.player import Player, Progress
from presentview.transcript.changes.step import Step
from presentview.web.allowance import cut_diff
from presentview.web.bodies import drawn_diff
from presentview.web.changed import Changed
from presentview.web.changeview import ChangeView
from presentview.web.feeds import Feed
from presentview.web.knownfile import KnownFile, known_file

__all__ = ["DrawnStep", "Known", "StepPatch", "drawn_step", "known_of", "patch_of"]


class DrawnStep(NamedTuple):
    """A step's own diff: the `card` as the transcript shows it, or where that is gone its `diff`
    alone; and what is to be known of it (`notes`).
    """

    step: Step
    card: Markup
    diff: Markup
    notes: tuple[str, ...]
    hidden: int = 0


def drawn_step(feed: Feed, found: Changed, step: Step, view: ChangeView) -> DrawnStep:
    """The diff card of a step."""
    split = view.layout == "split"
    card = feed.transcript.card(step.card) if step.card else None
    if card is not None:
        return DrawnStep(step, feed.renderer.opened(card, split=split), Markup(""), ())
    text = found.changes.steps.diff_text(step)
    notes = ["its card has left the transcript; its edits were kept"]
    if not text:
        text = derived_text(derive_edits(step.face, found.changes.steps.arguments(step)))
        notes.append("as the call's arguments tell it; no diff was recorded")
    shown = cut_diff(text)
    diff = drawn_diff(shown, step.subject, split=split) if shown else Markup("")
    return DrawnStep(step, Markup(""), diff, tuple(notes), max(0, len(text) - len(shown)))


class Known(NamedTuple):
    """What is known of one of a step's files: which ones it has (`edits`, `more` are not named),
    which of them (`part`) this is, its state after the step (`file`), and everything that the
    session made of it (`net`, if the view asks for that, with what is to be known of it). Where
    there was no time yet for something, `playing` says how far the file was played.
    """

    edits: tuple[FileEdit, ...]
    more: int
    part: int
    file: KnownFile | None = None
    note: str = ""
    net: Markup | None = None
    net_note: str = ""
    can_patch: bool = False
    no_patch: str = ""
    playing: Progress | None = None


def known_of(
    found: Changed, step: Step, view: ChangeView, until: float, *, may_wait: bool
) -> Known:
    """What is known of the file of a step that a view shows. If it `may_wait`, nothing is once
    that moment is past.
    """
    edits = found.edits(step)
    part = min(view.part, len(edits) - 1)
    edit = edits[part]
    player = found.player(edit.path)
    known = Known(edits[:STEP_FILES], max(0, len(edits) - STEP_FILES), part)
    is_late = may_wait and time.monotonic() >= until
    if is_late or not player.reach(step.number, until):
        return known._replace(playing=player.progress)
    trace = _trace_of(player, step, edit)
    state = trace.state if trace else player.playback.state(edit.path, step.number)
    if state is not None:
        blocks = trace.blocks if trace else None
        drawn = found.kept(state, view.line, lambda: known_file(state, blocks, view.line))
        known = known._replace(file=drawn)
    if trace is None:
        known = known._replace(note=f"this step is {step.state}: the file is as it was before it")
    elif step.in_flight:
        known = known._replace(note="nobody knows whether this step took effect; as if it had")
    if (step.added + step.removed) > DIFF_LINES:
        # To find out takes as long as to make it.
        known = known._replace(can_patch=True)
    else:
        made = patch_of(found, step, until)
        known = known._replace(can_patch=bool(made.text), no_patch=made.reason)
    if not view.net:
        return known
    if not player.reach(found.steps[-1].number, until):
        return known._replace(playing=player.progress)
    last = _last_of(player, trace, edit)
    if last is None:
        return known
    return known._replace(net=found.kept(last, "net", lambda: _net(last)), net_note=_net_note(last))


def _trace_of(player: Player, step: Step, edit: FileEdit) -> Trace | None:
    found = (t for t in player.playback.traces_of(step.number) if t.path == edit.path)
    return next(found, None)


def _last_of(player: Player, trace: Trace | None, edit: FileEdit) -> FileState | None:
    """The last state of a file, whatever it was called then; without steps in flight."""
    playback = player.playback
    if trace is None:
        state = playback.state(edit.path)
        traces = playback.lineages.get(state.lineage, []) if state else []
    else:
        traces = playback.lineages[trace.lineage]
    return next((t.state for t in reversed(traces) if t.step.took_effect), None)


def _net(state: FileState) -> Markup:
    text = written(state, line_changes(state))
    return drawn_diff(cut_diff(text), state.path) if text else Markup("")


def _net_note(state: FileState) -> str:
    if state.broken is not None:
        return f"only what came since step {state.broken.step}: {state.broken.reason}"
    return "as far as it is known: " + state.unpatchable if state.unpatchable else ""


class StepPatch(NamedTuple):
    """The text of a step's patch, or the `reason` why there is none."""

    text: str
    reason: str = ""


def patch_of(found: Changed, step: Step, until: float) -> StepPatch:
    """The patch of one step alone, for its files as they are known to have been before it."""
    if not (step.took_effect or step.in_flight):
        return StepPatch("", f"this step is {step.state}")
    known: dict[str, FileState] = {}
    for edit in found.edits(step):
        player = found.player(edit.path)
        if not player.reach(step.number, until):
            return StepPatch("", "the steps before it are still being played")
        for path in (edit.source, edit.path):
            state = player.playback.state(path, step.number - 1)
            if state is not None:
                known[path] = state.as_base()
    made = composed(Playback([step], found, known=known, in_flight=True))
    if made.left_out:
        return StepPatch("", made.left_out[0].reason)
    return StepPatch(made.text, "" if made.text else "it changes nothing")

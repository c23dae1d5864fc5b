"""The steps of a session: its calls that edited files, in order of effect.

A step is one call, however many files it changed. Steps stand in the order of their results; one
without a result, in flight when the record ends, comes last.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from presentview.records import Record, Tool
from presentview.transcript.cards import (
    DONE,
    Part,
    Place,
    ToolCard,
)
from presentview.transcript.changes.blocks import is_patch_block, read_patch_block
from presentview.transcript.changes.derived import derive_edits
from presentview.transcript.changes.edits import FileEdit, edits_of
from presentview.transcript.changes.names import normal_path
from presentview.transcript.changes.parsing import parse_patch
from presentview.transcript.changes.step import (
    APPLIED,
    EARLIER,
    NEVER,
    NOW,
    About,
    Move,
    Order,
    Reading,
    Source,
    Step,
)
from presentview.transcript.export import ReadPart
from presentview.transcript.faces import is_edit_call

__all__ = ["Steps"]

_UNREADABLE: Final = "its diff cannot be read"
_NAMES_A_FILE: Final = (
    "\n--- ", "\n+++ ", "\ndiff ", "\nIndex: ", "\nrename ", "\ncopy ", "\n*** ", "\nBinary "
)  # fmt: skip


class Steps:
    """The steps of a record, and what each did.

    `sources` are its parts, the oldest first; the last is the transcript that is shown. A call
    whose dispatch is in an earlier part and whose result came later is one step.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        alive: bool = False,
        workspace: str = "",
        seen: dict[object, About] | None = None,
    ) -> None:
        """`alive`: whether the writer lives. `seen` remembers what files calls are about, for the
        next time the same record is looked at.
        """
        self._sources = sources
        self._alive = alive
        self._workspace = workspace
        self._seen = {} if seen is None else seen
        self.readings: list[Reading] = []
        found = self._joined(list(self._all()))
        found.sort(key=lambda step: (step.order, step.dispatched))
        self.readings.sort(key=lambda reading: reading.order)
        shells = sorted(self._shells())
        self.steps: list[Step] = list(_numbered_steps(found, shells))

    # finding them

    def _all(self) -> Iterator[Step]:
        for index, source in enumerate(self._sources):
            for card in source.transcript.walk():
                if type(card) is not ToolCard or card.kind == "lane":
                    continue
                if card.diff is not None or is_edit_call(
                    card.tool_face, card.face, read_only=card.read_only
                ):
                    step = self._step(card, index)
                    if step is not None:
                        yield step
                elif card.tool_face == "read" and card.result is not None and not card.truncated:
                    self._note_reading(card, index)

    def _note_reading(self, card: ToolCard, index: int) -> None:
        if card.state == DONE and card.face and card.result is not None:
            path = normal_path(card.face, self._workspace)
            read = self._sources[index].read
            self.readings.append(Reading(path, self._order(card, index), card.result, read))

    def _step(self, card: ToolCard, index: int) -> Step | None:
        about = self._about(card, index)
        if not about.paths:
            return None
        last = index == len(self._sources) - 1
        outer = card.parent
        status = card.status(alive=self._alive and last) or ""
        return Step(
            number=0,
            card=card.id if last else "",
            call=card.call,
            name=card.name,
            face=card.tool_face,
            subject=card.face,
            turn=self._sources[index].turn_of(card),
            at=card.at,
            ended_at=card.ended_at,
            state=APPLIED if status == DONE else status,
            agent=outer.id if outer and last else "",
            agent_name=(outer.face or outer.name) if outer else "",
            paths=about.paths,
            moves=about.moves,
            added=card.added,
            removed=card.removed,
            derived=card.diff is None,
            order=self._order(card, index),
            dispatched=_order_of(card.dispatch, index - len(self._sources) + 1, card.number),
            source=index,
            dispatch=card.dispatch,
            result=card.result,
            diff=card.diff,
        )

    def _order(self, card: ToolCard, index: int) -> Order:
        if card.result is None:
            return Order(NEVER, card.number)
        at = _order_of(card.result, 0, card.ended_at or card.number).at
        return Order(NOW if index == len(self._sources) - 1 else EARLIER, at)

    def _about(self, card: ToolCard, index: int) -> About:
        """The files a call is about, remembered by where that is told."""
        part = card.diff or card.dispatch
        key = (index, part.offset) if isinstance(part, Place) else (index, -card.number)
        known = self._seen.get(key)
        if known is None:
            known = self._seen[key] = self._read_about(card, index)
        return known

    def _read_about(self, card: ToolCard, index: int) -> About:
        read = self._sources[index].read
        text = _diff_text(read(card.diff)) if card.diff is not None else ""
        if text:
            edits = _edits_of_head(_head(text), card.face) or _recorded(text, card.face)
        else:
            edits = derive_edits(card.tool_face, _tool(card.dispatch, read).args)
        named = self._named(edits, card.face)
        paths = tuple(dict.fromkeys(edit.path for edit in named))
        if not paths and card.diff is not None:
            paths = (self._normal(card.face),) if card.face else ("?",)
        moves = (Move(edit.old_path, edit.path) for edit in named if edit.old_path)
        return About(paths, tuple(moves))

    def _shells(self) -> Iterator[Order]:
        for index, source in enumerate(self._sources):
            for card in source.transcript.walk():
                if isinstance(card, ToolCard) and card.tool_face == "shell" and not card.read_only:
                    yield self._order(card, index)

    def _joined(self, found: list[Step]) -> list[Step]:
        """The steps, those made one whose call and result stand in different parts."""
        last = len(self._sources) - 1
        waiting = {step.call: step for step in found if step.source < last and step.in_flight}
        if not waiting:
            return found
        late = {
            card.call: card
            for card in self._sources[last].transcript.walk()
            if isinstance(card, ToolCard) and card.call in waiting and card.dispatch is None
        }
        kept = [step for step in found if step.source < last or step.call not in late]
        return [self._with_result(step, late.get(step.call)) for step in kept]

    def _with_result(self, step: Step, card: ToolCard | None) -> Step:
        if card is None or not step.in_flight or card.result is None:
            return step
        last = len(self._sources) - 1
        status = card.status(alive=self._alive) or ""
        return msgspec.structs.replace(
            step,
            card=card.id,
            state=APPLIED if status == DONE else status,
            ended_at=card.ended_at,
            order=self._order(card, last),
        )

    # what they did

    def _normal(self, path: str) -> str:
        return normal_path(path, self._workspace)

    def diff_text(self, step: Step) -> str:
        """The diff that was recorded, empty where none was."""
        if step.diff is None:
            return ""
        return _diff_text(self._sources[step.source].read(step.diff))

    def arguments(self, step: Step) -> str:
        """The arguments of the call, as JSON text."""
        return _tool(step.dispatch, self._sources[step.source].read).args

    def edits(self, step: Step) -> tuple[FileEdit, ...]:
        """What the step did to each of its files, their paths as `normal_path` spells them."""
        text = self.diff_text(step)
        args = self.arguments(step)
        derived = derive_edits(step.face, args)
        edits = _recorded(text, step.subject) if text else derived
        if text:
            edits = _with_content(edits, derived)
        if not edits:
            empty = bool(text) and not (step.added or step.removed) and _names_only(text)
            edits = (FileEdit(step.paths[0], opaque="" if empty else _UNREADABLE),)
        return self._named(edits, step.subject)

    def _named(self, edits: Iterable[FileEdit], subject: str) -> tuple[FileEdit, ...]:
        """The edits with their paths as `normal_path` spells them; a call's own `subject` may
        tell more of the only one's.
        """
        named = [
            edit._replace(path=self._normal(edit.path), old_path=self._normal(edit.old_path))
            for edit in edits
        ]
        if len(named) == 1 and not named[0].old_path:
            named[0] = named[0]._replace(path=_longer(named[0].path, self._normal(subject)))
        return tuple(named)

    def told(self, step: Step) -> Order:
        """When the step's edit was told: with its call, unless only its result has the diff."""
        if step.diff is None or step.diff == step.dispatch:
            return step.dispatched
        early = _diff_text(self._sources[step.source].read(step.dispatch or step.diff))
        return step.dispatched if early == self.diff_text(step) else step.order


def _numbered_steps(found: Sequence[Step], shells: Sequence[Order]) -> Iterator[Step]:
    before = 0
    for number, step in enumerate(found, 1):
        ran = bisect_left(shells, step.order)
        yield msgspec.structs.replace(step, number=number, shells=ran - before)
        before = ran


def _order_of(part: Part | None, tier: int, otherwise: int) -> Order:
    at = part.offset if isinstance(part, Place) else otherwise
    return Order(NOW if tier == 0 else EARLIER, at)


def _tool(part: Part | None, read: ReadPart) -> Tool:
    record = read(part) if part is not None else None
    return (record.tool if record else None) or Tool()


def _diff_text(record: Record | None) -> str:
    tool = record.tool if record else None
    return tool.file_diff.diff if tool is not None and tool.file_diff is not None else ""


def _recorded(text: str, path: str) -> tuple[FileEdit, ...]:
    if is_patch_block(text):
        return read_patch_block(text)
    return edits_of(parse_patch(text, path=path))


def _names_only(text: str) -> bool:
    """Whether a diff names files and says nothing more: they stayed as they were."""
    files = parse_patch(text).files
    return bool(files) and not any(file.hunks or file.notes or not file.path for file in files)


def _with_content(edits: tuple[FileEdit, ...], derived: Iterable[FileEdit]) -> tuple[FileEdit, ...]:
    """A recorded diff of one file together with the content that the call wrote."""
    whole = [edit for edit in derived if edit.content is not None and edit.action == "write"]
    if len(edits) != 1 or len(whole) != 1 or edits[0].action not in ("modify", "create"):
        return edits
    edit, written = edits[0], whole[0]
    if edit.content is not None or not edit.hunks:
        return edits
    return (edit._replace(content=written.content, original=written.original),)


def _head(text: str) -> str:
    """The head of a diff that names all its files there, empty where more may be named later."""
    head, at, rest = text.partition("\n@@")
    if not at or any(mark in rest for mark in _NAMES_A_FILE):
        return ""
    return head


@lru_cache(maxsize=4096)
def _edits_of_head(head: str, path: str) -> tuple[FileEdit, ...]:
    """What a diff with this head is about; its hunks are none of its own. Many edits have one."""
    return edits_of(parse_patch(f"{head}\n@@ -1 +1 @@\n+\n", path=path)) if head else ()


def _longer(told: str, subject: str) -> str:
    """A file's path from its diff, or the call's own where that only tells more of the same."""
    return subject if subject.endswith(f"/{told}") else told

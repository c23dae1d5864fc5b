"""The opened card: its body, read from the file when somebody wants to see it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import msgspec
import orjson
from markupsafe import Markup

from presentview.limits import FILES_SHOWN, PREVIEW_BYTES, STATEMENTS_SHOWN, SUBJECT_CHARS
from presentview.records import Attachment, Compaction
from presentview.transcript.cards import Card, ToolCard
from presentview.transcript.changes.derived import derive_edits, derived_text
from presentview.transcript.collab import ExpertCollab, Statement, read_collab
from presentview.transcript.export import ReadPart, call_texts, part_text
from presentview.transcript.todos import Todo, read_todos
from presentview.web.allowance import Allowance, cut_diff
from presentview.web.attachments import LookAt
from presentview.web.embedded import embedded_image, is_embedded
from presentview.web.render.diffs import parse_diff
from presentview.web.templating import render

__all__ = ["PROSE", "Body", "NamedFile", "Output", "body_of", "drawn_diff", "full_text", "has_body"]

PROSE: Final = frozenset({"agent", "web_search", "fetch"})
"""The kinds of tool cards whose output is Markdown, not what a terminal shows."""

_PLAIN: Final = frozenset({"paused", "resumed", "retry", "usage"})
_ELSEWHERE: Final = "on another machine; never fetched"
_EDITORS: Final = frozenset({"edit", "write", "shell"})
_IMAGE_NAMES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")


class Output(msgspec.Struct, frozen=True):
    """Output to show: `text`, how many characters were `cut` at its end because the whole is too
    long, and whether it is `prose` (Markdown) or what a terminal shows.
    """

    text: str
    cut: int = 0
    prose: bool = False


class NamedFile(msgspec.Struct, frozen=True):
    """A file a call names: its `path` as recorded, whether it can be shown as an image
    (`is_image`), and the `reason` why it is not, or cannot even be downloaded (`is_missing`).
    """

    path: str
    is_image: bool = False
    is_missing: bool = False
    reason: str = ""


class Body(msgspec.Struct, frozen=True):
    """What an opened card shows; `template` draws what applies to it.

    `cut` characters of `text` are left out, `hidden` ones of everything else together. The
    `diff` is `derived` if the call's arguments tell it, and no recorded one.
    """

    template: str
    card: Card
    text: str = ""
    cut: int = 0
    hidden: int = 0
    args: str = ""
    command: str = ""
    err: str = ""
    output: Output | None = None
    diff: Markup = Markup("")
    todos: tuple[Todo, ...] = ()
    files: tuple[NamedFile, ...] = ()
    more_files: int = 0
    collab: ExpertCollab | None = None
    compaction: Compaction | None = None
    note: str = ""
    derived: bool = False


def has_body(card: Card) -> bool:
    """Whether opening the card shows more than its face."""
    if isinstance(card, ToolCard):
        known = card.dispatch or card.result or card.diff or card.progress
        return bool(known or card.note)
    return card.kind not in _PLAIN and bool(card.parts)


def body_of(
    card: Card,
    read: ReadPart,
    raw: str = "",
    look: LookAt | None = None,
    *,
    split: bool = False,
) -> Body:
    """The body of a card, its records read with `read`; `raw` is an unknown record as it
    stands. `look` looks at the files a call names; without it they are taken for what their
    names say. A diff is drawn side by side if `split`.
    """
    if isinstance(card, ToolCard):
        return _call_body(card, read, look, split=split)
    record = read(card.parts[0]) if card.parts else None
    if card.kind == "collab":
        collab = read_collab(record.collab if record else None)
        if collab.is_empty:
            return Body("body/_unknown.html", card, text=raw)
        return _collab_body(card, collab)
    if card.kind == "compaction":
        return _compaction_body(card, (record.compaction if record else None) or Compaction())
    if card.kind == "unknown":
        return Body("body/_unknown.html", card, text=raw)
    text = part_text(card, read)
    images = record.images if record is not None else ()
    return Body(
        "body/_text.html",
        card,
        text=text[:PREVIEW_BYTES],
        cut=_over(text),
        files=tuple(_image(image, n, look) for n, image in enumerate(images[:FILES_SHOWN], 1)),
        more_files=max(0, len(images) - FILES_SHOWN),
    )


def full_text(card: Card, read: ReadPart, raw: str = "") -> str:
    """Everything a card's body is made of, as plain text, for copying and downloading."""
    if isinstance(card, ToolCard):
        texts = call_texts(card, read)
        return texts.output or texts.diff or texts.args
    if card.kind == "compaction":
        record = read(card.parts[0]) if card.parts else None
        return record.compaction.summary if record and record.compaction else ""
    if card.kind in ("unknown", "collab"):
        return raw
    return part_text(card, read)


def _compaction_body(card: Card, done: Compaction) -> Body:
    archive = done.archive[:PREVIEW_BYTES]
    summary = done.summary[:PREVIEW_BYTES]
    shown = Compaction(summary=summary, archive=archive)
    cut = _over(done.summary)
    return Body(
        "body/_compaction.html", card, cut=cut, hidden=_over(done.archive), compaction=shown
    )


def _collab_body(card: Card, collab: ExpertCollab) -> Body:
    """A discussion as far as it fits: the answer first, then what led to it."""
    room = Allowance(4 * PREVIEW_BYTES)
    task, synthesis = room.take(collab.task), room.take(collab.synthesis)
    rounds: list[tuple[Statement, ...]] = []
    left = STATEMENTS_SHOWN
    for said in collab.rounds[:STATEMENTS_SHOWN]:
        shown = said[:left]
        left -= len(shown)
        rounds.append(tuple(Statement(room.take(s.expert), room.take(s.text)) for s in shown))
    every = sum(len(s.expert) + len(s.text) for said in collab.rounds for s in said)
    told = sum(len(s.expert) + len(s.text) for said in rounds for s in said)
    hidden = len(collab.task) - len(task) + len(collab.synthesis) - len(synthesis) + every - told
    kept = ExpertCollab(task=task, synthesis=synthesis, rounds=tuple(rounds))
    return Body("body/_collab.html", card, hidden=hidden, collab=kept)


def _over(text: str) -> int:
    return max(0, len(text) - PREVIEW_BYTES)


def _call_body(card: ToolCard, read: ReadPart, look: LookAt | None, *, split: bool) -> Body:
    texts = call_texts(card, read)
    face = card.tool_face
    arguments = _object(texts.args)
    derived = "" if texts.diff else _derived_diff(face, texts.args)
    diff = texts.diff or derived
    todos = read_todos(arguments) if face == "todo" else ()
    command = _command(arguments) if face == "shell" else ""
    prompt = _string(arguments, "prompt") if face == "agent" else ""
    shows_args = not (todos or command or prompt or (diff and face in ("edit", "write")))
    shows_args = shows_args and not _is_subject(arguments, card.face)
    shows_args = shows_args and texts.args not in ("", "{}")
    err = texts.err if texts.err and texts.err not in texts.output else ""
    drawn = cut_diff(diff)
    kept = Allowance(4 * PREVIEW_BYTES)
    shown_todos = tuple(Todo(kept.take(t.text), t.state) for t in todos[:STATEMENTS_SHOWN])
    left_out = sum(len(todo.text) for todo in todos[STATEMENTS_SHOWN:])
    hidden = (len(diff) - len(drawn), _over(err), _over(texts.args) if shows_args else 0)
    return Body(
        "body/_call.html",
        card,
        text=prompt[:PREVIEW_BYTES],
        hidden=sum(max(0, chars) for chars in hidden) + kept.cut + left_out + _over(prompt),
        args=texts.args[:PREVIEW_BYTES] if shows_args else "",
        command=command[:PREVIEW_BYTES],
        err=err[:PREVIEW_BYTES],
        output=_output(texts.output, prose=face in PROSE),
        diff=drawn_diff(drawn, card.face, split=split) if drawn else Markup(""),
        todos=shown_todos,
        files=tuple(_named_file(file, look) for file in texts.attachments[:FILES_SHOWN]),
        more_files=max(0, len(texts.attachments) - FILES_SHOWN),
        note=card.note,
        derived=bool(derived),
    )


def _named_file(file: Attachment, look: LookAt | None) -> NamedFile:
    expected = file.kind == "image" or file.path.lower().endswith(_IMAGE_NAMES)
    path = file.path if len(file.path) <= SUBJECT_CHARS else file.path[:SUBJECT_CHARS] + "…"
    if look is None:
        return NamedFile(path, is_image=expected)
    found = look(file.path)
    reason = found.reason or ("not an image" if expected and not found.is_image else "")
    return NamedFile(path, found.is_image, bool(found.reason), reason)


def _image(image: Attachment, number: int, look: LookAt | None) -> NamedFile:
    """An image of a prompt: one in the session itself, a file, or an address."""
    if is_embedded(image.path):
        is_image = embedded_image(image.path, whole=False) is not None
        reason = "" if is_image else "no image that can be shown"
        return NamedFile(f"image {number}", is_image, not is_image, reason)
    if "://" in image.path:
        return NamedFile(image.path[:SUBJECT_CHARS], is_missing=True, reason=_ELSEWHERE)
    return _named_file(image, look)


@lru_cache(maxsize=256)
def drawn_diff(text: str, path: str, *, split: bool = False) -> Markup:
    """A unified diff as HTML tables, both sides beside each other if `split`. Drawing one costs
    far more than keeping it.
    """
    return render("body/_diff.html", diff=parse_diff(text, path=path), split=split)


def _object(args: str) -> dict[str, Any]:
    if len(args) > PREVIEW_BYTES * 4:
        return {}
    try:
        value = orjson.loads(args.encode("utf-8", "replace"))
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _string(arguments: dict[str, Any], *keys: str) -> str:
    return next((v for key in keys if isinstance(v := arguments.get(key), str) and v), "")


def _is_subject(arguments: dict[str, Any], subject: str) -> bool:
    """Whether the card's face tells all there is: a single argument, in full."""
    return [*arguments.values()] == [subject]


def _command(arguments: dict[str, Any]) -> str:
    """The command line of a shell call, empty if it has none."""
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, list) and all(isinstance(part, str) for part in command):
        command = " ".join(command)
    return command[:PREVIEW_BYTES] if isinstance(command, str) else ""


def _output(text: str, *, prose: bool) -> Output | None:
    return Output(text[:PREVIEW_BYTES], _over(text), prose) if text else None


def _derived_diff(face: str, args: str) -> str:
    """The edit as the arguments tell it, where the agent recorded no diff."""
    return derived_text(derive_edits(face, args)) if face in _EDITORS else ""

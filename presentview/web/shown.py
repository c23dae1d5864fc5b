"""The texts of a record that a card shows; what only keeps the file together is none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from presentview.records import Record, Tool
from presentview.transcript.cards import Card, Place, ToolCard
from presentview.transcript.collab import read_collab
from presentview.transcript.todos import read_todos
from presentview.web.bodies import PROSE
from presentview.web.render.ansi import strip_ansi

__all__ = ["shown_texts"]


def shown_texts(
    card: Card, place: Place, record: Record, read: Callable[[Place], bytes]
) -> Iterator[str]:
    """The texts that `card` shows of `record`, which lies at `place`; `read` gives its bytes."""
    if isinstance(card, ToolCard):
        yield from _of_call(card, place, record.tool or Tool())
    elif card.kind == "reasoning" and record.kind == "message":
        yield record.reasoning
    elif card.kind == "compaction":
        if record.compaction is not None:
            yield from (record.compaction.trigger, record.compaction.summary)
            yield record.compaction.archive
    elif card.kind == "collab":
        yield from _of_collab(record, lambda: read(place))
    elif card.kind == "unknown":
        raw = read(place)
        yield raw.decode("utf-8", "replace")
        yield from _strings(_decoded(raw))
    elif card.kind != "retry":
        yield record.text


def _of_call(card: ToolCard, place: Place, tool: Tool) -> Iterator[str]:
    if place == card.dispatch:
        if card.tool_face == "other":
            yield tool.name
        yield from _of_arguments(card, tool.args)
    if place == card.result:
        yield tool.output if card.tool_face in PROSE else strip_ansi(tool.output)
        yield tool.err
    if place in (card.dispatch, card.result):
        yield from (file.path for file in tool.attachments)
        if tool.profile is not None:
            yield from (tool.profile.model, tool.profile.effort)
    elif place != card.diff:
        yield strip_ansi(tool.output)
    if place == card.diff and tool.file_diff is not None:
        yield tool.file_diff.diff


def _of_arguments(card: ToolCard, args: str) -> Iterator[str]:
    """What a card shows of the arguments: what its kind is about, or all of them."""
    arguments = _decoded(args)
    if not isinstance(arguments, dict):
        yield args
        return
    face = card.tool_face
    command = arguments.get("command", arguments.get("cmd"))
    prompt = arguments.get("prompt")
    if face == "shell" and command:
        yield " ".join(map(str, command)) if isinstance(command, list) else str(command)
    elif face == "agent" and isinstance(prompt, str) and prompt:
        yield from (card.face, prompt)
    elif face == "todo" and (todos := read_todos(arguments)):
        yield from (todo.text for todo in todos)
    elif _is_told(card, arguments):
        yield card.face
    else:
        yield from _strings(arguments)


def _is_told(card: ToolCard, arguments: dict[str, Any]) -> bool:
    """Whether the closed card and a recorded diff show all there is of the arguments."""
    if card.tool_face in ("edit", "write") and card.diff is not None:
        return True
    return [*arguments.values()] == [card.face]


def _of_collab(record: Record, raw: Callable[[], bytes]) -> Iterator[str]:
    collab = read_collab(record.collab)
    if collab.is_empty:
        yield raw().decode("utf-8", "replace")
        return
    yield from (collab.team, collab.mode, collab.task)
    for said in (said for one in collab.rounds for said in one):
        yield from said
    yield collab.synthesis


def _decoded(text: str | bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError, UnicodeError):
        return None


def _strings(value: Any) -> Iterator[str]:
    """The texts, keys and other values inside a value, in the order in which they stand."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack += (part for pair in reversed(item.items()) for part in reversed(pair))
        elif isinstance(item, list):
            stack += reversed(item)
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield str(item)

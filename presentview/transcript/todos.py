"""To-do lists, as the arguments of the tools that keep them tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from presentview.limits import JSON_BYTES

__all__ = ["Todo", "read_todos", "todo_subject"]

_LISTS: Final = ("todos", "plan", "items", "todoList", "tasks")
_TEXTS: Final = ("content", "step", "text", "title", "description")
_STATES: Final = {
    "completed": "done",
    "complete": "done",
    "done": "done",
    "in_progress": "doing",
    "active": "doing",
}


class Todo(msgspec.Struct, frozen=True):
    """One item of a to-do list, with its state: done, doing or pending."""

    text: str
    state: str


def read_todos(arguments: Mapping[str, Any]) -> tuple[Todo, ...]:
    """The to-do list in the arguments of a call, empty if there is none.

    Some models write the list as a string that holds JSON: that is read too.
    """
    items = next((arguments[key] for key in _LISTS if arguments.get(key)), None)
    if isinstance(items, str):
        items = _decoded(items)
    if not isinstance(items, list):
        return ()
    return tuple(_todo(item) for item in items if isinstance(item, str | dict))


def todo_subject(args: str) -> str:
    """What the closed card of a call with the arguments `args` (JSON text) says, such as
    `2 of 5 done`; empty if there is no list in them or they are very long.
    """
    arguments = _decoded(args)
    todos = read_todos(arguments) if isinstance(arguments, dict) else ()
    if not todos:
        return ""
    done = sum(todo.state == "done" for todo in todos)
    return f"{done:,} of {len(todos):,} done"


def _todo(item: str | dict[str, Any]) -> Todo:
    if isinstance(item, str):
        return Todo(item, "pending")
    texts = (item.get(key) for key in _TEXTS)
    text = next((text for text in texts if isinstance(text, str) and text), "")
    if item.get("done") is True or item.get("completed") is True:
        return Todo(text, "done")
    state = str(item.get("status", item.get("state", ""))).lower().replace("-", "_")
    return Todo(text, _STATES.get(state, "pending"))


def _decoded(text: str) -> Any:
    if len(text) > 4 * JSON_BYTES:
        return None
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError, UnicodeError):
        return None

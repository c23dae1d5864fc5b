"""What a tool call's card shows when it is closed, read from its name and arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from presentview.limits import FIRST_LINE_CHARS, SUBJECT_CHARS
from presentview.transcript.todos import todo_subject

__all__ = ["FACES", "first_line", "is_edit_call", "read_background", "read_subject", "tool_face"]

_TOOLS: Final = {
    "shell": "bash shell sh run_command run_shell_command exec exec_command execute_command "
    "execute local_shell run_in_terminal terminal container.exec powershell",
    "read": "read read_file read_many_files view view_file cat open_file notebook_read "
    "view_image read_mcp_resource",
    "search": "grep search rg glob find find_files file_search grep_search search_files "
    "codebase_search search_file_content tool_search",
    "list": "ls list list_dir list_directory list_files",
    "edit": "edit edit_file multi_edit multiedit apply_patch patch str_replace replace "
    "str_replace_editor str_replace_based_edit_tool notebook_edit update_file insert",
    "write": "write write_file create create_file save_file",
    "todo": "todo_write todowrite todo update_plan write_todos manage_todo_list todo_read",
    "agent": "task agent run_skill explore research dispatch_agent spawn_agent subagent "
    "delegate invoke_agent launch_agent",
    "fetch": "web_fetch webfetch fetch fetch_url open_url browse read_url",
    "web_search": "web_search websearch google_web_search search_web",
    "image": "image_generate generate_image create_image",
}
_BY_NAME: Final = {name: face for face, names in _TOOLS.items() for name in names.split()}

# Which argument is the subject, tried in this order.
_SUBJECTS: Final[dict[str, tuple[str, ...]]] = {
    "shell": ("command", "cmd", "script", "code"),
    "read": ("path", "file_path", "notebook_path", "uri", "target_file", "filename"),
    "search": ("pattern", "query", "regex", "path"),
    "list": ("path", "directory", "dir_path"),
    "edit": ("path", "file_path", "notebook_path", "target_file", "filename"),
    "write": ("path", "file_path", "target_file", "filename"),
    "todo": (),
    "agent": ("description", "skill", "name", "task", "prompt", "message"),
    "fetch": ("url", "uri"),
    "web_search": ("query", "q"),
    "image": ("prompt",),
    "other": (
        "path", "file_path", "command", "query", "pattern", "url", "uri", "name", "title",
        "description", "message", "prompt",
    ),
}  # fmt: skip

FACES: Final = tuple(_SUBJECTS)
"""The kinds of tool cards."""

_BACKGROUND: Final = ("run_in_background", "background", "is_background")


def _reader(keys: Sequence[str]) -> Callable[[str], msgspec.Struct]:
    """A decoder of these arguments, which passes over all others."""
    fields = [(key, Any, None) for key in keys]
    return msgspec.json.Decoder(msgspec.defstruct("Arguments", fields, gc=False)).decode


_read_subjects: Final = {face: _reader(keys) for face, keys in _SUBJECTS.items()}
_read_background: Final = _reader(_BACKGROUND)


@lru_cache(maxsize=1000)
def tool_face(name: str) -> str:
    """Which kind of tool card shows the tool `name`; "other" for a tool nobody knows."""
    plain = name.rpartition("functions.")[2].lower().replace("-", "_").replace(" ", "_")
    return _BY_NAME.get(plain) or _BY_NAME.get(plain.replace("_", ""), "other")


def read_subject(face: str, args: str) -> str:
    """The line that says what a call is about, from the JSON text `args`.

    Empty where that names nothing of the kind, is cut off or no object.
    """
    if face == "todo":
        return todo_subject(args)
    try:
        values = astuple(_read_subjects[face](args))
    except (ValueError, RecursionError):
        return ""
    for value in filter(None, values):
        text = " ".join(map(str, value)) if type(value) is list else value
        if type(text) is str and (subject := first_line(text, SUBJECT_CHARS)):
            return subject
    return ""


def is_edit_call(face: str, subject: str, *, read_only: bool) -> bool:
    """Whether a call with this kind of card may edit files, by its name and `subject` alone."""
    if read_only:
        return False
    return face in ("edit", "write") or (face == "shell" and "apply_patch" in subject)


def read_background(args: str) -> bool:
    """Whether the JSON text `args` sends its call to run in the background."""
    # Without the word, or escapes that may spell it, none of the keys can be there.
    if "background" not in args and "\\u" not in args:
        return False
    try:
        return any(astuple(_read_background(args)))
    except (ValueError, RecursionError):
        return False


def first_line(text: str, limit: int = FIRST_LINE_CHARS) -> str:
    """The first line of `text` that is not blank, at most `limit` characters of it."""
    if len(text) <= limit and "\n" not in text:
        return text.strip()
    head = text[: 4 * limit].strip()
    head = head.partition("\n")[0].rstrip()
    return head if len(head) <= limit else head[: limit - 1] + "…"

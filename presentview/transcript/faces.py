"""What a tool call's card shows when it is closed, read from its name and arguments."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from presentview.limits import FIRST_LINE_CHARS, SUBJECT_CHARS

__all__ = ["Facts", "first_line", "read_facts", "tool_face"]

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
_FACES: Final = {name: face for face, names in _TOOLS.items() for name in names.split()}

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


class Facts(NamedTuple):
    """A call's `subject` (one line) and whether it was sent to run in the `background`."""

    subject: str = ""
    background: bool = False


class _Arguments(msgspec.Struct, gc=False):
    """The arguments that can be a subject; decoding passes over all others."""

    command: Any = None
    cmd: Any = None
    script: Any = None
    code: Any = None
    path: Any = None
    file_path: Any = None
    notebook_path: Any = None
    uri: Any = None
    target_file: Any = None
    filename: Any = None
    pattern: Any = None
    query: Any = None
    regex: Any = None
    directory: Any = None
    dir_path: Any = None
    description: Any = None
    skill: Any = None
    name: Any = None
    task: Any = None
    title: Any = None
    prompt: Any = None
    message: Any = None
    url: Any = None
    q: Any = None
    run_in_background: Any = None
    background: Any = None
    is_background: Any = None


_decode = msgspec.json.Decoder(_Arguments).decode
_known_names: dict[str, str] = {}


def tool_face(name: str) -> str:
    """Which kind of tool card shows the tool `name`; "other" for a tool nobody knows."""
    face = _known_names.get(name)
    if face is None:
        plain = name.rpartition("functions.")[2].lower().replace("-", "_").replace(" ", "_")
        face = _FACES.get(plain) or _FACES.get(plain.replace("_", ""), "other")
        if len(_known_names) < 1000:
            _known_names[name] = face
    return face


def read_facts(face: str, args: str) -> Facts:
    """What the JSON text `args` tells; nothing where it is cut off or no object."""
    try:
        found = _decode(args)
    except (ValueError, RecursionError, UnicodeError):
        return _NO_FACTS
    subject = ""
    for key in _SUBJECTS[face]:
        value = getattr(found, key)
        if value:
            if type(value) is str:
                subject = first_line(value, SUBJECT_CHARS)
            elif isinstance(value, list):
                subject = first_line(" ".join(map(str, value)), SUBJECT_CHARS)
            if subject:
                break
    if found.run_in_background or found.background or found.is_background:
        return Facts(subject, background=True)
    return Facts(subject)


_NO_FACTS: Final = Facts()


def first_line(text: str, limit: int = FIRST_LINE_CHARS) -> str:
    """The first line of `text` that is not blank, at most `limit` characters of it."""
    head = text[: 4 * limit].strip()
    head = head.partition("\n")[0].rstrip()
    return head if len(head) <= limit else head[: limit - 1] + "…"

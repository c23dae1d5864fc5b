"""Unified diffs, read as tolerantly as possible.

Transcripts hold diffs from many tools, often cut, written by a model with numbers that are
wrong, or between other text. Every line ends up somewhere: in a hunk, as a path, or as a note.
Added and removed lines are counted in the text; what headers claim is used only to tell where a
hunk ends. Nothing a text holds makes reading it fail.
"""

from __future__ import annotations

import re
import sys

from presentview.transcript.changes.drafts import NO_PATHS, OpenFile, OpenHunk
from presentview.transcript.changes.headers import (
    PathPair,
    git_paths,
    header_path,
    hunk_range,
    is_hunk_header,
)
from presentview.transcript.changes.patch import LineKind, Patch

__all__ = ["parse_patch"]

_SIGNS: dict[str, LineKind] = {" ": "context", "+": "add", "-": "del", "\\": "note"}
_MAIL_SIGNATURE = "-- "
_OTHER_DIFF = re.compile(r"diff (?:-\S+ )+\S")
_UNIMPORTANT = ("index ", "similarity index ", "dissimilarity index ", "=====")
_BINARY = ("Binary files ", "GIT binary patch")
_GIT_REMARKS = ("rename from ", "rename to ", "copy from ", "copy to ")


def parse_patch(text: str, *, path: str = "", most_lines: int = sys.maxsize) -> Patch:
    """Read the unified diff in text.

    path names the file where the diff itself does not. At most `most_lines` lines are kept; the
    rest is counted.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if all(line.endswith("\r") for line in lines) and any(map(is_hunk_header, lines)):
        # The diff itself came with such line ends; those of the file would be doubled.
        lines = [line[:-1] for line in lines]
    return _Parser(lines, path, most_lines).parse()


class _Parser:
    def __init__(self, lines: list[str], path: str, most_lines: int) -> None:
        self._lines = lines
        self._most = most_lines
        self._path = path
        self._files: list[OpenFile] = []
        self._file: OpenFile | None = None
        self._hunk: OpenHunk | None = None
        self._filled = 0  # the next line that is not blank, as far as it was looked for
        self._kept = 0
        self._headers_left = most_lines
        self._cut = 0
        self._added = 0
        self._removed = 0

    def parse(self) -> Patch:
        if self._is_headless():
            self._start_hunk("")
        at = 0
        while at < len(self._lines):
            at += self._read(at)
        files = tuple(file.closed(self._path) for file in self._files)
        return Patch(files, self._added, self._removed, self._cut)

    def _is_headless(self) -> bool:
        """Say whether the lines are the inside of a hunk, with nothing else around."""
        return bool(self._lines) and all(
            line[:1] in _SIGNS and not line.startswith(("--- ", "+++ ")) for line in self._lines
        )

    def _read(self, at: int) -> int:
        """Read the line at and return how many lines were used up."""
        line = self._lines[at]
        if self._is_body(at):
            self._read_body(line)
            return 1
        if self._is_file_header(at):
            following = self._lines[at + 1] if at + 1 < len(self._lines) else "+++ "
            self._name_file(PathPair(_path(line), _path(following)))
            return 2
        line = line.rstrip("\r")
        if is_hunk_header(line):
            self._start_hunk(line)
        elif line.startswith("diff --git "):
            self._start_file(git_paths(line) or NO_PATHS)
        elif line.startswith("Index: ") and self._is_underlined(at):
            name = line.removeprefix("Index: ").strip()
            self._start_file(PathPair(name, name))
        elif _OTHER_DIFF.match(line):
            self._start_file(NO_PATHS)
            self._note(line)
        elif not self._read_git_line(line):
            self._note(line)
        return 1

    # what kind of line it is

    def _is_body(self, at: int) -> bool:
        hunk = self._hunk
        if hunk is None:
            return False
        line = self._lines[at]
        if not line.rstrip("\r"):
            return self._is_blank_body(hunk, at)
        if line[0] not in _SIGNS:
            return False
        if hunk.wants_more:
            return not (self._is_file_header(at) and self._starts_file(hunk, at))
        return line.rstrip("\r") != _MAIL_SIGNATURE and not self._is_file_header(at)

    def _is_blank_body(self, hunk: OpenHunk, at: int) -> bool:
        if hunk.wants_more or hunk.is_complete:
            return hunk.wants_more
        # The header cannot be trusted: the line belongs to the hunk if the hunk goes on after it.
        self._filled = max(self._filled, at + 1)
        while self._filled < len(self._lines):
            if self._lines[self._filled].rstrip("\r"):
                return self._is_body(self._filled)
            self._filled += 1
        return False

    def _is_underlined(self, at: int) -> bool:
        return at + 1 < len(self._lines) and self._lines[at + 1].startswith("=====")

    def _is_file_header(self, at: int) -> bool:
        if not self._lines[at].startswith("--- "):
            return False
        if at + 1 == len(self._lines):  # cut off in the middle
            return self._hunk is None or self._hunk.is_complete
        return self._lines[at + 1].startswith("+++ ")

    def _starts_file(self, hunk: OpenHunk, at: int) -> bool:
        """Say whether what looks like a file header is one, though the hunk wants more lines.

        A removed `-- x` above an added `++ y` looks the same. It is that unless a hunk follows
        and the two lines would not fill this one.
        """
        is_followed = at + 2 < len(self._lines) and is_hunk_header(self._lines[at + 2])
        return is_followed and not hunk.old_left == 1 == hunk.new_left

    # where it goes

    def _read_body(self, line: str) -> None:
        hunk, file = self._hunk, self._file
        assert hunk is not None
        assert file is not None
        kind = _SIGNS[line[0]] if line.rstrip("\r") else "context"
        if kind == "add":
            file.added += 1
            self._added += 1
        elif kind == "del":
            file.removed += 1
            self._removed += 1
        if kind == "note":
            read = hunk.next_line(kind, line[1:].strip())._replace(is_end=True)
        else:
            # An empty line that lost the space in front may still have its carriage return.
            read = hunk.next_line(kind, line[1:] if line[:1] in _SIGNS else line)
        if self._has_room():
            hunk.lines.append(read)

    def _note(self, line: str) -> None:
        """Keep a line that is no part of the diff's grammar."""
        if self._hunk is not None and not self._hunk.wants_more:
            self._hunk = None
        if not line.strip() or not self._has_room():
            return
        file = self._file or self._start_file(NO_PATHS)
        if file.hunks:
            file.hunks[-1].lines.append(file.hunks[-1].next_line("note", line))
        else:
            file.notes.append(line)

    def _start_hunk(self, header: str) -> None:
        file = self._file or self._start_file(NO_PATHS)
        self._hunk = OpenHunk(header, hunk_range(header))
        if self._kept < self._most and self._has_room_for_header():
            file.hunks.append(self._hunk)

    def _start_file(self, paths: PathPair) -> OpenFile:
        last = self._file
        if last is not None and last.is_blank:
            last.paths = paths  # so far there was only text before the first file
        else:
            last = OpenFile(paths)
            if self._has_room_for_header():
                self._files.append(last)
        self._file = last
        self._hunk = None
        return last

    def _name_file(self, paths: PathPair) -> None:
        file = self._file
        if file is None or file.hunks or file.is_named:
            file = self._start_file(paths)
        self._hunk = None
        file.paths = paths
        file.is_named = True

    def _read_git_line(self, line: str) -> bool:
        """Read a line that git puts between the paths and the first hunk, if it is one."""
        file = self._file
        if file is None or file.hunks:
            return False
        if line.startswith(_UNIMPORTANT):
            return True
        if line.startswith(_GIT_REMARKS):
            self._rename(file, line)
            return True
        if line.startswith(("new file mode ", "deleted file mode ")):
            self._came_or_went(file, line)
            return True
        if line.startswith("old mode "):
            file.old_mode = line.removeprefix("old mode ").strip()
        if line.startswith("new mode ") and file.notes and file.notes[-1].startswith("old mode "):
            file.new_mode = line.removeprefix("new mode ").strip()
            file.notes[-1] = f"mode {file.old_mode} → {file.new_mode}"
            return True
        file.is_binary |= line.startswith(_BINARY)
        return False

    @staticmethod
    def _came_or_went(file: OpenFile, line: str) -> None:
        kind, _, mode = line.partition(" mode ")
        file.notes.append(kind)
        if kind == "new file":
            file.is_new, file.new_mode = True, mode.strip()
        else:
            file.is_deleted, file.old_mode = True, mode.strip()

    @staticmethod
    def _rename(file: OpenFile, line: str) -> None:
        file.verb, direction, name = line.split(" ", 2)
        name = header_path(f"--- {name}")
        if direction == "from":
            file.paths = file.paths._replace(old=f"a/{name}")
            file.notes.append("renamed" if file.verb == "rename" else "copied")
        else:
            file.paths = file.paths._replace(new=f"b/{name}")

    def _has_room(self) -> bool:
        if self._kept == self._most:
            self._cut += 1
            return False
        self._kept += 1
        return True

    def _has_room_for_header(self) -> bool:
        if not self._headers_left:
            self._cut += 1
            return False
        self._headers_left -= 1
        return True


def _path(line: str) -> str:
    return header_path(line.rstrip("\r"))

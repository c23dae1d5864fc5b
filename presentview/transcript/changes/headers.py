"""The lines of a diff that name files and places, as the many tools that make diffs write them."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = [
    "DEV_NULL",
    "HunkRange",
    "PathPair",
    "git_paths",
    "header_path",
    "hunk_range",
    "is_hunk_header",
    "without_prefixes",
]

DEV_NULL = "/dev/null"

# Numbers longer than this are no line numbers.
_HUNK = re.compile(
    r"@@ -(?P<old>\d{1,9})(?:,(?P<old_count>\d{1,9}))?"
    r" \+(?P<new>\d{1,9})(?:,(?P<new_count>\d{1,9}))? @@"
)
_TIMESTAMP = re.compile(r"\s+\d{4}-\d\d-\d\d[ T]\d\d:\d\d\S*(?: [+-]\d{4})?$")
_QUOTED = re.compile(r'"(?P<body>(?:[^"\\]|\\.)*+)"')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_CONTROL = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
}
# What git puts before the paths of the two sides, by default and with mnemonic prefixes.
_PREFIXES = (("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"), ("1/", "2/"))


class HunkRange(NamedTuple):
    """Where a hunk starts in both files, and how many lines it claims to have of each."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int


class PathPair(NamedTuple):
    """The names of a file before and after."""

    old: str
    new: str


def is_hunk_header(line: str) -> bool:
    """Say whether line starts a hunk, with or without usable numbers."""
    return line.startswith("@@") and (line.strip() == "@@" or line.startswith(("@@ ", "@@@")))


def hunk_range(line: str) -> HunkRange | None:
    """Return the numbers of a hunk header, or None if it has none that can be read."""
    match = _HUNK.match(line)
    if match is None:
        return None
    return HunkRange(
        int(match["old"]),
        1 if match["old_count"] is None else int(match["old_count"]),
        int(match["new"]),
        1 if match["new_count"] is None else int(match["new_count"]),
    )


def header_path(line: str) -> str:
    """Return the path of a `---` or `+++` line, without quotes and time of change."""
    rest = line[4:]
    if quoted := _QUOTED.match(rest):
        return _unquoted(quoted["body"])
    path, tab, _ = rest.partition("\t")
    return path if tab else _TIMESTAMP.sub("", path).rstrip()


def git_paths(line: str) -> PathPair | None:
    """Return both paths of a `diff --git` line with their prefixes, if they can be told apart."""
    rest = line.removeprefix("diff --git ")
    if rest.startswith('"') or rest.endswith('"'):
        return _quoted_paths(rest)
    half = len(rest) // 2
    if rest[half : half + 1] == " " and rest[2:half] == rest[half + 3 :]:
        return PathPair(rest[:half], rest[half + 1 :])
    old, separator, new = rest.partition(" b/")
    return PathPair(old, "b/" + new) if separator else None


def without_prefixes(pair: PathPair) -> PathPair:
    """Return pair without the prefixes that git puts before the paths of the two sides."""
    for old, new in _PREFIXES:
        if pair.old.startswith((old, DEV_NULL)) and pair.new.startswith((new, DEV_NULL)):
            return PathPair(pair.old.removeprefix(old), pair.new.removeprefix(new))
    return pair


def _quoted_paths(rest: str) -> PathPair | None:
    if match := _QUOTED.match(rest):
        old, new = _unquoted(match["body"]), rest[match.end() :].strip()
    else:
        old, _, new = rest.partition(' "')
        new = '"' + new
    quoted = _QUOTED.fullmatch(new)
    return PathPair(old, _unquoted(quoted["body"]) if quoted else new)


def _unquoted(body: str) -> str:
    raw = _ESCAPE.sub(_unescaped, body.encode("utf-8", "surrogatepass"))
    return raw.decode("utf-8", "replace")


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _CONTROL.get(code, code)

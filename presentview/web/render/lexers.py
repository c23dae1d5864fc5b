"""Which lexer colours a text, by the name of its language or of its file.

Pygments finds a lexer by file name too, but tries some thousand patterns one by one and looks for
plug-ins on the disk: most of a second for the first diff of the first page.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from pygments.lexers import find_lexer_class, find_lexer_class_by_name, get_all_lexers
from pygments.util import ClassNotFound

__all__ = ["find_lexer"]

_NAME_CHARS: Final = 200  # longer names are no language's, and hardly a file's
_EXACT_BONUS: Final = 0.5  # for a pattern that is one file's name, as pygments rates it

# Names that people and models write on code blocks and that pygments does not know.
_OTHER_NAMES: Final = {
    "jsonc": "json",
    "jsonl": "json",
    "ndjson": "json",
    "mjs": "js",
    "patch": "diff",
}
# Ends that pygments does not know, or of which it prefers the rarer language.
_COMMON_ENDS: Final = {
    ".S": "gas",
    ".as": "actionscript3",
    ".cl": "common-lisp",
    ".cts": "typescript",
    ".fs": "fsharp",
    ".g": "antlr",
    ".mts": "typescript",
    ".pl": "perl",
    ".sql": "sql",
    ".t": "perl",
}


@functools.lru_cache(maxsize=512)
def find_lexer(language: str, name: str) -> Any:
    """The class of pygments' lexer for a language or the last part of a path, or None; the first
    that is known wins.
    """
    language = language.lower()
    language = _OTHER_NAMES.get(language, language)
    if language and len(language) <= _NAME_CHARS:
        try:
            return find_lexer_class_by_name(language)
        except ClassNotFound:
            pass
    if name and len(name) <= _NAME_CHARS:
        return _for_file(name)
    return None


class _Patterns(NamedTuple):
    """The names of lexers by what they say of the files they are for: the end from a dot on, the
    whole name, or any other pattern.
    """

    ends: Mapping[str, list[str]]
    names: Mapping[str, list[str]]
    others: Mapping[str, list[str]]


@functools.cache
def _patterns() -> _Patterns:
    found = _Patterns(defaultdict(list), defaultdict(list), defaultdict(list))
    for lexer, _, patterns, _ in get_all_lexers(plugins=False):
        for pattern in patterns:
            end = pattern[1:]
            if not _is_glob(pattern):
                found.names[pattern].append(lexer)
            elif pattern.startswith("*.") and not _is_glob(end):
                found.ends[end].append(lexer)
            else:
                found.others[pattern].append(lexer)
    return found


def _is_glob(pattern: str) -> bool:
    return any(sign in pattern for sign in "*?[")


def _for_file(name: str) -> Any:
    end = name[name.rfind(".") :]
    if end in _COMMON_ENDS:
        return find_lexer_class_by_name(_COMMON_ENDS[end])
    # Of equals the last by name, as pygments has it.
    fitting = sorted(_fitting(name), key=lambda one: one[0].__name__)
    rated = sorted(fitting, key=lambda one: one[0].priority + one[1])
    return rated[-1][0] if rated else None


def _fitting(name: str) -> Iterator[tuple[Any, float]]:
    """The lexers for a file of this name, each with what its pattern adds to its rating."""
    known = _patterns()
    for lexer in known.names.get(name, ()):
        yield find_lexer_class(lexer), _EXACT_BONUS
    for start, sign in enumerate(name):
        if sign == ".":
            for lexer in known.ends.get(name[start:], ()):
                yield find_lexer_class(lexer), 0
    for pattern, lexers in known.others.items():
        if fnmatchcase(name, pattern):
            for lexer in lexers:
                yield find_lexer_class(lexer), 0

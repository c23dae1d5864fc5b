"""Which words of a changed line changed.

Lines are compared only where it is clear which line became which: as many added lines directly
after as many removed ones. Comparing takes time that grows fast with the length of the lines, so
long lines, unlike lines and everything past a fixed amount of work for a diff stay unmarked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import NamedTuple

from presentview.limits import WORD_MARK_LINE_CHARS, WORD_MARK_PAIRS, WORD_MARK_TOKENS
from presentview.transcript.changes.patch import LineKind
from presentview.web.render.diff_model import DiffLine, Segment

__all__ = ["WordMarker"]

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_LEAST_SIMILARITY = 0.4  # of 1; below, marks would be confetti
# Equal tokens times tokens, summed over a diff: at worst some 30 ns each.
_WORK = 20_000_000


class _Pair(NamedTuple):
    old: tuple[Segment, ...]
    new: tuple[Segment, ...]


class _Run(NamedTuple):
    start: int
    end: int


class WordMarker:
    """Marks changed words in the hunks of one diff, within one allowance of work for all."""

    def __init__(self) -> None:
        self._pairs_left = WORD_MARK_PAIRS
        self._work_left = _WORK

    def mark(self, lines: Sequence[DiffLine]) -> tuple[DiffLine, ...]:
        """Return lines with the changed words marked."""
        marked = list(lines)
        for removed, added in _run_pairs(lines):
            if removed.end - removed.start != added.end - added.start:
                continue
            for old, new in zip(range(*removed), range(*added), strict=True):
                pair = self._compare(lines[old].text, lines[new].text)
                if pair is not None:
                    marked[old] = replace(lines[old], segments=pair.old)
                    marked[new] = replace(lines[new], segments=pair.new)
        return tuple(marked)

    def _compare(self, old: str, new: str) -> _Pair | None:
        if not self._pairs_left or max(len(old), len(new)) > WORD_MARK_LINE_CHARS:
            return None
        self._pairs_left -= 1
        old_tokens: list[str] = _TOKEN.findall(old)
        new_tokens: list[str] = _TOKEN.findall(new)
        if max(len(old_tokens), len(new_tokens)) > WORD_MARK_TOKENS:
            return None
        work = _work(old_tokens, new_tokens)
        if work > self._work_left:
            return None
        self._work_left -= work
        return _compared(old_tokens, new_tokens)


def _run_pairs(lines: Sequence[DiffLine]) -> Iterator[tuple[_Run, _Run]]:
    """Yield each run of removed lines that is followed by a run of added ones."""
    at = 0
    while at < len(lines):
        removed = _run(lines, at, "del")
        if removed.end == at:
            at += 1
            continue
        # "No newline at end of file" may stand between the two.
        added = _run(lines, _run(lines, removed.end, "note").end, "add")
        if added.end > added.start:
            yield removed, added
        at = max(removed.end, added.end)


def _run(lines: Sequence[DiffLine], start: int, kind: LineKind) -> _Run:
    end = start
    while end < len(lines) and lines[end].kind == kind:
        end += 1
    return _Run(start, end)


def _work(old: list[str], new: list[str]) -> int:
    in_old, in_new = Counter(old), Counter(new)
    equal = sum(count * in_new[token] for token, count in in_old.items() if not token.isspace())
    return equal * min(len(old), len(new))


def _compared(old: list[str], new: list[str]) -> _Pair | None:
    # Spaces are in every line: they go with the words around them and never match alone.
    matcher = SequenceMatcher(str.isspace, old, new, autojunk=False)
    blocks = matcher.get_matching_blocks()
    same = sum(_weight(old[block.a : block.a + block.size]) for block in blocks)
    whole = _weight(old) + _weight(new)
    if not same or 2 * same < _LEAST_SIMILARITY * whole or old == new:
        return None
    return _Pair(
        _segments(old, ((block.a, block.a + block.size) for block in blocks)),
        _segments(new, ((block.b, block.b + block.size) for block in blocks)),
    )


def _weight(tokens: list[str]) -> int:
    return sum(len(token) for token in tokens if not token.isspace())


def _segments(tokens: list[str], same: Iterator[tuple[int, int]]) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    done = 0
    for start, end in same:
        for text, marked in (
            ("".join(tokens[done:start]), True),
            ("".join(tokens[start:end]), False),
        ):
            if text:
                segments.append(Segment(text, marked))
        done = end
    return tuple(segments)

"""The transcript for a terminal: plain text in which nothing of the session acts.

No escape sequence of a transcript reaches the terminal, nor any other control character: they
could retitle the window, write to the clipboard or hide text.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Final

from presentview import units
from presentview.follow import Follower
from presentview.transcript.cards import Card, ToolCard, UsageCard
from presentview.transcript.collab import read_collab
from presentview.transcript.export import call_texts, part_text
from presentview.transcript.summary import summarize

__all__ = ["excerpt", "safe", "safe_line", "show_lines"]

_WIDTH: Final = 100
_OUTPUT_LINES: Final = 12
_DEEPEST_INDENT: Final = 12
_ESCAPES: Final = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # CSI
    "|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?"  # OSC and other strings
    "|\x1b[ -/]*[0-~]?"
    "|\x9b[0-?]*[ -/]*[@-~]?"
)
_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def safe(text: str) -> str:
    """`text` without escape sequences; other control and direction characters are spelled out,
    tabs and newlines stay.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _ESCAPES.sub("", text.replace("\r\n", "\n"))
    return _CONTROLS.sub(lambda found: f"<U+{ord(found.group()):04X}>", text)


def safe_line(text: str) -> str:
    """`safe` text in one line."""
    return safe(text).replace("\n", " ").replace("\t", " ")


def show_lines(follower: Follower) -> Iterator[str]:
    """The whole session as lines of text, nested cards indented."""
    summary = summarize(follower.transcript, alive=follower.alive, exists=follower.exists)
    yield safe_line(summary.title or follower.path.name)
    figures = [
        summary.state,
        units.plural(summary.turns, "turn"),
        units.plural(summary.tools, "tool call"),
        units.plural(summary.errors, "error"),
        units.duration(summary.wall_ms),
        f"+{summary.added} -{summary.removed}" if summary.added or summary.removed else "",
    ]
    yield " · ".join(figure for figure in figures if figure)
    for card in follower.transcript.walk():
        indent = "  " * min(card.depth, _DEEPEST_INDENT)
        for line in _card_lines(card, follower):
            yield indent + line


def _card_lines(card: Card, follower: Follower) -> Iterator[str]:
    if card.kind == "prompt":
        yield ""
        stamp = units.instant(card.at)
        yield f"── Turn {card.turn}" + (f" · {stamp}" if stamp else "")
        if text := part_text(card, follower.record):
            yield from _wrapped(text, "> ")
    elif card.kind == "message":
        yield from _wrapped(part_text(card, follower.record), "")
        if card.status(alive=follower.alive) == "interrupted":
            yield "(cut off)"
    elif isinstance(card, ToolCard):
        yield from _call_lines(card, follower)
    elif isinstance(card, UsageCard):
        steps = f"{units.plural(card.steps, 'step')} · " if card.steps else ""
        yield f"  {steps}{card.input:,} in · {card.output:,} out · {card.cached:,} cached"
    elif card.kind == "collab":
        yield from _collab_lines(card, follower)
    else:
        status = card.status(alive=follower.alive)
        times = f" ×{card.count}" if card.kind == "notice" and card.count > 1 else ""
        words = [
            card.kind.replace("_", " "),
            card.level,
            safe_line(card.face) + times,
            status or "",
        ]
        yield f"• {' · '.join(word for word in words if word)}"


def _call_lines(card: ToolCard, follower: Follower) -> Iterator[str]:
    status = card.status(alive=follower.alive) or ""
    words = [
        status,
        units.duration(card.duration_ms),
        f"+{card.added} -{card.removed}" if card.diff is not None else "",
        "output cut" if card.truncated else "",
        f"{card.model} {card.effort}".strip(),
        units.plural(card.steps, "step") if card.steps else "",
        safe_line(card.note),
    ]
    name = card.name or card.tool_face
    yield safe_line(f"[{name}] {card.face}") + f"  ({', '.join(word for word in words if word)})"
    texts = call_texts(card, follower.record)
    if texts.diff:
        yield from ("    " + safe(line) for line in texts.diff.splitlines())
    if texts.err:
        yield f"    {safe_line(texts.err)}"
    yield from excerpt(texts.output)


def excerpt(text: str) -> Iterator[str]:
    """The first lines of what a call gave, indented, and how many more there are."""
    lines = safe(text).splitlines()
    for line in lines[:_OUTPUT_LINES]:
        yield "    " + line[: 2 * _WIDTH]
    if len(lines) > _OUTPUT_LINES:
        yield f"    … {units.plural(len(lines) - _OUTPUT_LINES, 'more line')}"


def _collab_lines(card: Card, follower: Follower) -> Iterator[str]:
    record = follower.record(card.parts[0]) if card.parts else None
    collab = read_collab(record.collab if record else None)
    yield f"• expert collab · {safe_line(card.face)}"
    for number, said in enumerate(collab.rounds, 1):
        for statement in said:
            yield from _wrapped(statement.text, f"    {number} {safe_line(statement.expert)}: ")
    if collab.synthesis:
        yield from _wrapped(collab.synthesis, "    = ")


def _wrapped(text: str, prefix: str) -> Iterator[str]:
    for line in safe(text).split("\n"):
        yield from textwrap.wrap(
            line,
            _WIDTH,
            initial_indent=prefix,
            subsequent_indent=prefix,
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
            drop_whitespace=False,
        ) or [prefix.rstrip()]

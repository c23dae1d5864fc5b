"""Short ways to tell a session, and a page that knows only the changes it is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from presentview.records import (
    Compaction,
    FileDiff,
    Kind,
    Profile,
    Record,
    Retry,
    Tool,
    Usage,
    fields_of,
)
from presentview.transcript.cards import Card, Change, Place, ToolCard
from presentview.transcript.fold import Transcript

# What a person does not see: links to other cards, and how a dispatch is recognised.
_UNSEEN = {"parent", "children", "args_key", "parent_id"}


def turn(text: str = "", at: int = 0) -> Record:
    return Record(Kind.TURN_STARTED, text, at=at)


def done(error: str = "", at: int = 0) -> Record:
    return Record(Kind.TURN_DONE, error, level="error" if error else "", at=at)


def text(piece: str, at: int = 0) -> Record:
    return Record(Kind.TEXT, piece, at=at)


def reasoning(piece: str, at: int = 0) -> Record:
    return Record(Kind.REASONING, piece, at=at)


def message(whole: str = "", thought: str = "", at: int = 0) -> Record:
    return Record(Kind.MESSAGE, whole, thought, at=at)


def notice(said: str, level: str = "info", at: int = 0) -> Record:
    return Record(Kind.NOTICE, said, level=level, at=at)


def dispatch(
    call: str = "",
    args: str = "",
    name: str = "bash",
    *,
    parent: str = "",
    at: int = 0,
    read_only: bool = False,
    profile: Profile | None = None,
    diff: FileDiff | None = None,
) -> Record:
    tool = Tool(
        id=call,
        name=name,
        args=args,
        parent_id=parent,
        read_only=read_only,
        profile=profile,
        file_diff=diff,
    )
    return Record(Kind.TOOL_DISPATCH, tool=tool, at=at)


def progress(call: str, output: str, at: int = 0) -> Record:
    return Record(Kind.TOOL_PROGRESS, tool=Tool(id=call, output=output), at=at)


def result(call: str = "", output: str = "ok\n", err: str = "", at: int = 0, **tool: Any) -> Record:
    return Record(Kind.TOOL_RESULT, tool=Tool(id=call, output=output, err=err, **tool), at=at)


def usage(at: int = 0, call: str = "", **tokens: Any) -> Record:
    tool = Tool(id=call) if call else None
    return Record(Kind.USAGE, usage=Usage(**tokens), tool=tool, at=at)


def retrying(attempt: int, most: int = 0, at: int = 0) -> Record:
    return Record(Kind.RETRYING, retry=Retry(attempt, most), at=at)


def compaction_started(trigger: str = "auto", at: int = 0) -> Record:
    return Record(Kind.COMPACTION_STARTED, compaction=Compaction(trigger), at=at)


def compaction_done(summary: str = "", messages: int = 0, at: int = 0) -> Record:
    return Record(Kind.COMPACTION_DONE, compaction=Compaction("auto", messages, summary), at=at)


def asks(call: str, what: str = "may it?", at: int = 0) -> Record:
    return Record(Kind.APPROVAL_REQUEST, what, tool=Tool(id=call, name="bash"), at=at)


def answers(call: str, answer: str = "approved", at: int = 0) -> Record:
    return Record(Kind.APPROVAL_ANSWER, answer, tool=Tool(id=call), at=at)


def collab(value: Any, at: int = 0) -> Record:
    return Record(Kind.EXPERT_COLLAB, collab=value, at=at)


def folded(*records: Record) -> Transcript:
    """The transcript of `records`, which lie at byte 0, 1, 2 and so on of line 1, 2, 3."""
    transcript = Transcript()
    for number, record in enumerate(records):
        transcript.apply(record, Place(number, 1, number + 1))
    return transcript


def tools(transcript: Transcript) -> list[ToolCard]:
    """The tool calls and lanes in page order."""
    return [card for card in transcript.walk() if isinstance(card, ToolCard)]


def kinds(transcript: Transcript) -> list[str]:
    """The kinds of the top-level cards in page order."""
    return [card.kind for card in transcript.cards]


def outline(cards: Iterable[Card]) -> list[Any]:
    """Each card's call id, name or kind, followed by a list of what is nested in it."""
    lines: list[Any] = []
    for card in cards:
        lines.append(getattr(card, "call", "") or card.kind)
        if card.children:
            lines.append(outline(card.children))
    return lines


def shown(card: Card, transcript: Transcript) -> dict[str, Any]:
    """Everything of a card that a page can show."""
    fields = {field.name: getattr(card, field.name) for field in fields_of(type(card))}
    for name in ("parts", "progress"):
        fields[name] = tuple(fields.get(name, ()))
    for alive in (True, False):
        fields[f"status, alive={alive}"] = card.status(alive=alive)
    fields["duration_ms"] = card.duration_ms
    fields["nested"] = card.parent is not None
    if card.kind == "usage":
        turn = transcript.turn_of(card)
        fields["wall"] = turn.duration_ms
        fields["in tools"] = turn.tool_ms if turn.duration_ms is not None else None
        longest = transcript.longest_in(turn)
        if longest is not None:
            fields["longest"] = (longest.id, longest.face, longest.name, longest.duration_ms)
    return {name: value for name, value in fields.items() if name not in _UNSEEN}


class Page:
    """The cards as a browser has them: moved as it is told, drawn anew when it is told."""

    def __init__(self) -> None:
        self.under: dict[str | None, list[str]] = {None: []}
        self.drawn: dict[str, dict[str, Any]] = {}

    def take(self, changes: Iterable[Change], transcript: Transcript) -> None:
        for op, name, parent, before in changes:
            card = transcript.card(name or "")
            assert name is not None
            assert card is not None
            if op in ("add", "replace"):
                assert (op == "add") == (name not in self.drawn)
                self.drawn[name] = shown(card, transcript)
            if op == "move":
                next(ids for ids in self.under.values() if name in ids).remove(name)
            if op in ("add", "move"):
                assert parent is None or parent in self.drawn
                siblings = self.under.setdefault(parent, [])
                siblings.insert(len(siblings) if before is None else siblings.index(before), name)

    def walk(self, parent: str | None = None) -> Iterator[tuple[str, str | None]]:
        """Each card in page order, with the one it is nested in."""
        for name in self.under.get(parent, ()):
            yield name, parent
            yield from self.walk(name)

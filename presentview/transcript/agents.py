"""The agents of a session side by side: what each did, how long it took, with which model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from presentview.transcript.cards import Card, ToolCard
from presentview.transcript.fold import Transcript
from presentview.transcript.timings import MAIN, Figures, Timings, figures_of

__all__ = ["Agent", "AgentRun", "agent_name", "agent_runs", "agents_among", "longest_runs"]


class Agent(NamedTuple):
    """The card of a sub-agent, and how many others it is inside of."""

    card: ToolCard
    depth: int


class AgentRun(msgspec.Struct, frozen=True):
    """One run of an agent: the main one (`card` is None) or a sub-agent's.

    `figures` are those of the calls it made itself; `steps` and `faults` count what its own
    sub-agents did too. `tokens` are those of its own model requests, None where they are not
    recorded: the main agent's are the session's without those of its sub-agents. `depth` is
    how many sub-agents it is inside of.
    """

    card: ToolCard | None
    name: str
    model: str
    effort: str
    steps: int
    faults: int
    depth: int
    tokens: int | None
    figures: Figures


def agent_name(card: ToolCard) -> str:
    """What a sub-agent is called: its task. One of several that a call has begun has the call's
    name too.
    """
    name = card.face or card.name or card.call
    if card.kind == "lane" and card.parent is not None:
        return f"{name} · {card.parent.face or card.parent.name}"
    return name


def agents_among(cards: Iterable[Card]) -> Iterator[Agent]:
    """The sub-agents among cards in page order, each with how many it is inside of.

    A call is one if it has others nested in it or its tool is known to start one; one that
    started several which have a lane each is none itself.
    """
    depths: dict[int, int] = {}
    for card in cards:
        if not isinstance(card, ToolCard) or not (card.children or card.tool_face == "agent"):
            continue
        outer = card.parent
        depth = depths.get(outer.number, 0) if outer else 0
        if not card.children or any(child.kind != "lane" for child in card.children):
            yield Agent(card, depth)
            depth += 1
        depths[card.number] = depth


def agent_runs(transcript: Transcript, timings: Timings) -> Iterator[AgentRun]:
    """The main agent, and each run of a sub-agent in page order."""
    main = timings.agents.get(MAIN) or figures_of((), timings.whole)
    calls = transcript.calls
    tokens = _tokens_of_main(transcript)
    yield AgentRun(None, "Main agent", "", "", calls.count, calls.errors, 0, tokens, main)
    for card, depth in agents_among(transcript.walk()):
        yield _run(card, depth, timings)


def longest_runs(runs: Sequence[AgentRun], most: int) -> Sequence[AgentRun]:
    """The main agent's run, which is the first, and the longest of the others, `most` in all, in
    their order.
    """
    if len(runs) <= most:
        return runs
    longest = sorted(runs[1:], key=lambda run: -(run.figures.wall or 0))
    kept = {id(run) for run in longest[: most - 1]}
    return [run for run in runs if run.card is None or id(run) in kept]


def _tokens_of_main(transcript: Transcript) -> int | None:
    footers = [turn.footer for turn in transcript.turns if turn.footer is not None]
    if not footers:
        return None
    whole = sum(footer.total or footer.input + footer.output for footer in footers)
    others = (card.tokens or 0 for card in transcript.walk() if isinstance(card, ToolCard))
    return max(0, whole - sum(others))


def _run(card: ToolCard, depth: int, timings: Timings) -> AgentRun:
    around = card if card.kind != "lane" or card.parent is None else card.parent
    figures = timings.agents.get(card.id)
    if figures is None:
        figures = figures_of((), timings.window_of(card))
    return AgentRun(
        card,
        agent_name(card),
        card.model or around.model,
        card.effort or around.effort,
        card.steps,
        card.faults,
        depth,
        card.tokens,
        figures,
    )

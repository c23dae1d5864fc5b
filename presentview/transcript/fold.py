"""The fold: records in, one at a time; cards out, with every change to them named.

A page that is live applies the changes; a page that is opened shows the cards of the whole
file. Both come from here and are the same. Nothing that stands in a record makes the fold
raise, and no record changes a card without the change being named.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import Final

from msgspec.structs import replace

from presentview.limits import TITLE_CHARS
from presentview.records import FileDiff, Kind, Profile, Record, Tool, Usage
from presentview.transcript.answer import Answer
from presentview.transcript.approvals import Approvals
from presentview.transcript.calls import Calls, Parent
from presentview.transcript.cards import (
    ABORTED,
    BLOCKED,
    DONE,
    FAILED,
    INTERRUPTED,
    OPEN,
    Approval,
    Card,
    Change,
    Part,
    Place,
    ToolCard,
    Turn,
    UsageCard,
)
from presentview.transcript.collab import summarize_collab
from presentview.transcript.digest import (
    args_key,
    diff_lines,
    files_named,
    output_lines,
    runs_in_background,
    subject,
    text_key,
)
from presentview.transcript.durations import counted_ms, longest_call
from presentview.transcript.faces import first_line, tool_face
from presentview.transcript.tree import Tree, condensed

__all__ = ["INTERRUPTION", "Transcript"]

INTERRUPTION: Final = "interrupted"
"""What a recorder writes as the error of a turn that its dead predecessor left unfinished."""

_EMPTY: Final = Tool()
_AT_TOP: Final = Parent(None)
_NO_USAGE: Final = Usage()
_BAD_STARTS: Final = ("blocked:", "error:")
_UNDISPATCHED: Final = "its dispatch is not recorded"

Handler = Callable[[Record, Part], None]


class _Handlers(dict[str, Handler]):
    """What is done with a record of each kind, and with one of a kind nobody knows."""

    unknown: Handler

    def __missing__(self, _: str) -> Handler:
        return self.unknown


class Transcript:
    """What a person saw of a session, as far as its records have been applied.

    `turns` are the turns so far, the stretch before the first at index 0; `title` is the first
    prompt's first line; `first_at` and `last_at` (unix ms, 0: not recorded) are the times of the
    first and last record. `turns_dropped` and `cards_dropped` (from the file's header) say how
    many came before the first record, so that numbers go on from there.
    """

    def __init__(self, *, turns_dropped: int = 0, cards_dropped: int = 0) -> None:
        self.tree = Tree(first=cards_dropped + 1)
        self.calls = Calls(self.tree, self._lane, self._moved)
        self.turn = Turn(max(0, turns_dropped))
        self.turns: list[Turn] = [self.turn]
        self.title = ""
        self.first_at = 0
        self.last_at = 0
        self._ends_recorded = False
        self._answer = Answer(self.tree, self._add)
        self._compactions: list[Card] = []
        self._collabs: dict[str, Card] = {}
        self._approvals = Approvals(self.tree, self._add, self._call, self._take_approval)
        self._last_notice: Card | None = None
        self._last_said: tuple[str, str | int] = ("", "")
        handlers: dict[Kind, Handler] = {
            Kind.TURN_STARTED: self._turn_started,
            Kind.TURN_DONE: self._turn_done,
            Kind.REASONING: self._answer.reasoning_delta,
            Kind.TEXT: self._answer.text_delta,
            Kind.MESSAGE: self._answer.whole_message,
            Kind.TOOL_DISPATCH: self._tool_dispatch,
            Kind.TOOL_PROGRESS: self._tool_progress,
            Kind.TOOL_RESULT: self._tool_result,
            Kind.USAGE: self._usage,
            Kind.NOTICE: self._notice,
            Kind.PHASE: self._row,
            Kind.STEER: self._row,
            Kind.PAUSED: self._row,
            Kind.RESUMED: self._row,
            Kind.RETRYING: self._retrying,
            Kind.COMPACTION_STARTED: self._compaction_started,
            Kind.COMPACTION_DONE: self._compaction_done,
            Kind.EXPERT_COLLAB: self._collab,
            Kind.APPROVAL_REQUEST: self._approvals.request,
            Kind.APPROVAL_ANSWER: self._approvals.answer,
        }
        self._handlers = _Handlers({kind.value: handle for kind, handle in handlers.items()})
        self._handlers.unknown = self._unknown

    # reading

    @property
    def cards(self) -> list[Card]:
        """The top-level cards in page order; nested ones are their `children`."""
        return self.tree.top

    def walk(self) -> Iterator[Card]:
        """Every card in page order, parents before their children."""
        return self.tree.walk()

    def card(self, card_id: str) -> Card | None:
        """The card with an id like `c42`, None if there is none."""
        return self.tree.find(card_id)

    def turn_of(self, card: Card) -> Turn:
        """The turn a card stands in."""
        return self.turns[card.turn - self.turns[0].number]

    def turn_before(self, card: Card) -> Turn:
        """The turn before the one a card stands in; the first there is has none but itself."""
        return self.turns[max(0, card.turn - self.turns[0].number - 1)]

    def longest_in(self, turn: Turn) -> ToolCard | None:
        """The call at the top that took longest of those in a turn, None while none has ended."""
        if turn.longest_is_stale:
            first = bisect_left(self.cards, turn.number, key=lambda card: card.turn)
            after: Iterator[Card] = islice(self.cards, first, None)
            mine: Iterator[Card] = takewhile(lambda card: card.turn == turn.number, after)
            turn.longest = longest_call(mine)
            turn.longest_ms = counted_ms(turn.longest) or 0 if turn.longest else 0
            turn.longest_is_stale = False
        return turn.longest

    def unfinished(self) -> list[Card]:
        """The cards whose look depends on whether the writer is alive."""
        cards: list[Card] = list(self.calls.open())
        cards += self.calls.lanes
        cards += (card for card in self._compactions if card.state == OPEN)
        cards += self._approvals.unanswered
        cards += self._answer.unfinished()
        return cards

    @property
    def is_unfinished(self) -> bool:
        """Whether the last turn has begun and its end was not recorded.

        Where no end of a turn is ever recorded (the Go program does not) what is still open
        tells.
        """
        if self._ends_recorded or self.last_at:
            return self.turn.prompt is not None and not self.turn.ended
        return any(card.state == OPEN and card.kind != "lane" for card in self.unfinished())

    # applying

    def apply(self, record: Record, place: Place | None = None) -> tuple[Change, ...]:
        """Add one record and return what it changes, in the order in which to change it.

        `place` says where the record lies; without it the cards keep the record itself.
        """
        changes: list[Change] = []
        self.tree.changes = changes
        try:
            if record.at:
                self._note_time(record.at)
            self._handlers[record.kind](record, record if place is None else place)
        finally:
            self.tree.changes = None
        return condensed(changes)

    def feed(self, record: Record, offset: int, length: int, line: int) -> None:
        """Add one record that lies at byte `offset`, `length` bytes long, on `line`.

        The quick way to open a file: does what `apply` does and names no changes.
        """
        if record.at:
            self._note_time(record.at)
        self._handlers[record.kind](record, Place(offset, length, line))

    def _note_time(self, at: int) -> None:
        self.last_at = at
        self.turn.last_at = at
        if not self.first_at:
            self.first_at = at

    def _add(
        self,
        kind: str,
        record: Record,
        part: Part,
        *,
        state: str | None = None,
        face: str = "",
        before: Card | None = None,
    ) -> Card:
        """A new top-level card at the end of its turn, in front of the turn's footer."""
        tree, turn = self.tree, self.turn
        number = tree.next_number
        card = Card(number, kind, turn.number, record.at, (part,), state=state, face=face)
        self._last_notice = None
        tree.add(card, before or turn.footer)
        return card

    # turns

    def _turn_started(self, record: Record, part: Part) -> None:
        self._answer.cut()
        if self.calls.any_open or self._compactions or self._approvals.unanswered:
            self._interrupt(self.calls.open_in_main_lane())
        text, at = record.text, record.at
        self.turn = turn = Turn(self.turn.number + 1, at, at)
        self.turns.append(turn)
        turn.prompt = self._add("prompt", record, part, face=first_line(text) if text else "")
        if text and not self.title:
            self.title = first_line(text, TITLE_CHARS)

    def _turn_done(self, record: Record, part: Part) -> None:
        turn = self.turn
        self._ends_recorded = True
        if record.level == INTERRUPTION:
            # The process died behind the end of its turn: only what went on there is over.
            self._answer.end(DONE)
            self._interrupt(self.calls.open())
            return
        turn.ended = True
        turn.ended_at = record.at
        turn.error = record.text or ("error" if record.level == "error" else "")
        died = turn.error == INTERRUPTION
        if turn.error:
            self._answer.cut()
        else:
            self._answer.end(DONE)
        calls = self.calls
        self._interrupt(calls.open() if died else calls.open_in_main_lane(), compactions=died)
        if turn.error:
            state = INTERRUPTED if died else FAILED
            self._add("turn_error", record, part, state=state, face=first_line(turn.error))
        if turn.footer is not None:
            self.tree.changed(turn.footer)

    def _interrupt(self, calls: list[ToolCard], *, compactions: bool = True) -> None:
        self._approvals.interrupt()
        for call in calls:
            self._settle(call, INTERRUPTED)
        for card in self._compactions if compactions else ():
            if card.state == OPEN:
                card.state = INTERRUPTED
                self.tree.changed(card)

    def _retrying(self, record: Record, part: Part) -> None:
        self._answer.cut()
        card = self._add("retry", record, part)
        if record.retry is not None:
            attempt, most = record.retry.attempt, record.retry.max
            card.face = f"attempt {attempt} of {most}" if most else f"attempt {attempt}"
        if record.text:
            card.face = ": ".join(filter(None, (card.face, first_line(record.text))))

    # tool calls

    def _tool_dispatch(self, record: Record, part: Part) -> None:
        tool = record.tool or _EMPTY
        if self._answer.reasoning is not None:
            self._answer.end_thought(record.at)
        key = args_key(record, tool.args)
        calls, card = self.calls, None
        if tool.id in calls.newest:
            card = calls.joined_by_dispatch(tool, key, self.turn.number)
        if card is None:
            self._dispatched(record, tool, part, key)
        else:
            self._dispatched_again(card, record, tool, part, key)

    def _dispatched(self, record: Record, tool: Tool, part: Part, key: int | None) -> None:
        args, shown_as = tool.args, tool_face(tool.name)
        nested = tool.parent_id or "/" in tool.id
        parent, note = self.calls.parent_of(tool) if nested else _AT_TOP
        card = ToolCard(
            self.tree.next_number,
            "tool",
            self.turn.number,
            record.at,
            state=OPEN,
            face=subject(record, shown_as, args) if args else "",
            call=tool.id,
            name=tool.name,
            tool_face=shown_as,
            parent_id=tool.parent_id,
            args_key=key,
            dispatch=part,
            background=runs_in_background(record, args),
            read_only=tool.read_only,
            note=note,
        )
        self._begin_call(card, parent)
        if tool.profile is not None:
            self._take_profile(card, tool.profile)
        if tool.file_diff is not None:
            self._take_diff(card, record, tool.file_diff, part)
        if parent is not None:
            self.tree.changed(card)

    def _dispatched_again(
        self, card: ToolCard, record: Record, tool: Tool, part: Part, key: int | None
    ) -> None:
        before = _time_in_tools(card)
        card.at = card.at or record.at
        if key is not None or card.dispatch is None:
            card.dispatch = part
            card.args_key = key
            if card.note == _UNDISPATCHED:
                card.note = ""
        self._describe(card, record, tool, part)
        self._count_time(card, before)
        self.tree.changed(card)

    def _undispatched(self, tool: Tool) -> ToolCard:
        """A new call of which a later record speaks first: when it began is not known."""
        parent, note = self.calls.parent_of(tool)
        card = ToolCard(
            self.tree.next_number,
            "tool",
            self.turn.number,
            state=OPEN,
            call=tool.id,
            parent_id=tool.parent_id,
            note=note or _UNDISPATCHED,
        )
        self._begin_call(card, parent)
        return card

    def _begin_call(self, card: ToolCard, parent: ToolCard | None) -> None:
        """Put a new call in its place and take it in."""
        turn = self.turn
        if parent is None:
            self._last_notice = None
            self.tree.add(card, turn.footer)
        else:
            self.tree.add(card, parent=parent)
        turn.calls += 1
        self.calls.opened(card)

    def _lane(self, call: str, parent: ToolCard) -> ToolCard:
        """A new card for a sub-agent that has no record of its own."""
        name = call.rpartition("/")[2]
        lane = ToolCard(
            self.tree.next_number,
            "lane",
            self.turn.number,
            state=OPEN,
            call=call,
            name=name,
            face=name,
            tool_face="agent",
        )
        self.tree.add(lane, parent=parent)
        return lane

    def _describe(
        self, card: ToolCard, record: Record, tool: Tool, part: Part, *, arguments: bool = True
    ) -> None:
        """Take over what a dispatch or result tells of its call; what it leaves out stays."""
        if card.kind == "lane":
            self.calls.becomes_call(card)
            self.turn_of(card).calls += 1
        if tool.name and tool.name != card.name:
            card.name = tool.name
            card.tool_face = tool_face(tool.name)
        if arguments and tool.args:
            card.face = subject(record, card.tool_face, tool.args)
            card.background = runs_in_background(record, tool.args)
        if tool.read_only:
            card.read_only = True
        if tool.profile is not None:
            self._take_profile(card, tool.profile)
        if tool.file_diff is not None:
            self._take_diff(card, record, tool.file_diff, part)
        if tool.parent_id and tool.parent_id != card.parent_id:
            self.calls.nest(card, tool.parent_id)
        turn = self.turn_of(card)
        if turn.longest is card and turn.footer is not None:
            self.tree.changed(turn.footer)

    def _take_profile(self, card: ToolCard, profile: Profile) -> None:
        card.model = profile.model
        card.effort = profile.effort

    def _take_diff(self, card: ToolCard, record: Record, diff: FileDiff, part: Part) -> None:
        turn = self.turn_of(card)
        turn.added += diff.added - card.added
        turn.removed += diff.removed - card.removed
        card.added = diff.added
        card.removed = diff.removed
        card.diff = part
        card.diff_lines = diff_lines(record, diff.diff)
        if card.tool_face == "other":
            card.tool_face = "edit"

    def _tool_progress(self, record: Record, part: Part) -> None:
        tool = record.tool or _EMPTY
        if not tool.output:
            return
        card = self.calls.target_of(tool.id, self.turn.number)
        if card is None:
            card = self._undispatched(tool)
        elif card.kind == "lane":
            self.calls.becomes_call(card)
            self.turn_of(card).calls += 1
        if card.result is not None and card.lines:
            return
        progress = card.progress
        if type(progress) is list:
            progress.append(part)
        else:
            card.progress = [*progress, part]
        if self.tree.changes is not None:
            self.tree.changed(card)

    def _tool_result(self, record: Record, part: Part) -> None:
        tool = record.tool or _EMPTY
        output = tool.output
        card = self.calls.target_of(tool.id, self.turn.number)
        if card is None:
            card = self._undispatched(tool)
        before = _time_in_tools(card) if card.result is not None else 0
        card.ended_at = record.at
        card.recorded_ms = tool.duration_ms
        if tool.args and card.dispatch is None:
            card.dispatch = part
            card.args_key = args_key(record, tool.args)
            self._describe(card, record, tool, part)
        elif _tells_more(tool, card):
            self._describe(card, record, tool, part, arguments=False)
        if output or not card.lines:
            # An empty result leaves the output that is there.
            card.result = part
            card.truncated = tool.truncated
        card.err = first_line(tool.err) if tool.err else ""
        card.attachments = files_named(record, tool) or card.attachments
        if output:
            if card.progress:
                card.progress = ()
            card.lines = output_lines(record, tool)
        elif type(card.progress) is list:
            card.progress = tuple(card.progress)
        fails = tool.err or output.startswith(_BAD_STARTS)
        self._settle(card, _bad_ending(tool.err, output) if fails else DONE)
        self._count_time(card, before)

    def _count_time(self, card: ToolCard, before: int) -> None:
        """Bring what its turn tells of times up to date; `before` is what the call added to the
        time in tools until now.
        """
        turn = self.turn_of(card)
        took = counted_ms(card) or 0
        added = (took if card.in_main_lane else 0) - before
        turn.tool_ms += added
        is_longest = self._compare(turn, card, took)
        if (is_longest or added) and turn.footer is not None:
            self.tree.changed(turn.footer)

    def _compare(self, turn: Turn, card: ToolCard, took: int) -> bool:
        """Compare a call with the longest of its turn; whether another may be that now."""
        longest, most = turn.longest, turn.longest_ms
        if turn.longest_is_stale:
            return True
        is_first = took == most and longest is not None and card.number < longest.number
        if card.parent is None and (took > most or is_first):
            turn.longest, turn.longest_ms = card, took
            return True
        # The one that was may be shorter now, or nested in another; it is looked for when asked.
        turn.longest_is_stale = card is longest
        return turn.longest_is_stale

    def _moved(self, card: ToolCard) -> None:
        """A call is nested in another than before."""
        self._count_time(card, _time_in_tools(card))

    def _settle(self, card: ToolCard, state: str) -> None:
        fault = self.calls.set_state(card, state)
        if fault:
            self.turn_of(card).errors += fault

    # everything else

    def _usage(self, record: Record, _: Part) -> None:
        usage = record.usage
        if usage is None or usage == _NO_USAGE:
            return
        turn, tree = self.turn, self.tree
        card = turn.footer
        if card is None:
            turn.footer = card = UsageCard(tree.next_number, "usage", turn.number, record.at)
            tree.add(card)
        else:
            tree.changed(card)
        if record.tool is not None and record.tool.id:
            self._count_tokens(record.tool.id, usage)
        card.requests += usage.steps <= 0 or _tokens_told(usage)
        card.steps += max(0, usage.steps)
        card.input += usage.input_tokens
        card.output += usage.output_tokens
        card.total += usage.total_tokens
        card.cached += usage.cache_read

    def _count_tokens(self, call: str, usage: Usage) -> None:
        """Count the tokens of a call's sub-agent, which are the turn's too."""
        card = self.calls.newest.get(call)
        if card is not None:
            whole = usage.total_tokens or usage.input_tokens + usage.output_tokens
            card.tokens = (card.tokens or 0) + whole
            self.tree.changed(card)

    def _call(self, call: str) -> ToolCard | None:
        """The call that a record with this id speaks of."""
        return self.calls.target_of(call, self.turn.number)

    def _take_approval(self, call: ToolCard, approval: Approval) -> None:
        before = _time_in_tools(call)
        call.approval = approval
        self._count_time(call, before)
        self.tree.changed(call)

    def _notice(self, record: Record, part: Part) -> None:
        said = (record.level, text_key(record))
        if self._last_notice is not None and self._last_said == said:
            card = self._last_notice
            card.count += 1
            card.ended_at = record.at
            self.tree.changed(card)
            return
        card = self._add("notice", record, part)
        card.face = first_line(record.text)
        card.level = record.level
        self._last_notice = card
        self._last_said = said

    def _row(self, record: Record, part: Part) -> None:
        self._add(record.kind, record, part).face = first_line(record.text)

    def _unknown(self, record: Record, part: Part) -> None:
        self._add("unknown", record, part).face = first_line(record.kind)

    def _compaction_started(self, record: Record, part: Part) -> None:
        card = self._add("compaction", record, part)
        card.state = OPEN
        card.count = 0
        card.face = record.compaction.trigger if record.compaction else ""
        self._compactions.append(card)

    def _compaction_done(self, record: Record, part: Part) -> None:
        done = record.compaction
        if self._compactions:
            card = self._compactions.pop()
            card.ended_at = record.at
        else:
            # How long it took is not told.
            card = self._add("compaction", record, part)
            card.count = 0
        card.state = DONE if done is not None and done.summary else ABORTED
        card.parts = (part,)
        self.turn_of(card).compactions += card.state == DONE
        if done is not None:
            card.count = done.messages
            card.face = done.trigger or card.face
        self.tree.changed(card)

    def _collab(self, record: Record, part: Part) -> None:
        summary = summarize_collab(record.collab)
        card = self._collabs.get(summary.run_id) if summary.run_id else None
        if card is None:
            card = self._add("collab", record, part)
        if summary.run_id:
            self._collabs[summary.run_id] = card
        card.face = summary.face
        card.count = summary.rounds
        card.parts = (part,)
        self.tree.changed(card)


def _tokens_told(usage: Usage) -> bool:
    """Whether it speaks of a model request; else it only counts steps."""
    return replace(usage, steps=0) != _NO_USAGE


def _time_in_tools(card: ToolCard) -> int:
    """What a call adds to the time its turn spent in tools that the agent waited for."""
    if card.result is None or not card.in_main_lane:
        return 0
    return counted_ms(card) or 0


def _tells_more(tool: Tool, card: ToolCard) -> bool:
    """Whether a result tells of its call what the dispatch did not; the usual one repeats it."""
    return (
        tool.name not in (card.name, "")
        or tool.file_diff is not None
        or tool.profile is not None
        or (tool.read_only and not card.read_only)
        or tool.parent_id not in ("", card.parent_id)
        or card.kind == "lane"
    )


def _bad_ending(err: str, output: str) -> str:
    blocked = err.startswith("blocked:") or output.startswith("blocked:")
    return BLOCKED if blocked else FAILED

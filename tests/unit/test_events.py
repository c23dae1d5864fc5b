from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from presentview.events import Event, EventKind, from_event
from presentview.records import (
    INT64_MAX,
    INT64_MIN,
    Attachment,
    Compaction,
    Extra,
    FileDiff,
    Kind,
    Profile,
    Record,
    Retry,
    Tool,
    Usage,
    decode,
    encode,
)
from presentview.salvage import read_pieces
from tests.strategies import events

TOOL = Tool(
    id="i",
    name="n",
    args="{}",
    output="o",
    err="e",
    read_only=True,
    truncated=True,
    duration_ms=7,
    parent_id="p",
    attachments=(Attachment("f", "image"),),
    profile=Profile("m", "high"),
    file_diff=FileDiff("d", 1, 2),
)
USAGE = Usage(1, 2, 3, 4)
COMPACTION = Compaction("auto", 5, "s", "a")


def event(kind: EventKind, **fields: Any) -> Event:
    """An event with every field filled, so that a field kept by mistake is seen."""
    everything: dict[str, Any] = {
        "text": "t",
        "reasoning": "r",
        "tool": TOOL,
        "usage": USAGE,
        "pricing": object(),
        "cache_diagnostics": object(),
        "session_hit": 1,
        "session_miss": 2,
        "level": "warn",
        "approval": object(),
        "ask": object(),
        "err": "boom",
        "compaction": COMPACTION,
        "retry_attempt": 1,
        "retry_max": 3,
        "collab": {"RunID": "x"},
        "partial": True,
        "at": 9,
    }
    return Event(kind=kind, **(everything | fields))


PROJECTION = {
    EventKind.TURN_STARTED: Record("turn_started"),
    EventKind.REASONING: Record("reasoning", "t"),
    EventKind.TEXT: Record("text", "t"),
    EventKind.MESSAGE: Record("message", "t", "r"),
    EventKind.TOOL_DISPATCH: Record("tool_dispatch", tool=TOOL),
    EventKind.TOOL_RESULT: Record("tool_result", tool=TOOL),
    EventKind.TOOL_PROGRESS: Record("tool_progress", tool=Tool(id="i", output="o")),
    EventKind.USAGE: Record("usage", usage=USAGE),
    EventKind.NOTICE: Record("notice", "t", level="warn"),
    EventKind.PHASE: Record("phase", "t"),
    EventKind.COMPACTION_STARTED: Record("compaction_started", compaction=Compaction("auto")),
    EventKind.COMPACTION_DONE: Record("compaction_done", compaction=COMPACTION),
    EventKind.RETRYING: Record("retrying", retry=Retry(1, 3)),
    EventKind.STEER: Record("steer", "t"),
    EventKind.PAUSED: Record("paused"),
    EventKind.RESUMED: Record("resumed"),
    EventKind.EXPERT_COLLAB: Record("expert_collab", collab={"RunID": "x"}),
    EventKind.APPROVAL_REQUEST: None,
    EventKind.ASK_REQUEST: None,
    EventKind.TURN_DONE: None,
    EventKind.MCP_SURFACE_READY: None,
    EventKind.APPROVAL_ANSWER: None,
}
EXTENDED = {
    EventKind.APPROVAL_REQUEST: Record("approval_request", "t", tool=Tool(id="i", name="n")),
    EventKind.APPROVAL_ANSWER: Record("approval_answer", "t", tool=Tool(id="i")),
    EventKind.USAGE: Record("usage", usage=USAGE, tool=Tool(id="i")),
    EventKind.TURN_STARTED: Record("turn_started", "t"),
    EventKind.TURN_DONE: Record("turn_done", "boom", level="error"),
}


def with_time(record: Record | None) -> Record | None:
    return decode(encode(record)[:-1] + b',"at":9}') if record else None


@pytest.mark.parametrize("kind", EventKind, ids=lambda kind: kind.name)
def test_without_extensions_an_event_is_projected_as_the_go_package_does(kind: EventKind) -> None:
    assert from_event(event(kind), extensions=False) == PROJECTION[kind]


@pytest.mark.parametrize("kind", EventKind, ids=lambda kind: kind.name)
def test_with_extensions_the_time_the_prompt_and_the_end_of_a_turn_are_kept(
    kind: EventKind,
) -> None:
    assert from_event(event(kind)) == with_time(EXTENDED.get(kind, PROJECTION[kind]))


def test_every_kind_of_record_comes_from_an_event() -> None:
    made = {record.kind for record in (PROJECTION | EXTENDED).values() if record is not None}
    assert made == set(Kind)


def test_the_kinds_of_event_are_numbered_as_in_go() -> None:
    ours = EventKind.APPROVAL_ANSWER
    assert [kind.value for kind in EventKind if kind != ours] == list(range(21))
    assert from_event(Event(kind=2, text="x")) == Record("text", "x")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [-1, 21, 999, "text", None])
def test_a_kind_that_nobody_knows_is_not_recorded(kind: Any) -> None:
    assert from_event(Event(kind=kind)) is None


# what an event leaves out

BARE = {
    EventKind.TURN_STARTED: b'{"kind":"turn_started"}',
    EventKind.TURN_DONE: b'{"kind":"turn_done"}',
    EventKind.TEXT: b'{"kind":"text"}',
    EventKind.MESSAGE: b'{"kind":"message"}',
    EventKind.TOOL_DISPATCH: b'{"kind":"tool_dispatch","tool":{}}',
    EventKind.TOOL_RESULT: b'{"kind":"tool_result","tool":{}}',
    EventKind.TOOL_PROGRESS: b'{"kind":"tool_progress","tool":{}}',
    EventKind.USAGE: b'{"kind":"usage"}',
    EventKind.NOTICE: b'{"kind":"notice","level":"info"}',
    EventKind.COMPACTION_STARTED: b'{"kind":"compaction_started","compaction":{}}',
    EventKind.COMPACTION_DONE: b'{"kind":"compaction_done","compaction":{}}',
    EventKind.RETRYING: b'{"kind":"retrying","retry":{"attempt":0}}',
    EventKind.EXPERT_COLLAB: b'{"kind":"expert_collab","collab":null}',
}


@pytest.mark.parametrize("kind", BARE, ids=lambda kind: kind.name)
def test_an_event_with_nothing_in_it_is_written_as_go_writes_it(kind: EventKind) -> None:
    record = from_event(Event(kind=kind))
    assert record is not None
    assert encode(record) == BARE[kind]


@pytest.mark.parametrize(
    ("diff", "kept"),
    [
        (None, None),
        (FileDiff(), None),
        (FileDiff("x"), FileDiff("x")),
        (FileDiff(added=1), FileDiff(added=1)),
        (FileDiff(removed=-1), FileDiff(removed=-1)),
    ],
)
def test_a_diff_is_recorded_if_it_says_anything(
    diff: FileDiff | None, kept: FileDiff | None
) -> None:
    record = from_event(Event(kind=EventKind.TOOL_DISPATCH, tool=Tool(file_diff=diff)))
    assert record == Record("tool_dispatch", tool=Tool(file_diff=kept))


@pytest.mark.parametrize(("cached", "kept"), [(0, 0), (5, 5), (-5, 0)])
def test_tokens_from_a_cache_are_recorded_if_there_are_any(cached: int, kept: int) -> None:
    record = from_event(Event(kind=EventKind.USAGE, usage=Usage(cache_read=cached)))
    assert record == Record("usage", usage=Usage(cache_read=kept))


@pytest.mark.parametrize(
    ("level", "kept"),
    [
        ("warn", "warn"),
        ("warning", "warn"),
        (1, "warn"),
        ("info", "info"),
        ("", "info"),
        (0, "info"),
    ],
)
def test_a_notice_warns_or_informs(level: Any, kept: str) -> None:
    record = from_event(Event(kind=EventKind.NOTICE, level=level))
    assert record == Record("notice", level=kept)


class Mute(Exception):
    """An error that cannot say what it is, and counts as false."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    def __bool__(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("err", "text"),
    [
        ("boom", "boom"),
        (ValueError("bad"), "bad"),
        (ValueError(), "ValueError"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (Mute(), "Mute"),
        (b"raw", "raw"),
        (7, "7"),
    ],
    ids=ascii,
)
def test_what_a_turn_failed_with_is_told(err: Any, text: str) -> None:
    record = from_event(Event(kind=EventKind.TURN_DONE, err=err))
    assert record == Record("turn_done", text, level="error")


@pytest.mark.parametrize("err", [None, ""])
def test_a_turn_that_did_not_fail_ends_without_a_word(err: str | None) -> None:
    assert from_event(Event(kind=EventKind.TURN_DONE, err=err, text="x")) == Record("turn_done")


def test_a_partial_dispatch_is_a_record_like_any_other() -> None:
    early = Event(kind=EventKind.TOOL_DISPATCH, tool=Tool(id="a", name="bash"), partial=True)
    assert from_event(early) == Record("tool_dispatch", tool=Tool(id="a", name="bash"))


def test_an_event_without_a_time_has_none_and_without_extensions_none_is_kept() -> None:
    assert from_event(Event(kind=EventKind.PHASE, text="x")) == Record("phase", "x")
    timed = Event(kind=EventKind.PHASE, text="x", at=5)
    assert from_event(timed) == Record("phase", "x", at=5)
    assert from_event(timed, extensions=False) == Record("phase", "x")


# whatever a program hands over

JUNK: tuple[Any, ...] = (
    None,
    b"\xff",
    bytearray(b"x"),
    -1,
    2**70,
    float("nan"),
    float("inf"),
    "\ud800",
    [],
    {},
    object(),
    Mute(),
    True,
)


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: type(junk).__name__)
@pytest.mark.parametrize("kind", EventKind, ids=lambda kind: kind.name)
def test_nothing_an_agent_puts_into_a_field_makes_it_raise(kind: EventKind, junk: Any) -> None:
    tool = Tool(
        id=junk,
        name=junk,
        args=junk,
        output=junk,
        err=junk,
        read_only=junk,
        truncated=junk,
        duration_ms=junk,
        parent_id=junk,
        attachments=[Attachment(junk, junk)],  # type: ignore[arg-type]
        profile=Profile(junk, junk),
        file_diff=FileDiff(junk, junk, junk),
    )
    handed = event(
        kind,
        text=junk,
        reasoning=junk,
        tool=tool,
        usage=Usage(junk, junk, junk, junk),
        level=junk,
        err=junk,
        compaction=Compaction(junk, junk, junk, junk),
        retry_attempt=junk,
        retry_max=junk,
        collab=junk,
        at=junk,
    )
    for extensions in (True, False):
        record = from_event(handed, extensions=extensions)
        if record is not None:
            line = encode(record)
            assert json.loads(line)["kind"] == record.kind
            assert b"\n" not in line


def test_numbers_too_large_are_held_to_64_bits() -> None:
    usage = Usage(2**70, -(2**70), "12", "many")  # type: ignore[arg-type]
    record = from_event(Event(kind=EventKind.USAGE, usage=usage))
    assert record == Record("usage", usage=Usage(INT64_MAX, INT64_MIN, 12, 0))


@pytest.mark.parametrize("attachments", [None, [], [Attachment("f")]], ids=ascii)
def test_attachments_may_be_none_or_a_list(attachments: Any) -> None:
    record = from_event(Event(kind=EventKind.TOOL_RESULT, tool=Tool(attachments=attachments)))
    assert record == Record("tool_result", tool=Tool(attachments=tuple(attachments or ())))


def test_keys_of_a_record_that_was_read_are_not_passed_on_as_an_event() -> None:
    tool = Tool(id="a", extra=Extra(x="1"), file_diff=FileDiff("d", extra=Extra(y="2")))
    record = from_event(Event(kind=EventKind.TOOL_DISPATCH, tool=tool))
    assert record == Record("tool_dispatch", tool=Tool(id="a", file_diff=FileDiff("d")))


@given(events())
def test_every_record_of_an_event_can_be_written_and_read_again(handed: Event) -> None:
    for extensions in (True, False):
        record = from_event(handed, extensions=extensions)
        if record is not None:
            (piece,) = read_pieces(encode(record))
            assert isinstance(piece.item, Record)
            assert piece.flaws == ()
            assert encode(piece.item) == encode(record)

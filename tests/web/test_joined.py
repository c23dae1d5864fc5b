"""The page of a session that is told by several files depends on what they hold alone.

Whatever the order in which they grew, and wherever they were torn meanwhile, a page that was live
the whole time shows what a page shows that is opened in the end.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presentview import lock, runlog
from presentview.eventlog import EventLog, ModelMessage, RunFinishData, ToolCall, TurnEndData
from presentview.eventlog import ToolResult as EventResult
from presentview.records import Header, Record, Tool, encode, encode_header
from presentview.sessions import SessionRef
from presentview.web.feeds import Feed
from tests.web.page_model import Page, everything


class Told(NamedTuple):
    """A turn: what was asked, called and answered, and whether a file tells it."""

    asked: str
    calls: tuple[str, ...]
    answered: str
    files: tuple[bool, bool, bool]


WORDS = st.sampled_from(["a", "b", "c"])
CALLS = st.lists(WORDS, max_size=2).map(tuple)
TURNS = st.lists(st.builds(Told, WORDS, CALLS, WORDS, st.tuples(*[st.booleans()] * 3)), max_size=5)
STEPS = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 600)), max_size=12)


def messages(path: Path, turns: Sequence[Told]) -> None:
    lines: list[dict[str, Any]] = [{"role": "system", "content": "be"}]
    for turn in turns:
        asked = [{"id": call, "name": "bash", "arguments": "{}"} for call in turn.calls]
        lines.append({"role": "user", "content": turn.asked})
        lines.append({"role": "assistant", "content": turn.answered, "tool_calls": asked})
        lines += ({"role": "tool", "content": "out", "tool_call_id": call} for call in turn.calls)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def run_log(path: Path, turns: Sequence[Told]) -> None:
    with runlog.create(path.parent, path.stem, runlog.Meta(task="t")) as log:
        for number, turn in enumerate(turns):
            log.message(runlog.Message("user", turn.asked))
            log.event(runlog.Event("iteration", iteration=number))
            for call in turn.calls:
                asked = runlog.Activity("request", call, "bash", "{}")
                log.message(runlog.Message("activity", activity=asked))
                answer = runlog.Activity("response", call, "bash", result="out")
                log.message(runlog.Message("activity", activity=answer))
            log.message(runlog.Message("bot", turn.answered))
        log.result(runlog.Result("settled", iterations=len(turns)))


def event_log(path: Path, turns: Sequence[Told]) -> None:
    log = EventLog.open(path, fsync="never")
    for turn in turns:
        log.append_turn_start("main")
        log.append_message("main", "user/message", ModelMessage.of("user", turn.asked))
        calls = tuple(ToolCall.of(call, "bash", {}) for call in turn.calls)
        said = ModelMessage.of("assistant", turn.answered)
        log.append_message("main", "assistant/message", said)
        for call in calls:
            log.append_tool_call("main", call)
            log.append_tool_result("main", EventResult(call.id, "bash", "out"))
        log.append_step_end("main", 0)
        log.append_turn_end("main", TurnEndData(1))
    log.append_run_finish("main", RunFinishData("completed"))


def sidecar(turns: Sequence[Told], file: int) -> bytes:
    lines = [encode_header(Header())]
    for number, turn in enumerate(turns):
        at = 1000 * number + file
        shown = [Record("turn_started", text="" if number % 2 else turn.asked, at=at)]
        for call in turn.calls:
            shown.append(Record("tool_dispatch", tool=Tool(call, "bash", "{}"), at=at))
            shown.append(Record("tool_result", tool=Tool(call, "bash", output="out"), at=at))
        shown.append(Record("message", text=turn.answered, at=at))
        lines += map(encode, shown)
    return b"".join(line + b"\n" for line in lines)


@pytest.mark.parametrize("write", [messages, run_log, event_log], ids=lambda f: f.__name__)
@settings(max_examples=15)
@given(turns=TURNS, steps=STEPS, recorder_is_dead=st.booleans())
def test_a_page_is_the_same_however_the_files_of_its_session_grew(
    tmp_path_factory: pytest.TempPathFactory,
    write: Any,
    turns: list[Told],
    steps: list[tuple[int, int]],
    recorder_is_dead: bool,
) -> None:
    folder = tmp_path_factory.mktemp("joined")
    told = [[turn for turn in turns if turn.files[file]] for file in range(3)]
    (folder / "made").mkdir()
    write(folder / "made" / "s.jsonl", told[0])
    paths = [folder / name for name in ("s.jsonl", "s.present.jsonl", "s.jsonl.present.jsonl")]
    wholes = [(folder / "made" / "s.jsonl").read_bytes(), sidecar(told[1], 1), sidecar(told[2], 2)]
    if not told[2]:
        wholes.pop()
    for path in paths[1:] if recorder_is_dead else ():
        lock.lock_path(path).touch()
    feed = Feed(SessionRef("5e551011", paths[0]), "live")
    feed.look()
    page = Page(everything(feed))
    sizes = [0] * len(wholes)
    for file, size in [*steps, *((file, 10**9) for file in range(len(wholes)))]:
        if file < len(wholes):
            sizes[file] += size
            paths[file].write_bytes(wholes[file][: sizes[file]])
        batch = feed.look()
        if batch is not None and not page.apply(batch):
            page.take(everything(feed))
    opened = Feed(SessionRef("5e551011", paths[0]), "opened")
    opened.look()
    fresh = Page(everything(opened))
    feed.follower.close()
    opened.follower.close()
    assert page.cards() == fresh.cards()
    assert page.html() == fresh.html()

"""Texts of five megabytes, and lists without end, in each place of a record that can hold one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from presentview import limits
from presentview.records import (
    Attachment,
    Compaction,
    FileDiff,
    Header,
    Kind,
    Profile,
    Record,
    Retry,
    Tool,
)
from presentview.sessions import SessionRef
from presentview.web.allowance import Allowance, cut_diff
from presentview.web.feeds import Feed
from tests.sidecars import write_session
from tests.web.page_model import everything

WORD = "w" * 5_000_000
MOST = 1_000_000  # characters of HTML


def call(
    name: str = "x",
    args: Any = None,
    *,
    profile: Profile | None = None,
    parent_id: str = "",
    **result: Any,
) -> list[Record]:
    text = args if isinstance(args, str) else json.dumps(args or {})
    tool = Tool(id="t", name=name, args=text, profile=profile, parent_id=parent_id)
    done = Tool(id="t", **result)
    return [Record(Kind.TOOL_DISPATCH, tool=tool), Record(Kind.TOOL_RESULT, tool=done)]


def compacted(**fields: Any) -> list[Record]:
    return [Record(Kind.COMPACTION_DONE, compaction=Compaction(messages=1, **fields))]


def collab(rounds: list[list[dict[str, str]]], word: str) -> list[Record]:
    keys = dict.fromkeys(("RunID", "TeamName", "Mode", "Task", "Synthesis"), word)
    return [Record(Kind.EXPERT_COLLAB, collab={**keys, "Rounds": rounds})]


DIFF = f"--- {WORD}\n+++ {WORD}\n@@ -1 +1 @@ {WORD}\n-{WORD}\n+{WORD}\n"
MANY_FILES = "".join(f"--- a/{n}\n+++ b/{n}\n@@ -1 +1 @@\n-a\n+b\n" for n in range(20_000))
SAID = {"ExpertName": WORD, "Text": WORD}

RECORDS: dict[str, Sequence[Record]] = {
    "prompt": [Record(Kind.TURN_STARTED, text=WORD)],
    "message": [Record(Kind.MESSAGE, text=WORD)],
    "reasoning": [Record(Kind.MESSAGE, reasoning=WORD)],
    "notice": [Record(Kind.NOTICE, text=WORD)],
    "level": [Record(Kind.NOTICE, text="x", level=WORD)],
    "phase": [Record(Kind.PHASE, text=WORD)],
    "steer": [Record(Kind.STEER, text=WORD)],
    "retry": [Record(Kind.RETRYING, text=WORD, level=WORD, retry=Retry(1, 2))],
    "kind": [Record(WORD, text=WORD)],
    "end of turn": [Record(Kind.TURN_DONE, text=WORD, level=WORD)],
    "tool name": call(WORD),
    "arguments that are no JSON": call("x", WORD),
    "argument": call("x", {WORD: WORD}),
    "command": call("bash", {"command": WORD}),
    "path and edit": call("edit", {"path": WORD, "old_string": WORD, "new_string": "x"}),
    "task": call("task", {"prompt": WORD}),
    "to-do": call("todo_write", {"todos": [{"content": WORD, "status": WORD}]}),
    "output": call("bash", output=WORD),
    "answer": call("task", output=WORD),
    "error": call("bash", err=WORD),
    "error beside output": call("bash", output="y", err=WORD),
    "diff": call("edit", file_diff=FileDiff(DIFF)),
    "attachment": call(attachments=(Attachment(WORD, "image"), Attachment(WORD, WORD))),
    "model": call("task", profile=Profile(WORD, WORD)),
    "parent": call(parent_id=WORD),
    "call id": [Record(Kind.TOOL_DISPATCH, tool=Tool(id=WORD + "/a", name="x"))],
    "trigger": compacted(trigger=WORD),
    "summary": compacted(summary=WORD),
    "archive": compacted(archive=WORD),
    "collab": collab([[SAID]], WORD),
    "many experts": collab([[{"ExpertName": "a", "Text": "b"}] * 50] * 1000, "x"),
    "many to-dos": call("todo_write", {"todos": [{"content": "x"}] * 10_000}),
    "many attachments": call(attachments=(Attachment("a"),) * 50_000),
    "many files in a diff": call("edit", file_diff=FileDiff(MANY_FILES)),
}


def opened(folder: Path, records: Sequence[Record], header: Header) -> Feed:
    feed = Feed(SessionRef("5e551011", write_session(folder, records, header)), "epoch")
    feed.look()
    return feed


def pieces(feed: Feed) -> Iterator[str]:
    """All that a browser can be given of a session."""
    yield from everything(feed).regions.values()
    for card in feed.transcript.walk():
        yield feed.renderer.body(card)


@pytest.mark.parametrize("what", RECORDS)
def test_no_field_makes_a_page_too_large_for_a_browser(tmp_path: Path, what: str) -> None:
    feed = opened(tmp_path, RECORDS[what], Header())
    sizes = [len(piece) for piece in pieces(feed)]
    feed.follower.close()
    assert len(sizes) > 4
    assert max(sizes) < MOST


@pytest.mark.parametrize(
    "header", [Header(workspace=f"/{WORD}"), Header(writer=WORD)], ids=["workspace", "writer"]
)
def test_no_header_does_either(tmp_path: Path, header: Header) -> None:
    feed = opened(tmp_path, [], header)
    assert max(len(piece) for piece in pieces(feed)) < MOST
    feed.follower.close()


@pytest.mark.parametrize(
    ("what", "word"),
    [
        ("argument", "more characters in"),
        ("error", "more characters in"),
        ("diff", "more characters in"),
        ("collab", "more characters in"),
        ("archive", "more characters in"),
        ("summary", "download>"),
        ("output", "download>"),
        ("many attachments", "49,900 more files"),
    ],
)
def test_a_body_says_what_it_leaves_out(tmp_path: Path, what: str, word: str) -> None:
    feed = opened(tmp_path, RECORDS[what], Header())
    assert any(word in piece for piece in pieces(feed))
    feed.follower.close()


def test_an_allowance_is_given_out_in_order() -> None:
    room = Allowance(5)
    assert [room.take("abc"), room.take("def"), room.take("g")] == ["abc", "de", ""]
    assert room.cut == 2


def test_a_diff_is_cut_at_the_ends_of_its_lines() -> None:
    assert cut_diff("-a\n+b\n") == "-a\n+b\n"
    line = "+" + "x" * limits.DIFF_LINE_CHARS
    assert cut_diff(f"-a\n{line}\n b") == f"-a\n{line[:-1]}…\n b"
    whole = cut_diff("+12345678\n" * limits.DIFF_CHARS)
    assert len(whole) <= limits.DIFF_CHARS
    assert set(whole.splitlines()) == {"+12345678"}
    assert whole.endswith("\n")

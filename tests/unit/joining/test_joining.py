"""A sidecar and the message list beside it are one transcript, joined by what they contain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.follow import Follower
from presentview.records import Compaction, Record, Tool, encode
from presentview.sessionfiles import follow


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str, *calls: str) -> dict[str, Any]:
    asked = [{"id": call, "name": "bash", "arguments": "{}"} for call in calls]
    return {"role": "assistant", "content": text, **({"tool_calls": asked} if asked else {})}


def output(call: str) -> dict[str, Any]:
    return {"role": "tool", "content": "out", "tool_call_id": call, "name": "bash"}


def began(text: str = "") -> Record:
    return Record("turn_started", text=text)


def said(text: str) -> Record:
    return Record("message", text=text)


def call(number: str) -> list[Record]:
    return [
        Record("tool_dispatch", tool=Tool(number, "bash", "{}")),
        Record("tool_result", tool=Tool(number, "bash", output="out", duration_ms=5)),
    ]


def write(folder: Path, records: Sequence[Record], messages: Sequence[dict[str, Any]]) -> Path:
    header = '{"kind":"_header"}\n'
    sidecar = header.encode() + b"".join(encode(record) + b"\n" for record in records)
    (folder / "s.jsonl.present.jsonl").write_bytes(sidecar)
    session = folder / "s.jsonl"
    session.write_text("".join(json.dumps(message) + "\n" for message in messages))
    return session


def told(session: Path) -> list[tuple[int, str, str]]:
    """The turn, kind and face (of a message its text) of each card."""
    follower = follow(session)
    follower.refresh()
    found = []
    for card in follower.transcript.walk():
        face = card.face
        if card.kind == "message":
            record = follower.record(card.parts[0])
            face = record.text if record else ""
        found.append((card.turn, card.kind, face))
    follower.close()
    return found


def prompts(session: Path) -> list[str]:
    return [face for _, kind, face in told(session) if kind == "prompt"]


def plain(session: Path) -> int:
    return sum(face.startswith("Only in s.jsonl") for _, _, face in told(session))


def test_a_turn_gets_the_prompt_whose_answer_it_holds(tmp_path: Path) -> None:
    session = write(
        tmp_path,
        [began(), said("one"), began(), *call("a"), began(), said("three")],
        [user("p1"), answer("one"), user("p2"), answer("", "a"), output("a"), user("p3"),
         answer("three")],
    )  # fmt: skip
    assert prompts(session) == ["p1", "p2", "p3"]
    assert plain(session) == 0


def test_the_prompt_a_sidecar_recorded_itself_wins(tmp_path: Path) -> None:
    session = write(tmp_path, [began("mine"), said("one")], [user("theirs"), answer("one")])
    assert prompts(session) == ["mine"]


def test_call_ids_that_are_used_again_in_each_turn_are_told_apart_by_occurrence(
    tmp_path: Path,
) -> None:
    turns = [began(), *call("c0"), began(), *call("c0")]
    messages = [user("p1"), answer("", "c0"), output("c0"), user("p2"), answer("", "c0")]
    assert prompts(write(tmp_path, turns, messages)) == ["p1", "p2"]


def test_what_only_the_messages_tell_stands_in_front_as_a_plain_turn(tmp_path: Path) -> None:
    session = write(
        tmp_path,
        [began(), said("two")],
        [user("p1"), answer("one", "x"), output("x"), user("p2"), answer("two")],
    )
    assert prompts(session) == ["p1", "p2"]
    found = told(session)
    assert found[1][2] == "Only in s.jsonl: times, notices, diffs and sub-agents were not recorded"
    assert (1, "message", "one") in found
    assert (2, "message", "two") in found


def test_turns_that_only_the_sidecar_tells_stay(tmp_path: Path) -> None:
    session = write(
        tmp_path,
        [began(), said("gone from the messages"), began(), said("two")],
        [user("<compaction-summary>short</compaction-summary>"), user("p2"), answer("two")],
    )
    assert prompts(session) == ["", "p2"]
    assert (1, "message", "gone from the messages") in told(session)


def test_prompts_are_given_out_between_two_anchors_only_where_there_is_no_choice(
    tmp_path: Path,
) -> None:
    ends = [began(), said("one")], [began(), said("four")]
    between = [began(), Record("notice", text="x"), began(), Record("notice", text="y")]
    messages = [user("p1"), answer("one"), user("p2"), user("p3"), user("p4"), answer("four")]
    assert prompts(write(tmp_path, [*ends[0], *between, *ends[1]], messages)) == [
        *("p1", "p2", "p3", "p4")
    ]
    fewer = write(tmp_path, [*ends[0], *between[:2], *ends[1]], messages)
    assert prompts(fewer) == ["p1", "", "p4"]
    rows = [face for _, kind, face in told(fewer) if kind == "notice"]
    assert rows[1:] == [f"Asked in a turn that cannot be told: {p}" for p in ("p2", "p3")]


def test_a_steer_is_no_prompt(tmp_path: Path) -> None:
    session = write(
        tmp_path,
        [began(), said("one"), Record("steer", text="faster"), said("more"), began(), said("two")],
        [user("p1"), answer("one"), user("faster"), answer("more"), user("p2"), answer("two")],
    )
    assert prompts(session) == ["p1", "p2"]
    assert plain(session) == 0


def test_words_that_were_said_as_a_prompt_and_as_a_steer_are_told_apart(tmp_path: Path) -> None:
    session = write(
        tmp_path,
        [began(), said("one"), Record("steer", text="go on"), said("two"), began(), said("three")],
        [user("p1"), answer("one"), user("go on"), answer("two"), user("go on"), answer("three")],
    )
    assert prompts(session) == ["p1", "go on"]


def test_a_summary_that_both_tell_is_shown_once(tmp_path: Path) -> None:
    done = Record("compaction_done", compaction=Compaction("auto", 9, "short"))
    session = write(
        tmp_path,
        [done, began(), said("two")],
        [user("<compaction-summary>\nshort\n</compaction-summary>"), user("p2"), answer("two")],
    )
    assert [kind for _, kind, _ in told(session)] == ["compaction", "prompt", "message"]


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_torn_message_list_costs_only_what_is_torn(tmp_path: Path, cut: int) -> None:
    session = write(
        tmp_path, [began(), said("one")], [user("p1"), answer("one"), user("p2"), answer("two")]
    )
    session.write_bytes(session.read_bytes()[:-cut])
    found = told(session)
    assert [face for _, kind, face in found if kind == "prompt"] == ["p1", "p2"]
    assert (1, "message", "one") in found


WORDS = st.sampled_from(["a", "b", "c", "d"])
TURN = st.tuples(WORDS, st.lists(WORDS, max_size=2), st.booleans(), st.booleans())


@given(turns=st.lists(TURN, max_size=6), steps=st.data())
def test_the_transcript_does_not_depend_on_the_order_in_which_the_files_grew(
    tmp_path_factory: pytest.TempPathFactory,
    turns: list[tuple[str, list[str], bool, bool]],
    steps: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("joined")
    records: list[bytes] = [b'{"kind":"_header"}\n']
    messages: list[bytes] = []
    for number, (text, calls, in_sidecar, in_messages) in enumerate(turns):
        answers = [answer(text, *calls), *(output(one) for one in calls)]
        if in_sidecar:
            shown = [began("" if number % 2 else text), said(text)]
            shown += [record for one in calls for record in call(one)]
            records += [encode(record) + b"\n" for record in shown]
        if in_messages:
            messages += [json.dumps(m).encode() + b"\n" for m in (user(text), *answers)]
    session, sidecar = folder / "s.jsonl", folder / "s.present.jsonl"
    session.write_bytes(b"".join(messages[:1]))
    sidecar.write_bytes(records[0])
    if not messages:
        return
    with follow(session) as live:
        live.refresh()
        shown_records, shown_messages = 1, 1
        while (shown_records, shown_messages) != (len(records), len(messages)):
            grows = shown_messages == len(messages) or (
                shown_records < len(records) and steps.draw(st.booleans())
            )
            if grows:
                shown_records += 1
                sidecar.write_bytes(b"".join(records[:shown_records]))
            else:
                shown_messages += 1
                session.write_bytes(b"".join(messages[:shown_messages]))
            live.refresh()
        with follow(session) as opened:
            opened.refresh()
            assert seen(live) == seen(opened)


def seen(follower: Follower) -> list[tuple[object, ...]]:
    cards = follower.transcript.walk()
    return [(c.id, c.turn, c.kind, c.face, c.state, c.parent) for c in cards]

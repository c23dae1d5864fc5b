"""The command that prints what a model would be given to go on with a run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from presentview.cli import main
from presentview.eventlog import (
    CompactionData,
    EventLog,
    EventType,
    ModelMessage,
    ToolCall,
    ToolResult,
    index_messages,
    load,
)

SUMMARY = ModelMessage.of("user", "so far")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    log = EventLog.open(tmp_path / "s.jsonl")
    log.append_message("a", EventType.USER_MESSAGE, ModelMessage.of("user", "forgotten"))
    log.append_compaction("a", CompactionData(before_seq=1, summary=SUMMARY, kind="summary"))
    calls = (ToolCall.of("c1", "read", {"path": "a"}), ToolCall.of("c2", "write", {}))
    message = ModelMessage("assistant", ModelMessage.of("", "one\ntwo").content, calls)
    log.append_message("a", EventType.ASSISTANT_MESSAGE, message)
    log.append_tool_result("a", ToolResult("c1", "read", "\n".join(map(str, range(20)))))
    log.append_message("b", EventType.USER_MESSAGE, ModelMessage.of("user", "\x1b[31mred\u202e"))
    return log.store.path


def test_messages_are_printed_for_people(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = path.read_bytes()
    assert main(["resume-messages", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines() == [
        "user  (event 2)",
        "    so far",
        "assistant  (event 3)",
        "    one",
        "    two",
        '    → read {"path":"a"}  [c1]',
        "    → write {}  [c2]  (interrupted)",
        "tool  (event 4)",
        "    ← read  [c1]",
        *(f"        {n}" for n in range(12)),
        "        … 8 more lines",
        "user  (event 5)",
        "    red<U+202E>",
    ]
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_repairing_answers_the_calls_in_what_is_printed_only(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = path.read_bytes()
    assert main(["resume-messages", str(path), "--repair"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "(interrupted)" not in "".join(lines)
    place = lines.index("    ← write  [c2]")
    assert lines[place - 1] == "tool  (event 3)"
    assert lines[place + 1].startswith("        interrupted: ")
    assert lines[place + 2] == "user  (event 5)"
    assert path.read_bytes() == before


def test_the_document_holds_the_messages_as_the_file_spells_them(
    path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["resume-messages", str(path), "--json"]) == 0
    document = json.loads(capsysbinary.readouterr().out)
    assert set(document) == {"messages", "problems"}
    assert document["problems"] == []
    assert [each["seq"] for each in document["messages"]] == [2, 3, 4, 5]
    assert [each["interrupted"] for each in document["messages"]] == [[], ["c2"], [], []]
    assert [each["turn_start"] for each in document["messages"]] == [False, False, False, True]
    indexed = index_messages(load(path).events)
    assert [each["logical_chars"] for each in document["messages"]] == [
        each.logical_chars for each in indexed
    ]
    assert document["messages"][1]["message"] == {
        "Role": "assistant",
        "Content": [{"type": "text", "text": "one\ntwo"}],
        "ToolCalls": [
            {"ID": "c1", "Name": "read", "Input": {"path": "a"}},
            {"ID": "c2", "Name": "write", "Input": {}},
        ],
        "ToolResults": None,
    }
    assert main(["resume-messages", str(path), "--json", "--repair"]) == 0
    repaired = json.loads(capsysbinary.readouterr().out)["messages"]
    assert [each["interrupted"] for each in repaired] == [[]] * 5
    assert repaired[3]["message"]["ToolResults"][0]["Audit"] == {"decision": "interrupted"}


def test_what_could_not_be_read_is_named_and_makes_the_exit_code_one(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with path.open("ab") as file:
        file.write(b"bad\x1b]0;title\x07\n")
    assert main(["resume-messages", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out.count("(event ") == 4
    assert err.startswith(f"{path}:6:")
    assert "\x1b" not in err
    assert main(["resume-messages", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"][0]["line"] == 6


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no session event log"),
        (b"text\n", "is no session event log"),
        (b'{"kind":"_header"}\n{"kind":"text","text":"a"}\n', "is no session event log"),
        (b'{"type":"user","sessionId":"x","uuid":"y"}\n', "is no session event log"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_file_that_is_no_event_log_cannot_be_resumed(
    content: bytes | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert main(["resume-messages", str(path)]) == 2
    out, err = capsys.readouterr()
    assert (out, said in err) == ("", True)
    assert main(["resume-messages", str(tmp_path)]) == 2

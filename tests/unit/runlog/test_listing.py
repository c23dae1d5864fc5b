"""The runs of a folder: every one is there, in order, and said of it is what loading would say."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview import limits
from presentview.errors import LogAmbiguous, LogError, LogNotFound
from presentview.runlog import (
    Activity,
    Message,
    Meta,
    Recorder,
    Result,
    answered,
    chain,
    create,
    entry_of,
    list_runs,
    load,
    resolve,
    resume,
    start,
    unanswered,
)
from presentview.runlog import listing as listing_module
from tests.unit.runlog.logs import EVENT, LINES, META, RESULT, SAID

NOW = datetime(2026, 8, 21, 2, 4, 5, tzinfo=UTC)
ODD = (
    RESULT.replace(b'"result"', rb'"res\u0075lt"', 1),
    RESULT.replace(b'"kind":"result"', b'"kind" : "result" '),
    SAID.replace(b'"a"', b'"\\"result\\" or not"'),
    META.replace(b'"a"', b'"b"'),
    META[:70],
    RESULT[:90],
    b"null",
    b"noise",
    b"",
)


def ids(folder: Path) -> list[str]:
    return [entry.id for entry in list_runs(folder)]


@given(
    st.lists(st.sampled_from((*LINES, *ODD)), max_size=8),
    st.sampled_from([40, 300, limits.RUN_TAIL_BYTES]),
    st.sampled_from([16, 64, limits.FIND_CHUNK]),
    st.integers(0, 60),
    st.booleans(),
)
def test_a_list_says_what_loading_says(
    lines: list[bytes], tail: int, chunk: int, cut: int, padded: bool
) -> None:
    content = b"\n".join((*lines, b""))
    if padded:
        content = content.replace(b'"text":"ok"', b'"text":"%s"' % (b"x" * 500))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(listing_module, "RUN_TAIL_BYTES", tail)
        patch.setattr(listing_module, "FIND_CHUNK", chunk)
        path = Path(folder, "run.jsonl")
        path.write_bytes(content[: len(content) - cut])
        assert list_runs(folder) == [entry_of(path, load(path))]


def test_of_a_long_log_the_head_and_the_tail_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = SAID.replace(b'"a"', b'"%s"' % (b"x" * 3_000))
    whole = b"\n".join((META, *[long] * 400, RESULT, b""))
    for number in range(20):
        (tmp_path / f"run-{number}.jsonl").write_bytes(whole)
    read: list[int] = []
    pread = os.pread

    def counted(fd: int, length: int, offset: int) -> bytes:
        read.append(length)
        return pread(fd, length, offset)

    monkeypatch.setattr(os, "pread", counted)
    monkeypatch.setattr(listing_module, "load", None)
    entries = list_runs(tmp_path)
    assert {(entry.task, entry.reason) for entry in entries} == {("<fix>", "settled")}
    assert sum(read) == 20 * limits.RUN_TAIL_BYTES


def test_a_start_is_told_by_the_record_the_id_or_the_file(tmp_path: Path) -> None:
    create(tmp_path, "20200101-000000", Meta(), now=NOW)
    (tmp_path / "20260821-020404.jsonl").write_bytes(EVENT)
    (tmp_path / "other.jsonl").write_bytes(b"")
    os.utime(tmp_path / "other.jsonl", ns=(0, 5_000_000_000))
    found = [(each.id, each.started, each.started_by) for each in list_runs(tmp_path)]
    assert found == [
        ("20200101-000000", NOW, "meta"),
        ("20260821-020404", NOW - timedelta(seconds=1), "id"),
        ("other", datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC), "mtime"),
    ]


def test_a_log_that_cannot_be_read_hides_neither_itself_nor_others(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(META + b"\n" + RESULT)
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "noise.jsonl").write_bytes(b"\0\xff{" * 50)
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "a.present.jsonl").write_bytes(b'{"kind":"_header"}\n')
    (tmp_path / "a.txt").write_bytes(b"")
    (tmp_path / "long.jsonl").write_bytes(SAID.replace(b'"a"', b'"%s"' % (b"x" * 17_000_000)))
    entries = {entry.id: entry for entry in list_runs(tmp_path)}
    assert sorted(entries) == ["a", "long", "loop", "noise", "pipe"]
    assert {key for key, entry in entries.items() if entry.unreadable} == {"loop", "pipe"}
    assert (entries["a"].reason, entries["a"].duration_ms) == ("settled", 5_000)


def test_a_folder_that_is_not_there_has_no_runs(tmp_path: Path) -> None:
    assert list_runs(tmp_path / "nowhere") == []
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(LogError):
        list_runs(tmp_path / "file")


def test_a_run_is_found_by_what_is_said_of_it(tmp_path: Path) -> None:
    first = start(tmp_path, Meta(), NOW)
    second = start(tmp_path, Meta(), NOW)
    other = start(tmp_path, Meta(), NOW - timedelta(days=1))
    for ref, meant in {
        "last": second,
        " last\n": second,
        first.id: first,
        first.id + ".jsonl": first,
        second.id: second,
        "20260820": other,
        str(first.path): first,
    }.items():
        assert resolve(tmp_path, ref) == meant.path
    with pytest.raises(LogAmbiguous) as raised:
        resolve(tmp_path, "20260821")
    assert raised.value.candidates == (second.id, first.id)
    assert second.id in str(raised.value)


@pytest.mark.parametrize("ref", ["", " ", "nope", "./nope/x", "/\0", ".jsonl", "..", "last"])
def test_what_means_no_run_is_an_error(ref: str, tmp_path: Path) -> None:
    with pytest.raises(LogNotFound):
        resolve(tmp_path / "nowhere", ref)
    (tmp_path / "a.jsonl").write_bytes(b"")
    if ref != "last":
        with pytest.raises(LogNotFound):
            resolve(tmp_path, ref)


def test_a_resumed_run_has_the_messages_and_says_where_they_are_from(tmp_path: Path) -> None:
    old = start(tmp_path, Meta(task="t", model="m"), NOW)
    old.message(Message("user", "gone"))
    old.reset()
    said = [
        Message("user", "a"),
        Message("activity", "", Activity("response", "c", result={"n": 2**63 + 1, "f": 1.5})),
    ]
    for each in said:
        old.message(each)
    before = old.path.read_bytes()
    new = resume(tmp_path, "last", now=NOW)
    recorder = Recorder(new)
    recorder.sync([*said, Message("bot", "b")])
    recorder.record_result(Result("settled"))
    found = load(new.path)
    assert (found.meta.task, found.meta.model, found.meta.id) == ("t", "m", new.id)
    assert found.meta.resumed_from == old.id
    assert found.messages == (*said, Message("bot", "b"))
    assert new.path.read_bytes().count(b"\n") == 5
    assert old.path.read_bytes() == before
    third = resume(tmp_path, new.id, meta=Meta(task="other"))
    assert load(third.path).meta.task == "other"
    assert [link.id for link in chain(tmp_path, third.id)] == [third.id, new.id, old.id]


@pytest.mark.parametrize(
    ("links", "found"),
    [
        ({"a": "b", "b": "c", "c": ""}, [("a", ""), ("b", ""), ("c", "")]),
        ({"a": "b", "b": "a"}, [("a", ""), ("b", ""), ("a", "cycle")]),
        ({"a": "a"}, [("a", ""), ("a", "cycle")]),
        ({"a": "b"}, [("a", ""), ("b", "missing")]),
        ({"a": "../a"}, [("a", ""), ("../a", "missing")]),
        ({"a": "last"}, [("a", ""), ("last", "missing")]),
    ],
)
def test_a_chain_ends_where_it_must(
    links: dict[str, str], found: list[tuple[str, str]], tmp_path: Path
) -> None:
    for run_id, before in links.items():
        create(tmp_path, run_id, Meta(resumed_from=before))
    assert [(link.id, link.broken) for link in chain(tmp_path, "a")] == found


def test_calls_without_a_response_are_found_and_answered() -> None:
    def call(kind: str, run_id: str) -> Message:
        return Message("activity", "", Activity(kind, run_id, "shell", "{}"))

    messages = [
        call("request", "1"),
        call("request", "2"),
        call("response", "1"),
        Message("user", "a"),
        call("request", "1"),
        call("response", "9"),
    ]
    assert unanswered(messages) == [1, 4]
    whole = answered(messages)
    assert unanswered(whole) == []
    order = [each.activity.id if each.activity else "" for each in whole]
    assert order == ["1", "2", "1", "2", "", "1", "9", "1"]
    failures = [each for each in whole if each.activity and each.activity.failure]
    assert all(
        each.activity.failure.startswith("interrupted") for each in failures if each.activity
    )
    assert len(failures) == 2
    assert answered([]) == []


def test_the_example_of_the_package_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from presentview import runlog

    assert runlog.__doc__ is not None
    example = "".join(
        line[4:] + "\n" for line in runlog.__doc__.splitlines() if line.startswith("    ")
    )
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "runlog", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [
        "True ['Fix the build', 'Done.']",
        "['Fix the build']",
    ]

"""Where a session has two sidecars, the one that tells of later is shown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from presentview.follow import What
from presentview.records import Record, encode
from presentview.sessionfiles import follow
from presentview.sidecar import Found
from presentview.twosidecars import shown_sidecar
from tests.sidecars import write_sidecar


def said(text: str, at: int = 0) -> Record:
    return Record("message", text=text, at=at)


@pytest.fixture
def names(tmp_path: Path) -> tuple[Path, Path]:
    """The documented name and the Go program's."""
    return tmp_path / "s.present.jsonl", tmp_path / "s.jsonl.present.jsonl"


def texts(session: Path) -> list[str]:
    with follow(session) as follower:
        follower.refresh()
        records = [follower.record(card.parts[0]) for card in follower.transcript.walk()]
        return [record.text for record in records if record is not None]


@pytest.mark.parametrize(
    ("documented", "other", "other_is_shown"),
    [
        ([said("a", 5)], [said("b", 6)], True),
        ([said("a", 6)], [said("b", 5)], False),
        ([said("a", 5)], [said("b", 5)], False),
        ([said("a")], [said("b")], False),
        ([said("a")], [said("b", 1)], True),
        ([], [said("b")], True),
        ([said("a")], [], False),
        ([said("a", 9), said("a2", 3)], [said("b", 1), said("b2", 4)], True),
        ([said("a", 9)], [said("x" * 300_000, 10)], True),
    ],
    ids=[
        "later", "earlier", "the same time", "no times", "only one has times", "one is empty",
        "the other is empty", "only the last record counts", "a long last record",
    ],
)  # fmt: skip
def test_of_two_the_one_with_the_later_last_record_is_shown(
    names: tuple[Path, Path],
    documented: Sequence[Record],
    other: Sequence[Record],
    other_is_shown: bool,
) -> None:
    for mine, theirs in zip((0, 1), (1, 0), strict=True):
        # Whichever was written last.
        write_sidecar(names[mine], (documented, other)[mine])
        write_sidecar(names[theirs], (documented, other)[theirs])
        found = shown_sidecar(names[0].with_name("s.jsonl"))
        assert found == (Found(names[1], names[0]) if other_is_shown else Found(*names))


def test_what_is_torn_or_damaged_is_no_last_record(names: tuple[Path, Path]) -> None:
    write_sidecar(names[0], [said("a", 5)])
    write_sidecar(names[1], [said("b", 4)])
    with names[1].open("ab") as file:
        file.write(b"\xff\xfe garbage\n\n" + encode(said("c", 9))[:-4])
    assert shown_sidecar(names[0].with_name("s.jsonl")).path == names[0]
    with names[1].open("ab") as file:
        file.write(b"at\n" + encode(said("d", 8)))
    assert shown_sidecar(names[0].with_name("s.jsonl")).path == names[1]


@pytest.mark.parametrize("with_messages", [False, True], ids=["alone", "with messages"])
def test_the_sidecar_that_is_not_shown_is_named(
    names: tuple[Path, Path], with_messages: bool
) -> None:
    session = names[0].with_name("s.jsonl")
    write_sidecar(names[0], [said("a", 5)])
    write_sidecar(names[1], [said("b", 6)])
    if with_messages:
        session.write_text('{"role":"assistant","content":"b"}\n')
    assert texts(session) == ["b"]
    with follow(session) as follower:
        follower.refresh()
        (note,) = follower.notes
        assert "s.jsonl.present.jsonl is shown, s.present.jsonl is not" in note
        assert not follower.problems


def test_a_page_changes_over_when_the_other_one_goes_further(names: tuple[Path, Path]) -> None:
    session = names[0].with_name("s.jsonl")
    write_sidecar(names[0], [said("a", 5)])
    write_sidecar(names[1], [said("b", 4)])
    with follow(session) as follower:
        follower.refresh()
        assert follower.path == names[0]
        with names[1].open("ab") as file:
            file.write(encode(said("c", 6)) + b"\n")
        assert follower.refresh().what is What.RESET
        assert follower.path == names[1]
        os.unlink(names[1])
        follower.refresh()
        assert follower.path == names[0]
        assert follower.notes == ()

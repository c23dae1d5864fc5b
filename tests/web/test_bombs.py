"""Lines made to take all the time and memory there is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from presentview.records import Kind, Record, encode
from presentview.sessions import SessionRef
from presentview.web.feeds import Feed
from tests.web.page_model import everything

MIB = 1024 * 1024
MOST = 1_000_000  # characters of HTML

_RESULT = b'{"kind":"tool_result","tool":{"id":"t","output":"'
_COLLAB = b'{"kind":"expert_collab","collab":'

# What each makes a line of for a number of bytes, and a word of how it is named; "" for what is
# no damage.
BOMBS: dict[str, tuple[Callable[[int], bytes], str]] = {
    "one word": (lambda n: _RESULT + b"w" * n + b'"}}', ""),
    "lines": (lambda n: _RESULT + b"word\\n" * (n // 6) + b'"}}', ""),
    "escapes": (lambda n: _RESULT + b"\\u00e9" * (n // 6) + b'"}}', ""),
    "emoji": (lambda n: _RESULT + "😀".encode() * (n // 4) + b'"}}', ""),
    "empty arrays": (lambda n: _COLLAB + b"[" + b"[]," * (n // 20) + b"[]]}", ""),
    "depth": (lambda n: _COLLAB + b"[" * (n // 20) + b"]" * (n // 20) + b"}", "too deep"),
    "digits": (
        lambda n: b'{"kind":"usage","usage":{"inputTokens":' + b"9" * (n // 200) + b"}}",
        "not a 64-bit integer",
    ),
    "zeros": (lambda n: b"\0" * n, "NUL bytes"),
    "no JSON": (lambda n: b"x" * n, "not a JSON object"),
    "no end": (lambda n: b'{"kind":"notice","text":"' + b"w" * n, "cut off"),
    "keys": (lambda n: b'{"kind":"notice",' + b'"a":1,' * (n // 400) + b'"b":1}', ""),
    "wrong type": (lambda n: b'{"kind":"notice","text":["' + b"w" * n + b'"]}', "not a string"),
}


def show(folder: Path, bomb: str, size: int) -> None:
    """Draw all of a session with a bomb between two records."""
    make, named = BOMBS[bomb]
    before, after = (Record(Kind.NOTICE, text=text) for text in ("before", "after"))
    lines = [b'{"kind":"_header"}', encode(before), make(size), encode(after)]
    (folder / "s.present.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    feed = Feed(SessionRef("5e551011", folder / "s.jsonl"), "epoch")
    feed.look()
    shown = everything(feed).regions
    assert "before" in shown["cards"]
    assert "after" in shown["cards"]
    if named:
        assert any(named in problem.reason for problem in feed.follower.problems)
    else:
        assert feed.follower.problems == ()
    for card in feed.transcript.walk():
        assert len(feed.renderer.body(card)) < MOST
    assert max(map(len, shown.values())) < MOST
    feed.follower.close()


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_line_of_two_megabytes_takes_nothing_from_the_others(tmp_path: Path, bomb: str) -> None:
    show(tmp_path, bomb, 2 * MIB)


@pytest.mark.soak
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_line_of_a_hundred_megabytes_takes_nothing_from_the_others(
    tmp_path: Path, bomb: str
) -> None:
    show(tmp_path, bomb, 100 * MIB)

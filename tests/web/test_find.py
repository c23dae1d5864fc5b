from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from presentview import Recorder
from presentview.follow import Follower
from presentview.limits import FIND_CHUNK, FIND_HITS, FIND_QUERY_CHARS
from presentview.records import (
    Attachment,
    Compaction,
    FileDiff,
    Header,
    Kind,
    Profile,
    Record,
    Tool,
    encode,
    encode_header,
)
from presentview.transcript.cards import Card, places_of
from presentview.web.find import Found, find
from presentview.web.hits import Hit
from presentview.web.needle import Needle
from presentview.web.owners import Owners
from presentview.web.shown import shown_texts
from tests.random_session import random_events
from tests.strategies import sessions
from tests.web.asking import BEARER, Serving, ask, assert_sealed

NEEDLE = "xq-needle"
FOLLOWED: list[Follower] = []


def write(folder: Path, lines: Iterable[Record | bytes]) -> Follower:
    data = [line if isinstance(line, bytes) else encode(line) for line in lines]
    (folder / "s.present.jsonl").write_bytes(b"".join(line + b"\n" for line in data))
    return followed(folder)


def followed(folder: Path) -> Follower:
    follower = Follower(folder / "s.jsonl")
    follower.refresh()
    FOLLOWED.append(follower)
    return follower


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while FOLLOWED:
        FOLLOWED.pop().close()


def hits(
    follower: Follower, query: str, *, seconds: float = 60, most: int = FIND_HITS
) -> list[Hit]:
    """All hits, answer by answer; a card that is found again later is named once."""
    found: dict[str, Hit] = {}
    start: int | None = 0
    while start is not None:
        answer = find(follower, query, start, seconds=seconds, most=most)
        assert answer.next is None or answer.next > start, "it goes on"
        for hit in answer.hits:
            found.setdefault(hit.card.id, hit)
        start = answer.next
    return list(found.values())


def ids(follower: Follower, query: str) -> list[str]:
    return [hit.card.id for hit in hits(follower, query)]


def dispatch(call: str, name: str = "bash", args: object = None, **more: object) -> Record:
    text = args if isinstance(args, str) else json.dumps(args if args is not None else {})
    return Record(Kind.TOOL_DISPATCH, tool=Tool(id=call, name=name, args=text, **more))  # type: ignore[arg-type]


def result(call: str, output: str = "ok", **more: object) -> Record:
    return Record(Kind.TOOL_RESULT, tool=Tool(id=call, output=output, **more))  # type: ignore[arg-type]


def turn(text: str = "go") -> Record:
    return Record(Kind.TURN_STARTED, text=text)


DIFF = f"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+{NEEDLE}\n"
SHOWN: dict[str, list[Record]] = {
    "prompt": [turn(NEEDLE)],
    "answer": [turn(), Record(Kind.MESSAGE, text=f"see {NEEDLE}")],
    "answer that was cut off": [turn(), Record(Kind.TEXT, text=f"I {NEEDLE}")],
    "thought": [turn(), Record(Kind.MESSAGE, text="x", reasoning=f"hm {NEEDLE}")],
    "thought that was cut off": [turn(), Record(Kind.REASONING, text=NEEDLE)],
    "notice": [Record(Kind.NOTICE, text=NEEDLE, level="warn")],
    "phase": [Record(Kind.PHASE, text=NEEDLE)],
    "steer": [Record(Kind.STEER, text=NEEDLE)],
    "error of a turn": [turn(), Record(Kind.TURN_DONE, text=NEEDLE, level="error")],
    "command": [dispatch("a", args={"command": f'echo "{NEEDLE}"'})],
    "command as a list": [dispatch("a", args={"command": ["echo", NEEDLE]})],
    "path": [dispatch("a", "read_file", {"path": f"src/{NEEDLE}.py"})],
    "key of an argument": [dispatch("a", "my_tool", {NEEDLE: 1})],
    "arguments cut off": [dispatch("a", "my_tool", '{"x":"' + NEEDLE)],
    "name of a tool": [dispatch("a", NEEDLE)],
    "to-do": [dispatch("a", "todo_write", {"todos": [{"content": NEEDLE, "status": "done"}]})],
    "task": [dispatch("a", "task", {"description": "d", "prompt": f"do {NEEDLE}"})],
    "edit without a diff": [dispatch("a", "edit", {"path": "p", "old_string": NEEDLE})],
    "diff": [dispatch("a", "edit", {"path": "p"}, file_diff=FileDiff(DIFF, 1, 1))],
    "output": [dispatch("a"), result("a", f"one\ntwo {NEEDLE}\n")],
    "output in colours": [dispatch("a"), result("a", f"\x1b[31m{NEEDLE}\x1b[0m")],
    "output so far": [dispatch("a"), Record(Kind.TOOL_PROGRESS, tool=Tool(id="a", output=NEEDLE))],
    "error of a call": [dispatch("a"), result("a", err=NEEDLE)],
    "attachment": [dispatch("a"), result("a", attachments=(Attachment(NEEDLE, "image"),))],
    "model": [dispatch("a", "task", profile=Profile(NEEDLE, "high"))],
    "summary": [Record(Kind.COMPACTION_DONE, compaction=Compaction("auto", 4, NEEDLE))],
    "archive": [Record(Kind.COMPACTION_DONE, compaction=Compaction("auto", 4, "s", NEEDLE))],
    "expert": [Record(Kind.EXPERT_COLLAB, collab={"task": "t", "rounds": [[{"text": NEEDLE}]]})],
    "collab of no known shape": [Record(Kind.EXPERT_COLLAB, collab={"odd": NEEDLE})],
    "unknown kind": [Record(NEEDLE)],
    "text of an unknown kind": [Record("future", text=NEEDLE)],
}


@pytest.mark.parametrize("records", SHOWN.values(), ids=SHOWN)
def test_what_a_card_shows_is_found(tmp_path: Path, records: list[Record]) -> None:
    follower = write(tmp_path, [turn("first"), *records, Record(Kind.NOTICE, text="last")])
    (hit,) = hits(follower, NEEDLE)
    assert hit.match == NEEDLE
    assert hits(follower, NEEDLE.upper()) == []
    assert follower.transcript.card(hit.card.id) is hit.card


STRUCTURE = [
    *("kind", "turn_started", "tool_dispatch", "tool_result", "_header", "output", "readOnly"),
    *("callid-7", "durationMs", "31m", "args", "rewriteVersion", "dispatch", "u003c", "path", "at"),
]


@pytest.mark.parametrize("query", STRUCTURE)
def test_what_keeps_the_file_together_is_not_found(tmp_path: Path, query: str) -> None:
    records = [
        turn("go <on>"),
        dispatch("callid-7", "read_file", {"path": "x.py"}, read_only=True),
        result("callid-7", "\x1b[31mred\x1b[0m <b>", duration_ms=5),
        Record(Kind.MESSAGE, text="done", reasoning="hm", at=5),
    ]
    follower = write(tmp_path, [encode_header(Header(rewrite_version=2)), *records])
    assert hits(follower, query) == []


SPELLINGS: list[tuple[str, str, str]] = [
    ("what Go escapes", "<b>&amp;</b>", "see <b>&amp;</b>!"),
    ("quotes", 'say "hi"', 'I say "hi" now'),
    ("backslashes", "C:\\new\\table", "in C:\\new\\table there"),
    ("only a quote", '"', 'a "b'),
    ("only a backslash", "\\", "a\\b"),
    ("only an escape", "<", "a<b"),
    ("a slash", "a/b", "x a/b"),
    ("accents", "naïve", "so naïve"),
    ("Chinese", "文件", "打开文件夹"),
    ("beyond the first plane", "😀", "so 😀!"),
    ("mixed", "é 文 x", "an é 文 x"),
    ("a line separator", "a\u2028b", "xa\u2028by"),
    ("a line break", "two\nlines", "two\nlines"),
    ("small for capital", "hello", "HeLLo"),
    ("capital letter", "Hello", "Hello hello"),
    ("spaces around", " a ", "is a thing"),
    ("a control character", "\x07", "a\x07b"),
]


@pytest.mark.parametrize("ascii_only", [False, True], ids=["as Go spells it", "all escaped"])
@pytest.mark.parametrize(
    ("query", "text"), [row[1:] for row in SPELLINGS], ids=[row[0] for row in SPELLINGS]
)
def test_a_text_is_found_however_it_is_spelled(
    tmp_path: Path, query: str, text: str, ascii_only: bool
) -> None:
    def spelled(record: Record) -> bytes:
        line = encode(record)
        return json.dumps(json.loads(line)).encode() if ascii_only else line

    args = json.dumps({"command": text}, ensure_ascii=ascii_only)
    lines = [Record(Kind.TURN_STARTED, text=text), dispatch("a", args=args), result("a", text)]
    follower = write(tmp_path, map(spelled, lines))
    assert ids(follower, query) == ["c1", "c2"]
    (first, call) = hits(follower, query)
    assert first.count == Needle(query).count(text)
    # The command, and its output.
    assert call.count == 2 * first.count or "\x07" in query


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("zebra", ["Zebra", "ZEBRA", "zeBra", "zebra"]),
        ("Zebra", ["Zebra"]),
        ("éa", ["éa", "éA"]),
        ("ÉA", ["ÉA"]),
    ],
)
def test_capitals_count_where_the_query_has_one(
    tmp_path: Path, query: str, texts: list[str]
) -> None:
    said = ["Zebra", "ZEBRA", "zeBra", "zebra", "éa", "éA", "Éa", "ÉA", "zebr"]
    follower = write(tmp_path, [turn(text) for text in said])
    assert [hit.card.face for hit in hits(follower, query)] == [t for t in said if t in texts]


@pytest.mark.parametrize("shift", [*range(-30, 30)])
def test_what_lies_across_the_border_of_two_chunks_is_found(tmp_path: Path, shift: int) -> None:
    before = len(encode(Record(Kind.NOTICE, text="")))
    filling = Record(Kind.NOTICE, text="x" * (FIND_CHUNK - before + shift))
    end = Record(Kind.NOTICE, text="y" * 2 * FIND_CHUNK + NEEDLE + "y" * 5)
    follower = write(tmp_path, [filling, Record(Kind.NOTICE, text=NEEDLE), end])
    assert ids(follower, NEEDLE) == ["c2", "c3"]


@pytest.mark.parametrize("size", [*range(FIND_CHUNK - 12, FIND_CHUNK + 3)])
def test_what_lies_across_a_border_in_a_long_line_is_found(tmp_path: Path, size: int) -> None:
    before = len(b'{"kind":"notice","text":"')
    text = "x" * (size - before) + NEEDLE + "x" * FIND_CHUNK
    assert ids(write(tmp_path, [Record(Kind.NOTICE, text=text)]), NEEDLE) == ["c1"]


def test_pieces_that_an_answer_covers_are_not_found_twice(tmp_path: Path) -> None:
    lines = [
        turn(),
        Record(Kind.TEXT, text=f"first {NEEDLE}"),
        Record(Kind.TEXT, text="taken back"),
        Record(Kind.MESSAGE, text=f"first {NEEDLE} and last"),
        dispatch("a"),
        Record(Kind.TOOL_PROGRESS, tool=Tool(id="a", output=f"{NEEDLE}\n")),
        result("a", f"{NEEDLE}\nmore"),
    ]
    follower = write(tmp_path, lines)
    assert [(hit.card.kind, hit.count) for hit in hits(follower, NEEDLE)] == [
        ("message", 1),
        ("tool", 1),
    ]
    assert hits(follower, "taken back") == []


def test_a_thought_and_an_answer_of_one_record_are_two_cards(tmp_path: Path) -> None:
    both = Record(Kind.MESSAGE, text=f"I say {NEEDLE}", reasoning=f"to say {NEEDLE}")
    follower = write(tmp_path, [turn(), both])
    assert {hit.card.kind: hit.before for hit in hits(follower, NEEDLE)} == {
        "reasoning": "to say ",
        "message": "I say ",
    }


def test_what_came_in_a_later_turn_is_found_with_its_card(tmp_path: Path) -> None:
    lines = [
        turn(),
        dispatch("far", args={"command": "x", "run_in_background": True}),
        Record(Kind.COMPACTION_STARTED, compaction=Compaction("auto")),
        Record(Kind.EXPERT_COLLAB, collab={"runId": "r", "task": "t"}),
        *(record for n in range(60) for record in (turn(), dispatch(f"n{n}"), result(f"n{n}"))),
        Record(Kind.EXPERT_COLLAB, collab={"runId": "r", "task": "t", "synthesis": NEEDLE}),
        Record(Kind.COMPACTION_DONE, compaction=Compaction("auto", 4, NEEDLE)),
        result("far", NEEDLE),
    ]
    follower = write(tmp_path, lines)
    assert ids(follower, NEEDLE) == ["c4", "c3", "c2"]


def test_nested_calls_are_found_by_their_own_cards(tmp_path: Path) -> None:
    lines = [turn(), dispatch("t", "task"), dispatch("t/a"), result("t/a", NEEDLE), result("t")]
    (hit,) = hits(write(tmp_path, lines), NEEDLE)
    assert hit.card.parent is not None
    assert hit.card.id == "c3"


def test_hits_come_in_parts_that_follow_each_other(tmp_path: Path) -> None:
    follower = write(tmp_path, [turn(f"{NEEDLE} {n}") for n in range(3 * FIND_HITS + 7)])
    answers: list[Found] = [find(follower, NEEDLE, seconds=60)]
    while (following := answers[-1].next) is not None:
        answers.append(find(follower, NEEDLE, following, seconds=60))
    assert [len(answer.hits) for answer in answers if answer.hits] == [50, 50, 50, 7]
    cards = [hit.card.number for answer in answers for hit in answer.hits]
    assert cards == [*range(1, 3 * FIND_HITS + 8)]
    shares = [answer.share for answer in answers]
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_search_without_time_comes_to_its_end_all_the_same(tmp_path: Path) -> None:
    lines = [turn("x" * 200 + NEEDLE) for _ in range(400)]
    follower = write(tmp_path, [*lines, Record(Kind.NOTICE, text="z" * 3 * FIND_CHUNK + NEEDLE)])
    for query in (NEEDLE, "kind", "z"):
        assert hits(follower, query, seconds=-1) == pytest.approx(hits(follower, query))


@pytest.mark.parametrize("query", ["", " ", "\t\n", "x" * (FIND_QUERY_CHARS + 1)])
def test_what_is_no_query_is_found_nowhere(tmp_path: Path, query: str) -> None:
    follower = write(tmp_path, [turn("x" * 500 + " \t\n")])
    assert find(follower, query) == Found()


@pytest.mark.parametrize("start", [1, 7, 10**6, 10**14])
def test_a_search_may_begin_anywhere(tmp_path: Path, start: int) -> None:
    follower = write(tmp_path, [turn(NEEDLE), turn(NEEDLE)])
    assert len(find(follower, NEEDLE, start).hits) <= 2


def test_a_session_without_a_file_has_no_hits(tmp_path: Path) -> None:
    follower = followed(tmp_path)
    assert find(follower, NEEDLE) == Found()


def test_damaged_lines_and_several_records_in_one_are_passed(tmp_path: Path) -> None:
    two = encode(turn("one")) + encode(turn(NEEDLE)) + b" torn " + encode(turn(f"3 {NEEDLE}"))
    lines: list[Record | bytes] = [
        b"{broken " + NEEDLE.encode(),
        two,
        b"\xff" + NEEDLE.encode(),
        turn(f"4 {NEEDLE}"),
    ]
    follower = write(tmp_path, lines)
    assert [hit.card.face for hit in hits(follower, NEEDLE)] == [
        card.face for card in follower.transcript.walk() if NEEDLE in card.face
    ]
    assert len(hits(follower, NEEDLE)) == 3


def test_a_file_that_was_replaced_by_one_that_goes_on_is_searched_in_the_same_places(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.present.jsonl"
    records = [turn("one"), turn(NEEDLE)]
    for versions in ((1, 1234567), (1234567, 1)):
        headers = [encode_header(Header(rewrite_version=version)) for version in versions]
        follower = write(tmp_path, [headers[0], *records])
        new = path.with_suffix(".new")
        lines = [headers[1], *map(encode, [*records, turn(f"3 {NEEDLE}")])]
        new.write_bytes(b"".join(line + b"\n" for line in lines))
        os.replace(new, path)
        follower.refresh()
        assert ids(follower, NEEDLE) == ["c2", "c3"]


def test_a_snippet_is_one_short_line_without_what_is_not_seen(tmp_path: Path) -> None:
    text = "a\n\n b\t" * 100 + f"\u202e{NEEDLE}\x00" + "c\r\n" * 100
    (hit,) = hits(write(tmp_path, [turn(text)]), NEEDLE)
    assert len(hit.before) <= 61
    assert len(hit.after) <= 121
    assert hit.before[0] == "…" == hit.after[-1]
    assert not re.search(r"[\n\t\r\x00\u202e]|  ", hit.before + hit.match + hit.after)


# Whatever a session holds


def _expected(follower: Follower, query: str) -> set[str]:
    """The cards that are found when each record of each card is read."""
    needle = Needle(query)

    def shows(card: Card) -> bool:
        return any(
            needle.count(text)
            for place in places_of(card)
            if (record := follower.record(place)) is not None
            for text in shown_texts(card, place, record, follower.raw)
        )

    return {card.id for card in follower.transcript.walk() if shows(card)}


def _words(follower: Follower) -> Iterator[str]:
    for card in follower.transcript.walk():
        for place in places_of(card):
            record = follower.record(place)
            for text in shown_texts(card, place, record, follower.raw) if record else ():
                yield text[:FIND_QUERY_CHARS]
                yield text[len(text) // 3 : len(text) // 3 + 5]


@pytest.mark.parametrize("seed", range(3))
def test_everything_that_is_shown_is_found(tmp_path: Path, seed: int) -> None:
    with Recorder.open(tmp_path / "s.jsonl", fsync="never", drop_deltas=False) as recorder:
        for event in random_events(seed, 400):
            recorder.append(event)
    follower = followed(tmp_path)
    for word in {"tool", "e", "test", *[w for w in _words(follower) if w.strip()][::7]}:
        assert set(ids(follower, word)) == _expected(follower, word), word


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(records=sessions(), data=st.data())
@example(records=[turn("\ud800")], data=None)
def test_every_text_of_every_session_is_found(
    tmp_path: Path, records: Sequence[Record], data: st.DataObject | None
) -> None:
    follower = write(tmp_path, records)
    words = sorted({word for word in _words(follower) if word.strip()})
    query = data.draw(st.sampled_from(words)) if data and words else "\ufffd"
    assert set(ids(follower, query)) == _expected(follower, query)
    owners = Owners(follower.transcript)
    for card in follower.transcript.walk():
        for place in places_of(card):
            assert card in [owned.card for owned in owners.at(place.offset)]
            assert card in [owned.card for owned in owners.at(place.offset + place.length - 1)]
    follower.close()


def test_a_collab_that_is_shown_as_it_stands_is_found_by_all_of_it(tmp_path: Path) -> None:
    follower = write(tmp_path, [Record(Kind.NOTICE), Record(Kind.EXPERT_COLLAB)])
    assert ids(follower, '"expert_c') == ["c2"]
    follower.close()


# The address


class Asked(Serving):
    """The address of a folder's session, behind its guard."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder.resolve())
        self.address = f"{self.page}/find"


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    asked = Asked(tmp_path)
    yield asked
    asked.close()


HOSTILE = ["<script>alert(1)</script>", "{{7*7}}", "%00", "%ff%fe", '"onfocus="x', "a%0d%0ab: c"]


def test_the_address_tells_scripts_where_a_text_stands(tmp_path: Path, asked: Asked) -> None:
    write(tmp_path, [turn(), dispatch("a", args={"command": "ls"}), result("a", f"1 {NEEDLE} 2")])
    answer = ask(asked.guard, f"{asked.address}?q={NEEDLE}")
    found = json.loads(answer.body)
    assert found.pop("pos")
    assert found == {
        "hits": [
            {
                "card": "c2",
                "turn": 1,
                "label": "Shell",
                "subject": "ls",
                "count": 1,
                "before": "1 ",
                "match": NEEDLE,
                "after": " 2",
            }
        ],
        "next": None,
        "share": 1.0,
    }
    for odd in ("x", "-1", "1" * 40, "%D9%A3"):
        assert json.loads(ask(asked.guard, f"{asked.address}?q={NEEDLE}&from={odd}").body)["hits"]


@pytest.mark.parametrize("query", HOSTILE)
@pytest.mark.parametrize("accept", ["text/html", "*/*"])
def test_queries_and_what_they_find_are_text(
    tmp_path: Path, asked: Asked, query: str, accept: str
) -> None:
    lines = [turn('<script>alert(1)</script> {{7*7}} "onfocus="x'), result("<b>", "<b>x")]
    write(tmp_path, lines)
    for text in (query, "%3Cb%3E", "x" * 5000):
        answer = ask(asked.guard, f"{asked.address}?q={text}", [BEARER, ("Accept", accept)])
        assert answer.status == 200
        assert_sealed(answer)
        if accept == "text/html":
            assert "<script>alert" not in answer.text
            assert '"onfocus="x' not in answer.text


def test_a_browser_without_scripts_gets_a_page_of_links(tmp_path: Path, asked: Asked) -> None:
    write(tmp_path, [turn(f"{NEEDLE} {n}") for n in range(60)])
    accept = ("Accept", "text/html,application/xhtml+xml")
    page = ask(asked.guard, f"{asked.address}?q={quote(NEEDLE)}", [BEARER, accept]).text
    session = asked.address.split("/")[2]
    links = re.findall(rf'href="/s/{session}\?at=(c\d+)#\1"', page)
    assert links == [f"c{n}" for n in range(1, len(links) + 1)]
    assert links
    assert f"<mark>{NEEDLE}</mark>" in page
    following = re.search(r'href="(\?q=[^"]+)">go on', page)
    if following is not None:  # on a slow machine the first answer may end earlier
        address = asked.address + following[1].replace("&amp;", "&")
        assert f"at=c{len(links) + 1}#" in ask(asked.guard, address, [BEARER, accept]).text
    nowhere = ask(asked.guard, f"{asked.address}?q=nowhere-at-all", [BEARER, accept]).text
    assert "Nothing more was found" in nowhere

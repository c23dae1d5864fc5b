from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from presentview.records import FileDiff, Header, Kind, Record, Tool
from tests.browser.conftest import Serve, Server, page_of, settled
from tests.browser.payloads import PAYLOADS, UNSEEN, hostile_records, hostile_session
from tests.browser.watching import Watcher, assert_tame, assert_upright, open_everything
from tests.sidecars import write_session

SHARES = [PAYLOADS[start::6] for start in range(6)]
# A page of each share takes a quarter of a minute: one of them is always looked at, whichever way a
# change went, and all of them in the long run.
SHARE_RUNS = [
    share if share == 0 else pytest.param(share, marks=pytest.mark.soak)
    for share in range(len(SHARES))
]


@pytest.fixture
def watcher(context: BrowserContext, server: Server) -> Watcher:
    return Watcher(context, server)


def call(name: str, output: str = "", diff: str = "", **arguments: str) -> list[Record]:
    """The records of a finished call."""
    tool = Tool(id=f"{name}{len(output)}", name=name, args=json.dumps(arguments))
    changed = FileDiff(diff=diff) if diff else None
    done = Tool(id=tool.id, output=output, file_diff=changed)
    return [Record(Kind.TOOL_DISPATCH, tool=tool), Record(Kind.TOOL_RESULT, tool=done)]


def test_there_are_many_payloads() -> None:
    assert len(PAYLOADS) >= 400
    assert len(set(PAYLOADS)) == len(PAYLOADS)


def as_shown(text: str) -> str:
    """A text as an HTML document can hold it."""
    text = text.replace("\r\n", "\n")
    return "".join(
        "\ufffd" if char == "\0" or "\ud800" <= char <= "\udfff" else char for char in text
    )


def in_json(payloads: Sequence[str]) -> list[str]:
    """Those that JSON can hold: arguments with others are shown as they stand."""
    return [text for text in payloads if not any("\ud800" <= char <= "\udfff" for char in text)]


@pytest.mark.parametrize("share", SHARE_RUNS)
def test_a_hostile_session_is_only_text(
    server: Server, folder: Path, page: Page, watcher: Watcher, share: int
) -> None:
    payloads = SHARES[share]
    (folder / "s.present.jsonl").write_bytes(hostile_session(payloads))
    here = page_of(folder / "s.jsonl")
    page.goto(server.url(f"{here}?all"))
    expect(page.locator("#cards .card[data-kind=prompt]")).to_have_count(len(payloads))
    open_everything(page)
    assert_tame(page)
    assert_upright(page)
    commands = page.evaluate(
        "() => [...document.querySelectorAll('pre.command')].map((pre) => pre.textContent)"
    )
    assert commands == [as_shown(text) for text in in_json(payloads[::2])]
    lines = (folder / "s.present.jsonl").read_bytes().count(b"\n")
    for path in (f"/raw?line={lines - 199}", "/changes"):
        page.goto(server.url(here + path))
        assert_tame(page)
        assert_upright(page)
    watcher.assert_quiet()


def test_cards_alone_are_only_text(
    server: Server, folder: Path, page: Page, watcher: Watcher
) -> None:
    cards = 13
    (folder / "s.present.jsonl").write_bytes(hostile_session(PAYLOADS[:: len(PAYLOADS) // cards]))
    here = page_of(folder / "s.jsonl")
    for number in range(cards):  # another of its cards in each turn
        page.goto(server.url(f"{here}/card/c{cards * number + number + 1}"))
        expect(page.locator(".card.opened")).to_be_attached()
        assert_tame(page)
    watcher.assert_quiet()


def test_the_list_of_hostile_sessions_is_only_text(
    serve: Serve, tmp_path: Path, page: Page, context: BrowserContext
) -> None:
    for number, evil in enumerate(PAYLOADS):
        folder = tmp_path / str(number)
        folder.mkdir()
        records = list(hostile_records(evil, 0))[:2]
        write_session(folder, records, Header(workspace=f"/w/{evil}"))
    server = serve(tmp_path)
    watcher = Watcher(context, server)
    page.goto(server.url("/"))
    expect(page.locator("#sessions .session").first).to_be_visible()
    assert_tame(page)
    assert_upright(page)
    watcher.assert_quiet()


def test_a_hostile_session_is_only_text_while_it_is_written_too(
    server: Server, folder: Path, page: Page, watcher: Watcher
) -> None:
    sidecar = folder / "s.present.jsonl"
    lines = hostile_session(PAYLOADS[::12]).splitlines(keepends=True)
    sidecar.write_bytes(lines[0])
    page.goto(server.url(page_of(folder / "s.jsonl")))
    settled(page)
    for line in lines[1:250]:
        with open(sidecar, "ab") as file:
            file.write(line)
    expect(page.locator("#outline > li").nth(8)).to_be_attached()
    assert_tame(page)
    watcher.assert_quiet()


# Much of it

WORD = "w" * 5_000_000


def test_words_of_five_megabytes_leave_the_page_as_it_is(
    server: Server, folder: Path, page: Page, watcher: Watcher
) -> None:
    diff = f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{WORD}\n+{WORD}\n"
    records = [
        Record(Kind.TURN_STARTED, text=WORD),
        Record(Kind.MESSAGE, text=WORD, reasoning=WORD),
        Record(Kind.NOTICE, text=WORD),
        *call("bash", output=WORD, command=WORD),
        *call("edit", diff=diff, path=WORD),
        *call(WORD, output=f"[{WORD}](https://example.com/)", query=WORD),
    ]
    session = write_session(folder, records, Header(workspace=f"/{WORD[:3000]}"))
    page.goto(server.url(f"{page_of(session)}?all"))
    open_everything(page)
    assert_tame(page)
    assert_upright(page)
    told = page.evaluate("() => document.documentElement.outerHTML.length")
    assert told < 3_000_000, "a page shows the beginning"
    whole = page.request.get(f"http://{watcher.own}{page_of(session)}/text/c1")
    assert whole.text() == WORD
    watcher.assert_quiet()


# What cannot be seen

_LABELS = """(selector) => [...document.querySelectorAll(`${selector} .ctl`)]
  .filter((label) => label.getClientRects().length
    && getComputedStyle(label, "::before").content.includes(label.dataset.ch))
  .map((label) => label.dataset.ch)"""


def test_characters_without_a_shape_are_seen_wherever_they_could_deceive(
    server: Server, folder: Path, page: Page, watcher: Watcher
) -> None:
    lines = [f"user{char}nimda" for char in UNSEEN]
    text = "\n".join(lines)
    diff = f"--- a/x.py\n+++ b/x.py\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(
        f"+{line}\n" for line in lines
    )
    records = [
        Record(Kind.TURN_STARTED, text="go"),
        Record(Kind.MESSAGE, text=f"```python\n{text}\n```\n\n`{UNSEEN}`"),
        *call("bash", output=text, command=text),
        *call("edit", diff=diff, path=f"x{UNSEEN}.py"),
        *call("read_file", output=text, path=f"y{UNSEEN}.py"),
        Record("tool\u202eloot", text=text),
    ]
    session = write_session(folder, records)
    page.goto(server.url(f"{page_of(session)}?all"))
    open_everything(page)
    wanted = [f"U+{ord(char):04X}" for char in UNSEEN]
    for selector in (
        ".md pre.code",
        ".md p > code",
        "pre.command",
        ".tool.shell pre.out",
        ".tool.edit .diff",
        ".tool.edit summary .subj",
        ".tool.read summary .subj",
        ".unknown pre.out",
    ):
        seen = page.evaluate(_LABELS, selector)
        assert set(wanted) <= {*seen, *_in_runs(seen)}, selector
    assert page.evaluate("() => document.querySelector('pre.command').textContent") == text
    watcher.assert_quiet()


def _in_runs(labels: Sequence[str]) -> list[str]:
    """A label may stand for a run of characters; it names the first, and how many there are."""
    found: list[str] = []
    for label in labels:
        if " … ×" in label:
            found += [f"U+{ord(char):04X}" for char in UNSEEN]
    return found


def test_what_is_copied_is_what_was_recorded(
    server: Server, folder: Path, page: Page, context: BrowserContext, watcher: Watcher
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = "\n".join(in_json(PAYLOADS[::5])).replace("\0", "").replace("\r", "")
    records = [Record(Kind.MESSAGE, text=text), *call("bash", output=text, command="x")]
    session = write_session(folder, records)
    page.goto(server.url(page_of(session)))
    settled(page)
    page.locator("#c2 > details > summary").click()
    for card in ("c1", "c2"):
        button = page.locator(f"#{card} .copy")
        button.focus()
        button.press("Enter")
        expect(button).to_have_text("Copied")
        assert page.evaluate("() => navigator.clipboard.readText()") == text
    watcher.assert_quiet()

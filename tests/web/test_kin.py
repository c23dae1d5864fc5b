"""Pages lead to the sessions that have to do with them, where those are known."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from presentview import runlog
from presentview.eventlog import EventLog, SessionEvent, SubagentStartData
from presentview.eventlog.wire import encode
from presentview.sessions import Roots, find_sessions, session_id
from presentview.web.feeds import Feed
from presentview.web.listing import Listing


def run(folder: Path, name: str, resumed_from: str = "", task: str = "a task") -> Path:
    with runlog.create(folder, name, runlog.Meta(task=task, resumed_from=resumed_from)) as log:
        log.message(runlog.Message("user", task))
    return log.path


def kin(path: Path, root: Path | None = None) -> list[str]:
    """The rows on the page of a session, each link as its text and the name of what it leads to."""
    known = find_sessions(Roots.of([root or path.parent]))
    names = {ref.id: ref.path.stem for ref in known.values()}
    feed = Feed(known[session_id(path)], "epoch", known=lambda: known)
    feed.look()
    html = str(feed.problems())
    feed.follower.close()
    rows = re.findall(r"<p>(.*?)</p>", html.partition("<nav")[2].partition("</nav>")[0])
    link = r'<a href="/s/([0-9a-f]+)(#c[0-9]+)?"[^>]*>(.*?)</a>'
    linked = (re.sub(link, lambda m: f"{m[3]}>{m[2] or names[m[1]]}", row) for row in rows)
    return [re.sub(r"<[^>]*>", "", row) for row in linked]


def test_a_run_leads_to_those_it_continues_and_to_those_that_continue_it(tmp_path: Path) -> None:
    first, second, third = run(tmp_path, "a"), run(tmp_path, "b", "a"), run(tmp_path, "c", "b")
    other = run(tmp_path, "d", "a")
    assert kin(first) == ["Resumed as b>b, d>d"]
    assert kin(second) == ["Continues a>a", "Resumed as c>c"]
    assert kin(third) == ["Continues b>b ← a>a"]
    assert kin(other) == ["Continues a>a"]


@pytest.mark.parametrize(
    ("resumed_from", "rows"),
    [
        ("gone", ["Continues gone, whose log is not here"]),
        ("../a", ["Continues ../a, whose log is not here"]),
        ("javascript:alert(1)", ["Continues javascript:alert(1), whose log is not here"]),
        ("<b>", ["Continues &lt;b&gt;, whose log is not here"]),
        ("self", ["Continues self, which stands in this row already"]),
        ("x" * 10_000, [f"Continues {'x' * 80}, whose log is not here"]),
        ("", []),
    ],
    ids=["gone", "path", "script", "markup", "self", "long", "none"],
)
def test_what_is_not_known_is_no_link(tmp_path: Path, resumed_from: str, rows: list[str]) -> None:
    (tmp_path / "runs").mkdir()
    run(tmp_path, "a")
    assert kin(run(tmp_path / "runs", "self", resumed_from)) == rows


def test_runs_that_continue_each_other_in_a_circle_are_named_once(tmp_path: Path) -> None:
    run(tmp_path, "a", "c")
    run(tmp_path, "b", "a")
    rows = kin(run(tmp_path, "c", "b"))
    assert rows == ["Continues b>b ← a>a ← c, which stands in this row already", "Resumed as a>a"]


def test_an_event_log_leads_to_the_sessions_of_its_sub_agents(tmp_path: Path) -> None:
    parent, child = tmp_path / "parent.jsonl", tmp_path / "child.jsonl"
    log = EventLog.open(parent)
    log.append_turn_start("main")
    for session in ("child", "elsewhere"):
        began = encode(SubagentStartData("scout", session, "look around"))
        log.store.append(SessionEvent(agent_id="main", type="subagent/start", data=began))
    EventLog.open(child).append_turn_start("scout")
    assert kin(parent) == ["Sessions of sub-agents child>child (its call>#c2)"]
    assert kin(child) == []


def transcript(path: Path, *messages: Mapping[str, object]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(message) + "\n" for message in messages))
    return path


def sub_agent(folder: Path, name: str, parent: object, call: str = "call_1") -> Path:
    told = {"ref": name, "status": "failed", "kind": "task", "parentSession": parent}
    told |= {"parentToolCallId": call, "model": "small", "turns": [1]}
    path = transcript(folder / "subagents" / f"{name}.jsonl", {"role": "user", "content": "find"})
    path.with_name(f"{name}.meta.json").write_text(json.dumps(told))
    return path


def rows(root: Path) -> list[str]:
    listing = Listing(Roots.of([root]), "epoch")
    listing.look()
    html = listing.snapshot().regions["sessions"]
    listing.close()
    return sorted(re.findall(r'class="title">(.*?)<', html))


CALL = {"id": "call_1", "name": "task", "arguments": '{"description":"find callers"}'}
ASKED = ({"role": "user", "content": "asked"}, {"role": "assistant", "tool_calls": [CALL]})


@pytest.mark.parametrize("named", ["s", "s.jsonl", "/elsewhere/s.jsonl", "C:\\\\x\\\\s.jsonl"])
def test_the_transcript_of_a_sub_agent_belongs_to_its_session(tmp_path: Path, named: str) -> None:
    session = transcript(tmp_path / "s.jsonl", *ASKED)
    child = sub_agent(tmp_path, "sa_1", named)
    assert rows(tmp_path) == ["asked"]
    expected = ["Transcripts of sub-agents sa_1>sa_1 (its call>#c2)"]
    assert kin(session, tmp_path) == expected
    assert kin(session, session) == expected, "also of a session that is served alone"
    assert kin(child, tmp_path) == ["Sub-agent of s>s · task · failed · small"]


@pytest.mark.parametrize("named", ["", "gone", "..", 7, None, "s.present.jsonl", "subagents/sa_1"])
def test_a_transcript_whose_session_is_not_there_is_one_of_its_own(
    tmp_path: Path, named: object
) -> None:
    transcript(tmp_path / "s.jsonl", *ASKED)
    child = sub_agent(tmp_path, "sa_1", named)
    assert rows(tmp_path) == ["asked", "find"]
    assert kin(child) == []


def test_what_is_told_of_a_sub_agent_may_be_anything(tmp_path: Path) -> None:
    transcript(tmp_path / "s.jsonl", *ASKED)
    meta = sub_agent(tmp_path, "sa_1", "s").with_name("sa_1.meta.json")
    for content in (b"", b"\xff", b"[" * 100_000, b"[]", b'{"parentSession":["s"]}'):
        meta.write_bytes(content)
        assert rows(tmp_path) == ["asked", "find"]

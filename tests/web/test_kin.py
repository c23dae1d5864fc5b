"""Pages lead to the sessions that have to do with them, where those are known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from presentview import runlog
from presentview.eventlog import EventLog, SessionEvent, SubagentStartData
from presentview.eventlog.wire import encode
from presentview.sessions import Roots, SessionRef, find_sessions, session_id
from presentview.web.feeds import Feed


def run(folder: Path, name: str, resumed_from: str = "", task: str = "a task") -> Path:
    with runlog.create(folder, name, runlog.Meta(task=task, resumed_from=resumed_from)) as log:
        log.message(runlog.Message("user", task))
    return log.path


def kin(path: Path) -> list[str]:
    """The rows on the page of a session, each link as its text and the name of what it leads to."""
    known = find_sessions(Roots.of([path.parent]))
    names = {ref.id: ref.path.stem for ref in known.values()}
    feed = Feed(SessionRef(session_id(path), path), "epoch", known=lambda: known)
    feed.look()
    html = str(feed.problems())
    feed.follower.close()
    rows = re.findall(r"<p>(.*?)</p>", html.partition("</nav>")[0])
    linked = (
        re.sub(r'<a href="/s/([0-9a-f]+)"[^>]*>(.*?)</a>', lambda m: f"{m[2]}>{names[m[1]]}", row)
        for row in rows
    )
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
        ("", []),
    ],
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
    assert kin(parent) == ["Sessions of sub-agents child>child"]
    assert kin(child) == []

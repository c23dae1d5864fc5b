"""The changes page: which step, what around it, what of its files, and never too much of it."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qsl, quote

import anyio
import pytest

from presentview import limits
from presentview.cli import main
from presentview.events import Event, EventKind
from presentview.keeping import changes_path
from presentview.lock import LOCKING_WRITER
from presentview.recorder import Recorder
from presentview.records import FileDiff, Header, Kind, Record, Tool, encode
from presentview.sessions import Roots
from presentview.web import changepage, treewatch
from presentview.web.app import create_app
from presentview.web.changecheck import touched_folders
from presentview.web.changed import changed
from presentview.web.changerows import tick_paths
from presentview.web.changeview import ChangeView, change_view_of
from presentview.web.treewatch import TreeWatch, tree_topic
from presentview.workspaces import Workspaces
from tests.sidecars import write_session
from tests.unit.transcript.changes.world import Story, git_diff
from tests.web.asking import Answer, Serving

TEN = tuple(f"line number {n}\n" for n in range(1, 11))
FIVE = (*TEN[:4], "another five\n", *TEN[5:])
NINE = (*FIVE[:8], "another nine\n", *FIVE[9:])
LOCKED = f"test{LOCKING_WRITER}"


class Pages:
    """The pages of one session, whose workspace lies in the folder that is served."""

    def __init__(self, folder: Path, *, workspace: Path | None = None) -> None:
        self.folder = folder
        self.workspace = workspace or folder / "work"
        self.workspace.mkdir(exist_ok=True)
        self.serving = Serving(folder)
        self.story = Story()
        self.story.add(Record(Kind.TURN_STARTED, "Do it"))
        self.header = Header(workspace=str(self.workspace), writer=LOCKED)

    def write(self) -> None:
        write_session(self.folder, self.story.records, self.header)

    def get(self, query: str = "", part: str = "") -> Answer:
        return self.serving.ask(f"{self.serving.page}/changes{part}?{query}")

    def text(self, query: str = "", part: str = "") -> str:
        answer = self.get(query, part)
        assert answer.status == 200
        return answer.text


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Callable[..., Pages]]:
    made: list[Pages] = []

    def make(**options: Path) -> Pages:
        made.append(Pages(tmp_path.resolve(), **options))
        return made[-1]

    yield make
    for one in made:
        one.serving.close()


def four_steps(pages: Pages) -> None:
    story = pages.story
    story.edit(git_diff("f", TEN, FIVE))
    story.edit(args={"command": "make"}, name="bash")
    task = story.dispatch(args={"description": "tidy up", "prompt": "please"}, name="task")
    story.result(story.dispatch(git_diff("sub/g", None, ("in g\n",)), parent=task))
    story.result(task)
    story.result(story.dispatch(git_diff("h", None, ("x\n",))), err="blocked: no")
    story.dispatch(git_diff("f", FIVE, NINE))
    pages.write()


def shown(html: str) -> int:
    found = re.search(r'data-step="(\d+)"', html)
    assert found is not None
    return int(found[1])


def without_tags(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html)).replace("&#39;", "'")


# which step


@pytest.mark.parametrize(
    ("query", "step"),
    [
        ("", 4),
        ("step=1", 1),
        ("step=99", 4),
        ("nth=2", 2),
        ("card=c5", 2),
        ("card=c2", 1),
        ("card=c999&step=3", 3),
        ("state=applied&step=3", 2),
        ("state=applied&nth=1", 1),
        ("file=f&step=2", 4),
        ("file=sub/g", 2),
        ("agent=main&step=2", 3),
        ("agent=c4&step=1", 2),
        ("trouble=next&step=1", 3),
        ("trouble=previous&step=4", 3),
        ("trouble=previous&step=3", 3),
        ("step=-1&nth=x&card=<&state=odd&layout=odd", 4),
    ],
)
def test_an_address_says_which_step_is_shown(
    pages: Callable[..., Pages], query: str, step: int
) -> None:
    one = pages()
    four_steps(one)
    assert shown(one.text(query)) == step
    assert shown(one.text(query, "/part")) == step


def test_a_page_that_nothing_fits_says_so(pages: Callable[..., Pages]) -> None:
    one = pages()
    one.write()
    assert "This session has edited no files." in one.text()
    four_steps(one)
    assert "No step is like that." in one.text("file=nowhere")


def test_the_card_of_a_step_is_that_of_the_transcript(pages: Callable[..., Pages]) -> None:
    one = pages()
    four_steps(one)
    body = one.serving.ask(f"{one.serving.page}/body/c2").text.strip()
    assert body
    assert body in one.text("step=1")
    assert f'href="{one.serving.page}/changes?card=c2"' in body
    assert f'href="{one.serving.page}?at=c2#c2"' in one.text("step=1")
    assert 'class="diff split"' in one.text("step=1&layout=split")


def test_what_stands_around_the_step_is_told(pages: Callable[..., Pages]) -> None:
    one = pages()
    four_steps(one)
    text = without_tags(one.text("step=2"))
    assert "1 shell command ran between these steps" in text
    assert "by tidy up" in text
    assert "2 of 4" in text
    assert "Touched up to here 2" in text
    assert "sub/" in text
    assert "in flight" in without_tags(one.text("step=4"))
    assert "Touched up to here 2" in without_tags(one.text("step=3")), "a blocked step touches none"
    filtered = without_tags(one.text("file=f&step=4"))
    assert "1 shell command ran between these steps" in filtered
    assert "2 of 2 shown (4 in all)" in filtered


def test_many_steps_are_few_elements() -> None:
    story = Story()
    for n in range(5_000):
        call = story.dispatch(git_diff("f", TEN, FIVE))
        story.result(call, err="no" if n % 10 == 0 else "")
    paths = tick_paths(story.steps().steps)
    assert [path.state for path in paths] == ["applied", "failed"]
    assert all(len(path.path) < 25_000 for path in paths)
    few = Story()
    few.edit(git_diff("f", TEN, FIVE))
    few.edit(git_diff("f", FIVE, NINE))
    assert [path.path.count("M") for path in tick_paths(few.steps().steps)] == [2]


def test_a_list_of_many_steps_shows_those_around(pages: Callable[..., Pages]) -> None:
    one = pages()
    for n in range(300):
        one.story.edit(git_diff(f"d{n}/f", None, (f"number {n}\n",)))
    one.write()
    text = one.text("step=200")
    rows = [int(n) for n in re.findall(r'id="step-(\d+)"', text)]
    assert len(rows) == limits.STEP_ROWS
    assert 200 in rows
    assert 'data-go="159"' in text
    assert text.count("<h3 title=") == limits.TREE_FILES
    assert "80 more files, touched earlier" in without_tags(text)
    assert len(text) < 200_000


# the file so far


def test_the_file_so_far_says_what_is_not_known(pages: Callable[..., Pages]) -> None:
    one = pages()
    long = tuple(f"line number {n}\n" for n in range(1, 100))
    changed_late = (*long[:49], "another fifty\n", *long[50:])
    one.story.edit(git_diff("f", long, changed_late))
    one.story.edit(git_diff("f", ("stranger 1\n", *long[1:]), ("stranger one\n", *long[1:])))
    one.story.edit(args={"path": "f", "old_string": "nowhere", "new_string": "<b>somewhere</b>"})
    one.write()
    first = without_tags(one.text("step=1&wait"))
    assert "lines 1–46 are not known" in first
    assert "another fifty" in first
    assert "the rest is not known" in first
    second = without_tags(one.text("step=2&wait"))
    assert "every line is known" not in second
    third = one.text("step=3&wait")
    assert "Was in the file at step 3; where it stands now is not known" in without_tags(third)
    assert "&lt;b&gt;somewhere" in third
    assert "<b>somewhere" not in third


def test_a_break_is_shown(pages: Callable[..., Pages]) -> None:
    one = pages()
    one.story.edit(git_diff("f", TEN, FIVE))
    other = tuple(f"quite another {n}\n" for n in range(10))
    one.story.edit(git_diff("f", other, (*other[:4], "changed\n", *other[5:])))
    one.write()
    text = without_tags(one.text("step=2&wait"))
    assert "Changed outside the recorded edits, as step 2 shows" in text
    assert "Was in the file at step 1" in text
    net = without_tags(one.text("step=2&net=1&wait"))
    assert "Only what came since step 2" in net


def test_a_long_file_is_shown_in_parts(pages: Callable[..., Pages]) -> None:
    one = pages()
    long = tuple(f"line number {n}\n" for n in range(1, 5_001))
    one.story.edit(args={"path": "f.py", "content": "".join(long)}, name="write_file")
    one.story.edit(git_diff("f.py", long, (*long[:2_500], "here\n", *long[2_500:])))
    one.write()
    text = one.text("step=2&wait", "/known")
    assert text.count('<tr class="l') <= limits.KNOWN_LINES
    assert "here" in text
    lines = [int(n) for n in re.findall(r'data-line="(\d+)"', text)]
    assert len(lines) == 2
    assert "line number 4990" in without_tags(one.text("step=2&line=5000&wait", "/known"))
    net = without_tags(one.text("step=2&net=1&wait", "/known"))
    assert "everything" not in net
    assert "All edits of the session" in net


def test_an_answer_does_not_wait_for_what_has_to_be_played(
    pages: Callable[..., Pages], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = pages()
    lines = TEN
    for n in range(8):
        new = (*lines[:n], f"new line {n}\n", *lines[n + 1 :])
        one.story.edit(git_diff("f", lines, new))
        lines = new
    one.story.edit(git_diff("other", None, ("x\n",)))
    one.write()
    monkeypatch.setattr(changepage, "PLAY_SECONDS", 0.0)
    text = one.text("step=8")
    assert "data-again" in text
    assert "Playing the edits of this file: 1 of 8" in without_tags(text)
    assert "&amp;wait" in text
    feed = one.serving.hub._feeds[one.serving.session]
    found = changed(feed)
    assert [player.progress.played for player in found.players.values()] == [1]
    monkeypatch.undo()
    assert "data-again" not in one.text("step=8&wait", "/known")
    assert [player.progress for player in found.players.values()] == [(8, 8)]
    assert changed(feed) is found, "it is worked out once"


# against the disk


def test_verdicts_are_those_of_the_command(
    pages: Callable[..., Pages], capsys: pytest.CaptureFixture[str]
) -> None:
    one = pages()
    four_steps(one)
    (one.workspace / "f").write_text("".join(NINE))
    main(["changes", str(one.folder / "s.present.jsonl"), "--json", "--check", str(one.workspace)])
    told = {
        str(step["step"]): step["verdict"] for step in json.loads(capsys.readouterr().out)["steps"]
    }
    answer = json.loads(one.text("step=1&wait", "/verdicts"))
    assert answer["next"] is None
    assert {step: word[0] for step, word in answer["verdicts"].items()} == told
    assert told == {"1": "on disk", "2": "file gone", "3": "not on disk", "4": "on disk"}
    assert json.loads(one.text("step=1&wait&from=2", "/verdicts"))["verdicts"].keys() == {"3", "4"}
    assert "file gone" in without_tags(one.text("step=2&wait", "/known"))


def test_verdicts_come_piece_by_piece(
    pages: Callable[..., Pages], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = pages()
    four_steps(one)
    whole = json.loads(one.text("step=1&wait", "/verdicts"))["verdicts"]
    ticks = iter(range(1_000_000))
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks) * 0.03)
    told: dict[str, list[str]] = {}
    asked, start = 0, 0
    while start is not None:
        answer = json.loads(one.text(f"step=1&from={start}", "/verdicts"))
        told |= answer["verdicts"]
        start = answer["next"]
        asked += 1
        assert asked < 50
    assert told == whole
    assert asked > 1


def test_a_workspace_nobody_gave_is_not_looked_into(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("else where").resolve()
    (elsewhere / "f").write_text("".join(FIVE))
    one = Pages(tmp_path.resolve(), workspace=elsewhere)
    four_steps(one)
    text = without_tags(one.text("step=1&wait"))
    assert "Not compared with the disk." in text
    assert f"--workspace '{elsewhere}'" in text.replace("&#39;", "'")
    assert "data-compared" not in one.text("step=1")
    assert json.loads(one.text("step=1&wait", "/verdicts")) == {"verdicts": {}, "next": None}
    one.serving.close()
    for given in ({"workspace": elsewhere}, {"allowed": [elsewhere.parent]}):
        app = create_app(Roots((tmp_path.resolve(),), ()), **given)
        assert app.state.hub.workspaces.of(str(elsewhere)) == elsewhere


def test_only_workspaces_that_the_person_gave_count(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    given, other = top / "given", top / "other"
    for folder in (given / "in", other):
        folder.mkdir(parents=True)
    (given / "link").symlink_to(other)
    spaces = Workspaces([given])
    assert spaces.of(str(given)) == given
    assert spaces.of(str(given / "in" / ".." / "in")) == given / "in"
    for named in ("", "in", str(top), str(other), str(given / "link"), f"{given}/../other", "/\0"):
        assert spaces.of(named) is None
    assert Workspaces([], other).of("") == other
    assert Workspaces([], other).of(str(given)) is None


def test_only_touched_folders_are_watched_and_no_links_followed(tmp_path: Path) -> None:
    top = tmp_path.resolve() / "top"
    (top / "a" / "b").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (top / "link").symlink_to(tmp_path / "outside")
    story = Story()
    for path in (
        "a/b/f",
        "a/b/g",
        "f",
        "gone/deep/f",
        "link/f",
        "../x",
        "/etc/passwd",
        "a/../../x",
    ):
        story.edit(git_diff(path, None, ("x\n",)))
    found = touched_folders(top, story.steps().steps)
    assert found == [top / "a" / "b", top]


def test_a_change_in_a_watched_folder_is_told_as_long_as_somebody_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, quiet = tmp_path.resolve() / "busy", tmp_path.resolve() / "quiet"
    (folder / "in" / "deep").mkdir(parents=True)
    quiet.mkdir()

    async def watch() -> None:
        told: list[str] = []
        heard = anyio.Event()

        def send(topic: str, _: object) -> None:
            told.append(topic)
            heard.set()

        async def until_heard() -> None:
            nonlocal heard
            heard = anyio.Event()
            # It may not be watching yet: what is written again is seen then.
            while not heard.is_set():
                (folder / "in" / "below").write_text("not watched")
                (folder / "f").write_text("x")
                with anyio.move_on_after(0.05):
                    await heard.wait()

        monkeypatch.setattr(treewatch, "_LOADING_SECONDS", -1)
        trees = TreeWatch(send)
        trees.want("s", [folder])
        trees.want("left", [folder])
        trees.want("below", [folder / "in" / "deep"])
        trees.want("quiet", [quiet])
        trees.keep(map(tree_topic, ("s", "left", "below", "quiet")))
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(trees.run)
                await until_heard()
                assert set(told) == {"s.tree", "left.tree"}
                trees.keep(map(tree_topic, ("s", "quiet")))
                told.clear()
                await until_heard()
                assert set(told) == {"s.tree"}
                trees.close()

    anyio.run(watch)


def test_evidence_shows_nothing_of_files_but_what_was_recorded(pages: Callable[..., Pages]) -> None:
    one = pages()
    four_steps(one)
    (one.workspace / "f").write_text("SECRET\n" + "".join(FIVE) + "password = hunter2\n")
    text = one.text("step=1&wait&net=1")
    assert "on disk" in without_tags(text)
    assert "line 3" in without_tags(text)
    assert "SECRET" not in text
    assert "hunter2" not in text


# what is not recorded, and what was kept


def test_where_earlier_edits_may_be_missing_the_page_says_so(pages: Callable[..., Pages]) -> None:
    one = pages()
    one.header = Header(workspace=str(one.workspace), rewrite_version=2)
    four_steps(one)
    text = one.text("step=1")
    assert "Edits before this point are not recorded" in without_tags(text)
    assert "data-complete" not in text


def test_edits_that_left_the_transcript_are_steps_still(pages: Callable[..., Pages]) -> None:
    one = pages()
    with Recorder.open(one.folder / "s.jsonl") as recorder:
        for turn in range(2):
            recorder.append(Event(kind=EventKind.TURN_STARTED, text=f"turn {turn}"))
            for kind, tool in _edit(f"e{turn}", git_diff(f"f{turn}", TEN, FIVE)):
                recorder.append(Event(kind=kind, tool=tool))
            recorder.append(Event(kind=EventKind.TURN_DONE))
        recorder.truncate_to_turn(2)
        recorder.save()
    assert changes_path(one.folder / "s.present.jsonl").exists()
    text = without_tags(one.text("step=1&wait"))
    assert "Its card has left the transcript; its edits were kept." in text
    assert "another five" in text
    assert "In the transcript" not in text
    assert "In the transcript" in without_tags(one.text("step=2&wait"))


def _edit(call: str, diff: str) -> list[tuple[EventKind, Tool]]:
    tool = Tool(id=call, name="edit_file", args='{"path": "f"}', file_diff=FileDiff(diff, 1, 1))
    done = Tool(id=call, name="edit_file", output="ok")
    return [(EventKind.TOOL_DISPATCH, tool), (EventKind.TOOL_RESULT, done)]


# patches


def test_the_patch_of_a_step_applies_to_its_files_as_they_were(pages: Callable[..., Pages]) -> None:
    one = pages()
    one.story.edit(git_diff("f", None, TEN))
    one.story.edit(git_diff("f", TEN, FIVE))
    one.story.edit(args={"path": "f", "old_string": "number 9", "new_string": "number nine"})
    one.story.edit(git_diff("g", FIVE, FIVE, was="f"))
    one.story.result(one.story.dispatch(git_diff("f", FIVE, NINE)), err="no")
    one.write()
    repository = one.folder / "tree"
    repository.mkdir()
    for step in range(1, 5):
        answer = one.get(f"step={step}", "/patch")
        assert answer.status == 200
        assert answer.one("content-type") == "text/plain; charset=utf-8"
        assert answer.one("content-disposition").startswith("attachment")
        subprocess.run(["git", "apply", "-"], input=answer.body, cwd=repository, check=True)
    assert [path.name for path in repository.iterdir()] == ["g"]
    text = "".join(FIVE).replace("number 9", "number nine")
    assert (repository / "g").read_text() == text
    refused = one.get("step=5", "/patch")
    assert (refused.status, refused.text) == (409, "this step is failed")
    assert "No patch of this step alone: this step is failed" in without_tags(
        one.text("step=5&wait")
    )


# hostile


HOSTILE = '"><script>window.x=1</script>&\u202e\x1b[31m\ud800\\ '


def test_whatever_paths_and_names_hold_is_text(pages: Callable[..., Pages]) -> None:
    one = pages()
    one.header = Header(workspace=f"/{HOSTILE}", writer=LOCKED)
    diff = git_diff(HOSTILE, None, (f"{HOSTILE}\n",))
    one.story.edit(diff)
    one.story.edit(args={"path": f"../{HOSTILE}", "content": HOSTILE}, name="write_file")
    task = one.story.dispatch(args={"description": HOSTILE}, name="task")
    one.story.result(one.story.dispatch(diff, name=HOSTILE, parent=task))
    one.story.result(task)
    one.write()
    for query in (
        "step=1",
        "step=2",
        "step=3",
        "step=1&layout=split&net=1",
        f"file={quote(HOSTILE, errors='replace')}",
    ):
        text = one.text(query + "&wait")
        assert "<script>window" not in text


def test_views_are_told_by_their_queries() -> None:
    view = ChangeView(step=3, file="a b", agent="c4", state="failed", layout="split", part=1)
    assert change_view_of(dict(parse_qsl(view.query))) == view
    assert change_view_of(dict(parse_qsl(view.at(7)))) == ChangeView(
        step=7, file="a b", agent="c4", state="failed", layout="split"
    )
    assert change_view_of({"step": "٣", "part": "-1", "agent": "x"}) == ChangeView()


def test_a_step_goes_on_while_the_session_is_written(pages: Callable[..., Pages]) -> None:
    one = pages()
    four_steps(one)
    assert "another nine" in without_tags(one.text("card=c7&wait"))
    with (one.folder / "s.present.jsonl").open("ab") as file:
        for kind, tool in _edit("later", git_diff("k", None, ("later\n",))):
            file.write(encode(Record(Kind[kind.name], tool=tool)) + b"\n")
    text = one.text("card=c7&wait")
    assert shown(text) == 5, "a step in flight comes last"
    assert "5 of 5" in without_tags(text)

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import anyio
import pytest
from starlette.routing import Mount, Route

from presentview.limits import STREAMS
from presentview.records import Attachment, Kind, Record, Tool, encode
from presentview.sessions import Roots
from presentview.web.app import create_app
from presentview.web.download import SANDBOX
from presentview.web.headers import CONTENT_SECURITY_POLICY
from tests.sidecars import write_sidecar
from tests.web.asking import BEARER, HOST, TOKENS, Answer, Headers, Serving, ask, assert_sealed

ROOT = Path(__file__).resolve().parents[2]
SECRET = "what only a person who is signed in may read"
COOKIE = ("Cookie", f"presentview_8377={TOKENS.cookie_value(8377)}")
ONE_PIXEL = b"\x89PNG\r\n\x1a\n" + b"pixel"


def record_session(path: Path) -> None:
    shot = Attachment(path=str(path.parent / "shot.png"), kind="image")
    records = [
        Record(kind=Kind.TURN_STARTED, text=SECRET, at=1_000),
        Record(
            kind=Kind.TOOL_DISPATCH,
            tool=Tool(id="t1", name="bash", args='{"command":"echo"}'),
            at=1_200,
        ),
        Record(
            kind=Kind.TOOL_RESULT, tool=Tool(id="t1", output=SECRET, attachments=(shot,)), at=1_500
        ),
        Record(kind=Kind.MESSAGE, text=SECRET, at=2_000),
        Record(kind=Kind.TURN_DONE, at=2_500),
    ]
    write_sidecar(path, records)
    (path.parent / "shot.png").write_bytes(ONE_PIXEL)


class Served(Serving):
    """The real app over one folder, behind its guard."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "s.present.jsonl"

    def fill(self, path: str) -> str:
        """The address of a route with what there is put in."""
        return (
            path.replace("{session}", self.session)
            .replace("{card}", "c2")
            .replace("{position}", "none")
            .replace("{index:int}", "0")
        ) + ("?list=1" if path == "/events" else "")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("sessions").resolve()
    record_session(folder / "s.present.jsonl")
    served = Served(folder)
    yield served
    served.close()


@pytest.fixture
def serve() -> Iterator[Callable[[Path], Served]]:
    started: list[Served] = []

    def start(folder: Path) -> Served:
        started.append(Served(folder.resolve()))
        return started[-1]

    yield start
    for served in started:
        served.close()


def _paths() -> list[str]:
    paths: list[str] = []
    for route in create_app(Roots((), ())).routes:
        if isinstance(route, Mount):
            paths += [f"{route.path}/page.css", f"{route.path}/nowhere.css"]
        else:
            assert isinstance(route, Route)
            paths.append(route.path)
    return [*paths, "/nowhere"]


PATHS = _paths()
OF_A_SESSION = [path for path in PATHS if "{session}" in path]
OF_A_CARD = [path for path in PATHS if "{card}" in path]

REFUSED: list[tuple[str, str, Headers, int]] = [
    ("no token", HOST, [], 401),
    ("wrong token", HOST, [("Authorization", "Bearer " + "x" * 43)], 401),
    ("old cookie", HOST, [("Cookie", "presentview_8377=" + "0" * 64)], 401),
    ("foreign host", "evil.test:8377", [BEARER, COOKIE], 400),
    ("wrong port", "127.0.0.1:8378", [BEARER, COOKIE], 400),
    ("origin null", HOST, [BEARER, COOKIE, ("Origin", "null")], 403),
    ("foreign origin", HOST, [BEARER, COOKIE, ("Origin", "http://evil.test")], 403),
    ("cross-site fetch", HOST, [BEARER, COOKIE, ("Sec-Fetch-Site", "cross-site")], 403),
    ("same-site fetch", HOST, [BEARER, COOKIE, ("Sec-Fetch-Site", "same-site")], 403),
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("host", "headers", "status"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_no_route_answers_whom_it_must_not(
    served: Served, path: str, host: str, headers: Headers, status: int
) -> None:
    answer = ask(served.guard, served.fill(path), headers, host=host)
    assert_sealed(answer)
    if path.startswith("/static/") and status == 401:
        assert answer.status in (200, 404), "the style sheet of the 401 page needs no token"
        return
    assert answer.status == status
    assert answer.all("set-cookie") == []
    assert SECRET.encode() not in answer.body
    assert served.session.encode() not in answer.body.replace(b"/s/" + served.session.encode(), b"")


HTML, JSON, PLAIN = "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"
ANSWERS: dict[str, tuple[int, str, str]] = {
    "/": (200, HTML, CONTENT_SECURITY_POLICY),
    "/events": (200, "text/event-stream; charset=utf-8", CONTENT_SECURITY_POLICY),
    "/s/{session}.json": (200, JSON, CONTENT_SECURITY_POLICY),
    "/s/{session}": (200, HTML, CONTENT_SECURITY_POLICY),
    "/s/{session}/timings": (200, HTML, CONTENT_SECURITY_POLICY),
    "/s/{session}/timings/waterfall": (200, HTML, CONTENT_SECURITY_POLICY),
    "/s/{session}/timings/figures": (200, HTML, CONTENT_SECURITY_POLICY),
    "/s/{session}/changes": (200, HTML, CONTENT_SECURITY_POLICY),
    "/s/{session}/changes/part": (200, HTML, CONTENT_SECURITY_POLICY),
    "/s/{session}/changes/known": (200, HTML, CONTENT_SECURITY_POLICY),
    "/s/{session}/changes/verdicts": (200, JSON, CONTENT_SECURITY_POLICY),
    "/s/{session}/changes/patch": (404, PLAIN, CONTENT_SECURITY_POLICY),
    "/s/{session}/raw": (200, HTML, CONTENT_SECURITY_POLICY),
    "/s/{session}/file": (200, "application/x-ndjson", SANDBOX),
    "/s/{session}/cards": (200, JSON, CONTENT_SECURITY_POLICY),
    "/s/{session}/kids/{card}": (200, JSON, CONTENT_SECURITY_POLICY),
    "/s/{session}/outline": (200, JSON, CONTENT_SECURITY_POLICY),
    "/s/{session}/next": (200, JSON, CONTENT_SECURITY_POLICY),
    "/s/{session}/map": (200, JSON, CONTENT_SECURITY_POLICY),
    "/s/{session}/band": (200, JSON, CONTENT_SECURITY_POLICY),
    "/s/{session}/find": (200, JSON, CONTENT_SECURITY_POLICY),
    "/s/{session}/since/{position}": (200, JSON, CONTENT_SECURITY_POLICY),
    "/s/{session}/card/{card}": (200, HTML, CONTENT_SECURITY_POLICY),
    "/s/{session}/body/{card}": (200, HTML, CONTENT_SECURITY_POLICY),
    "/s/{session}/text/{card}": (200, PLAIN, SANDBOX),
    "/s/{session}/file/{card}/{index:int}": (200, "image/png", SANDBOX),
    "/static/page.css": (200, "text/css; charset=utf-8", CONTENT_SECURITY_POLICY),
    "/static/nowhere.css": (404, PLAIN, CONTENT_SECURITY_POLICY),
    "/nowhere": (404, HTML, CONTENT_SECURITY_POLICY),
}


@pytest.mark.parametrize("path", PATHS)
def test_each_route_answers_who_is_signed_in(served: Served, path: str) -> None:
    status, kind, policy = ANSWERS[path]
    for known in (BEARER, COOKIE):
        answer = ask(served.guard, served.fill(path), [known])
        assert answer.status == status
        assert answer.one("content-type") == kind
        assert_sealed(answer, policy=policy)
        assert answer.all("set-cookie") == []
        assert answer.body


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nothing_can_be_changed(served: Served, path: str, method: str) -> None:
    own = [BEARER, ("X-Presentview", "1"), ("Sec-Fetch-Site", "same-origin")]
    answer = ask(served.guard, served.fill(path), own, method=method)
    assert answer.status in (404, 405)
    assert_sealed(answer)


@pytest.mark.parametrize("path", PATHS)
def test_head_answers_like_get(served: Served, path: str) -> None:
    status, _, policy = ANSWERS[path]
    answer = ask(served.guard, served.fill(path), method="HEAD")
    assert answer.status == status
    assert_sealed(answer, policy=policy)


# What is not there

NO_SESSIONS = [
    "0" * 16,
    "..",
    "%2e%2e",
    "..%2f..%2fetc%2fpasswd",
    "%2fetc%2fpasswd",
    "s.jsonl",
    "s.present.jsonl",
    "%00",
    "a%00b",
    "%ff%fe",
    "a" * 4000,
    "%F0%9F%98%80",
    "-1",
    " ",
]
NO_CARDS = ["c0", "c99", "c02", "c-1", "c", "C2", "2", "c2%20", "c%EF%BC%92", "..", "%00", "c" * 99]


def assert_missing(answer: Answer) -> None:
    assert answer.status == 404
    assert_sealed(answer)
    assert SECRET not in answer.text


@pytest.mark.parametrize("path", OF_A_SESSION)
@pytest.mark.parametrize("session", NO_SESSIONS)
def test_an_id_that_no_session_has_is_never_a_path(served: Served, path: str, session: str) -> None:
    target = served.fill(path.replace("{session}", session))
    answer = ask(served.guard, target)
    assert_missing(answer)
    assert answer.one("content-type") == HTML
    assert "Nothing here" in answer.text
    assert served.hub._feeds.keys() <= {served.session}


@pytest.mark.parametrize("path", OF_A_CARD)
@pytest.mark.parametrize("card", NO_CARDS)
def test_a_card_that_is_not_there_is_missing(served: Served, path: str, card: str) -> None:
    answer = ask(served.guard, served.fill(path.replace("{card}", card)))
    assert_missing(answer)


@pytest.mark.parametrize("index", ["1", "99999999999999999999", "-1", "x", "0x0", "0%00"])
def test_a_file_that_a_card_does_not_name_is_missing(served: Served, index: str) -> None:
    assert_missing(ask(served.guard, f"/s/{served.session}/file/c2/{index}"))


def test_a_fragment_that_is_missing_is_no_page(served: Served) -> None:
    answer = ask(served.guard, f"/s/{served.session}/body/c99", [BEARER, ("HX-Request", "true")])
    assert_missing(answer)
    assert answer.one("content-type") == PLAIN


@pytest.mark.parametrize("line", ["1", "4", "0", "-5", "999", "1" + "0" * 30, "x", "", "%D9%A3"])
def test_the_raw_page_takes_any_line_number(served: Served, line: str) -> None:
    answer = ask(served.guard, f"/s/{served.session}/raw?line={line}")
    assert answer.status == 200


# What there is


def test_the_document_is_what_the_command_prints(served: Served) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "presentview", "show", "--json", os.fspath(served.path)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    answer = ask(served.guard, f"/s/{served.session}.json")
    assert json.loads(answer.body) == json.loads(ran.stdout)
    assert SECRET in answer.text


def test_a_session_can_be_saved_as_it_is(served: Served) -> None:
    answer = ask(served.guard, f"/s/{served.session}/file")
    assert answer.body == served.path.read_bytes()
    assert answer.one("content-disposition") == "attachment; filename*=UTF-8''s.present.jsonl"
    text = ask(served.guard, f"/s/{served.session}/text/c3")
    assert text.text == SECRET
    assert text.one("content-disposition").startswith("attachment;")


def test_a_page_learns_what_it_missed(tmp_path: Path, serve: Callable[[Path], Served]) -> None:
    path = tmp_path / "s.present.jsonl"
    record_session(path)
    served = serve(tmp_path)
    ids = {
        served.session: ["head", "problems", "vitals"],
        "list": ["sessions"],
    }
    reached: dict[str, str] = {}
    for number, (topic, regions) in enumerate(ids.items()):
        everything = json.loads(ask(served.guard, f"/s/{topic}/since/none").body)
        assert set(regions) <= set(everything["regions"])
        here = f"/s/{topic}/since/{everything['pos']}"
        assert json.loads(ask(served.guard, here).body) == {"batches": []}
        with open(path, "ab") as file:
            file.write(encode(Record(kind=Kind.NOTICE, text="news", at=9_000 + number)) + b"\n")
        (batch,) = json.loads(ask(served.guard, here).body)["batches"]
        assert batch["s"] == topic
        assert batch["prev"] == everything["pos"]
        reached[topic] = batch["pos"]
        (nothing,) = json.loads(ask(served.guard, f"/s/{topic}/since/{batch['pos']}").body).values()
        assert nothing == []
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    since = f"/s/{served.session}/since/{reached[served.session]}"
    assert "regions" in json.loads(ask(served.guard, since).body), "another file: a page anew"


def test_a_session_that_does_not_exist_yet_is_waited_for(
    tmp_path: Path, serve: Callable[[Path], Served]
) -> None:
    served = serve(tmp_path)
    served.hub.listing.roots = Roots.of([tmp_path / "later.jsonl"])
    (session,) = served.hub.listing.scan()
    page = ask(served.guard, f"/s/{session}")
    assert page.status == 200
    assert "Waiting for" in page.text
    assert "waiting" in ask(served.guard, "/").text
    assert_missing(ask(served.guard, f"/s/{session}/file"))
    for path in ("/raw", ".json"):
        assert ask(served.guard, f"/s/{session}{path}").status == 200


# Names that are none of ours

HOSTILE_NAMES = [
    b'"><script>alert(1)</script>',
    b"<img src=x onerror=alert(1)>",
    b"not \xff utf-8 \xc3",
    b"line\nbreak\r\nSet-Cookie: a=b",
    b"'; filename=evil.exe",
    b'"; filename="evil.exe',
    "\u202etxt.exe".encode(),
    b"%2e%2e%2fetc%2fpasswd",
    b"a\\..\\windows",
    b" ",
    b"$(id)`id`{{7919*7907}}{% raw %}",
    "😀é中".encode(),
    b"x" * 230,
]


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=[str(n) for n in range(len(HOSTILE_NAMES))])
def test_a_file_may_have_any_name(
    tmp_path: Path, name: bytes, serve: Callable[[Path], Served]
) -> None:
    if b"/" in name:
        name = name.replace(b"/", b"_")
    path = Path(os.fsdecode(os.fsencode(tmp_path.resolve()) + b"/" + name + b".present.jsonl"))
    path.write_bytes(encode(Record(kind="future")) + b"\n{broken\n")
    served = serve(tmp_path)
    (session,) = served.hub.listing.scan()
    for target in ("/", f"/s/{session}", f"/s/{session}/raw", f"/s/{session}.json"):
        answer = ask(served.guard, target)
        assert answer.status == 200
        assert_sealed(answer)
        if answer.one("content-type") == HTML:
            assert "<script>alert" not in answer.text
            assert "<img" not in answer.text
            assert "62615533" not in answer.text, "a name is no template"
    saved = ask(served.guard, f"/s/{session}/file")
    disposition = saved.one("content-disposition")
    assert disposition.startswith("attachment; filename*=UTF-8''")
    encoded = disposition.removeprefix("attachment; filename*=UTF-8''")
    assert encoded == quote(unquote(encoded), safe="")
    assert unquote(encoded).isprintable()


# Streams


def test_streams_are_counted_and_the_next_is_told_to_wait(
    tmp_path: Path, serve: Callable[[Path], Served]
) -> None:
    served = serve(tmp_path)

    async def fill() -> None:
        async with anyio.create_task_group() as tasks:
            entered = [served.hub.stream([]) for _ in range(STREAMS)]
            for one in entered:
                await one.__aenter__()
            tasks.start_soon(refused)
            await anyio.wait_all_tasks_blocked()
        for one in entered:
            await one.__aexit__(None, None, None)

    async def refused() -> None:
        async with served.hub.stream([]) as stream:
            assert stream is None

    anyio.run(fill)
    assert ask(served.guard, "/events?list=1").status == 200


@pytest.mark.parametrize("leaves_at", ["once", "start", "piece"])
def test_a_reader_that_leaves_frees_its_stream(served: Served, leaves_at: str) -> None:
    for _ in range(STREAMS + 1):
        answer = ask(served.guard, f"/events?s={served.session}&list=1", leaves_at=leaves_at)
        assert answer.status == 200
    assert served.hub._streams == set()
    if leaves_at == "piece":
        assert b'"pos"' in answer.body


def test_too_many_streams_are_answered_with_503(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("presentview.web.hub.STREAMS", 0)
    answer = ask(served.guard, "/events?list=1")
    assert answer.status == 503
    assert answer.one("retry-after") == "10"
    assert_sealed(answer)

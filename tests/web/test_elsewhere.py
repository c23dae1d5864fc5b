"""Reading on systems that lack what only Linux and macOS have: it is taken away at the start."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from presentview import Event, EventKind, Recorder, Tool, present_path
from presentview.errors import AccessDenied
from presentview.sessions import session_id
from presentview.web.attachments import open_attachment

ROOT = Path(__file__).resolve().parents[2]
WAIT_SECONDS = 60
SCRIPT = """
import os, sys
import asyncio, http, mimetypes, subprocess, tempfile, uuid

sys.modules["fcntl"] = None
for name in (
    "pread", "pwrite", "fchmod", "uname", "register_at_fork",
    "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK",
):
    delattr(os, name)
os.supports_dir_fd.clear()
mimetypes.init()
mimetypes.add_type("text/plain", ".js")

import presentview.cli, presentview.openfile

presentview.openfile._STAYS_OPEN = False
sys.exit(presentview.cli.main(sys.argv[1:]))
"""


def elsewhere(
    *arguments: str | Path, state: Path, encoding: str = "utf-8"
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding=encoding,
        cwd=ROOT,
        env={**os.environ, "PRESENTVIEW_STATE": str(state), "PYTHONIOENCODING": encoding},
    )


def run(*arguments: str | Path, state: Path, encoding: str = "utf-8") -> tuple[int, str, str]:
    process = elsewhere(*arguments, state=state, encoding=encoding)
    out, err = process.communicate(timeout=WAIT_SECONDS)
    return process.returncode, out, err


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    with Recorder.open(path, fsync="never") as recorder:
        recorder.append(Event(kind=EventKind.TURN_STARTED, text="What is here?"))
        tool = Tool(id="t1", name="bash", args='{"command":"ls"}')
        recorder.append(Event(kind=EventKind.TOOL_DISPATCH, tool=tool))
        done = Tool(id="t1", name="bash", args=tool.args, output="one file\n")
        recorder.append(Event(kind=EventKind.TOOL_RESULT, tool=done))
        recorder.append(Event(kind=EventKind.TURN_DONE))
    return path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def test_a_session_is_shown_and_checked_in_the_terminal(session: Path, state: Path) -> None:
    code, out, err = run("show", session, state=state)
    assert (code, err) == (0, "")
    assert "What is here?" in out
    assert "one file" in out
    with open(present_path(session), "ab") as file:
        file.write(b"broken\n")
    code, out, err = run("check", session, state=state)
    assert (code, err) == (1, "")
    assert "not a JSON object" in out


def test_a_session_event_log_is_read_and_none_is_written(tmp_path: Path, state: Path) -> None:
    log = tmp_path / "log.jsonl"
    text = '{"Role":"user","Content":[{"type":"text","text":"Fix it"}]}'
    log.write_text(f'{{"ID":"","Seq":1,"Type":"user/message","Data":{text}}}\n')
    code, out, err = run("resume-messages", log, state=state)
    assert (code, out, err) == (0, "user  (event 1)\n    Fix it\n", "")
    script = "import sys; sys.modules['fcntl'] = None; "
    script += "from presentview.eventlog import Store; Store('s.jsonl')"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "ConfigError: recording needs flock" in done.stderr


def test_what_a_terminal_cannot_show_does_not_end_the_command(session: Path, state: Path) -> None:
    with Recorder.open(session, fsync="never") as recorder:
        recorder.append(Event(kind=EventKind.TURN_STARTED, text="naïve → ☃"))
        recorder.append(Event(kind=EventKind.TURN_DONE))
    code, out, err = run("show", session, state=state, encoding="cp1252")
    assert (code, err) == (0, "")
    assert "naïve ? ?" in out


def test_nothing_is_recorded_and_the_demo_says_why(tmp_path: Path, state: Path) -> None:
    code, out, err = run("demo", "--no-open", "--folder", tmp_path / "demo", state=state)
    assert (code, out) == (2, "")
    assert err == "presentview: recording needs flock, which this system does not have\n"
    assert not (tmp_path / "demo").exists()


class Client:
    """Somebody who is signed in."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        assert parts.port is not None
        self.port = parts.port
        self.token = parts.query.partition("=")[2]

    def get(self, path: str) -> tuple[int, bytes, http.client.HTTPMessage]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)
        with closing(connection):
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers

    def page(self, path: str) -> str:
        status, body, _ = self.get(path)
        assert status == 200
        return body.decode()


@pytest.fixture
def client(session: Path, state: Path) -> Iterator[Client]:
    process = elsewhere("serve", "--no-open", "--port", "0", session.parent, state=state)
    assert process.stdout is not None
    yield Client(process.stdout.readline().strip())
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_session_is_served_live_and_as_a_file(session: Path, client: Client) -> None:
    page = f"/s/{session_id(session)}"
    sidecar = present_path(session)
    assert "What is here?" in client.page(page)
    assert "one file" in client.page(f"{page}/body/c2")
    assert client.get(f"{page}/file")[1] == sidecar.read_bytes()
    assert "one file" in client.page(f"{page}/raw")
    with Recorder.open(session, fsync="never") as recorder:
        recorder.append(Event(kind=EventKind.NOTICE, text="And now?"))
        assert "And now?" in client.page(page)
        recorder.truncate_to_turn(2)
        recorder.sync_before_save(1, last_done=None)
        recorder.append(Event(kind=EventKind.TURN_STARTED, text="Go on"))
        recorder.save()
    assert "Go on" in client.page(page)
    assert client.get(f"{page}/file")[1] == sidecar.read_bytes()


def test_a_script_is_served_as_one_whatever_the_system_takes_it_for(client: Client) -> None:
    status, _, headers = client.get("/static/stream.js")
    assert (status, headers["Content-Type"]) == (200, "text/javascript; charset=utf-8")
    assert client.get("/static/page.css")[2]["Content-Type"] == "text/css; charset=utf-8"
    assert client.get("/static/icon.svg")[2]["Content-Type"] == "image/svg+xml"


def test_attachments_are_refused_where_they_cannot_be_opened_safely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path.resolve() / "shot.png"
    file.write_bytes(b"pixel")
    found = open_attachment(str(file), "", [file.parent])
    os.close(found.fd)
    assert found.head == b"pixel"
    monkeypatch.setattr(os, "supports_dir_fd", set())
    with pytest.raises(AccessDenied, match="no safe way") as refused:
        open_attachment(str(file), "", [file.parent])
    assert refused.value.status == 404

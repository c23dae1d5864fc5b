from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from presentview import limits
from presentview.errors import AccessDenied
from presentview.records import Attachment, Header, Kind, Record, Tool, encode, encode_header
from presentview.sessions import Roots, session_id
from presentview.web.app import create_app
from presentview.web.attachments import attachment_roots, open_attachment
from presentview.web.download import SANDBOX
from presentview.web.network import resolve_policy
from presentview.web.security import Guard
from tests.web.asking import TOKENS, Answer, ask, assert_sealed

SECRET = b"what lies outside"
PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


class Disk:
    """A workspace, the folder of its session, and what must not be seen."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.workspace = top / "desk" / "project"
        self.sessions = top / "sessions"
        self.outside = top / "outside"
        for folder in (self.workspace, self.sessions, self.outside):
            folder.mkdir(parents=True)
        (self.outside / "secret.png").write_bytes(SECRET)
        (self.top / "desk" / "project-secret").mkdir()
        (self.top / "desk" / "project-secret" / "secret.png").write_bytes(SECRET)
        (self.workspace / "shot.png").write_bytes(PNG)

    def read(self, recorded: str) -> bytes:
        return open_attachment(recorded, os.fspath(self.workspace), [self.workspace]).data


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path.resolve())


def refused(disk: Disk, recorded: str) -> str:
    with pytest.raises(AccessDenied) as caught:
        disk.read(recorded)
    assert caught.value.status == 404
    return caught.value.reason


# Where a path may lead


@pytest.mark.parametrize("recorded", ["shot.png", "./shot.png", "a/../shot.png", "{w}/shot.png"])
def test_a_file_of_the_workspace_is_read(disk: Disk, recorded: str) -> None:
    assert disk.read(recorded.replace("{w}", os.fspath(disk.workspace))) == PNG


OUTSIDE = [
    "../../outside/secret.png",
    "a/../../../outside/secret.png",
    "{top}/outside/secret.png",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/environ",
    "../project-secret/secret.png",
    "{top}/desk/project-secret/secret.png",
    "~/.bashrc",
    "~root/.bashrc",
    "",
    ".",
    "..",
    "/",
    "{w}",
    "{w}/",
    "shot.png/x",
    "nowhere.png",
    "a\0b",
    "../../outside/secret.png\0.png",
    "..\\..\\outside\\secret.png",
    "file:///etc/passwd",
    "https://example.com/x.png",
    "%2e%2e/%2e%2e/outside/secret.png",
    "SHOT.PNG",
    "x" * 4096,
    "x/" * 2048,
    "\ud800",
]


@pytest.mark.parametrize("recorded", OUTSIDE, ids=[str(n) for n in range(len(OUTSIDE))])
def test_anything_else_is_not(disk: Disk, recorded: str) -> None:
    filled = recorded.replace("{top}", os.fspath(disk.top)).replace(
        "{w}", os.fspath(disk.workspace)
    )
    refused(disk, filled)


def test_a_link_that_stays_inside_is_followed(disk: Disk) -> None:
    (disk.workspace / "again.png").symlink_to("shot.png")
    assert disk.read("again.png") == PNG


@pytest.mark.parametrize("target", ["../../outside/secret.png", "{top}/outside/secret.png"])
def test_a_link_that_leads_out_is_not(disk: Disk, target: str) -> None:
    (disk.workspace / "out.png").symlink_to(target.replace("{top}", os.fspath(disk.top)))
    (disk.workspace / "folder").symlink_to(disk.outside, target_is_directory=True)
    refused(disk, "out.png")
    refused(disk, "folder/secret.png")


def test_a_link_to_itself_is_refused(disk: Disk) -> None:
    (disk.workspace / "loop").symlink_to("loop")
    refused(disk, "loop")
    refused(disk, "loop/shot.png")


def test_a_hard_link_is_a_file_like_any_other(disk: Disk) -> None:
    (disk.workspace / "linked.png").hardlink_to(disk.outside / "secret.png")
    assert disk.read("linked.png") == SECRET


def _swap_forever(one: Path, other: Path, over: threading.Event) -> None:
    spare = one.with_name("spare")
    while not over.is_set():
        # Exchange what the name stands for, as fast as the system can.
        os.rename(one, spare)
        os.rename(other, one)
        os.rename(one, other)
        os.rename(spare, one)


@pytest.mark.parametrize("what", ["the file", "its folder"])
def test_a_link_that_is_swapped_in_meanwhile_shows_nothing(disk: Disk, what: str) -> None:
    inner = disk.workspace / "inner"
    inner.mkdir()
    (inner / "secret.png").write_bytes(PNG)
    evil = disk.workspace / "evil"
    if what == "the file":
        evil.symlink_to(disk.outside / "secret.png")
        swapped = inner / "secret.png"
    else:
        evil.symlink_to(disk.outside, target_is_directory=True)
        swapped = inner
    over = threading.Event()
    swapper = threading.Thread(target=_swap_forever, args=(swapped, evil, over))
    swapper.start()
    seen: set[bytes] = set()
    try:
        for _ in range(3000):
            try:
                seen.add(disk.read("inner/secret.png"))
            except AccessDenied:
                seen.add(b"")
    finally:
        over.set()
        swapper.join()
    assert SECRET not in seen
    assert PNG in seen


# What may be read


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.fspath(path))


def _device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # what /dev/zero is
    except PermissionError:
        pytest.skip("only root can make a device")


@pytest.mark.parametrize("make", [_folder, _pipe, _socket, _device])
def test_only_regular_files_are_read(disk: Disk, make: Callable[[Path], None]) -> None:
    make(disk.workspace / "thing")
    refused(disk, "thing")


def test_a_file_that_is_too_large_is_refused(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presentview.web.attachments.ATTACHMENT_BYTES", 100)
    (disk.workspace / "just.bin").write_bytes(b"x" * 100)
    (disk.workspace / "over.bin").write_bytes(b"x" * 101)
    assert disk.read("just.bin") == b"x" * 100
    assert "too large" in refused(disk, "over.bin")
    with open(disk.workspace / "sparse.bin", "wb") as file:
        file.truncate(1 << 40)
    assert "too large" in refused(disk, "sparse.bin")


def test_nothing_stays_open(disk: Disk) -> None:
    (disk.workspace / "folder").mkdir()
    before = sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []
    for recorded in ("shot.png", "folder", "nowhere.png", "folder/nowhere.png", "/etc/passwd"):
        try:
            disk.read(recorded)
        except AccessDenied:
            continue
    after = sorted(os.listdir("/proc/self/fd")) if before else []
    assert after == before


# Which folders count


def roots_for(disk: Disk, workspace: str, *allowed: Path) -> list[Path]:
    return attachment_roots(workspace, disk.sessions / "s.jsonl", allowed)


@pytest.fixture
def home(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = disk.top / "home" / "me"
    for name in (".ssh", ".config/app", "project/.hidden"):
        (home / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", os.fspath(home))
    return home


def test_a_session_shows_what_lies_beside_it_and_in_its_workspace(disk: Disk) -> None:
    assert roots_for(disk, os.fspath(disk.workspace)) == [disk.sessions, disk.workspace]
    assert roots_for(disk, "") == [disk.sessions]


def test_the_person_may_allow_more(disk: Disk) -> None:
    assert roots_for(disk, "", disk.outside) == [disk.outside, disk.sessions]
    link = disk.top / "link"
    link.symlink_to(disk.outside)
    assert disk.outside in roots_for(disk, "", link)


@pytest.mark.parametrize(
    "workspace",
    [
        "/", "//", "/home", "/tmp", "{home}", "{home}/", "{home}/..", "{home}/x/..", "{home}/.ssh",
        "{home}/.config/app", "/etc/ssl", "/proc/self", "/proc/self/root/tmp", "/sys/kernel",
        "/dev/shm", "/run/user", "/usr/share", "relative/folder", "..", "", "/a\0b",
    ],
)  # fmt: skip
def test_a_session_cannot_open_more_by_naming_another_workspace(
    disk: Disk, home: Path, workspace: str
) -> None:
    named = workspace.replace("{home}", os.fspath(home))
    assert roots_for(disk, named) == [disk.sessions]


@pytest.mark.parametrize("workspace", ["project", "project/.hidden", "new"])
def test_a_folder_in_the_persons_own_is_a_workspace(disk: Disk, home: Path, workspace: str) -> None:
    assert roots_for(disk, os.fspath(home / workspace)) == [disk.sessions, home / workspace]


def test_a_workspace_that_is_a_link_counts_as_what_it_leads_to(disk: Disk, home: Path) -> None:
    link = disk.top / "desk" / "link"
    link.symlink_to(home / ".ssh")
    assert roots_for(disk, os.fspath(link)) == [disk.sessions]


def test_a_session_that_lies_in_the_persons_folder_itself_does_not_open_it(
    disk: Disk, home: Path
) -> None:
    assert attachment_roots("", home / "s.jsonl", []) == []
    assert attachment_roots("", home.parent / "s.jsonl", []) == []
    assert attachment_roots("", home / "s.jsonl", [home]) == [home]


# As the browser gets them


class Shown:
    """A session with attachments, served."""

    def __init__(self, disk: Disk, names: list[str], **options: Any) -> None:
        files = tuple(Attachment(path=name, kind="image") for name in names)
        lines = [
            encode_header(Header(workspace=os.fspath(disk.workspace))),
            encode(Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="t", name="draw"))),
            encode(Record(kind=Kind.TOOL_RESULT, tool=Tool(id="t", attachments=files))),
        ]
        path = disk.sessions / "s.present.jsonl"
        path.write_bytes(b"\n".join(lines) + b"\n")
        self.app = create_app(Roots((disk.sessions,), ()), **options)
        self.guard = Guard(self.app, resolve_policy(host="127.0.0.1", port=8377), TOKENS)
        self.session = session_id(disk.sessions / "s.jsonl")

    def get(self, index: int) -> Answer:
        return ask(self.guard, f"/s/{self.session}/file/c1/{index}")

    def close(self) -> None:
        for feed in self.app.state.hub._feeds.values():
            feed.follower.close()


@pytest.fixture
def show(disk: Disk) -> Iterator[Callable[..., Shown]]:
    shown: list[Shown] = []

    def start(*names: str, **options: Any) -> Shown:
        shown.append(Shown(disk, list(names), **options))
        return shown[-1]

    yield start
    for one in shown:
        one.close()


IMAGES = {
    "a.png": (PNG, "image/png"),
    "wrong name.txt": (PNG, "image/png"),
    "a.jpg": (b"\xff\xd8\xff\xe0 and so on", "image/jpeg"),
    "a.gif": (b"GIF89a and so on", "image/gif"),
    "old.gif": (b"GIF87a and so on", "image/gif"),
    "a.webp": (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
}
OTHERS = {
    "a.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "a.html": b"<script>alert(1)</script>",
    "a.pdf": b"%PDF-1.7",
    "a.js": b"alert(1)",
    "named.png": b"<script>alert(1)</script>",
    "late.png": b" \x89PNG\r\n\x1a\n",
    "short.png": b"\x89PNG",
    "wave.webp": b"RIFF\x10\0\0\0WAVEfmt ",
    "empty.png": b"",
}


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_is_shown_for_what_it_is(
    disk: Disk, show: Callable[..., Shown], name: str
) -> None:
    data, kind = IMAGES[name]
    (disk.workspace / name).write_bytes(data)
    answer = show(name).get(0)
    assert answer.status == 200
    assert answer.body == data
    assert answer.one("content-type") == kind
    assert answer.all("content-disposition") == []
    assert_sealed(answer, policy=SANDBOX)


@pytest.mark.parametrize("name", OTHERS)
def test_anything_else_is_saved_and_never_shown(
    disk: Disk, show: Callable[..., Shown], name: str
) -> None:
    (disk.workspace / name).write_bytes(OTHERS[name])
    answer = show(name).get(0)
    assert answer.status == 200
    assert answer.body == OTHERS[name]
    assert answer.one("content-type") == "application/octet-stream"
    assert answer.one("content-disposition") == f"attachment; filename*=UTF-8''{name}"
    assert_sealed(answer, policy=SANDBOX)


def test_a_refusal_says_what_to_do_and_nothing_else(disk: Disk, show: Callable[..., Shown]) -> None:
    shown = show("../../outside/secret.png", "nowhere.png", "\0")
    for index in range(4):
        answer = shown.get(index)
        assert answer.status == 404
        assert SECRET not in answer.body
        assert_sealed(answer)
    assert "--allow" in shown.get(0).text


def test_what_the_person_allows_is_shown(disk: Disk, show: Callable[..., Shown]) -> None:
    name = os.fspath(disk.outside / "secret.png")
    assert show(name).get(0).status == 404
    assert show(name, allowed=[disk.outside]).get(0).body == SECRET


def test_a_card_shows_images_by_their_number_and_other_files_by_their_name(
    disk: Disk, show: Callable[..., Shown]
) -> None:
    shown = show('a"><script>alert(1)</script>.png', "shot.png")
    page = ask(shown.guard, f"/s/{shown.session}/body/c1")
    assert page.status == 200
    assert "<script>" not in page.text
    assert f'src="/s/{shown.session}/file/c1/1"' in page.text
    assert os.fspath(disk.workspace) not in page.text


def test_the_limit_is_the_documented_one() -> None:
    assert limits.ATTACHMENT_BYTES == 20 * 1024 * 1024

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
from presentview.openfile import read_at
from presentview.records import Attachment, Header, Kind, Record, Tool
from presentview.sessions import Roots, session_id
from presentview.transcript.cards import Part, ToolCard
from presentview.web import attachments, download
from presentview.web.app import create_app
from presentview.web.attachments import (
    Look,
    OpenedFile,
    SessionFiles,
    attachment_roots,
    open_attachment,
)
from presentview.web.bodies import body_of
from presentview.web.download import SANDBOX
from presentview.web.network import resolve_policy
from presentview.web.security import Guard
from presentview.web.templating import render
from tests.sidecars import write_session
from tests.web.asking import TOKENS, Answer, ask, assert_sealed

SECRET = b"what lies outside"
PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


def content_of(found: OpenedFile) -> bytes:
    with open(found.fd, "rb") as file:
        file.seek(0)
        content = file.read()
    assert content.startswith(found.head)
    assert len(content) == found.size
    return content


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
        return content_of(open_attachment(recorded, os.fspath(self.workspace), [self.workspace]))


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


# The same, at the very moment between the check and the opening


def _to_link(disk: Disk, path: Path) -> None:
    path.unlink()
    path.symlink_to(disk.outside / "secret.png")


def _to_folder_link(disk: Disk, path: Path) -> None:
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to(disk.outside, target_is_directory=True)


def _to_pipe(_: Disk, path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _to_folder(_: Disk, path: Path) -> None:
    path.unlink()
    path.mkdir()


def _to_nothing(_: Disk, path: Path) -> None:
    path.unlink()


def _to_much(_: Disk, path: Path) -> None:
    os.truncate(path, limits.ATTACHMENT_BYTES + 1)


@pytest.mark.parametrize("reads", [True, False], ids=["read", "looked at"])
@pytest.mark.parametrize(
    "swap", [_to_link, _to_folder_link, _to_pipe, _to_folder, _to_nothing, _to_much]
)
def test_what_a_file_becomes_after_the_check_is_not_shown(
    disk: Disk, monkeypatch: pytest.MonkeyPatch, swap: Callable[[Disk, Path], None], reads: bool
) -> None:
    inner = disk.workspace / "inner"
    inner.mkdir()
    (inner / "secret.png").write_bytes(PNG)
    real = attachments._open_below

    def opened(root: Path, parts: tuple[str, ...]) -> int:
        swap(disk, inner / "secret.png")
        return real(root, parts)

    monkeypatch.setattr(attachments, "_open_below", opened)
    if reads:
        refused(disk, "inner/secret.png")
    else:
        look = SessionFiles(disk.sessions / "s.jsonl").looker(os.fspath(disk.workspace))
        assert look("inner/secret.png").reason


def test_a_root_that_becomes_a_link_after_the_check_is_not_entered(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = attachments._open_below

    def opened(root: Path, parts: tuple[str, ...]) -> int:
        disk.workspace.rename(disk.top / "moved")
        disk.workspace.symlink_to(disk.outside, target_is_directory=True)
        return real(root, parts)

    monkeypatch.setattr(attachments, "_open_below", opened)
    refused(disk, "shot.png")


# Looking without reading


LOOKS = {
    "shot.png": Look(is_image=True),
    "notes.txt": Look(),
    "fake.png": Look(),
    "empty.png": Look(),
    "nowhere.png": Look(reason="not found"),
    "nowhere/x.png": Look(reason="not found"),
    "shot.png/x": Look(reason="not found"),
    "x" * 4096: Look(reason="not found"),
    "a\0b": Look(reason="not found"),
    "../../outside/secret.png": Look(reason="outside the session's workspace; --allow its folder"),
    "/etc/passwd": Look(reason="outside the session's workspace; --allow its folder"),
    "out.png": Look(reason="outside the session's workspace; --allow its folder"),
    "folder": Look(reason="no regular file"),
    "large.png": Look(reason="too large to be shown: more than 20 MiB"),
}


@pytest.mark.parametrize("recorded", LOOKS, ids=[str(n) for n in range(len(LOOKS))])
def test_a_look_says_what_opening_would_do(disk: Disk, recorded: str) -> None:
    (disk.workspace / "notes.txt").write_bytes(b"notes")
    (disk.workspace / "fake.png").write_bytes(b"<svg onload=alert(1)>")
    (disk.workspace / "empty.png").write_bytes(b"")
    (disk.workspace / "folder").mkdir()
    (disk.workspace / "out.png").symlink_to(disk.outside / "secret.png")
    with open(disk.workspace / "large.png", "wb") as file:
        file.write(PNG)
        file.truncate(limits.ATTACHMENT_BYTES + 1)
    files = SessionFiles(disk.sessions / "s.jsonl")
    workspace = os.fspath(disk.workspace)
    look = files.looker(workspace)(recorded)
    assert look == LOOKS[recorded]
    if look.reason:
        with pytest.raises(AccessDenied) as caught:
            files.open(recorded, workspace)
        assert caught.value.reason == look.reason
    else:
        found = files.open(recorded, workspace)
        content_of(found)
        assert bool(found.image_type) == look.is_image


def test_what_the_person_allows_can_be_looked_at(disk: Disk) -> None:
    (disk.outside / "secret.png").write_bytes(PNG)
    name = os.fspath(disk.outside / "secret.png")
    session = disk.sessions / "s.jsonl"
    assert SessionFiles(session).looker("")(name).reason
    assert SessionFiles(session, [disk.outside]).looker("")(name) == Look(is_image=True)


def body_with(disk: Disk, *files: Attachment) -> str:
    """The body of a call that names these files."""
    record = Record(kind=Kind.TOOL_RESULT, tool=Tool(id="t", attachments=files))
    card = ToolCard(1, "tool", 1, result=record)

    def read(part: Part) -> Record:
        assert isinstance(part, Record)
        return part

    look = SessionFiles(disk.sessions / "s.jsonl").looker(os.fspath(disk.workspace))
    body = body_of(card, read, look=look)
    return render("body/_body.html", body=body, session="5e55", card_id=card.id)


def test_an_image_is_drawn_and_any_other_file_is_offered(disk: Disk) -> None:
    (disk.workspace / "notes.txt").write_bytes(b"notes")
    (disk.workspace / "shot").write_bytes(PNG)
    html = body_with(disk, Attachment("notes.txt"), Attachment("shot"))
    assert html.count("<img") == 1
    assert '<a href="/s/5e55/file/c1/0" download>' in html
    assert '<a href="/s/5e55/file/c1/1"><img src="/s/5e55/file/c1/1"' in html
    assert "badge" not in html


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("nowhere.png", "not found"),
        ("/etc/passwd", "outside the session&#39;s workspace; --allow its folder"),
        (".", "outside the session&#39;s workspace; --allow its folder"),
    ],
)
def test_a_file_that_cannot_be_had_is_a_label_that_says_why(
    disk: Disk, path: str, why: str
) -> None:
    html = body_with(disk, Attachment(path, "image"))
    assert f'<span class="missing"><span>{path}</span>: {why}</span>' in html
    assert "<img" not in html
    assert "/file/" not in html


def test_an_image_that_is_none_is_offered_with_a_word(disk: Disk) -> None:
    (disk.workspace / "a.png").write_bytes(b"<script>alert(1)</script>")
    html = body_with(disk, Attachment("a.png"))
    assert "<img" not in html
    assert 'href="/s/5e55/file/c1/0" download' in html
    assert "not an image" in html


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


def open_files() -> list[str]:
    return sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []


def test_nothing_stays_open(disk: Disk) -> None:
    (disk.workspace / "folder").mkdir()
    before = open_files()
    for recorded in ("shot.png", "folder", "nowhere.png", "folder/nowhere.png", "/etc/passwd"):
        try:
            disk.read(recorded)
        except AccessDenied:
            continue
    assert open_files() == before


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
        records = [
            Record(kind=Kind.TOOL_DISPATCH, tool=Tool(id="t", name="draw")),
            Record(kind=Kind.TOOL_RESULT, tool=Tool(id="t", attachments=files)),
        ]
        write_session(disk.sessions, records, Header(workspace=os.fspath(disk.workspace)))
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


def test_a_file_is_sent_in_pieces_and_not_kept_open(
    disk: Disk, show: Callable[..., Shown], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = PNG + b"pixels" * 200_000
    (disk.workspace / "large.png").write_bytes(data)
    shown = show("large.png")
    shown.get(0)
    before = open_files()
    asked: list[int] = []

    def read(fd: int, size: int, offset: int) -> bytes:
        asked.append(size)
        return read_at(fd, size, offset)

    monkeypatch.setattr(download, "read_at", read)
    assert shown.get(0).body == data
    assert max(asked) == limits.DOWNLOAD_CHUNK
    assert open_files() == before


def _grown(path: Path) -> bytes:
    data = path.read_bytes()
    with open(path, "ab") as file:
        file.write(b"more" * limits.MIB)
    return data


def _shortened(path: Path) -> bytes:
    os.truncate(path, 100_000)
    return path.read_bytes()


def _replaced(disk: Disk, path: Path) -> bytes:
    data = path.read_bytes()
    path.unlink()
    path.symlink_to(disk.outside / "secret.png")
    return data


def _overwritten(path: Path) -> bytes:
    data = path.read_bytes()
    evil = b"<script>alert(1)</script>".ljust(len(data))
    path.write_bytes(evil)
    # What told that it is an image is what was sent.
    return data[: limits.DOWNLOAD_CHUNK] + evil[limits.DOWNLOAD_CHUNK :]


@pytest.mark.parametrize("what", ["grown", "shortened", "replaced", "overwritten"])
def test_what_becomes_of_a_file_while_it_is_sent_changes_no_word_of_the_check(
    disk: Disk, show: Callable[..., Shown], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    path = disk.workspace / "large.png"
    path.write_bytes(PNG + b"pixels" * 100_000)
    shown = show("large.png")
    real = SessionFiles.open
    sent: list[bytes] = []

    def opened(files: SessionFiles, recorded: str, workspace: str) -> OpenedFile:
        found = real(files, recorded, workspace)
        changes = {"grown": _grown, "shortened": _shortened, "overwritten": _overwritten}
        sent.append(changes[what](path) if what in changes else _replaced(disk, path))
        return found

    monkeypatch.setattr(SessionFiles, "open", opened)
    answer = shown.get(0)
    assert [answer.body] == sent
    assert answer.one("content-type") == "image/png"
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

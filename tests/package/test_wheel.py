"""What is released: everything is in it, and it runs far away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest

pytestmark = pytest.mark.package

ROOT = Path(__file__).resolve().parents[2]
CONTENT_TYPES = {
    "script": {"text/javascript", "application/javascript"},
    "stylesheet": {"text/css"},
}


class Built(NamedTuple):
    """A release as it would be uploaded."""

    wheel: Path
    sdist: Path


class Linked(NamedTuple):
    """A file that a page loads: a `script` or a `stylesheet`, and its address."""

    kind: str
    address: str


class Links(HTMLParser):
    """Collects the scripts and stylesheets of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Linked] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "script":
            self.found.append(Linked("script", values["src"] or ""))
        elif tag == "link" and values.get("rel") == "stylesheet":
            self.found.append(Linked("stylesheet", values["href"] or ""))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    # The wheel is made from the sdist, so a file that the sdist forgets is missing in both.
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of a fresh environment that has the wheel.

    Dependencies come from the environment that runs the tests, added by a line in a `.pth` file:
    unlike a site folder, that brings no editable install of the checkout with it.
    """
    home = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    python = home / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    subprocess.run([*pip, "--no-index", "--quiet", str(built.wheel)], check=True)
    (site,) = home.glob("lib/python3*/site-packages")
    ours = [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]
    (site / "dependencies.pth").write_text("\n".join(ours) + "\n")
    return home / "bin"


def relative_files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder.parent).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }


def clean_environment(home: Path) -> dict[str, str]:
    # Without the checkout on the path, and with user folders of its own.
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV", "XDG_", "PRESENTVIEW"))
    }
    return {**kept, "HOME": str(home)}


def test_the_wheel_holds_the_package_its_templates_and_its_static_files(built: Built) -> None:
    names = set(zipfile.ZipFile(built.wheel).namelist())
    inside = {name for name in names if ".dist-info/" not in name}
    beside = relative_files(ROOT / "templates") | relative_files(ROOT / "static")
    expected = relative_files(ROOT / "presentview") | {f"presentview/{name}" for name in beside}
    assert inside == expected
    assert "presentview/py.typed" in inside


def test_the_wheel_carries_every_licence(built: Built) -> None:
    names = zipfile.ZipFile(built.wheel).namelist()
    carried = {name.partition("/licenses/")[2] for name in names if "/licenses/" in name}
    vendored = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "static" / "vendor").glob("*.LICENSE.txt")
    }
    assert carried == {"LICENSE"} | vendored


def test_the_sdist_can_be_tested_where_it_is_unpacked(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"LICENSE", "Makefile", "CHANGELOG.md", "README.md", "SECURITY.md", "pyproject.toml"}
    for folder in ("presentview", "static", "templates", "tests", "tools"):
        needed |= relative_files(ROOT / folder)
    assert needed - names == set()


def test_the_installed_package_is_the_one_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    code = "import presentview._assets as a; print(a.templates_dir()); print(a.static_dir())"
    done = subprocess.run(
        [installed / "python", "-c", code],
        cwd=tmp_path,
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    folders = [Path(line) for line in done.stdout.splitlines()]
    assert [folder.name for folder in folders] == ["templates", "static"]
    assert all(folder.is_relative_to(installed.parent) for folder in folders)


@contextmanager
def served(command: Path, sessions: Path, home: Path) -> Iterator[str]:
    """Run the installed server over a folder; yield the address that it prints."""
    with (
        (home / "stderr").open("w+") as errors,
        subprocess.Popen(
            [command, "serve", sessions, "--port", "0", "--no-open"],
            cwd=home,
            env=clean_environment(home),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as server,
    ):
        try:
            assert server.stdout is not None
            address = next((line for line in server.stdout if line.startswith("http")), None)
            errors.seek(0)
            assert address is not None, errors.read()
            yield address.strip()
        finally:
            server.terminate()


def test_the_installed_server_serves_its_page_and_all_that_the_page_loads(
    installed: Path, tmp_path: Path
) -> None:
    sessions = tmp_path / "sessions"
    home = tmp_path / "elsewhere"
    sessions.mkdir()
    home.mkdir()
    with (
        served(installed / "presentview", sessions, home) as address,
        httpx2.Client(follow_redirects=True, trust_env=False) as client,
    ):
        page = client.get(address)
        assert page.status_code == 200, page.text
        assert page.headers["content-type"].startswith("text/html")
        links = Links()
        links.feed(page.text)
        assert {link.kind for link in links.found} == {"script", "stylesheet"}
        for link in links.found:
            answer = client.get(page.url.join(link.address))
            assert (link, answer.status_code) == (link, 200)
            assert answer.content, link
            content_type = answer.headers["content-type"].partition(";")[0]
            assert content_type in CONTENT_TYPES[link.kind], link

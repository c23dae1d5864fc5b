"""What must hold for the files of the project themselves."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import presentview
from presentview import _assets
from presentview.errors import ConfigError
from tools import vendor

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "templates"
STATIC = ROOT / "static"
CHROMIUM_SCRIPT = ROOT / "tools" / "ensure_chromium.sh"

# In pieces, so that this file does not name them itself.
WORKPLACE_PATHS = re.compile(r"(?<![\w.~-])/(?:wo" + r"rk/|tmp/pv\b)")

# {% set one = 1 %} is not an attribute, so what Jinja runs is cut out before the last three.
UNSAFE_SOURCE = {
    "safe filter": r"\|\s*safe\b",
    "autoescape switched": r"{%-?\s*autoescape\b",
    "inline script": r"(?i)<script\b(?![^>]*\ssrc\s*=)",
    "style element": r"(?i)<style\b",
    "javascript address": r"(?i)javascript:",
    "address on another host": r"(?i)\s(?:src|href|action|hx-[a-z]+)\s*=\s*[\"']?(?:https?:)?//",
}
UNSAFE_MARKUP = {
    "style attribute": r"(?i)\sstyle\s*=",
    "event handler": r"(?i)\son[a-z]+\s*=",
    "expression for htmx": r"(?i)\shx-on\b|[\"']js:|\shx-trigger\s*=\s*\"[^\"]*\[",
}


# What running the project leaves in a checkout.
MADE = frozenset({"__pycache__", "presentview-demo", "build", "dist"})


def files_of(*tops: Path, suffixes: tuple[str, ...] = ("",)) -> Iterator[Path]:
    for top in tops:
        for folder, folders, names in os.walk(top):
            folders[:] = [
                name
                for name in folders
                if name == ".ci" or not (name.startswith(".") or name in MADE)
            ]
            # A worktree's .git is a file that says where the repository lies.
            found = (name for name in names if name != ".git" and name.endswith(suffixes))
            yield from (Path(folder, name) for name in found)


def templates() -> list[Path]:
    return sorted(files_of(TEMPLATES, suffixes=(".html", ".svg", ".xml")))


def named(path: Path, *, top: Path) -> str:
    return path.relative_to(top).as_posix()


def unsafe_parts(source: str) -> list[str]:
    markup = re.sub(r"(?s){#.*?#}|{%.*?%}|{{.*?}}", "", source)
    return [
        *(name for name, pattern in UNSAFE_SOURCE.items() if re.search(pattern, source)),
        *(name for name, pattern in UNSAFE_MARKUP.items() if re.search(pattern, markup)),
    ]


def test_the_newest_entry_of_the_changelog_is_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"(?m)^## \[(\d+\.\d+\.\d+)\] - (?:unreleased|\d{4}-\d\d-\d\d)$", changelog)
    assert newest is not None
    assert newest[1] == presentview.__version__


def test_every_template_is_used() -> None:
    users = {
        path: path.read_text(encoding="utf-8")
        for path in (*templates(), *files_of(ROOT / "presentview", suffixes=(".py",)))
    }
    unused = [
        name
        for template in templates()
        for name in [named(template, top=TEMPLATES)]
        if not any(
            f'"{name}"' in text or f"'{name}'" in text
            for user, text in users.items()
            if user != template
        )
    ]
    assert unused == []


def test_every_static_file_is_used() -> None:
    sources = (".css", ".html", ".js", ".py")
    users = {
        path: path.read_text(encoding="utf-8")
        for path in files_of(TEMPLATES, STATIC, ROOT / "presentview", suffixes=sources)
        if "vendor" not in path.parts
    }
    unused = [
        named(static, top=STATIC)
        for static in files_of(STATIC)
        if static.suffix not in {".toml", ".txt"}
        if not any(
            re.search(rf"[/\"'(]{re.escape(static.name)}[\"')?#]", text)
            for user, text in users.items()
            if user != static
        )
    ]
    assert unused == []


def test_no_template_can_run_or_style_what_a_transcript_says() -> None:
    found = {
        named(template, top=TEMPLATES): unsafe_parts(template.read_text(encoding="utf-8"))
        for template in templates()
    }
    assert {name: parts for name, parts in found.items() if parts} == {}


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("{{ text|safe }}", "safe filter"),
        ("{{ text | safe | trim }}", "safe filter"),
        ("{% autoescape false %}", "autoescape switched"),
        ("<script>go()</script>", "inline script"),
        ("<SCRIPT type=module>", "inline script"),
        ("<style>p {}</style>", "style element"),
        ('<a href="javascript:go()">', "javascript address"),
        ('<img src="//host/x.png">', "address on another host"),
        ('<p hx-get="https://host/">', "address on another host"),
        ('<p class="a" style="color:red">', "style attribute"),
        ("<p\n onclick=go()>", "event handler"),
        ('<p hx-on:click="go()">', "expression for htmx"),
        ("""<p hx-vals='js:{"a": b}'>""", "expression for htmx"),
        ('<p hx-trigger="click[ctrlKey]">', "expression for htmx"),
    ],
)
def test_the_template_check_finds(source: str, part: str) -> None:
    assert unsafe_parts(source) == [part]


@pytest.mark.parametrize(
    "source",
    [
        '<script src="/static/app.js"></script>',
        '<script type="module" src="{{ static(name) }}"></script>',
        '{% set one = 1 %}<p class="{{ two }}" data-one="3">',
        '<p hx-get="/cards/1" hx-trigger="intersect once">',
        "<p>{{ safe }} | unsafe</p>",
    ],
)
def test_the_template_check_passes(source: str) -> None:
    assert unsafe_parts(source) == []


@pytest.mark.parametrize("folder", vendor.FOLDERS, ids=lambda folder: named(folder, top=ROOT))
def test_vendored_files_are_what_their_table_says(folder: Path) -> None:
    assert vendor.problems(folder) == []


def test_a_changed_a_missing_and_an_unlisted_vendored_file_are_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "vendor"
    shutil.copytree(STATIC / "vendor", folder)
    changed, missing, *_ = (file.path for file in vendor.listed(folder))
    changed.write_bytes(changed.read_bytes() + b"\n")
    missing.unlink()
    (folder / "new.js").write_bytes(b"")
    found = vendor.problems(folder)
    assert [line.partition(":")[0] for line in found] == [
        str(changed),
        str(missing),
        str(folder / "new.js"),
    ]


def test_no_file_names_the_machine_it_was_written_on() -> None:
    found = []
    for path in files_of(ROOT):
        recorded = path.is_relative_to(ROOT / "tests" / "data")
        if not recorded and WORKPLACE_PATHS.search(path.read_text("utf-8", errors="replace")):
            found.append(named(path, top=ROOT))
    assert found == []


def test_the_folders_of_a_checkout_are_found_beside_the_package() -> None:
    assert _assets.templates_dir() == TEMPLATES
    assert _assets.static_dir() == STATIC


def test_folders_inside_the_package_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "presentview"
    monkeypatch.setattr(_assets, "_PACKAGE", package)
    (tmp_path / "static").mkdir()
    (package / "static").mkdir(parents=True)
    assert _assets.static_dir() == package / "static"


def test_a_missing_folder_is_a_config_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_assets, "_PACKAGE", tmp_path / "presentview")
    with pytest.raises(ConfigError, match="templates"):
        _assets.templates_dir()


def ensure_chromium(path: Path, chromium: str = "") -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(path), "PRESENTVIEW_CHROMIUM": chromium}
    return subprocess.run(
        ["/bin/sh", CHROMIUM_SCRIPT], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "name", ["chromium-headless-shell", "chromium", "google-chrome", "my-chrome"]
)
def test_an_installed_browser_is_found(name: str, tmp_path: Path) -> None:
    browser = tmp_path / name
    browser.write_text("#!/bin/sh\n")
    browser.chmod(0o755)
    done = ensure_chromium(tmp_path, "" if name != "my-chrome" else str(browser))
    assert (done.returncode, done.stdout) == (0, f"{browser}\n")


@pytest.mark.parametrize("named_browser", ["", "/nowhere/chromium"])
def test_a_missing_browser_that_cannot_be_installed_is_asked_for(
    named_browser: str, tmp_path: Path
) -> None:
    done = ensure_chromium(tmp_path, named_browser)
    assert (done.returncode, done.stdout) == (1, "")
    assert "apt-get install chromium" in done.stderr

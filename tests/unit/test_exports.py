"""What `import presentview` offers, and what it and a recorder load to offer it."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import presentview

FRAMEWORKS = (
    *("starlette", "jinja2", "markupsafe", "orjson", "uvicorn", "watchfiles", "sse_starlette"),
    *("pygments", "markdown_it"),
)
READING = ("presentview.transcript", "presentview.salvage", "presentview.covering")

RECORDS = """
import sys
from presentview import Event, EventKind, Recorder
with Recorder.open({path!r}) as recorder:
    before = set(sys.modules)
    for text in ("hello", "again"):
        recorder.append(Event(kind=EventKind.TURN_STARTED, text=text))
        recorder.append(Event(kind=EventKind.TURN_DONE))
    recorder.truncate_to_turn(2)
    recorder.set_rewrite_version(1)
    recorder.save()
assert set(sys.modules) == before, set(sys.modules) - before
"""


def loaded_by(code: str) -> set[str]:
    """Every module that a fresh interpreter has loaded after `code`."""
    code += "\nimport sys\nprint(*sys.modules, sep='\\n')"
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def imported_for_type_checkers() -> dict[str, str]:
    """Each name that `presentview` shows a type checker, with the module it is taken from."""
    tree = ast.parse(inspect.getsource(presentview))
    guarded = next(
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {
        alias.name: node.module or ""
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_importing_presentview_loads_nothing_of_it() -> None:
    loaded = loaded_by("import presentview")
    assert loaded.isdisjoint((*FRAMEWORKS, *READING, "msgspec"))
    assert {name for name in loaded if name.startswith("presentview.")} == {"presentview._version"}


@pytest.mark.parametrize(
    "code",
    ["import presentview; presentview.Recorder", "from presentview import Recorder, load"],
    ids=["attribute", "from"],
)
def test_the_recorder_comes_without_what_reads_damaged_lines_and_transcripts(code: str) -> None:
    loaded = loaded_by(code)
    assert "presentview.recorder" in loaded
    assert loaded.isdisjoint((*FRAMEWORKS, *READING))


def test_a_recorder_loads_nothing_after_it_was_made(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    loaded = loaded_by(RECORDS.format(path=str(path)))
    assert presentview.load(presentview.present_path(path)).rewrite_version == 1
    assert loaded.isdisjoint((*FRAMEWORKS, "presentview.salvage"))


def test_loading_a_whole_file_loads_nothing_that_reads_damaged_lines(tmp_path: Path) -> None:
    path = tmp_path / "s.present.jsonl"
    path.write_text('{"kind":"_header","rewriteVersion":2}\n{"kind":"text","text":"a"}\n')
    loaded = loaded_by(f"import presentview\nassert presentview.load({str(path)!r}).has_header")
    assert loaded.isdisjoint((*FRAMEWORKS, *READING))


def test_every_name_is_what_its_module_calls_so() -> None:
    homes = imported_for_type_checkers()
    for name, module in homes.items():
        assert getattr(presentview, name) is getattr(import_module(module), name)
    assert sorted((*homes, "__version__")) == sorted(presentview.__all__)
    assert {f"presentview.{home}" for home in presentview._EXPORTS} == set(homes.values())
    assert set(presentview.__all__) <= set(dir(presentview))


def test_all_names_can_be_had_at_once() -> None:
    names: dict[str, object] = {}
    exec("from presentview import *", names)
    assert set(presentview.__all__) <= set(names)


def test_a_name_there_is_not_is_an_attribute_error() -> None:
    assert not hasattr(presentview, "Recorders")
    with pytest.raises(AttributeError, match="module 'presentview' has no attribute 'Recorders'"):
        _ = presentview.Recorders  # type: ignore[attr-defined]

from __future__ import annotations

import pytest
from pygments.lexers import find_lexer_class_for_filename, get_all_lexers

from presentview.web.render.lexers import find_lexer

# Files of these are mostly of another language than pygments takes them for, or it knows none.
OURS = {
    "x.S": "GAS",
    "x.as": "ActionScript 3",
    "x.cl": "Common Lisp",
    "x.cts": "TypeScript",
    "x.fs": "F#",
    "x.g": "ANTLR",
    "x.googlesql.sql": "SQL",
    "x.mts": "TypeScript",
    "x.pl": "Perl",
    "x.sql": "SQL",
    "x.t": "Perl",
}


def names() -> list[str]:
    """A file name for each pattern that pygments has."""
    patterns = (pattern for _, _, all_of, _ in get_all_lexers(plugins=False) for pattern in all_of)
    found = {one.replace("*", "x").replace("?", "y").replace("[0-9]", "3") for one in patterns}
    return sorted(found | {"x", "x.", ".x", "", "x.tar.gz", "x.html.j2", "no such.file"})


def test_a_file_is_read_by_the_lexer_that_pygments_finds_for_it() -> None:
    asked = [name for name in names() if name not in OURS]
    assert len(asked) > 700
    ours = {name: find_lexer("", name) for name in asked}
    assert ours == {name: find_lexer_class_for_filename(name) for name in asked}


@pytest.mark.parametrize("name", OURS)
def test_ends_that_several_languages_share_are_of_the_common_one(name: str) -> None:
    assert find_lexer("", name).name == OURS[name]


@pytest.mark.parametrize(
    ("language", "name", "found"),
    [
        ("rust", "x.py", "Rust"),
        ("no such language", "x.py", "Python"),
        ("JSONL", "", "JSON"),
        ("patch", "", "Diff"),
    ],
)
def test_the_name_of_a_language_comes_first(language: str, name: str, found: str) -> None:
    assert find_lexer(language, name).name == found


@pytest.mark.parametrize("name", ["", "x" * 1000 + ".py"], ids=["none", "endless"])
def test_names_that_are_none_are_of_no_language(name: str) -> None:
    assert find_lexer(name, name) is None

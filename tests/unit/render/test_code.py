from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview import limits
from presentview.web.render import code as code_module
from presentview.web.render.code import highlight, highlight_lines
from tests.unit.render.page import Page, in_document

ALLOWED = {"span": {"class", "data-ch"}}


def test_a_language_by_name_is_coloured() -> None:
    assert highlight("def f(): pass", language="python") == (
        '<span class="hl-k">def</span> <span class="hl-f">f</span>():'
        ' <span class="hl-k">pass</span>'
    )


@pytest.mark.parametrize(
    "name", ["main.go", "/src/deep/main.go", "C:\\src\\main.go", "MAIN.go"], ids=ascii
)
def test_a_file_is_coloured_by_the_end_of_its_path(name: str) -> None:
    assert '<span class="hl-k">func</span>' in highlight("func main() {}", filename=name)


@pytest.mark.parametrize(
    ("filename", "language"),
    [
        ("", ""),
        ("notes", ""),
        ("x.unheardof", ""),
        ("", "no-such-language"),
        ("", "../../etc/passwd"),
        ("a" * 10_000 + ".py", ""),
        ("", "python" * 1000),
    ],
    ids=lambda name: name[:20] or "none",
)
def test_nothing_is_guessed(filename: str, language: str) -> None:
    text = "#!/usr/bin/python\ndef f(): pass"
    assert highlight(text, filename=filename, language=language) == text


def test_an_unknown_language_leaves_the_file_name_to_decide() -> None:
    assert "hl-k" in highlight("def f(): pass", filename="x.py", language="snake")


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("x = 1\n" * limits.HIGHLIGHT_BYTES, id="long"),
        pytest.param("é = 1\n" * (limits.HIGHLIGHT_BYTES // 6), id="long in bytes"),
        pytest.param("x = " + "1" * limits.HIGHLIGHT_LINE_CHARS, id="long line"),
    ],
)
def test_code_that_is_too_long_stays_plain(code: str) -> None:
    assert highlight(code, language="python") == code


def test_a_lexer_that_takes_too_long_leaves_the_text_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_module, "_SECONDS", -1)
    assert highlight("def slow(): pass", language="python") == "def slow(): pass"


def test_a_lexer_that_fails_leaves_the_text_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken_lexer() -> None:
        raise ValueError("broken")

    monkeypatch.setattr(code_module, "find_lexer", lambda *names: broken_lexer)
    assert highlight("a < b", language="python") == "a &lt; b"


@pytest.mark.parametrize("language", ["python", "js", "go", "json", "bash", "html", "diff"])
def test_hidden_characters_are_labelled_in_coloured_code_too(language: str) -> None:
    text = 'if access != "user\u202e \u2066# admin\u2069 \u2066" { // \u200b'
    page = Page(highlight(text, language=language))
    assert page.labels == ["U+202E", "U+2066", "U+2069", "U+2066", "U+200B"]
    assert page.text == text


def test_lines_are_balanced_each() -> None:
    text = '"""one\ntwo\n"""\nx = 1\n'
    lines = highlight_lines(text, filename="x.py")
    assert [Page(line).text for line in lines] == ['"""one', "two", '"""', "x = 1", ""]
    assert highlight(text, filename="x.py") == "\n".join(lines)
    assert lines[1] == '<span class="hl-s">two</span>'


def test_windows_line_ends_are_line_ends() -> None:
    assert [Page(line).text for line in highlight_lines("a\r\nb", filename="x.py")] == ["a", "b"]


@given(
    st.text(st.one_of(st.characters(), st.sampled_from("\n\"'`<&/*#\\{}()\t \u202e"))),
    st.sampled_from(["python", "js", "html", "bash", "css", "yaml", "php", "c", "md", "diff", ""]),
)
def test_the_text_is_the_one_given_in_any_language(text: str, language: str) -> None:
    text = text.replace("\r\n", "\n")
    page = Page(highlight(text, language=language))
    page.assert_only(ALLOWED)
    assert page.text == in_document(text)
    lines = highlight_lines(text, language=language)
    assert [Page(line).text for line in lines] == in_document(text).split("\n")

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview import limits
from presentview.web.render.arguments import pretty_json
from tests.unit.render.page import Page

ALLOWED = {"span": {"class", "data-ch"}}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(), values, max_size=4),
    max_leaves=20,
)


def shown(text: str) -> str:
    page = Page(pretty_json(text))
    page.assert_only(ALLOWED)
    return page.text


def test_arguments_are_indented_and_coloured_by_kind() -> None:
    assert shown('{"path":"a.py","range":[1,2.50],"force":true,"opts":{},"tags":[]}') == (
        "{\n"
        '  "path": "a.py",\n'
        '  "range": [\n'
        "    1,\n"
        "    2.50\n"
        "  ],\n"
        '  "force": true,\n'
        '  "opts": {},\n'
        '  "tags": []\n'
        "}"
    )
    page = Page(pretty_json('{"a":"b","c":[1,null]}'))
    assert [*page.tags] == ["span"]
    assert [" ".join(element.classes) for element in page.elements] == [
        *("j-key", "j-str", "j-key", "j-num", "j-lit"),
    ]


@pytest.mark.parametrize(
    "value", ["123456789012345678901234567890", "1.0e+5", "-0.10", "1E9"], ids=str
)
def test_numbers_keep_their_spelling(value: str) -> None:
    assert shown(f"[ {value} ]") == f"[\n  {value}\n]"


def test_keys_that_come_twice_are_shown_twice() -> None:
    assert shown('{"a":1,"a":2}') == '{\n  "a": 1,\n  "a": 2\n}'


def test_a_string_of_several_lines_is_shown_as_such() -> None:
    html = pretty_json('{"content":"one\\n\\ttwo \\"<b>\\"\\n","next":1}')
    assert Page(html).text == '{\n  "content": "one\n\ttwo "<b>"\n",\n  "next": 1\n}'
    assert 'class="j-str j-block"' in html


def test_escapes_that_are_not_needed_are_spelled_out() -> None:
    text = r'"\u003ca\u003e \u0026 \"q\" \\n \/ \ud83d\ude00 \u0007"'
    assert shown(text) == r'"<a> & \"q\" \\n / 😀 \u0007"'


def test_hidden_characters_in_arguments_are_labelled() -> None:
    assert Page(pretty_json('{"a\\u200b":"\\u202e\u2066"}')).labels == [
        "U+200B",
        "U+202E",
        "U+2066",
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"command": "ls -la", "timeo',
        '{"a":1',
        '{"a"',
        "{",
        "[1,2",
        "[1,]",
        "[,1]",
        '{"a":1,}',
        '{"a" 1}',
        "{1:2}",
        '{"a":1}}',
        "[1] [2]",
        "[1}",
        "{]",
        "plain words <b>",
        "'single'",
        "NaN",
        "01",
        "1.",
        "tru",
        '"line\nbreak"',
        '"\\x"',
        '"\\u12"',
        "",
        "  ",
        '\ufeff{"a":1}',
    ],
    ids=ascii,
)
def test_what_is_not_json_is_shown_as_it_is(text: str) -> None:
    assert shown(text) == text


def test_deep_values_stay_on_one_line() -> None:
    depth = limits.JSON_DEPTH
    text = shown("[" * (depth + 2) + "1,{}" + "]" * (depth + 2))
    assert text.count("\n") == 2 * depth
    assert "[[1, {}]]" in text


def test_extreme_depth_is_no_problem() -> None:
    text = shown("[" * 30_000 + "]" * 30_000)
    assert text.replace("\n", "").replace(" ", "") == "[" * 30_000 + "]" * 30_000


def test_long_arguments_stay_plain() -> None:
    text = json.dumps(["x" * limits.JSON_BYTES])
    assert pretty_json(text) == text.replace('"', "&#34;")


@given(JSON_VALUES, st.sampled_from([None, 1]))
def test_the_meaning_is_kept(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    html = pretty_json(text)
    page = Page(html)
    page.assert_only(ALLOWED)
    if "j-block" not in html:
        assert json.dumps(json.loads(page.text)) == json.dumps(value)


@given(st.text(st.one_of(st.sampled_from('{}[]:,"0123 \\nutrue'), st.characters())))
def test_any_text_is_shown(text: str) -> None:
    Page(pretty_json(text)).assert_only(ALLOWED)

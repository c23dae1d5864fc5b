from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from presentview.web.render.controls import remove_unseen, reveal
from tests.unit.render.page import Page, in_document

ANY_TEXT = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\u202e\u2066\u2069\u200b\u200c\u200d\ufe0f\ufeff\u00ad\r\n\t\0\x1b\x7f\x85"
        ),
        st.sampled_from("\U0001f468\U0001f4bb\U0001f3f4\U000e0067\U000e007f\ud800\u06cc<&\"'"),
    )
)


@pytest.mark.parametrize(
    "char",
    [
        *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
        *"\u200b\u2060\u2061\u2062\u2063\u2064\ufeff\u00ad\u180e\u2028\u2029\u3164\u115f",
        *"\x01\x08\x0b\x0c\x1b\x1f\x7f\x80\x85\x9f",
        *"\U000e0001\U000e0041\U000e007f",
    ],
    ids=lambda char: f"{ord(char):04X}",
)
def test_an_unseen_character_gets_a_label_and_stays_in_the_text(char: str) -> None:
    page = Page(reveal(f"pay{char}load"))
    assert page.labels == [f"U+{ord(char):04X}"]
    assert page.text == f"pay{char}load"


@pytest.mark.parametrize("char", ["\0", "\udfff"], ids=["nul", "surrogate"])
def test_a_character_that_html_cannot_hold_is_named_and_replaced(char: str) -> None:
    page = Page(reveal(char))
    assert page.labels == [f"U+{ord(char):04X}"]
    assert page.text == "\ufffd"


def test_a_bare_carriage_return_survives_the_reading_of_the_page() -> None:
    assert "\r" not in reveal("a\rb")
    assert Page(reveal("a\rb")).text == "a\rb"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("tab\tand\nlines\r\n", id="layout"),
        pytest.param("\U0001f468\u200d\U0001f469\u200d\U0001f467", id="family"),
        pytest.param("\U0001f469\U0001f3fd\u200d\U0001f4bb", id="profession with skin tone"),
        pytest.param("\U0001f3f3\ufe0f\u200d\U0001f308", id="rainbow flag"),
        pytest.param("\u2764\ufe0f and 1\ufe0f\u20e3", id="emoji presentation"),
        pytest.param("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", id="persian"),
        pytest.param("\u0915\u094d\u200d\u0937", id="hindi"),
        pytest.param("\u845b\U000e0100", id="han variant"),
        pytest.param(
            "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", id="scotland"
        ),
    ],
)
def test_ordinary_writing_has_no_labels(text: str) -> None:
    assert reveal(text) == text


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        pytest.param("user\u200dname", ["U+200D"], id="joiner between latin letters"),
        pytest.param("a\u200c\u0645", ["U+200C"], id="joiner between scripts"),
        pytest.param("\U0001f468\u200dx", ["U+200D"], id="joiner after an emoji only"),
        pytest.param("\U0001f468\u200c\U0001f469", ["U+200C"], id="non-joiner between emoji"),
        pytest.param("x\ufe0f", ["U+FE0F"], id="variant of a latin letter"),
        pytest.param("\u2764\ufe0f\ufe0e", ["U+FE0E"], id="second variation selector"),
        pytest.param("x\U000e0100\U000e0101", ["U+E0100", "U+E0101"], id="bytes as selectors"),
        pytest.param(
            "\U0001f3f4\U000e0061\U000e007f", ["U+E0061", "U+E007F"], id="tags of no flag"
        ),
    ],
)
def test_the_same_characters_elsewhere_are_labelled(text: str, labels: list[str]) -> None:
    assert Page(reveal(text)).labels == labels


def test_a_long_hidden_message_has_one_label_with_its_length() -> None:
    page = Page(reveal("a" + "\u200b" * 1000 + "b"))
    assert page.labels == ["U+200B ×1000"]
    assert page.text == "a" + "\u200b" * 1000 + "b"
    mixed = Page(reveal("\u200b\u2060" * 10))
    assert mixed.labels == ["U+200B … ×20"]


def test_markup_in_text_is_text() -> None:
    page = Page(reveal("<script>alert('1')</script>&lt;\u202e<b>"))
    assert page.tags == {"span": 1}
    assert page.text == "<script>alert('1')</script>&lt;\u202e<b>"


def test_unseen_characters_can_be_taken_out() -> None:
    assert remove_unseen("ja\u200bva\tscr\nipt\x00:\u202e") == "javascript:"


@given(ANY_TEXT)
@example("\u200b" * 9)
@example("\r\r\n")
def test_the_text_is_always_the_one_given_and_only_labels_are_added(text: str) -> None:
    html = reveal(text)
    page = Page(html)
    page.assert_only({"span": {"class", "data-ch"}})
    assert page.text == in_document(text)
    html.encode()

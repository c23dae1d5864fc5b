from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from presentview.web.render.ansi import render_ansi, strip_ansi
from tests.unit.render.page import LINK, Page, in_document

ESC = "\x1b"
ALLOWED = {"span": {"class", "data-ch"}, "a": LINK}
PIECES = st.one_of(
    st.text(max_size=4),
    st.sampled_from(
        [
            *("\x1b[", "\x1b]8;;https://e.org/", "\x1b\\", "\x07", "\x1b[0m", "\x1b[1;31m", "\x9b"),
            *("\x1b[38;5;9", "m", "\x1b[K", "\x1b[2K", "\x1bP", "\x90", "\r", "\n", "\b", "_\b_"),
            *("\u200b", "e\u0301", "\U0001f680", "<b>", "\x1b(B", "\x1b[G", "\0", "\ud800"),
        ]
    ),
)
ANY_OUTPUT = st.lists(PIECES, max_size=20).map("".join)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain <b>", "plain &lt;b&gt;"),
        (f"{ESC}[31mred{ESC}[0m.", '<span class="fg-1">red</span>.'),
        (f"{ESC}[1;4;92mx", '<span class="bold underline fg-10">x</span>'),
        (f"{ESC}[44mx{ESC}[49my", '<span class="bg-4">x</span>y'),
        (f"{ESC}[2;3;7;9mx", '<span class="dim italic strike inverse">x</span>'),
        (f"{ESC}[1mx{ESC}[22my", '<span class="bold">x</span>y'),
        (f"{ESC}[4:3mx{ESC}[4:0my", '<span class="underline">x</span>y'),
        (f"{ESC}[38;5;208mx", '<span class="fg-208">x</span>'),
        (f"{ESC}[48:5:17mx", '<span class="bg-17">x</span>'),
        (f"{ESC}[38;2;255;0;0mx", '<span class="fg-196">x</span>'),
        (f"{ESC}[38:2::0:0:255mx", '<span class="fg-21">x</span>'),
        (f"{ESC}[38;2;128;128;128;1mx", '<span class="bold fg-244">x</span>'),
        (f"{ESC}[58;5;1;3mx", '<span class="italic">x</span>'),
        (f"{ESC}[mx{ESC}[;;mx", "xx"),
        (f"{ESC}[38;5;999mx{ESC}[38;5mx", "xx"),
        (f"{ESC}[99999999999999999999mx", "x"),
        (f"\x9b31mx{ESC}[0m", '<span class="fg-1">x</span>'),
    ],
    ids=ascii,
)
def test_colours_and_weights_become_classes(text: str, html: str) -> None:
    assert render_ansi(text) == html


@pytest.mark.parametrize(
    "sequence",
    [
        *(f"{ESC}[?25l", f"{ESC}[2J", f"{ESC}[10;20H", f"{ESC}[>4;2m", f"{ESC}[6n", f"{ESC}[1 q"),
        *(f"{ESC}]0;title\x07", f"{ESC}]0;title{ESC}\\", "\x9d0;title\x9c", f"{ESC}]52;c;aGk=\x07"),
        *(f"{ESC}P+q544e{ESC}\\", f"{ESC}Pa\nb{ESC}\\", "\x90dcs\x9c", f"{ESC}_Gf=24;AAAA{ESC}\\"),
        *(f"{ESC}^pm{ESC}\\", f"{ESC}Xsos{ESC}\\", f"{ESC}(B", f"{ESC})0", f"{ESC}#8", f"{ESC}%G"),
        *(
            f"{ESC}7",
            f"{ESC}8",
            f"{ESC}=",
            f"{ESC}c",
            f"{ESC}M",
            "\x84",
            "\x8d",
            "\x0e\x0f",
            "\x07",
        ),
        *(f"{ESC}[38;5;1;", f"{ESC}[", ESC, f"{ESC}]8;;javascript:x\x07", f"{ESC}]8;bad\x07"),
    ],
    ids=ascii,
)
def test_every_other_sequence_is_left_out(sequence: str) -> None:
    assert strip_ansi(f"a{sequence}\u2192b") == "a\u2192b"
    assert render_ansi(f"a{sequence}\u2192b") == "a\u2192b"


@pytest.mark.parametrize(
    "start",
    [f"{ESC}]0;never closed", f"{ESC}Pnever closed", "\x9dnever closed", f"{ESC}]8;;http://x"],
)
def test_a_sequence_that_never_ends_takes_only_its_own_line(start: str) -> None:
    assert strip_ansi(f"before{start}\nafter") == "before\nafter"
    assert strip_ansi(f"before{start}{ESC}[1mafter") == "beforeafter"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("10%\r20%\r30%\ndone\n", "30%\ndone\n"),
        ("longer line\rshort", "shortr line"),
        ("longer line\r\x1b[Kshort", "short"),
        ("longer line\r\x1b[2Kshort", "short"),
        ("longer line\x1b[2K\x1b[Gshort", "short"),
        ("longer line\x1b[1G\x1b[0Kshort", "short"),
        ("abc\r\x1b[Jd", "d"),
        ("abc\x1b[K", "abc"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("twice\r\r\nreturned", "twice\nreturned"),
        ("last state\r", "last state"),
        ("abc\b\bX", "aXc"),
        ("\b\babc", "abc"),
        ("50%\b\b\b60%", "60%"),
        ("|\b/\b-\b\\\bdone", "done"),
        ("\U0001f680 go\r   ok", "   ok"),
        ("e\u0301a\rX", "Xa"),
    ],
    ids=ascii,
)
def test_progress_shows_its_last_state(text: str, shown: str) -> None:
    assert strip_ansi(text) == shown
    assert Page(render_ansi(text)).text == shown


def test_text_keeps_its_colour_where_it_is_written_over() -> None:
    html = render_ansi(f"{ESC}[31mred{ESC}[0m text\r{ESC}[32mGR")
    assert html == '<span class="fg-2">GR</span><span class="fg-1">d</span> text'


def test_overstruck_letters_are_bold_and_underlined_as_in_manual_pages() -> None:
    assert render_ansi("N\bNA\bA _\bx") == (
        '<span class="bold">NA</span> <span class="underline">x</span>'
    )


def test_colours_go_on_over_line_ends_with_elements_closed_on_each_line() -> None:
    lines = render_ansi(f"{ESC}[31mone\ntwo\n\nthree{ESC}[0m\nfour").split("\n")
    assert lines == [
        '<span class="fg-1">one</span>',
        '<span class="fg-1">two</span>',
        "",
        '<span class="fg-1">three</span>',
        "four",
    ]


@pytest.mark.parametrize("end", ["\x07", f"{ESC}\\", "\x9c"], ids=ascii)
def test_a_hyperlink_to_the_web_becomes_a_link(end: str) -> None:
    page = Page(render_ansi(f"see {ESC}]8;id=1;https://e.org/x{end}{ESC}[1mhere{ESC}]8;;{end} now"))
    page.assert_only(ALLOWED)
    assert page.links == ["https://e.org/x"]
    assert page.text == "see here now"


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "file:///etc/passwd", "mailto:a@b.org", "data:text/html,x"),
        *("//e.org", "https://a@e.org", "http://" + "a" * 3000),
    ],
    ids=lambda url: url[:30],
)
def test_a_hyperlink_elsewhere_is_text(url: str) -> None:
    assert render_ansi(f"{ESC}]8;;{url}\x07here{ESC}]8;;\x07") == "here"


def test_a_hyperlink_ends_with_its_line() -> None:
    html = render_ansi(f"{ESC}]8;;https://e.org/\x07one\ntwo")
    assert Page(html).links == ["https://e.org/"]
    assert html.endswith("\ntwo")


def test_hidden_characters_in_output_are_labelled() -> None:
    page = Page(render_ansi(f"{ESC}[31mrm \u202e-rf\0"))
    assert page.labels == ["U+202E", "U+0000"]


@pytest.mark.parametrize(
    "payload",
    [
        "<script>alert(1)</script>",
        f"<{ESC}[0mscript>",
        f'{ESC}[31"><img src=x onerror=alert(1)>m',
        f'{ESC}]8;;https://e.org/"onclick="alert(1)\x07x{ESC}]8;;\x07',
        f"{ESC}]8;;https://e.org/'><svg/onload=x>\x07x",
        "&lt;b&gt;\r<b>",
        "a\b<\b<b>",
    ],
    ids=ascii,
)
def test_output_cannot_bring_its_own_markup(payload: str) -> None:
    Page(render_ansi(payload)).assert_only(ALLOWED)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            f"{ESC}[",
            ESC,
            "\x9b",
            "\x90",
            f"{ESC}P",
            f"{ESC}]8;;",
            f"{ESC}[1;",
            "a\r",
            "a\b",
            "\r\x1b[2K",
        ),
        *("\u0301", "\u200b", f"{ESC}[1m\n", f"{ESC}[?", "\x9d", f"{ESC}]0;a"),
    ],
    ids=ascii,
)
def test_hostile_repetition_is_rendered_in_full_without_a_blow_up(unit: str) -> None:
    text = (unit * 100_000)[:200_000] + "\nend"
    assert render_ansi("x\b" + text).endswith("end" if "[1m" not in unit else "end</span>")


@given(ANY_OUTPUT)
@example("\x1b]8;;https://e.org\x07a\x1b[1mb\nc")
@example("\U0001f680\b\u0301x")
def test_html_is_balanced_on_each_line_and_says_what_plain_text_says(text: str) -> None:
    html = render_ansi(text)
    page = Page(html)
    page.assert_only(ALLOWED)
    assert page.text == in_document(strip_ansi(text))
    for line in html.split("\n"):
        Page(line)
    assert html.count("\n") == strip_ansi(text).count("\n")


@given(ANY_OUTPUT)
def test_plain_text_has_no_escapes_left(text: str) -> None:
    assert not set(strip_ansi(text)) & set("\x1b\x9b\x9d\x90\x07\b\r")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_text_without_controls_stays_as_it_is(text: str) -> None:
    assert strip_ansi(text) == text
    assert strip_ansi("\x1b[0m" + text) == text

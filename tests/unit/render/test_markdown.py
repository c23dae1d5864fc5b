from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from presentview import limits
from presentview.web.render import markdown
from presentview.web.render.markdown import render_markdown
from tests.unit.render.page import LINK, Page

BARE_TAGS = "blockquote ul table thead tbody tr em strong s code br hr"
ALLOWED: dict[str, set[str]] = {
    **{tag: {"dir"} for tag in ("h3", "h4", "h5", "h6", "p", "li")},
    **{tag: set() for tag in BARE_TAGS.split()},
    "td": {"dir", "class"},
    "th": {"dir", "class"},
    "ol": {"start"},
    "pre": {"class", "dir", "tabindex"},
    "div": {"class", "tabindex"},
    "span": {"class", "data-ch"},
    "a": LINK,
}
PIECES = st.one_of(
    st.text(max_size=5),
    st.sampled_from(
        [
            *(
                "[",
                "](",
                ")",
                "![",
                "<",
                ">",
                "*",
                "**",
                "~~",
                "`",
                "```",
                "\n",
                "\n\n",
                "- ",
                "1. ",
            ),
            *(
                "|a|b|\n|-|:-:|\n|1|2|\n",
                "# ",
                "> ",
                "javascript:alert(1)",
                "https://e.org/",
                "//e.org",
            ),
            *(
                "<script>",
                "<b onclick=x>",
                "&colon;",
                "&#106;",
                "\u202e",
                "    ",
                "\t",
                "\\",
                "data:x",
            ),
            *("[x]: javascript:a\n", "[x]", "<a@b.c>", "<javascript:x>", "\0", '"', "'", "\ud800"),
        ]
    ),
)


def shown(text: str) -> Page:
    page = Page(render_markdown(text))
    page.assert_only(ALLOWED)
    return page


def test_a_message_is_rendered_with_its_structure() -> None:
    page = shown(
        "# Done\n\nI *changed* **two** ~~three~~ `files`:\n\n1. a\n2. b\n   - c\n\n"
        "> quoted\n\n---\n\n| f | n |\n|---|--:|\n| a | 1 |\n"
    )
    assert " ".join(element.tag for element in page.elements) == (
        "h3 p em strong s code ol li li ul li blockquote p hr"
        " div table thead tr th th tbody tr td td"
    )


@pytest.mark.parametrize(
    ("level", "tag"), [(1, "h3"), (2, "h4"), (3, "h5"), (4, "h6"), (5, "h6"), (6, "h6")]
)
def test_headings_start_below_those_of_the_page(level: int, tag: str) -> None:
    assert render_markdown("#" * level + " title") == f'<{tag} dir="auto">title</{tag}>\n'


def test_lists_keep_the_number_they_start_with() -> None:
    assert '<ol start="7">' in render_markdown("7. seven\n8. eight")


def test_columns_keep_their_alignment_without_inline_style() -> None:
    html = render_markdown("|a|b|c|\n|:-|:-:|-:|\n|1|2|3|")
    assert 'class="ta-center"' in html
    assert 'class="ta-right"' in html
    assert "style" not in html


def test_code_blocks_are_coloured_by_their_first_word() -> None:
    html = render_markdown('```python title="x"\nimport os\n```')
    assert '<code><span class="hl-k">import</span> os</code></pre>' in html
    assert "title" not in html


@pytest.mark.parametrize("text", ["```\n<b>\n```", "    <b>"], ids=["fence", "indented"])
def test_code_without_a_language_is_plain(text: str) -> None:
    assert "<code>&lt;b&gt;</code>" in render_markdown(text)


def test_a_link_shows_its_host_and_gives_nothing_away() -> None:
    assert render_markdown("[docs](https://example.org/a)") == (
        '<p dir="auto"><a href="https://example.org/a" rel="noopener noreferrer nofollow"'
        ' target="_blank" class="ext">docs <span class="host">(example.org)</span></a></p>\n'
    )


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("<https://example.org/a>", ["https://example.org/a"]),
        ("<me@example.org>", ["mailto:me@example.org"]),
        ("[a](HTTPS://example.org)", ["https://example.org"]),
        ("[a](<https://example.org/x y>)", ["https://example.org/x%20y"]),
        ("[a][r]\n\n[r]: https://example.org 'title'", ["https://example.org"]),
        ("[**b** `c`](http://example.org)", ["http://example.org"]),
        ("[![badge](https://a.example/i.png)](https://b.example)", ["https://b.example"]),
        ("![alt](https://example.org/i.png)", ["https://example.org/i.png"]),
        ("[a](http&#58;//example.org)", ["http://example.org"]),
        ("https://example.org is no link by itself", []),
    ],
    ids=ascii,
)
def test_links_to_other_hosts_are_links(text: str, links: list[str]) -> None:
    assert shown(text).links == links


def test_an_image_is_never_loaded_but_linked() -> None:
    page = shown("![a *cat*](https://example.org/cat.png)")
    assert page.text == "image: a cat\n"
    assert "img" not in page.tags


def test_an_image_within_the_text_is_only_named() -> None:
    page = shown("![dot](data:image/png;base64,AAAA)")
    assert page.text == "image: dot data:image/png;base64,AAAA\n"
    assert page.links == []


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](JAVASCRIPT:alert(1))",
        "[x](javascript&colon;alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](java&Tab;script:alert(1))",
        "[x](<java\tscript:alert(1)>)",
        "[x](\x01javascript:alert(1))",
        "[x](\u200bjavascript:alert(1))",
        "[x](vbscript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](file:///etc/passwd)",
        "[x](//evil.example/)",
        "[x](/admin)",
        "[x](?q)",
        "[x](#c1)",
        "[x]()",
        "[x][r]\n\n[r]: javascript:alert(1)",
        "<javascript:alert(1)>",
        "![x](javascript:alert(1))",
        "![x](//evil.example/i.png)",
        "[x](https://good.example@evil.example)",
        "[x](https:\\\\evil.example)",
        "[x](http://%65vil.example)",
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>",
        "<div hx-get='/x' hx-trigger='load'>x</div>",
        "<style>*{display:none}</style>",
        "<iframe srcdoc='<script>alert(1)</script>'>",
        "<!-- comment -->",
        "<?php x ?>",
        "<![CDATA[ x ]]>",
        "a <svg onload=alert(1)> b",
        '[x](https://e.org/"onmouseover="alert(1)',
        '![x" onerror="alert(1)](y)',
        '``` "><script>alert(1)</script>\nx\n```',
        "```js\n</code></pre><script>alert(1)</script>\n```",
        "`</code><script>alert(1)</script>`",
        "|<script>|\n|-|\n|<script>|",
        "# <script>",
        "&lt;script&gt;",
    ],
    ids=ascii,
)
def test_a_message_cannot_bring_its_own_markup(text: str) -> None:
    page = shown(text)
    assert not [link for link in page.links if link and "e.org" not in link]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("[x](javascript:a)", "x <code>javascript:a</code>"),
        ("[x](//e.org)", "x <code>//e.org</code>"),
        ("[x](notes.md)", "x <code>notes.md</code>"),
        ("<file:x>", "<code>file:x</code>"),
        ("[x]()", "x"),
        ("![x](i.png)", "image: x <code>i.png</code>"),
        ("![](i.png)", "image <code>i.png</code>"),
    ],
    ids=ascii,
)
def test_other_addresses_are_written_out(text: str, html: str) -> None:
    assert render_markdown(text) == f'<p dir="auto">{html}</p>\n'


def test_hidden_characters_are_labelled_everywhere() -> None:
    page = shown(
        "# a\u202e\n\n[b\u200b](http://e.org) `c\u2066`\n\n```go\nd\u2069\n```\n\n|\ufeff|\n|-|\n"
    )
    assert page.labels == ["U+202E", "U+200B", "U+2066", "U+2069", "U+FEFF"]


def test_past_the_limit_the_text_is_shown_as_written() -> None:
    line = "*word* & more\n\n"
    count = limits.MARKDOWN_BYTES // len(line)
    page = shown(line * (count + 3))
    assert page.tags["em"] == count
    rest = page.elements[-1]
    assert (rest.tag, rest.classes) == ("pre", {"md-rest"})
    assert page.text.endswith(line * 3)


def test_the_limit_counts_bytes_and_never_cuts_a_character() -> None:
    page = Page(render_markdown("é" * 100, limit=101))
    assert page.tags == {"p": 1, "pre": 1}
    assert page.text.replace("\n", "") == "é" * 100


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("> " * 200 + "deep", id="quotes"),
        pytest.param("".join("  " * level + "- deep\n" for level in range(100)), id="lists"),
    ],
)
def test_text_nested_too_deeply_is_shown_as_written(text: str) -> None:
    page = shown(text)
    assert page.tags == {"pre": 1}
    assert page.text.endswith(text)


def test_running_out_of_stack_shows_the_text_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(self: object, src: str) -> None:
        raise RecursionError

    monkeypatch.setattr(markdown._Parser, "parse", parse)
    assert shown("*never rendered before*").tags == {"pre": 1}


@pytest.mark.parametrize("unit", ["[", "![", "*a_ ", "`", "<", "[a](", "|", "- ", "\\"], ids=ascii)
def test_hostile_repetition_is_rendered(unit: str) -> None:
    shown(unit * 3000)


@given(st.lists(PIECES, max_size=25).map("".join))
@example("[![a](x)](javascript:b)")
@example("[a](<b\nc>)")
def test_whatever_the_message_only_known_markup_comes_out(text: str) -> None:
    page = shown(text)
    assert not {"id", "style", "src"} & {name for e in page.elements for name in e.attributes}


@given(st.text(st.characters(categories=["L", "N"]), min_size=1))
def test_plain_words_stay_the_same(text: str) -> None:
    assert shown(text).text == text + "\n"

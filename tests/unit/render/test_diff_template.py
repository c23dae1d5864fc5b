from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
import pytest

from presentview import limits
from presentview.web.render.diffs import parse_diff
from presentview.web.render.filters import FILTERS
from tests.unit.render.page import Page

TEMPLATES = Path(__file__).resolve().parents[3] / "templates"
ALLOWED: dict[str, set[str]] = {
    **{tag: {"class"} for tag in ("table", "caption", "col", "tr", "span", "p")},
    **{tag: set() for tag in ("colgroup", "tbody", "b")},
    "td": {"class", "colspan"},
}
DIFF = (
    "--- a/x.py\n+++ b/x.py\n@@ -3,3 +3,4 @@ class A\n import os\n"
    "-total = 1 < 2\n+total = 1 < 3\n \n+import sys\n"
)


@pytest.fixture(scope="module")
def views() -> Any:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(FILTERS)
    return environment.get_template("_diff.html").module


def rows(html: str) -> list[str]:
    """Return the text of each table row, cells separated by bars."""
    body = str(html).replace("</td><td", "</td>|<td").split("<tr")[1:]
    return [Page(f"<tr{row.split('</tr>')[0]}</tr>").text.rstrip() for row in body]


def test_the_unified_view_has_both_numbers_the_sign_and_the_line(views: Any) -> None:
    html = views.unified(parse_diff(DIFF))
    assert rows(html) == [
        "@@ -3,3 +3,4 @@ class A",
        "3|3| |import os",
        "4||−|total = 1 < 2",
        "|4|+|total = 1 < 3",
        "5|5| |",
        "|6|+|import sys",
    ]
    page = Page(html)
    page.assert_only({**ALLOWED, "span": {"class", "data-ch"}})
    assert page.text.startswith("x.py +2 −1")


def test_the_split_view_has_the_old_file_beside_the_new_one(views: Any) -> None:
    html = views.split(parse_diff(DIFF))
    assert rows(html) == [
        "@@ -3,3 +3,4 @@ class A",
        "3| |import os|3| |import os",
        "4|−|total = 1 < 2|4|+|total = 1 < 3",
        "5| |\n|5| |",
        "|||6|+|import sys",
    ]
    Page(html).assert_only(ALLOWED)


def test_changed_words_are_bold_and_other_lines_coloured(views: Any) -> None:
    html = views.unified(parse_diff(DIFF))
    assert "<td>total = 1 &lt; <b>2</b></td>" in html
    assert '<td><span class="hl-k">import</span> sys</td>' in html


def test_each_file_says_its_name_and_what_happened_to_it(views: Any) -> None:
    text = (
        "diff --git a/old b/new\nrename from old\nrename to new\n"
        "diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n"
    )
    page = Page(views.unified(parse_diff(text)))
    assert page.tags["caption"] == 2
    assert "old → new renamed" in page.text
    assert "i.png Binary files a/i.png and b/i.png differ" in page.text


def test_what_was_left_out_is_said(views: Any) -> None:
    diff = parse_diff("@@ -1 +1 @@\n" + "+a\n" * (limits.DIFF_LINES + 1234))
    for view in (views.unified, views.split):
        assert "… 1,234 more lines not shown" in Page(view(diff)).text


@pytest.mark.parametrize("view", ["unified", "split"])
def test_names_headers_and_lines_cannot_bring_their_own_markup(views: Any, view: str) -> None:
    evil = "<script>alert(1)</script>\u202e"
    text = (
        f"{evil}\n--- a/{evil}\n+++ b/2{evil}\n@@ -1,3 +1,3 @@ {evil}\n"
        f" {evil}\n-one {evil}\n+two {evil}\n\\ {evil}\n"
    )
    page = Page(getattr(views, view)(parse_diff(text)))
    page.assert_only({**ALLOWED, "span": {"class", "data-ch"}})
    assert "script" not in page.tags
    assert len(page.labels) == page.text.count("\u202e") >= 8


def test_mixed_line_ends_stay_visible(views: Any) -> None:
    page = Page(views.unified(parse_diff("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+a\r\n")))
    assert page.labels == ["U+000D"]


def test_long_diffs_are_shown_without_colours(views: Any) -> None:
    lines = "+import os\n" * (limits.HIGHLIGHT_BYTES // len("import os") + 1)
    html = views.unified(parse_diff(f"--- a/x.py\n+++ b/x.py\n@@ -0,0 +1,9999 @@\n{lines}"))
    assert "hl-k" not in html


def test_an_empty_diff_shows_nothing(views: Any) -> None:
    assert views.unified(parse_diff("")).strip() == ""

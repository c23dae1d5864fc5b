from __future__ import annotations

import difflib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from presentview import limits
from presentview.web.render.diffs import (
    Diff,
    DiffLine,
    FileChange,
    Hunk,
    SplitRow,
    parse_diff,
    split_rows,
)

SIGNS = {"context": " ", "add": "+", "del": "-", "note": "\\"}


def only_file(text: str, path: str = "") -> FileChange:
    (file,) = parse_diff(text, path=path).files
    return file


def only_hunk(text: str) -> Hunk:
    (hunk,) = only_file(text).hunks
    return hunk


def rows(hunk: Hunk) -> list[str]:
    return [SIGNS[line.kind] + line.text for line in hunk.lines]


def numbers(hunk: Hunk) -> list[tuple[int | None, int | None]]:
    return [(line.old, line.new) for line in hunk.lines]


def marks(line: DiffLine) -> str:
    return "".join(f"[{s.text}]" if s.marked else s.text for s in line.segments)


def test_a_diff_of_git_is_read_with_paths_numbers_and_counts() -> None:
    text = (
        "diff --git a/cmd/main.go b/cmd/main.go\nindex 83db48f..bf2a1c9 100644\n"
        "--- a/cmd/main.go\n+++ b/cmd/main.go\n@@ -4,3 +4,4 @@ import fmt\n"
        " func main() {\n-\told()\n+\tnew()\n+\tmore()\n }\n"
    )
    diff = parse_diff(text)
    assert (diff.added, diff.removed, diff.cut) == (2, 1, 0)
    file = only_file(text)
    assert (file.path, file.old_path, file.note) == ("cmd/main.go", "", "")
    assert (file.added, file.removed) == (2, 1)
    hunk = only_hunk(text)
    assert hunk.header == "@@ -4,3 +4,4 @@ import fmt"
    assert (hunk.old_start, hunk.new_start) == (4, 4)
    assert rows(hunk) == [" func main() {", "-\told()", "+\tnew()", "+\tmore()", " }"]
    assert numbers(hunk) == [(4, 4), (5, None), (None, 5), (None, 6), (6, 7)]


def test_several_files_and_hunks_are_kept_apart() -> None:
    diff = parse_diff(
        "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9,2 @@\n c\n+d\n"
        "--- a/two\n+++ b/two\n@@ -1,2 +1 @@\n-e\n f\n"
    )
    assert [(file.path, file.added, file.removed, len(file.hunks)) for file in diff.files] == [
        ("one", 2, 1, 2),
        ("two", 0, 1, 1),
    ]
    assert (diff.added, diff.removed) == (2, 2)


@pytest.mark.parametrize(
    ("text", "path", "old_path", "note"),
    [
        pytest.param("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a", "x", "", "new file", id="new"),
        pytest.param(
            "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a", "x", "", "deleted file", id="gone"
        ),
        pytest.param(
            "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a",
            *("x", "", "new file"),
            id="new in git",
        ),
        pytest.param(
            "diff --git a/a/o b/b/n\nsimilarity index 90%\nrename from a/o\nrename to b/n",
            *("b/n", "a/o", "renamed"),
            id="rename",
        ),
        pytest.param(
            "diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y",
            *("y", "x", "copied"),
            id="copy",
        ),
        pytest.param(
            "diff --git a/x b/x\nold mode 100644\nnew mode 100755",
            *("x", "", "mode 100644 → 100755"),
            id="mode",
        ),
        pytest.param(
            "diff --git a/i.png b/i.png\nindex 1..2\nBinary files a/i.png and b/i.png differ",
            *("i.png", "", "Binary files a/i.png and b/i.png differ"),
            id="binary",
        ),
        pytest.param(
            "--- my file\t2026-01-02\n+++ my file\t2026-01-02", "my file", "", "", id="tab"
        ),
        pytest.param(
            "--- x.c 2026-01-02 10:11:12.000000000 +0100\n+++ x.c 2026-01-02 10:11:13 +0100",
            *("x.c", "", ""),
            id="time without tab",
        ),
        pytest.param(
            '--- "a/t\\303\\274r\\t\\"x\\".c"\n+++ "b/t\\303\\274r\\t\\"x\\".c"',
            *('tür\t"x".c', "", ""),
            id="quoted",
        ),
        pytest.param(
            'diff --git "a/\\303\\274" "b/\\303\\274"\nold mode 1',
            "ü",
            "",
            "old mode 1",
            id="git quoted",
        ),
        pytest.param("diff --git a/a b c b/a b c\n", "a b c", "", "", id="spaces in git's line"),
        pytest.param("--- i/x\n+++ w/x", "x", "", "", id="mnemonic prefixes"),
        pytest.param("--- src/x\n+++ src/x", "src/x", "", "", id="no prefixes"),
        pytest.param("Index: x.c\n=======\n--- x.c\t(r1)\n+++ x.c\t(r2)", "x.c", "", "", id="svn"),
        pytest.param(
            "diff -u old/x new/x\n--- old/x\n+++ new/x", "new/x", "old/x", None, id="diff -u"
        ),
    ],
)
def test_headers_name_the_file_and_what_happened_to_it(
    text: str, path: str, old_path: str, note: str | None
) -> None:
    for variant in (text, text + "\n", text.replace("\n", "\r\n") + "\r\n"):
        file = only_file(variant)
        assert (file.path, file.old_path) == (path, old_path)
        if note is not None:
            assert file.note == note


def test_hunks_without_a_file_header_belong_to_the_path_given() -> None:
    file = only_file("@@ -1 +1 @@\n-a\n+b", path="given.py")
    assert (file.path, file.added, file.removed) == ("given.py", 1, 1)


def test_lines_without_any_header_are_a_hunk_without_numbers() -> None:
    hunk = only_hunk("-a\n+b\n c")
    assert rows(hunk) == ["-a", "+b", " c"]
    assert numbers(hunk) == [(None, None)] * 3
    assert hunk.header == ""


@pytest.mark.parametrize("header", ["@@", "@@ ... @@", "@@ def f():", "@@@ -1 -1 +1 @@@"])
def test_a_hunk_header_without_numbers_still_starts_a_hunk(header: str) -> None:
    hunk = only_hunk(f"--- a/x\n+++ b/x\n{header}\n a\n-b\n+c\n\n d\n")
    assert rows(hunk) == [" a", "-b", "+c", " ", " d"]
    assert (hunk.old_start, hunk.new_start) == (0, 0)


@pytest.mark.parametrize(
    "counts", ["-1,4 +1,4", "-1 +1", "-1,1 +1,1", "-1,99 +1,99", "-1,0 +1,0", "-1,2 +1,9"]
)
def test_wrong_counts_lose_no_line_and_no_file(counts: str) -> None:
    diff = parse_diff(
        f"--- a/one\n+++ b/one\n@@ {counts} @@\n a\n-b\n+B\n c\n-d\n+D\n"
        "--- a/two\n+++ b/two\n@@ -1 +1 @@\n-x\n+y\n"
    )
    assert [(file.path, file.added, file.removed) for file in diff.files] == [
        ("one", 2, 2),
        ("two", 1, 1),
    ]


def test_removed_and_added_lines_that_look_like_headers_are_lines() -> None:
    hunk = only_hunk("--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n same\n")
    assert rows(hunk) == ["--- old", "+++ new", " same"]


def test_a_lookalike_header_that_completes_its_hunk_is_content() -> None:
    file = only_file("--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- old\n+++ new\n@@ -9 +9 @@\n-a\n+b\n")
    assert [rows(hunk) for hunk in file.hunks] == [["--- old", "+++ new"], ["-a", "+b"]]


def test_a_missing_line_end_is_a_note_without_numbers() -> None:
    hunk = only_hunk(
        "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file"
    )
    assert rows(hunk) == [
        *("-a", "\\No newline at end of file", "+b", "\\No newline at end of file"),
    ]
    assert numbers(hunk)[1] == (None, None)


def test_empty_lines_inside_a_hunk_are_context() -> None:
    hunk = only_hunk("@@ -1,4 +1,4 @@\n a\n\n-b\n+c\n\n")
    assert rows(hunk) == [" a", " ", "-b", "+c", " "]
    assert numbers(hunk)[-1] == (4, 4)


def test_text_around_and_between_is_kept_as_notes() -> None:
    diff = parse_diff(
        "Here is what I did:\n\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n... cut ...\n+b\n c\n\n"
        "- first remark\n+ second remark\ndiff --git a/y b/y\nGIT binary patch\nliteral 3\nabc\n"
    )
    first, second = diff.files
    assert first.note == "Here is what I did:"
    assert rows(first.hunks[0]) == [
        *("-a", "\\... cut ...", "+b", " c", "\\- first remark", "\\+ second remark"),
    ]
    assert second.note == "GIT binary patch\nliteral 3\nabc"
    assert (diff.added, diff.removed) == (1, 1)


def test_the_signature_of_a_mailed_patch_is_no_removed_line() -> None:
    diff = parse_diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n\n")
    assert (diff.added, diff.removed) == (1, 1)


@pytest.mark.parametrize(
    "end", ["@@ -1,9 +1,9 @@\n a\n-b", "@@ -1,9 +", "--- a/next", "diff --git a/n"]
)
def test_a_diff_that_was_cut_off_shows_what_is_there(end: str) -> None:
    diff = parse_diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" + end)
    assert rows(diff.files[0].hunks[0]) == ["-a", "+b"]


@pytest.mark.parametrize("text", ["", "\n", "\n\n\r\n"])
def test_no_diff_has_no_files(text: str) -> None:
    assert parse_diff(text) == Diff((), 0, 0, 0)


def test_text_that_is_no_diff_is_a_note() -> None:
    file = only_file("nothing to see", path="x")
    assert (file.path, file.note, file.hunks) == ("x", "nothing to see", ())


def test_line_ends_of_windows_are_not_shown_unless_they_are_the_change() -> None:
    whole = only_hunk("--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n")
    assert rows(whole) == [" a", "-b", "+c"]
    changed = only_hunk("@@ -1 +1 @@\n-a\n+a\r\n")
    assert rows(changed) == ["-a", "+a\r"]


@pytest.mark.parametrize(
    ("old", "new", "marked_old", "marked_new"),
    [
        ("x = foo(1)", "x = foo(2)", "x = foo([1])", "x = foo([2])"),
        ("say hi there", "say hello there", "say [hi] there", "say [hello] there"),
        ("call(a)", "call(a, b)", "call(a)", "call(a[, b])"),
        ("alpha beta", "gamma delta", "alpha beta", "gamma delta"),
        ("same words", "same words", "same words", "same words"),
        ("", "new", "", "new"),
        ("w" * 600 + " a", "w" * 600 + " b", "w" * 600 + " a", "w" * 600 + " b"),
        ("a," * 160 + "x", "a," * 160 + "y", "a," * 160 + "x", "a," * 160 + "y"),
    ],
    ids=["number", "word", "insertion", "unlike", "equal", "empty", "too long", "too many words"],
)
def test_changed_words_are_marked(old: str, new: str, marked_old: str, marked_new: str) -> None:
    hunk = only_hunk(f"@@ -1 +1 @@\n-{old}\n+{new}")
    assert [marks(line) for line in hunk.lines] == [marked_old, marked_new]


def test_runs_of_equal_length_are_compared_line_by_line_and_others_not() -> None:
    equal = only_hunk("@@ -1,2 +1,2 @@\n-a = 1\n-b = 2\n+a = 3\n+b = 4")
    assert [marks(line) for line in equal.lines] == ["a = [1]", "b = [2]", "a = [3]", "b = [4]"]
    other = only_hunk("@@ -1 +1,2 @@\n-a = 1\n+a = 3\n+b = 4")
    assert not any(line.has_marks for line in other.lines)


def test_only_so_many_lines_are_compared() -> None:
    pairs = limits.WORD_MARK_PAIRS + 10
    text = "@@ -1,999 +1,999 @@\n" + "-total = 1\n+total = 2\n b\n" * pairs
    marked = [line for line in only_hunk(text).lines if line.has_marks]
    assert len(marked) == 2 * limits.WORD_MARK_PAIRS


def test_lines_past_the_limit_are_counted_but_not_kept() -> None:
    count = limits.DIFF_LINES + 7
    diff = parse_diff("@@ -1 +1 @@\n" + "+a\n" * count + "diff --git a/y b/y\n@@ -1 +1 @@\n-b\n")
    assert (diff.added, diff.removed, diff.cut) == (count, 1, 8)
    assert sum(len(hunk.lines) for file in diff.files for hunk in file.hunks) == limits.DIFF_LINES
    assert [file.added for file in diff.files] == [count, 0]


@pytest.mark.parametrize(
    "unit",
    ["diff --git a/x b/x\n", "@@ -1 +1 @@\n", "--- a\n+++ b\n", "\n", "Index: x\n=====\n", "\n-\n"],
    ids=ascii,
)
def test_hostile_repetition_is_bounded(unit: str) -> None:
    diff = parse_diff("@@ -1 +1 @@\n-a\n-b\n+c\n" + unit * 30_000)
    assert len(diff.files) <= limits.DIFF_LINES
    kept = [hunk for file in diff.files for hunk in file.hunks]
    assert len(kept) <= limits.DIFF_LINES
    assert sum(len(hunk.lines) for hunk in kept) <= limits.DIFF_LINES


def test_side_by_side_puts_removed_beside_added_lines() -> None:
    hunk = only_hunk(
        "@@ -1,5 +1,4 @@\n a\n-b\n-c\n-d\n+B\n+C\n e\n+f\n-g\n\\ No newline at end of file"
    )
    table = [
        (row.left.text if row.left else None, row.right.text if row.right else None)
        for row in split_rows(hunk)
    ]
    note = "No newline at end of file"
    assert table == [
        *(("a", "a"), ("b", "B"), ("c", "C"), ("d", None), ("e", "e")),
        *((None, "f"), ("g", None), (note, note)),
    ]


LINES = st.lists(st.text(st.characters(exclude_characters="\n\r"), max_size=8), max_size=12)


@given(LINES, LINES)
@example(["-- x", "a"], ["++ y", "a"])
@example(["", ""], [""])
def test_a_real_diff_gives_both_files_back(old: list[str], new: list[str]) -> None:
    diff = list(difflib.unified_diff(old, new, "a/f", "b/f", lineterm="", n=100))
    parsed = parse_diff("\n".join(diff))
    lines = [line for file in parsed.files for hunk in file.hunks for line in hunk.lines]
    if not diff:
        assert not lines
        return
    assert [line.text for line in lines if line.kind in {"context", "del"}] == old
    assert [line.text for line in lines if line.kind in {"context", "add"}] == new
    assert parsed.added == sum(line.kind == "add" for line in lines)
    assert parsed.removed == sum(line.kind == "del" for line in lines)


ANY_DIFF = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *(
                    "--- a/x",
                    "+++ b/x",
                    "@@ -1 +1 @@",
                    "@@ -1,3 +1,2 @@",
                    "@@",
                    "diff --git a/y b/y",
                ),
                *("\\ No newline", "+add", "-del", " same", "", "\r", "garbage", "rename from q"),
                *(
                    "Index: z",
                    "-- ",
                    "--- ",
                    "+++ ",
                    "@@ -99999999999 +1 @@",
                    "Binary files differ",
                ),
            ]
        ),
        st.text(st.characters(exclude_characters="\n"), max_size=6),
    ),
    max_size=25,
).map("\n".join)


@given(ANY_DIFF)
def test_no_line_is_lost_and_every_line_counted_once(text: str) -> None:
    diff = parse_diff(text, path="p")
    hunks = [hunk for file in diff.files for hunk in file.hunks]
    lines = [line for hunk in hunks for line in hunk.lines]
    assert diff.added == sum(line.kind == "add" for line in lines)
    assert diff.removed == sum(line.kind == "del" for line in lines)
    assert diff.added == sum(file.added for file in diff.files)
    shown = "\n".join(
        [line.text for line in lines]
        + [hunk.header for hunk in hunks]
        + [f"{file.path} {file.old_path} {file.note}" for file in diff.files]
    )
    for word in ("garbage", "Binary files differ", "same"):
        assert text.count(word) == shown.count(word)


@given(ANY_DIFF)
def test_both_views_have_the_same_lines(text: str) -> None:
    for file in parse_diff(text).files:
        for hunk in file.hunks:
            pairs: tuple[SplitRow, ...] = split_rows(hunk)
            left = [row.left for row in pairs if row.left and row.left.kind != "add"]
            right = [row.right for row in pairs if row.right and row.right.kind != "del"]
            assert left == [line for line in hunk.lines if line.kind != "add"]
            assert right == [line for line in hunk.lines if line.kind != "del"]

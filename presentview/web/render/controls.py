"""Characters that a reader cannot see, made visible.

Text can be written so that it reads differently from what it is: by turning the direction of
writing, by letters of no width, by control characters. `reveal` shows each of them as a small
label with its code point and keeps the character itself in the page, so that copied text is the
original. Two kinds cannot stand in an HTML document at all, NUL and lone surrogates: U+FFFD
stands for them, and the label tells which one it was.

Left alone is what ordinary writing needs:

- line feed, tab, and the carriage return of a CRLF line end;
- joiners between two pictographs (families, professions) or between letters of the scripts
  whose spelling uses them (Arabic, Syriac, N'Ko, Mongolian, those of South Asia, Khmer, Myanmar);
- one variation selector after a character that can have variants;
- the tag characters of the three flags that are written with them.
"""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup, escape

from presentview.web.render.markup import joined

__all__ = ["remove_unseen", "reveal"]

_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, without tab and line feed
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff"
    "\U000e0000-\U000e0fff"
)
_RUN = re.compile(f"[{_UNSEEN}]+")

# Between letters of these, U+200C and U+200D are part of the spelling.
_JOINING_LETTER = re.compile(
    "[\u0600-\u061b\u061d-\u07ff\u0840-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u180d"
    "\u1810-\u18af\ufb50-\ufdff\ufe70-\ufefc]"
)
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_SKIN_TONE = re.compile("[\U0001f3fb-\U0001f3ff]")
_NEW_PICTOGRAPH = re.compile("[\U0001f000-\U0001faff]")
_TAG_FLAG = re.compile(
    "(?<=\U0001f3f4)(?:"
    + "|".join(
        "".join(chr(0xE0000 + ord(letter)) for letter in region)
        for region in ("gbeng", "gbsct", "gbwls")
    )
    + ")\U000e007f"
)
# Longer runs share one label: hidden messages come as thousands of these in a row.
_LABELS_IN_A_ROW = 8


def reveal(text: str) -> Markup:
    """Return text as HTML in which characters that would not be seen are labelled.

    Each label is an element of class `ctl` around the character, with its code point in
    `data-ch` for the style sheet to show.
    """
    run = _RUN.search(text)
    if run is None:
        return escape(text)
    pieces: list[str] = []
    done = 0
    while run is not None:
        pieces.append(escape(text[done : run.start()]))
        pieces.append(_reveal_run(text, run.start(), run.end()))
        done = run.end()
        run = _RUN.search(text, done)
    pieces.append(escape(text[done:]))
    return joined(pieces)


def remove_unseen(text: str) -> str:
    """Return text without tabs, line feeds and every character that `reveal` could label."""
    return _RUN.sub("", text).replace("\t", "").replace("\n", "")


def _reveal_run(text: str, start: int, end: int) -> str:
    pieces: list[str] = []
    marked_from = at = start
    while at < end:
        ordinary = _ordinary_length(text, at)
        if ordinary:
            pieces.append(_label(text[marked_from:at]))
            pieces.append(text[at : at + ordinary])
            marked_from = at + ordinary
        at += ordinary or 1
    pieces.append(_label(text[marked_from:end]))
    return "".join(pieces)


def _ordinary_length(text: str, at: int) -> int:
    """Return how many characters from at on belong to ordinary writing, 0 if the first does not."""
    char = text[at]
    before = text[at - 1] if at else ""
    after = text[at + 1 : at + 2]
    if char == "\r":
        return int(after == "\n")
    if char in "\u200c\u200d":
        return int(_may_join(char, before, after))
    if "\ufe00" <= char <= "\ufe0f":
        return int(_has_variants(char, before))
    if "\U000e0100" <= char <= "\U000e01ef":
        return int(bool(_HAN.match(before)))
    flag = _TAG_FLAG.match(text, at) if before == "\U0001f3f4" else None
    return len(flag[0]) if flag else 0


def _may_join(char: str, before: str, after: str) -> bool:
    if _JOINING_LETTER.match(before) and _JOINING_LETTER.match(after):
        return True
    is_finished = before == "\ufe0f" or _SKIN_TONE.match(before) or _is_pictograph(before)
    return char == "\u200d" and bool(is_finished) and _is_pictograph(after)


def _has_variants(char: str, before: str) -> bool:
    if before and before in "0123456789#*":
        return char in "\ufe0e\ufe0f"
    return before > "\x9f" and not before.isspace() and not _RUN.match(before)


def _is_pictograph(char: str) -> bool:
    # The range covers pictographs younger than Python's own tables.
    return bool(char) and (unicodedata.category(char) == "So" or bool(_NEW_PICTOGRAPH.match(char)))


def _label(run: str) -> str:
    if len(run) <= _LABELS_IN_A_ROW:
        return "".join(_span(_name(char), char) for char in run)
    more = "" if run == run[0] * len(run) else " …"
    return _span(f"{_name(run[0])}{more} ×{len(run)}", run)


def _span(name: str, run: str) -> str:
    return f'<span class="ctl" data-ch="{name}">{"".join(map(_in_document, run))}</span>'


def _name(char: str) -> str:
    return f"U+{ord(char):04X}"


def _in_document(char: str) -> str:
    # A bare CR would become a line feed when the page is read.
    if char == "\r":
        return "&#13;"
    return "\ufffd" if char == "\x00" or "\ud800" <= char <= "\udfff" else char

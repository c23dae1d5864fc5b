"""How much of texts a page shows, so that no record makes a page that no browser can hold."""

from __future__ import annotations

from presentview.limits import DIFF_CHARS, DIFF_LINE_CHARS

__all__ = ["Allowance", "cut_diff"]


class Allowance:
    """So many characters to share among texts, in order; `cut` counts those left out."""

    def __init__(self, chars: int) -> None:
        self._left = chars
        self.cut = 0

    def take(self, text: str) -> str:
        """What may be shown of `text`."""
        shown = text[: self._left]
        self._left -= len(shown)
        self.cut += len(text) - len(shown)
        return shown


def cut_diff(text: str) -> str:
    """What of a diff is drawn: of each line its beginning, and lines as far as they fit."""
    if len(text) <= DIFF_LINE_CHARS:
        return text
    kept: list[str] = []
    room = DIFF_CHARS
    for line in text.split("\n"):
        shown = line if len(line) <= DIFF_LINE_CHARS else line[:DIFF_LINE_CHARS] + "…"
        room -= len(shown) + 1
        if room < 0:
            return "".join(f"{line}\n" for line in kept)
        kept.append(shown)
    return "\n".join(kept)

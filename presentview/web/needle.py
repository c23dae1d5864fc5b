"""A text to look for: how it may be spelled in a file of JSON, and where it stands in a text.

The file's bytes are searched for a part of the text that is spelled in few ways; whether the rest
is there too is for the decoded text to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["Needle"]

# Letters, digits and those marks that nobody escapes.
_PLAIN: Final = re.compile(r"[ !#-%'-.0-;=?-\[\]-~]+")
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f\u2028\u2029]+")
_SHORT: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\b": "\\b",
    "\f": "\\f",
}
_ENOUGH: Final = 3


class Needle:
    """The text `query`. If it has no capitals, those of the English alphabet count as small.

    `forms` are the spellings of a part of it: every place where the text stands in a file holds
    one of them, in small letters if the needle `folds`.
    """

    def __init__(self, query: str) -> None:
        self.folds = query == query.lower()
        self.size = len(query)
        self._text = query
        forms = (form.encode("utf-8", "surrogatepass") for form in _forms(query))
        self.forms = tuple(dict.fromkeys(f.lower() if self.folds else f for f in forms))

    def find(self, text: str) -> int:
        """Where it first stands in `text`, -1 if nowhere."""
        return self._alike(text).find(self._text)

    def count(self, text: str) -> int:
        """How often it stands in `text`."""
        return self._alike(text).count(self._text)

    def _alike(self, text: str) -> str:
        """`text` with its English capitals small, if they are to be; no longer or shorter."""
        if not self.folds:
            return text
        if text.isascii():
            return text.lower()
        # Bytes know no other letters, and none that become two.
        return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _forms(query: str) -> Iterator[str]:
    plain = max(_PLAIN.findall(query), key=lambda run: len(run.strip()), default="")
    beyond = max(_BEYOND_ASCII.findall(query), key=len, default="")
    if len(plain.strip()) >= _ENOUGH or (plain.strip() and not beyond):
        yield plain
    elif beyond:
        yield beyond
        yield from _escapes(beyond[0])
    elif query:
        # Only characters that JSON escapes, or may; a space is the last to tell anything.
        char = query.strip(" ")[:1] or query[0]
        yield _SHORT.get(char, char)
        yield from _escapes(char)


def _escapes(char: str) -> Iterator[str]:
    """The end of `char` as an escape: in JSON in JSON there are more backslashes before it."""
    unit = char.encode("utf-16-be", "surrogatepass")[:2].hex()
    yield f"u{unit}"
    yield f"u{unit.upper()}"

"""A bar chart as a PNG, made of nothing but the standard library."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

__all__ = ["bar_chart"]

_PAPER: Final = b"\xfa\xfa\xf7"
_INK: Final = b"\x3a\x40\x4d"
_BARS: Final = (b"\x3f\x6f\xd8", b"\x6c\x93\xe4")
_DOT: Final = 4
_BAR: Final = 14
_GAP: Final = 8
_HEIGHT: Final = 56
_HEADROOM: Final = 9

# Digits in three columns and five rows, a bit a dot.
_DIGITS: Final = (
    (7, 5, 5, 5, 7),
    (2, 6, 2, 2, 7),
    (7, 1, 7, 4, 7),
    (7, 1, 7, 1, 7),
    (5, 5, 7, 1, 1),
    (7, 4, 7, 1, 7),
    (7, 4, 7, 5, 7),
    (7, 1, 1, 1, 1),
    (7, 5, 7, 5, 7),
    (7, 5, 7, 1, 7),
)


def bar_chart(values: Sequence[int]) -> bytes:
    """A PNG with one bar for each of `values`, which are not negative, and its number above."""
    width = _GAP + len(values) * (_BAR + _GAP)
    canvas = [[_PAPER] * width for _ in range(_HEIGHT)]
    highest = max((1, *values))
    for place, value in enumerate(values):
        left = _GAP + place * (_BAR + _GAP)
        top = _HEIGHT - 3 - round(value / highest * (_HEIGHT - 3 - _HEADROOM))
        for row in canvas[top : _HEIGHT - 3]:
            row[left : left + _BAR] = [_BARS[place % 2]] * _BAR
        _write(canvas, str(value), left + _BAR // 2, top - 7)
    canvas[_HEIGHT - 3][_GAP // 2 : width - _GAP // 2] = [_INK] * (width - _GAP)
    return _png([[dot for dot in row for _ in range(_DOT)] for row in canvas for _ in range(_DOT)])


def _write(canvas: list[list[bytes]], digits: str, middle: int, top: int) -> None:
    left = middle - 2 * len(digits)
    for place, digit in enumerate(digits):
        for y, bits in enumerate(_DIGITS[int(digit)]):
            for x in range(3):
                if bits & 4 >> x:
                    canvas[top + y][left + 4 * place + x] = _INK


def _png(rows: list[list[bytes]]) -> bytes:
    size = struct.pack(">II", len(rows[0]), len(rows))
    pixels = zlib.compress(b"".join(b"\0" + b"".join(row) for row in rows), 9)
    eight_bits_of_rgb = b"\x08\x02\0\0\0"
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunks((b"IHDR", size + eight_bits_of_rgb), (b"IDAT", pixels), (b"IEND", b""))
    )


def _chunks(*parts: tuple[bytes, bytes]) -> Iterator[bytes]:
    for name, content in parts:
        yield struct.pack(">I", len(content))
        yield name + content
        yield struct.pack(">I", zlib.crc32(name + content))

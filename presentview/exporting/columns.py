"""Tables of text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["Column", "table"]


class Column(NamedTuple):
    """A column: its title, and whether it is set to the right as numbers are."""

    title: str
    is_number: bool = False


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A title line and the rows below it, each column as wide as what stands in it."""
    lines = [[column.title for column in columns], *rows]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for cells in lines:
        set_cells = (
            cell.rjust(width) if column.is_number else cell.ljust(width)
            for cell, width, column in zip(cells, widths, columns, strict=True)
        )
        yield "  ".join(set_cells).rstrip()

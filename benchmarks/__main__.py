"""`python -m benchmarks [FIGURE …]`: print the figures and how they stand to their targets."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import orjson

from benchmarks.figures import FIGURES
from benchmarks.generate import write_session
from benchmarks.measure import Figure


def main() -> None:
    """Measure what was asked for (default: everything) and print a line for each figure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument("--mb", type=float, default=100, help="size of the made-up session")
    parser.add_argument("--file", type=Path, help="a sidecar to measure instead of a made-up one")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    options = parser.parse_args()
    unknown = [name for name in options.figures if name not in FIGURES]
    if unknown:
        parser.error(f"there is no figure {unknown[0]}; choose among {', '.join(FIGURES)}")
    if not options.json:
        print(f"load {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        path = options.file
        if path is None:
            path = Path(folder) / "session.present.jsonl"
            write_session(path, int(options.mb * 1e6))
        for name in options.figures or FIGURES:
            for figure in FIGURES[name](path):
                print(_as_json(figure) if options.json else _as_line(figure))


def _as_line(figure: Figure) -> str:
    bound = "at least" if figure.at_least else "at most"
    verdict = "ok" if figure.is_met else "OVER" if not figure.at_least else "UNDER"
    value = f"{figure.value:.2f} {figure.unit}"
    return f"{figure.name:45} {value:>12}  {bound} {figure.target:g}  {verdict:5}  {figure.raw}"


def _as_json(figure: Figure) -> str:
    return orjson.dumps(figure._asdict() | {"is_met": figure.is_met}).decode()


main()

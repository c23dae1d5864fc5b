"""Fetch the vendored files again, or check that they are what their tables say.

Each folder of vendored files has a table, VENDORED.toml, that names packages, versions, files and
SHA-256 sums. Fetching takes each package from its registry, writes the files and puts the new
sums into the table; everything else in the table is written by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (ROOT / "static" / "vendor", ROOT / "tests" / "vendor")
TABLE = "VENDORED.toml"


class Vendored(NamedTuple):
    """One vendored file: where it comes from, where it lies and what it must hash to."""

    package: str  # name@version, as the registry's client takes it
    member: str  # its path inside the package
    path: Path
    sha256: str


def listed(folder: Path) -> Iterator[Vendored]:
    """Yield the files that the folder's table names, in the table's order."""
    table = tomllib.loads((folder / TABLE).read_text(encoding="utf-8"))
    for package in table["package"]:
        version = package["version"]
        for file in package["file"]:
            yield Vendored(
                package=f"{package['name']}@{version}",
                member=file["from"],
                path=folder / file["to"].format(version=version),
                sha256=file["sha256"],
            )


def problems(folder: Path) -> list[str]:
    """Return a line for each file that is missing, changed or listed nowhere."""
    found = []
    expected = {folder / TABLE}
    for file in listed(folder):
        expected.add(file.path)
        if not file.path.is_file():
            found.append(f"{file.path}: missing")
        elif _sha256(file.path.read_bytes()) != file.sha256:
            found.append(f"{file.path}: not what {TABLE} says")
    extra = sorted(path for path in folder.iterdir() if path not in expected)
    return found + [f"{path}: not in {TABLE}" for path in extra]


def fetch(folder: Path) -> None:
    """Write the folder's files anew from their packages and the new sums into its table."""
    files = list(listed(folder))
    sums = []
    with tempfile.TemporaryDirectory() as scratch:
        archives = {name: _pack(name, Path(scratch)) for name in {f.package for f in files}}
        for file in files:
            content = _member(archives[file.package], file.member)
            file.path.write_bytes(content)
            sums.append(_sha256(content))
            print(f"{file.path.relative_to(ROOT)}  {len(content)} bytes")
    table = folder / TABLE
    fresh = iter(sums)
    text = re.sub(
        r'(?m)^sha256 = ".*"$',
        lambda _: f'sha256 = "{next(fresh)}"',
        table.read_text(encoding="utf-8"),
    )
    table.write_text(text, encoding="utf-8")


def _pack(package: str, scratch: Path) -> Path:
    command = ["npm", "pack", package, "--silent", "--pack-destination", str(scratch)]
    try:
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        raise SystemExit("npm is needed to fetch vendored files, and is not installed") from None
    return scratch / done.stdout.strip()


def _member(archive: Path, member: str) -> bytes:
    with tarfile.open(archive) as tar:
        opened = tar.extractfile(f"package/{member}")
        if opened is None:
            raise FileNotFoundError(f"{archive.name} has no file {member}")
        return opened.read()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def main(argv: Sequence[str] | None = None) -> int:
    """Fetch everything, or with --check only compare. Return 1 if something is not as listed."""
    parser = argparse.ArgumentParser(description="Refresh or check the vendored files.")
    parser.add_argument("--check", action="store_true", help="compare only, fetch nothing")
    if not parser.parse_args(argv).check:
        for folder in FOLDERS:
            fetch(folder)
    found = [line for folder in FOLDERS for line in problems(folder)]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())

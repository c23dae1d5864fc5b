"""Sidecars on the disk, written as a recorder would."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from presentview.records import Header, Record, encode, encode_header

__all__ = ["write_session", "write_sidecar"]


def write_sidecar(path: Path, records: Iterable[Record], header: Header | None = None) -> None:
    """Write a whole sidecar."""
    lines = [encode_header(header or Header()), *map(encode, records)]
    path.write_bytes(b"\n".join(lines) + b"\n")


def write_session(folder: Path, records: Iterable[Record], header: Header | None = None) -> Path:
    """The session `s` in a folder, of which there is a sidecar with these records."""
    write_sidecar(folder / "s.present.jsonl", records, header)
    return folder / "s.jsonl"

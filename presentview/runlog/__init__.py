"""The run log: what an unattended run said and did, one JSON record a line."""

from __future__ import annotations

from presentview.runlog.reading import Placed, Scan, decode_record, is_run_log, read_line
from presentview.runlog.records import (
    Activity,
    Event,
    Kind,
    Message,
    Meta,
    Record,
    Result,
    encode_record,
)
from presentview.runlog.session import Session, load, read
from presentview.runlog.times import new_id

__all__ = [
    "Activity",
    "Event",
    "Kind",
    "Message",
    "Meta",
    "Placed",
    "Record",
    "Result",
    "Scan",
    "Session",
    "decode_record",
    "encode_record",
    "is_run_log",
    "load",
    "new_id",
    "read",
    "read_line",
]

"""The run log: what an unattended run said and did, one JSON record a line.

The format is that of the Go package `session` of zot, which reads ours as we read its. Each
record is on the disk when the call that wrote it returns, and a damaged one costs only itself
when the log is read. For example:

    from presentview import runlog
    from presentview.runlog import Event, Message, Meta, Recorder, Result

    with runlog.start("runs", Meta(task="Fix the build")) as log:
        recorder = Recorder(log)
        recorder.sync([Message("user", "Fix the build")])
        recorder.record_event(Event("iteration", iteration=1))
        recorder.sync([Message("user", "Fix the build"), Message("bot", "Done.")])
        recorder.record_result(Result("settled", iterations=1))
    session = runlog.load(runlog.resolve("runs", "last"))
    print(session.complete, [message.text for message in session.agent_messages()])
    print([entry.task for entry in runlog.list_runs("runs")])  # ['Fix the build']

A log without a result is that of a run that goes on, or was killed; `resume` starts one that
continues it.
"""

from __future__ import annotations

from presentview.errors import LogAmbiguous, LogClosed, LogError, LogExists, LogNotFound
from presentview.runlog.calls import answered, unanswered
from presentview.runlog.listing import Entry, entry_of, list_runs, meta_of
from presentview.runlog.naming import default_dir
from presentview.runlog.reading import Placed, Scan, decode_record, read_line
from presentview.runlog.recorder import Recorder
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
from presentview.runlog.resuming import Link, chain, resolve, resume
from presentview.runlog.session import Session, load, read
from presentview.runlog.times import new_id
from presentview.runlog.writing import Writer, create, start

__all__ = [
    "Activity",
    "Entry",
    "Event",
    "Kind",
    "Link",
    "LogAmbiguous",
    "LogClosed",
    "LogError",
    "LogExists",
    "LogNotFound",
    "Message",
    "Meta",
    "Placed",
    "Record",
    "Recorder",
    "Result",
    "Scan",
    "Session",
    "Writer",
    "answered",
    "chain",
    "create",
    "decode_record",
    "default_dir",
    "encode_record",
    "entry_of",
    "list_runs",
    "load",
    "meta_of",
    "new_id",
    "read",
    "read_line",
    "resolve",
    "resume",
    "start",
    "unanswered",
]

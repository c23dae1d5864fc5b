"""Everything a recorder does with files, step by step, for tests that make a system call fail.

As a program it forks a child for each session it is told of on the socket whose number is its
argument. The child says its process id, does one step whenever it is told to, and says how that
went. It speaks by `send` and `recv`, so that no call that is made to fail is one of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from presentview.errors import PresentviewError
from presentview.events import Event, EventKind
from presentview.recorder import Recorder

DAMAGE = b'{"kind":"notice","text":\n'
TORN = b'{"kind":"notice","text":"never whole'
BEFORE = (
    b'{"kind":"_header"}\n'
    b'{"kind":"turn_started","text":"1","at":1}\n'
    + DAMAGE
    + b'{"kind":"notice","text":"n","level":"info","at":2}\n'
    + TORN
)
BEFORE_TEXTS = ["1", "n"]


class Step(NamedTuple):
    """Something a recorder is asked to do, and the texts it holds afterwards."""

    name: str
    act: Callable[[Recorder], None]
    texts: list[str]


def _event(kind: EventKind, text: str = "") -> Callable[[Recorder], None]:
    return lambda recorder: recorder.append(Event(kind=kind, text=text))


def _compact(recorder: Recorder) -> None:
    recorder.truncate_to_turn(2)
    recorder.sync_before_save(1)
    recorder.save()


OPENED = ["1", "n", "interrupted"]
STEPS = (
    Step("turn", _event(EventKind.TURN_STARTED, "2"), [*OPENED, "2"]),
    Step("append", _event(EventKind.NOTICE, "a"), [*OPENED, "2", "a"]),
    Step("append again", _event(EventKind.NOTICE, "b"), [*OPENED, "2", "a", "b"]),
    Step("compact", _compact, ["2", "a", "b"]),
    Step("append after it", _event(EventKind.NOTICE, "c"), ["2", "a", "b", "c"]),
    Step("end of turn", _event(EventKind.TURN_DONE), ["2", "a", "b", "c", ""]),
    Step("save", Recorder.save, ["2", "a", "b", "c", ""]),
    Step("close", Recorder.close, ["2", "a", "b", "c", ""]),
)


class Outcome(NamedTuple):
    """How a step went: the name and path of its error, empty if it went well."""

    error: str = ""
    path: str = ""


def outcome_of(act: Callable[..., object], *args: object) -> Outcome:
    """Do something; how that went. Errors that presentview does not raise on purpose go on."""
    try:
        act(*args)
    except PresentviewError as error:
        return Outcome(type(error).__name__, str(getattr(error, "path", "")))
    return Outcome()


def sidecar_of(session: Path) -> Path:
    """Write the file that the steps begin with; its path."""
    sidecar = session.with_name(f"{session.stem}.present.jsonl")
    sidecar.write_bytes(BEFORE)
    return sidecar


def act_when_told(session: str, peer: socket.socket) -> None:
    """Open the session until that goes well, then do the steps."""
    peer.send(b"%d\n" % os.getpid())
    opened: list[Recorder] = []
    while not opened:
        peer.recv(1)
        outcome = outcome_of(lambda: opened.append(Recorder.open(session)))
        peer.send(json.dumps(outcome).encode() + b"\n")
    for step in STEPS:
        peer.recv(1)
        outcome = outcome_of(step.act, opened[0])
        peer.send(json.dumps(outcome).encode() + b"\n")
    peer.recv(1)


def warm_up() -> None:
    """Do every step once, so that whatever is loaded at first use is loaded."""
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder, "s.jsonl")
        sidecar_of(session)
        recorder = Recorder.open(session)
        for step in STEPS:
            step.act(recorder)


def main() -> None:
    peer = socket.socket(fileno=int(sys.argv[1]))
    warm_up()
    # Where only ancestors may trace a process, let everybody trace this one.
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
    peer.send(b"ready\n")
    # When the test is over, or given up, it closes its end.
    with contextlib.suppress(ConnectionError):
        while session := peer.recv(4096):
            child = os.fork()
            if child == 0:
                act_when_told(session.decode(), peer)
                os._exit(0)
            os.waitpid(child, 0)
            peer.send(b"end\n")


if __name__ == "__main__":
    main()

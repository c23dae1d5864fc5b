"""Work on records too long for the server's own process, done in a process beside it.

To decode a line of many megabytes takes all of Python for as long as it lasts, in whatever thread
it is done. So lines longer than `LONG_LINE_BYTES` are handed to one child process, which answers
with no more than a page shows. It is started when it is first needed, ended when nobody needed it
for a while, limited in memory where the system can do that, and started anew when it died.
"""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Final, NamedTuple

from presentview.errors import PresentviewError
from presentview.limits import APART_SECONDS, LONG_LINE_MEMORY, MIB, READ_CHUNK
from presentview.pieces import Flaw, Piece

__all__ = [
    "Apart",
    "ApartError",
    "Chunks",
    "Done",
    "Job",
    "read_chunks",
    "read_frame",
    "write_chunks",
    "write_frame",
]

Chunks = Iterable[bytes]
"""The bytes of a record, some at a time."""

# What was given to Python to find this package with is given to it there too.
_START: Final = """
import sys
sys.path[:] = sys.argv[2:]
from presentview.web.apart_process import main
main(int(sys.argv[1]))
"""
_SIZE_BYTES: Final = 8
_DIED: Final = "not read: the process that reads long lines ended over it"
_TOO_MUCH: Final = "not read: that takes more than %s MiB of memory"


class ApartError(PresentviewError):
    """What was to be done apart could not be done, for this `reason`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Job(NamedTuple):
    """What is to be done: the `name` of a job with its arguments, and how many records follow."""

    name: str
    arguments: Sequence[Any]
    records: int


class Done(NamedTuple):
    """The end of the answer to a job; `no_memory` says that it was given up for want of memory."""

    no_memory: bool = False


class Apart:
    """The child process and what is asked of it; safe to use from several threads."""

    def __init__(self, memory: int = LONG_LINE_MEMORY) -> None:
        """Let the process take `memory` bytes, where the system can limit that."""
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None
        self._busy = threading.Lock()
        self._needed_at = 0.0

    @property
    def pid(self) -> int | None:
        """The id of the child process, None while there is none."""
        return self._process.pid if self._process else None

    def run(self, name: str, raws: Sequence[Chunks], *arguments: Any) -> Iterator[Any]:
        """What the job of this name makes of some records, as it comes.

        Raises `ApartError` if the process cannot be started, ends, or needs too much memory.
        """
        with self._busy:
            whole = False
            try:
                yield from self._asked(Job(name, arguments, len(raws)), raws)
                whole = True
            except (OSError, EOFError) as error:
                raise ApartError(_DIED) from error
            finally:
                self._needed_at = time.monotonic()
                if not whole:
                    self._end()

    def pieces(self, file: BinaryIO, offset: int, length: int, first: bool) -> Iterator[Piece]:
        """What is on a line of `file`, its records as digests; see `sidecar.ReadLong`.

        A line that cannot be read is a piece that says so.
        """
        end = 0
        try:
            for pieces in self.run("pieces", [_chunks(file, offset, length)], first):
                yield from pieces
                end = pieces[-1].offset + pieces[-1].length
        except ApartError as error:
            flaw = Flaw(end, error.reason)
            yield Piece(None, end, length - end, exact=False, flaws=(flaw,))

    def rest(self) -> None:
        """End the process if nobody needed it for a while."""
        if self._process is None or not self._busy.acquire(blocking=False):
            return
        try:
            if time.monotonic() - self._needed_at > APART_SECONDS:
                self._end()
        finally:
            self._busy.release()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        process = self._process
        if process is not None:
            process.kill()
        with self._busy:
            self._end()

    def _asked(self, job: Job, raws: Sequence[Chunks]) -> Iterator[Any]:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        write_frame(process.stdin, job)
        for chunks in raws:
            write_chunks(process.stdin, chunks)
        process.stdin.flush()
        while not isinstance(answer := read_frame(process.stdout), Done):
            yield answer
        if answer.no_memory:
            raise ApartError(_TOO_MUCH % f"{self._memory // MIB:,}")

    def _started(self) -> subprocess.Popen[bytes]:
        """The process, a new one if there is none any more."""
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, str(self._memory), *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    # What it did not read is still waiting to be written.
                    with contextlib.suppress(OSError):
                        pipe.close()


def _chunks(file: BinaryIO, offset: int, length: int) -> Iterator[bytes]:
    file.seek(offset)
    left = length
    while left and (chunk := file.read(min(left, READ_CHUNK))):
        yield chunk
        left -= len(chunk)


def write_chunks(pipe: BinaryIO | Any, chunks: Chunks) -> None:
    """Write bytes for `read_chunks`, never many at once. Raises `OSError`."""
    for chunk in chunks:
        if chunk:
            pipe.write(len(chunk).to_bytes(_SIZE_BYTES))
            pipe.write(chunk)
    pipe.write(bytes(_SIZE_BYTES))


def read_chunks(pipe: BinaryIO | Any) -> bytes:
    """The next bytes that were written, in one. Raises `EOFError` at the end and `OSError`."""
    return b"".join(iter(lambda: _sized(pipe), b""))


def write_frame(pipe: BinaryIO | Any, value: Any) -> None:
    """Write a value for `read_frame`. Raises `OSError`."""
    content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(len(content).to_bytes(_SIZE_BYTES))
    pipe.write(content)


def read_frame(pipe: BinaryIO | Any) -> Any:
    """The next value that was written. Raises `EOFError` at the end and `OSError`."""
    # Only ever from the process at the other end of the pipe, which is this program too.
    return pickle.loads(_sized(pipe))  # noqa: S301


def _sized(pipe: BinaryIO | Any) -> bytes:
    head = pipe.read(_SIZE_BYTES)
    size = int.from_bytes(head)
    content: bytes = pipe.read(size)
    if len(head) < _SIZE_BYTES or len(content) < size:
        raise EOFError
    return content

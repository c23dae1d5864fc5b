"""Every error presentview raises on purpose.

    PresentviewError
    ├── SidecarError            .path .line .offset    a sidecar or log cannot be read
    │   ├── HeaderError                                no readable header line
    │   ├── RecordError                                a piece of a line is not a record
    │   │   └── LineTooLong                            more bytes than are ever parsed
    │   ├── StaleSidecar        .found .expected       older than the session it belongs to
    │   └── SidecarLocked       .pid .host .since      another recorder has it open
    ├── SaveError               .path                  not written; what was there is intact
    │   └── SaveNotDurable                             written, but a power cut may undo it
    ├── LogError                                       a run log cannot be made, found, added to
    │   ├── LogClosed                                  it has its result already
    │   ├── LogExists           .path                  another run has this id
    │   ├── LogNotFound                                no run is meant
    │   └── LogAmbiguous        .candidates            several runs may be meant
    ├── ConfigError                                    a setting that cannot work, and what can
    └── AccessDenied            .status                a request the web app refuses

A mistake in the calling program is a `TypeError`, `ValueError` or `RuntimeError`, never one of
these.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "AccessDenied",
    "ConfigError",
    "HeaderError",
    "LineTooLong",
    "LogAmbiguous",
    "LogClosed",
    "LogError",
    "LogExists",
    "LogNotFound",
    "PresentviewError",
    "RecordError",
    "SaveError",
    "SaveNotDurable",
    "SidecarError",
    "SidecarLocked",
    "StaleSidecar",
]


class PresentviewError(Exception):
    """The base of everything presentview raises on purpose."""


class SidecarError(PresentviewError):
    """A sidecar, or the log of a session, cannot be read.

    `path` is the file, `line` counts from 1 and `offset` from byte 0; both are None when the
    whole file is meant.
    """

    def __init__(
        self, reason: str, *, path: Path, line: int | None = None, offset: int | None = None
    ) -> None:
        place = str(path) if line is None else f"{path}:{line}:{offset or 0}"
        super().__init__(f"{place}: {reason}")
        self.path = path
        self.line = line
        self.offset = offset
        self.reason = reason


class HeaderError(SidecarError):
    """The file has no header line that can be read."""


class RecordError(SidecarError):
    """A piece of a line is not a record."""


class LineTooLong(RecordError):
    """A line holds more bytes than presentview parses."""


class StaleSidecar(SidecarError):
    """The sidecar describes an older version of the session than the caller has."""

    def __init__(self, *, path: Path, found: int, expected: int) -> None:
        super().__init__(
            f"rewrite version {found} is older than the session's {expected}", path=path
        )
        self.found = found
        self.expected = expected


class SidecarLocked(SidecarError):
    """Another recorder has the sidecar open.

    `pid`, `host` and `since` (unix ms) say which one, as far as its lock file tells; None where
    it does not.
    """

    def __init__(
        self, *, path: Path, pid: int | None = None, host: str = "", since: int | None = None
    ) -> None:
        who = f"process {pid}" if pid is not None else "another process"
        where = f" on {host}" if host else ""
        super().__init__(f"{who}{where} is recording into it; close that one first", path=path)
        self.pid = pid
        self.host = host
        self.since = since


class SaveError(PresentviewError):
    """A sidecar, or an event of a log, was not written. What stood in the file before still does.

    The cause (usually an `OSError`) is chained.
    """

    def __init__(self, reason: str, *, path: Path) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class SaveNotDurable(SaveError):
    """The new file is in place, but its folder could not be synced: a power cut may undo it."""


class LogError(PresentviewError):
    """The log of a run cannot be made, found or added to; the message says why."""


class LogClosed(LogError):
    """The log has its result, or was closed: nothing can be added to it."""


class LogExists(LogError):
    """A run with this id has a log already, at `path`. Nothing was written to it."""

    def __init__(self, *, path: Path) -> None:
        super().__init__(f"{path}: a run with this id has a log already")
        self.path = path


class LogNotFound(LogError):
    """No run is what was asked for."""


class LogAmbiguous(LogError):
    """Several runs have an id that begins as was asked for: the `candidates`, newest first."""

    def __init__(self, ref: str, candidates: tuple[str, ...]) -> None:
        super().__init__(f"{ref!r} may be any of these runs: {', '.join(candidates)}")
        self.candidates = candidates


class ConfigError(PresentviewError):
    """A setting cannot work as given; the message says what to write instead."""


class AccessDenied(PresentviewError):
    """A request the web app refuses, with the HTTP `status` to answer (400, 401 or 403)."""

    def __init__(self, reason: str, *, status: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status

"""presentview: what a person saw of a coding agent's session, recorded and shown again.

Everything a program that records or reads sidecars needs is here; the web app is `presentview
serve`. Each name is loaded when it is first used, so that a program pays only for what it does.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from presentview._version import __version__

if TYPE_CHECKING:
    from presentview.errors import (
        AccessDenied,
        ConfigError,
        HeaderError,
        LineTooLong,
        LogAmbiguous,
        LogClosed,
        LogError,
        LogExists,
        LogNotFound,
        PresentviewError,
        RecordError,
        SaveError,
        SaveNotDurable,
        SidecarError,
        SidecarLocked,
        StaleSidecar,
    )
    from presentview.events import Event, EventKind, from_event
    from presentview.recorder import Recorder, Snapshot
    from presentview.records import (
        Attachment,
        Collab,
        Compaction,
        FileDiff,
        Kind,
        Profile,
        Record,
        Retry,
        Tool,
        Usage,
    )
    from presentview.sidecar import Loaded, Problem, find_sidecar, load, present_path
    from presentview.transcript.cards import Card, Change, Place, ToolCard, Turn, UsageCard
    from presentview.transcript.fold import Transcript

__all__ = [
    "AccessDenied",
    "Attachment",
    "Card",
    "Change",
    "Collab",
    "Compaction",
    "ConfigError",
    "Event",
    "EventKind",
    "FileDiff",
    "HeaderError",
    "Kind",
    "LineTooLong",
    "Loaded",
    "LogAmbiguous",
    "LogClosed",
    "LogError",
    "LogExists",
    "LogNotFound",
    "Place",
    "PresentviewError",
    "Problem",
    "Profile",
    "Record",
    "RecordError",
    "Recorder",
    "Retry",
    "SaveError",
    "SaveNotDurable",
    "SidecarError",
    "SidecarLocked",
    "Snapshot",
    "StaleSidecar",
    "Tool",
    "ToolCard",
    "Transcript",
    "Turn",
    "Usage",
    "UsageCard",
    "__version__",
    "find_sidecar",
    "from_event",
    "load",
    "present_path",
]

_EXPORTS: Final = {
    "errors": (
        *("AccessDenied", "ConfigError", "HeaderError", "LineTooLong", "LogAmbiguous"),
        *("LogClosed", "LogError", "LogExists", "LogNotFound", "PresentviewError"),
        *("RecordError", "SaveError", "SaveNotDurable", "SidecarError", "SidecarLocked"),
        "StaleSidecar",
    ),
    "events": ("Event", "EventKind", "from_event"),
    "recorder": ("Recorder", "Snapshot"),
    "records": (
        *("Attachment", "Collab", "Compaction", "FileDiff", "Kind", "Profile", "Record"),
        *("Retry", "Tool", "Usage"),
    ),
    "sidecar": ("Loaded", "Problem", "find_sidecar", "load", "present_path"),
    "transcript.cards": ("Card", "Change", "Place", "ToolCard", "Turn", "UsageCard"),
    "transcript.fold": ("Transcript",),
}
_HOMES: Final = {name: module for module, names in _EXPORTS.items() for name in names}

# A type checker that saw this would take any name for one of ours.
if not TYPE_CHECKING:

    def __getattr__(name):  # noqa: ANN202, ANN001 - no checker reads it
        """Load a name from the module it lives in, once."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Every name there is, loaded or not."""
    return sorted({*globals(), *__all__})

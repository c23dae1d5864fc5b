"""presentview: what a person saw of a coding agent's session, recorded and shown again.

Everything a program that records or reads sidecars needs is here; the web app is `presentview
serve`. Importing this pulls in no web framework.
"""

from presentview._version import __version__
from presentview.errors import (
    AccessDenied,
    ConfigError,
    DepthExceeded,
    HeaderError,
    LineTooLong,
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
    "DepthExceeded",
    "Event",
    "EventKind",
    "FileDiff",
    "HeaderError",
    "Kind",
    "LineTooLong",
    "Loaded",
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

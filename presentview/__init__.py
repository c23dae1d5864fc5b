"""presentview: what a person saw of a coding agent's session, recorded and shown again."""

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

__all__ = [
    "AccessDenied",
    "ConfigError",
    "DepthExceeded",
    "HeaderError",
    "LineTooLong",
    "PresentviewError",
    "RecordError",
    "SaveError",
    "SaveNotDurable",
    "SidecarError",
    "SidecarLocked",
    "StaleSidecar",
    "__version__",
]

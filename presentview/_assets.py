"""Where the templates and the static files are.

A wheel carries both folders inside the package; a checkout has them beside it. The package's own
come first, so that an installed copy never picks up a folder of someone else's.
"""

from __future__ import annotations

from pathlib import Path

from presentview.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent

__all__ = ["static_dir", "templates_dir"]


def templates_dir() -> Path:
    """Return the folder of the page templates, or raise `ConfigError` if there is none."""
    return _find("templates")


def static_dir() -> Path:
    """Return the folder of files served as they are, or raise `ConfigError` if there is none."""
    return _find("static")


def _find(name: str) -> Path:
    for parent in (_PACKAGE, _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise ConfigError(
        f"no folder {name} in or beside {_PACKAGE}: the installation is damaged, "
        "install presentview again"
    )

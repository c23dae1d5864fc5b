"""The commands of `presentview`, one module each.

A command's module has `add`, which adds it to the parser and says what to run. What a command
needs beyond reading a session is imported only when it runs: each starts as fast as it can.
"""

from __future__ import annotations

import argparse
from typing import TypeAlias

__all__ = ["Commands"]

# argparse has no public name for it.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

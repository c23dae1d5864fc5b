"""What tests of the app share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.web.asking import Serving


@pytest.fixture
def serve() -> Iterator[Callable[[Path], Serving]]:
    """The app over a folder, ended as the server ends it."""
    served: list[Serving] = []

    def start(folder: Path) -> Serving:
        served.append(Serving(folder))
        return served[-1]

    yield start
    for one in served:
        one.close()

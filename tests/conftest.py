"""What every kind of test shares: the browser, examples for hypothesis, a home of their own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
# No sandbox, since tests run as root in containers; nothing that talks to the network on its own.
CHROMIUM_ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# The examples are the same every time, so a red run is about the change; soaking looks for others.
hypothesis.settings.register_profile(
    "ci", deadline=None, derandomize=True, print_blob=True, max_examples=60
)
hypothesis.settings.register_profile(
    "soak",
    deadline=None,
    print_blob=True,
    max_examples=10_000,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile(os.environ.get("PRESENTVIEW_HYPOTHESIS", "ci"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Playwright's event loop keeps running in this thread from the first browser test on, and no
    # other loop can start beside it: whatever wants its own has to come before.
    for item in items:
        if "playwright" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session", autouse=True)
def own_user_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests, and what they start, away from the state and settings of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PRESENTVIEW_STATE", raising=False)
        for name in ("CACHE", "CONFIG", "DATA", "STATE"):
            folder = tmp_path_factory.mktemp(f"xdg-{name.lower()}")
            patch.setenv(f"XDG_{name}_HOME", str(folder))
        yield


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop that the app is served by."""
    return "asyncio"


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Return how Playwright starts the system's own Chromium; fail where there is none."""
    named = os.environ.get("PRESENTVIEW_CHROMIUM")
    found = (shutil.which(name) for name in ((named,) if named else CHROMIUM_NAMES))
    chromium = next((path for path in found if path), None)
    if chromium is None:
        pytest.fail("no Chromium here: run tools/ensure_chromium.sh", pytrace=False)
    return {
        "headless": True,
        **browser_type_launch_args,
        "executable_path": chromium,
        "args": [*browser_type_launch_args.get("args", ()), *CHROMIUM_ARGS],
    }


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Return the folder of sample sessions beside the checkout; skip the test where it is not."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("no samples beside this checkout")
    return folder

"""What every test may use: a browser that reaches this machine alone, and a free port; and how hard tests try."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
# No sandbox: as root Chromium has none. The rest keeps it from asking other hosts for updates of its own.
CHROMIUM_WORDS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)
EXHAUSTIVE = os.environ.get("EXHAUSTIVE") == "1"

# No deadline: a slow machine is no failure. Derandomised: the same commit gives the same verdict everywhere.
settings.register_profile("usual", deadline=None, derandomize=True, max_examples=60)
settings.register_profile(
    "exhaustive", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("exhaustive" if EXHAUSTIVE else "usual")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what drives a browser, and leave the long tail to `make exhaustive`."""
    left_out = []
    for item in items:
        inside = item.path.relative_to(ROOT).parts if item.path.is_relative_to(ROOT) else ()
        in_room = inside[:2] in {("tests", "book"), ("tests", "lab")}
        if in_room or "browser" in item.path.stem or "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
        if item.get_closest_marker("exhaustive") and not EXHAUSTIVE:
            left_out.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def free_port() -> int:
    """A loopback port on which nobody listens now."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    """Debian's Chromium without a window, one per test module.

    Not per session: Playwright keeps an event loop running in this thread; tests that run a notebook want their own.
    """
    from playwright.sync_api import sync_playwright

    found = next((path for name in CHROMIUM if (path := shutil.which(name))), None)
    assert found, "No Chromium: python tests/run.py chromium installs it or says what to type."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(CHROMIUM_WORDS))
        yield browser
        browser.close()


@dataclass
class Watch:
    """What a page did that it should not have: hosts it asked for, errors it raised or wrote to the console."""

    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture
def watch() -> Watch:
    """Filled by `open_page`; the test decides what an error on the console means, a request outside is fatal."""
    return Watch()


@pytest.fixture
def open_page(chromium, watch: Watch) -> Iterator[Callable]:
    """Open a page (`open_page(width=360, dark=True)`) that reaches this machine alone; other asks fail the test."""
    contexts = []

    def guard(route) -> None:
        address = urlsplit(route.request.url)
        if address.scheme in {"data", "blob", "file"} or address.hostname in {"127.0.0.1", "localhost"}:
            route.continue_()
        else:
            watch.outside.append(route.request.url)
            route.abort()

    def open_one(width: int = 1280, height: int = 1000, dark: bool = False, **options):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", **options
        )
        contexts.append(context)
        context.route("**/*", guard)
        page = context.new_page()
        page.on("pageerror", lambda error: watch.errors.append(str(error)))
        page.on("console", lambda said: said.type == "error" and watch.errors.append(said.text))
        page.on("websocket", lambda made: _same_machine(made.url) or watch.outside.append(made.url))
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert watch.outside == [], f"the page asked other hosts: {watch.outside}"


def _same_machine(address: str) -> bool:
    return urlsplit(address).hostname in {"127.0.0.1", "localhost"}


@pytest.fixture
def page(open_page: Callable):
    """One such page, 1280 pixels wide, light."""
    return open_page()

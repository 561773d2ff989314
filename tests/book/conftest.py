"""The built book, once per session, and a web server for it."""

import functools
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from netlib.course.site import build_book


@dataclass(frozen=True)
class Book:
    """The folder of the pages, the address they are served at, and their names relative to both."""

    folder: Path
    address: str
    pages: tuple[str, ...]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that does not write a line for every request."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def book() -> Iterator[Book]:
    """Build the book with warnings as errors and serve it on loopback."""
    folder = build_book(strict=True, say=lambda line: None)
    found = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html")))
    pages = tuple(page for page in found if not page.startswith(("_static/", "_sources/")))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Book(folder, f"http://127.0.0.1:{server.server_port}", pages)
        server.shutdown()

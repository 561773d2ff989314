"""The built book, once per session, and a web server for it."""

import fcntl
import functools
import http.server
import os
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
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Book]:
    """Build the book with warnings as errors, once for all that test it side by side, and serve it on loopback."""
    run = tmp_path_factory.getbasetemp()
    run = run.parent if "PYTEST_XDIST_WORKER" in os.environ else run
    with (run / "book.lock").open("a+") as told:
        fcntl.flock(told, fcntl.LOCK_EX)
        told.seek(0)
        if not (built := told.read()):
            built = str(build_book(strict=True, say=lambda line: None))
            told.write(built)
    folder = Path(built)
    found = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html")))
    pages = tuple(page for page in found if not page.startswith(("_static/", "_sources/")))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Book(folder, f"http://127.0.0.1:{server.server_port}", pages)
        server.shutdown()

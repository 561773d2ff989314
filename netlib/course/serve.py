"""The course on this machine: the book over http and JupyterLab, both on the loopback address only.

`start` is what `make start` ends in. The book is static files, so the standard library serves it from a thread;
JupyterLab is a child process (netlib.course.jupyter).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from netlib.course.jupyter import HOST, lab_server

BOOK_PORT, LAB_PORT = 8000, 8888
# What the built book depends on; a change in any of them makes it stale.
BOOK_SOURCES = (
    "_config.yml",
    "_toc.yml",
    "requirements.txt",
    "book",
    "notebooks",
    "labs",
    "assets",
    "netlib",
)


def root() -> Path:
    """The folder of the checkout: the one that holds `_toc.yml` and `netlib`."""
    folder = Path(__file__).resolve().parents[2]
    if not (folder / "_toc.yml").is_file():
        raise ValueError(f"{folder} is not a checkout of the course (it has no _toc.yml): clone the repository first.")
    return folder


def port_for(wanted: str | int | None, usual: int, name: str, other: int = 0) -> int:
    """The port to listen on: the one asked for, or else the first free one from the usual one upwards, but not `other`.

    >>> port_for("http", 8000, "BOOK_PORT")
    Traceback (most recent call last):
    ValueError: BOOK_PORT='http' is not a port: give a number from 1 to 65535.
    """
    if wanted not in (None, ""):
        digits = str(wanted)
        if not (digits.isascii() and digits.isdecimal() and 1 <= int(digits) <= 65535):
            raise ValueError(f"{name}={wanted!r} is not a port: give a number from 1 to 65535.")
        if int(digits) == other:
            raise ValueError(
                f"{name}={wanted} is the other server's port: name another, or none to take the next free."
            )
        if not is_free(int(digits)):
            raise ValueError(f"{name}={wanted} is in use on this machine: name another, or none to take the next free.")
        return int(digits)
    for port in range(usual, usual + 100):
        if port != other and is_free(port):
            if port != usual:
                print(f"      port {usual} is in use, taking {port}", flush=True)
            return port
    raise ValueError(f"Ports {usual} to {usual + 99} are all in use: name a free one with {name}=PORT.")


def desk(folder: Path) -> Path:
    """Where a learner works: copies of notebooks, data and labs in `desk/`, which git and the book do not see.

    A copy is made once and never written again: what a person has changed stays, and a half-typed cell breaks no book.
    A notebook that is new in the course appears at the next start; a copy that was deleted comes back fresh.
    """
    place = folder / "desk"
    notebooks, labs = folder / "notebooks", folder / "labs"
    # A lab is copied as a learner opens it; its solved source is none of the desk's business.
    wanted = {source: place / source.relative_to(notebooks) for source in sorted(notebooks.rglob("*"))}
    wanted |= {source: place / "labs" / source.name for source in sorted(labs.glob("*.ipynb"))}
    for source, copy in wanted.items():
        if source.is_file() and not copy.exists() and not any(part.startswith(".") for part in source.parts[-2:]):
            copy.parent.mkdir(parents=True, exist_ok=True)
            draft = copy.with_name(copy.name + ".tmp")
            shutil.copyfile(source, draft)
            draft.replace(copy)
    return place


def is_free(port: int) -> bool:
    """Whether something could listen on this loopback port now."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((HOST, port))
        except OSError:
            return False
    return True


def source_hash(folder: Path) -> str:
    """One hash over everything the book is built from."""
    total = hashlib.sha256()
    for source in BOOK_SOURCES:
        top = folder / source
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in path.parts[-2:]):
                total.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def fresh_book(rebuild: bool = False) -> Path:
    """The folder of the built book, built first when its sources changed since the last time, or when asked to."""
    folder = root()
    stamp = folder / "build" / "book.json"
    now = source_hash(folder)
    if not rebuild:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # no stamp, or a damaged one: build
            last: dict[str, str] = json.loads(stamp.read_text())
            if last["sources"] == now and (folder / last["book"] / "index.html").is_file():
                return folder / last["book"]
    from netlib.course.site import build_book

    stamp.unlink(missing_ok=True)  # a build that fails leaves pages that no source matches
    built: Path = build_book(strict=True)
    book = built if built.is_dir() else built.parent
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(json.dumps({"sources": now, "book": os.path.relpath(book, folder)}))
    return book


class BookHandler(SimpleHTTPRequestHandler):
    """Files of the book, asked for anew each time: a rebuilt page must not hide behind the browser's cache."""

    protocol_version = "HTTP/1.1"

    def end_headers(self) -> None:
        """Close the headers of every answer with the rule for caches."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: one line per file would bury the two addresses."""


@contextlib.contextmanager
def book_server(book: Path, port: int) -> Iterator[str]:
    """Serve the built book while the block runs; gives its address."""
    server = ThreadingHTTPServer((HOST, port), partial(BookHandler, directory=str(book)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def box(lines: list[str]) -> str:
    """The lines in a frame, so that the addresses are found among everything else.

    >>> print(box(["Book  http://127.0.0.1:8000/"]))
    +------------------------------+
    | Book  http://127.0.0.1:8000/ |
    +------------------------------+
    """
    width = max(map(len, lines))
    edge = "+" + "-" * (width + 2) + "+"
    return "\n".join([edge, *(f"| {line:<{width}} |" for line in lines), edge])


@contextlib.contextmanager
def stopped_by_signals(stopped: threading.Event) -> Iterator[None]:
    """While the block runs, Ctrl-C and a request to end set `stopped` instead of raising in the middle."""
    before = {}
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is threading.main_thread():
        for name in names:
            before[name] = signal.signal(getattr(signal, name), lambda *_: stopped.set())
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def start(
    book_port: str | int | None = None,
    lab_port: str | int | None = None,
    book: bool = True,
    lab: bool = True,
    stopped: threading.Event | None = None,
) -> int:
    """Build the book if it is stale, serve it and JupyterLab, print both addresses, and wait for Ctrl-C.

    Returns the exit code: 0 after a request to stop, 1 when JupyterLab ended by itself.
    """
    folder = root()
    stopped = stopped or threading.Event()
    # Ports first: a port that is taken should be known before a minute of building, not after.
    at_book = port_for(book_port, BOOK_PORT, "BOOK_PORT") if book else 0
    at_lab = port_for(lab_port, LAB_PORT, "LAB_PORT", at_book) if lab else 0
    if book:
        print("[3/4] the book (some minutes the first time, seconds when little changed)", flush=True)
        built = fresh_book()
    with stopped_by_signals(stopped), contextlib.ExitStack() as running:
        lines = []
        if book:
            lines.append("Book        " + running.enter_context(book_server(built, at_book)))
        process = None
        if lab:
            print("[4/4] JupyterLab", flush=True)
            served = running.enter_context(lab_server(folder, at_lab, folder / ".netlib" / "jupyter"))
            process = served.process
            lines.append("JupyterLab  " + served.address(desk(folder).name))
        print(box([*lines, "Ctrl-C stops " + ("both." if book and lab else "it.")]), flush=True)
        while not stopped.wait(0.2):
            if process is not None and process.poll() is not None:
                print(
                    f"JupyterLab ended by itself (exit code {process.returncode}): see {served.log}.",
                    file=sys.stderr,
                )
                return 1
        print("\nStopping.", flush=True)
    print("Stopped.", flush=True)
    return 0

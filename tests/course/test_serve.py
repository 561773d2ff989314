"""The two servers: addresses, ports, caches, and that nothing is left running."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import types
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from netlib.course import jupyter, serve
from netlib.course.jupyter import Lab, lab_server, wait_until_ready
from netlib.course.serve import book_server, fresh_book, port_for, root, source_hash, start, stopped_by_signals


@pytest.fixture
def taken(free_port: int) -> Iterator[int]:
    """A port on which somebody else listens."""
    with socket.create_server(("127.0.0.1", free_port)):
        yield free_port


def test_a_desk_keeps_what_a_person_changed(tmp_path):
    """Copies are made once: edits stay, a deleted copy comes back, new notebooks appear, hidden files do not."""
    source = tmp_path / "notebooks"
    (source / "data").mkdir(parents=True)
    (source / "a.ipynb").write_text("first")
    (source / "data" / "log.txt").write_text("rows")
    (source / ".netlib-answers.jsonl").write_text("{}")
    place = serve.desk(tmp_path)
    assert sorted(p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file()) == [
        "a.ipynb",
        "data/log.txt",
    ]
    (place / "a.ipynb").write_text("mine")
    (source / "a.ipynb").write_text("second")
    (source / "b.ipynb").write_text("new")
    serve.desk(tmp_path)
    assert [(place / name).read_text() for name in ("a.ipynb", "b.ipynb")] == ["mine", "new"]
    (place / "a.ipynb").unlink()
    assert (serve.desk(tmp_path) / "a.ipynb").read_text() == "second"


def test_a_desk_holds_labs_and_no_solved_source(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "labs" / "source" / "01_a").mkdir(parents=True)
    (tmp_path / "labs" / "01_a.ipynb").write_text("stubs")
    (tmp_path / "labs" / "source" / "01_a" / "01_a.ipynb").write_text("solved")
    place = serve.desk(tmp_path)
    assert [p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file()] == ["labs/01_a.ipynb"]
    assert (place / "labs" / "01_a.ipynb").read_text() == "stubs"


def test_a_port_asked_for_is_given_or_refused(taken: int, free_port: int) -> None:
    with pytest.raises(ValueError, match=f"LAB_PORT={taken} is in use on this machine"):
        port_for(str(taken), 8888, "LAB_PORT")
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        other = trial.getsockname()[1]
    assert port_for(other, 8888, "LAB_PORT") == other
    with pytest.raises(ValueError, match=f"LAB_PORT={other} is the other server's port: name another"):
        port_for(other, 8888, "LAB_PORT", other)
    assert port_for(None, other, "LAB_PORT", other) > other


@pytest.mark.parametrize("wanted", ["0", "65536", "-1", "8e3", "http", "８０００"])
def test_a_port_is_a_number(wanted: str) -> None:
    with pytest.raises(ValueError, match="is not a port: give a number from 1 to 65535"):
        port_for(wanted, 8000, "BOOK_PORT")


@pytest.mark.parametrize("nothing", [None, ""])
def test_the_next_free_port_is_taken_and_said(
    nothing: str | None, taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    got = port_for(nothing, taken, "BOOK_PORT")
    assert taken < got < taken + 100
    assert f"port {taken} is in use, taking {got}" in capsys.readouterr().out


def test_no_free_port_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "is_free", lambda port: False)
    with pytest.raises(ValueError, match="Ports 8000 to 8099 are all in use: name a free one with BOOK_PORT=PORT"):
        port_for(None, 8000, "BOOK_PORT")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkout whose book is one page, built by a stand-in that counts."""
    (tmp_path / "_toc.yml").write_text("root: book/index\n")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "index.md").write_text("# Book\n")
    (tmp_path / "notebooks").mkdir()
    builds: list[bool] = []

    def build_book(strict: bool = True) -> Path:
        builds.append(strict)
        pages = tmp_path / "_build" / "html"
        pages.mkdir(parents=True, exist_ok=True)
        (pages / "index.html").write_text(f"<title>Book {len(builds)}</title>")
        return pages

    monkeypatch.setattr(serve, "root", lambda: tmp_path)
    monkeypatch.setitem(sys.modules, "netlib.course.site", types.SimpleNamespace(build_book=build_book, builds=builds))
    return tmp_path


def builds() -> int:
    """How often the stand-in built the book."""
    return len(sys.modules["netlib.course.site"].builds)


def test_the_book_is_built_when_a_source_changed(checkout: Path) -> None:
    pages = fresh_book()
    assert (pages / "index.html").read_text() == "<title>Book 1</title>"
    assert fresh_book() == pages
    assert builds() == 1
    (checkout / "book" / "index.md").write_text("# Better book\n")
    assert fresh_book() == pages
    assert builds() == 2
    (pages / "index.html").unlink()
    fresh_book()
    assert builds() == 3
    fresh_book(rebuild=True)
    assert builds() == 4


def test_what_is_made_while_working_does_not_make_the_book_stale(checkout: Path) -> None:
    before = source_hash(checkout)
    (checkout / "notebooks" / ".netlib-answers.jsonl").write_text("{}\n")
    (checkout / "notebooks" / ".ipynb_checkpoints").mkdir()
    (checkout / "notebooks" / ".ipynb_checkpoints" / "a.ipynb").write_text("{}")
    (checkout / "netlib" / "__pycache__").mkdir(parents=True)
    (checkout / "netlib" / "__pycache__" / "a.pyc").write_bytes(b"1")
    assert source_hash(checkout) == before
    (checkout / "netlib" / "a.py").write_text("a = 1\n")
    assert source_hash(checkout) != before


def test_a_folder_that_is_no_checkout_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "__file__", str(tmp_path / "netlib" / "course" / "serve.py"))
    with pytest.raises(ValueError, match="is not a checkout of the course"):
        root()
    (tmp_path / "_toc.yml").touch()
    assert root() == tmp_path


def test_the_book_is_served_here_alone_and_never_from_a_cache(tmp_path: Path, free_port: int) -> None:
    (tmp_path / "index.html").write_text("<title>Book</title>")
    with book_server(tmp_path, free_port) as address:
        assert address == f"http://127.0.0.1:{free_port}/"
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert answer.read() == b"<title>Book</title>"
            assert answer.headers["Cache-Control"] == "no-cache"
        asked = http.client.HTTPConnection("127.0.0.1", free_port, timeout=10)
        asked.request("GET", "/../pyproject.toml")
        assert asked.getresponse().status == 404
        asked.close()
        listening = [each for each in psutil.Process().net_connections("tcp") if each.laddr.port == free_port]
        assert {each.laddr.ip for each in listening} == {"127.0.0.1"}
    assert serve.is_free(free_port)


def test_a_signal_sets_the_event_and_the_old_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    stopped = threading.Event()
    with stopped_by_signals(stopped):
        signal.raise_signal(signal.SIGINT)
    assert stopped.is_set()
    assert signal.getsignal(signal.SIGINT) is before


def wait_for(condition, message: str) -> None:
    """Poll until it holds; generous, since the machine may be busy."""
    for _ in range(600):
        if condition():
            return
        threading.Event().wait(0.1)
    raise AssertionError(message)


def ask(lab: Lab, path: str, method: str = "GET", token: str | None = None) -> bytes:
    """One question to the Jupyter server's own interface."""
    words = {"Authorization": f"token {lab.token if token is None else token}"}
    request = urllib.request.Request(f"http://127.0.0.1:{lab.port}{path}", headers=words, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def test_jupyterlab_opens_with_its_token_and_leaves_no_kernel(tmp_path: Path, free_port: int) -> None:
    home = tmp_path / "home"
    with lab_server(tmp_path, free_port, home) as lab:
        assert lab.address("notebooks") == f"http://127.0.0.1:{free_port}/lab/tree/notebooks?token={lab.token}"
        assert not any(lab.token in word for word in psutil.Process(lab.process.pid).cmdline())
        with pytest.raises(urllib.error.HTTPError, match="403"):
            ask(lab, "/api/contents", token="guessed")
        listing = json.loads(ask(lab, "/api/contents"))
        assert [each["name"] for each in listing["content"]] == ["home"]
        settings = json.loads(re.search(r'id="jupyter-config-data"[^>]*>(.*?)</script>', ask(lab, "/lab").decode())[1])
        assert settings["extensionManager"]["can_install"] is False
        assert settings["news"] == {"disabled": True}
        kernel = json.loads(ask(lab, "/api/kernels", "POST"))["id"]
        wait_for(lambda: psutil.Process(lab.process.pid).children(recursive=True), f"no process for kernel {kernel}")
        below = psutil.Process(lab.process.pid).children(recursive=True)
    assert lab.process.returncode is not None
    assert [each for each in below if each.is_running() and each.status() != psutil.STATUS_ZOMBIE] == []
    own = home / "settings" / "@jupyterlab"
    assert json.loads((own / "apputils-extension" / "notification.jupyterlab-settings").read_text()) == {
        "fetchNews": "false",
        "checkForUpdates": False,
    }


def test_a_setting_that_a_learner_changed_stays(tmp_path: Path) -> None:
    surroundings = jupyter.lab_settings(tmp_path)
    assert set(surroundings.values()) >= {str(tmp_path / "settings"), str(tmp_path / "config")}
    own = tmp_path / "settings" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    own.write_text("{}")
    jupyter.lab_settings(tmp_path)
    assert own.read_text() == "{}"


def child(program: str) -> subprocess.Popen[bytes]:
    """A process that plays JupyterLab."""
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True)


def test_jupyterlab_that_ends_at_once_or_stays_silent_is_one_sentence(tmp_path: Path, free_port: int) -> None:
    with child("raise SystemExit(3)") as ended, pytest.raises(ValueError, match=r"ended as it started \(exit code 3\)"):
        wait_until_ready(Lab(ended, free_port, "token", tmp_path / "log"), 60)
    with child("import time; time.sleep(600)") as silent:
        with pytest.raises(ValueError, match="did not answer within 0 seconds"):
            wait_until_ready(Lab(silent, free_port, "token", tmp_path / "log"), 0.3)
        silent.kill()


def test_what_does_not_hear_is_ended_for_certain() -> None:
    deaf = "import signal, time, subprocess, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    grandchild = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True);"
    process = child(f"{deaf} {grandchild} print('up', flush=True); time.sleep(600)")
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    below = psutil.Process(process.pid).children(recursive=True)
    assert len(below) == 1
    jupyter.stop(process, patience=0.5)
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL
    wait_for(lambda: not below[0].is_running() or below[0].status() == psutil.STATUS_ZOMBIE, "the grandchild lives")
    jupyter.stop(process)  # one that is gone is no error


def test_start_prints_both_addresses_and_stops_when_asked(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = threading.Event()
    seen: list[str] = []

    def look() -> None:
        wait_for(lambda: seen.append(capsys.readouterr().out) or "Ctrl-C" in "".join(seen), "no addresses")
        stopped.set()

    watcher = threading.Thread(target=look)
    watcher.start()
    assert start(stopped=stopped) == 0
    watcher.join()
    said = "".join(seen) + capsys.readouterr().out
    assert "| Book        http://127.0.0.1:" in said
    assert "/lab/tree/desk?token=" in said
    assert said.endswith("\nStopping.\nStopped.\n")


def test_start_says_when_jupyterlab_ends_by_itself(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(jupyter, "wait_until_ready", lambda lab, patience: lab.process.kill())
    assert start(book=False) == 1
    assert "JupyterLab ended by itself (exit code -9)" in capsys.readouterr().err


def test_after_a_failed_build_or_with_a_damaged_stamp_the_book_is_built(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(strict: bool = True) -> Path:
        raise RuntimeError("a page is broken")

    fresh_book()
    page = checkout / "book" / "index.md"
    good = page.read_text()
    page.write_text("# Broken\n")
    with monkeypatch.context() as broken:
        broken.setattr(sys.modules["netlib.course.site"], "build_book", fail)
        with pytest.raises(RuntimeError, match="a page is broken"):
            fresh_book()
    page.write_text(good)  # the sources are those of the first build, the pages are not
    fresh_book()
    assert builds() == 2
    (checkout / "build" / "book.json").write_text('{"sources": ')
    fresh_book()
    assert builds() == 3

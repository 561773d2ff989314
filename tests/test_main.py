"""The command line: what it offers, and how it says that something cannot be done."""

import importlib
import signal
import subprocess
import sys

import pytest

from netlib.__main__ import COMMANDS, Command, main


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    said = capsys.readouterr().out
    assert all(name in said and command.help in " ".join(said.split()) for name, command in COMMANDS.items())


@pytest.mark.parametrize("words", [[], ["fly"], ["start", "--port", "1"]])
def test_what_is_not_understood_gives_the_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert "usage: netlib" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("start", {"book_port": "9000", "lab_port": "9001"}),
        ("serve", {"book_port": "9000", "lab": False}),
        ("lab", {"lab_port": "9001", "book": False}),
    ],
)
def test_the_ports_reach_the_servers(command: str, given: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    """From the environment, where make puts them, as from the command line."""
    asked: list[dict[str, object]] = []
    serve = importlib.import_module("netlib.course.serve")
    monkeypatch.setattr(serve, "start", lambda **options: asked.append(options) or 0)
    monkeypatch.setenv("BOOK_PORT", "9000")
    monkeypatch.setenv("LAB_PORT", "9001")
    assert main([command]) == 0
    assert asked == [given]


def test_book_says_where_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    serve = importlib.import_module("netlib.course.serve")
    monkeypatch.setattr(serve, "fresh_book", lambda rebuild: f"pages, rebuilt {rebuild}")
    assert main(["book"]) == 0
    assert capsys.readouterr().out == "The book: pages, rebuilt True\n"


@pytest.mark.parametrize("error", [ValueError, RuntimeError, OSError])
def test_a_failure_is_one_sentence(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(asked: object) -> int:
        raise error("LAB_PORT=80 is in use.")

    monkeypatch.setitem(COMMANDS, "lab", Command("fails", lambda parser: None, fail))
    assert main(["lab"]) == 1
    assert capsys.readouterr().err == "netlib lab: LAB_PORT=80 is in use.\n"


def test_a_mistake_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "lab", Command("fails", lambda parser: None, lambda asked: 1 // 0))
    with pytest.raises(ZeroDivisionError):
        main(["lab"])


def test_a_request_to_end_unwinds_like_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unwound = []

    def build(asked: object) -> int:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            unwound.append("the build")
        return 0

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setitem(COMMANDS, "book", Command("waits", lambda parser: None, build))
    assert main(["book"]) == 130
    assert unwound == ["the build"]
    assert capsys.readouterr().out == "\nStopped.\n"
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("end", "code", "said"), [("| head -c 1", 141, ""), ("> /dev/full", 1, "No space left")])
def test_an_output_that_takes_no_more_is_no_traceback(end: str, code: int, said: str) -> None:
    script = f"{sys.executable} -m netlib fidelity --json {end}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr

"""From a bare Python to a working course, with the installers played by small programs."""

import subprocess
import sys
from pathlib import Path

import pytest

from netlib.course import install as ours
from netlib.course.install import fingerprint, install, is_installed, main, make_environment, venv_python


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the files that the installation reads."""
    (tmp_path / "requirements.txt").write_text("uv==0.0.1\nnumpy==2.4.6\n")
    (tmp_path / "requirements-test.txt").write_text("-r requirements.txt\nmypy==1.0\n")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    return tmp_path


@pytest.fixture
def made(clone: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """An environment that is this Python, and a record of what would be installed; every step goes well."""
    python = venv_python(clone)
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    steps: list[list[str]] = []
    monkeypatch.setattr(ours, "attempt", lambda words: steps.append(words) or (True, ""))
    return steps


def test_the_second_run_has_nothing_to_do(
    clone: Path, made: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    install(clone)
    assert [words[2:] for words in made] == [
        ["pip", "--disable-pip-version-check", "install", "-q", "--retries", "2", "--timeout", "30", "uv==0.0.1"],
        ["uv", "pip", "install", "--python", str(venv_python(clone)), "-r", str(clone / "requirements.txt")],
        [*made[1][2:7], "-q", "--no-deps", "--no-build-isolation", "-e", str(clone)],
    ]
    said = capsys.readouterr().out
    assert "[1/4]" in said
    assert "[2/4]" in said
    install(clone)
    assert len(made) == 3
    assert capsys.readouterr().out == ""


def test_a_new_pin_is_installed(clone: Path, made: list[list[str]]) -> None:
    install(clone)
    (clone / "requirements.txt").write_text("uv==0.0.1\nnumpy==2.4.7\n")
    assert not is_installed(clone, tests=False)
    install(clone)
    assert len(made) == 6


def test_what_the_tests_need_includes_what_the_course_needs(clone: Path, made: list[list[str]]) -> None:
    install(clone)
    assert not is_installed(clone, tests=True)
    install(clone, tests=True)
    assert str(clone / "requirements-test.txt") in made[4]
    (clone / ".venv" / "installed-run").unlink()
    assert is_installed(clone, tests=False)


def test_a_moved_folder_is_installed_anew(clone: Path, made: list[list[str]], tmp_path: Path) -> None:
    install(clone)
    assert fingerprint(clone, False) != fingerprint(clone.rename(tmp_path.parent / f"{tmp_path.name}-moved"), False)


def test_without_uv_pip_does_it(clone: Path, made: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "attempt", lambda words: made.append(words) or ("uv==0.0.1" not in words, "no uv"))
    install(clone)
    assert made[1][4:] == ["install", "-q", "--retries", "2", "--timeout", "30", "-r", str(clone / "requirements.txt")]
    assert made[2][4:] == [*made[1][4:-2], "--no-deps", "--no-build-isolation", "-e", str(clone)]
    assert is_installed(clone, tests=False)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("error: failed\n  Caused by: dns error: failed to lookup address\n", "the package index did not answer"),
        (
            "Retrying (...) after connection broken by 'NewConnectionError: Failed to establish a new connection'\n",
            "network",
        ),
        ("ERROR: No matching distribution found for numpy==9\n\n", "failed: ERROR: No matching distribution found"),
        ("", "no reason was given"),
    ],
)
def test_a_failure_is_one_sentence(
    said: str, sentence: str, clone: Path, made: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "attempt", lambda words: ("uv==0.0.1" in words, said))
    with pytest.raises(ValueError, match=sentence):
        install(clone)
    assert (clone / ".venv" / "install.log").read_text() == said
    assert not is_installed(clone, tests=False)


def test_without_a_network_nothing_is_tried_twice(
    clone: Path, made: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        ours, "attempt", lambda words: made.append(words) or (False, "Temporary failure in name resolution")
    )
    with pytest.raises(ValueError, match="the package index did not answer"):
        install(clone)
    assert len(made) == 1


def test_steps_are_shown_and_their_words_kept(capfd: pytest.CaptureFixture[str]) -> None:
    done, said = ours.attempt([sys.executable, "-c", "print('Resolved 3'); print(' + numpy==2'); raise SystemExit(3)"])
    assert not done
    assert said == "Resolved 3\n + numpy==2\n"
    assert capfd.readouterr().out == "      Resolved 3\n"


def test_an_environment_is_made_and_a_broken_one_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = venv_python(tmp_path)
    python.parent.mkdir(parents=True)
    python.symlink_to(tmp_path / "gone")
    asked = []

    def run(words: list[object], **options: object) -> subprocess.CompletedProcess[str]:
        asked.append([str(word) for word in words])
        if "-m" not in asked[-1]:
            raise FileNotFoundError(words[0])
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    make_environment(tmp_path)
    assert asked[-1] == [sys.executable, "-m", "venv", "--clear", str(tmp_path / ".venv")]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("Error: Command '[...]' returned 1: ensurepip is not\navailable.", r"apt-get install python3\.\d+-venv"),
        ("Error: [Errno 28] No space left on device", "failed: Error: .* No space left on device"),
    ],
)
def test_without_venv_the_package_is_named(
    said: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", lambda words, **_: subprocess.CompletedProcess(words, 1, "", said))
    with pytest.raises(ValueError, match=sentence):
        make_environment(tmp_path)


def test_an_old_python_is_named(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "OLDEST", (99, 0))
    with pytest.raises(ValueError, match=r"needs Python 3\.11 or newer, but .* is 3\."):
        install(clone)


def test_the_command_ends_in_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked = []

    def fail(root: Path, tests: bool) -> None:
        asked.append((root, tests))
        if tests:
            raise ValueError("no network")

    monkeypatch.setattr(ours, "install", fail)
    assert main([]) == 0
    assert main(["--tests"]) == 1
    assert capsys.readouterr().err == "no network\n"
    assert asked == [(Path(ours.__file__).parents[2], False), (Path(ours.__file__).parents[2], True)]

"""From a bare Python to a working course: `python3 -m netlib.course.install [--tests]`.

Only the standard library is used, so that this runs on a fresh clone. It makes `.venv`, fills it with the pinned
requirements and with netlib itself (editable), and leaves a stamp: the next run sees that nothing changed and
ends at once. uv does the work in seconds; where uv cannot be had, pip does the same in a minute.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
OFFLINE = re.compile(
    r"name resolution|dns error|Name or service not known|nodename nor servname|Network is unreachable"
    r"|No route to host|Connection refused|ConnectTimeout|timed out|Failed to establish a new connection"
    r"|error sending request|Could not connect|tcp connect error|ProxyError",
    re.IGNORECASE,
)


def venv_python(root: Path) -> Path:
    """The interpreter of the course's own environment, whether it exists yet or not."""
    return root / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def requirement_files(root: Path, tests: bool) -> list[Path]:
    """The pinned files to install: what the course needs to run, and with `tests` what proves it."""
    return [root / "requirements.txt", *([root / "requirements-test.txt"] if tests else [])]


def fingerprint(root: Path, tests: bool) -> str:
    """Changes when a pin, the package's own metadata, this Python or the folder's place changes."""
    parts = [path.read_bytes() for path in [*requirement_files(root, tests), root / "pyproject.toml"]]
    parts += [sys.version.encode(), str(root).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def is_installed(root: Path, tests: bool) -> bool:
    """Whether the environment runs and already holds what the files ask for."""
    # The larger set contains the smaller one: after `make test`, `make start` has nothing left to install.
    for larger in {tests, True}:
        stamp = root / ".venv" / stamp_name(larger)
        if stamp.is_file() and stamp.read_text() == fingerprint(root, larger):
            return works(venv_python(root))
    return False


def stamp_name(tests: bool) -> str:
    """The file in .venv that remembers what was installed."""
    return "installed-test" if tests else "installed-run"


def works(python: Path) -> bool:
    """Whether this interpreter starts: an environment survives neither its Python nor a move of its folder."""
    try:
        return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def make_environment(root: Path) -> None:
    """Make `.venv`, or make it anew when its interpreter no longer starts."""
    if works(venv_python(root)):
        return
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", root / ".venv"], capture_output=True, text=True, check=False
    )
    if made.returncode == 0:
        return
    said = made.stdout + made.stderr
    if "ensurepip" in said or "No module named venv" in said:
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        raise ValueError(
            f"This Python ({sys.executable}) cannot make a virtual environment because its venv module is "
            f"incomplete: install it (Debian and Ubuntu: apt-get install {package}) and run the command again."
        )
    raise ValueError(f"Making the virtual environment .venv failed: {last_line(said)}")


def last_line(said: str) -> str:
    """The last line that says something: what tools end with is their reason."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason was given"


def fill_environment(root: Path, tests: bool) -> None:
    """Install the pinned files and netlib itself, with uv, or with pip where uv does not manage."""
    python = str(venv_python(root))
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--retries", "2", "--timeout", "30"]
    uv = [python, "-m", "uv", "pip", "install", "--python", python]
    wanted = [word for path in requirement_files(root, tests) for word in ("-r", str(path))]
    itself = ["--no-deps", "--no-build-isolation", "-e", str(root)]
    pinned_uv = re.findall(r"^uv==\S+", (root / "requirements.txt").read_text(), re.MULTILINE)
    done, said = attempt([*pip, *pinned_uv])
    if done and attempt([*uv, *wanted])[0] and attempt([*uv, "-q", *itself])[0]:
        return
    # Without an answer for one package there is none for the others: no need to wait for pip to find that out.
    if done or not OFFLINE.search(said):
        print("      uv did not manage; trying pip, which takes about a minute", flush=True)
        done, said = attempt([*pip, *wanted])
        if done:
            done, said = attempt([*pip, *itself])
        if done:
            return
    (root / ".venv" / "install.log").write_text(said)
    if OFFLINE.search(said):
        raise ValueError(
            "The packages could not be fetched because the package index did not answer: "
            "check the network connection (or your proxy settings) and run the command again."
        )
    raise ValueError(f"Installing the packages failed: {last_line(said)} (all of it: .venv/install.log)")


def attempt(command: list[str]) -> tuple[bool, str]:
    """Run one step and pass on what it says; its words are kept for the one clear sentence."""
    said = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            # uv names every package that it adds; its own totals are enough
            if not line.lstrip().startswith(("+ ", "- ", "~ ", "warning", "WARNING", "ERROR", "error")):
                print("      " + line.rstrip(), flush=True)
    return process.returncode == 0, "".join(said)


def install(root: Path, tests: bool = False, steps: int = 4) -> None:
    """Make the environment ready, or see that it is; prints steps 1 and 2 of `steps`."""
    if sys.version_info < OLDEST:
        raise ValueError(
            f"This course needs Python 3.11 or newer, but {sys.executable} is {sys.version.split()[0]}: "
            "name a newer one with PYTHON=/path/to/python3."
        )
    if is_installed(root, tests):
        return
    print(f"[1/{steps}] virtual environment .venv", flush=True)
    make_environment(root)
    print(f"[2/{steps}] packages, about 150 at pinned versions (the first time: up to two minutes)", flush=True)
    fill_environment(root, tests)
    (root / ".venv" / stamp_name(tests)).write_text(fingerprint(root, tests))


def main(words: list[str] | None = None) -> int:
    """Install from the command line; one sentence and exit code 1 when it cannot be done."""
    parser = argparse.ArgumentParser(prog="netlib.course.install", description="Make .venv ready for the course.")
    parser.add_argument("--tests", action="store_true", help="also what the tests need")
    asked = parser.parse_args(words)
    try:
        install(Path(__file__).resolve().parents[2], asked.tests)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""All that is checked, step by step: `python tests/run.py [all|quick|exhaustive]`, or `make test`, `make quick` ...

Every step is an ordinary command that can be typed alone. `quick` stops at the first failure, since its reader is about
to repair it; the others go on, so that one run tells all. The exit code is that of the worst step.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTEST = "-m pytest -q"
SPREAD = "-n auto --dist loadfile"  # on all cores; the tests of a file share what they build
COVERED = "--cov --cov-append --cov-report= --cov-fail-under=0"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
DEBIAN = "apt-get install -y --no-install-recommends chromium fonts-dejavu-core"


@dataclass(frozen=True)
class Step:
    """One check: its name, the words after `python`, and which of the runs it belongs to."""

    name: str
    words: str
    runs: str = "all exhaustive"


STEPS = (
    Step("style", "-m ruff check", "all quick exhaustive"),
    Step("format", "-m ruff format --check --quiet", "all quick exhaustive"),
    Step("types", "-m mypy", "all quick exhaustive"),
    Step("spelling", "-m codespell_lib .", "all quick exhaustive"),
    Step("Chromium", "tests/run.py chromium"),
    Step("tests that need no browser", f"{PYTEST} {SPREAD} -x -m 'not browser'", "quick"),
    Step("tests of library, course and house", f"{PYTEST} {SPREAD} {COVERED} --ignore=tests/book --ignore=tests/lab"),
    Step(
        "notebooks run again, outputs compared",
        f"{PYTEST} --nbval --nbval-sanitize-with tests/nbval.cfg notebooks labs/source",
    ),
    Step("the book, warnings are errors", "-m netlib book"),
    Step("the book in a browser", f"{PYTEST} -n auto {COVERED} tests/book"),
    Step("JupyterLab in a browser", f"{PYTEST} {COVERED} tests/lab"),
    Step("coverage of netlib", "-m coverage report"),
)


def find_chromium() -> str | None:
    """The browser that the tests drive, if it is there."""
    return next((path for name in CHROMIUM if (path := shutil.which(name))), None)


def chromium() -> int:
    """Make sure there is a browser: install Debian's where we may, otherwise print the one line to type."""
    if path := find_chromium():
        print(path)
        return 0
    if not (hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get")):
        print(f"The browser tests need Chromium. Type: sudo {DEBIAN}", file=sys.stderr)
        return 1
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in ("apt-get update -qq", DEBIAN.replace("install", "install -qq -o DPkg::Lock::Timeout=300")):
        done = subprocess.run(words.split(), env=quiet, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            print(f"Installing Chromium failed: {(done.stderr or done.stdout).strip()}", file=sys.stderr)
            return 1
    return 0 if find_chromium() else 1


def run(steps: list[Step], kind: str) -> int:
    """Run the steps in turn, then say in one table how each went; the last line counts them."""
    # Tests leave no answers behind, and no test may depend on what is typed at a keyboard.
    surroundings = {**os.environ, "NETLIB_JOURNAL": "off", "PYTHONUNBUFFERED": "1"}
    if kind == "exhaustive":
        surroundings["EXHAUSTIVE"] = "1"
    (ROOT / ".coverage").unlink(missing_ok=True)
    results: list[tuple[str, str, float]] = []
    for number, step in enumerate(steps, 1):
        print(f"\n[{number}/{len(steps)}] {step.name}", flush=True)
        begin = time.monotonic()
        words = [sys.executable, *shlex.split(step.words)]
        code = subprocess.run(words, cwd=ROOT, env=surroundings, stdin=subprocess.DEVNULL).returncode
        results.append((step.name, "passed" if code == 0 else f"FAILED (exit code {code})", time.monotonic() - begin))
        if code and kind == "quick":
            break
    print()
    for name, result, seconds in results:
        print(f"{seconds:7.1f} s  {name}: {result}")
    good = sum(result == "passed" for _, result, _ in results)
    print(f"\nsteps: {good} passed, {len(results) - good} failed")
    return int(good < len(results))


def main(words: list[str]) -> int:
    """Pick the steps of one kind of run."""
    kind = words[0] if words else "all"
    if kind == "chromium":
        return chromium()
    steps = [step for step in STEPS if kind in step.runs.split()]
    if not steps:
        print(f"{kind!r} is no kind of run: say all, quick or exhaustive.", file=sys.stderr)
        return 2
    return run(steps, kind)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

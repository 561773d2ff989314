"""Build the book: `build_book()` runs Jupyter Book over the repository, checks the pages and packs them.

Pages land in `_build/html` (Jupyter Book's own place); the offline copy is `build/gpu-cluster-networking-book.zip`:
unpack it and open `index.html`, no server needed. The log of the last build is `build/book.log`.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
NAME = "gpu-cluster-networking-book"

NOTEBOOK_SOURCES = (
    "requirements.txt",
    "notebooks/data/**/*",
)  # what an executed notebook depends on, besides netlib
PAGE_SOURCES = (
    *NOTEBOOK_SOURCES,
    "assets/*.css",
    "assets/*.js",
    "book/references.bib",
    "labs/*.ipynb",
    "labs/source/*/lab.toml",
)

_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_WARNING = re.compile(r"^(?P<where>\S.*?): (?:WARNING|ERROR|CRITICAL): (?P<what>.*)$")
_STAGE = re.compile(
    r"^(reading sources|writing output|copying static files)|^.*?((?:notebooks|labs)/\S+): Executing notebook"
)
_IN_CELL = re.compile(r"^\w*(?:Error|Exception|Interrupt): ")  # a builtin: what the cell raised, not who ran it
_RAISED = re.compile(r"^(?:\w+\.)*(\w*(?:Error|Exception|Interrupt): .*)")
_READING = re.compile(r"^reading sources\.\.\. \[ *\d+%\] (\S+)")
_LOADS = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\b(?:src|data)\s*=\s*["']?(?P<a>(?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b[^>]*?\bhref\s*=\s*["']?(?P<b>(?:https?:)?//[^"'\s>]+)""",
    re.IGNORECASE,
)
_CSS_LOADS = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])(?P<a>(?:https?:)?//[^"')\s]+)""", re.IGNORECASE)


class BookError(RuntimeError):
    """The book did not build; the message is one sentence for the person at the terminal."""


def build_book(strict: bool = True, root: Path | None = None, say: Callable[[str], None] = print) -> Path:
    """Build the book below `root` (default: this repository) and return the folder of its pages.

    `strict` turns every warning into a failure. Raises BookError with one sentence.
    """
    root = (root or PACKAGE.parent).resolve()
    started = time.monotonic()
    say("book 1/3: executing notebooks and writing pages")
    run_jupyter_book(root, strict, say)
    pages = root / "_build" / "html"
    say("book 2/3: checking that the pages load nothing from another host")
    faults = outside_loads(pages)
    if faults:
        raise BookError(
            f"the book is not self-contained: {faults[0]} ({len(faults)} such place{'s' * (len(faults) > 1)})"
        )
    packed = root / "build" / f"{NAME}.zip"
    say(f"book 3/3: packing {packed.relative_to(root)}")
    pack(pages, packed)
    say(f"book: ready in {time.monotonic() - started:.0f} s, open {(pages / 'index.html').relative_to(root)}")
    return pages


def run_jupyter_book(root: Path, strict: bool, say: Callable[[str], None]) -> None:
    """Run `jupyter-book build`, tell its stages and raise BookError with the first thing that went wrong."""
    for old in (root / "_build" / ".jupyter_cache").glob("*"):
        if old != notebook_cache(root):
            shutil.rmtree(old)
    program = [sys.executable, "-c", "import sys; from jupyter_book.cli.main import main; sys.exit(main())"]
    flags = ["-W", "-n", "--keep-going"] if strict else ["--keep-going"]
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH", ""))))
    # colour codes and the debugger's notice about frozen modules would only clutter the log
    quiet = {"NETLIB_BOOK": "1", "PYTHONPATH": path, "NO_COLOR": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    log = root / "build" / "book.log"
    log.parent.mkdir(exist_ok=True)
    faults: list[str] = []
    told = page = ""
    crashed = False
    with (
        log.open("w", encoding="utf8") as file,
        subprocess.Popen(
            [*program, "build", str(root), *flags], cwd=root, env={**os.environ, **quiet}, text=True, encoding="utf8",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as build,
    ):  # fmt: skip
        assert build.stdout is not None  # Popen was given a pipe
        for line in (_COLOUR.sub("", line).rstrip() for line in build.stdout):
            file.write(line + "\n")
            if found := _WARNING.match(line):
                faults.append(f"{found['where'].replace(f'{root}/', '')}: {found['what']}")
            elif faults and faults[-1].endswith("[mystnb.exec]") and _IN_CELL.match(line):
                faults[-1] += f", {line}"
            elif crashed and (raised := _RAISED.match(line)):
                crashed = False
                if not any("[mystnb.exec]" in fault for fault in faults):  # a failing cell has said more already
                    faults.insert(0, f"{page}: {raised[1]}")  # what stopped the build, before what it warned of
            page = reading[1] if (reading := _READING.match(line)) else page
            crashed = crashed or line == "Exception occurred:"
            if (stage := _STAGE.match(line)) and stage[0] != told:
                told = stage[0]
                say(f"          {stage[1] or f'executing {stage[2]}'}")
    if build.returncode:
        first = faults[0] if faults else "Jupyter Book stopped"
        more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        raise BookError(f"the book did not build: {first}{more}; the whole log is {log.relative_to(root)}")


def fingerprint(root: Path, patterns: tuple[str, ...] = NOTEBOOK_SOURCES) -> str:
    """A hash of netlib's sources, of the files matching `patterns` and of the mode the notebooks run in."""
    digest = hashlib.sha256(f"NETLIB_BOOK=1 python={sys.version_info[:2]}".encode())
    ours = [path for suffix in ("py", "toml", "csv") for path in PACKAGE.rglob(f"*.{suffix}")]
    others = [path for pattern in patterns for path in root.glob(pattern) if path.is_file()]
    for base, paths in ((PACKAGE, ours), (root, others)):
        for path in sorted(paths):
            digest.update(path.relative_to(base).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def notebook_cache(root: Path) -> Path:
    """Where this state of netlib keeps executed notebooks."""
    return root / "_build" / ".jupyter_cache" / fingerprint(root)


def outside_loads(pages: Path) -> list[str]:
    """Each place where a page or style sheet would load from another host or carry widget state, as a sentence part."""
    faults: list[str] = []
    for path in files(pages):
        if path.suffix not in (".html", ".css"):
            continue
        text = path.read_text(encoding="utf8")
        name = path.relative_to(pages).as_posix()
        if path.suffix == ".html":
            faults += [f"{name} loads {found['a'] or found['b']}" for found in _LOADS.finditer(text)]
            if "application/vnd.jupyter.widget-view" in text:
                faults.append(f"{name} carries a live widget, which needs a kernel")
        faults += [f"{name} loads {found['a']}" for found in _CSS_LOADS.finditer(text)]
    return faults


def files(folder: Path) -> Iterator[Path]:
    """All files below `folder`, in one fixed order."""
    return iter(sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.as_posix()))


def pack(pages: Path, target: Path) -> Path:
    """Zip `pages` so that the same pages give the same bytes: fixed order, date and rights."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files(pages):
            if path.name == ".buildinfo":
                continue
            entry = zipfile.ZipInfo(f"{NAME}/{path.relative_to(pages).as_posix()}", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, path.read_bytes())
    return target

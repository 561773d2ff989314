"""What is committed: no third-party host to load from, no path of one machine, no broken link; the licences."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
# In pieces, so that this file does not find itself.
HOSTS = [
    ".".join(pieces)
    for pieces in (
        ("cdn", "jsdelivr", "net"),
        ("unpkg", "com"),
        ("cdnjs", "cloudflare", "com"),
        ("fonts", "googleapis", "com"),
        ("fonts", "gstatic", "com"),
        ("ajax", "googleapis", "com"),
        ("code", "jquery", "com"),
        ("esm", "sh"),
        ("cdn", "skypack", "dev"),
        ("polyfill", "io"),
        ("mybinder", "org"),
        ("cdn", "mathjax", "org"),
    )
]
HOST = re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, HOSTS)) + r")(?![\w-])")
HOMES = r"(?<![\w.:/~-])(?:/(?:home|root|Users|mnt|media)/[\w.-]+|[A-Z]:\\\\?Users\\)"
MACHINE = re.compile(HOMES + r"|/tmp/(?:ipykernel|pytest)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")


def tracked() -> list[Path]:
    """The files that git keeps; also those about to be kept."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def texts() -> list[tuple[str, str]]:
    """Our own text files: vendored ones keep their makers' addresses, and the browser tests watch what they ask."""
    found = []
    for path in tracked():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("assets/vendor/") or path == Path(__file__):
            continue
        try:
            found.append((name, path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return found


def test_no_page_loads_from_another_host() -> None:
    found = [f"{name}: {hit.group()}" for name, text in texts() for hit in HOST.finditer(text)]
    assert found == []


def test_no_path_of_one_machine() -> None:
    found = [f"{name}: {hit.group()}" for name, text in texts() for hit in MACHINE.finditer(text)]
    assert found == []


def test_both_would_be_seen() -> None:
    assert HOST.search(f'<script src="https://{HOSTS[0]}/x.js">')
    assert not HOST.search("fresh.sh")
    assert MACHINE.search("open('/" + "home/ada/x.csv')")
    assert MACHINE.search("C:" + "\\Users\\ada")
    assert not MACHINE.search("https://example.org/home/page")


PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]


@pytest.mark.parametrize("name", PAGES)
def test_links_between_files_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text()
    for target in [*LINK.findall(text), *(target for _, target in PICTURE.findall(text))]:
        if not target.startswith(("http:", "https:", "mailto:", "#")):
            assert (ROOT / unquote(target.split("#")[0])).exists(), f"{name} links to {target}, which is not there"


@pytest.mark.parametrize("name", PAGES)
def test_a_picture_says_what_it_shows(name: str) -> None:
    for words, target in PICTURE.findall((ROOT / name).read_text()):
        assert len(words.split()) >= 4, f"{name}: {target} has no description"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_a_page_for_newcomers_stays_short(name: str) -> None:
    assert len((ROOT / name).read_text().splitlines()) <= 150


def test_the_readme_opens_with_the_two_commands() -> None:
    top = (ROOT / "README.md").read_text().splitlines()[:20]
    assert any("make start" in line for line in top)
    assert any("make test" in line for line in top)


def test_every_target_of_the_readme_and_the_contributing_page_exists() -> None:
    made = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for name in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"`make ([a-z]+)", (ROOT / name).read_text()):
            assert target in made, f"{name} names make {target}"


def test_code_and_text_each_have_their_licence() -> None:
    assert "BSD 3-Clause" in (ROOT / "LICENSE").read_text()
    assert "creativecommons.org/licenses/by/4.0" in (ROOT / "LICENSE-text").read_text()
    import yaml

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    import netlib

    assert citation["version"] == netlib.__version__
    assert {"cff-version", "title", "authors", "message", "license"} <= set(citation)
    assert f"## {netlib.__version__}" in (ROOT / "CHANGELOG.md").read_text()

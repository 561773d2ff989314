"""Prose types no bandwidth: it comes from the registry or from a computation, with its direction and its source.

What counts as typed: a number followed by a unit of bits or bytes per second, in a page or in a notebook's Markdown.
What does not: a role ({fact}`ndr-400`), a block of code or of a log, and a paragraph right below a comment
`<!-- bandwidth: why -->`, which tests/allowed.toml counts. CONTRIBUTING.md tells it to writers.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "book").rglob("*.md")), *sorted((ROOT / "notebooks").glob("*.ipynb"))]
PAGES += sorted((ROOT / "labs").rglob("*.ipynb"))

NUMBER = r"(?<![\w.,{/-])\d[\d,.]*(?:\s*(?:to|-|–|or|and|/)\s*\d[\d,.]*)?"
GAP = r"(?:[\s~$-]|\\[,;: ]|&nbsp;)*"
UPRIGHT = re.compile(r"\\(?:text|mathrm|textrm)\{([^{}]*)\}")
PER_SECOND = r"(?:\s*/\s*(?:second|sec|s)|ps|\s*(?:per|a|each)\s+second|\s*s\^?\{?-1)"
UNIT = r"[kKMGTP]i?(?:bits?|[Bb]ytes?|B|b)" + PER_SECOND
WORDS = r"(?:kilo|mega|giga|tera|peta)(?:bit|byte)s?\s*(?:/|per|a|each)\s*(?:second|sec|s)"
BARE = re.compile(f"{NUMBER}{GAP}(?:{UNIT}|{WORDS})\\b", re.MULTILINE)
# A fence is code, unless it is a directive whose body is prose.
FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)\n(?P<body>.*?)^[ \t]*(?P=mark)[`~]*\s*$", re.MULTILINE | re.DOTALL
)
CODE_DIRECTIVES = ("{code-cell}", "{code-block}", "{literalinclude}", "{code}", "{parsed-literal}", "{mermaid}")
ROLE = re.compile(r"\{[\w:.-]+\}`[^`]*`")
EXEMPT = re.compile(r"<!--\s*bandwidth:.*?-->[ \t]*\n?(?:[^\n]+(?:\n|$))*", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def prose(markdown: str) -> str:
    """The Markdown without what may hold a typed bandwidth; line breaks stay, so that a line can be named."""

    def keep_lines(found: re.Match[str]) -> str:
        return "\n" * found.group().count("\n")

    def fence(found: re.Match[str]) -> str:
        info = found["info"].strip()
        if info.startswith("{") and not info.startswith(CODE_DIRECTIVES):
            return f"{info}\n{prose(found['body'])}\n"
        return keep_lines(found)

    for pattern, change in ((FENCE, fence), (EXEMPT, keep_lines), (COMMENT, keep_lines), (ROLE, keep_lines)):
        markdown = pattern.sub(change, markdown)
    markdown = UPRIGHT.sub(r"\1", markdown)
    return re.sub(r"`(?![^`\n]*\d\s?[kKMGTP]i?[bB]\w*/s`)[^`\n]*`", "", markdown)


def bare_bandwidths(markdown: str) -> list[str]:
    """Each typed bandwidth, with its line."""
    text = prose(markdown)
    hits = [(text.count("\n", 0, hit.start()) + 1, " ".join(hit.group().split())) for hit in BARE.finditer(text)]
    return [f"line {line}: {words}" for line, words in hits]


@pytest.mark.parametrize(
    "typed",
    [
        "An NDR port moves 400 Gb/s each way.",
        "up to 900 GB/s",
        "3.2 Tb/s",
        "1,800 GB/s of NVLink",
        "50 GBps, or 400Gbps",
        "between 25 and 50 GB/s",
        "25-50 GB/s",
        "two times 450 gigabytes per second",
        "a 900-GB/s link",
        "$B = 50\\,\\text{GB/s}$",
        "$B = 50~\\mathrm{GB}/s$ or 400 Gbit/s",
        "100 MiB per second",
        "| NVLink 4 | 900 GB/s |",
        "the literal `400 Gb/s` is no code",
        "```{admonition} Note\nA port of 400 Gb/s.\n```",
        ":::{note}\nA port of 400 Gb/s.\n:::",
        "<!-- bandwidth: quoted -->\nthe 900 GB/s of the article\n\nand 400 Gb/s of ours",
    ],
)
def test_a_typed_bandwidth_is_found(typed: str) -> None:
    assert len(bare_bandwidths(typed)) == 1 + ("or 400Gbps" in typed) + ("or 400 Gbit/s" in typed)


@pytest.mark.parametrize(
    "fine",
    [
        "An NDR port moves {fact}`ndr-400` each way.",
        "It takes {calc}`ring_allreduce_time(140e9, 1024, Link(0, 50e9)) | s | 3`.",
        "{ratio}`nvlink4/ndr-400` times less",
        "140 GB of gradients, 16 GiB messages, 2.8 s, 400 GbE",
        "```text\n# busbw 480.00 GB/s\n```",
        "```{code-cell} python\nparse('400 Gb/s')\n```",
        "call `parse('400 Gb/s')` first",
        "<!-- bandwidth: quoted from the source program -->\nthe 900 GB/s of the article\nand its 100 GB/s\n\nand ours",
        "8 GPUs per second chance; 3 B/FLOP",
    ],
)
def test_what_has_a_source_is_left_alone(fine: str) -> None:
    assert bare_bandwidths(fine) == []


def markdown_of(page: Path) -> list[str]:
    """The Markdown of a page: one piece, or a notebook's cells."""
    if page.suffix == ".md":
        return [page.read_text()]
    found = json.loads(page.read_text())["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "markdown"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_bandwidth_is_typed_into_prose(page: Path) -> None:
    found = [hit for piece in markdown_of(page) for hit in bare_bandwidths(piece)]
    assert not found, f"{page.name} types {'; '.join(found)}: use {{fact}}, {{ratio}} or {{calc}} (see CONTRIBUTING.md)"

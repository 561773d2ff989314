"""One spelling for each thing that people write in many: numbers, shapes, and the words for what is counted.

Rows come from many hands. All lenient reading of fabric rows stands here; whatever is left over after it is a question
that the models do not know, and not one that they guess.
"""

import re
from itertools import pairwise

_WORDS = {"one": "1", "single": "1", "two": "2", "dual": "2", "three": "3", "four": "4", "eight": "8"}
_THINGS = r"GPUs?|hosts?|endpoints?|nodes?|servers?|accelerators?|transceivers?|modules?|flows?|optical modules?"

_FOLDS: tuple[tuple[str, str], ...] = (
    (r"(?<=\d),(?=\d{3}(?!\d))", ""),  # 65,536
    (r"\bscalable units?\b|(?<![a-z])SUs\b", "SU"),
    (r"\b(\d+)-ary (\d+)-(?:cube|torus)\b", r"torus \1^\2"),
    (r"\b(\d+)-ary fat[- ]?tree\b", r"fat-tree k=\1"),
    (r"(?<=\d)\s*[*×x]\s*(?=\d)", "x"),  # 8 x 8 x 8
    (r"\bhypercube,? \(?d ?= ?(\d{1,2})\b\)?", r"torus 2^\1"),
    (r"[-–—]", "-"),
)


def fold(text: str) -> str:
    """Text with numbers and shapes in one spelling.

    >>> fold("two-tier Clos, 65,536 GPUs"), fold("8 × 8 × 8 torus"), fold("4-ary 3-cube"), fold("100k GPUs")
    ('2-tier Clos, 65536 GPUs', '8x8x8 torus', 'torus 4x4x4', '100000 GPUs')
    """
    text = " ".join(text.split())
    for pattern, into in _FOLDS:
        text = re.sub(pattern, into, text, flags=re.IGNORECASE)
    text = re.sub(rf"\b({'|'.join(_WORDS)})(?=[- ](?:tier|level|layer|plane|port))",
                  lambda found: _WORDS[found[0].lower()], text, flags=re.IGNORECASE)  # fmt: skip
    text = re.sub(r"\((\d{1,4}(?:, ?\d{1,4})+)\)", lambda found: re.sub(", ?", "x", found[1]), text)  # (32, 32)
    text = re.sub(r"\b(\d{1,3})\^(\d)\b", lambda found: "x".join([found[1]] * int(found[2])), text)  # 16^3
    text = re.sub(r"\btorus 2\^(1\d)\b", lambda found: "torus " + "x".join("2" * int(found[1])), text)
    return re.sub(rf"\b(\d{{1,6}})k(?=\+?[- ](?:{_THINGS})\b)", _thousands, text, flags=re.IGNORECASE)


def _thousands(found: re.Match[str]) -> str:
    """16K is 16,384 and 100k is 100,000: people who write a power of two mean one."""
    many = int(found[1])
    return str(many * (1000 if many & (many - 1) else 1024))


def number(text: str) -> float:
    """A number as `fold` leaves it."""
    return float(text.replace(",", ""))


_FILLERS = re.compile(
    r"\b(?:number|count|total|max(?:imum)?|of|the|in total|overall|all|how many|needed|required|supported|infiniband|ib"
    r"|ethernet|network|compute(?= node-| leaf| spine| core| fabric))\b|#"
)
_HOST = r"(?:gpus?|hosts?|endpoints?|accelerators?|terminals?|chips?|end nodes?|xpus?|superchips?)"
_NODE = r"(?:(?:dgx |compute |gpu )?(?:nodes?|servers?|systems?|machines?))"
_LEAF = r"(?:leaf|leaves|tors?|t0|edge|access|tier[- ]1|first[- ]tier|1st[- ]tier)"
_SPINE = r"(?:spines?|aggregation|agg|t1|tier[- ]2|second[- ]tier|cluster)"
_CORE = r"(?:cores?|super-?spines?|t2|tier[- ]3|third[- ]tier)"
_SWITCH = r"(?:switch(?:es)?|routers?)"
_LINK = r"(?:cables?|links?|cabling|connections?)"
_LEVELS = (rf"(?:{_HOST}|{_NODE})", _LEAF, _SPINE, _CORE)


def _between(low: str, high: str) -> str:
    step = rf"(?: {_SWITCH})?(?:-to-| to |-| and )"
    return rf"{low}{step}{high}(?: {_SWITCH})? {_LINK}|{high}{step}{low}(?: {_SWITCH})? {_LINK}"


_COUNTED: tuple[tuple[str, str], ...] = (
    (_HOST, "hosts"),
    (_NODE, "nodes"),
    (rf"{_LEAF}(?: {_SWITCH})?", "tier 1 switches"),
    (rf"{_SPINE}(?: {_SWITCH})?", "tier 2 switches"),
    (rf"{_CORE}(?: {_SWITCH})?", "tier 3 switches"),
    (rf"{_SWITCH}|(?:nvlink )?(?:nv)?switch(?:es)?(?: (?:asics?|chips?))?|asics?", "switches"),
    *((_between(low, high), f"cables {i}-{i + 1}") for i, (low, high) in enumerate(pairwise(_LEVELS))),
    (rf"{_SWITCH}(?:-to-|-| to ){_SWITCH} {_LINK}|inter-?switch {_LINK}", "cables between switches"),
    (rf"(?:global|inter-?group|long) {_LINK}", "global cables"),
    (rf"(?:local|intra-?group) {_LINK}", "local cables"),
    (rf"(?:{_HOST}|{_NODE}|access|injection) {_LINK}", "cables 0-1"),
    (rf"(?:ici |nvlink )?{_LINK}|nvlinks?", "cables"),
    (rf"optical {_LINK}", "optical cables"),
    (r"(?:global|inter-?group) ports?", "global ports"),
    (r"(?:local|intra-?group) ports?", "local ports"),
    (r"(?:switch |router )?(?:ports?|radix)", "ports"),
    (r"(?:nic|network card) ports?", "nic ports"),
    (r"ocs(?:e?s)?|optical (?:circuit )?switches", "ocs"),
    (r"ocs ports?(?: in use| used)?", "ocs ports"),
    (r"(?:nv)?switch trays?|nvlink switch trays?|trays?", "trays"),
    (r"compute trays?", "compute trays"),
    (r"(?:grace )?cpus?", "cpus"),
    (r"nics?|network cards?", "nics"),
    (r"(?:optical )?(?:transceivers?|modules?|optics|pluggables?)", "transceivers"),
    (r"racks?", "racks"),
    (r"pods?", "pods"),
    (r"(?:groups?|segments?)", "groups"),
    (r"su|units?", "units"),
    (r"cubes?", "cubes"),
    (r"rails?", "rails"),
    (r"planes?", "planes"),
    (r"(?:switch |switching )?(?:tiers?|layers?|levels?|stages?)", "tiers"),
)  # fmt: skip


def counted(phrase: str) -> str | None:
    """What a phrase counts, under `census`'s names; None for a phrase with any word that is not understood.

    >>> counted("total number of leaf switches"), counted("node-leaf cables"), counted("red switches")
    ('tier 1 switches', 'cables 0-1', None)
    """
    words = _FILLERS.sub(" ", re.sub(r"\([^)]*\)", " ", phrase.lower()))
    words = " ".join(words.split()).strip(" ,.:;-")
    words = re.sub(r"(?<=^tor) set$|(?<= tor) set$", "", words)
    return next((name for pattern, name in _COUNTED if re.fullmatch(pattern, words)), None)


def shared(metric: str) -> tuple[str, str] | None:
    """(what, of what) where a metric asks for one thing in each of another; None for a plain count.

    >>> shared("GPUs per rack"), shared("switches in each pod"), shared("hosts")
    (('GPUs', 'rack'), ('switches', 'pod'), None)
    """
    found = re.search(r"^(.+?)\s*(?:\bper\b|\b(?:in|of|on) (?:a|an|each|one)\b|/)\s*(.+)$", metric, re.IGNORECASE)
    return (found[1], found[2]) if found else None

"""Selection: what NCCL_ALGO and NCCL_PROTO allow, parsed as NCCL parses them.

Up to 2.23 the value is one list for every operation, with ^ in front to exclude; unknown words are ignored, and NCCL
falls back to the ring where nothing is left. From 2.24 on the value may name operations ("ring;allreduce:tree"),
unknown words are errors, and nothing falls back: an operation without an algorithm fails.
Source: NVIDIA/nccl src/graph/tuning.cc, parseList, and the user guide's page on environment variables.
"""

from netlib.arguments import declared
from netlib.collectives.nccl.tables import ALGORITHMS, PROTOCOLS, numbers
from netlib.names import nearest

FUNCTIONS = {
    "broadcast": "broadcast",
    "reduce": "reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "allreduce": "all_reduce",
}
_OLD = {"collnet": ("CollNetDirect", "CollNetChain")}  # 2.5 to 2.13


@declared
def selected(value: str, op: str, version: str, names: tuple[str, ...] = ALGORITHMS) -> frozenset[str]:
    """The algorithms (or `names` = PROTOCOLS) that a value of NCCL_ALGO (or NCCL_PROTO) leaves for an operation.

    A value that this version refuses raises ValueError with the reason.

    >>> sorted(selected("^NVLS,NVLSTree", "all_reduce", "2.30.7"))
    ['CollNetChain', 'CollNetDirect', 'PAT', 'Ring', 'Tree']
    >>> sorted(selected("allreduce:tree", "all_reduce", "2.30.7")), len(selected("allreduce:tree", "reduce", "2.30.7"))
    (['Tree'], 7)
    """
    strict = numbers(version) >= (2, 24)
    allowed = frozenset(names)
    for number, part in enumerate(value.split(";") if strict else [value]):
        head, colon, tail = part.partition(":")
        if not strict or not colon:
            if number:
                told = f"{_variable(names)} = {value[:60]!r} needs an operation before {part[:40]!r}"
                raise ValueError(f"{told}, such as allreduce:tree")
            allowed = _listed(part, names, strict)
        elif head.strip().lower() not in FUNCTIONS:
            told = f"{_variable(names)} = {value[:60]!r} names no operation of NCCL"
            raise ValueError(f"{told}; {nearest(head, FUNCTIONS)}")
        elif FUNCTIONS[head.strip().lower()] == op:
            allowed = _listed(tail, names, strict)
        else:
            _listed(tail, names, strict)
    return allowed


def _variable(names: tuple[str, ...]) -> str:
    """Whose value is read."""
    return "NCCL_PROTO" if names == PROTOCOLS else "NCCL_ALGO"


def _listed(text: str, names: tuple[str, ...], strict: bool) -> frozenset[str]:
    """One comma-separated list; ^ in front inverts it."""
    exclude, words = text.startswith("^"), [word for word in text.lstrip("^").split(",") if word]
    known = {name.lower(): (name,) for name in names} | (_OLD if names == ALGORITHMS else {})
    found: set[str] = set()
    for word in words:
        if word.strip().lower() in known:
            found |= set(known[word.strip().lower()])
        elif strict:
            told = f"{_variable(names)} = {text[:60]!r} holds an unknown word, {word[:40]!r}"
            raise ValueError(f"{told}; {nearest(word, {name.lower(): name for name in names})}")
    if strict and not words:
        raise ValueError(f"{_variable(names)} = {text[:60]!r} lists nothing; give one of {', '.join(names)}")
    return frozenset(names) - found if exclude else frozenset(found)


__all__ = ["FUNCTIONS", "PROTOCOLS", "selected"]

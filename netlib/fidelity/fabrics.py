"""Which fabric a published row is about: its topology and system columns, read for any parameters."""

import re
from collections.abc import Callable, Mapping
from functools import cache

from netlib import topology as t
from netlib.fidelity.machines import MACHINES
from netlib.fidelity.prediction import Unanswerable
from netlib.fidelity.subjects import MOST_HOSTS, Subject, built, dragonfly_of, limit, read_sides, refuse, torus_of
from netlib.fidelity.wording import fold
from netlib.topology import Fabric, clos3, dragonfly_plus, fat_tree, leaf_spine


def subject(row: Mapping[str, str]) -> Subject:
    """The fabric of a row. Raises Unanswerable if its text names none that can be built.

    >>> subject({"topology": "fat-tree k=4"}).make().hosts.size
    16
    >>> subject({"topology": "torus 4x8"}).make().hosts.size
    32
    """
    text = fold(" ".join(filter(None, (row.get("topology"), row.get("system")))))
    for pattern, reader in (*MACHINES, *_FAMILIES):
        if found := re.search(pattern, text, re.IGNORECASE):
            return reader(found, text, _count(row.get("ranks")))
    raise Unanswerable(f"no fabric that these models build is named in {text[:40] or 'an empty topology'!r}")


def _first(found: re.Match[str] | None) -> int:
    """The number of the first group that holds one."""
    return int(next(filter(None, found.groups()))) if found else 0


def _fat_tree(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    k = _first(found)
    limit(k**3 // 4)
    return Subject(f"fat-tree k={k}", lambda: built(fat_tree, k), alike="host")


def _dragonfly(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    """As stated by a, p and h; or balanced, a = 2 p = 2 h, from h or from the ports of a router."""
    stated = {name: re.search(rf"\b{name}\s*=\s*(\d+)", text) for name in "aphg"}
    ports = re.search(r"radix[- ]?(\d+)|(\d+)-port", text, re.IGNORECASE)
    if "balanced" in text.lower() and (stated["h"] or ports):
        h = int(stated["h"][1]) if stated["h"] else (_first(ports) + 1) // 4
        a, p = 2 * h, h
    else:
        for name in "aph":
            if not stated[name]:
                raise Unanswerable(f"a dragonfly needs a, p and h; {name} is not stated")
        a, p, h = (int(number[1]) for name in "aph" if (number := stated[name]))
    count = stated["g"] or re.search(r"(\d+) groups", text)
    return dragonfly_of(a, p, h, int(count[1]) if count else None, bool(re.search(r"\bgroup\b", text)))


def _plus(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    radix = int(found[1])
    half = radix // 2
    hosts, groups = half**2 * (half**2 + 1), half**2 + 1
    if hosts > MOST_HOSTS:
        if radix % 2:
            raise Unanswerable(f"radix = {radix} must be even: half of the ports go up")
        known = {"hosts": hosts, "groups": groups, "switches": 2 * half * groups, "nodes": hosts}
        known |= {
            "tier 1 switches": half * groups,
            "tier 2 switches": half * groups,
            "global cables": groups * (groups - 1) // 2,
        }
        return Subject(f"dragonfly+ radix {radix}", lambda: refuse("too many hosts to build"),
                       {name: float(count) for name, count in known.items()})  # fmt: skip
    return Subject(f"dragonfly+ radix {radix}", lambda: built(dragonfly_plus, radix))


def _torus(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    return torus_of(read_sides(found[1] or found[2]), "mesh" not in text.lower(), {})


def _clos(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    """A Clos of so many tiers and radix, oversubscribed r:1 at the leaves and in planes if the text says so.

    Without hosts it is the largest of its radix.
    """
    tiers = int(found[1] or 2)
    radix = re.search(r"radix[- ]?(\d+)|(\d+)-port", text, re.IGNORECASE)
    stated = re.search(r"(\d+)[- ]*(?:hosts|GPUs|endpoints|servers|nodes)", text)
    ratio, planes = re.search(r"\b(\d+)\s*:\s*1\b", text), re.search(r"(\d)[- ]planes?\b", text)
    if not radix:
        raise Unanswerable("a Clos needs the radix of its switches")
    ports, r = int(radix[1] or radix[2]), int(ratio[1]) if ratio else 1
    hosts = int(stated[1]) if stated else ranks
    most = int(t.clos_hosts(ports, tiers))
    if hosts is None and (r != 1 or most > MOST_HOSTS or tiers > 3):
        if r != 1:
            raise Unanswerable("an oversubscribed Clos needs its hosts")
        known = {"hosts": float(most), "most": 2.0 * tiers, "tiers": float(tiers)}
        why = f"{most:,} hosts are not built in a report"
        return Subject(f"Clos of {tiers} tiers, radix {ports}", lambda: refuse(why), known)
    if tiers > 3:
        raise Unanswerable(f"a Clos of {tiers} tiers is not built in a report; 2 and 3 are")
    hosts = hosts or most
    limit(hosts)
    many = hosts
    return Subject(f"Clos of {tiers} tiers, radix {ports}, {hosts:,} hosts",
                   lambda: _planes(built(clos3 if tiers == 3 else leaf_spine, many, ports, oversubscription=r),
                                   int(planes[1]) if planes else 1))  # fmt: skip


@cache
def _planes(fabric: Fabric, planes: int) -> Fabric:
    return fabric if planes < 2 else t.multi_plane(fabric, planes)


def _rails(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    """Nodes of some GPUs (8 if not stated), a rail for each GPU of a node."""
    nodes = re.search(r"(\d+) (?:nodes|servers|systems)", text)
    each = re.search(r"(?:of|x) ?(\d+)(?: GPUs| rails)?|(\d+) (?:rails|GPUs per|GPUs a|GPUs each)", text)
    radix = re.search(r"radix[- ]?(\d+)|(\d+)-port", text, re.IGNORECASE)
    if not (nodes and radix):
        raise Unanswerable("a fabric of rails needs its nodes and the radix of its switches")
    rails, ports, many = int((each and (each[1] or each[2])) or 8), int(radix[1] or radix[2]), int(nodes[1])
    limit(many * rails)
    make = t.rail_only if found[1].lower() == "only" else t.rail_optimised
    return Subject(f"rail-{found[1]}, {many} nodes of {rails}", lambda: built(make, many, rails, ports, inside=None))


def _count(text: str | None) -> int | None:
    cleaned = (text or "").replace(",", "").strip()
    return int(cleaned) if cleaned.isdecimal() and len(cleaned) < 10 else None


_FAMILIES: tuple[tuple[str, Callable[[re.Match[str], str, int | None], Subject]], ...] = (
    (r"dragonfly\s*(?:\+|plus)\D*(\d{1,3})\b", _plus),
    (r"balanced.*dragonfly|dragonfly\b(?=.*(?:\b[aph]\s*=|balanced))", _dragonfly),
    (r"(?:torus|mesh)\b.*?\b(\d+(?:x\d+)+)\b|\b(\d+(?:x\d+)+)\b.*\b(?:torus|mesh)\b", _torus),
    (r"fat[- ]?tree\b.*?\bk\s*=?\s*(\d{1,4})\b|\bk\s*=\s*(\d{1,4})\b.*fat[- ]?tree", _fat_tree),
    (r"\brail[- ]?(optimi[sz]ed|only)\b(?=.*(?:radix|-port))", _rails),
    (r"\b([2-5])[- ](?:tier|level|layer)s?\b(?=.*(?:radix|-port))", _clos),
    (r"fat[- ]?tree\b.*?(?:radix[- ]?(\d{1,4})|(\d{1,4})-port)", _fat_tree),
    (r"()\bleaf[- ](?:and[- ])?spine\b(?=.*(?:radix|-port))", _clos),
)

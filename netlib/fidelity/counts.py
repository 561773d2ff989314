"""How many: whole numbers counted on a fabric, alone or one of each other, as a row words them."""

import re
from functools import cache

import numpy as np

from netlib.fidelity.optics import MODULES as COUNT
from netlib.fidelity.prediction import Prediction, Unanswerable
from netlib.fidelity.subjects import Subject
from netlib.fidelity.wording import counted
from netlib.topology import Fabric
from netlib.topology.named import census

RATE = ("topology", "bandwidth of a whole machine")


def unknown(metric: str) -> Prediction:
    """The answer to a question that is not understood: none, and the reason."""
    raise Unanswerable(f"no model answers {metric[:40]!r} of a fabric")


def exactly(about: Subject, value: float) -> Prediction:
    """A count, scored exactly."""
    return Prediction(value, "", f"counted on {about.name}", COUNT)


@cache
def _counts(fabric: Fabric) -> dict[str, float]:
    """`census`, and what people call its entries."""
    found: dict[str, float] = {name: float(count) for name, count in census(fabric).items()}
    outside = ~fabric.of_kind("nvlink", "pcie", "socket") if found["tiers"] > 1 else np.ones(fabric.links, bool)
    found["switches"] = float(fabric.switches.size)
    found["cables"] = float(np.count_nonzero(outside)) / 2
    both = (fabric.tier[fabric.source] > 0) & (fabric.tier[fabric.target] > 0)
    found["cables between switches"] = float(np.count_nonzero(both)) / 2
    for kind in ("local", "global"):
        found[f"{kind} cables"] = float(np.count_nonzero(fabric.of_kind(kind))) / 2
    found["transceivers"] = 2 * found["cables"]
    found["nics"] = found["hosts"]
    found.setdefault("nodes", found["hosts"])
    for name in ("pods", "groups", "planes"):
        found.setdefault(name, 1.0)
    return found


def count(about: Subject, name: str) -> float:
    """How many of what `census` calls `name`. Raises Unanswerable where the fabric has no such thing."""
    if name in about.known:
        return about.known[name]
    counts = _counts(about.make())
    value = counts.get(name, 0.0 if name.startswith(("tier ", "cables ")) else None)
    if value is None:
        raise Unanswerable(f"{about.name} has no {name}")
    return value / (about.per_cable if "cables" in name or name == "transceivers" else 1)


def share(about: Subject, metric: str, many: str, one: str) -> Prediction:
    """GPUs per pod, switches in a segment, links of a chip: what one of them has, or one count over another."""
    whole = counted(one)
    up = re.fullmatch(r"\s*(?:(up|down)-?(?:links?)?(?: ports?)?|ports? (up|down))\s*", many.lower())
    part = "ports" if up else counted(many)
    if part is None or whole is None:
        return unknown(metric)
    if whole == "switches" or whole.startswith("tier "):
        if f"{part} of a switch" in about.known and not up:
            return exactly(about, about.known[f"{part} of a switch"])
        if part in ("ports", "cables"):
            return ports(about, metric, (up[1] or up[2]) if up else "", 1 if whole == "switches" else int(whole[5]))
        if part == "nodes":
            return exactly(about, float(_under(about.make(), part)))
        if part == "hosts" and whole == "tier 1 switches" and "per ToR set" in metric:
            return exactly(about, _under(about.make(), "nodes") * count(about, "hosts") / count(about, "nodes"))
    if whole == "nodes" and part in ("cables", "ports") and count(about, "nodes") == count(about, "hosts"):
        whole = "hosts"
    if whole == "hosts" and part in ("cables", "ports"):
        fabric = about.make()
        return exactly(about, float(fabric.leaving(int(fabric.hosts[0])).size) / about.per_cable)
    if whole == "hosts" and part == "nic ports":
        fabric = about.make()
        return exactly(about, float(np.count_nonzero(fabric.of_kind("access") & (fabric.source == fabric.hosts[0]))))
    if "switches" in part and whole in ("pods", "groups", "planes") and part not in about.known:
        return exactly(about, _members(about, part, whole))
    among = count(about, whole)
    if not among:
        raise Unanswerable(f"{about.name} has no {whole}")
    ends = 2 if (part, whole) == ("global cables", "groups") else 1  # a cable between two groups belongs to both
    return exactly(about, ends * count(about, part) / among)


def _members(about: Subject, switches: str, whole: str) -> float:
    """Switches, of all tiers or of one, that belong to the first pod, group or plane."""
    fabric = about.make()
    label = fabric.labels.get(whole[:-1])
    mask = fabric.tier > 0 if switches == "switches" else fabric.tier == int(switches[5])
    if label is None or not np.any(label[mask] >= 0):
        return count(about, switches) / count(about, whole)
    return float(np.count_nonzero(label[mask] == 0))


def _under(fabric: Fabric, what: str) -> int:
    """Different nodes (or hosts) that hang from the first switch."""
    leaf = int(_first_switch(fabric))
    hosts = fabric.target[fabric.leaving(leaf)]
    hosts = hosts[fabric.tier[hosts] == 0]
    return int(np.unique(fabric.labels[what[:-1]][hosts] if what[:-1] in fabric.labels else hosts).size)


def _first_switch(fabric: Fabric, tier: int = 1) -> int:
    found = np.flatnonzero(fabric.tier == tier)
    if not found.size:
        raise Unanswerable(f"there is no switch of tier {tier}")
    return int(found[0])


def ports(about: Subject, metric: str, way: str, tier: int = 1) -> Prediction:
    """Ports of a switch in units of its fastest port, all or those that lead down or up; or what they carry."""
    unit = re.search(r"([TG])b(?:ps|/s|it/s)", metric, re.IGNORECASE)
    carried = unit or re.search(r"capacity|bandwidth|throughput", metric, re.IGNORECASE)
    if carried and "switch rate" in about.known:
        total = about.known["switch rate"]
    else:
        fabric = about.make()
        mine = fabric.leaving(_first_switch(fabric, tier))
        room, fastest = fabric.capacity[mine], float(fabric.capacity[mine].max())
        higher = fabric.tier[fabric.target[mine]] > tier
        if way:
            room = room[higher if way == "up" else ~higher]
        total = float(room.sum())
        if not carried:
            return Prediction(total / fastest, "", f"counted on {about.name}, in ports of the fastest kind", COUNT)
        if float(fabric.capacity.max()) == 1.0:
            raise Unanswerable("the rate of a link is not stated")
    if unit:
        return Prediction(total * 8 / {"T": 1e12, "G": 1e9}[unit[1].upper()], "", f"ports of {about.name}", COUNT)
    return Prediction(total, "B/s", f"ports of {about.name}", RATE)

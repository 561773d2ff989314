"""Counts, distances, cuts and hashed traffic of published fabrics, from the fabrics themselves.

A row names a fabric (`fabrics`) and asks for a number in its own words. Whole numbers are counted on the built fabric,
distances walked breadth first, cuts found by max-flow, flows hashed and shared out (`ecmp_runs`).
"""

import re
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from netlib import topology as t
from netlib.fidelity.ecmp_runs import Runs, permutation
from netlib.fidelity.fabrics import Subject, subject
from netlib.fidelity.prediction import Prediction, Unanswerable
from netlib.topology import Fabric
from netlib.topology.named import census

COUNT = ("topology", "counts of fabrics")
DISTANCE = ("topology", "distances")
CUT = ("topology", "bisection")
RATE = ("topology", "bandwidth of a whole machine")
MEAN = ("ECMP", "mean rate of a permutation")
SPREAD = ("ECMP", "spread over seeds")
EXTREME = ("ECMP", "worst flow and hottest link")
BINS = ("ECMP", "balls in bins, exact")
WATTS = ("optics", "watts of transceivers")

MOST_TEXT = 1000  # the patterns below look again from every word: a cell of a megabyte would take hours
MOST_PAIRS = 10**8

_REASONS = (
    (r"\b(?:cost|price)", "it needs prices that the source does not print"),
    (r"power reduction", "it needs the powers that its authors assumed"),
    (r"gain|speed-?up|loss|noise|overhead|imbalance|never|share\b.*|share of traffic|vs network",
     "a comparison of measured jobs, which no model of fabrics gives"),
)  # fmt: skip


def predict_topology(row: Mapping[str, str]) -> Prediction:
    """The value of a fabric's row. Raises Unanswerable with the reason.

    >>> asked = {"topology": "torus 4x4x4", "metric": "mean distance"}
    >>> round(predict_topology(asked).value, 4)
    3.0476
    """
    metric = " ".join((row.get("metric") or "").split())
    text = f"{row.get('topology') or ''} {row.get('system') or ''}"
    if not metric:
        raise Unanswerable("no metric is named")
    if len(text) + len(metric) > MOST_TEXT:
        raise Unanswerable(f"topology and metric take more than {MOST_TEXT} characters; name one fabric and one number")
    if re.search(r"\bECMP\b|hash", text, re.IGNORECASE) and not re.search(r"gain", metric):
        return _hashed(text, metric)
    if re.search(r"transceiver|module|optic", f"{text} {metric}", re.IGNORECASE) and (made := _optics(text, metric)):
        return made
    for pattern, reason in _REASONS:
        if re.search(pattern, metric, re.IGNORECASE):
            raise Unanswerable(reason)
    try:
        about = subject(row)
        for pattern, answer in _METRICS:
            if found := re.search(pattern, metric, re.IGNORECASE):
                return answer(about, found)
    except ValueError as error:  # the fabric has no such number: one host has no halves, a torus no leaves
        raise Unanswerable(str(error)) from None
    raise Unanswerable(f"no model answers {metric[:40]!r} of a fabric")


# ---------------------------------------------------------------- hashed traffic


def _hashed(text: str, metric: str) -> Prediction:
    bins = re.search(r"(\d+)\s*flows?\D+(\d+)\s*(?:up)?links?", text, re.IGNORECASE)
    if bins:
        return _balls(int(bins[1]), int(bins[2]), metric)
    tree = re.search(r"fat[- ]?tree\b.*?\bk\s*=?\s*(\d{1,3})\b", text, re.IGNORECASE)
    if not tree:
        raise Unanswerable("hashed flows need a fat-tree or so many flows on so many links")
    pairs = re.search(r"(\d+)\s*(?:QPs?|queue pairs?|paths?)\b", text, re.IGNORECASE)
    qps = int(pairs[1]) if pairs else 1
    if not 0 < qps <= 1024:
        raise Unanswerable(f"{qps} queue pairs a flow are not simulated; give 1 to 1,024")
    asked = re.sub(r"max-min(?: fair)?|per-flow", "", metric, flags=re.IGNORECASE)
    for pattern, group, pick in _RUNS:
        if re.search(pattern, asked, re.IGNORECASE):
            runs = permutation(int(tree[1]), qps)
            return Prediction(pick(runs), "", f"random permutations, {runs.seeds} seeds, hashed five-tuples", group)
    raise Unanswerable(f"no model answers {metric[:40]!r} of hashed flows")


_RUNS: tuple[tuple[str, tuple[str, str], Callable[[Runs], float]], ...] = (
    (r"std|standard deviation|spread", SPREAD, lambda runs: runs.spread),
    (r"worst|slowest|min(?:imum)?\b", EXTREME, lambda runs: runs.worst),
    (r"(?:max|most|hottest).*(?:flows|load)|flows.*(?:max|hottest)", EXTREME, lambda runs: runs.most),
    (r"equal|goodput", MEAN, lambda runs: runs.equal),
    (r"sum|mean|rate|throughput", MEAN, lambda runs: runs.total),
)


def _balls(flows: int, links: int, metric: str) -> Prediction:
    answers: tuple[tuple[str, Callable[[int, int], float]], ...] = (
        (r"idle|unused|empty", lambda m, n: 1 - float(t.links_used(m, n))),
        (r"used", lambda m, n: float(t.links_used(m, n))),
        (r"speed|throughput|goodput|efficiency", lambda m, n: float(t.ecmp_speed(m, n))),
        (r"(?:over|/|to) mean|imbalance", lambda m, n: float(t.expected_max_load(m, n)) * n / m),
        (r"max|hottest|load", lambda m, n: float(t.expected_max_load(m, n))),
    )
    for pattern, answer in answers:
        if re.search(pattern, metric, re.IGNORECASE):
            try:
                return Prediction(answer(flows, links), "", "exact over all outcomes of the hash", BINS)
            except (ValueError, ZeroDivisionError) as error:
                raise Unanswerable(str(error)) from None
    raise Unanswerable(f"no model answers {metric[:40]!r} of hashed flows")


# ---------------------------------------------------------------- optics


def _optics(text: str, metric: str) -> Prediction | None:
    """Modules, as stated or as an optical Clos needs, and their watts; None where nothing of it is stated."""
    stated = re.search(r"([\d,]*\d)\s*(?:optical )?(?:modules|transceivers)", text)
    hosts = re.search(r"([\d,]*\d)\s*(?:GPUs|hosts|endpoints)", text)
    tiers = re.search(r"(\d)\s*[- ]?(?:tiers?|layers?)", text)
    if stated:
        modules = float(stated[1].replace(",", ""))
    elif hosts and tiers and int(tiers[1]) > 0:
        modules = float(hosts[1].replace(",", "")) * float(t.transceivers_per_host(int(tiers[1])))
    else:
        return None
    if re.search(r"power|watt", metric, re.IGNORECASE):
        each = re.search(r"(\d+(?:\.\d+)?)\s*W\b", text)
        if not each:
            raise Unanswerable("the watts of a module are not stated")
        return Prediction(modules * float(each[1]), "W", "two modules a cable, one cable a tier and host", WATTS)
    return Prediction(modules, "", "two modules a cable, one cable a tier and host", COUNT)


# ---------------------------------------------------------------- counts, distances, cuts


@cache
def _counts(fabric: Fabric) -> dict[str, float]:
    """`census`, and what people call its entries."""
    found: dict[str, float] = {name: float(count) for name, count in census(fabric).items()}
    outside = ~fabric.of_kind("nvlink", "pcie", "socket") if found["tiers"] > 1 else np.ones(fabric.links, bool)
    found["switches"] = float(fabric.switches.size)
    found["cables"] = float(np.count_nonzero(outside)) / 2
    found["racks"] = found.get("tier 1 switches", 0.0)
    for name in ("pods", "groups", "planes"):
        found.setdefault(name, 1.0)
    return found


def _count(about: Subject, name: str) -> float:
    if name in about.known:
        return about.known[name]
    counts = _counts(about.make())
    value = counts.get(name, 0.0 if name.startswith(("tier", "cables")) else None)
    if value is None:
        raise Unanswerable(f"{about.name} has no {name}")
    return value / (about.per_cable if name.startswith("cables") else 1)


def _counted(name: str) -> Callable[[Subject, re.Match[str]], Prediction]:
    return lambda about, found: Prediction(_count(about, name), "", f"counted on {about.name}", COUNT)


def _per(about: Subject, found: re.Match[str]) -> Prediction:
    """GPUs per pod, switches per segment ...: one count over another."""
    many, one = (_WORDS[word.lower().rstrip("s")] for word in found.groups())
    if many == "hosts" and one == "racks":
        return Prediction(_count(about, "tier 1 down"), "", f"counted on {about.name}", COUNT)
    return Prediction(_count(about, many) / _count(about, one), "", f"counted on {about.name}", COUNT)


_WORDS = {
    "gpu": "hosts", "host": "hosts", "endpoint": "hosts", "node": "hosts", "chip": "hosts", "rack": "racks",
    "tor": "tier 1 switches", "tor switche": "tier 1 switches", "leaf switche": "tier 1 switches",
    "switche": "switches", "router": "switches", "pod": "pods", "segment": "groups", "group": "groups",
}  # fmt: skip


def _walked(over: str, switches: bool = False) -> Callable[[Subject, re.Match[str]], Prediction]:
    """The largest or the mean number of links between two hosts, or between two switches that have hosts."""

    def answer(about: Subject, found: re.Match[str]) -> Prediction:
        fabric = about.core() if switches and about.core else about.make()
        mean, most = _distances(fabric, about.alike, switches)
        return Prediction(mean if over == "mean" else most, "", f"walked on {about.name}", DISTANCE)

    return answer


@cache
def _distances(fabric: Fabric, alike: str, switches: bool) -> tuple[float, float]:
    """Mean and largest distance; from one host or one group alone where all are alike."""
    if not alike and switches:
        return t.mean_switch_distance(fabric), t.switch_diameter(fabric)
    if not alike:
        return t.mean_hops(fabric), t.diameter(fabric)
    first = np.unique(fabric.target[fabric.of_kind("access") & (fabric.tier[fabric.source] == 0)])
    among = first if switches and first.size else fabric.hosts
    start = among[fabric.label("group")[among] == 0] if alike == "group" else among[:1]
    if start.size * among.size > MOST_PAIRS:
        raise Unanswerable(f"{start.size:,} x {among.size:,} distances are not walked in a report")
    hops = t.distances_to(fabric, start, among)
    return float(hops.sum(dtype=float)) / (start.size * max(1, among.size - 1)), float(hops.max())


def _bisection(about: Subject, found: re.Match[str]) -> Prediction:
    cut = _cut(about.make())
    if re.search(r"bandwidth", found.string, re.IGNORECASE):
        if "link rate" not in about.known:
            raise Unanswerable("the rate of a link is not stated")
        return Prediction(cut * about.known["link rate"], "B/s", f"max-flow on {about.name}", RATE)
    return Prediction(cut, "", f"max-flow on {about.name}", CUT)


@cache
def _cut(fabric: Fabric) -> float:
    return t.bisection(fabric).bandwidth / float(fabric.capacity.max())


def _aggregate(about: Subject, found: re.Match[str]) -> Prediction:
    """All links, each direction counted: what an all-reduce over all axes of a torus can use, or what a vendor adds."""
    fabric = about.make()
    if not fabric.links:
        raise Unanswerable(f"{about.name} has no links")
    rate = float(fabric.capacity.sum()) * about.known.get("link rate", 1.0)
    if float(fabric.capacity.max()) == 1.0 and "link rate" not in about.known:
        raise Unanswerable("the rate of a link is not stated")
    return Prediction(rate, "B/s", f"all links of {about.name}, both directions", RATE)


def _ratio(about: Subject, found: re.Match[str]) -> Prediction:
    """Oversubscription: of the leaves, or of a pod's hosts over what leaves the pods upward; `under` is its inverse."""
    fabric, low = about.make(), re.search(r"agg|pod|spine|T1-T2|core", found.string, re.IGNORECASE)
    up = (fabric.tier[fabric.source] == 2) & (fabric.tier[fabric.target] == 3)
    if low:
        if not up.any():
            raise Unanswerable(f"{about.name} as built ends at its second tier")
        ratio = float(fabric.capacity[fabric.of_kind("access")].sum()) / 2 / float(fabric.capacity[up].sum())
    else:
        try:
            ratio = t.oversubscription(fabric)
        except ValueError as error:
            raise Unanswerable(str(error)) from None
    under = re.search("under", found.string, re.IGNORECASE)
    return Prediction(1 / ratio if under else ratio, "", f"capacities of {about.name}", DISTANCE)


def _ports(about: Subject, found: re.Match[str]) -> Prediction:
    """Ports of a first switch in units of its fastest port, its capacity, or how many of its ports lead down or up."""
    fabric = about.make()
    if not np.any(fabric.tier == 1):
        raise Unanswerable(f"{about.name} has no switches")
    leaf = int(np.flatnonzero(fabric.tier == 1)[0])
    mine = fabric.leaving(leaf)
    room, fastest = fabric.capacity[mine], float(fabric.capacity[mine].max())
    higher = fabric.tier[fabric.target[mine]] > 1
    word = found[0].lower()
    if "down" in word or "up" in word:
        room = room[higher if "up" in word else ~higher]
    total = float(room.sum())
    if "bps" in found.string.lower():
        return Prediction(total * 8 / 1e12, "", f"capacities of {about.name}", COUNT)
    return Prediction(total / fastest, "", f"counted on {about.name}", COUNT)


def _host_ports(about: Subject, found: re.Match[str]) -> Prediction:
    fabric = about.make()
    ports = np.count_nonzero(fabric.of_kind("access") & (fabric.source == fabric.hosts[0]))
    return Prediction(float(ports), "", f"counted on {about.name}", COUNT)


_HOST = r"(?:GPUs?|hosts?|endpoints?|nodes?|chips?|servers?)"
_METRICS: tuple[tuple[str, Callable[[Subject, re.Match[str]], Prediction]], ...] = (
    (r"(?:router|switch)\w*.*diameter|diameter.*(?:router|switch)", _walked("most", switches=True)),
    (r"diameter", _walked("most")),
    (r"(?:mean|average).*(?:router|switch)", _walked("mean", switches=True)),
    (r"(?:mean|average).*(?:distance|hops?|path)", _walked("mean")),
    (r"bisection", _bisection),
    (r"(?:all-?reduce|aggregate).*bandwidth", _aggregate),
    (r"subscription", _ratio),
    (r"(?:switch|chip).*[TG]bps|(?:down|up)link ports?|ports? per switch", _ports),
    (r"NIC ports? per GPU", _host_ports),
    (r"NICs? per server", _counted("rails")),
    (r"servers? per ToR", _counted("tier 1 down")),
    (r"(GPUs?|hosts?|endpoints?|nodes?|chips?|racks?|(?:ToR |leaf )?switches|ToRs?|routers?|segments?|groups?)"
     r" per (pod|segment|rack|group)", _per),
    (r"OCS.*ports?|ports?.*OCS", _counted("ocs ports")),
    (r"OCS", _counted("ocs")),
    (r"trays?", _counted("trays")),
    (rf"{_HOST}[- ](?:to[- ])?leaf.*(?:cables?|links?)|leaf[- ]{_HOST}.*(?:cables?|links?)", _counted("cables 0-1")),
    (r"leaf[- ]spine|spine[- ]leaf", _counted("cables 1-2")),
    (r"spine[- ]core|core[- ]spine", _counted("cables 2-3")),
    (r"\b(?:leaf|leaves|ToR|edge|access)\b", _counted("tier 1 switches")),
    (r"\b(?:spines?|aggregation)\b", _counted("tier 2 switches")),
    (r"\b(?:cores?|super-?spines?)\b", _counted("tier 3 switches")),
    (r"\b(?:switches|routers?|ASICs?)\b", _counted("switches")),
    (r"\b(?:cables?|links?)\b", _counted("cables")),
    (r"\bpods?\b", _counted("pods")),
    (r"\b(?:groups?|segments?)\b", _counted("groups")),
    (r"\brails?\b", _counted("rails")),
    (r"\bplanes?\b", _counted("planes")),
    (r"\b(?:tiers?|layers?)\b", _counted("tiers")),
    (rf"\b{_HOST}\b", _counted("hosts")),
)  # fmt: skip

"""Counts, distances, cuts and bandwidths of published fabrics, from the fabrics themselves.

A row names a fabric (`fabrics`) and asks for a number in its own words (`wording`). Whole numbers are counted on the
built fabric, distances walked breadth first, cuts found by max-flow, flows hashed and shared out (`hashed`). A question
with a word that is not understood is not answered.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from netlib import topology as t
from netlib.fidelity.counts import RATE, count, exactly, ports, share, unknown
from netlib.fidelity.fabrics import subject
from netlib.fidelity.hashed import BINS, EXTREME, MEAN, SPREAD, predict_hashed
from netlib.fidelity.optics import MODULES as COUNT
from netlib.fidelity.optics import WATTS, predict_optics
from netlib.fidelity.prediction import Prediction, Unanswerable
from netlib.fidelity.subjects import Subject
from netlib.fidelity.wording import counted, fold, shared
from netlib.topology import Fabric

__all__ = ["BINS", "COUNT", "CUT", "DISTANCE", "EXTREME", "MEAN", "RATE", "SPREAD", "WATTS", "predict_topology"]

DISTANCE = ("topology", "distances")
CUT = ("topology", "bisection")

_REASONS = (
    (r"(?<!equal-)(?<!equal )\b(?:cost|price)", "it needs prices that the source does not print"),
    (r"^time\b", "times of collectives on a torus are for the chapter on optical circuit switching"),
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
    try:
        return _predict(row)
    except Unanswerable:
        raise
    except ValueError as error:  # no such fabric, or one without the number: a single host has no halves
        raise Unanswerable(str(error)) from None


_LONGEST = 2_000  # characters of a description; published ones have less than a hundred


def _predict(row: Mapping[str, str]) -> Prediction:
    """The first answer that the row's words call for."""
    metric, text = row.get("metric") or "", f"{row.get('topology') or ''} {row.get('system') or ''}"
    if len(text) + len(metric) > _LONGEST:
        raise Unanswerable(f"{len(text) + len(metric):,} characters describe no fabric; give it in a line")
    metric, text = fold(metric), fold(text)
    if not metric:
        raise Unanswerable("no metric is named")
    if re.search(r"\d{13}", text + metric):
        raise Unanswerable("a number of more than 12 digits counts nothing of a fabric")
    if re.search(r"\bECMP\b|hash", f"{text} {metric}", re.IGNORECASE) and not re.search(r"gain|\bvs\b|paths", metric):
        return predict_hashed(text, metric)
    optical = re.search(r"transceiver|module|optic|\bCPO\b|pluggable", f"{text} {metric}", re.IGNORECASE)
    if optical and (made := predict_optics(text, metric)):
        return made
    for pattern, reason in _REASONS:
        if re.search(pattern, metric, re.IGNORECASE):
            raise Unanswerable(reason)
    about = subject(row)
    if optical and re.search(r"power|watt", metric, re.IGNORECASE):
        each = "hosts" if re.search(r"\bper\b", metric) else None
        modules = count(about, "transceivers") / (count(about, each) if each else 1)
        return predict_optics(text, "power", modules) or unknown(metric)
    for pattern, answer in _METRICS:
        if found := re.search(pattern, metric, re.IGNORECASE):
            return answer(about, found)
    if pair := shared(metric):
        return share(about, metric, *pair)
    if name := counted(metric):
        if name == "ports":
            return share(about, metric, name, "switch")
        if name in ("local ports", "global ports") and count(about, "groups") > 1:
            raise Unanswerable("ports of a switch, of a group or of all? The row does not say")
        return exactly(about, count(about, name))
    return unknown(metric)


# ---------------------------------------------------------------- distances


def _walked(over: str, switches: bool = False) -> Callable[[Subject, re.Match[str]], Prediction]:
    """The largest or the mean number of links between two hosts, or between two switches that have hosts."""

    def answer(about: Subject, found: re.Match[str]) -> Prediction:
        crossed = re.search(r"switch(?:es)? (?:hops|crossed|traversed)|on the|passed", found.string, re.IGNORECASE)
        ends = 1 if crossed and not switches else 0  # one switch fewer than links between two hosts
        if over in about.known and not switches:
            return Prediction(about.known[over] - ends, "", f"closed form of {about.name}", DISTANCE)
        fabric = about.core() if switches and about.core else about.make()
        mean, most = _distances(fabric, about.alike, switches)
        if re.search(r"(?:with|include[sd]?|including) (?:it)?self", found.string, re.IGNORECASE):
            mean *= 1 - 1 / fabric.hosts.size
        return Prediction((mean if over == "mean" else most) - ends, "", f"walked on {about.name}", DISTANCE)

    return answer


MOST_WALKED, MOST_PAIRS = 4_200, 8_000_000  # classes of hosts, and pairs, so that a report takes seconds


@cache
def _distances(fabric: Fabric, alike: str, switches: bool) -> tuple[float, float]:
    """Mean and largest distance; from one host or one group alone where all are alike."""
    if not alike:
        classes = np.unique(fabric.target[fabric.of_kind("access") & (fabric.tier[fabric.source] == 0)]).size
        if (classes or fabric.hosts.size) > MOST_WALKED:
            raise Unanswerable(f"all ways between {fabric.hosts.size:,} hosts that differ are not walked in a report")
        if switches:
            return t.mean_switch_distance(fabric), t.switch_diameter(fabric)
        return t.mean_hops(fabric), t.diameter(fabric)
    first = np.unique(fabric.target[fabric.of_kind("access") & (fabric.tier[fabric.source] == 0)])
    among = first if switches and first.size else fabric.hosts
    start = among[fabric.label("group")[among] == 0] if alike == "group" else among[:1]
    if start.size * among.size > MOST_PAIRS:
        raise Unanswerable(f"{start.size * among.size:,} pairs are not walked in a report")
    hops = t.distances_to(fabric, start, among)
    return float(hops.sum(dtype=float)) / (start.size * max(1, among.size - 1)), float(hops.max())


def _paths(about: Subject, found: re.Match[str]) -> Prediction:
    """Shortest ways between the first host and the last."""
    fabric = about.make()
    return Prediction(float(t.path_count(fabric, 0, fabric.hosts.size - 1)), "", f"walked on {about.name}", COUNT)


# ---------------------------------------------------------------- cuts and bandwidths


def _rate(about: Subject, fabric: Fabric) -> float:
    """Bytes/s of a link of capacity 1, or 1 where the fabric was built with real rates."""
    if float(fabric.capacity.max()) != 1.0:
        return 1.0
    if "link rate" not in about.known:
        raise Unanswerable("the rate of a link is not stated")
    return about.known["link rate"]


def _bandwidth(about: Subject, found: re.Match[str]) -> Prediction:
    """Bytes/s of the cut, of one GPU or of all links. Those of a whole machine count both directions of a link, as
    vendors do; so do all of an NVLink domain, unless the row says one way."""
    fabric, metric = about.make(), found.string.lower()
    rate, nvlink = _rate(about, fabric), bool(fabric.of_kind("nvlink").all())
    one_way = re.search(r"one[- ]way|unidirectional|per direction|each way|one direction", metric)
    if "bisection" in metric:
        value, ways = t.bisection(fabric).bandwidth, 2 if nvlink and not one_way else 1
    elif re.search(r"per (?:gpu|chip|host)", metric):
        value, ways = float(fabric.capacity[fabric.leaving(int(fabric.hosts[0]))].sum()), 1 if one_way else 2
    elif fabric.of_kind("trunk").any() or ("reduce" in metric and nvlink):
        return unknown(found.string)
    else:
        value, ways = float(fabric.capacity.sum()) / 2, 1 if one_way else 2
    said = "both directions" if ways == 2 else "one way"
    return Prediction(ways * value * rate, "B/s", f"links of {about.name}, {said}", RATE)


def _bisection(about: Subject, found: re.Match[str]) -> Prediction:
    return Prediction(_cut(about.make()), "", f"max-flow on {about.name}", CUT)


@cache
def _cut(fabric: Fabric) -> float:
    return t.bisection(fabric).bandwidth / float(fabric.capacity.max())


def _ratio(about: Subject, found: re.Match[str]) -> Prediction:
    """Oversubscription: of the leaves, or of a pod's hosts over what leaves the pods upward; `under` is its inverse."""
    fabric, low = about.make(), re.search(r"agg|pod|spine|T1-T2|core", found.string, re.IGNORECASE)
    up = (fabric.tier[fabric.source] == 2) & (fabric.tier[fabric.target] == 3)
    if low:
        if not up.any():
            return _left_for_the_core(about, fabric)
        ratio = float(fabric.capacity[fabric.of_kind("access")].sum()) / 2 / float(fabric.capacity[up].sum())
    else:
        ratio = t.oversubscription(fabric)
    under = re.search("under", found.string, re.IGNORECASE)
    return Prediction(1 / ratio if under else ratio, "", f"capacities of {about.name}", DISTANCE)


def _left_for_the_core(about: Subject, fabric: Fabric) -> Prediction:
    """Where the core is not built: what enters a switch of the second tier over what its capacity leaves for above."""
    spine = np.flatnonzero(fabric.tier == 2)[:1]
    if "switch rate" not in about.known or not spine.size:
        raise Unanswerable(f"{about.name} as built ends at its second tier")
    below = float(fabric.capacity[fabric.leaving(int(spine[0]))].sum())
    ratio = below / (about.known["switch rate"] - below)
    return Prediction(ratio, "", f"{about.name}: all that its switches have left goes up", DISTANCE)


def _switch_ports(about: Subject, found: re.Match[str]) -> Prediction:
    way = re.search(r"\b(up|down)", found.string, re.IGNORECASE)
    return ports(about, found.string, way[1].lower() if way else "")


# A metric is tried on these in order; what none of them knows is a plain count or a share (`wording`).
_METRICS: tuple[tuple[str, Callable[[Subject, re.Match[str]], Prediction]], ...] = (
    (r"(?:switch|router)\w*[- ](?:to[- ])?(?:switch|router)\w* (?:hops|distance)|router hops", _walked("most", True)),
    (r"switch(?:es)? (?:hops|crossed|traversed)|switches (?:on|passed)", _walked("most")),
    (r"(?:router|switch)\w*.*diameter|diameter.*(?:router|switch)", _walked("most", switches=True)),
    (r"diameter|longest shortest path", _walked("most")),
    (r"(?:mean|average).*(?:router|switch)", _walked("mean", switches=True)),
    (r"(?:mean|average).*(?:distance|hops?|path)|^(?:path length|distance)$", _walked("mean")),
    (r"(?:shortest|equal[- ]cost|minimal|distinct)\s+paths?\b", _paths),
    (r"(?:switch|router)(?: (?:chip|asic))?.*(?:[TG]b(?:ps|/s|it/s)|capacity|bandwidth|throughput)", _switch_ports),
    (r"bisection.*bandwidth|bandwidth.*bisection", _bandwidth),
    (r"bisection", _bisection),
    (r"(?:all-?reduce|aggregate|total|nvlink|per).*bandwidth|bandwidth.*per", _bandwidth),
    (r"subscription|up-?links? to down-?links?", _ratio),
    (r"^(?:down|up)-?link ports?$", _switch_ports),
)  # fmt: skip

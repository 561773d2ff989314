"""Which fabric a published row is about: its topology and system columns, read for any parameters."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from netlib import hardware
from netlib import topology as t
from netlib.fidelity.prediction import Unanswerable
from netlib.links import Link
from netlib.topology import Fabric, clos3, dragonfly, dragonfly_plus, fat_tree, leaf_spine, nvl72, torus
from netlib.topology.named import hpn_pod, megascale, meta_24k, superpod

UNIT = Link(0.0, 1.0)  # capacities of 1, so that bytes/s count links
MOST_HOSTS = 70_000
MOST_PORTS = 2_000_000  # between the switches of a dragonfly
MOST_SIDE = 1_000  # a walk round a longer ring takes minutes
TPU_PODS = {"v4": (16, 16, 16), "v5p": (16, 20, 28), "v5e": (16, 16), "v6e": (16, 16)}


@dataclass(frozen=True)
class Subject:
    """What a row is about: how to build it, and numbers that its text or its maker's description adds.

    known      answers what a fabric cannot show (the trays of a rack), or what is too large to build, by closed form
    per_cable  how many of our cables one published cable holds
    alike      what looks the same from everywhere, so that one of them shows all distances: "host", "group" or nothing
    core       the same switches with one host each, where the whole has too many hosts to build
    """

    name: str
    make: Callable[[], Fabric]
    known: Mapping[str, float] = field(default_factory=dict)
    per_cable: int = 1
    alike: str = ""
    core: Callable[[], Fabric] | None = None


def subject(row: Mapping[str, str]) -> Subject:
    """The fabric of a row. Raises Unanswerable if its text names none that can be built.

    >>> subject({"topology": "fat-tree k=4"}).make().hosts.size
    16
    >>> subject({"topology": "torus 4x8"}).make().hosts.size
    32
    """
    text = " ".join(filter(None, ((row.get("topology") or "").strip(), (row.get("system") or "").strip())))
    for pattern, reader in _READERS:
        if found := re.search(pattern, text, re.IGNORECASE):
            return reader(found, text, _count(row.get("ranks")))
    raise Unanswerable(f"no fabric that these models build is named in {text[:40] or 'an empty topology'!r}")


def _fat_tree(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    k = int(found[1])
    _limit(k**3 // 4)
    return Subject(f"fat-tree k={k}", lambda: _built(fat_tree, k), alike="host")


def _dragonfly(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    a, p, h = (int(_parameter(text, name)) for name in "aph")
    name, groups = f"dragonfly p={p} a={a} h={h}", a * h + 1
    few = a * groups * (a + h) < MOST_PORTS
    if few and a * p * groups <= MOST_HOSTS:
        return Subject(name, lambda: _built(dragonfly, p, a, h), alike="group")
    known = {"hosts": float(t.dragonfly_hosts(p, a, h)), "groups": float(groups), "switches": float(a * groups)}
    core = (lambda: _built(dragonfly, 1, a, h)) if few else None
    return Subject(
        name, lambda: _refuse(f"{a * p * groups:,} hosts are not built in a report"), known, 1, "group", core
    )


def _plus(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    radix = int(found[1])
    hosts = float(t.dragonfly_plus_hosts(radix)) if radix >= 2 and radix % 2 == 0 else 0.0
    if hosts > MOST_HOSTS:
        groups = {"hosts": hosts, "groups": (radix // 2) ** 2 + 1.0}
        return Subject(f"dragonfly+ radix {radix}", lambda: _refuse("too many hosts to build"), groups)
    return Subject(f"dragonfly+ radix {radix}", lambda: _built(dragonfly_plus, radix))


def _torus(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    sides = tuple(int(side) for side in re.split("[x×]", found[1]))
    chips = 1
    for side in sides:
        chips *= side
    _limit(chips)
    if max(sides) > MOST_SIDE:
        _refuse(f"a side of {max(sides):,} is not walked in a report; up to {MOST_SIDE:,} is")
    wrap = "mesh" not in text.lower()
    name = f"{'torus' if wrap else 'mesh'} {found[1]}"
    return Subject(name, lambda: _built(torus, sides, wrap=wrap), _tpu(text), 1, "host" * wrap)


def _clos(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    """A Clos of so many tiers, radix and hosts, oversubscribed r:1 at the leaves if the text says so."""
    radix, stated = (
        re.search(r"radix[- ]?(\d+)|(\d+)[- ]port", text),
        re.search(r"(\d+)\s*(?:hosts|GPUs|endpoints)", text),
    )
    ratio = re.search(r"\b(\d+)\s*:\s*1\b", text)
    hosts = int(stated[1]) if stated else ranks
    if not (radix and hosts):
        raise Unanswerable("a Clos needs the radix of its switches and its hosts")
    _limit(hosts)
    ports, r = int(radix[1] or radix[2]), int(ratio[1]) if ratio else 1
    make = clos3 if found[1] == "3" else leaf_spine
    return Subject(f"Clos of {found[1]} tiers, radix {ports}, {hosts:,} hosts",
                   lambda: _built(make, hosts, ports, oversubscription=r))  # fmt: skip


def _cray_xc(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    """96 Aries routers in a group with 10 long ports each, and at least four cables for each pair of groups."""
    return Subject(
        "Cray XC", lambda: _refuse("nobody printed how the largest Cray XC is cabled"), {"groups": 96 * 10 / 4 + 1}
    )


def _tpu_pod(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    version = found[1].lower()
    if version not in TPU_PODS:
        raise Unanswerable(f"the shape of a TPU {version} pod is not known here")
    sides = TPU_PODS[version]
    cubes = {"ocs": 48.0, "ocs ports": 64.0 * 6 * 16} if version == "v4" else {}
    return Subject(f"TPU {version} pod", lambda: _built(torus, sides), {**_tpu(text), **cubes}, 1, "host")


def _tpu(text: str) -> dict[str, float]:
    """What one link carries, for a torus of TPUs; the registry knows."""
    found = re.search(r"\bTPU\s*(v\d\w?)", text, re.IGNORECASE)
    try:
        return {"link rate": hardware.bandwidth(f"ici-{found[1].lower()}")} if found else {}
    except ValueError:
        return {}


def _superpod(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    system = next((name for name in ("b300", "b200", "h200", "h100") if re.search(rf"\b{name}\b", text, re.I)), "")
    if not system:
        raise Unanswerable("a SuperPOD of DGX H100, H200, B200 or B300 can be built here, no other")
    kind = "b300" if system == "b300" else "b200"
    unit = {"b200": 256, "b300": 512}[kind]
    units = re.search(r"(\d+)\s*SU\b", text)
    if not units and (not ranks or ranks % unit):
        raise Unanswerable("neither scalable units nor whole units of GPUs are stated")
    count = int(units[1]) if units else (ranks or 0) // unit
    _limit(unit * count)
    return Subject(f"DGX SuperPOD {system.upper()}, {count} units", lambda: _built_named(superpod, count, kind),
                   per_cable=2 if kind == "b300" else 1)  # fmt: skip


def _named(make: Callable[[], Fabric], name: str, **known: float) -> Any:
    return lambda found, text, ranks: Subject(name, lambda: _built_named(make), known)


@cache
def _built(make: Callable[..., Fabric], *sizes: Any, **options: Any) -> Fabric:
    """A fabric with links of capacity 1. Raises Unanswerable for parameters that make none."""
    try:
        return make(*sizes, link=UNIT, **options)
    except ValueError as error:
        raise Unanswerable(str(error)) from None


@cache
def _built_named(make: Callable[..., Fabric], *sizes: Any) -> Fabric:
    try:
        return make(*sizes)
    except ValueError as error:
        raise Unanswerable(str(error)) from None


def _limit(hosts: int) -> None:
    if not 0 < hosts <= MOST_HOSTS:
        _refuse(f"{hosts:,} hosts are not built in a report; up to {MOST_HOSTS:,} are")


def _refuse(reason: str) -> Fabric:
    """In place of a fabric that is not built."""
    raise Unanswerable(reason)


def _parameter(text: str, name: str) -> str:
    found = re.search(rf"\b{name}\s*=\s*(\d+)", text)
    if not found:
        raise Unanswerable(f"a dragonfly needs a, p and h; {name} is not stated")
    return found[1]


def _count(text: str | None) -> int | None:
    cleaned = (text or "").replace(",", "").strip()
    return int(cleaned) if cleaned.isdecimal() and len(cleaned) < 10 else None


_READERS: tuple[tuple[str, Callable[[re.Match[str], str, int | None], Subject]], ...] = (
    (r"fat[- ]?tree\b.*?\bk\s*=?\s*(\d{1,4})\b", _fat_tree),
    (r"dragonfly\s*(?:\+|plus)\D*(\d{1,3})\b", _plus),
    (r"dragonfly\b(?=.*\ba\s*=)", _dragonfly),
    (r"\bCray XC\b", _cray_xc),
    (r"(?:Slingshot|Cray EX)", lambda found, text, ranks: _dragonfly(found, "a=32 p=16 h=17", ranks)),
    (r"(?:torus|mesh|TPU)\b.*?\b(\d+(?:[x×]\d+)+)\b", _torus),
    (r"\bTPU\s*(v\d\w?)\b.*\bpod\b", _tpu_pod),
    (r"SuperPOD", _superpod),
    (r"\b([23])[- ]tier\b(?=.*(?:radix|port))", _clos),
    (r"\bMeta\b.*24K", _named(meta_24k, "Meta 24K RoCE")),
    (r"\bHPN\b", _named(hpn_pod, "Alibaba HPN pod")),
    (r"\bMegaScale\b", _named(megascale, "MegaScale")),
    (r"\bG[BH]200\s*NVL72|\bNVL72\b", _named(nvl72, "NVL72", trays=9.0)),
)

"""Machines that rows call by name, each from `netlib.topology.named` or from what its maker prints."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from netlib import hardware
from netlib import topology as t
from netlib.fidelity.prediction import Unanswerable
from netlib.fidelity.subjects import SHAPE, Subject, built_named, dragonfly_of, limit, read_sides, refuse, torus_of
from netlib.topology import Fabric, nvl72
from netlib.topology.named import hpn_pod, megascale, meta_24k, superpod

TPU_PODS = {"v3": (32, 32), "v4": (16, 16, 16), "v5p": (16, 20, 28), "v5e": (16, 16), "v6e": (16, 16)}


def _slingshot(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    """64 ports: 16 endpoints, 31 to the rest of the group, 17 to others."""
    count = re.search(r"(\d+) groups", text)
    return dragonfly_of(32, 16, 17, int(count[1]) if count else None, bool(re.search(r"\bgroup\b", text)))


def _domain(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    """An NVLink domain of the registry."""
    id = f"dgx-{found[1].lower().replace('h200', 'h100').replace('b300', 'b200')}"
    try:
        t.nvlink_node(id)
    except ValueError:
        raise Unanswerable(f"the NVLink domain of {found[0]} is not known here") from None
    return Subject(found[0], lambda: _domain_of(id), {"nodes": 1.0})


@cache
def _domain_of(id: str) -> Fabric:
    return t.nvlink_node(id)


def _cray_xc(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    """96 Aries routers in a group with 10 long ports each, and at least four cables for each pair of groups."""
    return Subject(
        "Cray XC",
        lambda: refuse("nobody printed how the largest Cray XC is cabled"),
        {"groups": 96 * 10 / 4 + 1, "switches": 96 * (96 * 10 / 4 + 1), "global ports": 960 * (96 * 10 / 4 + 1)},
    )


def _tpu_pod(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    """A torus of the stated shape, or the whole pod."""
    version = found[1].lower().replace("v4p", "v4")
    shape = re.search(SHAPE, text)
    if not shape and version not in TPU_PODS:
        raise Unanswerable(f"the shape of a TPU {version} pod is not known here")
    sides = read_sides(shape[0]) if shape else TPU_PODS[version]
    known = {}
    if version == "v4" and sides == TPU_PODS["v4"]:
        known = {"ocs": 48.0, "ocs ports": 64.0 * 6 * 16, "optical cables": 64.0 * 6 * 16 / 2, "cubes": 64.0}
    return torus_of(sides, True, known | _link_rate(version), f"TPU {version} {shape[0] if shape else 'pod'}")


def _link_rate(version: str) -> dict[str, float]:
    """What one link of a TPU carries; the registry knows."""
    try:
        return {"link rate": hardware.bandwidth(f"ici-{version}")}
    except ValueError:
        return {}


def _superpod(found: re.Match[str], text: str, ranks: int | None) -> Subject:
    system = next((name for name in ("b300", "b200", "h200", "h100") if re.search(rf"\b{name}\b", text, re.I)), "")
    if not system:
        raise Unanswerable("a SuperPOD of DGX H100, H200, B200 or B300 can be built here, no other")
    kind = "b300" if system == "b300" else "b200"
    if kind == "b300" and re.search(r"\bXDR\b|InfiniBand|X800", text, re.IGNORECASE):
        kind = "b300-xdr"
    unit = {"b200": 256, "b300": 512, "b300-xdr": 576}[kind]
    units = re.search(r"(\d+)\s*SU\b", text)
    if not units and (not ranks or ranks % unit):
        raise Unanswerable("neither scalable units nor whole units of GPUs are stated")
    count = int(units[1]) if units else (ranks or 0) // unit
    limit(unit * count)
    return Subject(f"DGX SuperPOD {system.upper()}, {count} units", lambda: built_named(superpod, count, kind),
                   {"units": float(count)}, per_cable=2 if kind == "b300" else 1)  # fmt: skip


def _named(make: Callable[[], Fabric], name: str, **known: float) -> Any:
    return lambda found, text, ranks: Subject(name, lambda: built_named(make), known)


MACHINES: tuple[tuple[str, Callable[[re.Match[str], str, int | None], Subject]], ...] = (
    (r"\bCray XC\b", _cray_xc),
    (r"(?:Slingshot|Cray EX)", _slingshot),
    (r"SuperPOD", _superpod),
    (r"\bMeta\b.*24[K,\d]", _named(meta_24k, "Meta 24K RoCE", racks=1536.0)),
    (r"\bHPN\b", _named(hpn_pod, "Alibaba HPN pod", **{"switch rate": 51.2e12 / 8})),
    (r"\bMegaScale\b", _named(megascale, "MegaScale")),
    (r"\bNVL72\b", _named(nvl72, "NVL72", trays=9.0, cpus=36.0, racks=1.0, nodes=18.0, **{"compute trays": 18.0})),
    (r"\bTPU\s*(v\d\w?)\b", _tpu_pod),
    (r"\b(?:HGX|DGX)[- ]([ABH]\d00)\b", _domain),
)
"""How a machine's name is spelt, and what reads the rest of its text."""

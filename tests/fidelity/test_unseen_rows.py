"""Rows that nobody gave us, in other words and units: each value by a formula written here, or a reason."""

import json
import math
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.fidelity import judge, published_rows
from netlib.fidelity.models_topology import predict_topology
from netlib.fidelity.prediction import Unanswerable
from netlib.fidelity.wording import counted, fold

ROWS = published_rows()


def judged(topology, metric, value="1", unit="", **more):
    row = {"id": "x", "topology": topology, "metric": metric, "value": str(value), "unit": unit}
    return judge([row | more])[0]


def hits(topology, metric, value, unit="", **more):
    found = judged(topology, metric, value, unit, **more)
    assert found.ok, (topology, metric, value, found.model, found.note)


def ring_mean(n):
    """Mean distance on a ring of n, oneself included."""
    return sum(min(i, n - i) for i in range(n)) / n


TREES = (
    "fat-tree k={}",
    "{}-ary fat-tree",
    "k={} fat tree",
    "fat tree, radix {}",
    "3-tier fat-tree of {}-port switches",
)


@pytest.mark.parametrize("k", [6, 8, 48])
def test_fat_trees(k):
    n, pod = k**3 // 4, k * k // 4
    wanted = {
        "total switches": 5 * pod, "number of core switches": pod, "aggregation switch count": 2 * pod,
        "edge switches": 2 * pod, "max hosts": n, "servers": n, "pods": k, "hosts per pod": pod,
        "switches per pod": k, "aggregation switches in each pod": k // 2, "hosts per edge switch": k // 2,
        "edge-aggregation links": n, "core-aggregation links": n, "switch-to-switch links": 2 * n,
        "cables in total": 3 * n, "transceivers (all optical)": 6 * n, "transceivers per host": 6, "switch radix": k,
        "bisection links": n // 2,
        "equal-cost paths between pods": pod, "switches on the longest path": 5, "tiers": 3,
    }  # fmt: skip
    for (metric, value), spelling in zip(wanted.items(), TREES * 5, strict=False):
        hits(spelling.format(k), metric, value)
    mean = (2 * (k // 2 - 1) + 4 * (pod - k // 2) + 6 * (n - pod)) / (n - 1)
    hits(TREES[0].format(k), "mean host-host distance (links)", mean)


@pytest.mark.parametrize(
    ("sides", "spelling"),
    [
        ((8, 8, 8), "8 x 8 x 8 torus"), ((32, 32), "2D torus (32, 32)"), ((8, 8, 16), "torus 8x8x16"),
        ((16, 16, 16), "torus 16^3"), ((4, 4, 4), "4-ary 3-cube"), ((5, 6), "torus 5×6"), ((2,) * 6, "hypercube d=6"),
        ((2, 20_000), "torus 2x20000"),
    ],
)  # fmt: skip
def test_tori(sides, spelling):
    n = math.prod(sides)
    hits(spelling, "nodes", n)
    hits(spelling, "diameter", sum(side // 2 for side in sides))
    hits(spelling, "mean distance", sum(map(ring_mean, sides)) * n / (n - 1))
    if n < 10_000:
        hits(spelling, "mean distance including self", sum(map(ring_mean, sides)))
    hits(spelling, "links per node", sum(1 if side == 2 else 2 for side in sides))


@pytest.mark.parametrize(("a", "p", "h"), [(4, 2, 2), (6, 3, 3), (32, 16, 16)])
def test_dragonflies(a, p, h):
    g = a * h + 1
    about = f"dragonfly (p={p}, a={a}, h={h})"
    wanted = {
        "routers": a * g, "groups": g, "hosts": a * p * g, "endpoints per group": a * p, "routers per group": a,
        "router radix": p + a - 1 + h, "global links": g * a * h // 2, "local links": g * a * (a - 1) // 2,
        "terminal links": a * p * g, "global links per group": a * h, "router diameter": 3,
    }  # fmt: skip
    for metric, value in wanted.items():
        hits(about, metric, value)


def test_dragonflies_by_radix_and_by_groups():
    hits("balanced dragonfly, radix 64", "max hosts", 16 * 32 * 513)
    hits("dragonfly a=4 p=2 h=2, 5 groups", "hosts", 40)
    hits("HPE Slingshot", "max endpoints", 545 * 512)
    hits("HPE Slingshot, 544 groups", "endpoints", 278_528)
    hits("HPE Slingshot", "global ports per switch", 17)
    hits("HPE Slingshot", "ports per switch", 64)
    hits("Cray EX dragonfly group", "switches", 32)
    hits("Cray EX dragonfly group", "intra-group ports", 32 * 31)
    hits("Cray XC dragonfly", "routers per group", 96)
    hits("dragonfly plus, 36-port switches", "switches", 36 * (18**2 + 1))
    hits("Dragonfly+ (radix 16)", "hosts per group", 64)
    assert "does not say" in judged("HPE Slingshot", "intra-group ports").note


@pytest.mark.parametrize(
    "name", ["DGX SuperPOD H100 {} SU", "DGX SuperPOD, DGX B200, {} scalable units", "SuperPOD H200 {}SUs"]
)
def test_superpods(name):
    for units, cores in ((2, 0), (64, 256)):
        n = 256 * units
        wanted = {
            "nodes": 32 * units, "DGX systems": 32 * units, "GPUs per SU": 256, "nodes per SU": 32,
            "core switches": cores,
            "spine-core cables": n * bool(cores), "compute node-leaf cable count": n, "tiers": 2 + bool(cores),
            "total cables": n * (2 + bool(cores)), "GPUs per node": 8, "InfiniBand leaf switches": n // 32,
        }  # fmt: skip
        for metric, value in wanted.items():
            hits(name.format(units), metric, value)


def test_the_two_superpods_of_b300():
    hits("DGX SuperPOD B300 4SU", "spine switches", 32)
    hits("DGX SuperPOD B300 with Quantum-X800 InfiniBand, 4 SU", "spine switches", 18)
    hits("DGX SuperPOD B300 4SU", "nodes", 256)
    hits("DGX SuperPOD B300 4SU", "planes", 2)


@pytest.mark.parametrize(
    ("about", "metric", "value", "unit"),
    [
        ("GB200 NVL72", "NVSwitch chips", 18, ""),
        ("NVIDIA GB300 NVL72", "NVLinks per GPU", 18, ""),
        ("GB200 NVL72", "links", 1296, ""),
        ("GB200 NVL72", "ports per NVSwitch", 72, ""),
        ("GB200 NVL72 rack", "compute trays", 18, ""),
        ("GB200 NVL72", "NVLink bandwidth per GPU", 1.8, "TB/s"),
        ("GB200 NVL72", "NVLink bandwidth per GPU, one way", 900, "GB/s"),
        ("GB200 NVL72", "aggregate NVLink bandwidth, one way", 64.8, "TB/s"),
        ("HGX H100", "NVSwitches", 4, ""),
        ("HGX H100 8-GPU", "bisection bandwidth", 3.6, "TB/s"),
        ("DGX A100", "aggregate NVLink bandwidth", 4.8, "TB/s"),
        ("Alibaba HPN pod", "aggregation switches per plane", 60, ""),
        ("Alibaba HPN pod", "ToR switches per segment", 16, ""),
        ("Alibaba HPN pod", "servers per segment", 128, ""),
        ("Alibaba HPN pod", "uplinks per ToR", 60, ""),
        ("Alibaba HPN pod", "switch chip Tbps", 51.2, ""),
        ("Alibaba HPN pod", "aggregation-core oversubscription", 15, ""),
        ("Alibaba HPN pod", "ToR oversubscription", 16 / 15, ""),
        ("MegaScale 10K+ GPU", "servers", 1536, ""),
        ("MegaScale 10K+ GPU", "NICs per GPU", 1, ""),
        ("MegaScale 10K+ GPU", "GPUs per ToR set", 512, ""),
        ("MegaScale 10K+ GPU", "switch capacity", 25.6, "Tbit/s"),
        ("Meta 24K GPU RoCE", "servers per rack", 2, ""),
        ("Meta 24K GPU RoCE", "GPUs per server", 8, ""),
        ("Meta 24K GPU RoCE", "racks", 1536, ""),
        ("TPU v4 pod", "optical links", 3072, ""),
        ("TPU v4 pod: torus 16x16x16", "number of OCSes", 48, ""),
        ("TPU v4 pod", "chips per cube", 64, ""),
        ("TPU v4 pod", "links per chip", 6, ""),
        ("TPU v5e pod", "bisection bandwidth per pod", 1.6, "TB/s"),
        ("TPU v6e pod", "all-reduce bandwidth per pod", 102.4, "TB/s"),
        ("two-tier Clos, radix 64", "max hosts", 2048, ""),
        ("4-tier Clos of 64-port switches", "max hosts", 2 * 32**4, ""),
        ("3-tier Clos of 128-port switches", "switch hops", 5, ""),
        ("leaf-spine, 64-port switches, 1,024 GPUs", "spine switches", 16, ""),
        ("3-tier Clos radix 64, 16K GPUs", "switches", 1280, ""),
        ("2-tier dual-plane Clos, radix 32, 512 hosts", "switches", 96, ""),
        ("rail-optimised, 128 nodes of 8 GPUs, radix 64", "leaf switches", 32, ""),
        ("rail-only, 128 servers of 8 GPUs, 128-port switches", "switches", 8, ""),
        ("100k GPUs, three tiers", "optical modules", 600_000, ""),
        ("two-tier Clos", "transceivers per GPU", 4, ""),
        ("3-tier Clos radix 64, 65,536 GPUs", "transceivers per GPU", 6, ""),
        ("32,768 GPUs, three tiers, 14 W per transceiver", "optics power per GPU", 84, "W"),
        ("fat-tree k=16, 10 W optics", "power of optics", 61.44, "kW"),
        ("fat-tree k=16, 10 W optics", "optics power per host", 60, "W"),
        ("ECMP 1,024 flows on 64 uplinks", "mean load", 16, ""),
        ("ECMP 64 flows on 16 uplinks", "expected max load", 7.880, ""),
        ("64 elephant flows hashed onto 16 equal-cost links", "expected max load", 7.880, ""),
        ("ECMP 16 flows on 16 uplinks", "expected number of idle uplinks", 16 * (15 / 16) ** 16, ""),
        ("ECMP 16 flows on 16 uplinks", "idle uplinks", 100 * (15 / 16) ** 16, "%"),
    ],
)
def test_machines_optics_and_hashes(about, metric, value, unit):
    hits(about, metric, value, unit)


@pytest.mark.parametrize(("flows", "links"), [(2, 2), (3, 2), (4, 3), (5, 4), (2, 6)])
def test_hashes_against_all_outcomes(flows, links):
    loads = [np.bincount(way, minlength=links) for way in product(range(links), repeat=flows)]
    about = f"ECMP: {flows} flows over {links} paths"
    hits(about, "expected max load", np.mean([load.max() for load in loads]))
    hits(about, "mean idle links", np.mean([(load == 0).mean() for load in loads]))
    hits(about, "expected number of links used", np.mean([(load > 0).sum() for load in loads]))


def test_permutations_in_other_words():
    hits("k=8 fat-tree with per-flow ECMP hashing", "mean of worst flow", 0.24)
    hits("fat-tree k=16, ECMP with 8 queue pairs per connection", "equal-split goodput mean", 0.58)
    hits("fat-tree k=16 ECMP, 16 QPs per flow", "mean sum of rates", 0.92)
    hits("fat-tree k=16", "equal-split goodput mean, ECMP with 2 QPs", 46.8, "%")
    assert judged("fat-tree k=16 ECMP", "mean rate", 0.427 + 0.019).ok
    assert not judged("fat-tree k=16 ECMP", "mean rate", 0.427 + 0.03).ok


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("NDR InfiniBand ib_write_bw", 392, "Gbit/s"),
        ("ConnectX-8 800G ib_write_bw", 97, "GB/s"),
        ("HDR RDMA write", 24.5, "GB/s"),
    ],
)
def test_cards_by_name(text, value, unit):
    hits("", "throughput", value, unit, system=text, collective="p2p")


def test_copies():
    row = {"gpu": "H100", "nodes": "1", "ranks": "2", "collective": "p2p", "scaleup_GBps_per_dir": "450"}
    hits("nvswitch", "unidirectional bandwidth", 376, "GB/s", **row)
    hits("nvswitch", "bidir_bw", 752, "GB/s", **row)
    assert "PCIe" in judged("PCIe 5.0 x16", "unidir_bw", 53, "GB/s", **row).note


@pytest.mark.parametrize(
    ("about", "metric", "why"),
    [
        ("fat-tree k=8", "red switches", "no model answers"),
        ("fat-tree k=8", "switches per colour", "no model answers"),
        ("DGX SuperPOD B200 4SU", "compute + storage cables", "no model answers"),
        ("TPU v4 pod", "OCS ports per switch", "has no switches"),
        ("Slingshot", "cables", "not built in a report"),
        ("fat-tree k=1024 ECMP", "mean rate", "too many to simulate"),
        ("fat-tree k=16 ECMP with packet spraying", "mean rate", "only plain ECMP"),
        ("ECMP 8 flows on 8 uplinks", "collision probability", "chance of a collision"),
        ("mesh 200x300", "mean distance", "not walked in a report"),
        ("dragonfly a=263 p=1 h=1", "mean router distance", "not walked in a report"),
        (f"dragonfly a={10**400} p=1 h=1", "hosts", "more than 12 digits"),
        ("6-tier Clos radix 64", "max hosts", "no fabric"),
        ("4-tier Clos radix 64, 2,048 hosts", "switches", "2 and 3 are"),
        ("leaf-spine radix 64 3:1", "switches", "needs its hosts"),
        ("3-tier Clos radix 7", "max hosts", "must be even"),
        ("dragonfly+ radix 501", "hosts", "must be even"),
        ("rail-optimised radix 64", "leaf switches", "needs its nodes"),
        ("DGX V100", "NVSwitches", "no fabric"),
        ("147456 modules x 9e99 W", "power", "watts of a module"),
        ("2-tier Clos radix 64", "bisection bandwidth", "rate of a link"),
        ("2-tier Clos radix 64", "switch capacity", "rate of a link"),
        ("DGX SuperPOD B200 4SU", "aggregate bandwidth", "no model answers"),
        ("torus 1x1", "equal-cost paths", "same host|rank of a host|single"),
    ],
)
def test_hostile_and_foreign_rows_get_a_reason_at_once(about, metric, why):
    start = time.process_time()
    with pytest.raises(Unanswerable, match=why):
        predict_topology({"topology": about, "metric": metric})
    assert time.process_time() - start < 20  # none of them may hang


TEXT = (
    "fat-tree k=4 torus 4x4 mesh dragonfly a=4 p=2 h=2 dragonfly+ radix 8 SuperPOD B200 2SU TPU v4 pod NVL72 "
    "HPN 2-tier Clos 64-port 128 hosts per GPU switch ports bisection bandwidth links mean distance "
    "diameter up down / ECMP "
    "4 flows on 2 uplinks QPs transceivers power 9 W each group paths of nodes rail-optimised oversubscription number %"
)
WORDS = st.sampled_from(TEXT.split())


@given(st.lists(WORDS, max_size=7), st.lists(WORDS, min_size=1, max_size=5))
@settings(max_examples=150, deadline=None)
def test_any_words_in_any_order_get_a_value_or_a_reason(about, metric):
    found = judged(" ".join(about), " ".join(metric))
    assert found.note
    assert found.model is None or np.isfinite(found.model)
    json.dumps(found.model, allow_nan=False)


def test_predictions_do_not_look_at_values_notes_or_sources():
    """Shuffled over all rows, the columns that hold answers change no prediction."""
    order = np.random.default_rng(3).permutation(len(ROWS))
    hidden = ("value", "note", "source_title", "source_locator", "confidence")
    mixed = [{**row, **{name: ROWS[j][name] for name in hidden}} for row, j in zip(ROWS, order, strict=True)]
    assert [row.model for row in judge(mixed)] == [row.model for row in judge(ROWS)]


def test_more_cases_of_optics_and_names():
    hits("100 modules of 15 W, 50 GPUs", "power per GPU", 30, "W")
    hits("100 modules of 15 W", "transceivers", 100)
    assert judged("100 modules of 15 W", "power per GPU", 30, "W").ok is None
    assert "no fabric" in judged("600 modules of 30 W", "power ratio").note
    assert "not known here" in judged("DGX H900", "NVSwitches").note
    assert "leaves" not in judged("SuperPOD B200 2SU", "core switches per core switch").note
    assert "has no tier 3 switches" in judged("SuperPOD B200 2SU", "leaf switches per core switch").note
    hits("dragonfly+ radix 8", "leaf switches per group", 4)


def test_wording():
    assert fold("65,536 GPUs and 24,576") == "65536 GPUs and 24576"
    assert fold("100K GPUs, 16k hosts") == "100000 GPUs, 16384 hosts"
    assert counted("total number of leaf switches") == "tier 1 switches"
    assert counted("spine-to-core links") == counted("core-spine cables") == "cables 2-3"
    assert counted("switches of unknown make") is None

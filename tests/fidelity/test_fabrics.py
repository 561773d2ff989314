"""Fabrics beside published values: any parameters are read, and what cannot be answered says why."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.fidelity import judge
from netlib.fidelity.models_topology import predict_topology
from netlib.fidelity.prediction import Unanswerable


def value(topology, metric, **more):
    return predict_topology({"topology": topology, "metric": metric, **more}).value


@given(st.sampled_from([4, 6, 8, 10, 12]), st.sampled_from(["fat-tree k={}", "Fat tree, k = {}", "fattree k={}"]))
def test_fat_trees_of_any_size_and_spelling(k, spelling):
    about = spelling.format(k)
    assert value(about, "hosts") == value(about, "number of GPUs") == k**3 // 4
    assert value(about, "switches") == 5 * k * k // 4
    assert value(about, "edge switches") == k * k // 2
    assert value(about, "cables") == 3 * k**3 // 4
    assert value(about, "host-host diameter (links)") == 6
    assert value(about, "bisection (links, max-flow)") == k**3 // 8
    assert value(about, "hosts per pod") == k * k // 4


@given(st.integers(1, 3), st.integers(2, 5), st.integers(1, 3))
@settings(max_examples=20)
def test_dragonflies_of_any_size(p, a, h):
    about = f"dragonfly h={h} a={a} p={p}"
    assert value(about, "groups") == a * h + 1
    assert value(about, "hosts") == a * p * (a * h + 1)
    assert value(about, "router diameter") <= 3
    assert value(about, "mean router distance") <= value(about, "router diameter")
    assert value(about, "endpoints per group") == a * p


def test_what_is_too_large_to_build_is_known_by_closed_form():
    about = "dragonfly a=32 p=16 h=16"
    assert (value(about, "hosts"), value(about, "groups"), value(about, "switches")) == (262_656, 513, 16_416)
    assert value("Cray EX dragonfly group", "endpoints per group") == 512
    assert value("HPE Slingshot", "max groups") == 545
    assert value("Cray XC dragonfly", "max groups") == 241
    assert value("dragonfly+ radix 64", "max hosts") == 1_049_600
    with pytest.raises(Unanswerable, match="hosts are not built in a report"):
        value(about, "cables")
    with pytest.raises(Unanswerable, match="hosts are not built in a report"):
        value("fat-tree k=128", "hosts")
    with pytest.raises(Unanswerable, match="too many hosts to build"):
        value("dragonfly+ radix 64", "diameter")


def test_tori_meshes_and_pods():
    assert value("torus 4x8", "mean distance") == pytest.approx(32 / 31 * 3)
    assert value("torus 4×8", "bisection links") == 8
    assert value("mesh 4x4", "diameter") == 6
    assert value("mesh 4x4", "mean distance") == pytest.approx(8 / 3)
    assert value("TPU v4 pod", "bisection bandwidth per pod") == 512 * 45e9
    assert value("TPU v5p pod", "chips") == 8960
    assert value("dragonfly+ radix 8", "max hosts") == 272
    assert value("dragonfly+ radix 8", "mean switch distance") > 2
    with pytest.raises(Unanswerable, match="the shape of a TPU v9 pod is not known"):
        value("TPU v9 pod", "chips")
    with pytest.raises(Unanswerable, match="rate of a link is not stated"):
        value("torus 4x4", "bisection bandwidth")
    with pytest.raises(Unanswerable, match="rate of a link is not stated"):
        value("TPU v9 torus 4x4", "all-reduce bandwidth")


def test_superpods_by_units_or_by_gpus():
    assert value("DGX SuperPOD H100 3SU", "spine switches") == 16
    assert value("DGX SuperPOD B200", "core switches", ranks="4,096") == 64
    assert value("DGX SuperPOD B300 4SU", "leaf-spine cables") == 2048
    for about, why in (("DGX SuperPOD B200", "neither scalable units"), ("DGX SuperPOD GB200 2SU", "no other")):
        with pytest.raises(Unanswerable, match=why):
            value(about, "leaf switches")


def test_clos_of_any_radix():
    assert value("2-tier Clos radix 64, 2048 hosts", "switches") == 96
    assert value("3-tier Clos of 64-port switches", "switches", ranks="4096") == 320
    assert value("2-tier leaf-spine radix 64 3:1, 480 hosts", "leaf oversubscription") == pytest.approx(3)
    with pytest.raises(Unanswerable, match="do not fit"):
        value("2-tier Clos radix 64, 4096 hosts", "switches")
    assert value("2-tier Clos radix 64", "switches") == 96  # the largest
    with pytest.raises(Unanswerable, match="no fabric"):
        value("2-tier Clos", "switches")


def test_hashed_flows():
    assert value("ECMP 8 flows on 8 uplinks", "share of links used") == pytest.approx(0.656, abs=0.001)
    assert value("ECMP 8 flows on 8 uplinks", "idle links") == pytest.approx(0.344, abs=0.001)
    assert value("ECMP 64 flows over 8 links", "speed") == pytest.approx(0.654, abs=0.001)
    assert value("ECMP 64 flows over 8 links", "hottest to mean") == pytest.approx(1.529, abs=0.001)
    assert value("fat-tree k=4 ECMP, 4 QPs/flow", "sum-rate mean") > value("fat-tree k=4 ECMP", "mean rate")
    assert value("fat-tree k=4 ECMP", "slowest flow") < 0.5
    for about, metric, why in (
        ("ECMP 8 flows on 8 uplinks", "colour", "no model answers 'colour' of hashed flows"),
        ("ECMP 8 flows on 0 uplinks", "expected max load", "links = 0"),
        ("ECMP somewhere", "mean rate", "need a fat-tree"),
        ("fat-tree k=4 ECMP", "colour", "no model answers 'colour'"),
        ("fat-tree k=5 ECMP", "mean rate", "k = 5 must be even"),
        ("fat-tree k=2 ECMP", "mean rate", "too few hosts"),
        ("fat-tree k=96 ECMP", "mean rate", "too many to simulate"),
        ("fat-tree k=4 ECMP, 9000 QPs/flow", "mean rate", "9000 queue pairs a flow are not simulated"),
    ):
        with pytest.raises(Unanswerable, match=why):
            value(about, metric)


def test_optics():
    assert value("24,576 GPUs, 3 tiers, 16 W a module", "transceiver power") == 24_576 * 6 * 16
    assert value("24,576 GPUs, 3 tiers", "transceivers") == 147_456
    assert value("100 modules of 15 W", "power of modules") == 1500
    with pytest.raises(Unanswerable, match="watts of a module are not stated"):
        value("24,576 GPUs, 3 tiers", "power of transceivers")
    with pytest.raises(Unanswerable, match="no fabric that these models build"):
        value("some optics", "flaps")


@pytest.mark.parametrize(
    ("about", "metric", "why"),
    [
        ("fat-tree k=4", "", "no metric is named"),
        ("", "hosts", "no fabric .* 'an empty topology'"),
        ("Meta RoCE", "all-reduce gain", "a comparison of measured jobs"),
        ("fat-tree k=4", "cost per GPU", "needs prices"),
        ("rail-only", "power reduction max", "powers that its authors assumed"),
        ("fat-tree k=4", "colour", "no model answers 'colour' of a fabric"),
        ("fat-tree k=3", "hosts", "k = 3 must be even"),
        ("fat-tree k=4", "trays", "fat-tree k=4 has no trays"),
        ("dragonfly a=4 p=2", "hosts", "h is not stated"),
        ("torus 4x4", "oversubscription", "has no links"),
        ("DGX SuperPOD B200 4SU", "aggregation oversubscription", "ends at its second tier"),
        ("Cray XC", "hosts", "nobody printed"),
    ],
)
def test_a_reason_is_always_given(about, metric, why):
    with pytest.raises(Unanswerable, match=why):
        value(about, metric)


def test_counts_are_exact_and_zero_is_a_count():
    row = {"id": "x", "topology": "fat-tree k=4", "metric": "hosts", "unit": "", "value": "16"}
    assert judge([row])[0].ok is True
    assert judge([{**row, "value": "17"}])[0].ok is False
    none = {**row, "topology": "DGX SuperPOD B200 2SU", "metric": "core switches", "value": "0"}
    assert judge([none])[0].ok is True
    wrong = judge([{**none, "topology": "DGX SuperPOD B200 16SU"}])[0]
    assert (wrong.ok, wrong.rel_error) == (False, 64.0)
    assert judge([{**row, "metric": "diameter", "value": "0"}])[0].ok is None


def test_one_card():
    row = {"id": "x", "nodes": "2", "nics_per_node": "8", "nic_gbps": "400", "ranks": "2"}
    row |= {"collective": "p2p", "metric": "throughput", "value": "388", "unit": "Gbit/s"}
    (judged,) = judge([row])
    assert judged.model == pytest.approx(384)
    assert judged.ok


@pytest.mark.parametrize(
    ("topology", "metric"),
    [
        ("torus 1x1", "bisection"),
        ("torus 1x1", "aggregate bandwidth"),
        ("torus 3x3x3", "ports per switch"),
        ("dragonfly a=1 p=70000 h=0", "mean distance"),
        ("dragonfly a=2000 p=0 h=9", "hosts"),
        ("dragonfly a=99999999999 p=9 h=9", "diameter"),
        ("fat-tree " * 20_000, "diameter"),
        ("9" * 100_000 + " flows, ECMP", "max load"),
        ("100 GPUs, 2 tiers, optics", "power " + "x" * 10_000),
        ("100 GPUs, 2 tiers, optics of 1.2. W", "power"),
        ("2-tier radix 999999998, 70000 hosts", "diameter"),
        ("SuperPOD B200 0 SU", "spines"),
    ],
)
def test_a_hostile_row_is_unanswerable_at_once(topology, metric) -> None:
    with pytest.raises(Unanswerable):
        predict_topology({"topology": topology, "metric": metric})

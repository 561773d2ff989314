"""The explorers of the scale-up chapter: the numbers a reader finds there, and the states that fail."""

from importlib import import_module

import numpy as np
import pytest

from netlib.course.exercises import load
from netlib.course.explorer import find, state
from netlib.fidelity.cite import published
from netlib.hardware import bandwidth
from netlib.topology import affinity, nvl72, what_remains
from netlib.units import GB

node_map, nvl72_anatomy = (import_module(f"netlib.course.explorers.{name}") for name in ("node_map", "nvl72_anatomy"))

# ---- bandwidth-ladder


def test_the_ladder_in_one_convention():
    found = state("bandwidth-ladder")
    assert found["ratio"] == pytest.approx(14.282, rel=1e-4)
    assert state("bandwidth-ladder", under="400G NIC")["ratio"] == pytest.approx(18)
    assert state("bandwidth-ladder", count="both ways")["ratio"] == pytest.approx(14.282, rel=1e-4)
    bars = np.nanmax([found[kind] for kind in ("NVLink", "NIC", "PCIe")], axis=0)
    assert bars / GB == pytest.approx([900, 450, 300, 100, 63.015, 50], rel=1e-4)
    assert (np.diff(bars) < 0).all(), "the fastest first"
    assert not found["failure"]


def test_as_printed_makes_the_28():
    found = state("bandwidth-ladder", count="as printed")
    assert found["ratio"] == pytest.approx(28.565, rel=1e-4)
    assert "the ratio is 14.3, not 28.6" in found["failure"]


def test_measured_copies_lie_below_their_links():
    found = state("bandwidth-ladder")
    bars = np.nanmax([found[kind] for kind in ("NVLink", "NIC", "PCIe")], axis=0)
    places = np.array(find("bandwidth-ladder")().elements[-1].x, int)
    share = np.array(found["copy measured"]) / bars[places]
    assert (share > 0.8).all()
    assert (share < 0.95).all()


# ---- nvl72-anatomy


def test_the_rack_has_what_the_exercise_counts():
    found, answer = state("nvl72-anatomy"), load("nvl72-01").answer()
    assert (found["links"], found["pairs"]) == (answer["links"], answer["pairs"])
    assert found["both"] == pytest.approx(answer["total"])
    assert found["one_way"] == pytest.approx(answer["one_way"])
    assert found["bisection"] == pytest.approx(answer["bisection"])
    assert len(found["load"]) == 6 * 9
    assert not found["failure"]


@pytest.mark.parametrize("dead", [1, 2, 4])
def test_a_dead_tray_slows_everybody_as_the_graph_says(dead):
    found = state("nvl72-anatomy", dead=dead)
    rack = nvl72()
    left = what_remains(rack, rack.without(vertices=rack.switches[: 2 * dead]))
    assert found["rate"] / bandwidth("nvlink5") == pytest.approx(left.access)
    assert found["bisection"] / 32.4e12 == pytest.approx(left.bisection)
    assert left.hosts == 72
    assert np.isnan(found["load"]).sum() == 6 * dead
    assert "none is cut off" in found["failure"]


def test_spare_capacity_hides_a_dead_tray():
    found = state("nvl72-anatomy", dead=2, ask=0.75, gpus=36)
    assert not found["failure"]
    assert found["rate"] == pytest.approx(0.75 * 900e9)
    assert sorted({round(v, 6) for v in found["load"] if v == v}) == [0.0, round(0.75 * 18 / 14, 6)]


def test_every_cable_of_the_rack_is_drawn():
    assert nvl72_anatomy.FABRIC.cables == nvl72().cables
    (drawn,) = find("nvl72-anatomy")().elements
    assert np.sum(drawn.width) == pytest.approx(nvl72().cables * bandwidth("nvlink5-link"))


# ---- bytes-in-flight


def test_bytes_in_flight_fill_the_link():
    found, answer = state("bytes-in-flight"), load("flight-01").answer()
    assert found["want"] == pytest.approx(answer["h100"])
    assert found["least"] == answer["loads"]
    assert state("bytes-in-flight", loads=1)["got"] == pytest.approx(answer["alone"])
    assert state("bytes-in-flight", link="NVLink 5")["want"] == pytest.approx(answer["b200"])
    at = np.interp(np.log(found["want"]), np.log(found["x"]), found["the link carries"])
    assert at == pytest.approx(450e9, rel=0.05)


def test_too_few_loads_leave_the_link_idle():
    assert "70.9% of the link is idle: 3,516" in state("bytes-in-flight")["failure"]
    assert not state("bytes-in-flight", loads=4096)["failure"]


# ---- nvls-bound


@pytest.mark.parametrize(("ranks", "bound"), [(2, 2 / 3), (3, 1), (8, 14 / 9), (39, 1.9), (72, 142 / 73)])
def test_the_bound_of_an_adding_switch(ranks, bound):
    found = state("nvls-bound", ranks=ranks)
    assert found["bound"] == pytest.approx(bound)
    assert bool(found["failure"]) is (ranks <= 3)


def test_the_measured_gains_are_the_published_rows():
    found = state("nvls-bound")
    assert found["measured"] == pytest.approx(published("NVLS-009") / published("NVLS-010"))
    assert found["ring_used"] == pytest.approx(365.6 / 450)
    assert found["switch_used"] == pytest.approx(473.1 / 450 / (14 / 9))
    rack = state("nvls-bound", kind="GB200 NVL72")
    assert rack["measured"] == pytest.approx(1.25)
    assert np.nansum(rack["ring measured"]) == pytest.approx(680 / 900)


@pytest.mark.parametrize("kind", ["8 H200", "8 B200", "GB200 NVL72"])
def test_no_measurement_beats_its_bound(kind):
    found = find("nvls-bound")(kind=kind)
    lines = {e.name: e for e in found.elements[:4]}
    for line, points in (("switch adds", "switch measured"), ("ring", "ring measured")):
        x, y = np.asarray(lines[points].x), np.asarray(lines[points].y)
        seen = np.isfinite(y)
        assert (y[seen] < np.interp(x[seen], lines[line].x, lines[line].y)).all()


# ---- tp-share


def test_the_price_of_tensor_parallelism():
    answer = load("tp-01").answer()
    assert state("tp-share")["share"] == pytest.approx(answer["nvlink"])
    nic = state("tp-share", link="400G NIC")
    assert nic["share"] == pytest.approx(answer["nic"])
    assert nic["quarter"] == pytest.approx(answer["rate"])
    assert "58% of the step" in nic["failure"]
    assert not state("tp-share", link="two 800G NICs", tp=4)["failure"]


def test_tokens_move_nothing_and_ranks_do():
    share = [state("tp-share", tokens=t)["share"] for t in (1024, 8192, 65536)]
    assert share == pytest.approx([share[0]] * 3)
    wider = [state("tp-share", tp=t)["share"] for t in (2, 4, 8, 16, 32)]
    assert (np.diff(wider) > 0).all()


# ---- moe-domain


def test_a_dispatch_in_domains_of_8_and_72():
    found, answer = state("moe-domain"), load("moe-01").answer()
    assert found["time"] == pytest.approx(answer["domain8"])
    assert found["rack"] == pytest.approx(answer["domain72"])
    assert found["ratio"] == pytest.approx(16)
    assert "88% of the bytes wait for the NIC" in found["failure"]
    assert not state("moe-domain", domain=72)["failure"]


def test_deepep_takes_longer_than_the_bytes():
    found = state("moe-domain", tokens=128, domain=8)
    figure = find("moe-domain")(tokens=128, domain=8)
    points = figure.elements[3]
    model = np.interp(points.x, found["x"], found["domain chosen"])
    assert (np.asarray(points.y) > model).all()
    assert np.asarray(points.y)[0] == pytest.approx(77e-6)
    assert np.isnan(state("moe-domain", domain=8)["DeepEP, 128 tokens"]).all()


# ---- nic-and-pcie


def test_the_slot_or_the_port():
    found, answer = state("nic-and-pcie"), load("pcie-01").answer()
    assert found["got"] == pytest.approx(answer["gen5"])
    assert found["idle"] == pytest.approx(answer["idle"])
    six = state("nic-and-pcie", slot="PCIe 6")
    assert (six["inner"], six["got"]) == pytest.approx((answer["gen6"], 100e9))
    assert not six["failure"]
    assert "37% of the port" in found["failure"]
    assert state("nic-and-pcie", lanes=8)["inner"] == pytest.approx(answer["gen5"] / 2)


def test_measured_marks_stand_where_they_were_measured():
    assert state("nic-and-pcie")["measured"][0] == bandwidth("pcie5-x16-copy")
    assert np.isnan(state("nic-and-pcie", lanes=8)["measured"]).all()
    assert state("nic-and-pcie", port="200G")["measured"][1] == bandwidth("efa-200-write")


# ---- remote-roofline


def test_the_corners_of_the_roofline():
    answer = load("roofline-01").answer()
    assert state("remote-roofline")["corner"] == pytest.approx(answer["h100"])
    assert state("remote-roofline", chip="B200")["corner"] == pytest.approx(answer["b200"])
    assert state("remote-roofline", way="NIC")["corner"] == pytest.approx(answer["nic"])
    assert state("remote-roofline", way="own memory")["corner"] == pytest.approx(989.4e12 / 3.35e12)
    found = state("remote-roofline")
    assert found["busy"] == pytest.approx(1000 / answer["h100"])
    assert "2.2 times as often" in found["failure"]
    assert not state("remote-roofline", work=3000)["failure"]


# ---- four-networks


def test_steps_between_the_networks():
    found = state("four-networks")
    assert (found["first"], found["second"], found["third"]) == pytest.approx((9, 8, 400))
    other = state("four-networks", kind="B300 + 800G", front="100G")
    assert (other["first"], other["second"], other["third"]) == pytest.approx((9, 64, 100))
    assert found["time"] == pytest.approx(140e9 / 50e9)
    assert "19 minutes" in state("four-networks", through="management")["failure"]


# ---- node-map


def test_codes_of_the_tree():
    assert node_map.CODES == {"its own": "PIX", "next switch": "NODE", "other socket": "SYS", "all use card 0": "PIX"}
    seen = affinity(node_map.FABRIC)
    assert str(seen.codes[0, 1]) == "NV18"


def test_the_own_card_is_free_and_the_socket_link_is_not():
    own = state("node-map")
    assert own["rate"] == pytest.approx(50e9)
    assert own["worst"] == pytest.approx(50e9 / bandwidth("pcie5-x16"))
    far = state("node-map", cards="other socket")
    assert far["worst"] == pytest.approx(4 * 50e9 / bandwidth("pcie5-x16"))
    assert far["rate"] == pytest.approx(bandwidth("pcie5-x16") / 4)
    assert "the link between the sockets is the limit" in far["failure"]
    near = state("node-map", cards="next switch")
    assert "a PCIe link is the limit" in near["failure"]
    assert near["rate"] == pytest.approx(bandwidth("pcie5-x16") / 2)


def test_one_card_for_all():
    found = state("node-map", cards="all use card 0")
    assert found["users"] == 8
    assert found["rate"] == pytest.approx(50e9 / 8)
    assert "8 GPUs share one card's port" in found["failure"], "an eighth of the port is less than the slot would carry"
    faster = state("node-map", cards="all use card 0", port="800G")
    assert faster["rate"] == pytest.approx(bandwidth("pcie5-x16") / 8)
    assert "a PCIe link is the limit" in faster["failure"]
    assert state("node-map", cards="all use card 0", busy=1)["failure"] == ""


def test_a_faster_port_needs_a_faster_slot():
    assert "a PCIe link is the limit" in state("node-map", port="800G")["failure"]


def test_bytes_enter_and_leave_by_the_same_amount():
    fabric = node_map.FABRIC
    asked = node_map._bytes("other socket", 50e9, 8)
    into, out = (np.bincount(end, asked, fabric.vertices) for end in (fabric.target, fabric.source))
    inner = fabric.forwards
    assert into[inner] == pytest.approx(out[inner])
    assert out[fabric.hosts][:8] == pytest.approx(50e9)
    assert into[fabric.hosts][8:] == pytest.approx(50e9)

"""NCCL's decision: known values, crossings, published selections, limits that must hold, and what is refused."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from netlib.collectives import nccl
from netlib.collectives.nccl.bandwidth import OPS

KiB, MiB, GiB = 2**10, 2**20, 2**30
PUBLISHED = Path(nccl.__file__).parents[2] / "fidelity" / "published.csv"
C7 = nccl.Channels(16, 24e9, 24e9)  # the exercise's assumption: 16 channels of 24 GB/s inside and between nodes


def busbw(seconds, size, n):
    return size / seconds * 2 * (n - 1) / n / 1e9


def test_an_h100_node_to_a_tenth_of_a_microsecond():
    node = nccl.tune("2.30.7", nccl.named("dgx-h100"))
    wanted = {
        ("Ring/LL", MiB): 28.0,
        ("NVLS/Simple", MiB): 28.9,
        ("NVLS/Simple", 2 * MiB): 32.7,
        ("Ring/LL", 2 * MiB): 41.0,
    }
    for (name, size), micro in wanted.items():
        assert round(float(node.time(name, size)) * 1e6, 1) == micro


def test_the_second_pass_of_the_search_is_what_makes_nvls_that_fast():
    """With inter = intra = 40 GB/s, as the first pass leaves it, NVLS would take 30.7 and 36.5 us."""
    cluster = nccl.Cluster("Hopper", 1, 8, nccl.Channels(24, 15e9, 15e9), nvls=nccl.Channels(8, 40e9, 40e9))
    first = nccl.tune("2.30.7", cluster).time("NVLS/Simple", [MiB, 2 * MiB]) * 1e6
    assert np.round(first, 1).tolist() == [30.7, 36.5]


@pytest.mark.parametrize(
    ("nodes", "mib", "rel"),
    [
        (2, 18.1, 0.005),
        (4, 135, 0.007),
        (8, 1193, 0.005),
        (16, 2856, 0.009),
        (32, 6295, 0.011),
        (64, 13308, 0.009),
        (128, 27364, 0.010),
    ],
)
def test_where_trees_end(nodes, mib, rel):
    """The crossing of tree and ring, 16 to 1,024 GPUs; the sizes given were read off a grid of about one per cent."""
    tuning = nccl.tune("2.30.7", nccl.Cluster("Hopper", nodes, 8, C7))

    def gap(size):
        out = tuning.times(float(size))
        return float(out[:3].min() - out[3:6].min())

    found = brentq(gap, mib * MiB, 1.2 * mib * MiB, xtol=1)
    assert found / MiB == pytest.approx(mib, rel=rel)
    assert found / MiB > mib
    names = tuning.choose([found * 0.999, found * 1.001]).name.tolist()
    assert names[0].startswith("Tree")
    assert names[1].startswith("Ring")


def test_there_is_more_than_one_crossing():
    """64 GPUs: rings win from 410 MiB, trees again from 512 MiB, where their correction ends, and rings for good."""
    tuning = nccl.tune("2.30.7", nccl.Cluster("Hopper", 8, 8, C7))
    names = tuning.choose(np.array([400, 420, 511, 512, 1190, 1210]) * MiB).name
    assert [name[:4] for name in names] == ["Tree", "Ring", "Ring", "Tree", "Tree", "Ring"]


def test_the_exact_crossing_at_1024_gpus_by_hand():
    """Tree/Simple 260.4 us and 176.64 GB/s against Ring/Simple 13,520 us and 384 x 1024/2046 GB/s."""
    tree, ring = 8.4 + 2 * (7 * 4 + 7 * 14), (8.4 + 1792 * 3.4 + 254 * 14) * 1.4
    by_hand = (ring - tree) * 1e-6 / (1 / (0.5 * 0.92 * 384e9) - 2046 / 1024 / 384e9)
    tuning = nccl.tune("2.30.7", nccl.Cluster("Hopper", 128, 8, C7))
    two = [float(tuning.time(name, by_hand)) for name in ("Tree/Simple", "Ring/Simple")]
    assert two[0] == pytest.approx(two[1], rel=1e-9)
    assert round(by_hand / MiB) == 27611


@pytest.mark.parametrize(
    ("change", "gib"),
    [({"cpu": "AMD"}, 40), ({"plain_tree": True}, 3.8), ({"ring": nccl.Channels(8, 24e9, 24e9)}, 13)],
)
def test_how_fragile_that_crossing_is(change, gib):
    tuning = nccl.tune("2.30.7", nccl.Cluster(**{"gpu": "Hopper", "nodes": 128, "per_node": 8, "ring": C7, **change}))
    sizes = np.geomspace(GiB, 64 * GiB, 2001)
    is_tree = np.char.startswith(tuning.choose(sizes).name, "Tree")
    assert sizes[np.flatnonzero(is_tree)[-1]] / GiB == pytest.approx(gib, rel=0.04)


def test_a_forced_ring_at_1024_gpus():
    free = nccl.tune("2.30.7", nccl.Cluster("Hopper", 128, 8, C7))
    forced = nccl.with_variables(free, {"NCCL_ALGO": "Ring"})
    picks = [each.choose(256 * MiB) for each in (free, forced)]
    assert [str(each.name) for each in picks] == ["Tree/LL128", "Ring/LL128"]
    assert [round(float(each.seconds) * 1e3, 3) for each in picks] == [1.771, 5.953]


def test_two_p5_nodes():
    tuning = nccl.tune("2.30.7", nccl.named("p5", 2))
    picked = tuning.choose(np.array([1, 4, 16]) * GiB)
    assert set(picked.name) == {"NVLSTree/Simple"}
    assert [round(busbw(s, g * GiB, 16)) for s, g in zip(picked.seconds, (1, 4, 16), strict=True)] == [455, 460, 461]


def test_four_nodes_of_b200_as_a_ring():
    tuning = nccl.tune("2.30.7", nccl.named("p6-b200", 4))
    rates = [busbw(float(tuning.time("Ring/Simple", g * GiB)), g * GiB, 32) for g in (16, 4, 1)]
    assert [round(each) for each in rates] == [382, 377, 358]


def test_nvlstree_from_32_to_8192_gpus():
    nodes = 2 ** np.arange(2, 11)
    seconds = nccl.tune("2.30.7", nccl.named("dgx-h100", nodes)).time("NVLSTree/Simple", GiB)
    rates = [busbw(float(s), GiB, 8 * n) for s, n in zip(seconds, nodes, strict=True)]
    assert np.abs(np.array(rates) - [353, 351, 348, 346, 344, 341, 339, 337, 335]).max() < 1


def h200(size):
    return nccl.tune("2.27.7", nccl.named("dgx-h200", version="2.27.7")).choose(size)


def tuned(version, machine, nodes=1, op="all_reduce", **variables):
    return nccl.tune(version, nccl.named(machine, nodes, version=version), op, variables=variables)


def published(prefix):
    with PUBLISHED.open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["id"].startswith(prefix)]


def test_the_selection_that_a_log_of_2_27_7_shows_on_eight_h200():
    """Every size of the published sweep: ring/LL up to 1 MiB, NVLS/Simple from 2 MiB."""
    rows = published("H200x8-")
    assert len(rows) >= 18
    for row in rows:
        size = float(row["message_bytes"])
        assert str(h200(size).name) == ("Ring/LL" if size <= MiB else "NVLS/Simple"), row["id"]


# What NCCL 2.27.7 was seen to choose at 8 GiB on n GPUs of a node; n = 5 on H200 is where NVLS begins
SEEN = {"dgx-h200": "Ring NVLS NVLS NVLS NVLS", "dgx-b200": "Ring Ring NVLS NVLS NVLS"}


@pytest.mark.parametrize("machine", SEEN)
def test_the_selection_by_gpus_used(machine):
    for n, seen in zip(range(4, 9), SEEN[machine].split(), strict=True):
        picked = nccl.tune("2.27.7", nccl.named(machine, 1, n, "2.27.7")).choose(8 * GiB)
        assert str(picked.name) == f"{seen}/Simple", n


def test_the_newer_constants_miss_that_sweep():
    """2.30.7's NVLS model chooses rings up to 7 B200s and 5 H200s: what was measured under 2.27.7 is not its choice."""
    picks = {
        machine: [str(nccl.tune("2.30.7", nccl.named(machine, 1, n)).choose(8 * GiB).name)[:4] for n in range(4, 9)]
        for machine in SEEN
    }
    assert picks == {"dgx-h200": ["Ring", "Ring", "NVLS", "NVLS", "NVLS"], "dgx-b200": ["Ring"] * 4 + ["NVLS"]}


def test_which_published_rates_of_one_node_it_meets_and_which_not():
    """Within 5 % of the sweep by GPUs used, apart from three misses that are kept in view."""
    far = {}
    for row in published("NVLS-"):
        gpu, n = row["gpu"].lower(), int(row["ranks"])
        off = {"NCCL_NVLS_ENABLE": "0"} if "ENABLE=0" in row["algorithm"] else {}
        tuning = nccl.tune("2.27.7", nccl.named(f"dgx-{gpu}", 1, n, "2.27.7"), variables=off)
        size = float(row["message_bytes"])
        error = busbw(float(tuning.choose(size).seconds), size, n) / float(row["value"]) - 1
        if abs(error) > 0.05:
            far[gpu, n, "ring" if "ring" in row["algorithm"] else "NVLS"] = round(error, 2)
    # the tuner plans 720 GB/s for rings of B200, which reach 673 to 682; for NVLS it plans the listed speed of a
    # channel, which jumps from 90 to 80 GB/s between 7 and 8 GPUs and from 50 to 40 on H200
    assert far == {
        ("b200", 4, "ring"): 0.07,
        ("b200", 5, "ring"): 0.06,
        ("b200", 7, "ring"): 0.06,
        ("b200", 8, "ring"): 0.05,
        ("b200", 7, "NVLS"): 0.11,
        ("b200", 8, "NVLS"): 0.11,
        ("h200", 7, "NVLS"): -0.13,
    }


def test_a_plan_is_no_measurement_below_a_mebibyte():
    """The published 32 KiB on eight H200s took several times what NCCL plans: launch is not in the plan."""
    row = next(each for each in published("H200x8-") if each["message_bytes"] == "32768")
    planned = busbw(float(h200(32 * KiB).seconds), 32 * KiB, 8)
    assert 2 < planned / float(row["value"]) < 4


@pytest.mark.parametrize("version", nccl.editions())
@pytest.mark.parametrize("machine", ["dgx-a100", "dgx-h100", "p6-b200"])
@pytest.mark.parametrize("op", OPS)
def test_every_version_builds_and_chooses(version, machine, op):
    tuning = nccl.tune(version, nccl.named(machine, [1, 2, 3, 64], version=version), op)
    picked = tuning.choose(np.geomspace(8, 2**34, 30)[:, None])
    assert np.isfinite(picked.seconds).all()
    assert (picked.seconds > 0).all()
    assert (tuning.bandwidth >= 0).all()
    assert (tuning.latency >= 0).all()
    for row, reasons in enumerate(tuning.why):
        assert tuning.enabled[row].all() == (not reasons) or (tuning.bandwidth[row] == 0).any()
    assert any(note.startswith("constants: ") for note in tuning.notes)


@given(low=st.floats(1, 1e10), more=st.floats(1, 1e3), nodes=st.integers(1, 300), op=st.sampled_from(OPS))
@settings(max_examples=60, deadline=None)
def test_more_bytes_take_longer_where_nothing_corrects(low, more, nodes, op):
    tuning = nccl.tune("2.30.7", nccl.named("dgx-h100", nodes), op)
    for name in ("Ring/LL", "Ring/LL128", "Ring/Simple", "NVLS/Simple", "NVLSTree/Simple"):
        first, second = tuning.time(name, [low, low * more])
        assert first <= second


def test_a_correction_can_make_more_bytes_faster():
    """A tree's factor jumps at powers of two: NCCL itself believes that 4 MiB take less than a byte less."""
    tree = nccl.tune("2.30.7", nccl.named("dgx-h100", 16))
    below, at = tree.time("Tree/LL", [4 * MiB - 64, 4 * MiB])
    assert at < below


def test_latency_is_what_zero_bytes_cost():
    tuning = nccl.tune("2.30.7", nccl.named("dgx-h100", [1, 16]))
    for row, name in enumerate(tuning.names):
        none = tuning.bandwidth[row] == 0
        got = tuning.time(name, 0)
        assert np.where(none, np.inf, tuning.latency[row]).tolist() == got.tolist()


def test_the_plateau_of_a_ring_begins_at_64_bytes_for_each_channel_and_rank():
    cluster = nccl.Cluster("Hopper", 4, 8, nccl.Channels(16, 24e9, 24e9))
    edge = 64 * 16 * 32
    before, at = nccl.tune("2.30.7", cluster).time("Ring/Simple", [edge - 1, edge])
    lat = 8.4 + 56 * 3.4 + 6 * 14
    assert (at - before) * 1e6 == pytest.approx(0.4 * lat, rel=1e-3)
    fewer = nccl.tune("2.30.7", cluster, variables={"NCCL_MAX_CTAS": "8"})
    assert float(fewer.time("Ring/Simple", edge // 2)) > float(
        nccl.tune("2.30.7", cluster).time("Ring/Simple", edge // 2)
    )
    more = nccl.tune("2.30.7", cluster, variables={"NCCL_MIN_NCHANNELS": "32", "NCCL_MIN_CTAS": "20"})
    assert more.cluster.channels.tolist() == 32


def test_aggregated_operations_pay_a_ring_each_and_a_tree_in_batches():
    one, many = (nccl.tune("2.30.7", nccl.named("dgx-h100", 2), operations=k) for k in (1, 12))
    for name, times in (("Ring/LL", 12), ("Tree/LL", 2), ("NVLSTree/Simple", 2)):
        assert float(many.time(name, 0)) == pytest.approx(times * float(one.time(name, 0)))
    old = [nccl.tune("2.7.8", nccl.named("dgx-a100", 2), operations=k) for k in (1, 12)]
    assert float(old[0].time("Ring/LL", 0)) == float(old[1].time("Ring/LL", 0))


def test_ll128_only_where_it_was_tested():
    def why(version, **changed):
        cluster = nccl.Cluster(**{"gpu": "Hopper", "nodes": 4, "per_node": 8, "ring": C7, **changed})
        tuning = nccl.tune(version, cluster)
        return tuning.why[tuning.row("Ring/LL128")]

    assert why("2.30.7") == ()
    assert why("2.30.7", path="PXN") == ()
    assert why("2.27.7", path="P2C") == ()
    assert why("2.30.7", path="PHB") == ("LL128 needs a NIC at P2C or nearer, not PHB",)
    assert why("2.25.1", path="P2C") == ("LL128 needs a NIC at PXN or nearer, not P2C",)
    assert why("2.30.7", gpu="Ampere", path="PXN") == ("LL128 needs a NIC at PXB or nearer, not PXN",)
    assert why("2.30.7", nvlink=False) == ("LL128 needs NVLink inside the node",)
    assert why("2.30.7", mixed=True) == ()
    assert why("2.28.9", mixed=True) == ("LL128 needs GPUs of one compute capability",)
    assert why("2.24.3", gpu="Blackwell") == ("LL128 is off for Blackwell in NCCL 2.24.3",)
    assert why("2.12.12") == ("LL128 is off for Hopper in NCCL 2.12.12",)
    far = nccl.Cluster("Hopper", 4, 8, C7, path="PXN")
    off = nccl.tune("2.30.7", far, variables={"NCCL_LL128_C2C": "0"})
    assert off.why[off.row("Tree/LL128")] == ("LL128 needs a NIC at PXB or nearer, not PXN",)


def test_what_switches_the_switch_on_and_off():
    one = nccl.named("dgx-h100")
    row = nccl.tune("2.30.7", one).row("NVLS/Simple")
    assert nccl.tune("2.30.7", one).enabled[row]
    off = nccl.tune("2.30.7", one, variables={"NCCL_NVLS_ENABLE": "0"})
    assert off.why[row] == ("NVLS is switched off by NCCL_NVLS_ENABLE=0",)
    assert str(off.choose(GiB).name) == "Ring/Simple"
    several = nccl.tune("2.30.7", nccl.named("dgx-h100", 4))
    assert several.why[row] == ("NVLS between nodes needs CollNet (NCCL_COLLNET_ENABLE and its plugin)",)
    sharp = nccl.tune("2.30.7", nccl.named("dgx-h100", 4), variables={"NCCL_COLLNET_ENABLE": "1"})
    assert sharp.enabled[row]
    assert sharp.enabled[sharp.row("CollNetChain/Simple")]
    ampere = nccl.tune("2.30.7", nccl.named("dgx-a100"))
    assert "NVLS needs an NVSwitch that adds (Hopper or later)" in ampere.why[row]
    thin = nccl.Cluster("Hopper", 1, 8, C7, nvls=nccl.Channels(1, 40e9, 60e9))
    assert "NVLS needs two channels" in nccl.tune("2.30.7", thin).why[row]


def test_collnet_by_hand():
    """Direct: 16 channels of 24 for 8 GPUs, f = 0.75, x 0.85, half. Chain: half of the bus. Gather: 8 x 0.9 x 24."""
    cluster = nccl.Cluster("Hopper", 4, 8, C7, collnet_enabled=True)
    reduce = nccl.tune("2.30.7", cluster)
    assert reduce.bandwidth[reduce.row("CollNetDirect/Simple")] / 1e9 == pytest.approx(384 / 0.75 * 0.85 / 2)
    assert reduce.bandwidth[reduce.row("CollNetChain/Simple")] / 1e9 == pytest.approx(192)
    assert reduce.latency[reduce.row("CollNetDirect/Simple")] * 1e6 == pytest.approx(2 * (3.7 + 7 * 0.4) + 31)
    assert reduce.latency[reduce.row("CollNetChain/Simple")] * 1e6 == pytest.approx(2 * 7 * 2.8 + 30)
    gather = nccl.tune("2.30.7", cluster, "all_gather")
    assert gather.bandwidth[gather.row("CollNetDirect/Simple")] / 1e9 == pytest.approx(8 * 0.9 * 24)
    older = nccl.tune("2.21.5", cluster, "all_gather")
    assert older.bandwidth[older.row("CollNetDirect/Simple")] / 1e9 == pytest.approx(8 * 24 * 0.85)
    few = nccl.Cluster("Hopper", 4, 8, C7, collnet=nccl.Channels(4, 24e9, 24e9), collnet_enabled=True)
    tuning = nccl.tune("2.30.7", few, "all_gather")
    assert tuning.why[tuning.row("CollNetDirect/Simple")] == ("CollNetDirect needs a NIC for each GPU here",)
    old = nccl.tune("2.7.8", nccl.Cluster("Ampere", 2, 8, C7, collnet_enabled=True))
    assert old.bandwidth[old.row("CollNetChain/LL")] / 1e9 == pytest.approx(235 * 0.9 / 6 / 2)
    middle = nccl.tune("2.12.12", nccl.Cluster("Ampere", 2, 8, C7, collnet_enabled=True, nic_latency=3e-6))
    assert middle.latency[middle.row("CollNetDirect/Simple")] * 1e6 == pytest.approx(2 * (8 + 7 * 0.5) + 3)
    flat = nccl.tune("2.30.7", nccl.Cluster("Hopper", 2, 8, C7, collnet_enabled=True, nvswitch=False))
    assert "CollNetDirect needs an NVSwitch" in flat.why[flat.row("CollNetDirect/Simple")]


def test_nvls_gathers_keep_the_bus():
    """8 channels of 40 GB/s x 0.85 x 7/8 x 7/8 on one node; a ring's n/steps does not apply, in 2.20.5 5/6 did."""
    one = nccl.named("dgx-h100")
    gather = nccl.tune("2.30.7", one, "all_gather")
    row = gather.row("NVLS/Simple")
    assert gather.bandwidth[row] / 1e9 == pytest.approx(8 * 40 * 0.85 * 7 / 8 * 7 / 8)
    middle = nccl.tune("2.27.7", nccl.named("dgx-h100", version="2.27.7"), "all_gather").bandwidth[row]
    older = nccl.tune("2.21.5", nccl.named("dgx-h100", version="2.21.5"), "all_gather").bandwidth[row]
    assert (middle / 1e9, older / 1e9) == (pytest.approx(320), pytest.approx(320 * 5 / 6))


def test_nvlstree_of_the_middle_versions_halves_the_network_beyond_two_nodes():
    cluster = nccl.Cluster("Hopper", [2, 4], 8, C7, nvls=nccl.Channels(8, 45e9, 48e9))
    tuning = nccl.tune("2.24.3", cluster)
    assert (tuning.bandwidth[tuning.row("NVLSTree/Simple")] / 1e9).tolist() == pytest.approx([300, 160])


def test_pat_is_for_one_gpu_in_each_node():
    alone = nccl.Cluster("Hopper", 64, 1, nccl.Channels(4, 12e9, 12e9))
    tuning = nccl.tune("2.30.7", alone, "all_gather")
    row = tuning.row("PAT/Simple")
    assert tuning.enabled[row]
    assert str(tuning.choose(KiB).name) in ("PAT/Simple", "Ring/LL")
    assert tuning.latency[row] * 1e6 == pytest.approx(8 + 6 * 14 / 3.5 + 64 * 2.8)
    assert tuning.bandwidth[row] / 1e9 == pytest.approx(48 * 0.75)
    assert nccl.tune("2.23.4", alone, "all_gather").bandwidth[row] / 1e9 == pytest.approx(48 * 0.85)
    assert not nccl.tune("2.30.7", alone, "all_gather", variables={"NCCL_PAT_ENABLE": "0"}).enabled[row]
    eight = nccl.tune("2.30.7", nccl.named("dgx-h100", 4), "all_gather")
    assert eight.why[row] == ("PAT needs one GPU in each node",)
    assert nccl.tune("2.30.7", nccl.named("dgx-h100", 4), "all_gather", variables={"NCCL_PAT_ENABLE": "1"}).enabled[row]


def test_a_power_host_counts_a_tree_hop_over_pcie_as_a_rings():
    def tree(cpu):
        tuning = nccl.tune("2.30.7", nccl.Cluster("Volta", 1, 4, C7, cpu=cpu, nvlink=False))
        return float(tuning.latency[tuning.row("Tree/Simple")]) * 1e6

    assert (tree("Power"), tree("Intel")) == (pytest.approx(8.4 + 6 * 5.7), pytest.approx(8.4 + 6 * 4.0))


def test_the_cpu_sets_the_cap_of_ll_and_the_cost_of_a_post():
    def numbers(cpu):
        tuning = nccl.tune("2.30.7", nccl.Cluster("Hopper", 4, 8, C7, cpu=cpu))
        row = tuning.row("Ring/LL")
        return float(tuning.bandwidth[row]) / 1e9 * 62 / 32, float(tuning.latency[row]) * 1e6

    assert numbers("Intel") == (pytest.approx(20.4), pytest.approx(6.6 + 56 * 1 + 6 * 2.7))
    assert numbers("AMD") == (pytest.approx(19.0), pytest.approx(6.6 + 56 * 2 + 6 * 2.7))
    given = nccl.tune("2.30.7", nccl.Cluster("Hopper", 4, 8, C7), variables={"NCCL_NET_OVERHEAD": "5000"})
    assert float(given.latency[given.row("Ring/LL")]) * 1e6 == pytest.approx(6.6 + 56 * 5 + 6 * 2.7)


def test_what_an_algorithm_list_leaves():
    pod = nccl.named("dgx-h100", 128)
    old = nccl.tune(
        "2.22.3", nccl.named("dgx-h100", 128, version="2.22.3"), "all_gather", variables={"NCCL_ALGO": "Tree"}
    )
    assert str(old.choose(GiB).name).startswith("Ring")
    older = tuned("2.18.5", "dgx-h100", 1, "broadcast", NCCL_ALGO="Tree")
    assert str(older.choose(GiB).name).startswith("Ring")
    oldest = tuned("2.12.12", "dgx-a100", 4, "reduce", NCCL_ALGO="Tree")
    assert str(oldest.choose(GiB).name).startswith("Ring")
    new = nccl.tune(
        "2.24.3", nccl.named("dgx-h100", 128, version="2.24.3"), "all_gather", variables={"NCCL_ALGO": "Tree"}
    )
    with pytest.raises(ValueError, match="leave no algorithm for all_gather; NCCL fails here"):
        new.choose(GiB)
    pair = nccl.tune("2.30.7", pod, variables={"NCCL_ALGO": "^Tree,NVLSTree", "NCCL_PROTO": "Simple"})
    assert {name for name, on in zip(pair.names, pair.enabled, strict=True) if on} == {"Ring/Simple"}
    assert "Tree is not in NCCL_ALGO=^Tree,NVLSTree" in pair.why[0]


def test_a_version_without_a_table_says_so():
    tuning = nccl.tune("2.14.3", nccl.named("dgx-a100"))
    assert (
        tuning.notes[0] == "no table was read for NCCL 2.14.3; answered with that of 2.12.12, the nearest earlier one"
    )
    assert any("older than Blackwell" in note for note in tuned("2.24.3", "dgx-b200").notes)
    assert any("2.23.4 was not read" in note for note in nccl.tune("2.23.4", nccl.named("dgx-a100")).notes)
    rack = replace(nccl.named("dgx-h100"), per_node=16)
    assert any("racks measure less" in note for note in nccl.tune("2.30.7", rack).notes)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: nccl.tune("2.30.7", nccl.named("dgx-h100"), "send"), "send, receive and all-to-all have no tuner"),
        (lambda: nccl.tune("2.30.7", nccl.named("dgx-h100"), "gather"), "is not one of all_reduce"),
        (lambda: nccl.tune("2.30.7", nccl.named("dgx-h100"), operations=0), "operations = 0 must be at least 1"),
        (lambda: nccl.tune("2.3.7", nccl.named("dgx-h100")), "older than the first table"),
        (lambda: nccl.tune("new", nccl.named("dgx-h100")), "is no version of NCCL"),
        (lambda: tuned("2.30.7", "dgx-h100", NCCL_NVLS_ENABLE=0), "must be text"),
        (
            lambda: tuned("2.30.7", "dgx-h100", NCCL_NET_OVERHEAD="1 us"),
            "no whole number",
        ),
        (
            lambda: tuned("2.30.7", "dgx-h100", NCCL_MAX_CTAS="none"),
            "must be a whole number",
        ),
        (lambda: nccl.tune("2.30.7", nccl.named("dgx-h100")).row("Ring"), "is no algorithm/protocol here"),
        (
            lambda: tuned("2.30.7", "dgx-h100", [1, 2]).choose([1, 2, 3]),
            r"for a grid give sizes\[:, None\]",
        ),
        (lambda: nccl.tune("2.30.7", nccl.named("dgx-h100")).times(-1), "sizes = -1 must be at least 0"),
        (lambda: nccl.named("dgx-h10"), "did you mean dgx-h100"),
        (lambda: nccl.named("dgx-h100", 1.5), "nodes = 1.5 must be whole"),
        (lambda: nccl.named("dgx-h100", 2, 9), "per_node = 9 must be from 1 to 8, the GPUs of a dgx-h100"),
        (lambda: nccl.named("dgx-h100", 2, 0), "per_node = 0 must be from 1 to 8"),
        (lambda: nccl.Cluster("Kepler", 1, 8, C7), "gpu = 'Kepler' is not one of Volta"),
        (lambda: nccl.Cluster("Hopper", 1, 8, C7, cpu="intel"), "cpu = 'intel' is not one of Intel"),
        (lambda: nccl.Cluster("Hopper", 1, 1, C7), "give at least two ranks"),
        (lambda: nccl.Cluster("Hopper", [1, 2], [8, 8, 8], C7), "do not broadcast"),
        (lambda: nccl.Cluster("Hopper", 1, 8, nccl.Channels(0, 1, 1)), "count = 0 must be at least 1"),
        (lambda: nccl.Cluster("Hopper", 1, 8, nccl.Channels(1, 0, 1)), "intra = 0 must be above 0"),
        (lambda: nccl.Cluster("Hopper", 1, 8, C7, channels=0), "channels = 0 must be at least 1"),
        (lambda: nccl.nvls_channels("Ampere", 8), "has no switch that adds"),
        (lambda: nccl.nvls_channels("Hopper", 33), "must be from 2 to 32"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(call, told):
    with pytest.raises(ValueError, match=told):
        call()


def test_the_search_for_heads_of_the_switch():
    """Fastest listed speed with (n+1) w <= 370.8, then raised to twice that or the top of the list."""
    got = {n: nccl.nvls_channels("Hopper", n) for n in (4, 5, 6, 7, 8, 16, 32)}
    assert {n: each.intra / 1e9 for n, each in got.items()} == {4: 60, 5: 60, 6: 50, 7: 40, 8: 40, 16: 20, 32: 11}
    assert {n: each.inter / 1e9 for n, each in got.items()} == {4: 60, 5: 60, 6: 60, 7: 60, 8: 60, 16: 40, 32: 24}
    assert [nccl.nvls_channels("Blackwell", n).intra / 1e9 for n in (7, 8)] == [90, 80]
    assert nccl.nvls_channels("Blackwell", 8, "2.24.3").intra == 40e9
    assert nccl.Channels(8, 40e9, 60e9).total(2) == 480e9

"""Named fabrics: every published count is that of the built fabric, and what we derive holds."""

import networkx as nx
import numpy as np
import pytest

from netlib.links import Link
from netlib.topology import (
    PUBLISHED,
    Cables,
    Fabric,
    build,
    census,
    dragonfly_groups,
    dragonfly_hosts,
    fat_tree,
    hpn_pod,
    megascale,
    meta_24k,
    slingshot,
    superpod,
    tpu_v4_pod,
)

INSIDE = Link(1e-7, 900e9)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_counts_are_those_of_the_fabric(name) -> None:
    row = PUBLISHED[name]
    assert row.built() == dict(row.counts)
    assert row.source


def test_a_wrong_count_would_show() -> None:
    row = PUBLISHED["superpod-b200-16"]
    assert row.built() != {**row.counts, "tier 3 switches": 65}


def test_the_rule_of_the_b200_table() -> None:
    """Leaves N / 32; spines N / 64 in two tiers; spines N / 32 and cores N / 64 above 2,048 GPUs."""
    for units in (2, 4, 8, 16, 32, 64):
        counts, n = census(superpod(units)), 256 * units
        assert counts["tier 1 switches"] == n // 32
        assert counts["tier 2 switches"] == (n // 64 if n <= 2048 else n // 32)
        assert counts.get("tier 3 switches", 0) == (0 if n <= 2048 else n // 64)


def test_a_b300_leaf_serves_a_rail_of_one_plane() -> None:
    fabric = superpod(2, "b300")
    access = fabric.of_kind("access") & (fabric.tier[fabric.source] == 0)
    host, leaf = fabric.source[access], fabric.target[access]
    assert np.array_equal(fabric.label("rail")[host], fabric.label("rail")[leaf])
    assert np.all(np.bincount(leaf)[np.unique(leaf)] == 64)
    assert np.all(np.bincount(host) == 2)
    assert np.all(fabric.capacity[access] == 50e9)
    assert sorted(fabric.label("plane")[leaf[host == 0]].tolist()) == [0, 1]


def test_an_nvswitch_in_every_system() -> None:
    bare, full = superpod(2), superpod(2, inside=INSIDE)
    assert full.cables == bare.cables + 512
    assert census(hpn_pod(1, inside=INSIDE))["cables 0-0"] == 1024
    assert census(megascale(64, inside=INSIDE))["cables 0-0"] == 512


def test_hpn_ports_explain_fifteen_segments() -> None:
    counts = census(hpn_pod())
    assert counts["tier 1 down"] * 200 / (counts["tier 1 up"] * 400) == pytest.approx(1.067, abs=5e-4)
    assert counts["tier 1 down"] * 200 + 8 * 200 + counts["tier 1 up"] * 400 == 51_200
    assert counts["tier 2 down"] / 8 == 15
    fabric = hpn_pod(2)
    tor = fabric.tier == 1
    keys = np.stack([fabric.label(name)[tor] for name in ("group", "rail", "plane")])
    assert np.unique(keys, axis=1).shape == (3, 32)  # one switch for each segment, rail and plane
    assert fabric.capacity[fabric.of_kind("access")].min() == 25e9
    assert fabric.capacity[fabric.of_kind("trunk")].min() == 50e9


def test_meta_tapers_by_seven_above_full_pods() -> None:
    fabric = meta_24k()
    low, high = fabric.tier[fabric.source], fabric.tier[fabric.target]
    sums = [fabric.capacity[(low == t) & (high == t + 1)].sum() for t in range(3)]
    assert sums[1] == 2 * sums[0]
    assert sums[0] / sums[2] == pytest.approx(7, rel=1e-12)
    pods = fabric.label("pod")
    assert np.all(np.bincount(pods[fabric.hosts]) == 3072)
    assert fabric.degree[fabric.tier == 2].max() <= 576  # ports of the largest Arista 7800R3 at 400G
    assert fabric.label("node")[fabric.hosts].max() == 3071


def test_megascale_uses_its_64_ports() -> None:
    fabric = megascale()
    low, high = fabric.tier[fabric.source], fabric.tier[fabric.target]
    leaf = fabric.target[(low == 0) & (high == 1)]
    assert np.all(np.bincount(leaf)[np.unique(leaf)] == 64)  # 64 servers behind a set of switches
    into, out = fabric.capacity[(low == 0)].sum(), fabric.capacity[(low == 1) & (high == 2)].sum()
    assert into == out == fabric.capacity[(low == 2) & (high == 3)].sum()


def test_the_largest_slingshot_by_form_and_by_building() -> None:
    fabric = slingshot(545)
    counts = census(fabric)
    assert counts["groups"] == dragonfly_groups(32, 17) == 545
    assert counts["hosts"] == dragonfly_hosts(16, 32, 17) == 279_040
    assert fabric.degree[fabric.switches].tolist() == [64] * (545 * 32)
    assert int(fabric.of_kind("global").sum()) // 2 == 545 * 544 // 2


def test_a_quarter_of_the_links_of_a_tpu_pod_leave_a_cube() -> None:
    pod = tpu_v4_pod()
    cube = sum(pod.label(f"x{axis}") // 4 * 4**axis for axis in range(3))
    away = cube[pod.source] != cube[pod.target]
    assert (int(away.sum()) // 2, pod.cables) == (3072, 12288)
    assert pod.capacity.sum() / 1e15 == pytest.approx(1.1, abs=0.05)  # PB/s, as printed


def test_a_census_counts_a_small_fabric_by_hand() -> None:
    assert census(fat_tree(2, Link(0, 1))) == {
        **{"hosts": 2, "tiers": 3, "tier 1 switches": 2, "tier 1 down": 1, "tier 1 up": 1},
        **{"tier 2 switches": 2, "tier 2 down": 1, "tier 2 up": 1, "tier 3 switches": 1, "tier 3 down": 2},
        **{"tier 3 up": 0, "cables 0-1": 2, "cables 1-2": 2, "cables 2-3": 2, "pods": 2},
    }
    pair = build("pair", 2, [0, 1], [0, 0], [Cables([0], [1], Link(0, 1))])
    assert census(pair) == {"hosts": 2, "tiers": 0, "cables 0-0": 1}


@pytest.mark.parametrize("fabric", [superpod(16), meta_24k(), megascale(), hpn_pod(3), slingshot(3)])
def test_it_is_one_piece(fabric: Fabric) -> None:
    found = nx.Graph()
    found.add_edges_from(zip(fabric.source[::2].tolist(), fabric.target[::2].tolist(), strict=True))
    assert found.number_of_nodes() == fabric.vertices
    assert nx.is_connected(found)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: superpod(0), "units = 0 must be a whole number, 1 or more"),
        (lambda: superpod(2, "h900"), "system = 'h900' is not known; use b200, b300 or b300-xdr"),
        (lambda: superpod(300), "nodes = 9600 need"),
        (lambda: hpn_pod(16), "segments = 16 do not fit the 120 ports of an aggregation switch; give 1 to 15"),
        (lambda: megascale(0), "servers = 0 must be"),
        (lambda: slingshot(1), "groups = 1 must be a whole number, 2 or more"),
        (lambda: slingshot(546), "groups = 546"),
    ],
)
def test_what_does_not_fit_is_one_sentence(call, says) -> None:
    with pytest.raises(ValueError, match=says) as error:
        call()
    assert "\n" not in str(error.value)

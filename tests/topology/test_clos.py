"""Clos fabrics: ports, even cabling, oversubscription and full bisection at any radix and size."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from netlib.links import Link
from netlib.topology import Fabric, clos3, fat_tree, leaf_spine
from netlib.topology.clos import smallest_clos

LINK = Link(1e-6, 50e9)


def graph(fabric: Fabric) -> nx.MultiGraph:
    found = nx.MultiGraph()
    found.add_nodes_from(range(fabric.vertices))
    found.add_edges_from(zip(fabric.source[::2].tolist(), fabric.target[::2].tolist(), strict=True))
    return found


def most_between(fabric: Fabric, left: np.ndarray, right: np.ndarray, unit: float = 50e9) -> float:
    """Greatest flow from one set of hosts to another, in units of a host's link."""
    n = fabric.vertices
    scale = 840  # makes the fractions that occur here whole
    capacity = np.concatenate([fabric.capacity / unit * scale, np.full(len(left) + len(right), 1e8)])
    source = np.concatenate([fabric.source, np.full(len(left), n), right])
    target = np.concatenate([fabric.target, left, np.full(len(right), n + 1)])
    matrix = coo_array((np.rint(capacity).astype(np.int32), (source, target)), shape=(n + 2, n + 2)).tocsr()
    return float(maximum_flow(matrix, n, n + 1).flow_value / scale)


def per_pair(fabric: Fabric, low: int) -> np.ndarray:
    """How many cables join each pair of a switch of tier `low` and one above it that are joined at all."""
    mask = (fabric.tier[fabric.source] == low) & (fabric.tier[fabric.target] == low + 1)
    pairs = np.stack([fabric.source[mask], fabric.target[mask]])
    return np.unique(pairs, axis=1, return_counts=True)[1]


def ports(fabric: Fabric, tier: int, up: bool) -> np.ndarray:
    mask = fabric.tier[fabric.source] == tier
    higher = fabric.tier[fabric.target] > tier
    ends = np.bincount(fabric.source[mask & (higher if up else ~higher)], minlength=fabric.vertices)
    return ends[fabric.tier == tier]


def share(data: st.DataObject, radix: int, what: str) -> float:
    ups = data.draw(st.integers(1, radix - 1), what)
    return (radix - ups) / ups


@given(st.data())
@settings(deadline=None)
def test_leaf_spine_keeps_its_ports_and_its_ratio(data) -> None:
    radix = data.draw(st.integers(2, 24), "radix")
    r = share(data, radix, "ups")
    ups = round(radix / (r + 1))
    down = radix - ups
    hosts = data.draw(st.integers(1, radix * down), "hosts")
    fabric = leaf_spine(hosts, radix, LINK, oversubscription=r)
    assert fabric.hosts.tolist() == list(range(hosts))
    assert np.all(fabric.degree[fabric.hosts] == 1)
    assert fabric.degree[fabric.switches].max() <= radix
    leaves = int((fabric.tier == 1).sum())
    assert leaves == -(-hosts // down)
    assert np.all(ports(fabric, 1, up=True) == ups)
    assert np.all(ports(fabric, 1, up=False)[:-1] == down)
    spines = int((fabric.tier == 2).sum())
    assert np.unique(per_pair(fabric, 1)).tolist() == [ups // spines]
    assert per_pair(fabric, 1).size == leaves * spines  # every leaf meets every spine
    assert leaves * ups <= spines * radix
    kinds = {(int(a), int(b)) for a, b in zip(fabric.tier[fabric.source], fabric.kind, strict=True)}
    assert {tier for tier, kind in kinds if kind == 2} == {0, 1}  # access: host and leaf
    assert {tier for tier, kind in kinds if kind == 3} == {1, 2}


@given(st.data())
@settings(deadline=None)
def test_spines_can_be_chosen(data) -> None:
    leaves, spines = data.draw(st.integers(1, 8), "leaves"), data.draw(st.integers(4, 8), "spines")
    fabric = leaf_spine(8 * leaves, 16, LINK, spines=spines)
    assert (fabric.tier == 2).sum() == spines
    assert np.all(ports(fabric, 1, up=True) == 8)
    assert np.ptp(ports(fabric, 2, up=False)) <= 1
    assert np.ptp(per_pair(fabric, 1)) <= 1


@given(st.data())
@settings(deadline=None)
def test_three_tiers_keep_their_ports_and_ratios(data) -> None:
    radix = data.draw(st.integers(2, 12), "radix")
    r, t = share(data, radix, "ups"), share(data, radix, "top ups")
    ups, top_ups = round(radix / (r + 1)), round(radix / (t + 1))
    down, pod = radix - ups, radix - top_ups
    hosts = data.draw(st.integers(1, radix * pod * down), "hosts")
    fabric = clos3(hosts, radix, LINK, oversubscription=r, top=t)
    assert np.all(fabric.degree[fabric.hosts] == 1)
    assert fabric.degree[fabric.switches].max() <= radix
    leaves = int((fabric.tier == 1).sum())
    full = leaves // pod
    assert leaves == -(-hosts // down)
    assert np.all(ports(fabric, 1, up=True) == ups)
    below, above = ports(fabric, 2, up=False), ports(fabric, 2, up=True)
    assert np.all(below[: full * ups] == pod)
    assert np.all(above[: full * ups] == top_ups)
    last = slice(full * ups, None)  # the partly filled pod has its share of the top, and maybe a little more
    assert above[last].sum() * pod >= (leaves - full * pod) * ups * top_ups
    pods = fabric.label("pod")
    inside = fabric.of_kind("trunk") & (fabric.tier[fabric.source] == 1)
    assert np.all(pods[fabric.source[inside]] == pods[fabric.target[inside]])
    assert np.all(pods[fabric.tier == 3] == -1)
    first = pods[fabric.source] < full
    whole = fabric.source[first & (fabric.tier[fabric.source] == 2) & (fabric.tier[fabric.target] == 3)]
    if whole.size:
        assert np.unique(np.bincount(whole)[np.unique(whole)]).size == 1
    assert nx.is_connected(nx.Graph(graph(fabric)))


@pytest.mark.parametrize("build", [leaf_spine, clos3, smallest_clos])
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_any_hosts_reach_the_rest_at_full_rate(build, data) -> None:
    radix = data.draw(st.sampled_from([4, 6, 8]), "radix")
    hosts = data.draw(st.integers(2, radix**2 // 2 if build is leaf_spine else 40), "hosts")
    assume(hosts <= radix**3 // 4)
    fabric = build(hosts, radix, LINK)
    order = data.draw(st.permutations(range(hosts)), "order")
    half = hosts // 2
    assert most_between(fabric, np.array(order[:half]), np.array(order[half : 2 * half])) == half


@pytest.mark.parametrize(("r", "t", "hosts", "flow"), [(1, 1, 32, 16), (3, 1, 48, 8), (1, 3, 48, 8), (3, 3, 72, 4)])
def test_halves_meet_at_the_rate_that_the_ratios_leave(r, t, hosts, flow) -> None:
    """Two pods of radix 8 talk: hosts / (2 r t), one way."""
    fabric = clos3(hosts, 8, LINK, oversubscription=r, top=t)
    assert fabric.label("pod")[fabric.hosts].max() == 1
    assert most_between(fabric, fabric.hosts[: hosts // 2], fabric.hosts[hosts // 2 :]) == pytest.approx(flow)


def test_the_fat_tree_is_that_of_the_paper() -> None:
    k, half = 4, 2
    paper = nx.Graph()  # Al-Fares et al. 2008, section 3: built here from their words
    for pod in range(k):
        for edge in range(half):
            for host in range(half):
                paper.add_edge(("host", pod, edge, host), ("edge", pod, edge))
            for above in range(half):
                paper.add_edge(("edge", pod, edge), ("above", pod, above))
        for above in range(half):
            for core in range(half):
                paper.add_edge(("above", pod, above), ("core", above * half + core))
    assert nx.is_isomorphic(nx.Graph(graph(fat_tree(k, LINK))), paper)


@pytest.mark.parametrize("k", [2, 4, 6, 8, 16])
def test_a_fat_tree_counts(k) -> None:
    fabric = fat_tree(k, LINK)
    sizes = [int((fabric.tier == tier).sum()) for tier in range(4)]
    assert sizes == [k**3 // 4, k**2 // 2, k**2 // 2, k**2 // 4]
    assert np.all(np.diff(fabric.tier) >= 0)  # hosts, edge, aggregation, core
    assert np.all(fabric.degree[fabric.switches] == k)
    assert fabric.cables == 3 * k**3 // 4
    assert np.unique(per_pair(fabric, 1)).tolist() == np.unique(per_pair(fabric, 2)).tolist() == [1]
    pod = fabric.label("pod")[fabric.hosts]
    assert np.array_equal(pod, np.arange(k**3 // 4) // (k**2 // 4))
    leaf = fabric.target[fabric.of_kind("access")][::2]
    assert np.array_equal(leaf - leaf[0], np.arange(k**3 // 4) // (k // 2))


@pytest.mark.parametrize(
    ("fabric", "links"), [(leaf_spine(32, 8, LINK), 4), (fat_tree(4, LINK), 6), (fat_tree(6, LINK), 6)]
)
def test_diameters(fabric, links) -> None:
    assert nx.diameter(nx.Graph(graph(fabric))) == links


def test_fat_tree_and_clos3_are_one_when_full() -> None:
    one, other = fat_tree(8, LINK), clos3(128, 8, LINK)
    assert np.array_equal(one.source, other.source)
    assert np.array_equal(one.target, other.target)


def test_a_faster_uplink_splits_ports() -> None:
    fabric = leaf_spine(2 * 32 * 4, 64, Link(1e-6, 25e9), up=Link(1e-6, 50e9))
    assert np.all(ports(fabric, 1, up=False) == 64)
    assert np.all(ports(fabric, 1, up=True) == 32)
    leaf = fabric.hosts.size
    into = fabric.target == leaf
    up = fabric.kind[fabric.leaving(leaf)] == 3
    assert fabric.capacity[into & fabric.of_kind("access")].sum() == fabric.capacity[fabric.leaving(leaf)][up].sum()
    assert clos3(4096, 64, Link(1e-6, 25e9), up=Link(1e-6, 50e9)).switches.size == 64 + 64 + 32


def test_sixty_five_thousand_hosts() -> None:
    fabric = fat_tree(64, LINK)
    assert (fabric.hosts.size, fabric.switches.size, fabric.links) == (65536, 5120, 6 * 65536)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: leaf_spine(2049, 64, LINK), "hosts = 2049 do not fit two tiers of radix 64 at 1:1; give at most 2048"),
        (lambda: leaf_spine(0, 64, LINK), "hosts = 0 must be a whole number, 1 or more"),
        (lambda: leaf_spine(8.5, 64, LINK), "hosts = 8.5 must be a whole number"),
        (lambda: leaf_spine(True, 64, LINK), "hosts = True must be a whole number"),
        (lambda: leaf_spine(8, 1, LINK), "radix = 1 must be a whole number, 2 or more"),
        (lambda: leaf_spine(8, 64, LINK, oversubscription=2), "splits 64 ports into 42.6667 down and 21.3333 up"),
        (lambda: leaf_spine(8, 64, LINK, oversubscription=0), "oversubscription = 0 must be above 0"),
        (lambda: leaf_spine(8, 64, LINK, oversubscription=[1, 3]), r"oversubscription = \[1, 3\] must be one number"),
        (lambda: leaf_spine(8, 64, LINK, oversubscription=1e12), "choose it or the radix so that both are whole"),
        (lambda: leaf_spine(8, 64, LINK, oversubscription=1e-12), "choose it or the radix so that both are whole"),
        (lambda: leaf_spine(64, 16, LINK, up=Link(0, 75e9)), "up is 1.5 times as fast as link"),
        (lambda: leaf_spine(64, 16, LINK, up=Link(0, 25e9)), "up is 0.5 times as fast as link"),
        (lambda: leaf_spine(64, 16, LINK, spines=3), "spines = 3 cannot join 8 leaves of 8 uplinks; give 4 to 8"),
        (lambda: leaf_spine(64, 16, LINK, spines=9), "spines = 9 cannot join"),
        (lambda: leaf_spine(64, 16, LINK, spines=0), "spines = 0 must be a whole number"),
        (lambda: fat_tree(5, LINK), "k = 5 must be even"),
        (lambda: fat_tree(-4, LINK), "k = -4 must be a whole number"),
        (
            lambda: clos3(65537, 64, LINK),
            "hosts = 65537 do not fit three tiers of radix 64 at 1:1 and 1:1; give at most 65536",
        ),
        (lambda: clos3(100, 64, LINK, top=2), "top = 2 splits 64 ports"),
    ],
)
def test_what_does_not_fit_is_one_sentence(call, says) -> None:
    with pytest.raises(ValueError, match=says) as error:
        call()
    assert "\n" not in str(error.value)

"""Closed forms: each equals what is counted or computed on a built graph, or by hand."""

from itertools import combinations, islice, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.links import Link
from netlib.topology import clos3, fat_tree, forms, leaf_spine, smallest_clos
from netlib.topology.direct import dragonfly, dragonfly_plus, torus
from netlib.topology.domains import nvl72, nvlink_domain

LINK = Link(1e-6, 50e9)


def graph(fabric) -> nx.Graph:
    found = nx.Graph()
    found.add_edges_from(zip(fabric.source[::2].tolist(), fabric.target[::2].tolist(), strict=True))
    return found


def build(hosts: int, radix: int, tiers: int):
    return {1: smallest_clos, 2: leaf_spine, 3: clos3}[tiers](hosts, radix, LINK)


@pytest.mark.parametrize("tiers", [1, 2, 3])
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_clos_counts(tiers, data) -> None:
    radix = 2 * data.draw(st.integers(1, 8), "half")
    most = int(forms.clos_hosts(radix, tiers))
    full = build(most, radix, tiers)
    assert full.hosts.size == most
    assert full.switches.size == forms.clos_switches(most, radix, tiers) == (2 * tiers - 1) * most / radix
    assert full.cables == tiers * most  # so 2 x tiers ends, all of them modules
    assert 2 * full.cables / most == forms.transceivers_per_host(tiers)
    with pytest.raises(ValueError, match="hosts"):
        build(most + 1, radix, 3 if tiers == 1 else tiers) if tiers > 1 else forms.clos_switches(most + 1, radix, 1)
    some = data.draw(st.integers(1, most), "hosts")
    if tiers > 1:
        assert build(some, radix, tiers).switches.size >= forms.clos_switches(some, radix, tiers)


@given(st.integers(2, 3000), st.sampled_from([4, 8, 16, 32]))
@settings(deadline=None)
def test_fewest_tiers(hosts, radix) -> None:
    tiers = int(forms.clos_tiers(hosts, radix))
    assert forms.clos_hosts(radix, tiers) >= hosts
    assert tiers == 1 or forms.clos_hosts(radix, tiers - 1) < hosts
    if tiers <= 3:
        assert smallest_clos(hosts, radix, LINK).tier.max() == tiers


@pytest.mark.parametrize("radix", [4, 6, 10, 48, 64, 144])
def test_fewest_tiers_at_the_very_edge(radix) -> None:
    tiers = np.arange(1, 5)
    edge = forms.clos_hosts(radix, tiers)
    assert forms.clos_tiers(edge, radix).tolist() == tiers.tolist()
    assert forms.clos_tiers(edge + 1, radix).tolist() == (tiers + 1).tolist()


@pytest.mark.parametrize(("tiers", "radix"), [(1, 8), (2, 4), (2, 8), (3, 4), (3, 6)])
def test_switch_hops(tiers, radix) -> None:
    links = nx.diameter(graph(build(int(forms.clos_hosts(radix, tiers)), radix, tiers)))
    assert links - 1 == forms.switch_hops(tiers)


@pytest.mark.parametrize(("fabric", "r"), [(fat_tree(8, LINK), 1), (leaf_spine(96, 16, LINK, oversubscription=3), 3)])
def test_clos_bisection(fabric, r) -> None:
    """Maximum flow between two halves of the hosts, by networkx."""
    found = nx.DiGraph()
    for a, b in zip(fabric.source.tolist(), fabric.target.tolist(), strict=True):
        found.add_edge(a, b, capacity=found.edges[a, b]["capacity"] + 1 if found.has_edge(a, b) else 1)
    half = fabric.hosts.size // 2
    for host in fabric.hosts.tolist():
        found.add_edge(*(("s", host) if host < half else (host, "t")), capacity=1)
    assert nx.maximum_flow_value(found, "s", "t") == forms.clos_bisection_links(fabric.hosts.size, r)


@pytest.mark.parametrize(("p", "a", "h"), [(2, 4, 2), (1, 2, 1), (1, 2, 3), (3, 2, 2), (4, 8, 4)])
def test_dragonfly_counts(p, a, h) -> None:
    fabric = dragonfly(p, a, h, LINK)
    group = fabric.label("group")
    assert group.max() + 1 == forms.dragonfly_groups(a, h)
    assert fabric.hosts.size == forms.dragonfly_hosts(p, a, h)
    groups = int(group.max()) + 1
    ends = group[fabric.source], group[fabric.target]
    least = min(
        int((np.isin(ends[0], side) & ~np.isin(ends[1], side)).sum())
        for side in islice(combinations(range(groups), groups // 2), 2000)
    )
    assert least == forms.dragonfly_bisection_links(groups)


@pytest.mark.parametrize("radix", [2, 4, 8])
def test_dragonfly_plus_counts(radix) -> None:
    assert dragonfly_plus(radix, LINK).hosts.size == forms.dragonfly_plus_hosts(radix)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3).filter(lambda sides: max(sides) > 1))
@settings(deadline=None, max_examples=40)
def test_torus_distances(sides) -> None:
    hops = dict(nx.all_pairs_shortest_path_length(nx.grid_graph(sides, periodic=True)))
    every = np.array([d for row in hops.values() for d in row.values()])
    n = int(np.prod(sides))
    assert forms.torus_diameter(sides) == every.max()
    assert forms.torus_mean_hops(sides) == pytest.approx(every.sum() / (n * (n - 1)))


@pytest.mark.parametrize("sides", [[4], [6], [2], [2, 2], [2, 2, 2], [4, 2], [4, 3], [4, 4], [2, 2, 4], [6, 2]])
def test_torus_bisection_is_the_least_of_all_equal_cuts(sides) -> None:
    fabric = torus(sides, LINK)
    n = fabric.vertices
    least = fabric.cables
    for side in combinations(range(1, n), n // 2 - 1):
        mask = np.zeros(n, bool)
        mask[[0, *side]] = True
        least = min(least, int((mask[fabric.source] & ~mask[fabric.target]).sum()))
    assert least == forms.torus_bisection_links(sides)


def test_torus_forms_take_many_shapes_at_once() -> None:
    shapes = np.array(list(product([2, 4, 8], repeat=3)))
    for form in (forms.torus_diameter, forms.torus_mean_hops, forms.torus_bisection_links):
        assert form(shapes).tolist() == [float(form(shape)) for shape in shapes]


@pytest.mark.parametrize(("n", "switches", "links"), [(8, 4, 18), (72, 18, 18), (16, 6, 12)])
def test_domain_counts(n, switches, links) -> None:
    fabric = nvlink_domain(n, switches, links, Link(0, 25e9))
    half = fabric.source < n // 2
    assert fabric.capacity[half].sum() == forms.domain_bisection(n, links * 25e9)
    assert 4 * fabric.cables == forms.domain_pairs(n, links)


def test_nvl72() -> None:
    rack = nvl72()
    rate = rack.capacity[rack.leaving(0)].sum()
    assert forms.domain_bisection(72, rate) == 32.4e12
    assert forms.domain_pairs(72, rack.degree[0]) == 5184


@given(st.integers(1, 12), st.integers(2, 6))
def test_same_rail_share(g, nodes) -> None:
    rank = np.arange(g * nodes)
    leaves = rank[:, None] // g != rank[None, :] // g
    same = rank[:, None] % g == rank[None, :] % g
    assert forms.same_rail_share(g) == pytest.approx((leaves & same).sum() / leaves.sum())


@given(st.integers(1, 16).map(lambda half: 2 * half), st.floats(1, 1e9))
def test_bytes_over_the_bisection(n, size) -> None:
    low = np.arange(n) < n // 2
    blocks = np.full((n, n), size / n)
    assert forms.alltoall_bisection_bytes(n, size) == pytest.approx(blocks[np.ix_(low, ~low)].sum())
    ring = np.zeros((n, n))
    for _ in range(2 * (n - 1)):  # steps of a ring all-reduce: each rank hands a chunk to the next
        ring[np.arange(n), (np.arange(n) + 1) % n] += size / n
    assert forms.ring_bisection_bytes(n, size) == pytest.approx(ring[np.ix_(low, ~low)].sum())


@given(st.floats(0.001, 1), st.floats(1.001, 100))
def test_staging_through_the_host(share, slowdown) -> None:
    before, after = 1.0, (1 - share) + share * slowdown
    loss = 1 - before / after
    assert forms.staged_loss(share, slowdown) == pytest.approx(loss)
    assert forms.staged_share(loss, slowdown) == pytest.approx(share)


def test_thirty_percent_need_forty_three_percent_more() -> None:
    assert forms.staged_share(0.3, [2, 3]).tolist() == pytest.approx([0.3 / 0.7, 0.3 / 1.4])


def test_a_thousand_kilometres_hold_a_gigabyte() -> None:
    assert (forms.round_trip([10e3, 1e6]) * 100e9).tolist() == [10e6, 1e9]
    assert forms.round_trip(3e5, 1 / 3e8) == pytest.approx(2e-3)


def test_forms_broadcast() -> None:
    radix, tiers = np.array([[32], [64]]), np.array([1, 2, 3])
    assert forms.clos_hosts(radix, tiers).shape == (2, 3)
    assert forms.clos_switches(32, radix, tiers).shape == (2, 3)
    assert forms.clos_tiers([100, 1000, 10000], radix).tolist() == [[2, 3, 4], [2, 2, 3]]
    assert forms.dragonfly_hosts(2, radix, tiers).shape == (2, 3)
    assert forms.staged_loss([[0.1], [0.2]], [2, 3, 4]).shape == (2, 3)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: forms.clos_hosts(63, 2), "radix = 63 must be even"),
        (lambda: forms.clos_hosts(64, 0), "tiers = 0 must be at least 1"),
        (lambda: forms.clos_hosts(64, 1.5), "tiers = 1.5 must be a whole number"),
        (lambda: forms.clos_switches(2049, 64, 2), "hosts exceeds what these tiers hold"),
        (lambda: forms.clos_tiers(100, 2), "radix = 2 must be at least 4"),
        (lambda: forms.clos_bisection_links(100, 0), "oversubscription = 0 must be above 0"),
        (lambda: forms.torus_bisection_links([4, 5]), "sides = ... 5: the longest side must be even"),
        (lambda: forms.torus_mean_hops([1, 1]), "sides hold a single host"),
        (lambda: forms.torus_diameter([]), r"sides = \[\] must hold at least one side"),
        (lambda: forms.staged_loss(1.1, 2), "share = 1.1 must be at most 1"),
        (lambda: forms.staged_loss(0.5, 0.5), "slowdown = 0.5 must be at least 1"),
        (lambda: forms.staged_share(1, 2), "loss = 1 must be below 1"),
        (lambda: forms.staged_share(0.3, 1), "slowdown = 1 must be above 1"),
        (lambda: forms.round_trip(-1), "metres = -1 must be at least 0"),
        (lambda: forms.clos_switches([1, 2, 3], [4, 8], 2), "these do not broadcast"),
        (lambda: forms.same_rail_share("8"), "g = '8' is not a number"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(call, says) -> None:
    with pytest.raises(ValueError, match=says) as error:
        call()
    assert "\n" not in str(error.value)

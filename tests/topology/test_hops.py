"""Distances: equal to networkx and scipy on random fabrics, whoever may pass messages on."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from netlib.topology import Cables, Fabric, build, distances_to, host_classes, passes
from tests.topology.random_fabrics import LINK, fabrics


def by_networkx(fabric: Fabric, goal: int) -> list[int]:
    """Links from every vertex to `goal`, on the graph where a vertex that passes nothing on has no way through."""
    through = passes(fabric)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(fabric.vertices))
    for a, b in zip(fabric.source.tolist(), fabric.target.tolist(), strict=True):
        if through[b] or b == goal:
            graph.add_edge(a, b)
    found = nx.single_target_shortest_path_length(graph, goal)
    return [dict(found).get(v, -1) for v in range(fabric.vertices)]


@given(fabrics())
def test_distances_equal_networkx(fabric: Fabric) -> None:
    found = distances_to(fabric, np.arange(fabric.vertices))
    assert found.tolist() == [by_networkx(fabric, goal) for goal in range(fabric.vertices)]


@given(fabrics(), st.data())
def test_rows_and_columns_can_be_chosen(fabric: Fabric, data: st.DataObject) -> None:
    some = st.lists(st.integers(0, fabric.vertices - 1), max_size=9)
    goals, among = data.draw(some), data.draw(some)
    everything = distances_to(fabric, np.arange(fabric.vertices))
    assert np.array_equal(distances_to(fabric, goals, among), everything[goals][:, among])
    assert np.array_equal(distances_to(fabric, goals), everything[goals])


@given(fabrics())
def test_distances_are_symmetric_between_places_that_both_pass(fabric: Fabric) -> None:
    inner = np.flatnonzero(passes(fabric))
    found = distances_to(fabric, inner, inner).astype(int)
    assert np.array_equal(found, found.T)
    far = np.where(found < 0, 10**6, found)
    assert np.all(far[:, :, None] + far[None, :, :] >= far[:, None, :])


def test_more_places_than_one_word_and_more_levels_than_one_byte() -> None:
    n = 700
    ring = build("ring", n, range(n), [0] * n, [Cables(range(n), np.roll(range(n), -1), LINK)], forwards=[1] * n)
    links = coo_array((np.ones(ring.links), (ring.source, ring.target)), (n, n)).tocsr()
    assert np.array_equal(distances_to(ring, range(n)), shortest_path(links, unweighted=True))


@given(fabrics())
def test_hosts_of_a_class_are_equally_far_from_everything_else(fabric: Fabric) -> None:
    first, of = host_classes(fabric)
    hosts = fabric.hosts
    assert np.array_equal(np.unique(of), np.arange(first.size))
    assert [hosts[list(of).index(c)] for c in range(first.size)] == first.tolist()
    found = distances_to(fabric, hosts)
    for i, host in enumerate(hosts):
        others = np.setdiff1d(np.arange(fabric.vertices), [host, first[of[i]]])
        same = list(hosts).index(first[of[i]])
        assert np.array_equal(found[i, others], found[same, others])


def test_hosts_with_equal_cables_share_a_class_unless_they_forward() -> None:
    up = [Cables([0, 1, 2, 2], [3, 3, 3, 4], LINK)]
    tier = [0, 0, 0, 1, 1]
    assert host_classes(build("three", 5, [2, 0, 1], tier, up))[1].tolist() == [0, 1, 1]
    assert host_classes(build("three", 5, [2, 0, 1], tier, up, forwards=[1] * 5))[1].tolist() == [0, 1, 2]


def test_the_switch_of_a_node_joins_its_gpus_though_it_forwards_for_nobody() -> None:
    node = build("node", 3, [0, 1], [0, 0, 0], [Cables([0, 1], [2, 2], LINK, "nvlink")])
    assert not node.forwards.any()
    assert distances_to(node, [0]).tolist() == [[0, 2, 1]]


@pytest.mark.parametrize(("name", "value"), [("vertices", [9]), ("among", [-1])])
def test_places_outside_of_the_fabric_are_refused(name: str, value: list[int]) -> None:
    node = build("node", 3, [0, 1], [0, 0, 0], [Cables([0, 1], [2, 2], LINK)])
    with pytest.raises(ValueError, match=f"{name} = {value[0]} is outside of this fabric"):
        distances_to(node, **({"vertices": [0]} | {name: value}))


def test_a_host_that_is_itself_a_goal_still_passes_nothing_on() -> None:
    chain = build("chain", 3, [0, 1, 2], [0, 0, 0], [Cables([0, 1], [2, 2], LINK)])
    assert distances_to(chain, [0, 1, 2]).tolist() == [[0, -1, 1], [-1, 0, 1], [1, 1, 0]]

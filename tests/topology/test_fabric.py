"""Fabric: links come in pairs, failures take both directions, bad input is one sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.links import Link
from netlib.topology import Cables, build

LINK = Link(1e-6, 50e9)


def random_fabric(data: st.DataObject):
    vertices = data.draw(st.integers(2, 12))
    ends = st.tuples(st.integers(0, vertices - 1), st.integers(0, vertices - 1)).filter(lambda p: p[0] != p[1])
    pairs = data.draw(st.lists(ends, min_size=1, max_size=30))
    a, b = zip(*pairs, strict=True)
    return build("random", vertices, [0], [0] * vertices, [Cables(a, b, LINK)])


@given(st.data())
def test_every_link_has_its_other_direction(data) -> None:
    fabric = random_fabric(data)
    e = np.arange(fabric.links)
    assert np.array_equal(fabric.source[e], fabric.target[e ^ 1])
    assert fabric.degree.sum() == fabric.links == 2 * fabric.cables
    assert sorted(np.concatenate([fabric.leaving(v) for v in range(fabric.vertices)])) == e.tolist()
    for v in range(fabric.vertices):
        assert np.all(fabric.source[fabric.leaving(v)] == v)


@given(st.data())
def test_a_failure_takes_both_directions_and_nothing_else(data) -> None:
    fabric = random_fabric(data)
    cable = data.draw(st.integers(0, fabric.cables - 1))
    vertex = data.draw(st.integers(0, fabric.vertices - 1))
    assert fabric.without(cables=[cable]).links == fabric.links - 2
    left = fabric.without(vertices=[vertex])
    assert left.links == fabric.links - 2 * fabric.degree[vertex]
    assert left.degree[vertex] == 0
    assert fabric.without().links == fabric.links


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"hosts": [7]}, "hosts = 7 is outside"),
        ({"hosts": [0.5]}, "whole numbers"),
        ({"tier": [0]}, "tier has shape"),
        ({"cables": [Cables([0], [0], LINK)]}, "cabled to itself"),
        ({"cables": [Cables([0, 1], [1], LINK)]}, "a cable has one of each"),
        ({"cables": [Cables([0], [1], LINK, "string")]}, "not a kind of link"),
        ({"cables": [Cables([0], [1], Link(0, [1.0, 2.0]))]}, "2 values for 1 cables"),
        ({"cables": [Cables([0], [-1], LINK)]}, "b = -1"),
        ({"labels": {"rail": [1]}}, "rail has shape"),
    ],
)
def test_bad_input_is_one_sentence(change, says) -> None:
    good = {"name": "pair", "vertices": 2, "hosts": [0, 1], "tier": [0, 0], "cables": [Cables([0], [1], LINK)]}
    with pytest.raises(ValueError, match=says):
        build(**(good | change))


def test_what_is_asked_of_a_fabric_that_lacks_it() -> None:
    pair = build("pair", 2, [0, 1], [0, 0], [Cables([0], [1], LINK)])
    for ask, says in (
        (lambda: pair.label("rail"), "rail"),
        (lambda: pair.leaving(2), "vertex = 2"),
        (lambda: pair.without(cables=[1]), "cables = 1"),
        (lambda: pair.of_kind("rope"), "rope"),
    ):
        with pytest.raises(ValueError, match=says):
            ask()
    with pytest.raises(ValueError, match="use build"):
        type(pair)(
            "odd",
            pair.hosts,
            pair.tier,
            *(getattr(pair, n)[:1] for n in ("source", "target", "capacity", "latency", "kind")),
        )
    with pytest.raises(ValueError, match="two directions"):
        type(pair)(
            "odd",
            pair.hosts,
            pair.tier,
            pair.source[[0, 0]],
            pair.target[[0, 0]],
            pair.capacity,
            pair.latency,
            pair.kind,
        )

"""Max-min rates against filling in plain Python, and against what defines them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.topology import Subflows, bottleneck, completion_times, is_max_min, max_min_rates, subflows
from tests.topology.filling import drained, filled, heaped

near = {"rtol": 1e-9, "atol": 1e-9}


@st.composite
def networks(draw: st.DrawFn, most: int = 12, least: float = 1.0):
    """Random paths over random links: no order, no topology, many ties."""
    links = draw(st.integers(1, 8))
    row = st.lists(st.integers(0, links - 1), min_size=1, max_size=4, unique=True)
    rows = draw(st.lists(row, min_size=1, max_size=most))
    capacity = draw(st.lists(st.sampled_from([least, 1.0, 2.0, 3.0, 10.0, 0.7]), min_size=links, max_size=links))
    return np.array([r + [-1] * (4 - len(r)) for r in rows]), np.array(capacity)


def knobs(flows: int) -> st.SearchStrategy:
    one = st.lists(st.floats(0.05, 20), min_size=flows, max_size=flows)
    return st.tuples(one, one)


@given(networks(least=0.0), st.data())
def test_rates_are_those_of_filling_link_by_link(network, data) -> None:
    paths, capacity = network
    demand, weight = data.draw(knobs(len(paths)))
    for d, w in ((None, None), (demand, None), (None, weight), (demand, weight)):
        ours = max_min_rates(paths, capacity, d, w)
        np.testing.assert_allclose(ours, filled(paths.tolist(), capacity.tolist(), d, w), **near)
        assert is_max_min(paths, ours, capacity, d, w)
    np.testing.assert_allclose(max_min_rates(paths, capacity), heaped(paths.tolist(), capacity.tolist()), **near)


@given(networks(most=40))
def test_no_link_is_above_its_capacity_and_every_flow_is_held(network) -> None:
    paths, capacity = network
    rates = max_min_rates(paths, capacity)
    load = np.zeros(len(capacity))
    for path, rate in zip(paths, rates, strict=True):
        load[path[path >= 0]] += rate
    assert np.all(load <= capacity * (1 + 1e-9))
    for path, rate, link in zip(paths, rates, bottleneck(paths, rates, capacity), strict=True):
        assert link in path[path >= 0]
        assert load[link] == pytest.approx(capacity[link])
        assert rate >= rates[(paths == link).any(axis=1)].max() * (1 - 1e-9)


@given(networks(), st.randoms(use_true_random=False))
def test_the_order_of_flows_and_the_names_of_links_do_not_matter(network, random) -> None:
    paths, capacity = network
    order, name = list(range(len(paths))), list(range(len(capacity)))
    random.shuffle(order)
    random.shuffle(name)
    named = np.append(name, -1)[paths[order]]
    theirs = capacity[np.argsort(name)]
    np.testing.assert_allclose(max_min_rates(named, theirs), max_min_rates(paths, capacity)[order], **near)


@given(networks(), st.data())
def test_the_slowest_never_loses_by_more_room_or_fewer_flows(network, data) -> None:
    paths, capacity = network
    slowest = max_min_rates(paths, capacity).min()
    wider = capacity.copy()
    wider[data.draw(st.integers(0, len(capacity) - 1))] *= 1.5
    assert max_min_rates(paths, wider).min() >= slowest * (1 - 1e-9)
    if len(paths) > 1:
        fewer = np.delete(paths, data.draw(st.integers(0, len(paths) - 1)), axis=0)
        assert max_min_rates(fewer, capacity).min() >= slowest * (1 - 1e-9)


@given(networks(), st.floats(0.1, 1e12))
def test_rates_scale_with_capacity_and_a_twin_is_a_weight_of_two(network, factor) -> None:
    paths, capacity = network
    rates = max_min_rates(paths, capacity)
    np.testing.assert_allclose(max_min_rates(paths, factor * capacity), factor * rates, rtol=1e-9)
    twins = max_min_rates(np.concatenate([paths, paths[:1]]), capacity)
    heavy = max_min_rates(paths, capacity, weight=[2.0] + [1.0] * (len(paths) - 1))
    np.testing.assert_allclose(heavy, [twins[0] + twins[-1], *twins[1:-1]], **near)


@pytest.mark.parametrize("wrong", ["less for one", "more for one", "a link too full", "above its demand"])
def test_what_is_not_max_min_is_seen(wrong) -> None:
    paths, capacity = [[0, 1], [0, -1], [1, -1]], [10, 30]
    rates, demand = {
        "less for one": ([5, 5, 24], None),
        "more for one": ([4, 6, 26], None),
        "a link too full": ([5, 6, 25], None),
        "above its demand": ([5, 5, 25], [4, 100, 100]),
    }[wrong]
    assert not is_max_min(paths, rates, capacity, demand)


def test_more_capacity_can_make_another_flow_slower() -> None:
    """Only the slowest is safe: here 1 gains a wider first link, takes more of the second, and 2 pays."""
    paths = [[0, 1], [1, -1]]
    before, after = max_min_rates(paths, [2, 10]), max_min_rates(paths, [4, 10])
    assert before.tolist() == [2, 8]
    assert after.tolist() == [4, 6]


def test_many_levels_in_a_chain_and_a_thousand_flows() -> None:
    rng = np.random.default_rng(7)
    chain = np.array([[e, e + 1] for e in range(200)])
    capacity = np.arange(1.0, 202.0)
    np.testing.assert_allclose(max_min_rates(chain, capacity), filled(chain.tolist(), capacity.tolist()), **near)
    paths, capacity = rng.integers(0, 300, (1000, 6)), rng.uniform(1e9, 50e9, 300)
    paths = np.where([[len(set(row)) == 6] for row in paths.tolist()], paths, np.arange(6))
    ours = max_min_rates(paths, capacity)
    np.testing.assert_allclose(ours, filled(paths.tolist(), capacity.tolist()), rtol=1e-9)
    assert is_max_min(paths, ours, capacity)


def test_flows_without_links_and_links_without_room() -> None:
    assert max_min_rates([[-1], [0]], [0]).tolist() == [np.inf, 0]
    assert max_min_rates([[-1, -1], [0, 1], [0, -1], [1, -1]], [10, 30]).tolist() == [np.inf, 5, 5, 25]
    assert max_min_rates([[-1]], [1], demand=[3]).tolist() == [3]
    assert max_min_rates(np.zeros((0, 3), int), [1, 2]).size == 0
    assert max_min_rates(np.zeros((2, 0), int), [], demand=7).tolist() == [7, 7]
    assert bottleneck(np.zeros((2, 0), int), [1, 1], []).tolist() == [-1, -1]
    assert bottleneck([[0], [0]], [2, 8], [20]).tolist() == [-1, -1]
    assert is_max_min([[0]], [0], [0])


def test_a_path_that_crosses_a_link_twice_loads_it_twice() -> None:
    assert max_min_rates([[0, 0], [0, -1]], [9]).tolist() == [3, 3]


@given(networks(most=7), st.data())
def test_completion_times_are_those_of_solving_anew_each_time(network, data) -> None:
    paths, capacity = network
    size = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.5, 1e3]), min_size=len(paths), max_size=len(paths)))
    theirs = drained(paths.tolist(), size, capacity.tolist())
    np.testing.assert_allclose(completion_times(paths, size, capacity), theirs, rtol=1e-8, atol=1e-9)


def test_an_end_reaches_flows_that_share_no_link_with_it() -> None:
    """The first ends, the second doubles, and the third, that never met the first, gives way: 8, then 6."""
    assert completion_times([[0, -1], [0, 1], [1, -1]], [2, 22, 38], [4, 10]).tolist() == [1, 6, 6]


@given(networks(most=30))
def test_with_equal_sizes_the_first_rates_last_to_the_end(network) -> None:
    paths, capacity = network
    ends = completion_times(paths, 6.0, capacity)
    np.testing.assert_allclose(ends, 6.0 / max_min_rates(paths, capacity), rtol=1e-9)
    np.testing.assert_allclose(ends, drained(paths.tolist(), [6.0] * len(paths), capacity.tolist()), rtol=1e-8)


@given(networks(most=10), st.data())
def test_a_link_carries_its_bytes_no_faster_than_it_can(network, data) -> None:
    paths, capacity = network
    size = np.array(data.draw(st.lists(st.floats(0.1, 100), min_size=len(paths), max_size=len(paths))))
    ends = completion_times(paths, size, capacity)
    for e in np.unique(paths[paths >= 0]):
        on = (paths == e).any(axis=1)
        assert ends[on].max() >= size[on].sum() / capacity[e] * (1 - 1e-9)


def test_flows_that_wait_for_ever_or_not_at_all() -> None:
    assert completion_times([[0], [1], [-1], [1]], [5, 5, 5, 0], [0, 5]).tolist() == [np.inf, 1, 0, 0]
    assert completion_times(np.zeros((0, 2), int), 1, [1]).size == 0


def test_subflows_sum_or_wait_for_the_slowest() -> None:
    both = subflows([1.0, 3.0, 2.0, 2.0], pairs=2)
    assert isinstance(both, Subflows)
    assert both.total.tolist() == [4, 4]
    assert both.equal.tolist() == [2, 4]
    assert subflows([], 3).equal.size == 0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: max_min_rates([0, 1], [1, 1]), "paths has shape"),
        (lambda: max_min_rates([[0.5]], [1]), "paths has shape"),
        (lambda: max_min_rates([[2]], [1, 1]), "paths = 2 is no link of these 2"),
        (lambda: max_min_rates([[-2]], [1, 1]), "paths = -2 is no link"),
        (lambda: max_min_rates([[0]], [[1]]), "capacity has shape"),
        (lambda: max_min_rates([[0]], [-1]), "capacity = -1"),
        (lambda: max_min_rates([[0]], [np.inf]), "capacity = inf must be finite"),
        (lambda: max_min_rates([[0]], [1], weight=[0]), "weight = 0 must be above 0"),
        (lambda: max_min_rates([[0]], [1], demand=[1, 2]), "demand has shape"),
        (lambda: max_min_rates([[0]], [1], demand=[-1]), "demand = -1"),
        (lambda: completion_times([[0]], [1, 2], [1]), "size has shape"),
        (lambda: is_max_min([[0]], [-1], [1]), "rates = -1"),
        (lambda: subflows([1, 2, 3], 2), "pairs = 2 does not divide the 3 rates"),
        (lambda: subflows([1], 0), "pairs = 0"),
    ],
)
def test_bad_input_is_one_sentence(call, says) -> None:
    with pytest.raises(ValueError, match=says):
        call()

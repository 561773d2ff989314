"""What busbw a schedule can print: counted from messages on links, against arithmetic by hand."""

import pytest

from netlib import collectives as c
from netlib.links import Link
from netlib.topology import one_switch, rail_optimised

NVLINK, NIC = Link(0, 450e9), Link(0, 50e9)


def limits(made, nodes):
    found = c.busbw_limits(made, rail_optimised(nodes, 8, 64, NIC, inside=NVLINK))
    return found["nvlink"] / 1e9, found["access"] / 1e9


@pytest.mark.parametrize("nodes", [2, 4, 8, 16])
def test_rings_on_every_card_print_the_cards(nodes):
    inside, outside = limits(c.multirail_ring_allreduce(8, nodes), nodes)
    assert outside == pytest.approx(8 * 50, rel=1e-12)  # which is why the factor is what it is
    assert inside == pytest.approx(450 * 8 / 7, rel=1e-12)  # each rank is the exit of one ring of eight


@pytest.mark.parametrize("nodes", [2, 4, 8, 16])
def test_one_ring_prints_one_card(nodes):
    assert limits(c.ring_allreduce(8 * nodes), nodes) == pytest.approx((450, 50), rel=1e-12)


@pytest.mark.parametrize(("nodes", "passes"), [(2, 1), (4, 2), (8, 2), (16, 2)])
def test_two_nodes_look_twice_as_fast(nodes, passes):
    """A node's cards pass the buffer once each way between two nodes, and twice in the middle of a tree of more."""
    n = 8 * nodes
    _, outside = limits(c.nvls_tree_allreduce(8, nodes), nodes)
    assert outside == pytest.approx(2 * (n - 1) / n * 400 / passes, rel=1e-12)


@pytest.mark.parametrize("nodes", [2, 4, 8])
def test_an_all_to_all_prints_more_than_its_cards(nodes):
    """A share of the blocks stays inside: (n-1)/n over the share (N-1)/N that leaves through one card."""
    n = 8 * nodes
    for made in (c.pairwise_all_to_all(n), c.pxn_all_to_all(8, nodes)):
        outside = limits(made, nodes)[1]
        assert outside == pytest.approx((n - 1) / n / ((nodes - 1) / nodes) * 50, rel=1e-12)


def test_a_link_that_carries_nothing_has_no_limit():
    assert c.busbw_limits(c.ring_allreduce(1), one_switch(2, NIC)) == {}


def test_half_the_capacity_is_half_the_limit():
    even, slow = (
        c.busbw_limits(c.ring_allreduce(4), net) for net in (one_switch(4, NIC), one_switch(4, Link(0, 25e9)))
    )
    assert even["access"] == 2 * slow["access"] == pytest.approx(50e9)


def test_a_schedule_and_a_fabric_are_asked_for():
    with pytest.raises(ValueError, match="schedule = 'ring' is not a Schedule; make one with"):
        c.busbw_limits("ring", one_switch(2, NIC))
    with pytest.raises(ValueError, match="schedule has 4 ranks, but only 2 have a host"):
        c.busbw_limits(c.ring_allreduce(4), one_switch(2, NIC))

"""Sizing: the bill counted on a fabric against closed forms, by hand, and the megawatts of a hundred thousand GPUs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib import hardware
from netlib.links import Link
from netlib.topology import bill, clos3, clos_bill, dragonfly, fat_tree, leaf_spine, torus

LINK = Link(1e-6, 100e9)


@given(st.sampled_from([4, 6, 8, 12, 16]))
def test_the_counted_bill_of_whole_clos_fabrics_is_the_closed_form(radix):
    assert bill(fat_tree(radix, LINK)) == clos_bill(radix**3 // 4, radix, tiers=3)
    assert bill(leaf_spine(radix**2 // 2, radix, LINK)) == clos_bill(radix**2 // 2, radix, tiers=2)


def test_pods_of_a_three_tier_clos():
    assert bill(clos3(4096, 64, LINK)) == clos_bill(4096, 64, tiers=3)
    assert clos_bill(4096, 64, tiers=3).switches == (128, 128, 64)
    assert clos_bill(4096, 64, tiers=3).switches_per_host == 5 / 64


@given(st.integers(1, 2048))
def test_partly_filled_the_closed_form_is_a_lower_bound(hosts):
    counted, closed = bill(leaf_spine(hosts, 64, LINK)), clos_bill(hosts, 64, tiers=2)
    assert counted.switches[0] == closed.switches[0]
    assert counted.switches[1] >= closed.switches[1]
    assert counted.transceivers >= closed.transceivers == 4 * hosts


def test_modules_and_megawatts_for_a_hundred_thousand_gpus():
    """Two tiers need radix 448, as ports or as planes; the modules do not depend on it."""
    for radix in (64, 144, 446):
        with pytest.raises(ValueError, match=f"2 tiers of radix {radix} hold .*; give radix 448 or more"):
            clos_bill(100_000, radix, tiers=2)
    two, three = clos_bill(100_000, 448, tiers=2), clos_bill(100_000, 144, tiers=3)
    assert (two.transceivers, three.transceivers) == (400_000, 600_000)
    assert hardware.fact("optics-2x400-sr-watts").value == 15
    assert (two.transceiver_watts, three.transceiver_watts) == (6.0e6, 9.0e6)
    packaged = hardware.fact("cpo-1600-watts").value / 2  # a port of 800G is half of one of 1.6T
    assert clos_bill(100_000, 144, tiers=3, transceiver_watts=packaged).transceiver_watts == 2.7e6


def test_every_assumption_is_a_knob():
    tree = fat_tree(4, LINK)
    assert bill(tree, optical=("trunk",)).transceivers == 64
    assert bill(tree, optical=()).transceivers == 0
    made = bill(tree, switch_watts=100, transceiver_watts=10, nics_per_host=2, nic_watts=25)
    assert (made.switch_watts, made.transceiver_watts, made.nic_watts) == (2000, 960, 800)
    assert made.watts == 3760
    assert made.watts_per_host == 235
    assert made.nics == 32
    assert made.cost(switch=1, transceiver=0.1, cable=0.01, nic=2) == pytest.approx(20 + 9.6 + 0.48 + 64)
    assert bill(tree).switch_watts == 20 * hardware.fact("tomahawk5-box-watts").value
    assert clos_bill(16, 4, tiers=3, optical=("trunk",)) == bill(tree, optical=("trunk",))


def test_other_shapes():
    fly = bill(dragonfly(2, 4, 2, LINK))
    assert fly.switches == (36,)
    assert fly.cables == {"access": 72, "local": 54, "global": 36}
    assert fly.transceivers == 2 * (72 + 54 + 36)
    cube = bill(torus([4, 4, 4], LINK), optical=("ici",), nics_per_host=0)
    assert (cube.switches, cube.nics, cube.transceivers) == ((), 0, 2 * 192)
    assert clos_bill(64, 64, tiers=1).switches == (1,)
    assert clos_bill(64, 64, tiers=1).transceivers_per_host == 2


def test_refusals_name_the_fix():
    with pytest.raises(ValueError, match="optical = 'fibre' is not a kind of cable; use some of nvlink"):
        bill(fat_tree(4, LINK), optical=("fibre",))
    with pytest.raises(ValueError, match="switch_watts = -1 must be at least 0"):
        bill(fat_tree(4, LINK), switch_watts=-1)
    with pytest.raises(ValueError, match="tiers = 0 must be a whole number, 1 or more"):
        clos_bill(16, 4, tiers=0)
    with pytest.raises(TypeError):
        clos_bill(16, 4, tiers=3).cost()

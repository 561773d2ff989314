"""The explorers of the scale-out chapter: the numbers a reader finds there, and the states that fail."""

import numpy as np
import pytest

from netlib.course.explorer import find, state
from netlib.links import Link
from netlib.topology import bisection, fat_tree, leaf_spine, measured_growth


@pytest.mark.parametrize(
    ("radix", "hosts", "tiers", "switches"),
    [(64, 1024, 2, 48), (32, 1024, 3, 160), (64, 4096, 3, 320), (144, 8192, 2, 171)],
)
def test_clos_size_counts(radix, hosts, tiers, switches):
    found = state("clos-size", radix=radix, hosts=float(hosts))
    assert (found["tiers"], found["hops"], found["switches"]) == (tiers, 2 * tiers - 1, switches)


def test_clos_size_doubles_with_the_hosts_and_fails_beyond_three_tiers():
    assert state("clos-size")["growth"] == 2
    assert state("clos-size", hosts=2048.0)["growth"] == pytest.approx(320 / 96)
    assert "4 tiers" in state("clos-size", radix=16, hosts=4096.0)["failure"]


def test_collisions_are_exact_and_the_throw_holds_every_flow():
    assert state("ecmp-collide")["hottest"] == pytest.approx(2.5972, rel=1e-4)
    assert state("ecmp-collide", qps=8)["speed"] == pytest.approx(0.6539, rel=1e-3)
    for links in (2, 4, 8, 16):
        throw = state("ecmp-collide", links=links, qps=4, throw=2)["this throw"]
        assert np.nansum(throw) == pytest.approx(links)
        assert np.isfinite(throw).sum() == links


def test_the_ledger_under_each_policy():
    assert state("link-ledger", policy="spray")["hottest"] == pytest.approx(1)
    for policy in ("D-mod-k", "spray"):
        assert state("link-ledger", traffic="shift by a leaf", policy=policy)["hottest"] == pytest.approx(1), policy
    assert state("link-ledger", policy="ECMP")["hottest"] >= 2
    assert state("link-ledger", policy="adaptive")["hottest"] < state("link-ledger", policy="ECMP")["hottest"]
    assert "no routing mends that" in state("link-ledger", traffic="4 to 1", policy="spray")["failure"]


def test_a_broken_part_carries_nothing_and_the_rest_more():
    whole = state("link-ledger", traffic="all-to-all", policy="spray")
    less = state("link-ledger", traffic="all-to-all", policy="spray", broken="one spine")
    assert np.isnan(less["load"]).sum() == 8  # a spine and four leaves, both ways; parallel cables are drawn as one
    assert less["trunk"] == pytest.approx(2 * whole["trunk"])


@pytest.mark.parametrize("wiring", ["spines join the rails", "rail-only: no spines"])
def test_rails(wiring):
    for relay in ("by PXN", "each GPU its own NIC"):
        ring = state("rails-map", traffic="all-reduce, a ring per rail", relay=relay, wiring=wiring)
        assert (ring["own"], ring["spine"], ring["lost"]) == (1, 0, 0)
    relayed = state("rails-map", traffic="all-to-all", relay="by PXN", wiring=wiring)
    assert (relayed["own"], relayed["nvlink"], relayed["lost"]) == (pytest.approx(1), pytest.approx(7 / 8), 0)
    alone = state("rails-map", traffic="all-to-all", relay="each GPU its own NIC", wiring=wiring)
    spines = wiring.startswith("spines")
    assert alone["spine"] == pytest.approx(7 / 8 if spines else 0)
    assert alone["lost"] == pytest.approx(0 if spines else 7 / 8)
    assert ("have no way" in alone["failure"]) is not spines


def test_optics():
    found = state("optics-power")
    assert (found["modules"], found["power"], found["each"]) == (600_000, 9e6, 90)
    assert state("optics-power", radix=512, watts=15.0)["modules"] == 400_000
    assert not state("optics-power", hosts=1024.0)["failure"]


def test_dragonflies():
    found = state("dragonfly-groups")
    assert (found["groups"], found["hosts"], found["ports"]) == (545, 279_040, 64)
    assert "cannot be built" in state("dragonfly-groups", h=24)["failure"]
    same = state("dragonfly-or-clos", hosts=16_384.0)
    assert (same["clos"], same["dragonfly"], same["plus"]) == (1280, 1024, 1024)
    assert "buys nothing" in state("dragonfly-or-clos", hosts=2048.0)["failure"]


def test_a_taper():
    found = state("taper", replicas=1)
    assert (found["full"], found["time"]) == (pytest.approx(0.22148, rel=1e-4), pytest.approx(1.55039, rel=1e-4))
    assert state("taper", replicas=8, ratio=7)["time"] < found["full"]
    assert "shrink its traffic" in state("taper", ratio=15, replicas=1)["failure"]


def test_scale_across():
    found = state("scale-across")
    assert (found["rtt"], found["need"], found["share"]) == (pytest.approx(1e-4), pytest.approx(10e6), 1)
    far = state("scale-across", distance=1000.0)
    assert far["rate"] == pytest.approx(32e6 / 0.01)
    assert "too small" in far["failure"]


def test_staging():
    assert state("staging")["needed"] == pytest.approx(0.3 / 0.7 / 0.2)
    assert "must not be staged" in state("staging", slowdown=3.0, share=0.3)["failure"]


def test_planes_keep_what_one_plane_loses():
    kept = {
        design: state("planes-rails-tiers", design=design, broken="a leaf")["access"]
        for design in ("one plane", "two planes", "four planes")
    }
    assert kept == {"one plane": 0, "two planes": 0.5, "four planes": 0.75}
    own = find("planes-rails-tiers")
    switches = {state(own.id, design=design)["switches"] for design in own.knobs["design"].values}
    assert len(switches) == 1, "all four wirings use the same silicon"
    whole = leaf_spine(64, 16, Link(0.0, 1.0))
    spine = int(np.flatnonzero(whole.tier == 2)[0])
    share = bisection(whole.without(vertices=[spine])).bandwidth / bisection(whole).bandwidth
    assert state(own.id, design="one plane", broken="a spine")["bisection"] == pytest.approx(share)


def test_permutation_rates_rise_with_queue_pairs_and_stay_below_a_port():
    policies = ("ECMP", "ECMP, 2 queue pairs", "ECMP, 4 queue pairs", "ECMP, 8 queue pairs")
    found = [state("permutation-rates", policy=policy) for policy in policies]
    means = [each["mean"] for each in found]
    assert means == sorted(means)
    assert 0.43 < means[0] < 0.53
    assert all(np.max(each["flows"]) <= 1 + 1e-9 for each in found)
    assert all(each["equal"] <= each["mean"] + 1e-9 for each in found)
    assert found[0]["hosts"] == fat_tree(8, Link(0.0, 1.0)).hosts.size


def test_growth_is_the_kept_table():
    kept = measured_growth()
    assert state("growth")["largest"] == pytest.approx(kept.total[-1])
    assert state("growth", step="find routes")["largest"] == pytest.approx(kept.seconds["route"][-1])

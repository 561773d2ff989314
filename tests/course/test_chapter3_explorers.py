"""The explorers of the collectives chapter: the numbers a reader finds there, and the states that fail."""

import itertools

import numpy as np
import pytest

from netlib import collectives as c
from netlib.course.explorer import state
from netlib.course.explorers.fidelity_map import USABLE
from netlib.fidelity import judge, published_rows, summary
from netlib.fidelity.score import about
from netlib.hardware import bandwidth, node
from netlib.units import GB, GiB, MiB

# ---- ring-bytes


@pytest.mark.parametrize(("n", "buffers"), [(2, 1.0), (8, 1.75), (1024, 1.998046875)])
def test_a_ring_sends_two_n_minus_one_nths(n, buffers):
    found = state("ring-bytes", ranks=n, size=140 * GB)
    assert found["buffers"] == pytest.approx(buffers, rel=1e-12)
    assert found["each"] == pytest.approx(buffers * 140e9)


@pytest.mark.parametrize("n", [2, 4, 8, 16, 32])
@pytest.mark.parametrize(
    ("collective", "line", "builder"),
    [
        ("all_reduce", "ring", c.ring_allreduce),
        ("all_reduce", "doubling", c.recursive_doubling_allreduce),
        ("reduce_scatter", "ring", c.ring_reduce_scatter),
        ("all_gather", "doubling", c.bruck_all_gather),
        ("broadcast", "doubling", c.binomial_broadcast),
    ],
)
def test_lines_are_the_bytes_an_executed_collective_sends(n, collective, line, builder):
    sent = c.counts(builder(n), 1.0).sent.max()
    found = state("ring-bytes", collective=collective)
    assert found[line][found["x"].index(n)] == pytest.approx(sent)


def test_doubling_fails_with_large_buffers_only():
    assert "3.5 s longer" in state("ring-bytes", ranks=8, size=140 * GB)["failure"]
    assert not state("ring-bytes", ranks=1024, size=1 * GB)["failure"]


# ---- four-lines

LINES = {
    "Blackwell + 800G": (0.272222, 0.306790, 2.797266, 0.619488, 4.515),
    "Hopper + 400G": (0.544444, 0.613580, 5.594531, 1.238976, 4.515),
    "Blackwell + 400G": (0.272222, 0.306790, 5.594531, 0.966753, 5.787),
    "Rubin + 2 x 800G": (0.136111, 0.153395, 1.398633, 0.309744, 4.515),
}


@pytest.mark.parametrize("preset", LINES)
def test_the_four_lines(preset):
    found = state("four-lines", preset=preset)
    for name, value in zip(("node", "rack", "flat", "both"), LINES[preset], strict=False):
        assert found[name] == pytest.approx(value, abs=6e-7)
    assert found["ratio"] == pytest.approx(LINES[preset][4], abs=6e-4)
    assert np.add(found["NVLink"], found["NIC"]) == pytest.approx(LINES[preset][:4], abs=6e-7)
    assert found["truth"] == pytest.approx(found["both"])
    assert not found["failure"]


def test_mixed_directions_hide_a_fifth():
    found = state("four-lines", preset="Hopper, directions mixed")
    assert (found["both"], found["truth"]) == pytest.approx((0.966753, 1.238976), abs=1e-6)
    assert "1.239 s, not 0.967 s: the slip hides 22%" in found["failure"]


# ---- rails


def test_rails_against_the_measurement():
    found = state("rails")
    numbers = [found[name] for name in ("one", "serial", "whole", "measured")]
    assert numbers == pytest.approx([0.666, 0.0978, 0.0832, 0.0872], abs=5e-4)
    assert "measured: 87.2 ms" in found["reading"]


def test_rails_on_the_program_of_the_article():
    found = state("rails", kind="B300 + 800G", nodes=128, nics=8)
    scale = 140e9 / (16 * GiB)
    assert found["whole"] * scale == pytest.approx(0.349658, abs=1e-6)
    assert found["serial"] * scale == pytest.approx(0.619488, abs=1e-6)
    assert found["piped"] * scale == pytest.approx(0.347266, abs=1e-6)
    assert found["strawman"] == pytest.approx(4.515, abs=1e-3)
    assert found["honest"] == pytest.approx(0.349658 / 0.619488, rel=1e-5)
    assert np.isnan(found["measured"])


@pytest.mark.parametrize(("nics", "times"), [(1, 8), (2, 4), (4, 2), (8, 1)])
def test_every_idle_nic_costs_its_share(nics, times):
    found = state("rails", nics=nics, nodes=4)
    assert found["used"] / found["whole"] == pytest.approx(times)
    assert bool(found["failure"]) is (nics < 8)


# ---- domain-size


def test_halves_balance_at_ten():
    assert state("domain-size")["balance"] == pytest.approx(10)
    assert state("domain-size", out=bandwidth("ndr-400"))["balance"] == pytest.approx(19)


def test_try_it_two_a_domain_of_72():
    found = state("domain-size", domain=72)
    assert (found["inside"], found["across"]) == pytest.approx((0.306790, 0.036111), abs=1e-6)
    assert found["both"] == pytest.approx(0.342901, abs=1e-6)
    assert found["gain"] == pytest.approx(1.807, abs=5e-4)
    assert "89% of the time is NVLink" in found["failure"]


def test_try_it_one_twice_the_nic_and_rubin():
    rubin = node("rubin-nvl72")
    base, nic = state("domain-size"), state("domain-size", out=rubin.out)
    assert base["both"] == pytest.approx(0.619488, abs=1e-6)
    assert nic["both"] == pytest.approx(0.445855, abs=1e-6)
    both = state("domain-size", out=rubin.out, up=rubin.up)
    assert base["both"] / both["both"] == pytest.approx(2.0)


def test_the_halves_cross_where_the_mark_stands():
    found = state("domain-size")
    x, inside, across = (np.array(found[name]) for name in ("x", "NVLink half", "NIC half"))
    assert x[np.argmax(inside > across)] == 10


# ---- busbw-wire


def test_480_on_eight_ranks():
    found = state("busbw-wire")
    assert found["algbw"] == pytest.approx(274.2857e9, rel=1e-6)
    assert found["nvls"] == pytest.approx(308.5714e9, rel=1e-6)
    assert found["link"] == bandwidth("nvlink4")
    assert "No ring printed this" in found["failure"]


def test_two_nodes_can_print_more_than_their_nics():
    found = state("busbw-wire", ranks=16, printed=480 * GB)
    assert found["tree"] == pytest.approx(256e9)
    assert found["link"] == pytest.approx(400e9)
    assert np.isnan(found["nvls"])
    assert "No ring printed this" in found["failure"]


def test_some_prints_no_algorithm_explains():
    assert "suspect bits" in state("busbw-wire", ranks=32, printed=840 * GB)["failure"]
    assert not state("busbw-wire", ranks=8, printed=360 * GB)["failure"]
    assert np.isnan(state("busbw-wire", kind="A100 + 200G")["nvls"]), "NVSwitch 2 does not add"


# ---- sharding-bytes


def test_fsdp_sends_half_as_much_again():
    found = state("sharding-bytes")
    assert (found["ddp"], found["fsdp"]) == pytest.approx((279.727e9, 419.590e9), rel=1e-5)
    series = ("reduced", "gathered", "gathered again")
    assert np.sum([found[name] for name in series], axis=0) == pytest.approx([found["ddp"]] * 3 + [found["fsdp"]])


def test_zero_keeps_what_its_paper_says():
    """Rajbhandari et al. (2020), table 1: 7.5 billion parameters on 64 ranks keep 120, 31.4, 16.6 and 1.88 GB."""
    found = state("sharding-bytes", params=7, dp=64)
    paper = np.array([120, 31.4, 16.6, 1.88]) * 1e9 * 7 / 7.5
    assert found["kept"] == pytest.approx(paper, rel=5e-3)


def test_ddp_fits_a_small_model_only():
    assert not state("sharding-bytes", params=3)["failure"]
    assert "The first that does is ZeRO-1" in state("sharding-bytes", params=7, dp=2)["failure"]
    assert "at any stage" in state("sharding-bytes", params=70, dp=8)["failure"]


# ---- dp-degree


@pytest.mark.parametrize(
    ("tp", "pp", "dp", "shard", "summed", "sent", "seconds"),
    [
        (1, 1, 1024, 140, 143.36, 279.73, 5.594531),
        (8, 1, 128, 17.5, 17.92, 34.727, 0.694531),
        (8, 4, 32, 4.375, 4.48, 8.4766, 0.169531),
        (8, 8, 16, 2.1875, 2.24, 4.1016, 0.082031),
    ],
)
def test_layouts_of_a_thousand_gpus(tp, pp, dp, shard, summed, sent, seconds):
    found = state("dp-degree", tp=tp, pp=pp)
    assert found["dp"] == dp
    got = (found["shard"] / GB, found["summed"] / 1e12, found["sent"] / GB, found["seconds"])
    assert got == pytest.approx((shard, summed, sent, seconds), rel=1e-4)


def test_layouts_that_do_not_exist_or_do_not_fit():
    for tp, pp in itertools.product((1, 2, 4, 8, 10, 16), repeat=2):
        found = state("dp-degree", tp=tp, pp=pp)
        if 1024 % (tp * pp):
            assert "does not divide" in found["failure"]
            assert np.isnan(found["dp"])
            assert np.isnan(found["sent"])
        else:
            assert ("Does not fit" in found["failure"]) is (280 / (tp * pp) > 80)
    assert state("dp-degree")["claim"] == pytest.approx(10)


# ---- bucket-size


def test_a_tenth_of_latency_needs_a_gigabyte():
    found = state("bucket-size")
    assert found["tenth"] == pytest.approx(1.152e9)
    assert found["flat"] == pytest.approx(9.216e9)
    assert found["steps"] == 126
    at = np.interp(np.log(found["tenth"]), np.log(found["x"]), found["rail rings"])
    assert at == pytest.approx(0.1, abs=2e-3)


def test_the_usual_bucket_is_mostly_waiting():
    found = state("bucket-size")
    latency, transfer = 126 * 5e-6, 2 * 63 / 64 * 25 * MiB / 8 / 50e9
    assert found["usual"] == pytest.approx(latency / (latency + transfer))
    assert "25 MiB" in found["failure"]
    assert not state("bucket-size", alpha=1e-6, nodes=2)["failure"]


# ---- log-over-model


def test_four_nodes_of_b200_as_two_constants():
    found = state("log-over-model")
    assert found["alpha"] == pytest.approx(416e-6, rel=0.01)
    assert found["rate"] == pytest.approx(365e9, rel=0.01)
    assert found["median"] < 0.065


def test_one_node_of_b200_has_a_kink_that_two_constants_miss():
    two, three = (
        state("log-over-model", table="8 B200", model=m) for m in ("alpha and beta", "with a sqrt(size) term")
    )
    assert two["alpha"] == pytest.approx(62e-6, rel=0.03)
    assert two["rate"] == pytest.approx(735e9, rel=0.01)
    assert three["median"] < two["median"]
    assert abs(two["worst"]) > 0.25


def test_points_are_the_published_rows():
    found = state("log-over-model", table="8 A100")
    rows = {float(r["message_bytes"]): float(r["value"]) for r in published_rows() if r["id"].startswith("AZA100-")}
    shown = [v for v in found["measured"] if np.isfinite(v)]
    assert shown == pytest.approx([rows[s] * 1e9 for s in sorted(rows)])


# ---- fidelity-map


def test_the_map_counts_as_the_report_does():
    groups = [g for g in summary(judge(published_rows())) if about(g.group) == "collectives"]
    found = state("fidelity-map")
    assert found["rows"] == sum(g.rows for g in groups)
    assert found["hit"] == sum(g.hits for g in groups)
    worst = max(groups, key=lambda g: abs(g.worst_error))
    assert worst.worst in found["reading"]
    assert found["worst"] == pytest.approx(1 + worst.worst_error)
    assert np.isfinite(found["hits"]).sum() == found["hit"]


@pytest.mark.parametrize(
    ("place", "messages", "name"),
    [
        ("one domain", "small", "busbw: one domain, < 1 MiB"),
        ("one domain", "large", "busbw: one domain, >= 256 MiB"),
        ("across domains", "medium", "busbw: across domains, 16 MiB - 1 GiB"),
    ],
)
def test_a_group_of_the_map_is_a_group_of_the_report(place, messages, name):
    group = next(g for g in summary(judge(published_rows())) if g.group == name)
    found = state("fidelity-map", place=place, messages=messages)
    assert (found["rows"], found["hit"]) == (group.rows, group.hits)
    assert found["median"] == pytest.approx(group.median)
    assert found["tolerance"] == group.tolerance
    assert np.isfinite(found["misses"]).sum() == group.rows - group.hits
    assert bool(found["failure"]) is (group.hits < USABLE * group.rows)

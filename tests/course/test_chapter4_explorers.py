"""What chapter 4 says about its figures, read off them."""

import numpy as np
import pytest

from netlib.congestion.fluid.planes import Plane
from netlib.course.explorer import find, state
from netlib.course.explorers import permutation, phase_planes, queue_by_control


def hills(seen, full=1e4):
    """Starts and ends of the queue's hills in s."""
    time, queue = np.array(seen["x"]), np.nan_to_num(seen["queue"]) > full
    return time[1:][queue[1:] & ~queue[:-1]], time[1:][~queue[1:] & queue[:-1]]


def test_the_silence_between_hills_is_a_tick_of_the_timer_and_the_beat_is_longer():
    start, end = hills(state("dcqcn-heartbeat", parameters="ns-3, PowerTCP's copy, 900 us"))
    assert len(start) == 3
    assert start[1:] - end[:-1] == pytest.approx(900e-6, rel=0.05)
    assert np.all((end - start > 0.25e-3) & (end - start < 0.6e-3))
    assert np.diff(start) == pytest.approx([1.2e-3, 1.4e-3], abs=0.05e-3)


def test_one_path_a_flow_makes_controls_alike_and_a_path_a_packet_parts_them():
    last = {
        (way, control): state("permutation", paths=way, control=control, hosts=128)["last"]
        for way in permutation.PATHS
        for control in permutation.CONTROLS
    }
    alone = last["one path a flow", "pauses only"]
    assert all(0.9 < last["one path a flow", control] / alone < 1.12 for control in permutation.CONTROLS)
    assert alone == pytest.approx(state("permutation", hosts=128)["fair"], rel=0.01)
    sprayed = {
        control: last["a path a packet", control] / last["a path a packet", "pauses only"]
        for control in permutation.CONTROLS
    }
    assert sprayed.pop("HPCC") == pytest.approx(1.35, abs=0.05)
    assert sprayed.pop("PowerTCP") == pytest.approx(1.6, abs=0.05)
    assert all(times < 1.05 for times in sprayed.values())


def test_an_all_to_all_is_gentler_than_a_permutation():
    for control in permutation.CONTROLS:
        gentle, hard = state("all-to-all", control=control), state("permutation", control=control)
        assert 1.15 < gentle["times"] < 1.5 < 2.5 < hard["times"]
        assert state("all-to-all", control=control, paths="a path a packet")["times"] < 1.1


def test_receivers_credits_keep_the_senders_equal_and_the_trimming_switch_the_queue_short():
    for senders in (8, 16, 32):
        seen = state("queue-by-control", control="RCCC", senders=senders)
        place = list(queue_by_control.CONTROLS).index("RCCC")
        assert seen["with its switch"][place] == pytest.approx(seen["waits"])
        assert seen["alone"] > 0.7 * (senders - 1)  # round trips: the first burst stays while all send
        assert seen["waits"] < 0.5
        assert 0.05 < seen["trimmed"] < 0.1
        assert f"{seen['trimmed']:.0%} of the packets" in seen["reading"]
        assert seen["last"] < 1.02 * seen["first"] + 0.05
        assert seen["failure"] == "The switch keeps the queue short, not the control."


def test_controls_without_trimming_have_the_same_queue_with_room_for_all():
    for control in ("DCTCP", "Swift", "HPCC", "PowerTCP"):
        seen = state("queue-by-control", control=control)
        assert (seen["alone"], seen["trimmed"]) == (seen["waits"], 0)


def test_laws_of_the_phase_plane_end_where_the_paper_says():
    for added in (10e3, 50e3):
        assert state("phase-planes", law="power", added=added)["low"] == pytest.approx(added, rel=0.05)
    gain = phase_planes.GAMMA / 20e-6
    plane = Plane("power", phase_planes.RATE, phase_planes.TRIP, 10e3, gain)
    assert state("phase-planes", law="power")["near"] < 8 / np.abs(plane.decay).min()
    current = state("phase-planes", law="current", added=0.0)
    assert current["high"] > 10 * current["low"] + 1e5


def test_windows_of_the_traces_add_up_to_what_is_delivered():
    for senders in (8, 16):
        seen = state("incast-traces", control="RCCC", senders=senders)
        assert np.trapezoid(seen["delivered"], seen["x"]) == pytest.approx(5e5 * 4150 / 4086, rel=0.03)


def test_a_pause_in_the_traces_needs_the_small_switch():
    small, large = find("incast-traces").knobs["buffer"].values[::-1]
    assert state("incast-traces", control="none, pauses only", senders=16, buffer=large)["paused"] == 0
    seen = find("incast-traces")(control="none, pauses only", senders=16, buffer=small)
    assert max(seen.panels[3].elements[0].y) > 0.9

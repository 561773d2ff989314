"""Any control in any scenario: everything runs, the same seed gives the same bits, and what does not belong is "
"refused."""

from dataclasses import replace
from itertools import product
from typing import get_args

import numpy as np
import pytest

from netlib.congestion.experiments import LOSSLESS, Scenario, experiment
from netlib.congestion.packets.drops import Buffers
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.traffic import Packet
from netlib.congestion.parameters import Marking, Uncontrolled
from netlib.congestion.presets import preset, preset_names, preset_record
from netlib.congestion.repetition import over_seeds
from netlib.links import Link
from netlib.topology import fat_tree
from tests.nonsense import one_sentence_or_a_result

SCENARIOS = get_args(Scenario)
CONTROLS = ("dcqcn", "timely", "dctcp", "swift", "hpcc", "powertcp", "nscc", "credits", "uncontrolled")


def _complete(control: str, name: str) -> bool:
    """Whether a preset has all fields: some sources leave out what no engine can guess."""
    return not preset_record(control, name).missing


def _few(scenario: str) -> int | None:
    return None if scenario == "loss" else 4


PAIRS = [(each, name) for each in CONTROLS for name in preset_names(each) if _complete(each, name)]


@pytest.mark.parametrize(("scenario", "pair"), list(product(SCENARIOS, PAIRS)), ids=lambda each: "-".join(each))
def test_every_preset_runs_in_every_scenario(scenario, pair):
    seen = experiment(scenario, *pair, hosts=_few(scenario), size=4e4, until=0.4e-3, dt=1e-6)
    assert np.isfinite(seen.run.acked).all()
    assert (seen.run.acked >= 0).all()
    assert (seen.run.acked <= seen.traffic.wire + 0.5).all()
    assert seen.run.acked.sum() > 0
    done = np.isfinite(seen.run.finish)
    if scenario == "incast":  # the last cannot be done before all bytes are through
        assert not done.all() or seen.run.finish.max() >= seen.ideal.max() - 2e-6


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_same_seed_gives_the_same_bits(scenario):
    one, two, other = (
        experiment(scenario, "dcqcn", "ns3", hosts=_few(scenario), size=2e5, until=1e-3, seed=seed).run
        for seed in (3, 3, 4)
    )
    for name in one.series:
        assert np.array_equal(one.series[name], two.series[name])
    assert np.array_equal(one.finish, two.finish, equal_nan=True)
    if scenario in ("loss", "permutation"):  # where chance decides about more than a few marks
        assert not np.array_equal(one.series["queue"][: len(other.time)], other.series["queue"][: len(one.time)])


def test_an_uncontrolled_incast_is_the_arithmetic():
    seen = experiment("incast", "uncontrolled", "line-rate", hosts=8, around="room")
    assert seen.run.finish == pytest.approx(8 * 2000 * 1038 / 12.5e9 + 14.166e-6, rel=2e-3)
    assert seen.run.peak[0] == pytest.approx(7 * 2000 * 1038, rel=2e-3)


def test_a_pause_keeps_the_victim_back():
    """Four to one; the first sender's other flow finds an idle port, and gets a quarter of its line where switches "
    "pause."""
    paused, free = (
        experiment("victim", "uncontrolled", "line-rate", hosts=4, size=16e6, around=around, until=2.3e-3, dt=1e-6)
        for around in ("pause", "room")
    )

    def share(seen):  # after the switch has filled to its threshold, and before the victim is done
        middle = (seen.run.time > 1.3e-3) & (seen.run.time < 2.2e-3)
        return seen.run.rate[middle, -1].mean() / 12.5e9

    assert share(paused) < 0.3 < 0.45 < share(free)


def test_two_kinds_of_card_share_a_port_each_under_its_own_control():
    """With itself beside it a preset runs as alone; whoever does not listen is done first."""
    few = {"hosts": 4, "size": 1e6, "dt": 1e-6}
    alone = experiment("incast", "dcqcn", "ns3", **few).run
    twins = experiment("incast", "dcqcn", "ns3", beside=("dcqcn", "ns3"), **few).run
    assert np.array_equal(alone.finish, twins.finish)
    unlike = experiment("incast", "dcqcn", "ns3", beside=("uncontrolled", "line-rate"), **few).run
    assert unlike.finish[1::2].max() < unlike.finish[::2].min()
    assert unlike.cnps[1::2].sum() > 0  # those that do not listen are told all the same


@pytest.mark.parametrize(
    ("beside", "says"),
    [
        ("dcqcn", "beside = 'dcqcn' is not a control and its preset"),
        (("dcqcn", 3), "is not a control and its preset"),
        (("dcqcn", Uncontrolled(1.0)), r"preset_name = Uncontrolled\(...\) does not fit control = 'dcqcn'"),
        (("credits", "rccc"), "Credits does not, so run it alone"),
        (("hpcc", "paper"), "Hpcc does not, so run it alone"),
        (("marking", "ns3"), "is the switch's side"),
        (("dcqcn", "nobody"), "nobody"),
    ],
)
def test_what_cannot_be_mixed_is_refused(beside, says):
    with pytest.raises(ValueError, match=says):
        experiment("incast", "dcqcn", "ns3", beside=beside)


def test_trimming_goes_with_any_control():
    """Whoever sends, the header of a trimmed packet says which one to repeat."""
    seen = experiment("incast", "dctcp", "ns3", hosts=8, size=2e5, around="trim", dt=1e-6)
    assert seen.recovery.scheme == "selective-repeat"
    assert seen.run.counters["trimmed"].sum() > 0
    assert np.isfinite(seen.run.finish).all()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("outcast", "dcqcn", "ns3"), "scenario = 'outcast' is not one of: 'incast', 'permutation'"),
        (("incast", "dcqcn", "one-bdp"), "one-bdp"),
        (("incast", "cubic", "paper"), "cubic"),
        (("incast", "marking", "ns3"), "is the switch's side"),
        (
            ("incast", "dcqcn", Uncontrolled(1.0)),
            "does not fit control = 'dcqcn'; give control = 'uncontrolled', or a preset's name or a Dcqcn",
        ),
        (("incast", "cubic", Uncontrolled(1.0)), "give control = 'uncontrolled', or one of dcqcn"),
        (("incast", "dcqcn", Marking(1e4, 1e5, 1.0)), "preset_name = Marking.* must be text"),
        (("incast", "dcqcn", "connectx"), "no usable byte_counter .* give it in fill="),
    ],
)
def test_what_does_not_belong_is_refused(given, says):
    with pytest.raises(ValueError, match=says):
        experiment(*given)


def test_nscc_is_told_by_marks_what_htsim_tells_it():
    """uet-htsim's 8:1 incast of 2 MB: 1106 / 1238 / 1337 us, 179 KB."""
    seen = experiment("incast", "nscc", "uec-1.0")
    assert seen.run.marked.sum() > 100
    told = seen.summary()
    assert told["mean"] == pytest.approx(1238e-6, rel=0.05)
    assert told["last"] == pytest.approx(1337e-6, rel=0.01)
    assert told["peak"] == pytest.approx(179e3, rel=0.01)


def test_a_smaller_buffer_pauses_an_incast_that_a_large_one_holds():
    large, small = (
        experiment("incast", "uncontrolled", "line-rate", size=5e5, buffer=size).run.counters["tx_prio_pause"].sum()
        for size in (32 * 2**20, 4 * 2**20)
    )
    assert large == 0 < small


def test_what_is_allowed_counts_the_window():
    """One BDP each: the rate is the line's, and so is the window's; half of it allows half."""
    whole = experiment("incast", "uncontrolled", "one-bdp", hosts=2, size=1e5).run
    nscc = experiment("incast", "nscc", "uec-1.0", hosts=8, size=1e6).run
    assert whole.series["allowed"][1] == pytest.approx(12.5e9, rel=0.01)
    assert nscc.series["allowed"][len(nscc.time) // 2].sum() < 3 * 12.5e9


SMALL = {"hosts": 2, "size": 1e4, "until": 1e-4, "dt": 1e-6}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"hosts": 0}, "hosts = 0 must be between 1 and 10000; give the number of hosts that send"),
        ({"hosts": 10**6}, "hosts = 1000000 must be between 1 and 10000"),
        ({"hosts": -1, "scenario": "loss"}, "hosts = -1 must be between 1 and 10000"),
        ({"hosts": 3, "scenario": "permutation"}, "hosts = 3 is the k of a fat-tree here; give an even number"),
        ({"hosts": 200, "scenario": "permutation"}, "hosts = 200 is the k of a fat-tree"),
        ({"hosts": 2.5}, "hosts = 2.5 must be a whole number"),
        ({"size": 0}, "size = 0 must be above 0"),
        ({"size": [1e4, 1e4]}, "size = .* must be one number"),
        ({"size": 1e30, "until": 1e30}, r"until = 1e\+30 is over 100,000,000 steps of dt = 1e-06"),
        ({"dt": 0}, "dt = 0 must be above 0"),
        ({"dt": 1e-5}, "dt = 1e-05 is too long for a round trip of 1.42e-05 s; give a tenth of it"),
        ({"dt": 1e-30}, "dt = 1e-30 is too short for a round trip of 1.42e-05 s; give a thousandth of it"),
        ({"until": 0.0}, "until = 0 must be above 0"),
        ({"until": float("inf")}, "until = inf must be finite"),
        ({"every": 0}, "every = 0 must be at least 1; give the steps between two moments"),
        ({"every": 1.5}, "every = 1.5 must be a whole number"),
        ({"seed": -1}, "seed = -1 must be at least 0; give any whole number"),
        ({"seed": None}, "seed = None must be a whole number"),
        ({"link": 12.5e9}, r"link = 12500000000.0 is not a Link; make one with Link\(alpha=..., bandwidth=...\)"),
        ({"link": Link(1e-6, [1e9, 2e9])}, "link = .* holds several links; give one"),
        ({"link": Link(1e3, 12.5e9)}, r"dt = 1e-06 is too short for a round trip of 4e\+03 s"),
        ({"packet": 1000}, "packet = 1000 is not a Packet"),
        ({"packet": Packet(1e-9, 1e-9)}, r"wire = 1e-09 makes 1\.2e\+13 packets in a step; give a larger packet"),
        ({"link": Link(1e-6, 400)}, r"link = 400 is below 1e\+06 bytes/s; is it in bytes/s\? 400 Gb/s are 5e\+10"),
        ({"hosts": 3, "scenario": "all-to-all"}, "k of a fat-tree here; give an even number from 2 to 8"),
        ({"hosts": 10, "scenario": "all-to-all"}, "hosts = 10 is the k of a fat-tree here"),
        ({"hosts": 4, "scenario": "loss"}, "hosts = 4 would be ignored: in 'loss' one host sends; leave it out"),
        ({"loss": 0.01}, "loss = 0.01 would be ignored in 'incast'; leave it out, or give scenario = 'loss'"),
        ({"paths": "spray"}, "paths = 'spray' would be ignored: 'incast' has one way; give a scenario on a fat-tree"),
        ({"buffer": 1e6, "around": "room"}, "buffer = 1e.06 would be ignored where there is room for all"),
        ({"buffer": 1e6, "pauses": LOSSLESS}, "buffer = 1e.06 would be ignored; pauses has a buffer of its own"),
        ({"pauses": LOSSLESS, "around": "drop"}, "pauses are given, and around = 'drop' has none"),
        ({"recovery": Recovery("go-back-n", 1e-3)}, "recovery would be ignored, nothing is lost here"),
        ({"marking": "juniper"}, "marking = 'juniper' has no usable k_min, k_max; give marking = preset"),
        ({"marking": "nobody"}, "name = 'nobody' is no preset of marking"),
        ({"fill": {"beta": 1}}, "fill has 'beta', which is no field of uncontrolled"),
        ({"fill": {"window": 1}, "preset_name": Uncontrolled(1.0)}, "fill goes with the name of a preset"),
        ({"loss": 0.6}, "loss = 0.6 is a share of packets; give a number between 0 and 0.5"),
        ({"loss": -0.1, "scenario": "loss"}, "loss = -0.1 is a share of packets"),
        ({"loss": float("nan")}, "loss = nan must be one number"),
        ({"around": "pauses"}, "around = 'pauses' is not one of: 'pause', 'trim', 'drop', 'room'"),
        ({"around": ["pause"]}, "around = .* is not one of: 'pause'"),
        ({"paths": "sprayed"}, "paths = 'sprayed' is not one of: 'ecmp', 'spray'"),
        ({"paths": None}, "paths = 'None' is not one of: 'ecmp', 'spray'"),
        ({"scenario": None}, "scenario = 'None' is not one of: 'incast'"),
    ],
)  # fmt: skip
def test_each_argument_is_refused_by_its_own_name(given, says):
    told = {"scenario": "incast", "control": "uncontrolled", "preset_name": "line-rate", **SMALL, **given}
    with pytest.raises(ValueError, match=says) as said:
        experiment(**told)
    assert "\n" not in str(said.value)
    assert str(said.value).startswith((next(iter(given)), "dt = ", "until = ", "wire = ", "name = "))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nonsense_is_refused_in_one_sentence(scenario):
    def one(control, preset_name, hosts, size, until, dt):
        experiment(scenario, control, preset_name, hosts=hosts, size=size, until=until, dt=dt)

    few = SMALL | {"hosts": None if scenario == "loss" else 2}

    def more(seed, link, packet, around, paths, spread, loss, every, buffer, marking, pauses, recovery, fill):
        given = {"link": link, "packet": packet, "around": around, "paths": paths, "spread": spread, "buffer": buffer}
        given |= {"marking": marking, "pauses": pauses, "recovery": recovery, "fill": fill, "seed": seed}
        experiment(scenario, "uncontrolled", "line-rate", loss=loss, every=every, **given, **few)

    right = {"control": "uncontrolled", "preset_name": "line-rate"}
    if scenario in ("incast", "loss"):  # the others share all that comes after
        one_sentence_or_a_result(one, right | few)
    others = {
        "seed": 0,
        "link": None,
        "packet": None,
        "around": None,
        "paths": "ecmp",
        "spread": False,
        "loss": None,
        "every": 16,
    }
    others |= dict.fromkeys(("buffer", "marking", "pauses", "recovery", "fill"))
    mine = (LOSSLESS, Marking(1e4, 1e5, 1.0), Recovery("selective-repeat", 1e-3))
    one_sentence_or_a_result(more, others, "trim", "drop", Link(0.0, 12.5e9), Packet(1, 1e9), *mine)


FEW = {"hosts": 4, "size": 2e5, "dt": 1e-6}


def test_parameters_of_my_own_are_what_a_preset_with_those_values_is():
    mine = preset("dcqcn", "connectx", fill={"byte_counter": 10e6})
    filled = experiment("incast", "dcqcn", "connectx", fill={"byte_counter": 10e6}, **FEW)
    given = experiment("incast", "dcqcn", mine, **FEW)
    assert filled.parameters == given.parameters == mine
    assert (filled.preset, given.preset) == ("connectx", "own")
    assert np.array_equal(filled.run.finish, given.run.finish)
    slower = experiment("incast", "dcqcn", replace(mine, increase_timer=5e-3, initial_alpha=1.0), size=1e6)
    assert slower.run.finish.max() > experiment("incast", "dcqcn", "ns3", size=1e6).run.finish.max()
    beside = experiment("incast", "dcqcn", mine, beside=("dcqcn", replace(mine, g=1.0)), **FEW)
    assert np.isfinite(beside.run.finish).all()


def test_the_ramp_that_marks_is_in_the_result_and_can_be_replaced():
    default = experiment("incast", "dcqcn", "paper", **FEW)
    assert default.switches.marking == preset("marking", "ns3", 12.5e9)
    steep = Marking(5e3, 5e3, 1.0)
    for given, ramp in ((steep, steep), ("dcqcn-paper", preset("marking", "dcqcn-paper"))):
        seen = experiment("incast", "dcqcn", "paper", marking=given, **FEW)
        assert seen.switches.marking == ramp
        assert seen.run.marked.sum() > default.run.marked.sum()


def test_pauses_can_be_replaced_for_any_control():
    """A fixed threshold of 20 kB pauses what the dynamic one of 32 MiB lets through."""
    tight = replace(LOSSLESS, alpha=0.0, xoff=20e3)
    for control in (("uncontrolled", "line-rate"), ("nscc", "uec-1.0")):
        seen = experiment("incast", *control, pauses=tight, **FEW)
        assert seen.switches.pfc == tight
        assert seen.switches.buffers is None
        assert seen.run.counters["tx_prio_pause"].sum() > 0


def test_a_buffer_acts_wherever_there_is_one():
    """What is dropped or trimmed never stood in the queue."""
    for around, control in (("drop", ("uncontrolled", "line-rate")), ("trim", ("nscc", "uec-1.0"))):
        small, large = (experiment("incast", *control, around=around, buffer=size, **FEW) for size in (50e3, 200e3))
        assert [each.switches.buffers for each in (small, large)] == [
            Buffers(size, trim=around == "trim") for size in (50e3, 200e3)
        ]
        assert small.run.peak.max() < 55e3 < large.run.peak.max() <= 205e3
    assert small.switches.marking == Marking(10e3, 40e3, 1.0, "departure")  # from 20 to 80 % of the trimming queue
    usual = experiment("incast", "uncontrolled", "line-rate", around="drop", **FEW)
    assert usual.switches.buffers == Buffers(16e6)


def test_how_losses_are_repeated_can_be_replaced():
    given = {"size": 1e6, "loss": 0.02, "dt": 1e-6}
    usual = experiment("loss", "uncontrolled", "one-bdp", **given)
    better = experiment("loss", "uncontrolled", "one-bdp", recovery=Recovery("selective-repeat", 1e-3), **given)
    assert usual.recovery == Recovery("go-back-n", 4e-3)
    assert better.recovery == Recovery("selective-repeat", 1e-3)
    assert better.run.finish.max() < usual.run.finish.max()


def test_hosts_are_the_ports_of_the_fat_tree():
    few = {"size": 2e3, "until": 1e-4, "dt": 1e-6}
    flows = [
        experiment(scenario, "uncontrolled", "line-rate", hosts=hosts, **few).traffic.flows
        for scenario, hosts in (("all-to-all", None), ("all-to-all", 2), ("permutation", 4), ("permutation", None))
    ]
    assert flows == [16 * 15, 2, 16, 128]


def test_seeds_span_a_range_where_chance_decides():
    given = {"size": 2e5, "dt": 1e-6, "loss": 0.02}
    told = over_seeds("loss", "uncontrolled", "one-bdp", seeds=3, **given)
    alone = [experiment("loss", "uncontrolled", "one-bdp", seed=seed, **given).summary()["last"] for seed in range(3)]
    assert told["last"] == (pytest.approx(np.mean(alone)), min(alone), max(alone))
    assert told["last"].least < told["last"].most
    still = over_seeds("incast", "uncontrolled", "line-rate", seeds=2, hosts=2, size=1e5)
    assert still["mean"].least == still["mean"].most
    with pytest.raises(ValueError, match="seeds = 0 must be between 1 and 1000"):
        over_seeds("incast", "dcqcn", "paper", seeds=0)
    with pytest.raises(ValueError, match="seed is set by over_seeds, from 0 on; give seeds"):
        over_seeds("incast", "dcqcn", "paper", seed=3)


def test_mean_and_last_wait_for_all_flows():
    """Two finish; then one of them does not; then neither."""
    seen = experiment("incast", "uncontrolled", "line-rate", hosts=2, size=1e5, until=60e-6, dt=1e-6)
    partly = replace(seen, run=replace(seen.run, finish=np.array([20e-6, np.nan])))
    nobody = replace(seen, run=replace(seen.run, finish=np.array([np.nan, np.nan])))
    assert seen.summary()["last"] == seen.run.finish.max()
    assert seen.summary()["mean"] == seen.run.finish.mean()
    assert (partly.summary()["first"], partly.summary()["unfinished"]) == (20e-6, 1)
    assert np.isnan([partly.summary()[each] for each in ("mean", "last")]).all()
    assert np.isnan(nobody.summary()["first"])
    told = over_seeds("victim", "uncontrolled", "line-rate", seeds=2, hosts=2, size=1e5, until=30e-6, dt=1e-6)
    assert told["unfinished"].least > 0
    assert np.isnan(told["last"]).all()


PAPER = ("dcqcn", "paper")


def test_switches_mark_for_the_second_control_too():
    """Swift first and a ramp given: DCQCN beside it hears CNPs, as far apart as its preset says, and slows down."""
    first = next(name for name in preset_names("swift") if _complete("swift", name))
    few = {"hosts": 4, "size": 1e6, "dt": 1e-6}
    seen = experiment("incast", "swift", first, beside=PAPER, marking="ns3", **few)
    card = preset(*PAPER, 12.5e9)
    gap = card.cnp_interval
    assert seen.switches.cnp_interval == gap > 0
    told, most = seen.run.cnps, 1 + np.ceil(seen.run.steps * seen.run.dt / gap)
    assert (told[1::2] > 0).all()
    assert (told <= most).all()
    both = experiment("incast", *PAPER, beside=("dcqcn", replace(card, cnp_interval=0.0)), **few)
    assert both.switches.cnp_interval == gap


@pytest.mark.parametrize(
    ("scenario", "control", "more", "says"),
    [
        ("incast", "swift", {"beside": PAPER}, "beside reads marks and the first control has none; name it first, or"),
        ("incast", "timely", {"beside": ("dctcp", "ns3")}, "beside reads marks and the first control has none"),
        ("incast", "dcqcn", {"beside": ("timely", "paper"), "hosts": 1}, "beside would be ignored: one flow is sent"),
        ("loss", "dcqcn", {"beside": ("timely", "paper")}, "beside would be ignored: one flow is sent"),
        ("incast", "swift", {"marking": "ns3"}, "marking would be ignored: Swift does not read marks; leave it out"),
        (
            "incast",
            "timely",
            {"marking": "ns3", "beside": ("timely", "paper")},
            "marking would be ignored: Timely does",
        ),
    ],
)
def test_marks_and_company_that_would_be_ignored_are_refused(scenario, control, more, says):
    first = next(name for name in preset_names(control) if _complete(control, name))
    with pytest.raises(ValueError, match=says):
        experiment(scenario, control, first, size=1e4, **more)


def test_what_a_lossless_switch_holds_beyond_its_buffer_is_told():
    """128 senders at 400 Gb/s: what comes between the pause and its effect is more than a buffer of 32 MiB."""
    fast = {"link": Link(2e-6, 50e9), "dt": 0.5e-6, "until": 60e-6}
    seen = experiment("incast", "uncontrolled", "line-rate", hosts=128, **fast)
    assert seen.summary()["beyond"] == seen.run.peak.max() - 32 * 2**20 > 10e6
    assert experiment("incast", "uncontrolled", "line-rate", hosts=2, **fast).summary()["beyond"] == 0
    room = experiment("incast", "uncontrolled", "line-rate", hosts=128, around="room", **fast).summary()
    assert (room["peak"] > 32 * 2**20, room["beyond"]) == (True, 0.0)


def test_beyond_sums_the_queues_of_one_switch():
    """Two hosts on each leaf hear from all others: it holds two queues, and their sum counts."""
    few = {"size": 2e5, "until": 60e-6, "dt": 1e-6}
    seen = experiment("all-to-all", "uncontrolled", "line-rate", buffer=1e5, every=1, **few)
    leaving = fat_tree(4, Link(3.5e-6, 12.5e9)).source[seen.run.link]
    held = max(seen.run.queue[:, leaving == each].sum(axis=1).max() for each in set(leaving))
    assert held > 1.5 * seen.run.peak.max()
    assert seen.summary()["beyond"] == pytest.approx(held - 1e5)


@pytest.mark.parametrize("scenario", ["incast", "victim"])
def test_starts_are_at_one_instant_or_spread_over_a_packet_of_each(scenario):
    few = {"hosts": 4, "size": 4e4, "dt": 1e-6}
    together, apart, other = (
        experiment(scenario, "uncontrolled", "one-bdp", spread=spread, seed=seed, **few).traffic
        for spread, seed in ((False, 0), (True, 0), (True, 1))
    )
    slot = 1038 / 12.5e9
    assert not together.start.any()
    assert np.array_equal(np.sort(apart.start // slot), np.arange(apart.flows))  # one in each slot
    assert not np.array_equal(apart.start, other.start)


def test_spread_starts_break_the_step_that_seeds_do_not():
    """PowerTCP draws nothing: from one instant all seeds agree to the bit, and all its flows are done together."""
    few = {"hosts": 8, "size": 2e5, "dt": 1e-6, "seeds": 3}
    step, apart = (over_seeds("incast", "powertcp", "ns3-datacenter", spread=each, **few) for each in (False, True))
    assert step["last"].least == step["last"].most
    assert step["first"].mean == step["last"].mean
    assert apart["last"].least < apart["last"].most
    assert apart["first"].most < apart["last"].least


@pytest.mark.parametrize("scenario", ["permutation", "all-to-all", "loss"])
def test_spread_starts_are_for_incasts(scenario):
    with pytest.raises(ValueError, match=f"spread would be ignored in '{scenario}'; leave it out"):
        experiment(scenario, "uncontrolled", "one-bdp", spread=True)

"""Any control in any scenario: everything runs, the same seed gives the same bits, and what does not belong is "
"refused."""

from itertools import product
from typing import get_args

import numpy as np
import pytest

from netlib.congestion.experiments import Scenario, experiment
from netlib.congestion.presets import preset_names, preset_record
from netlib.links import Link
from tests.nonsense import one_sentence_or_a_result

SCENARIOS = get_args(Scenario)
CONTROLS = ("dcqcn", "timely", "dctcp", "swift", "hpcc", "powertcp", "nscc", "credits", "uncontrolled")


def _complete(control: str, name: str) -> bool:
    """Whether a preset has all fields: some sources leave out what no engine can guess."""
    return not preset_record(control, name).missing


PAIRS = [(each, name) for each in CONTROLS for name in preset_names(each) if _complete(each, name)]


@pytest.mark.parametrize(("scenario", "pair"), list(product(SCENARIOS, PAIRS)), ids=lambda each: "-".join(each))
def test_every_preset_runs_in_every_scenario(scenario, pair):
    seen = experiment(scenario, *pair, hosts=4, size=4e4, until=0.4e-3, dt=1e-6)
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
        experiment(scenario, "dcqcn", "ns3", hosts=4, size=2e5, until=1e-3, seed=seed).run for seed in (3, 3, 4)
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
        (("credits", "rccc"), "Credits does not, so run it alone"),
        (("hpcc", "paper"), "Hpcc does not, so run it alone"),
        (("marking", "ns3"), "is the switch's side"),
        (("dcqcn", "nobody"), "nobody"),
    ],
)
def test_what_cannot_be_mixed_is_refused(beside, says):
    with pytest.raises(ValueError, match=says):
        experiment("incast", "dcqcn", "ns3", beside=beside)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("outcast", "dcqcn", "ns3"), "scenario = 'outcast' is not one of"),
        (("incast", "dcqcn", "one-bdp"), "one-bdp"),
        (("incast", "cubic", "paper"), "cubic"),
        (("incast", "marking", "ns3"), "is the switch's side"),
    ],
)
def test_what_does_not_belong_is_refused(given, says):
    with pytest.raises(ValueError, match=says):
        experiment(*given)


def test_nonsense_is_refused_in_one_sentence():
    right = {"scenario": "incast", "control": "uncontrolled", "preset_name": "line-rate", "hosts": 2, "size": 1e4}
    more = {"until": 1e-4, "link": Link(1e-6, 12.5e9), "dt": 0.5e-6}
    one_sentence_or_a_result(lambda scenario, control, preset_name: experiment(
        scenario, control, preset_name, hosts=2, size=1e4, **more), {k: right[k] for k in list(right)[:3]})  # fmt: skip

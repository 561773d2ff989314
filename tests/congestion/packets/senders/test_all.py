"""What holds for every sender: its range, that flows are alike, that scenarios are alone, and that a seed is a seed."""

from __future__ import annotations

import numpy as np
import pytest

from netlib.congestion.packets.engine import Run, Switches, run
from netlib.congestion.packets.senders import sender
from netlib.congestion.packets.traffic import Packet, Traffic, incast, together
from netlib.congestion.parameters import Control, Dcqcn, Dctcp, Marking, Swift, Timely, Uncontrolled
from netlib.congestion.presets import preset
from netlib.links import Link
from tests.congestion.packets.senders.spoken import Said

LINE = 12.5e9
NAMES = [
    "dcqcn paper", "dcqcn ns3-datacenter", "timely paper", "timely patched", "timely ns3-datacenter", "dctcp ns3",
    "swift htsim", "hpcc paper", "powertcp ns3-datacenter", "powertcp theta", "nscc uec-1.0", "credits rccc",
]  # fmt: skip
LAWS: dict[str, Control] = {each: preset(*each.split(), LINE) for each in NAMES}
LAWS |= {"a window": Uncontrolled(2.0), "dctcp paced": Dctcp(1 / 16, 1000, paced=True, window=1.0)}
EACH = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
STEP, RED = Marking(60e3, 60e3, 1.0, "departure"), Marking(20e3, 400e3, 0.2, "departure")


def of(n: int, size: float = 1e5) -> Traffic:
    return incast(n, size, Link(3.5e-6, LINE), Packet(1000, 1038), start=np.arange(n) * 0.9e-7)


def done(traffic: Traffic, law: Control, marking: Marking, seed: int = 0) -> Run:
    told = Switches(marking, cnp_interval=law.cnp_interval if isinstance(law, Dcqcn) else 0.0)
    return run(traffic, sender(law, traffic), 1.5e-3, np.random.default_rng(seed), told, dt=1e-6)


def least(law: Control, traffic: Traffic) -> float:
    """bytes/s below which no rate falls: the parameters' own, or what the module says it takes for want of one."""
    if isinstance(law, Dcqcn):
        return law.min_rate or 1e-4 * LINE
    if isinstance(law, Timely):
        return law.min_rate or law.delta
    if isinstance(law, Swift):
        return law.min_window * traffic.packet.wire / 2e-3  # the longest delay that is spoken of below
    if isinstance(law, Dctcp):
        return LINE * 1038 / (LINE * traffic.base_rtt()[0] * 1.038) if law.paced else LINE
    return 1e-3 * LINE


def news(law: Control, flows: int, rng: np.random.Generator, turns: int = 300):
    """Random acknowledgements, marks, losses, CNPs, delays and stamps; calm and stormy stretches of 50 turns."""
    gone = 0.0
    for k in range(turns):
        bad = (k // 50) % 2
        acked = 1038.0 * rng.integers(0, 8, flows)
        marked = np.minimum(rng.integers(0, 6, flows) * bad, acked // 1038)
        lost = 1038.0 * rng.integers(0, 2, flows) * bad * (rng.random(flows) < 0.1)
        wait = rng.exponential(1e-4 if bad else 1e-6, flows).clip(0, 1.9e-3)
        gone += rng.uniform(0, 250e3)
        yield k * 20e-6, {"acked": acked, "marked": marked, "lost": lost, "delay": wait, "cnp": marked > 0}, {
            "step": 20 * k, "length": rng.exponential(1e6 if bad else 1e3), "gone": gone,
        }  # fmt: skip


@EACH
def test_rates_and_windows_stay_in_their_range(law: Control) -> None:
    traffic = of(4, 1e9)
    made, said = sender(law, traffic), Said(traffic, dt=1e-6)
    floor, rates = least(law, traffic), []
    for now, each, stamps in news(law, 4, np.random.default_rng(1)):
        made.react(now, said.says(**each, **stamps))
        assert (made.rate <= LINE).all()
        assert (made.rate >= floor * (1 - 1e-9)).all()
        assert (made.window >= 0).all()  # a nan is not
        rates.append(np.minimum(made.rate[0], made.window[0]))
    if isinstance(law, Uncontrolled):
        assert len(set(rates)) == 1
    else:
        assert len(set(rates)) > 3, "it heard all that and did nothing"


@pytest.mark.parametrize("law", [LAWS[each] for each in LAWS if each != "credits rccc"])
def test_flows_are_alike(law: Control) -> None:
    """The same news for other flows: the same rates for other flows. Whose turn it is a receiver must choose."""
    order = np.array([2, 0, 3, 1])
    traffic = of(4, 1e9)
    one, other = sender(law, traffic), sender(law, traffic)
    said = Said(traffic, dt=1e-6)
    for now, each, stamps in news(law, 4, np.random.default_rng(2), 120):
        one.react(now, said.says(**each, **stamps))
        other.react(now, said.says(**{name: value[order] for name, value in each.items()}, **stamps))
        assert one.rate[order].tolist() == other.rate.tolist()
        assert one.window[order].tolist() == other.window.tolist()


@EACH
def test_scenarios_of_a_batch_are_alone(law: Control) -> None:
    """To the bit, where no chance is at work: marks by a step, no losses."""
    both = done(together([of(3), of(8)]), law, STEP)
    for part, where in ((of(3), slice(0, 3)), (of(8), slice(3, 11))):
        alone = done(part, law, STEP)
        assert np.array_equal(both.finish[where], alone.finish, equal_nan=True)
        assert np.array_equal(both.acked[where], alone.acked)
        assert np.array_equal(both.marked[where], alone.marked)


@EACH
def test_the_same_seed_is_the_same_run(law: Control) -> None:
    one, two, other = (done(of(6), law, RED, seed) for seed in (5, 5, 6))
    assert np.array_equal(one.finish, two.finish, equal_nan=True)
    for name, value in one.series.items():
        assert np.array_equal(value, two.series[name])
    assert one.marked.sum() > 0
    assert not np.array_equal(one.marked, other.marked)

"""Every function of the lossless package, every argument wrong in every way: a result or one clear sentence."""

import inspect

import pytest

from netlib.congestion.lossless import (
    bounces,
    deadlocks,
    dependencies,
    lanes,
    pausing,
    slotted,
    storms,
    victims,
    waiting,
    watchdogs,
)
from netlib.congestion.lossless.greedy import Greedy
from netlib.congestion.packets.engine import Engine, Switches
from netlib.congestion.packets.traffic import incast
from netlib.links import Link
from netlib.topology import dragonfly, leaf_spine, torus
from tests.congestion.lossless.small import CREDITS, PACKET, PFC, US, rng
from tests.nonsense import needed, one_sentence_or_a_result

RATE = 50e9
LINK = Link(1e-6, RATE)
POD, RING = leaf_spine(8, 4, LINK), torus([5], LINK)
WAYS = [[0, 16, 21, 5]]
TRAFFIC = incast(2, 40e3, LINK, PACKET)
ENGINE = Engine(TRAFFIC, Greedy(TRAFFIC), Switches(pfc=PFC), rng(), 0.2 * US)
GIVEN = {
    "fabric": POD, "way": WAYS, "dependencies": dependencies.buffer_dependencies(POD, WAYS), "cycle": [16, 21],
    "cables": [10], "rng": rng(), "link": LINK, "packet": PACKET, "fan_in": 3, "fan_out": 1, "rate": RATE, "loop": 2e-6,
    "xoff": 1e5, "hysteresis": 8e3, "hops": 2, "latency": 1e-6, "rate_in": RATE, "rate_out": 0.1 * RATE,
    "round_trip": 4e-6, "k_min": 1e5, "traffic": TRAFFIC, "until": 10 * US, "rule": PFC, "share": 0.5, "switches": 3,
    "hosts": 4, "waits": waiting.waits_of(ENGINE), "resume": 9e4, "engine": ENGINE, "left": 3, "right": 2, "ports": 64,
}  # fmt: skip
OWN = {
    "lanes_by_dateline": {"fabric": RING, "way": [[0, 2]]},
    "lanes_by_global": {"fabric": dragonfly(1, 2, 1, LINK), "way": [[0, 1]]},
    "round_ways": {"fabric": deadlocks.switch_ring(4, LINK)},
    "slow_receiver": {"link": 2},
    "cables_between": {"one": "leaf 1", "other": "spine 0"},
}
MODULES = (bounces, deadlocks, dependencies, lanes, pausing, slotted, storms, victims, waiting, watchdogs)
INSIDE = {"cycle_of", "waits_from", "whole_slots"}  # from one module of the package to another
CALLS = [
    (name, call)
    for module in MODULES
    for name, call in vars(module).items()
    if inspect.isfunction(call) and inspect.unwrap(call).__module__ == module.__name__ and not name.startswith("_")
    if name not in INSIDE
]
CLASSES = [("Hang", watchdogs.Hang, {"link": 3}), ("Watchdog", watchdogs.Watchdog, {"detect": 1e-3, "restore": 1e-3})]


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_a_wrong_argument_gives_one_sentence_or_a_result(name: str, call) -> None:
    one_sentence_or_a_result(call, needed(call, OWN.get(name, {}), GIVEN), POD, TRAFFIC, PFC, CREDITS)


@pytest.mark.parametrize(("name", "call", "right"), CLASSES)
def test_a_wrong_field_gives_one_sentence_or_an_object(name: str, call, right: dict[str, float]) -> None:
    one_sentence_or_a_result(call, right)


def test_the_sweep_reaches_every_function() -> None:
    assert len(CALLS) > 25
    import netlib.congestion.lossless as front

    functions = {each for each in front.__all__ if inspect.isfunction(getattr(front, each))} - {"step_of"}
    assert functions <= {name for name, _ in CALLS}

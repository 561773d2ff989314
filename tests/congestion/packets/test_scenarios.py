"""Scenarios: who sends to whom over which links, and bad arguments of all public functions."""

import inspect

import numpy as np
import pytest

from netlib.congestion.packets import scenarios
from netlib.congestion.packets.drops import Buffers
from netlib.congestion.packets.engine import Switches, run
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.lanes import Lanes
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.scenarios import all_to_all, every_way, flows_between, one_flow, permutation, victim
from netlib.congestion.packets.spreading import Spread
from netlib.congestion.packets.traffic import Packet, incast, over, together, traffic
from netlib.links import Link
from netlib.topology import Routes, fat_tree, leaf_spine, minimal, one_switch, path_count, routes
from tests.congestion.packets.steady import LINK, PACKET, RATE, US, Steady
from tests.nonsense import needed, one_sentence_or_a_result


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_every_way_is_every_shortest_path_once() -> None:
    for fabric in (leaf_spine(16, 8, LINK), fat_tree(4, LINK), one_switch(3, LINK)):
        found: Routes = routes(fabric)
        hosts = fabric.hosts.size
        src, dst = (each.ravel() for each in np.nonzero(~np.eye(hosts, dtype=bool)))
        way, flow = every_way(found, src, dst)
        rows = {(int(f), *row) for f, row in zip(flow, way.tolist(), strict=True)}
        assert len(rows) == len(way), "none twice"
        length = (way >= 0).sum(axis=1)
        assert (length == found.distance(src, dst)[flow]).all()
        last = way[np.arange(len(way)), length - 1]
        assert (fabric.source[way[:, 0]] == fabric.hosts[src[flow]]).all()
        assert (fabric.target[last] == fabric.hosts[dst[flow]]).all()
        for hop in range(1, way.shape[1]):
            on = way[:, hop] >= 0
            assert (fabric.source[way[on, hop]] == fabric.target[way[on, hop - 1]]).all()
        for seed in range(20):  # no random walk finds another one
            walked = minimal(found, src, dst, rng(seed))
            assert all((k, *row) in rows for k, row in enumerate(np.pad(
                walked, ((0, 0), (0, way.shape[1] - walked.shape[1])), constant_values=-1).tolist()))  # fmt: skip
    tree = fat_tree(4, LINK)
    _, flow = every_way(routes(tree), [0, 0, 0], [1, 2, 15])
    assert np.bincount(flow).tolist() == [1, 2, 4] == [int(path_count(tree, 0, k)) for k in (1, 2, 15)]


def test_a_permutation_sends_and_receives_once_and_never_to_itself() -> None:
    tree = fat_tree(4, LINK)
    for paths in ("ecmp", "spray"):
        made = permutation(tree, 1e5, PACKET, rng(), paths)  # type: ignore[arg-type]
        assert sorted(tree.source[made.sender].tolist()) == sorted(tree.hosts.tolist())
        assert sorted(tree.target[made.receiver].tolist()) == sorted(tree.hosts.tolist())
        assert (tree.source[made.sender] != tree.target[made.receiver]).all()


def test_all_to_all_on_one_switch_ends_when_every_host_has_sent() -> None:
    star, wire = one_switch(6, Link(1 * US, RATE)), Packet(4086, 4150)
    at_once = all_to_all(star, 0.3e6, wire)
    done = run(at_once, Steady(at_once), 5e-3, rng(), Switches(pfc=Pfc(np.inf, 0, 100e3, 12e3, 0)))
    assert at_once.flows == 30
    ideal = 5 * at_once.wire[0] / RATE
    assert done.finish.max() == pytest.approx(ideal + at_once.base_rtt()[0], rel=0.05)
    serial = all_to_all(star, 0.3e6, wire, spacing=at_once.wire[0] / RATE)
    one = run(serial, Steady(serial), 5e-3, rng())
    assert (serial.start + one.finish).max() == pytest.approx(ideal + at_once.base_rtt()[0], rel=0.05)
    assert one.peak.max() < 40e3, "no two senders meet at a receiver"
    assert done.peak.max() < 40e3, "NICs that serve their flows in turn load every receiver alike"


def test_the_victims_share_what_they_are_said_to_share() -> None:
    near = victim(4, 1e5, LINK, PACKET)
    assert near.sender[4] == near.sender[0]
    assert near.receiver[4] not in near.receiver[:4]
    far = victim(4, 1e5, LINK, PACKET, "switch")
    assert len(set(far.sender.tolist())) == 5
    assert len(set(far.way[:, 1].tolist())) == 1
    assert far.way.shape == (5, 3)


def test_lanes_and_starts_go_with_their_flows() -> None:
    tree = fat_tree(4, LINK)
    made = flows_between(tree, [0, 1], [5, 9], 1e5, PACKET, "spray", start=[0, 1e-6], lane=[1, 0])
    assert made.lane.tolist() == [1, 0]
    assert made.lanes == 2
    assert together([made, made]).lane.tolist() == [1, 0, 1, 0]
    mixed = traffic(made.way[::-1], 1e5, made.capacity, made.latency, PACKET, flow=made.flow[::-1])
    assert (np.diff(mixed.flow) >= 0).all(), "the ways of a flow stand together, however they were given"


STAR = one_switch(3, LINK)
OWN = {
    "every_way": {"routes": routes(STAR), "src": [0], "dst": [2]},
    "flows_between": {"fabric": STAR, "src": [0, 1], "dst": [2, 2], "size": 1e5, "packet": PACKET},
    "permutation": {"fabric": STAR, "size": 1e5, "packet": PACKET, "rng": rng()},
    "all_to_all": {"fabric": STAR, "size": 1e5, "packet": PACKET},
    "victim": {"senders": 2, "size": 1e5, "link": LINK, "packet": PACKET},
    "one_flow": {"size": 1e5, "link": LINK, "packet": PACKET},
    "incast": {"senders": 2, "size": 1e5, "link": LINK, "packet": PACKET},
    "traffic": {"way": [[0, 1]], "size": 1e5, "capacity": [1e9, 1e9], "latency": [1e-6, 1e-6], "packet": PACKET},
    "over": {"fabric": STAR, "way": [[0, 5]], "size": 1e5, "packet": PACKET},
}  # fmt: skip
CALLS = [*(getattr(scenarios, name) for name in list(OWN)[:6]), incast, traffic, over]
MADE = {
    Pfc: {"buffer": 1e6, "alpha": 0.5, "xoff": 0.0, "hysteresis": 0.0, "response": 0.0},
    LinkCredits: {"buffer": 1e5, "response": 0.0}, Buffers: {"queue": 1e5}, Lanes: {}, Switches: {},
    Recovery: {"scheme": "selective-repeat", "timeout": 1e-3}, Spread: {"policy": "random"},
    Packet: {"payload": 1e3, "wire": 1.1e3},
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_a_wrong_argument_gives_one_sentence_or_a_result(call) -> None:  # type: ignore[no-untyped-def]
    one_sentence_or_a_result(call, needed(call, OWN[call.__name__], {}))


@pytest.mark.parametrize("made", list(MADE), ids=lambda made: made.__name__)
def test_a_wrong_field_gives_one_sentence_or_an_object(made) -> None:  # type: ignore[no-untyped-def]
    assert set(MADE[made]) <= set(inspect.signature(made).parameters)
    one_sentence_or_a_result(made, MADE[made])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"way": [[0]]}, "must be rows of at least two link numbers"),
        ({"way": [[0, 7]]}, "names links outside"),
        ({"way": [[0, -1]]}, "names links outside"),
        ({"way": [[0, 1, -1, 1]]}, "has a gap"),
        ({"way": [[0, 1], [1, 0]], "flow": [0, 0]}, "must begin at one NIC and end at one receiver"),
        ({"flow": [1]}, "must name the flow of each way"),
        ({"size": [1, 2]}, "size has shape"),
        ({"latency": [1e-6]}, "latency has shape"),
        ({"lane": 99}, "lane = '99' must be a whole number from 0 to 15"),
        ({"lane": [0, 1]}, "must be a whole number from 0 to 15"),
    ],
)
def test_a_traffic_that_cannot_be_is_refused(change: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        traffic(**(OWN["traffic"] | change))


def test_scenarios_that_cannot_be_are_refused() -> None:
    for call, words in (
        (lambda: flows_between(STAR, [0], [1], 1e5, PACKET, "luck"), "paths = 'luck' is not one of"),
        (lambda: victim(2, 1e5, LINK, PACKET, "rack"), "shares = 'rack' is not one of"),
        (lambda: victim(0, 1e5, LINK, PACKET), "senders = 0 must be between 1 and 100000"),
        (lambda: incast(0, 1e5, LINK, PACKET), "senders = 0 must be between 1 and 100000"),
        (lambda: one_flow(1e5, LINK, PACKET, 1), "hops = 1 must be between 2 and 64"),
        (lambda: together([]), "parts is empty"),
        (lambda: together([incast(2, 1e5, LINK, PACKET), incast(2, 1e5, LINK, Packet(2, 3))]), "different sizes"),
        (lambda: Packet(10, 5), "wire = 5 is below the payload of 10"),
        (lambda: flows_between(STAR, [0], [0], 1e5, PACKET, "spray"), "way"),
        (lambda: Lanes((1, 0)), "weights = 0 must be above 0"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_a_traffic_keeps_its_links_when_the_caller_changes_the_array() -> None:
    capacity, latency = np.full(3, 50e9), np.full(3, 1e-6)
    made = traffic([[0, 2], [1, 2]], 1e6, capacity, latency, Packet(1000, 1038))
    capacity[:], latency[:] = 1.0, 1.0
    assert made.line_rate.tolist() == [50e9, 50e9]
    assert made.latency.tolist() == [1e-6] * 3

"""Every public function with every argument wrong in every way: a result or one clear sentence, at once."""

import numpy as np
import pytest

from netlib import topology
from netlib.links import Link
from netlib.topology import (
    Cables,
    Fabric,
    Ledger,
    all_to_all_ledger,
    build,
    clos3,
    clos_bill,
    dragonfly,
    ecmp,
    fat_tree,
    flowlets,
    hgx_h100,
    leaf_spine,
    ledger,
    minimal,
    mix,
    multi_plane,
    node_tree,
    nvlink_domain,
    path_count,
    paths,
    pcie_tree,
    rail_only,
    rail_optimised,
    routes,
    slingshot,
    spray,
    superpod,
    torus,
)
from tests.nonsense import needed, one_sentence_or_a_result

LINK = Link(1e-6, 50e9)
CLOS, TORUS, FLY = leaf_spine(16, 8, LINK), torus([4, 4], LINK), dragonfly(2, 4, 2, LINK)
RAILS = rail_optimised(4, 2, 8, LINK, inside=Link(0, 450e9))
WAYS = ecmp(routes(CLOS), [0, 1, 2], [8, 9, 10])


def policy(found, src, dst):
    return minimal(found, src, dst, np.random.default_rng(0))


GIVEN = {  # a right value for each argument that has no default
    "routes": routes(CLOS), "fabric": CLOS, "src": [0, 1], "dst": [8, 9], "rng": np.random.default_rng(0), "n": 4,
    "size": 1.0, "side": np.arange(16) < 8, "paths": WAYS, "rates": [1.0, 1, 1], "capacity": CLOS.capacity, "name": "x",
    "vertices": 2, "hosts": 16, "radix": 8, "link": LINK, "tiers": 2, "k": 4, "a": 0, "b": 8, "rate": 9e11, "links": 18,
    "p": 2, "h": 2, "groups": 3, "flows": 4, "port": 50_000, "nodes": 4, "rails": 2, "inside": None, "value": 1,
    "planes": 2, "parents": {"GPU0": "CPU0", "NIC0": "CPU0"}, "pcie": LINK, "gpus": 4, "switches": 2, "broken": CLOS,
    "links_per_gpu": 4, "id": "dgx-h100", "choose": lambda hop: hop.flow % hop.count, "policy": policy, "metres": 10.0,
    "g": 8, "local": 1, "remote": 2, "share": 0.2, "slowdown": 5, "loss": 0.2, "pairs": 3, "units": 1, "sides": [4, 4],
    "node": np.arange(16) // 8, "oversubscription": 1,
}  # fmt: skip
OWN = {
    "affinity": {"fabric": pcie_tree()},
    "build": {"hosts": [0, 1], "tier": [0, 0], "cables": [Cables([0], [1], LINK)]},
    "Cables": {"a": [0], "b": [1]},
    "dimension_ordered": {"fabric": TORUS},
    "distances_to": {"vertices": [0]},
    "dragonfly": {"a": 4, "local": None}, "dragonfly_groups": {"a": 4}, "dragonfly_hosts": {"a": 4},
    "labelled": {"fabric": TORUS, "name": "x0"},
    "Ledger": {"bytes": np.zeros(CLOS.links)},
    "one_global": {"fabric": FLY}, "valiant": {"fabric": FLY},
    "pxn": {"routes": routes(RAILS), "dst": [6, 7]},
    "with_nvswitch": {"inside": LINK},
    "what_remains": {"broken": CLOS.without(cables=[0])},
}  # fmt: skip
MADE = {"Affinity", "Bill", "Cut", "Distances", "Fabric", "Growth", "Hop", "Published", "Remains", "Routes", "Subflows"}
NAMES = [name for name in topology.__all__ if callable(getattr(topology, name)) and name not in MADE]


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_argument_gives_one_sentence_or_a_result(name) -> None:
    call = getattr(topology, name)
    one_sentence_or_a_result(call, needed(call, OWN.get(name, {}), GIVEN), CLOS, TORUS)


@pytest.mark.parametrize(
    "call",
    [
        lambda: leaf_spine(10**9, 10**6, LINK),
        lambda: leaf_spine(1, 10**9, LINK),
        lambda: fat_tree(10**6, LINK),
        lambda: clos3(10**9, 2000, LINK),
        lambda: clos3(16, 10**6, LINK),
        lambda: dragonfly(1, 1, 10**9, LINK),
        lambda: torus([10**6, 10**6], LINK),
        lambda: rail_optimised(10**9, 8, 10**6, LINK),
        lambda: rail_only(4, 10**9, 8, LINK, None),
        lambda: nvlink_domain(10**9, 1, 1, LINK),
        lambda: multi_plane(CLOS, 10**9),
        lambda: slingshot(545 * 10),
        lambda: superpod(10**9),
        lambda: ecmp(routes(CLOS), [0], [8], qps=10**9),
        lambda: flowlets(routes(CLOS), [0], [8], 10**9, np.random.default_rng(0)),
        lambda: clos_bill(16, 8, tiers=10**9),
    ],
)
def test_what_would_fill_memory_is_refused_before_it_is_built(call) -> None:
    with pytest.raises(ValueError, match=r"more than|fewer|less"):
        call()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: fat_tree("4", LINK), "k = '4' must be a whole number; write it without quotes"),
        (lambda: fat_tree(4.0, LINK), "k = 4.0 must be a whole number"),
        (lambda: fat_tree(10**5000, LINK), "k = a number beyond 2"),
        (lambda: fat_tree(4, 50e9), r"link = 50000000000.0 is not a Link; make one with Link\(alpha="),
        (lambda: routes("clos"), r"fabric = 'clos' is not a Fabric; make one with a builder, such as leaf_spine"),
        (lambda: spray(CLOS, [0], [1]), r"is not a Routes; make one with routes\(fabric\)"),
        (lambda: minimal(routes(CLOS), [0], [1], 7), "rng = 7 must be a random generator; make one with numpy"),
        (lambda: leaf_spine(8, 4, LINK, oversubscription=float("nan")), "oversubscription = nan must be one number"),
        (lambda: ecmp(routes(CLOS), [0], [1], polarised="yes"), "polarised = 'yes' must be True or False"),
        (lambda: ecmp(routes(CLOS), [0], [1], seed=-1), "seed = -1 must be a whole number; give 0 to"),
        (lambda: paths(routes(CLOS), [0], [1], 3), "choose = 3 must be a function"),
        (lambda: node_tree("x", [], LINK), r"parents = \[\] must be a dictionary"),
        (lambda: build(3, 2, [0, 1], [0, 0], []), "name = 3 must be text"),
        (lambda: build("x", 0, [], [], []), "vertices = 0 leave nothing to join"),
        (lambda: build("x", 2, [0, 1], [0, 0.5], []), "tier = .* must be whole numbers"),
        (lambda: build("x", 2, [0, 1], [0, 0], ["ab"]), "cables = 'ab' is not a Cables"),
        (lambda: build("x", 2, [0, 1], [0, 0], "ab"), "cables = 'ab' must be a list"),
        (lambda: Cables([0], [1], 50e9), "link = 50000000000.0 is not a Link"),
        (lambda: torus([4] * 40, LINK), "sides has 40 axes"),
        (lambda: torus([4], LINK, wrap="no"), "wrap = 'no' must be True or False"),
        (lambda: mix(-1), "value = -1 must be whole numbers; give 0 to 4294967295"),
        (lambda: Ledger("clos", [1.0]), "fabric = 'clos' is not a Fabric"),
        (lambda: ledger(CLOS, [[0, 10**6]]), r"paths must hold numbers of links; give 0 to 63"),
        (lambda: topology.bill(build("no hosts", 1, [], [1], [])), "has no hosts"),
        (lambda: clos_bill(16, 7, tiers=2), "radix = 7 must be even"),
        (lambda: clos_bill(2.5, 8, tiers=2), "hosts = 2.5 must be a whole number"),
        (lambda: topology.with_nvswitch(CLOS, [0, 1], LINK), r"node has shape \(2,\)"),
        (lambda: rail_optimised(4, 200, 8, LINK), "rails = 200 need as many leaves"),
        (lambda: topology.distances(CLOS).between(0, 16), "b = 16 is outside"),
        (lambda: all_to_all_ledger(routes(CLOS), 1e308), "beyond 1e308"),
        (lambda: CLOS.leaving(2.5), "vertex = 2.5 must be a whole number"),
        (lambda: CLOS.label(["pod"]), r"name = \['pod'\] must be text"),
        (lambda: CLOS.of_kind(["trunk"]), "kind = .* is not a kind of link"),
    ],
)
def test_the_sentence_names_the_argument_and_the_fix(call, says) -> None:
    with pytest.raises(ValueError, match=says):
        call()


def test_small_numpy_integers_do_not_wrap() -> None:
    """np.int8(100) squared is 16: counts of a data frame must not build a smaller fabric."""
    small = dragonfly(np.int8(2), np.int8(12), np.int8(11), LINK)
    assert small.hosts.size == 2 * 12 * (12 * 11 + 1)
    assert path_count(hgx_h100(), np.uint8(0), np.int16(7)) == 82


def test_a_missing_argument_is_pythons_own_error() -> None:
    with pytest.raises(TypeError, match="missing"):
        fat_tree(4)


def test_the_arrays_of_a_fabric_are_frozen_too() -> None:
    fabric = leaf_spine(16, 8, LINK)
    assert isinstance(fabric, Fabric)
    with pytest.raises(ValueError, match="read-only"):
        fabric.capacity[0] = 0


def test_a_path_that_16_bits_do_not_hold_is_no_wrong_number(monkeypatch) -> None:
    monkeypatch.setattr("netlib.topology.hops.FARTHEST", 9)
    assert topology.diameter(torus([10], LINK, wrap=False)) == 9
    with pytest.raises(ValueError, match="paths of more than 9 links"):
        topology.diameter(torus([11], LINK, wrap=False))

"""The algorithms of the agreement table: for each the closed form, the schedule, and a fabric that fits.

`out` of a case is one rank's link to all others: two cables of a switch, each with half of its latency. `up` is the
same inside a node. A chip of a torus has one cable for each neighbour.
"""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from netlib import collectives as c
from netlib import topology as t
from netlib.arguments import Floats, quoted
from netlib.collectives import Schedule
from netlib.fidelity.engines import Algorithm, Net, Shape
from netlib.links import Link
from netlib.names import nearest
from netlib.topology import Cables, Fabric

MOST = 33  # ranks


# ---------------------------------------------------------------- fabrics


def hop(link: Link) -> Link:
    """One of the two cables of a way through a switch."""
    return Link(np.asarray(link.alpha) / 2, link.bandwidth)


def star(net: Net, n: int, *_: int) -> Fabric:
    """All ranks on one switch."""
    return t.one_switch(n, hop(net.out))


def cluster(net: Net, g: int, nodes: int, *_: int) -> Fabric:
    """Nodes with an NVSwitch each, rails on leaves: rank i of all nodes on leaf i."""
    return t.rail_optimised(nodes, g, max(2 * nodes, 2 * g), hop(net.out), inside=hop(net.up))


def tree_of_switches(net: Net, n: int, radix: int, *_: int) -> Fabric:
    """Switches with up to `radix` children each, ranks below them, one switch on top."""
    rows, first, many = [], n, n
    below = np.arange(n)
    tier = [0] * n
    while many > 1:
        above = first + np.arange(-(-many // radix))
        rows.append(Cables(below, above[np.arange(many) // radix], hop(net.out)))
        tier += [tier[-1] + 1] * above.size
        below, first, many = above, first + above.size, above.size
    return t.build("tree of switches", len(tier), hosts=np.arange(n), tier=tier, cables=rows)


def chips(net: Net, *sides: int) -> Fabric:
    """A torus."""
    return t.torus(sides, net.out)


# ---------------------------------------------------------------- shapes


def any_n(rng: Generator) -> Shape:
    """Ranks, from one to `MOST`."""
    return (int(rng.integers(1, MOST + 1)),)


def in_segments(rng: Generator) -> Shape:
    """Ranks, and segments of the buffer."""
    return (int(rng.integers(2, MOST + 1)), int(rng.integers(1, 9)))


def in_nodes(rng: Generator) -> Shape:
    """Ranks in a node, and nodes."""
    return (int(rng.integers(1, 9)), int(rng.integers(1, 7)))


def in_even_nodes(rng: Generator) -> Shape:
    """With an odd number of nodes one cable of each ring joins two rails, and takes two switches more."""
    return (int(rng.integers(1, 7)), 2 * int(rng.integers(1, 4)))


def in_nodes_and_segments(rng: Generator) -> Shape:
    """Ranks in a node, nodes, and segments of the buffer."""
    return (int(rng.integers(1, 6)), int(rng.integers(1, 5)), int(rng.integers(1, 6)))


def in_a_tree(rng: Generator) -> Shape:
    """Ranks, children of a switch, and segments of the buffer."""
    return (int(rng.integers(2, MOST + 1)), int(rng.integers(2, 9)), int(rng.integers(1, 9)))


def sides(rng: Generator) -> Shape:
    """Chips along one to three axes."""
    return tuple(int(each) for each in rng.integers(2, 5, int(rng.integers(1, 4))))


def cube(rng: Generator) -> Shape:
    """As many chips along each of one to three axes."""
    return (int(rng.integers(2, 5)),) * int(rng.integers(1, 4))


# ---------------------------------------------------------------- closed forms, as functions of a case


def flat(form: Callable[..., Floats]) -> Callable[..., Floats]:
    """A form of (size, n, link)."""
    return lambda size, net, n: form(size, n, net.out)


def adding(form: Callable[..., Floats]) -> Callable[..., Floats]:
    """A form of (size, n, link, gamma)."""
    return lambda size, net, n: form(size, n, net.out, net.gamma)


def segmented(form: Callable[..., Floats]) -> Callable[..., Floats]:
    """A form of (size, n, link, segments)."""
    return lambda size, net, n, k: form(size, n, net.out, segments=k)


def two_level(form: Callable[..., Floats]) -> Callable[..., Floats]:
    """A form of (size, g, nodes, up, out)."""
    return lambda size, net, g, nodes: form(size, g, nodes, net.up, net.out)


def levels(n: int, radix: int) -> int:
    """Levels of a tree of switches."""
    found = 0
    while n > 1:
        n, found = -(-n // radix), found + 1
    return found


def node_of(g: int, *_: int) -> int:
    """Ranks in a node, of a shape that begins with them."""
    return g


def _three_channels(n: int) -> Schedule:
    return c.ring_allreduce(n, channels=3)


def _six_pieces(size: float, net: Net, n: int, k: int) -> Floats:
    """Seconds of six steps of a double tree."""
    return 6 * net.out.time(size / (2 * k))


def _nvls_fine(size: float, net: Net, n: int, k: int) -> Floats:
    return c.nvls_allreduce_time(size, n, net.out)


def _fill_and_drain(size: float, net: Net, n: int, k: int) -> Floats:
    """Seconds that the pipeline needs to fill and drain."""
    return c.nvls_allreduce_time(size, n, net.out, segments=k) - _nvls_fine(size, net, n, k)


def _sharp(size: float, net: Net, n: int, radix: int, k: int) -> Floats:
    return c.sharp_allreduce_time(size, levels(n, radix), hop(net.out), segments=k)


def _hierarchy_in_segments(size: float, net: Net, g: int, nodes: int, k: int) -> Floats:
    return c.hierarchical_allreduce_time(size, g, nodes, net.up, net.out, segments=k)


def _lockstep(size: float, net: Net, g: int, nodes: int) -> float:
    """Seconds by which hops inside and out may differ in latency, over all steps."""
    return 2 * (g * nodes - 1) * float(np.abs(np.subtract(net.up.alpha, net.out.alpha)))


def _torus(form: Callable[..., Floats], **how: bool) -> Callable[..., Floats]:
    return lambda size, net, *sides: form(size, sides, net.out, **how)


def _on_torus(built: Callable[..., Schedule], **how: bool) -> Callable[..., Schedule]:
    return lambda *sides: built(sides, **how)


def _flat(
    op: str, name: str, form: Callable[..., Floats], built: Callable[..., Schedule], adds: bool = False
) -> Algorithm:
    """n ranks on one switch."""
    return Algorithm(op, name, (adding if adds else flat)(form), built, star, any_n, adds=adds)


def _piped(op: str, name: str, form: Callable[..., Floats], built: Callable[..., Schedule]) -> Algorithm:
    """n ranks on one switch, in segments."""
    return Algorithm(op, name, segmented(form), built, star, in_segments)


def _hierarchical(op: str, name: str, form: Callable[..., Floats], built: Callable[..., Schedule]) -> Algorithm:
    """Nodes."""
    return Algorithm(op, name, two_level(form), built, cluster, in_nodes, nodes=node_of)


def _bucket(op: str, name: str, form: Callable[..., Floats], built: Callable[..., Schedule], **how: bool) -> Algorithm:
    """A torus."""
    shapes = cube if how.get("all_axes") else sides
    return Algorithm(op, name, _torus(form, **how), _on_torus(built, **how), chips, shapes, ports="pair")


def _twice(form: Callable[..., Floats]) -> Callable[..., Floats]:
    return lambda *arguments, **options: 2 * form(*arguments, **options)


REDUCE, SCATTER, GATHER, EXCHANGE = "all-reduce", "reduce-scatter", "all-gather", "all-to-all"

ALGORITHMS = (
    _flat(REDUCE, "ring", c.ring_allreduce_time, c.ring_allreduce, adds=True),
    Algorithm(
        REDUCE,
        "ring, three channels",
        adding(c.ring_allreduce_time),
        _three_channels,
        star,
        any_n,
        adds=True,
    ),
    _flat(REDUCE, "binomial tree", c.tree_allreduce_time, c.tree_allreduce, adds=True),
    _flat(REDUCE, "recursive doubling", c.recursive_doubling_allreduce_time, c.recursive_doubling_allreduce, adds=True),
    _flat(REDUCE, "halving and doubling", c.halving_doubling_allreduce_time, c.halving_doubling_allreduce, adds=True),
    _piped(REDUCE, "chain", _twice(c.pipelined_broadcast_time), c.pipelined_allreduce),
    _piped(REDUCE, "two trees", _twice(c.double_tree_broadcast_time), c.double_tree_allreduce),
    Algorithm(
        REDUCE,
        "two trees, as published",
        segmented(c.double_tree_allreduce_time),
        c.double_tree_allreduce,
        star,
        in_segments,
        kind="above",
        slack=_six_pieces,
        reason="the paper counts 4(h + k) steps; 4 to 6 of them are not needed",
    ),
    _flat(REDUCE, "two-shot", c.two_shot_allreduce_time, c.two_shot_allreduce),
    Algorithm(
        REDUCE,
        "NVLS",
        segmented(c.nvls_allreduce_time),
        c.nvls_allreduce,
        star,
        in_segments,
        ports="pair",
    ),
    Algorithm(
        REDUCE,
        "NVLS, fine pieces",
        _nvls_fine,
        c.nvls_allreduce,
        star,
        in_segments,
        ports="pair",
        kind="below",
        slack=_fill_and_drain,
        reason="pieces are stored at each hop, so that the pipeline fills and drains",
    ),
    Algorithm(
        REDUCE,
        "SHARP",
        _sharp,
        c.sharp_allreduce,
        tree_of_switches,
        in_a_tree,
        ports="pair",
    ),
    _hierarchical(REDUCE, "hierarchy in series", c.hierarchical_allreduce_time, c.hierarchical_allreduce),
    Algorithm(
        REDUCE,
        "hierarchy in segments",
        _hierarchy_in_segments,
        c.hierarchical_allreduce,
        cluster,
        in_nodes_and_segments,
        nodes=node_of,
        pace="data",
    ),
    Algorithm(
        REDUCE,
        "a ring per card",
        two_level(c.multirail_ring_allreduce_time),
        c.multirail_ring_allreduce,
        cluster,
        in_even_nodes,
        nodes=node_of,
        kind="near",
        slack=_lockstep,
        reason="the formula adds up the latencies of one way round; in lockstep each step waits for its slower hop",
    ),
    Algorithm(
        REDUCE,
        "a ring per card, bytes alone",
        two_level(c.multirail_ring_allreduce_time),
        c.multirail_ring_allreduce,
        cluster,
        in_even_nodes,
        nodes=node_of,
        latency=False,
    ),
    _bucket(REDUCE, "torus, axis by axis", c.torus_allreduce_time, c.torus_allreduce),
    _bucket(REDUCE, "torus, both ways", c.torus_allreduce_time, c.torus_allreduce, both_ways=True),
    _bucket(
        REDUCE, "torus, all axes of a cube", c.torus_allreduce_time, c.torus_allreduce, all_axes=True, both_ways=True
    ),
    _flat(SCATTER, "ring", c.ring_reduce_scatter_time, c.ring_reduce_scatter, adds=True),
    _flat(SCATTER, "recursive halving", c.halving_reduce_scatter_time, c.halving_reduce_scatter, adds=True),
    _flat(SCATTER, "Bruck", c.bruck_all_gather_time, c.bruck_reduce_scatter),
    _hierarchical(SCATTER, "hierarchy", c.hierarchical_reduce_scatter_time, c.hierarchical_reduce_scatter),
    _bucket(SCATTER, "torus, axis by axis", c.torus_reduce_scatter_time, c.torus_reduce_scatter),
    _flat(GATHER, "ring", c.ring_all_gather_time, c.ring_all_gather),
    _flat(GATHER, "recursive doubling", c.doubling_all_gather_time, c.doubling_all_gather),
    _flat(GATHER, "Bruck", c.bruck_all_gather_time, c.bruck_all_gather),
    _hierarchical(GATHER, "hierarchy", c.hierarchical_reduce_scatter_time, c.hierarchical_all_gather),
    _bucket(GATHER, "torus, axis by axis", c.torus_reduce_scatter_time, c.torus_all_gather),
    _flat("broadcast", "binomial tree", c.binomial_broadcast_time, c.binomial_broadcast),
    _piped("broadcast", "chain", c.pipelined_broadcast_time, c.pipelined_broadcast),
    _piped("broadcast", "two trees", c.double_tree_broadcast_time, c.double_tree_broadcast),
    _flat("broadcast", "scatter and all-gather", c.scatter_gather_broadcast_time, c.scatter_gather_broadcast),
    _hierarchical("broadcast", "hierarchy", c.hierarchical_broadcast_time, c.hierarchical_broadcast),
    _flat("reduce", "binomial tree", c.binomial_reduce_time, c.binomial_reduce, adds=True),
    _piped("reduce", "chain", c.pipelined_broadcast_time, c.pipelined_reduce),
    _piped("reduce", "two trees", c.double_tree_broadcast_time, c.double_tree_reduce),
    _flat("scatter", "binomial tree", c.binomial_scatter_time, c.binomial_scatter),
    _flat("scatter", "one after the other", c.linear_scatter_time, c.linear_scatter),
    _flat("gather", "binomial tree", c.binomial_scatter_time, c.binomial_gather),
    _flat("gather", "one after the other", c.linear_scatter_time, c.linear_gather),
    _flat(EXCHANGE, "pairwise", c.pairwise_all_to_all_time, c.pairwise_all_to_all),
    _flat(EXCHANGE, "Bruck", c.bruck_all_to_all_time, c.bruck_all_to_all),
    _hierarchical(EXCHANGE, "by rails", c.rail_all_to_all_time, c.rail_all_to_all),
    _hierarchical(EXCHANGE, "PXN", c.pxn_all_to_all_time, c.pxn_all_to_all),
)


def algorithm(id: str) -> Algorithm:
    """The algorithm of an id: collective, comma, name.

    >>> algorithm("all-reduce, ring").adds
    True
    """
    known = {each.id: each for each in ALGORITHMS}
    if id not in known:
        raise ValueError(f"algorithm {quoted(id)} does not exist; {nearest(id, known)}")
    return known[id]

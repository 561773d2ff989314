"""Random fabrics for property tests, and a small fat-tree that shares no code with netlib's builders."""

import numpy as np
from hypothesis import strategies as st

from netlib.links import Link
from netlib.topology import Cables, Fabric, build

LINK = Link(1e-6, 50e9)


@st.composite
def fabrics(draw: st.DrawFn, most: int = 24) -> Fabric:
    """Up to `most` vertices, parallel cables of several rates, hosts that forward, parts of a node, islands."""
    vertices = draw(st.integers(2, most))
    hosts = draw(st.integers(1, vertices))
    ends = st.tuples(st.integers(0, vertices - 1), st.integers(0, vertices - 1)).filter(lambda p: p[0] != p[1])
    pairs = draw(st.lists(ends, max_size=60))
    a, b = zip(*pairs, strict=True) if pairs else ((), ())
    rates = draw(st.lists(st.sampled_from([25e9, 50e9, 12.5e9, 1e11 / 3]), min_size=len(pairs), max_size=len(pairs)))
    tier = [0] * hosts + draw(st.lists(st.integers(0, 2), min_size=vertices - hosts, max_size=vertices - hosts))
    forwards = [int(t > 0) for t in tier]
    if draw(st.booleans()):
        forwards = draw(st.lists(st.integers(0, 1), min_size=vertices, max_size=vertices))
    order = draw(st.permutations(range(hosts)))
    cables = [Cables(a, b, Link(1e-6, rates))] if pairs else []
    return build("random", vertices, order, tier, cables, forwards=forwards)


def leaf_and_spine(leaves: int, spines: int, down: int, rate: float = 50e9, planes: int = 1) -> Fabric:
    """`planes` times `leaves` x `spines`, `down` hosts on each leaf, one cable from each leaf to each spine."""
    hosts, plane = leaves * down, leaves + spines
    host = np.arange(hosts)
    cables = []
    for each in range(planes):
        first = hosts + each * plane
        cables.append(Cables(host, first + host // down, Link(1e-6, rate), "access"))
        up, top = np.divmod(np.arange(leaves * spines), spines)
        cables.append(Cables(first + up, first + leaves + top, Link(1e-6, rate)))
    tier = np.concatenate([np.zeros(hosts), np.tile(np.repeat([1, 2], [leaves, spines]), planes)])
    label = np.concatenate([np.full(hosts, -1), np.repeat(np.arange(planes), plane)])
    return build("leaf and spine", tier.size, host, tier, cables, labels={"plane": label})


def three_tiers(k: int) -> Fabric:
    """The k-ary fat-tree (Al-Fares 2008) written out by its definition, one loop for each kind of cable."""
    half, hosts = k // 2, k**3 // 4
    above, core = hosts + k * half, hosts + 2 * k * half
    each = [(pod, i, j) for pod in range(k) for i in range(half) for j in range(half)]
    edge = [hosts + pod * half + i for pod, i, _ in each]
    cables = [
        Cables(range(hosts), edge, LINK, "access"),
        Cables(edge, [above + pod * half + j for pod, _, j in each], LINK),
        Cables([above + pod * half + i for pod, i, _ in each], [core + i * half + j for _, i, j in each], LINK),
    ]
    tier = np.repeat([0, 1, 2, 3], [hosts, k * half, k * half, half**2])
    return build(f"fat-tree {k}", tier.size, range(hosts), tier, cables)

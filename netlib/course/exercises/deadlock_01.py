from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from netlib.congestion import lossless
from netlib.course.exercises import exercise
from netlib.links import Link
from netlib.topology import Fabric, leaf_spine, minimal, routes

SWITCHES, HOPS = 6, 3
LINK = Link(1e-6, 50e9)
SECOND = {"a": (0, 3), "b": (1, 3)}  # spine, leaf of a cable that dies beside that of spine 0 and leaf 2
CHOICES = {
    "a": "spine 0 to leaf 3",
    "b": "spine 1 to leaf 3",
    "c": "either of the two",
    "d": "none of the two: ways on a Clos make no cycle",
}


def round_the_ring() -> tuple[Fabric, NDArray[np.int64]]:
    ring = lossless.switch_ring(SWITCHES, LINK)
    return ring, lossless.round_ways(ring, HOPS)


@cache
def arrows() -> int:
    return len(lossless.buffer_dependencies(*round_the_ring()).before)


@cache
def fewest() -> int:
    """Flows to take away until no cycle is left: all sets, the small ones first."""
    ring, ways = round_the_ring()
    for number in range(SWITCHES):
        for gone in combinations(range(SWITCHES), number):
            if not lossless.shortest_cycle(lossless.buffer_dependencies(ring, np.delete(ways, gone, axis=0))).size:
                return number
    return SWITCHES


def cycle(spine: int, leaf: int) -> bool:
    """Whether the ways between all hosts make a cycle when two cables are dead; bounces drawn many times over."""
    pod, rng = leaf_spine(8, 4, LINK), np.random.default_rng(0)
    names = lossless.vertex_names(pod)
    ends = [{names[a], names[b]} for a, b in zip(pod.source[::2], pod.target[::2], strict=True)]
    dead = [ends.index({f"spine {s}", f"leaf {k}"}) for s, k in ((0, 2), (spine, leaf))]
    src, dst = np.divmod(np.arange(64), 8)
    src, dst = src[src != dst], dst[src != dst]
    drawn = [lossless.bounced(pod, minimal(routes(pod), src, dst, rng), dead, rng) for _ in range(4)]
    hops = max(ways.shape[1] for ways in drawn)
    ways = [np.pad(each, ((0, 0), (0, hops - each.shape[1])), constant_values=-1) for each in drawn]
    return lossless.shortest_cycle(lossless.buffer_dependencies(pod, np.concatenate(ways))).size > 0


@cache
def cable() -> str:
    close = [letter for letter, where in SECOND.items() if cycle(*where)]
    return {(): "d", ("a", "b"): "c"}.get(tuple(close), close[0] if close else "d")


EXERCISE = exercise(
    id="deadlock-01",
    chapter="congestion",
    skill="cycles of buffers that wait",
    stars=2,
    minutes=(8, 14),
    place=413,
    ask="Six switches stand in a ring, a host at each, and every host sends to the host three switches on, all the "
    "same way round. Draw an arrow from each link, in its direction and host cables included, to the next link of "
    "every way that uses both, each arrow once. How many `arrows` are there? How many of the six `flows` have to be "
    "taken away at least until there is no cycle? Now a leaf-spine: two spines, four leaves, two hosts a leaf. The "
    "cable from spine 0 to leaf 2 is dead, and a spine that cannot go down to a leaf sends the packet down to another "
    "leaf, which sends it up to the other spine. Which second dead `cable` closes a cycle?",
    answer=lambda: {"arrows": arrows(), "flows": fewest(), "cable": cable()},
    unit={"arrows": "arrows", "flows": "flows"},
    compare={"arrows": "exact", "flows": "exact", "cable": "choice"},
    options={"cable": CHOICES},
    hints=(
        "One way uses five links: the host's, three of the ring, the receiver's. Two ways share arrows.",
        "Arrows: from a host's cable into the ring, along the ring, out of it. An arrow along the ring goes away when "
        "the last way over both its links does.",
        "`way = [nic, ring, ring, ring, down]` has four arrows; how many ways go over the same two ring cables?",
    ),
    wrong={
        "arrows": {
            24: "that counts arrows once for each way; two ways that go over the same two ring cables share theirs",
            12: "arrows along the ring lead to the ring's next cable as well as out to a host",
            6: "those are the arrows along the ring; a host's cable waits for the ring too, and the ring for a "
            "receiver's",
            30: "a way of five links makes four arrows, not five, and some are shared",
        },
        "flows": {
            1: "each arrow along the ring is drawn by more than one way",
            3: "fewer do: every second arrow need not go, one is enough",
            6: "one hole in the cycle is enough",
        },
        "cable": {
            "a": "all bounces then begin at spine 0 and climb into spine 1; who climbs back into spine 0?",
            "c": "one of the two lies at spine 0, where all bounces would begin: nobody climbs back into it",
            "d": "ways that go up and then down make none; a bounced packet goes up again",
        },
    },
    right=(
        {"arrows": "18", "flows": 2, "cable": "b"},
        ("18", "2", "spine 1 to leaf 3"),
    ),
    explain=lambda: (
        f"Six arrows into the ring, six along it, six out: {arrows()}. Each of the six along it is drawn by two ways, "
        f"so two neighbours have to go before one is missing: {fewest()} flows. At two spines the bounces face each "
        "other: down from spine 0 and up to spine 1, down from spine 1 and up to spine 0, and the cycle has four "
        "buffers. At one spine they all go the same way. A cycle is no deadlock yet: that takes flows enough to fill "
        "the buffers all the way round."
    ),
)

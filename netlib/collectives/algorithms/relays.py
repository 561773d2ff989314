"""Relays: all-to-all on nodes, with every byte leaving a node on the rail where it must arrive.

Rank r is rank r % g of node r // g. A block for another node's rank i is first handed to rank i of one's own node over
NVLink, and goes out by that rank's NIC: no message changes rails, so that no spine is crossed. NCCL calls it PXN.
Read with the chapter "Collectives", section "An algorithm as data". Block (s, d) is chunk s n + d.
"""

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import declared
from netlib.collectives.algorithms.hierarchies import ACROSS, INSIDE
from netlib.collectives.bounds import fits
from netlib.collectives.schedule import Phase, Schedule, phase, schedule_of


@declared
def rail_all_to_all(g: int, nodes: int) -> Schedule:
    """Two stages: all-to-all inside every node, by the rail of the destination; then all-to-all along every rail.

    g - 1 steps of size/g on NVLink, then nodes - 1 steps of size/nodes on the NICs. The fewest messages: one to each
    rank of one's node, one to each node.

    >>> made = rail_all_to_all(4, 3)
    >>> made.steps, made.chunks
    (5, 144)
    """
    n, node, place = _places(g, nodes)
    rank = np.arange(n)
    phases: list[Phase] = []
    for shift in range(1, g):  # to rank `to`, all blocks for its rail: one for each node
        to = (place + shift) % g
        phases.append(phase(0, rank, node * g + to, rank * n + to, False, nodes, stride=g, channel=INSIDE))
    for shift in range(1, nodes):  # for rank `to`, a block from each rank of the node
        to = (node + shift) % nodes * g + place
        phases.append(phase(0, rank, to, node * g * n + to, False, g, stride=n, channel=ACROSS))
    return _all_to_all("rails", n, phases)


@declared
def pxn_all_to_all(g: int, nodes: int) -> Schedule:
    """One destination after the other, as pairwise exchange does, each block by the relay on its rail (PXN).

    n - 1 steps of size/n: in g (nodes - 1) of them every NIC sends a block while NVLink hands over the block that
    goes out next; then g - 1 steps for one's own node, in a channel that may overlap. Small messages that leave at
    once, where `rail_all_to_all` sends few large ones and waits between its stages.

    >>> pxn_all_to_all(4, 3).steps
    11
    """
    n, node, place = _places(g, nodes)
    rank = np.arange(n)
    turns = [(shift, turn) for shift in range(1, nodes) for turn in range(g)]
    phases: list[Phase] = []
    for (shift, turn), after in zip(turns, [*turns, (0, 0)][1:], strict=True):
        # relay i sends what it has from rank i - turn of its node; NVLink hands over what goes out in the next step
        to = (node + shift) % nodes * g + place
        giver = node * g + (place - turn) % g
        steps = [(rank, to, giver * n + to)]
        if after[1]:
            relay = node * g + (place + after[1]) % g
            steps.append((rank, relay, rank * n + (node + after[0]) % nodes * g + relay % g))
        src, dst, chunk = (np.concatenate(column) for column in zip(*steps, strict=True))
        phases.append(phase(0, src, dst, chunk, False, channel=ACROSS))
    for turn in range(1, g):
        to = node * g + (place + turn) % g
        phases.append(phase(0, rank, to, rank * n + to, False, channel=INSIDE))
    return _all_to_all("PXN", n, phases)


def _places(g: int, nodes: int) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """How many ranks there are, the node of each and its place there."""
    fits(2, g=g, nodes=nodes)
    n = g * nodes
    return n, *np.divmod(np.arange(n), g)


def _all_to_all(name: str, n: int, phases: list[Phase]) -> Schedule:
    source, target = np.divmod(np.arange(n * n), n)
    return schedule_of(name, "alltoall", n, phases, weight=np.full(n * n, 1 / n), source=source, target=target)

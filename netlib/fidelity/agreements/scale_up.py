"""Agreements of the chapter "Scale-up"."""

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import Floats
from netlib.collectives import nvls_allreduce_time, outside_share, tp_bytes
from netlib.fidelity.agreement import Agreement
from netlib.hardware import bandwidth, fact
from netlib.links import Link, bytes_in_flight
from netlib.topology import Fabric, bisection, domain_bisection, domain_pairs, nvl72, nvlink_domain

RATE = bandwidth("nvlink5-link")
PORT = Link(0.0, RATE)


def outside_share_counted(n: int, domain: int) -> float:
    """Ordered pairs of ranks in two domains, over all ranks squared: a rank keeps its own block too."""
    home = np.arange(n) // domain
    return float(np.mean(home[:, None] != home[None, :]))


# ---------------------------------------------------------------- counts of a domain


def domain(gpus: int, links: int) -> Fabric:
    """A domain in which each GPU has one link to each of `links` switches; 72 and 18 is the product."""
    return nvl72() if (gpus, links) == (72, 18) else nvlink_domain(gpus, links, links, PORT)


def domain_links(gpus: int, links: int) -> int:
    """Links: gpus x links."""
    return gpus * links


def links_counted(gpus: int, links: int) -> int:
    """Cables of the built domain that end at a switch."""
    fabric = domain(gpus, links)
    return int(np.count_nonzero(fabric.tier[fabric.target] > 0))


def pairs_counted(gpus: int, links: int) -> int:
    """Wires drawn one by one: two lanes for each directed link of the built domain, each lane a twisted pair."""
    fabric = domain(gpus, links)
    return np.repeat(np.arange(fabric.links), 2).size


def domain_aggregate(gpus: int, rate: float) -> float:
    """What a vendor adds up: every GPU's rate, both ways."""
    return 2 * gpus * rate


def aggregate_counted(gpus: int, rate: float) -> float:
    """Capacities of all directed links of the built domain, added."""
    return float(domain(gpus, round(rate / RATE)).capacity.sum())


def bisection_counted(gpus: int, rate: float) -> float:
    """Bytes per second from one half of the GPUs to the other, by max-flow."""
    return float(bisection(domain(gpus, round(rate / RATE))).bandwidth)


def switches_needed(gpus: int, links: int, ports: int) -> int:
    """Fewest switch chips that hold all links: gpus x links / ports, rounded up."""
    return -(-gpus * links // ports)


def switches_packed(gpus: int, links: int, ports: int) -> int:
    """Chips in use after the links were plugged in one by one, each into the first free port."""
    free: list[int] = []
    for _ in range(gpus * links):
        if not free or not free[-1]:
            free.append(ports)
        free[-1] -= 1
    return len(free)


def domain_limit(chips: int, ports: int, links: int) -> int:
    """GPUs that one tier of chips can join: chips x ports / links."""
    return chips * ports // links


def limit_found(chips: int, ports: int, links: int) -> int:
    """GPUs added to a built domain, one at a time, until a chip would need more cables than it has ports."""
    n = 1
    while (grown := nvlink_domain(n + 1, chips, links, PORT)).degree[grown.switches].max() <= ports:
        n += 1
    return n


# ---------------------------------------------------------------- executed


def ring_sent(n: int) -> Floats:
    """Buffers that each rank sends in a ring all-reduce, executed on real arrays and checked."""
    buffers = np.arange(n * n, dtype=float).reshape(n, n) % 7
    total, rank, sent = buffers.sum(axis=0), np.arange(n), np.zeros(n)
    for step in range(2 * (n - 1)):
        piece, peer = (rank - step) % n, (rank + 1) % n
        moved = buffers[rank, piece]
        buffers[peer, piece] = moved + (buffers[peer, piece] if step < n - 1 else 0)
        sent += 1 / n
    assert (buffers == total).all()
    return sent


def nvls_sent(n: int) -> Floats:
    """Buffers that each rank sends when the switch adds: executed slice by slice, the result checked."""
    buffers = np.arange(n * n, dtype=float).reshape(n, n) % 7
    total, sent = buffers.sum(axis=0), np.zeros(n)
    for owner in range(n):
        asked = buffers[:, owner].copy()  # the switch reads this slice from every memory, the owner's too
        sent += 1 / n
        buffers[:, owner] = asked.sum()  # the owner writes the sum once, the switch copies it to everybody
        sent[owner] += 1 / n
    assert (buffers == total).all()
    return sent


def nvls_bytes(n: int) -> float:
    """Buffers on the busiest link by the closed form: 1 + 1/n."""
    return float(nvls_allreduce_time(1, n, Link(0, 1)))


def nvls_executed(n: int) -> float:
    """Buffers on the busiest link when executed."""
    return float(nvls_sent(n).max())


def nvls_gain(n: int) -> float:
    """How many times fewer bytes than the ring: 2(n - 1) / (n + 1)."""
    return 2 * (n - 1) / (n + 1)


def nvls_gain_executed(n: int) -> float:
    """Bytes of the executed ring over those of the executed switch."""
    return float(ring_sent(n).max() / nvls_sent(n).max())


def tp_executed(layers: int, tokens: int, hidden: int, width: int, tp: int) -> float:
    """Bytes that one rank sends while it walks through the layers, ring by executed ring."""
    per_ring = ring_sent(tp)[0] * tokens * hidden * width
    return float(sum(per_ring for _ in range(layers) for _ in ("attention", "mlp", "mlp back", "attention back")))


def tp_share(sent: float, rate: float, compute: float) -> float:
    """Share of a step that waits: sent / rate over (sent / rate + compute)."""
    return sent / rate / (sent / rate + compute)


def tp_share_timed(sent: float, rate: float, compute: float, steps: int = 1000) -> float:
    """Seconds that a clock counts while the link is busy, over all seconds, when each layer computes and then sends."""
    waits = np.tile([False, True], steps)
    clock = np.cumsum(np.where(waits, float(Link(0, rate).time(sent / steps)), compute / steps))
    spent = np.diff(clock, prepend=0.0)
    return float(spent[waits].sum() / clock[-1])


# ---------------------------------------------------------------- rates and latencies


def loads_executed(rate: float, latency: float, line: int = 128) -> float:
    """Fewest bytes of outstanding loads that keep a link full, found by issuing loads until the link never waits."""
    low, high = 1, 2 * round(rate * latency / line)
    while low < high:
        window = (low + high) // 2
        low, high = (low, window) if _keeps_up(rate, latency, line, window) else (window + 1, high)
    return float(low * line)


def _keeps_up(rate: float, latency: float, line: int, window: int, rounds: int = 6) -> bool:
    """Whether `window` loads in flight fill the link: a load leaves when the link is free and a slot has come back."""
    slot = line / rate * np.arange(1, window + 1)
    back: NDArray[np.float64] = np.zeros(window)
    free = 0.0
    for _ in range(rounds):
        # k leaves one line after k - 1, or one line after its slot is back, whichever is later
        leave = np.maximum(np.maximum.accumulate(back - (slot - slot[0])), free) + slot
        free, back = float(leave[-1]), leave + latency - line / rate
    return free <= rounds * window * line / rate * (1 + 1e-9)


def break_even(flops: float, rate: float) -> float:
    """FLOP per remote byte: flops / rate."""
    return flops / rate


def break_even_searched(flops: float, rate: float, size: float = 1e9) -> float:
    """The intensity at which a kernel that overlaps both spends as long on arithmetic as on a 1 GB transfer."""
    low, high = 1.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        waits = float(Link(0, rate).time(size)) > middle * size / flops
        low, high = (middle, high) if waits else (low, middle)
    return low


def pcie_rate(fact_id: str) -> float:
    """The registry's bytes per second of a slot of 16 lanes: lane rate x lanes x kept / sent / 8."""
    return bandwidth(fact_id)


def pcie_counted(fact_id: str) -> float:
    """Blocks that 16 lanes finish in a second, and the bytes that each block keeps."""
    lane, sent, kept = {
        "pcie4-x16": ("pcie4-lane", 130, 16.0),  # bits of a block on one lane; bytes it keeps
        "pcie5-x16": ("pcie5-lane", 130, 16.0),
        "pcie6-x16": ("pcie6-lane", 256 * 8, 242.0),  # a flit of 256 bytes
    }[fact_id]
    blocks = 16 * int(fact(lane).value) // sent
    return blocks * kept


_CHIPS = (("a100", "nvlink3"), ("h100", "nvlink4"), ("b200", "nvlink5"))
_FLOPS = tuple((fact(f"bf16-{chip}").value, bandwidth(link)) for chip, link in _CHIPS)
_SIZES = ((72, 18), (8, 18), (16, 6), (36, 18), (7, 3))
_RATES = ((72, 900e9), (8, 900e9), (16, 300e9), (2, 50e9))

AGREEMENTS = (
    Agreement(
        "outside-share",
        "the share of an all-to-all that leaves its domain",
        outside_share,
        outside_share_counted,
        ((8, 8), (16, 8), (64, 8), (144, 72), (72, 72), (256, 1), (6, 3)),
        "counted pair by pair",
        1e-12,
    ),
    Agreement("domain-links", "the links of a domain", domain_links, links_counted, _SIZES),
    Agreement(
        "domain-pairs", "the copper pairs of a domain", domain_pairs, pairs_counted, _SIZES, "counted wire by wire"
    ),
    Agreement(
        "domain-switches",
        "the fewest switch chips of a domain",
        switches_needed,
        switches_packed,
        ((72, 18, 72), (8, 18, 64), (8, 12, 36), (5, 7, 6)),
        "packed port by port",
    ),
    Agreement(
        "domain-limit",
        "how many GPUs one tier of switches joins",
        domain_limit,
        limit_found,
        ((18, 72, 18), (4, 64, 4), (6, 36, 12), (2, 8, 6)),
        "grown GPU by GPU",
    ),
    Agreement(
        "domain-aggregate",
        "all links of a domain, both ways",
        domain_aggregate,
        aggregate_counted,
        _RATES,
        tolerance=1e-12,
    ),
    Agreement(
        "domain-bisection",
        "half of a domain to the other half",
        domain_bisection,
        bisection_counted,
        _RATES,
        "max-flow",
        1e-9,
    ),
    Agreement(
        "nvls-bytes",
        "buffers on the busiest link when the switch adds",
        nvls_bytes,
        nvls_executed,
        ((2,), (3,), (8,), (13,), (72,)),
        "executed",
        1e-12,
    ),
    Agreement(
        "nvls-gain",
        "the ring's bytes over those of the adding switch",
        nvls_gain,
        nvls_gain_executed,
        ((2,), (3,), (8,), (39,), (72,)),
        "executed",
        1e-12,
    ),
    Agreement(
        "tp-bytes",
        "bytes that a rank sends for tensor parallelism",
        tp_bytes,
        tp_executed,
        ((80, 8192, 8192, 2, 8), (80, 1, 8192, 2, 4), (3, 5, 7, 2, 6), (12, 64, 768, 4, 2)),
        "executed layer by layer",
        1e-12,
    ),
    Agreement(
        "tp-share",
        "the share of a step that waits for tensor parallelism",
        tp_share,
        tp_share_timed,
        ((75.2e9, 450e9, 1.087), (75.2e9, 50e9, 1.087), (1e9, 100e9, 0.5)),
        "timed layer by layer",
        1e-9,
    ),
    Agreement(
        "loads-in-flight",
        "bytes of loads that must be outstanding",
        bytes_in_flight,
        loads_executed,
        ((450e9, 1e-6), (900e9, 1e-6), (900e9, 0.5e-6), (50e9, 2e-6)),
        "executed load by load",
        0.003,  # a whole number of loads: one of 128 B in 50 kB
    ),
    Agreement(
        "remote-roofline", "operations per remote byte", break_even, break_even_searched, _FLOPS, "searched", 1e-9
    ),
    Agreement(
        "pcie-rate",
        "bytes per second of a slot",
        pcie_rate,
        pcie_counted,
        (("pcie4-x16",), ("pcie5-x16",), ("pcie6-x16",)),
        "counted block by block",
        1e-8,
    ),
)

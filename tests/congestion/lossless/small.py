"""Small lossless networks that the tests run: one link, one packet, one rule each, and ways drawn at random."""

import numpy as np

from netlib.congestion.lossless import ENDLESS
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.traffic import Packet, Traffic, over
from netlib.links import Link
from netlib.topology import Fabric, ecmp, routes

RATE = 12.5e9
LINK = Link(1e-6, RATE)
PACKET = Packet(4096, 4096)
PFC = Pfc(buffer=1e9, alpha=0, xoff=100e3, hysteresis=8e3, response=0)
CREDITS = LinkCredits(buffer=120e3, response=0)
US = 1e-6


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    src, dst = np.divmod(np.arange(n * n), n)
    return src[src != dst], dst[src != dst]


def all_to_all(fabric: Fabric, size: float = ENDLESS, seed: int = 1) -> tuple[Traffic, np.ndarray]:
    """Every host sends to every other over one shortest way; and to whom each flow goes."""
    src, dst = pairs(fabric.hosts.size)
    return over(fabric, ecmp(routes(fabric), src, dst, seed=seed), size, PACKET), dst


def walks(fabric: Fabric, many: int, hops: int, made: np.random.Generator) -> np.ndarray:
    """Random walks that do not turn back on the cable that they came by."""
    rows = []
    for _ in range(many):
        row = [int(made.integers(fabric.links))]
        for _ in range(hops - 1):
            on = [e for e in fabric.leaving(int(fabric.target[row[-1]])) if e != row[-1] ^ 1]
            row.append(int(made.choice(on)))
        rows.append(row)
    return np.array(rows)

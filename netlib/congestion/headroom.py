"""Headroom: the bytes that still arrive after a port has asked for silence, by formula and as shipped.

After XOFF the sender may have a frame on its way, the cable is full in both directions, and the far end needs its time
to stop. What a switch reserves for that, for each port and class, leaves so little that few classes can be lossless.
"""

from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.congestion.pauses import QUANTUM, response_quanta
from netlib.congestion.rates import in_both_units, speed_of_port

LIGHT = 1.98e8  # m/s in a cable, as SONiC's script has it
KIB = 1024


class Table(NamedTuple):
    """Shipped headroom: bytes of a class on a port (`size`; `xon` of them: the mark to resume) by rate and length."""

    asic: str
    version: str
    size: dict[tuple[int, int], int]  # (Gb/s, m) -> bytes
    xon: int


# sonic-net/sonic-utilities@66b5071, scripts/mellanox_buffer_migrator.py, whose history says that 1.0.4 mends
# the formula behind 1.0.3.
_SPECTRUM_1_3 = {
    **{(10, 5): 34816, (25, 5): 34816, (40, 5): 34816, (50, 5): 34816, (100, 5): 36864},
    **{(10, 40): 36864, (25, 40): 39936, (40, 40): 41984, (50, 40): 41984, (100, 40): 54272},
    **{(10, 300): 49152, (25, 300): 71680, (40, 300): 94208, (50, 300): 94208, (100, 300): 184320},
}
_SPECTRUM_1_4 = {
    **{(10, 5): 49152, (25, 5): 49152, (40, 5): 49152, (50, 5): 49152, (100, 5): 50176},
    **{(10, 40): 49152, (25, 40): 51200, (40, 40): 52224, (50, 40): 53248, (100, 40): 58368},
    **{(10, 300): 56320, (25, 300): 67584, (40, 300): 78848, (50, 300): 86016, (100, 300): 123904},
}
_SPECTRUM_2_3 = {
    **{(10, 5): 36864, (25, 5): 36864, (40, 5): 36864, (50, 5): 37888, (100, 5): 38912, (200, 5): 41984},
    **{(10, 40): 38912, (25, 40): 41984, (40, 40): 45056, (50, 40): 47104, (100, 40): 59392, (200, 40): 81920},
    **{(10, 300): 53248, (25, 300): 78848, (40, 300): 104448, (50, 300): 121856, (100, 300): 206848},
    (200, 300): 376832,
}
_SPECTRUM_2_4 = {
    **{(10, 5): 52224, (25, 5): 52224, (40, 5): 53248, (50, 5): 53248, (100, 5): 53248, (200, 5): 55296},
    **{(10, 40): 53248, (25, 40): 55296, (40, 40): 57344, (50, 40): 58368, (100, 40): 63488, (200, 40): 74752},
    **{(10, 300): 60416, (25, 300): 73728, (40, 300): 86016, (50, 300): 95232, (100, 300): 137216},
    (200, 300): 223232,
}
TABLES = (
    Table("spectrum-1", "1.0.3", _SPECTRUM_1_3, 18432),
    Table("spectrum-1", "1.0.4", _SPECTRUM_1_4, 19456),
    Table("spectrum-2", "1.0.3", _SPECTRUM_2_3, 18432),
    Table("spectrum-2", "1.0.4", _SPECTRUM_2_4, 19456),
)


@formula
def cable_bytes(length: ArrayLike, rate: ArrayLike) -> Floats:
    """Bytes on `length` m of cable, there and back, at `rate` bytes/s: 2 length rate / 1.98e8 m/s. Broadcasts.

    >>> round(float(cable_bytes(1, 12.5e9)), 1)  # bytes for a metre at 100 Gb/s
    126.3
    """
    return 2 * floats("length", length) * speed_of_port("rate", rate) / LIGHT


@formula
def cell_occupancy(cell: ArrayLike, small: ArrayLike = 1.0) -> Floats:
    """Bytes of buffer that a byte takes where memory comes in cells and a share `small` of packets is smallest.

    1 - small + small w, with w = cell / 64 for cells beyond 128 bytes, else 2 cell / (1 + cell), which is close to 2.

    >>> cell_occupancy([96, 144]).round(3).tolist()
    [1.979, 2.25]
    """
    size, part = floats("cell", cell, above=True), floats("small", small)
    if (part > 1).any():
        raise ValueError(f"small = {part.max():g} is a share of packets; give a number between 0 and 1")
    worst = np.where(size > 128, size / 64, 2 * size / (1 + size))
    return np.asarray(1 - part + part * worst)


@declared
@formula
def dynamic_headroom(
    gbit: float,
    length: float,
    cell: float = 144.0,
    small: float = 1.0,
    mtu: float = 9100.0,
    lossless_mtu: float = 1024.0,
    mac: float = 0.8 * KIB,
    gearbox: float = 0.0,
) -> int:
    """Bytes after XOFF on a port of `gbit` Gb/s with `length` m of cable, as SONiC computes them for Spectrum switches.

    lossless_mtu + occupancy x (mtu + cable + 2 gearbox + mac + peer), rounded up to 1,024 bytes. `peer` are the
    quanta in which the far end must stop; `mac` the bytes in MAC and PHY. `gbit` is a port's speed as the tables of
    IEEE and SONiC name it, such as 400, and not a rate in bytes/s. The script divides the bits on the cable by
    8 x 1,024 where it means 8 x 1,000, so that its cable is 2.3 % short; this function does the same.

    Source: sonic-net/sonic-swss@18913fa, cfgmgr/buffer_headroom_mellanox.lua.

    >>> dynamic_headroom(100, 40), dynamic_headroom(400, 100)
    (92160, 265216)
    """
    floats("gbit", gbit, above=True)
    short = 1000 / KIB
    cable = float(cable_bytes(length, gbit * 1e9 / 8)) * short
    peer = response_quanta(gbit) * QUANTUM
    sent = floats("mtu", mtu) + cable + 2 * floats("gearbox", gearbox) + floats("mac", mac) + peer
    whole = float(floats("lossless_mtu", lossless_mtu) + sent * cell_occupancy(cell, small))
    return ceil(whole / KIB) * KIB


@declared
def static_headroom(asic: str, version: str, gbit: float, length: float) -> int:
    """Bytes after XOFF that a switch's shipped table reserves: size - xon of its row, for a port of `gbit` Gb/s.

    The table names ports by their speed in Gb/s and cables by their `length` in m.
    Version 1.0.3 grows by 500 bytes/m at 100 Gb/s, four times what the cable holds; 1.0.4 by 252, twice.

    >>> static_headroom("spectrum-1", "1.0.3", 100, 300), static_headroom("spectrum-1", "1.0.4", 100, 300)
    (165888, 104448)
    """
    found = [each for each in TABLES if (each.asic, each.version) == (asic, version)]
    if not found:
        known = ", ".join(f"{each.asic} {each.version}" for each in TABLES)
        raise ValueError(f"asic = {asic[:40]!r} with version {version[:40]!r} has no table; give one of {known}")
    (table,) = found
    if (gbit, length) not in table.size:
        rates, lengths = (sorted({each[part] for each in table.size}) for part in (0, 1))
        raise ValueError(
            f"gbit = {gbit:g} with {length:g} m is no row of the table; give one of {rates} and {lengths}: "
            f"{in_both_units(gbit)}"
        )
    return table.size[int(gbit), int(length)] - table.xon


@formula
def nic_headroom(length: ArrayLike, rate: ArrayLike, mtu_sent: ArrayLike, mtu_received: ArrayLike) -> Floats:
    """Bytes of a NIC's receive buffer to keep free: both MTUs + 3,840 + 1.3 for each metre and Gb/s. Broadcasts.

    `length` in m, `rate` in bytes/s one way. The rule of a vendor's note on receive buffers (130 bytes per 100 m per
    Gb/s); the cable alone holds 1.26.

    >>> round(float(nic_headroom(100, 12.5e9, 1500, 1500)))  # 100 Gb/s
    19840
    """
    both = floats("mtu_sent", mtu_sent) + floats("mtu_received", mtu_received)
    return both + 3840 + 1.3 * floats("length", length) * speed_of_port("rate", rate) * 8e-9


@formula
def simulator_headroom(rate: ArrayLike, delay: ArrayLike) -> Floats:
    """Bytes after XOFF as the HPCC fork of ns-3 reserves them: 3 x rate x one-way delay of the link. Broadcasts.

    Source: alibaba-edu/High-Precision-Congestion-Control@08d4ba0, simulation/scratch/third.cc.

    >>> round(float(simulator_headroom(12.5e9, 1e-6)))
    37500
    """
    return 3 * speed_of_port("rate", rate) * floats("delay", delay)


@formula
def lossless_classes(buffer: ArrayLike, ports: ArrayLike, headroom: ArrayLike, shared: ArrayLike = 0.0) -> Floats:
    """Classes for which a `buffer` holds the headroom of every port: floor((buffer - shared) / (ports headroom)).

    `shared` are the bytes that must remain for queues. Broadcasts.

    A switch of 9 MB with 32 ports at 40 Gb/s and 300 m of cable, a third of it kept for queues:

    >>> float(lossless_classes(9e6, 32, dynamic_headroom(40, 300), 3e6))
    2.0
    """
    free = np.maximum(floats("buffer", buffer) - floats("shared", shared), 0)
    return np.floor(free / (floats("ports", ports, 1) * floats("headroom", headroom, above=True)))

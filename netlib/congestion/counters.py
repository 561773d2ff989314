"""Counters: what a NIC's totals of marks and CNPs say about the traffic behind them.

A receiver sends at most one CNP for a flow in each gap, however many of its packets are marked. So marks for each CNP
measure how fast the marked traffic came, if the gap is known; or the gap, if the rate is.
"""

from numpy.typing import ArrayLike

from netlib.arguments import Floats, floats, formula


@formula
def marked_rate(marked: ArrayLike, cnps: ArrayLike, gap: ArrayLike, packet: ArrayLike = 4096.0) -> Floats:
    """The least bytes/s of marked traffic in a flow, by a receiver's counters: marked / cnps packet / gap. Broadcasts.

    `marked` and `cnps` are np_ecn_marked_roce_packets and np_cnp_sent, `gap` the seconds between two CNPs of a flow.

    A card's totals, 20.2 marks a CNP, by a gap of 50 and of 4 us: 13 Gb/s are possible, 166 on a port of 100 are not,
    so this card waits 50 us.

    >>> (marked_rate(21278189006, 1052612505, [50e-6, 4e-6]) * 8 / 1e9).round(1).tolist()
    [13.2, 165.6]
    """
    each = floats("marked", marked) / floats("cnps", cnps, above=True)
    return each * floats("packet", packet, above=True) / floats("gap", gap, above=True)

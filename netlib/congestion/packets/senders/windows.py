"""Windows: bytes that a sender may have in flight.

Read with the chapter "Congestion control", section "Marking".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.traffic import Traffic


def bdp(traffic: Traffic, times: float = 1.0) -> Floats:
    """(F,) bytes on the wire of `times` BDPs of data: line rate x base round trip, headers added; inf for no window.

    Senders count what packets carry, so that a window of one BDP is longer on the wire.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> bdp(incast(1, 1e6, Link(1e-6, 50e9), Packet(1000, 1100))).round(3).tolist()
    [222420.0]
    """
    if times == np.inf:
        return np.full(traffic.flows, np.inf)
    return traffic.line_rate * traffic.base_rtt() * (times * traffic.packet.wire / traffic.packet.payload)

"""Thresholds: marking must come before pausing, and how low a mark has to be for that.

The switch counts what it pauses for by ingress port, and what it marks by egress queue. A fan-out from one port can
fill many egress queues a little and its own ingress a lot, so the mark has to be far below the pause. The inequality
is the DCQCN paper's (Zhu et al., SIGCOMM 2015, section 4).
"""

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, floats, formula


@formula
def shared_buffer(buffer: ArrayLike, ports: ArrayLike, priorities: ArrayLike, headroom: ArrayLike) -> Floats:
    """Bytes of `buffer` left when every port and priority has its headroom: B - priorities ports headroom. Broadcasts.

    >>> round(float(shared_buffer(12e6, 32, 8, 22.4e3)))
    6265600
    """
    held = floats("priorities", priorities, 1) * floats("ports", ports, 1) * floats("headroom", headroom)
    left = floats("buffer", buffer) - held
    if (left < 0).any():
        raise ValueError(
            f"headroom takes {np.max(held):g} bytes, more than the buffer has; give fewer priorities or ports"
        )
    return np.asarray(left)


@formula
def static_pause_threshold(buffer: ArrayLike, ports: ArrayLike, priorities: ArrayLike, headroom: ArrayLike) -> Floats:
    """The largest XOFF (bytes of one ingress port and priority) at which all of them fit: shared / (priorities ports).

    >>> round(float(static_pause_threshold(12e6, 32, 8, 22.4e3)))
    24475
    """
    left = shared_buffer(buffer, ports, priorities, headroom)
    return left / (floats("priorities", priorities, 1) * floats("ports", ports, 1))


@formula
def dynamic_pause_threshold(
    buffer: ArrayLike,
    ports: ArrayLike,
    priorities: ArrayLike,
    headroom: ArrayLike,
    beta: ArrayLike,
    used: ArrayLike = 0.0,
) -> Floats:
    """XOFF (bytes) of a switch that shares: beta (shared - used) / priorities; it falls as the buffer fills.

    >>> round(float(dynamic_pause_threshold(12e6, 32, 8, 22.4e3, beta=8, used=1e6)))
    5265600
    """
    left = shared_buffer(buffer, ports, priorities, headroom) - floats("used", used)
    return floats("beta", beta, above=True) * np.maximum(left, 0) / floats("priorities", priorities, 1)


@formula
def static_mark_bound(buffer: ArrayLike, ports: ArrayLike, priorities: ArrayLike, headroom: ArrayLike) -> Floats:
    """The mark (bytes of one egress queue) below which marking comes first with a static XOFF: XOFF / ports.

    Worst case: one ingress port feeds all egress queues. Its text prints 0.85 KB; the formula gives 0.765.

    >>> round(float(static_mark_bound(12e6, 32, 8, 22.4e3)))
    765
    """
    return static_pause_threshold(buffer, ports, priorities, headroom) / floats("ports", ports, 1)


@formula
def dynamic_mark_bound(
    buffer: ArrayLike, ports: ArrayLike, priorities: ArrayLike, headroom: ArrayLike, beta: ArrayLike
) -> Floats:
    """The same where the switch shares its buffer: beta shared / (priorities ports (beta + 1)).

    At that mark, with all egress queues of all priorities full to it, the XOFF is just what one port holds.

    >>> round(float(dynamic_mark_bound(12e6, 32, 8, 22.4e3, beta=8)))
    21756
    """
    weight = floats("beta", beta, above=True)
    return static_pause_threshold(buffer, ports, priorities, headroom) * weight / (weight + 1)

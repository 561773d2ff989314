"""No control: senders that go on at line rate, whatever they hear.

Read with the chapter "Congestion control", section "One bottleneck".
"""

from netlib.congestion.packets.engine import Heard
from netlib.congestion.packets.senders.windows import bdp
from netlib.congestion.packets.traffic import Traffic
from netlib.congestion.parameters import Uncontrolled


class UncontrolledSender:
    """Line rate, and a fixed window of `window` BDPs; inf: none.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> two = incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))
    >>> UncontrolledSender(two, Uncontrolled(window=2)).window.round().tolist()
    [404000.0, 404000.0]
    """

    def __init__(self, traffic: Traffic, control: Uncontrolled) -> None:
        self.rate, self.window = traffic.line_rate.copy(), bdp(traffic, control.window)

    def react(self, now: float, heard: Heard) -> None:
        """Nothing."""

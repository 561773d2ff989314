"""Senders: the controllers of congestion, each for all flows at once.

dcqcn         marks: CNPs cut, timers raise; the paper's machine and the vendor's
dctcp         marks: once per round trip, by their share
timely        delay: by the gradient of the round trip
swift         delay: towards a target, down to less than a packet
hpcc          telemetry: by the utilisation of the busiest hop
powertcp      telemetry or round trips: by power, queue and its growth together
nscc          marks and delay together: UEC 1.0
credits       what the receiver asks for: RCCC, EQDS, NDP
uncontrolled  line rate or a fixed window
mixture       two of them side by side, a part of the flows each
clocks        timers and round trips of many flows
windows       bytes in flight
telemetry     what switches stamp on packets
"""

from netlib.congestion.packets.engine import Sender
from netlib.congestion.packets.senders.credits import CreditSender
from netlib.congestion.packets.senders.dcqcn import DcqcnPaper, DcqcnVendor
from netlib.congestion.packets.senders.dctcp import DctcpSender
from netlib.congestion.packets.senders.hpcc import HpccSender
from netlib.congestion.packets.senders.nscc import NsccSender
from netlib.congestion.packets.senders.powertcp import PowerTcpSender
from netlib.congestion.packets.senders.swift import SwiftSender
from netlib.congestion.packets.senders.timely import TimelySender
from netlib.congestion.packets.senders.uncontrolled import UncontrolledSender
from netlib.congestion.packets.traffic import Traffic
from netlib.congestion.parameters import (
    Control,
    Credits,
    Dcqcn,
    Dctcp,
    Hpcc,
    Nscc,
    PowerTcp,
    Swift,
    Timely,
    Uncontrolled,
)


def sender(control: Control, traffic: Traffic) -> Sender:
    """The controller that `control` describes, for all flows of `traffic`.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> sender(Uncontrolled(window=1), incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))).rate.tolist()
    [50000000000.0, 50000000000.0]
    """
    if isinstance(control, Dcqcn):
        return DcqcnPaper(traffic, control) if control.machine == "paper" else DcqcnVendor(traffic, control)
    if isinstance(control, Dctcp):
        return DctcpSender(traffic, control)
    if isinstance(control, Timely):
        return TimelySender(traffic, control)
    if isinstance(control, Swift):
        return SwiftSender(traffic, control)
    if isinstance(control, Hpcc):
        return HpccSender(traffic, control)
    if isinstance(control, PowerTcp):
        return PowerTcpSender(traffic, control)
    if isinstance(control, Nscc):
        return NsccSender(traffic, control)
    if isinstance(control, Credits):
        return CreditSender(traffic, control)
    if isinstance(control, Uncontrolled):
        return UncontrolledSender(traffic, control)
    raise ValueError(f"control = {str(control)[:40]!r} is none that sends; give a Dcqcn, Dctcp, Timely, Swift ...")

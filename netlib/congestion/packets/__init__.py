"""Packets: the packet-level engine of congestion control.

traffic   flows on the links of a network, one scenario or many side by side
places    where ways meet queues, in steps
queues    first in, first out, by cumulative arrival curves
gates     PFC and link credits: how a full switch holds back what fills it
doors     what pauses, credits and lanes together let through
lines     what takes a fixed number of steps to arrive
lanes     classes of traffic on one link: in order or by weight
marks     which packets a queue marks
nics      senders: paced whole packets, flows in turn
spreading by which of its ways a packet goes
drops     full buffers, bad cables, trimmed packets
recovery  go-back-N and selective repeat
order     what a receiver must hold because packets overtook others
hearing   what a controller hears, and what it is
stamps    what queues were like while a byte was under way
switches  what all switches of a run do
steps     all of it, step by step
engine    a run and what is seen of it
scenarios incast, permutation, all-to-all, victim, on any fabric
"""

from netlib.congestion.packets.drops import Buffers
from netlib.congestion.packets.engine import Engine, Heard, Run, Sender, run
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.lanes import Lanes
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.scenarios import all_to_all, every_way, flows_between, one_flow, permutation, victim
from netlib.congestion.packets.spreading import Spread
from netlib.congestion.packets.switches import Switches
from netlib.congestion.packets.traffic import Packet, Traffic, incast, over, together, traffic

__all__ = [
    "Buffers",
    "Engine",
    "Heard",
    "Lanes",
    "LinkCredits",
    "Packet",
    "Pfc",
    "Recovery",
    "Run",
    "Sender",
    "Spread",
    "Switches",
    "Traffic",
    "all_to_all",
    "every_way",
    "flows_between",
    "incast",
    "one_flow",
    "over",
    "permutation",
    "run",
    "together",
    "traffic",
    "victim",
]

"""Doors: what pauses, credits and lanes together let through in a step.

Read with the chapter "Congestion control", section "Lossless by pause".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.gates import Pauses, Promises
from netlib.congestion.packets.lanes import Dealer
from netlib.congestion.packets.places import Places
from netlib.congestion.packets.queues import Queues
from netlib.congestion.packets.switches import Switches
from netlib.congestion.packets.traffic import Ints, Traffic


class Doors:
    """All gates of a traffic, and the lanes of its links.

    room  (Q,) bytes that a queue's link carries in a step
    """

    def __init__(self, traffic: Traffic, at: Places, switches: Switches, dt: float) -> None:
        self.at, self.wire, self.room = at, traffic.packet.wire, traffic.capacity[at.link] * dt
        self.pauses = Pauses(traffic, switches.pfc, dt) if switches.pfc else None
        self.promises = Promises(traffic, switches.credits, at, dt) if switches.credits else None
        self._dealer = Dealer(at, self.room, switches.lanes) if at.lanes > 1 else None
        self.shut = self.pauses is not None or self.promises is not None  # whether anything can be
        self._gates = len(traffic.capacity) * at.lanes

    def packets(self, gates: Ints, packets: Floats) -> Floats:
        """Packets that NICs may send through each gate."""
        if self.pauses:
            packets = self.pauses.room(gates, packets)
        if self.promises:
            packets = np.minimum(packets, np.floor(self.promises.room(gates, packets * self.wire) / self.wire + 1e-9))
        return packets

    def bytes(self, queues: Queues) -> Floats:
        """(Q,) bytes that each queue may let go: what its link, its lane and the far end allow."""
        room, door = queues.total - queues.gone if self._dealer else self.room, self.at.door
        if self.pauses:
            room = self.pauses.room(door, room)
        if self.promises:
            room = self.promises.room(door, room)
        return self._dealer.room(room) if self._dealer else room

    def watch(self, step: int, queues: Queues, gone: Floats) -> None:
        """See what has come and gone; the queues had let `gone` (Q,) bytes go before this step."""
        if self.promises:
            self.promises.spend(self.at.door, queues.gone - gone)
            self.promises.watch(step, np.asarray(np.bincount(self.at.gate, queues.left, self._gates), float))
        if self.pauses:
            held = np.bincount(self.at.gate, queues.came - queues.left, self._gates)
            self.pauses.watch(step, np.asarray(held, float))

"""Watchdogs: a receiver that reads nothing, and the switch that loses its patience with it.

A NIC that hangs pauses its link without end, and with it everything behind it. Nothing in PFC ends that. A watchdog
does, by breaking the promise: it throws away what waits for such a port, so that everybody else's packets move again.
The same remedy frees a deadlock.
Read with the chapter "Congestion control", section "Lossless by pause".
"""

from dataclasses import dataclass

import numpy as np

from netlib.arguments import declared
from netlib.congestion.parameters import Checked

NEVER = 1 << 62  # slots: more than any run has
_SONIC_TIME, _SONIC_PORTS = 0.2, 32  # s for each 32 lossless ports: sonic-net/sonic-utilities, pfcwd/main.py @015521a


@dataclass(frozen=True)
class Hang(Checked):
    """A NIC that reads nothing from `begin` to `end` (s; inf: for good) and pauses `link`, which leads to it.

    A slow receiver is another thing: it pauses and resumes, and no watchdog bites (`slow_receiver`).
    """

    link: int
    begin: float = 0.0
    end: float = np.inf
    _unlimited = ("end",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.end <= self.begin:
            raise ValueError(f"end = {self.end:g} is not after begin = {self.begin:g}; give end > begin in seconds")


@dataclass(frozen=True)
class Watchdog(Checked):
    """A switch's remedy for a queue that stands still: throw it away, and what comes, until its port is quiet.

    detect   s that a queue with packets must be paused without a break
    restore  s without a pause after which the queue is lossless again

    Microsoft's switches waited for 0.2 s without a pause, its NICs cut their own pauses off after 0.1 s (Guo and
    others, SIGCOMM 2016, section 4.3); for SONiC see `sonic_watchdog`. A run of some ms needs shorter times. What
    matters is that detect is long against the life of a normal pause.
    """

    detect: float
    restore: float
    _positive = ("detect", "restore")


@declared
def sonic_watchdog(ports: int = 32) -> Watchdog:
    """SONiC's default for a switch with so many lossless ports: 0.2 s for both times, once for each 32 ports begun.

    Whoever starts it by hand with a detection time alone gets twice that for restoration.

    >>> sonic_watchdog(32), sonic_watchdog(64)
    (Watchdog(detect=0.2, restore=0.2), Watchdog(detect=0.4, restore=0.4))
    """
    if ports < 1:
        raise ValueError(f"ports = {ports} must be at least 1; give the ports of the switch that can be paused")
    time = _SONIC_TIME * -(-ports // _SONIC_PORTS)
    return Watchdog(time, time)


class Guard:
    """The watchdog of every queue of a run, in slots.

    dropping  (G,) whether what comes to a gate's queue is thrown away;  fired (G,) how often that began
    """

    def __init__(self, rule: Watchdog, gates: int, slot: float) -> None:
        self._detect, self._restore = whole_slots(rule.detect, slot), whole_slots(rule.restore, slot)
        self._still, self._quiet = [0] * gates, [0] * gates
        self.dropping, self.fired = [False] * gates, [0] * gates

    def bites(self, gate: int, shut: bool, waiting: bool) -> bool:
        """Look at a queue for one slot: whether it has to be thrown away now.

        >>> made = Guard(Watchdog(detect=2e-6, restore=1e-6), 1, slot=1e-6)
        >>> [made.bites(0, shut=True, waiting=True) for _ in range(3)], made.dropping
        ([False, True, False], [True])
        """
        if self.dropping[gate]:
            self._quiet[gate] = 0 if shut else self._quiet[gate] + 1
            self.dropping[gate] = self._quiet[gate] < self._restore
            return False
        self._still[gate] = self._still[gate] + 1 if shut and waiting else 0
        if self._still[gate] < self._detect:
            return False
        self._still[gate], self._quiet[gate] = 0, 0
        self.dropping[gate] = True
        self.fired[gate] += 1
        return True


def whole_slots(seconds: float, slot: float) -> int:
    """How many slots `seconds` are: one at least; infinity is more than any run has.

    >>> whole_slots(1e-3, 1e-6)
    1000
    """
    return max(round(seconds / slot), 1) if np.isfinite(seconds) else NEVER

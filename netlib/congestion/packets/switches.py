"""Switches: what all switches and cables of a run do.

Read with the chapter "Congestion control", section "One bottleneck".
"""

from dataclasses import dataclass

import numpy as np

from netlib.arguments import Floats, declared_fields, floats
from netlib.congestion.packets.drops import Buffers
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.lanes import Lanes
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.traffic import Ints
from netlib.congestion.parameters import Marking


@dataclass(frozen=True)
class Switches:
    """What all switches and cables of a run do.

    marking       which packets they mark; None: none
    pfc           how they pause what fills them; None: they do not
    cnp_interval  s between two CNPs that a receiver sends for one flow; 0: one for each marked packet
    credits       link credits, in place of pauses; None: none
    buffers       room for packets, and what becomes of those that find none; None: there is room for all
    lanes         how links serve several lanes; None: the first lane first
    loss          share of packets that each cable destroys
    lossy         numbers of the links that do; (): all
    """

    marking: Marking | None = None
    pfc: Pfc | None = None
    cnp_interval: float = 0.0
    credits: LinkCredits | None = None
    buffers: Buffers | None = None
    lanes: Lanes | None = None
    loss: float = 0.0
    lossy: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        declared_fields(self)
        floats("cnp_interval", self.cnp_interval)
        if floats("loss", self.loss) > 0.5:
            raise ValueError(f"loss = {self.loss:g} is a share of packets; give a number between 0 and 0.5")

    def chance(self, links: int) -> Floats:
        """(L,) share of packets that each of the links destroys."""
        where = array_of_links(self.lossy, links)
        chance = np.zeros(links)
        chance[where if self.lossy else slice(None)] = self.loss
        return chance

    def losing(self, chance: Floats, recovery: Recovery | None) -> bool:
        """Whether packets can be lost; refused without a `recovery` that fits."""
        lossy = bool((chance > 0).any()) or self.buffers is not None
        if lossy and recovery is None:
            raise ValueError(
                "recovery = None with packets that can be lost; give Recovery('selective-repeat', timeout=...)"
            )
        if self.buffers and self.buffers.trim and recovery and recovery.scheme == "go-back-n":
            raise ValueError("scheme = 'go-back-n' does not fit trimmed packets; give 'selective-repeat'")
        return lossy


def array_of_links(which: tuple[int, ...], links: int) -> Ints:
    """The numbers in `which`, refused unless they are links."""
    for each in which:
        if isinstance(each, bool) or not isinstance(each, (int, np.integer)) or not 0 <= each < links:
            raise ValueError(f"lossy = {each!r} is not a link of this traffic; give numbers from 0 to {links - 1}")
    return np.array(which, np.int64)

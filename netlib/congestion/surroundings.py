"""Surroundings: what a control finds around it, its switches, its packets, and how lost packets are sent again.

A control is half of an experiment. The other half decides as much: which ramp marks, whether a full switch pauses,
trims or drops. Here is what belongs to which control where nobody says otherwise.
Read with the chapter "Congestion control", section "One bottleneck".
"""

from dataclasses import dataclass, replace
from typing import Literal

from netlib.arguments import declared_fields, floats
from netlib.congestion.packets.drops import Buffers
from netlib.congestion.packets.gates import Pfc
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.switches import Switches
from netlib.congestion.packets.traffic import Packet
from netlib.congestion.parameters import Control, Credits, Dcqcn, Dctcp, Marking, Nscc
from netlib.congestion.presets import preset, preset_record

Around = Literal["pause", "trim", "drop", "room"]

LOSSLESS = Pfc(buffer=32 * 2**20, alpha=0.125, xoff=0.0, hysteresis=2496.0, response=0.0)
"""PFC as the ns-3 model of a switch sets it: 32 MiB, a threshold of an eighth of what is free."""

_TRIM = 14.3e-6  # s: a trimming switch keeps about one round trip of bytes per queue and marks from 20 to 80 % of it,
# as uet-htsim's main_uec.cpp sets it
_DROP = 16e6  # bytes of a queue that drops, ours: half of what a switch that pauses has
_TIMEOUT = 4e-3  # s, ours: longer than any queue here takes to drain


@dataclass(frozen=True)
class Surroundings:
    """What is asked for around a control; None: what belongs to it.

    around    "pause", "trim", "drop" or "room";  buffer  bytes of it
    marking   a ramp, or a preset of "marking"
    pauses    how switches pause
    recovery  how lost packets are sent again
    """

    around: Around | None = None
    buffer: float | None = None
    marking: str | Marking | None = None
    pauses: Pfc | None = None
    recovery: Recovery | None = None

    def __post_init__(self) -> None:
        declared_fields(self)
        if self.pauses is None:
            return
        if self.around not in (None, "pause"):
            raise ValueError(
                f"pauses are given, and around = {self.around!r} has none; give around='pause', or neither"
            )
        if self.buffer is not None:
            raise ValueError(f"buffer = {self.buffer:g} would be ignored; pauses has a buffer of its own, set that one")

    def kind(self, control: Control, lossy: bool) -> Around:
        """What switches do when they run full: as asked, or what the control expects; on a `lossy` cable, room."""
        if self.pauses is not None:
            return "pause"
        return self.around or ("room" if lossy else "trim" if _trims(control) else "pause")

    def switches(self, control: Control, kind: Around, rate: float, *others: Control) -> Switches:
        """Marks for those who read them (DCQCN, DCTCP, NSCC); pauses, trimming or a finite buffer.

        Set for `control`; `others` share the network, and CNPs come at the gap of the first of all that is a DCQCN.
        """
        size = None if self.buffer is None else float(floats("buffer", self.buffer, above=True))
        if kind == "room" and size is not None:
            raise ValueError(f"buffer = {size:g} would be ignored where there is room for all; give around='drop'")
        trimming = Buffers(_TRIM * rate if size is None else size, trim=True)
        pfc = self.pauses or (LOSSLESS if size is None else replace(LOSSLESS, buffer=size))
        buffers = {"trim": trimming, "drop": Buffers(_DROP if size is None else size)}.get(kind)
        queue = trimming.queue if kind == "trim" else _TRIM * rate
        interval = next((each.cnp_interval for each in (control, *others) if isinstance(each, Dcqcn)), 0.0)
        ramp = self._ramp(control, rate, queue)
        self._read(ramp, control, *others)
        return Switches(ramp, pfc if kind == "pause" else None, interval, buffers=buffers)

    def _read(self, ramp: Marking | None, *controls: Control) -> None:
        """Refuse marks that nobody reads, and readers without marks, which would run uncontrolled."""
        readers = [isinstance(each, (Dcqcn, Dctcp, Nscc)) for each in controls]
        if ramp is None and any(readers):
            raise ValueError("beside reads marks and the first control has none; name it first, or give marking=")
        if ramp is not None and not any(readers):
            raise ValueError(
                f"marking would be ignored: {type(controls[0]).__name__} does not read marks; leave it out"
            )

    def repeats(self, control: Control, kind: Around, lossy: bool) -> Recovery | None:
        """RoCE's classic NICs go back; UEC repeats what is missing, and so do all where switches trim."""
        if not (lossy or kind in ("trim", "drop")):
            if self.recovery is not None:
                raise ValueError("recovery would be ignored, nothing is lost here; give around='drop', or leave it out")
            return None
        selective = _trims(control) or kind == "trim"
        return self.recovery or Recovery("selective-repeat" if selective else "go-back-n", _TIMEOUT)

    def _ramp(self, control: Control, rate: float, queue: float) -> Marking | None:
        if isinstance(self.marking, str):
            if lacking := preset_record("marking", self.marking).missing:
                raise ValueError(
                    f"marking = {self.marking!r} has no usable {', '.join(lacking)}; "
                    f"give marking = preset('marking', {self.marking!r}, fill=...)"
                )
            return preset("marking", self.marking, rate)
        if self.marking is not None:
            return self.marking
        if isinstance(control, Dcqcn):
            return preset("marking", "ns3", rate)
        if isinstance(control, Dctcp):
            return preset("marking", "ns3-dctcp", rate)
        return Marking(0.2 * queue, 0.8 * queue, 1.0, "departure") if isinstance(control, Nscc) else None


def packet_of(control: Control) -> Packet:
    """RoCE's and HPCC's in ns-3 carry 1,000 bytes; UEC's in htsim 4,086.

    >>> from netlib.congestion.parameters import Uncontrolled
    >>> packet_of(Uncontrolled(window=1))
    Packet(payload=1000, wire=1038)
    """
    return Packet(4086, 4150) if _trims(control) else Packet(1000, 1038)


def _trims(control: Control) -> bool:
    """NSCC and the receivers' credits were made for switches that trim."""
    return isinstance(control, (Nscc, Credits))

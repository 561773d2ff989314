"""Sizing: what a fabric is made of, and what that draws and costs.

The bill is counted on the built fabric; `clos_bill` writes the same bill by closed form, without building anything.
Every assumption is an argument: which cables are optical, what a switch, a transceiver and a card draw, what each
costs. Read with the chapter "Scale-out", section "Optics and watts".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from netlib import hardware
from netlib.arguments import declared, floats, formula
from netlib.topology.fabric import KINDS, Fabric, whole

MOST_TIERS = 32  # more hosts than any number of them could use

OPTICAL = ("access", "trunk", "local", "global")
"""Kinds of cable that are optical unless you say otherwise: all of a network outside the node. In a real row many host
cables are copper (`dac-100-reach`); leave out "access" for that."""


@dataclass(frozen=True)
class Bill:
    """What a fabric is made of.

    hosts         network ports of GPUs, the unit that the rest is divided by
    nics          network cards
    switches      switches of each tier, the lowest first
    cables        cables by kind
    transceivers  optical modules: one in each end of an optical cable (co-packaged optics count their engines)
    switch_watts, transceiver_watts, nic_watts   each kind of part, all together, in watts
    """

    hosts: int
    nics: int
    switches: tuple[int, ...]
    cables: Mapping[str, int]
    transceivers: int
    switch_watts: float
    transceiver_watts: float
    nic_watts: float

    @property
    def watts(self) -> float:
        """All parts together."""
        return self.switch_watts + self.transceiver_watts + self.nic_watts

    @property
    def watts_per_host(self) -> float:
        """Watts for each host."""
        return self.watts / self.hosts

    @property
    def switches_per_host(self) -> float:
        """Switches for each host: 3 / radix in two tiers, 5 / radix in three."""
        return sum(self.switches) / self.hosts

    @property
    def transceivers_per_host(self) -> float:
        """Transceivers for each host: 2 x tiers where every cable is optical."""
        return self.transceivers / self.hosts

    @formula
    @declared
    def cost(self, *, switch: float, transceiver: float, cable: float, nic: float = 0.0) -> float:
        """What the parts cost together, in the currency of the prices.

        There are no default prices: makers publish none, and what shops and leaks quote differs by factors.

        >>> clos_bill(2048, 64, tiers=2).cost(switch=30_000, transceiver=1_000, cable=100)
        11481600.0
        """
        priced = {"switch": switch, "transceiver": transceiver, "cable": cable, "nic": nic}
        price = {name: float(floats(name, value)) for name, value in priced.items()}
        return (
            sum(self.switches) * price["switch"]
            + self.transceivers * price["transceiver"]
            + sum(self.cables.values()) * price["cable"]
            + self.nics * price["nic"]
        )


@formula
@declared
def bill(
    fabric: Fabric,
    *,
    optical: Sequence[str] = OPTICAL,
    switch_watts: float | None = None,
    transceiver_watts: float | None = None,
    nics_per_host: float = 1.0,
    nic_watts: float = 0.0,
) -> Bill:
    """What `fabric` is made of, counted on it.

    optical            kinds of cable with a transceiver in each end
    switch_watts       one switch without its transceivers (default: the fact `tomahawk5-box-watts`, 64 x 800G, typical)
    transceiver_watts  one module (default: the fact `optics-2x400-sr-watts`, the 15 W that is often quoted for 800G)
    nics_per_host      1 where each host has a card; 0 where hosts forward and have none
    nic_watts          one card. No source that we could open gives it for cards of 400 Gb/s: left out unless given

    Raises ValueError for a kind of cable that does not exist.

    >>> from netlib.links import Link
    >>> from netlib.topology.clos import fat_tree
    >>> made = bill(fat_tree(16, Link(1e-6, 100e9)))
    >>> made.switches, made.cables["trunk"], made.transceivers, round(made.watts_per_host)
    ((128, 128, 64), 2048, 6144, 375)
    """
    if not fabric.hosts.size:
        raise ValueError(f"fabric {fabric.name!r} has no hosts, so nothing to share its parts; give one with hosts")
    present = np.bincount(fabric.kind[::2], minlength=len(KINDS))
    tiers = np.bincount(fabric.tier[fabric.switches])[1:]
    cables = {kind: int(n) for kind, n in zip(KINDS, present, strict=True) if n}
    lit = int(np.count_nonzero(fabric.of_kind(*_kinds(optical))[::2]))
    return _bill(fabric.hosts.size, tuple(int(n) for n in tiers), cables, lit, switch_watts, transceiver_watts,
                 nics_per_host, nic_watts)  # fmt: skip


@formula
@declared
def clos_bill(
    hosts: int,
    radix: int,
    *,
    tiers: int,
    optical: Sequence[str] = OPTICAL,
    switch_watts: float | None = None,
    transceiver_watts: float | None = None,
    nics_per_host: float = 1.0,
    nic_watts: float = 0.0,
) -> Bill:
    """The bill of a non-blocking Clos by closed form, nothing built: the other arguments as in `bill`.

    ceil(2 N / k) switches in each tier but the top, ceil(N / k) in the top one; N cables at each layer; so 2 L modules
    for each host if all are optical. Exact for whole pods, elsewhere a lower bound. Raises ValueError for hosts that
    do not fit.

    >>> two, three = clos_bill(100_000, 512, tiers=2), clos_bill(100_000, 64, tiers=4)
    >>> two.transceivers, round(two.transceiver_watts / 1e6, 1), three.transceivers_per_host
    (400000, 6.0, 8.0)
    """
    count, ports, levels = whole("hosts", hosts), whole("radix", radix, 2), whole("tiers", tiers)
    if levels > MOST_TIERS:
        raise ValueError(f"tiers = {tiers} are more than any network has; give 1 to {MOST_TIERS}")
    if ports % 2:
        raise ValueError(f"radix = {radix} must be even: half of the ports go up")
    most = 2 * (ports // 2) ** levels
    if count > most:
        least = 2 * int(np.ceil((count / 2) ** (1 / levels) - 1e-9))
        raise ValueError(
            f"hosts = {count} do not fit: {levels} tiers of radix {ports} hold {most}; "
            f"give radix {least} or more, more tiers, or planes"
        )
    lower, top = -(-2 * count // ports), -(-count // ports)
    cables = {"access": count, "trunk": count * (levels - 1)} if levels > 1 else {"access": count}
    lit = sum(cables.get(kind, 0) for kind in set(_kinds(optical)))
    return _bill(count, (lower,) * (levels - 1) + (top,), cables, lit, switch_watts, transceiver_watts,
                 nics_per_host, nic_watts)  # fmt: skip


def _bill(
    hosts: int,
    switches: tuple[int, ...],
    cables: Mapping[str, int],
    lit: int,
    switch_watts: float | None,
    transceiver_watts: float | None,
    nics_per_host: float,
    nic_watts: float,
) -> Bill:
    switch = _watts("switch_watts", switch_watts, "tomahawk5-box-watts")
    module = _watts("transceiver_watts", transceiver_watts, "optics-2x400-sr-watts")
    nics = round(hosts * float(floats("nics_per_host", nics_per_host)))
    return Bill(
        hosts=hosts,
        nics=nics,
        switches=switches,
        cables=cables,
        transceivers=2 * lit,
        switch_watts=sum(switches) * switch,
        transceiver_watts=2 * lit * module,
        nic_watts=nics * float(floats("nic_watts", nic_watts)),
    )


def _watts(name: str, given: float | None, fact: str) -> float:
    return hardware.fact(fact).value if given is None else float(floats(name, given))


def _kinds(optical: Sequence[str]) -> Sequence[str]:
    for kind in optical:
        if kind not in KINDS:
            raise ValueError(f"optical = {kind!r} is not a kind of cable; use some of {', '.join(KINDS)}")
    return optical

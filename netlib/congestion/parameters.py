"""Parameters: what each way of controlling congestion can be told, as plain data.

One object serves every engine: the fluid equations, the packet-level engine and the closed forms read the same fields.
Values with their sources are presets (`netlib.congestion.presets`). Bytes, seconds, bytes/s one way.
Read with the chapter "Congestion control", section "Marking".
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from netlib.arguments import declared_fields, floats


class Checked:
    """Fields that are refused in one sentence unless they make sense: numbers >= 0 (> 0 where named in `_positive`)."""

    _positive: ClassVar[tuple[str, ...]] = ()
    _shares: ClassVar[tuple[str, ...]] = ()  # between 0 and 1
    _unlimited: ClassVar[tuple[str, ...]] = ()  # infinity means "off"

    def __post_init__(self) -> None:
        declared_fields(self)
        for name, value in vars(self).items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                floats(name, value, above=name in self._positive, limit=name in self._unlimited)
                if name in self._shares and value > 1:
                    raise ValueError(f"{name} = {value:g} is a share; give a number between 0 and 1")


@dataclass(frozen=True)
class Marking(Checked):
    """What a switch marks (RED): nothing below `k_min` bytes of queue, a share rising to `p_max` at `k_max`, then all.

    k_min = k_max is a step: DCTCP's threshold. `when` is the moment whose queue length counts: a packet's arrival, or
    its departure, which tells the sender about the queue behind the packet and not the one before it.
    """

    k_min: float
    k_max: float
    p_max: float
    when: Literal["arrival", "departure"] = "arrival"
    _shares = ("p_max",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.when not in ("arrival", "departure"):
            raise ValueError(f"when = {self.when!r} is not one of: 'arrival', 'departure'")
        if self.k_max < self.k_min:
            raise ValueError(f"k_max = {self.k_max:g} is below k_min = {self.k_min:g}; give k_min <= k_max in bytes")

    @property
    def slope(self) -> float:
        """Probability per byte of queue between `k_min` and `k_max`: p_max / (k_max - k_min).

        >>> Marking(k_min=5e3, k_max=205e3, p_max=0.01).slope
        5e-08
        """
        return self.p_max / (self.k_max - self.k_min) if self.k_max > self.k_min else float("inf")


@dataclass(frozen=True)
class Dcqcn(Checked):
    """DCQCN at sender and receiver (Zhu et al., SIGCOMM 2015; the vendor's machine as its manuals and ns-3 have it).

    machine         "paper": a CNP cuts at once; "vendor": cuts and alpha have clocks, a CNP waits for their tick
    g               weight of one new observation in alpha
    alpha_timer     s without a CNP until alpha decays (vendor: period of its clock)
    cnp_interval    s between two CNPs of a flow at the receiver; 0: one for each marked packet
    cut_interval    s between two cuts at the sender; 0: each CNP cuts
    increase_timer  s between two increases
    byte_counter    bytes between two increases; inf: no byte counter
    fast_recovery   F: increases that only halve the gap to the target
    additive        bytes/s that the target gains afterwards
    hyper           bytes/s that it gains once both counters (vendor: the timer's) are beyond F
    min_rate        bytes/s below which no flow is cut
    initial_alpha   alpha at the first CNP
    clamp_target    each cut moves the target down to the current rate; False: only the first after an increase
    window          BDPs that may be in flight, in proportion to the rate as in ns-3; inf: no window
    """

    machine: Literal["paper", "vendor"]
    g: float
    alpha_timer: float
    cnp_interval: float
    cut_interval: float
    increase_timer: float
    byte_counter: float
    fast_recovery: int
    additive: float
    hyper: float
    min_rate: float
    initial_alpha: float
    clamp_target: bool
    window: float = float("inf")
    _positive = ("g", "alpha_timer", "increase_timer", "byte_counter", "fast_recovery", "additive", "window")
    _shares = ("g", "initial_alpha")
    _unlimited = ("byte_counter", "window")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.machine not in ("paper", "vendor"):
            raise ValueError(f"machine = {self.machine!r} is not one of: 'paper', 'vendor'")


@dataclass(frozen=True)
class Timely(Checked):
    """TIMELY (Mittal et al., SIGCOMM 2015), and its patch (Zhu et al., CoNEXT 2016).

    patched   True: the decrease follows the queue's distance from its reference, weighted by the gradient
    alpha     weight of a new difference of round trips in the gradient
    beta      share of the decrease
    delta     bytes/s of one additive increase
    t_low, t_high  s of round trip below which a flow always increases, above which it always decreases
    min_rtt   s by which the gradient is measured
    segment   bytes whose completion is one update, at most one per `min_rtt`; inf: once per round trip, as ns-3 does
    hai       updates in a row after which the increase is larger; inf: never
    hyper     how many times larger it is then
    min_rate  bytes/s below which no flow is cut; 0: `delta`, for no floor is printed and rates move in steps of it
    """

    patched: bool
    alpha: float
    beta: float
    delta: float
    t_low: float
    t_high: float
    min_rtt: float
    segment: float
    hai: float
    hyper: float = 5.0
    min_rate: float = 0.0
    _positive = ("alpha", "beta", "delta", "min_rtt", "segment")
    _shares = ("alpha", "beta")
    _unlimited = ("hai", "segment")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.t_high < self.t_low:
            raise ValueError(f"t_high = {self.t_high:g} is below t_low = {self.t_low:g}; give t_low <= t_high in s")


@dataclass(frozen=True)
class Dctcp(Checked):
    """DCTCP (Alizadeh et al., SIGCOMM 2010): once per round trip the window shrinks by alpha / 2.

    g             weight of the newest share of marked bytes in alpha
    additive      bytes that an unmarked window gains per round trip
    paced         True: a rate, and a window in proportion to it, as in ns-3; False: a window, sent at line rate
    window        BDPs of the first and largest window; inf: the first is one BDP, and it may grow without end
    """

    g: float
    additive: float
    paced: bool = False
    window: float = float("inf")
    _positive = ("g", "additive", "window")
    _shares = ("g",)
    _unlimited = ("window",)


@dataclass(frozen=True)
class Swift(Checked):
    """Swift (Kumar et al., SIGCOMM 2020): additive increase below a target delay, decrease in proportion above.

    base       s of target that every flow has
    per_hop    s of target for each hop
    fs_range   s that the target of the smallest window is longer (flow scaling); 0: none
    fs_least, fs_most  packets: windows at which the scaling is full, and none
    ai         packets gained per round trip
    beta       share of the decrease per share of delay above the target
    max_cut    largest share lost per round trip
    min_window packets: the least window; below 1 the sender paces
    """

    base: float
    per_hop: float
    fs_range: float
    fs_least: float
    fs_most: float
    ai: float
    beta: float
    max_cut: float
    min_window: float
    _positive = ("base", "fs_least", "fs_most", "ai", "beta", "max_cut", "min_window")
    _shares = ("max_cut",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fs_most < self.fs_least:
            raise ValueError(
                f"fs_most = {self.fs_most:g} is below fs_least = {self.fs_least:g}; give windows that rise, in packets"
            )


@dataclass(frozen=True)
class Hpcc(Checked):
    """HPCC (Li et al., SIGCOMM 2019): the window follows the utilisation that switches stamp on every packet (INT).

    eta        target utilisation
    max_stage  additive increases in a row before a multiplicative one
    additive   bytes that the window gains per acknowledgement round
    """

    eta: float
    max_stage: int
    additive: float
    _positive = ("eta", "additive")


@dataclass(frozen=True)
class PowerTcp(Checked):
    """PowerTCP (Addanki et al., NSDI 2022): the window follows voltage x current, (q + b tau)(q' + mu).

    gamma     weight of the new window
    flows     N in beta = host bandwidth x tau / N, the bytes that a flow adds
    theta     True: the variant that sees round trips only (theta-PowerTCP), not what switches stamp
    eta       power, as a share of that of a full link with no queue, at which the window rests; 1 in the paper
    """

    gamma: float
    flows: float
    theta: bool
    eta: float = 1.0
    _positive = ("gamma", "flows", "eta")
    _shares = ("gamma",)


@dataclass(frozen=True)
class Nscc(Checked):
    """NSCC of UEC 1.0: mark and delay together choose one of four reactions.

    target        base round trips of queueing delay that it aims at
    max_window    BDPs, the first window too
    gamma         share of the decrease per share of delay above the target
    max_cut       largest share lost at once
    fair          packets added per round trip where delay is high and nothing is marked
    eta           packets added per round trip in any case
    proportional  packets: strength of the increase below the target
    fast          bytes added per byte acknowledged while no delay is seen; 0: none
    gate          quick adaptation when less than max_window / 2^gate was achieved in a round trip
    qa_target     targets of delay above which quick adaptation acts (without trimming)
    adjust        packets after which the window is adjusted
    reference     bytes: the BDP for which the constants above hold as they stand
    reference_rtt s: the round trip that belongs to it
    """

    target: float
    max_window: float
    gamma: float
    max_cut: float
    fair: float
    eta: float
    proportional: float
    fast: float
    gate: float
    qa_target: float
    adjust: float
    reference: float
    reference_rtt: float
    _positive = ("target", "max_window", "gamma", "max_cut", "adjust", "reference", "reference_rtt")
    _shares = ("max_cut",)


@dataclass(frozen=True)
class Credits(Checked):
    """Credits of the receiver: RCCC of UEC 1.0, EQDS (NSDI 2022), NDP (SIGCOMM 2017).

    start    BDPs that a sender may send before the first credit arrives
    rate     share of the receiver's link that credits ask for
    backlog  BDPs of credit that one sender may hold; inf: no limit
    packets  packets that one credit allows (RCCC: 4)
    echo     True: one credit for each packet that has come, whole or trimmed, and none beyond (NDP)
    """

    start: float
    rate: float
    backlog: float
    packets: int = 1
    echo: bool = False
    _positive = ("rate", "backlog", "packets")
    _shares = ("rate",)
    _unlimited = ("backlog",)


@dataclass(frozen=True)
class Uncontrolled(Checked):
    """No control from end to end: line rate, or a window of `window` BDPs; inf: no window."""

    window: float
    _positive = ("window",)
    _unlimited = ("window",)


Control = Dcqcn | Timely | Dctcp | Swift | Hpcc | PowerTcp | Nscc | Credits | Uncontrolled
"""What a sender may be told."""

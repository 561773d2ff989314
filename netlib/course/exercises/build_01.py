from collections.abc import Callable
from dataclasses import replace
from math import inf, isclose
from types import SimpleNamespace
from typing import Any

import numpy as np

from netlib.congestion import preset, recovered_share
from netlib.congestion.packets.senders.dcqcn import DcqcnPaper
from netlib.congestion.packets.traffic import Packet, incast
from netlib.congestion.parameters import Dcqcn
from netlib.course.exercises import Law, exercise
from netlib.links import Link

Three = tuple[float, ...]
Step = Callable[[float, float, float, bool, float], Three]
NAMES = ("rate", "target", "alpha", "marked", "g")
LINE = 10e9


def dcqcn_step(rate: float, target: float, alpha: float, marked: bool, g: float) -> Three:
    """The solution."""
    if marked:
        return rate * (1 - alpha / 2), rate, (1 - g) * alpha + g
    return (rate + target) / 2, target, (1 - g) * alpha


def by_engine(rate: float, target: float, alpha: float, marked: bool, g: float) -> Three:
    """The same by the packet engine's own sender: a CNP, or one tick of its two clocks without one."""
    told = preset("dcqcn", "paper")
    assert isinstance(told, Dcqcn)
    sender = DcqcnPaper(incast(2, 1e6, Link(1e-6, LINE), Packet(1000, 1000)), replace(told, g=g, byte_counter=inf))

    def hears(now: float, cnp: bool) -> None:
        heard: Any = SimpleNamespace(cnp=np.full(2, cnp), acked=np.zeros(2))
        sender.react(now, heard)

    if not marked:
        hears(0.0, True)  # the first notification starts the clocks
    sender.rate[:], sender.target[:], sender.alpha[:] = rate, target, alpha
    hears(0.0 if marked else told.increase_timer, marked)
    return float(sender.rate[0]), float(sender.target[0]), float(sender.alpha[0])


def cases(marked: bool, seed: int) -> tuple[tuple[Any, ...], ...]:
    """A round case, and ten drawn at random."""
    rng = np.random.default_rng(seed)
    made: list[tuple[Any, ...]] = [(4e9, 7e9, 0.6, marked, 0.25)]
    for _ in range(10):
        low, high = np.sort(rng.uniform(0.1e9, 9.9e9, 2)).round(-6)
        made.append(
            (float(low), float(high), float(round(rng.uniform(0.05, 1), 3)), marked, float(2.0 ** -rng.integers(1, 9)))
        )
    return tuple(made)


def agrees(*entries: int) -> Callable[..., bool]:
    """Whether these of the three numbers are those of the engine's sender."""

    def holds(f: Step, *case: Any) -> bool:
        got, want = f(*case), by_engine(*case)
        return all(isclose(got[each], want[each], rel_tol=1e-6) for each in entries)

    return holds


def law(says: str, marked: bool, holds: Callable[..., bool]) -> Law:
    return Law(says, NAMES, cases(marked, 4), holds, several=True)


LAWS = (
    law("three numbers come back: the new rate, target and alpha", True, lambda f, *case: len(f(*case)) == 3),
    law("three numbers come back, without a mark too", False, lambda f, *case: len(f(*case)) == 3),
    law(
        "a mark cuts the rate by half of alpha, by alpha as it was before this mark: the engine's sender does so",
        True,
        agrees(0),
    ),
    law("after a mark the target is the rate from before the cut", True, agrees(1)),
    law("a mark takes alpha nearer to 1, by the share g of what is missing", True, agrees(2)),
    law("without a mark the rate goes half of the way to the target, and the target stays", False, agrees(0, 1)),
    law("without a mark alpha loses the share g of itself", False, agrees(2)),
)


def late_alpha(rate: float, target: float, alpha: float, marked: bool, g: float) -> Three:
    """Alpha first, then the cut."""
    alpha = (1 - g) * alpha + g * marked
    return (rate * (1 - alpha / 2), rate, alpha) if marked else ((rate + target) / 2, target, alpha)


def instead(**parts: Callable[..., float]) -> Step:
    """The solution with one number done otherwise: cut, kept, raised with a mark; up, decayed without."""

    def step(rate: float, target: float, alpha: float, marked: bool, g: float) -> Three:
        names = ("cut", "kept", "raised") if marked else ("up", "goal", "decayed")
        right = dcqcn_step(rate, target, alpha, marked, g)
        return tuple(
            parts[name](rate, target, alpha, g) if name in parts else value
            for name, value in zip(names, right, strict=True)
        )

    return step


EXERCISE = exercise(
    id="build-01",
    chapter="congestion",
    skill="DCQCN's cut and recovery",
    stars=3,
    minutes=(10, 18),
    place=420,
    ask="Write the heart of a DCQCN sender: `dcqcn_step(rate, target, alpha, marked, g)` returns the new `rate, "
    "target, alpha` after one event of the paper's machine. With `marked` true a notification has come: the sender "
    "remembers its rate as target, cuts its rate by the share alpha / 2, then moves alpha towards 1 by the weight g. "
    "With `marked` false a tick of the timers has passed without one: the rate goes half of the way to the target "
    "(fast recovery, nothing else), and alpha moves towards 0 by the weight g. Rates stay below the link's and above "
    "any floor. Your function is compared with the sender of the packet engine on random cases.",
    answer=lambda: dcqcn_step,
    laws=LAWS,
    hints=(
        "Two branches, three lines each. Write down which of the three old values each new one needs before you "
        "overwrite any.",
        "Marked: target = rate; rate x (1 - alpha / 2); alpha = (1 - g) alpha + g. Else: rate = (rate + target) / 2; "
        "alpha = (1 - g) alpha.",
        "`if marked: return rate * (1 - alpha / 2), rate, ...`",
    ),
    wrong={
        lambda rate, target, alpha, marked, g: (rate, alpha): "three numbers come back",
        lambda rate, target, alpha, marked, g: (rate, rate, alpha) if marked else (rate,): "without a mark too",
        instead(cut=lambda rate, target, alpha, g: rate * (1 - alpha)): "half of alpha",
        instead(cut=lambda rate, target, alpha, g: rate / 2): "half of alpha",
        late_alpha: "as it was before this mark",
        instead(kept=lambda rate, target, alpha, g: target): "the rate from before the cut",
        instead(kept=lambda rate, target, alpha, g: rate * (1 - alpha / 2)): "the rate from before the cut",
        instead(raised=lambda rate, target, alpha, g: alpha + g): "nearer to 1",
        instead(raised=lambda rate, target, alpha, g: (1 - g) * alpha): "nearer to 1",
        instead(up=lambda rate, target, alpha, g: target): "half of the way",
        instead(up=lambda rate, target, alpha, g: rate + target / 2): "half of the way",
        instead(decayed=lambda rate, target, alpha, g: alpha): "loses the share g",
        instead(decayed=lambda rate, target, alpha, g: alpha - g): "loses the share g",
    },
    right=(
        lambda rate, target, alpha, marked, g: [
            rate - rate * alpha / 2 if marked else target - (target - rate) / 2,
            rate if marked else target,
            alpha + g * (marked - alpha),
        ],
        lambda rate, target, alpha, marked, g: np.array(dcqcn_step(rate, target, alpha, marked, g)),
    ),
    explain=lambda: (
        "Marked: `rate * (1 - alpha / 2), rate, (1 - g) * alpha + g`; else `(rate + target) / 2, target, (1 - g) * "
        "alpha`. The usual slips: a cut by alpha instead of alpha / 2, which stops a flow at alpha = 1; a target that "
        "is not moved, so that the flow climbs back to a rate that is long gone; alpha raised before the cut, which "
        "hardly shows with g = 1/256 and spoils every comparison. Call it five times without a mark after a cut at "
        f"alpha = 1, and {float(recovered_share(5)):.1%} of the old rate is back."
    ),
)

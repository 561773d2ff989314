"""Losses: what a lost packet costs, by how the sender repeats.

Go-back-N repeats everything from the lost packet on, a whole round trip of packets for each loss; selective repeat
sends one packet again. Closed forms, and a transfer packet by packet that knows none of them.
"""

from collections import deque
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula

SCHEMES = ("go-back-n", "selective-repeat")


class Transfer(NamedTuple):
    """A simulated transfer: packets `delivered` in order, transmissions `sent`, of which the network `lost` some,
    and slots in which the sender had to be `silent`."""

    delivered: int
    sent: int
    lost: int
    silent: int

    @property
    def goodput(self) -> float:
        """Share of the slots that delivered a new packet.

        >>> Transfer(delivered=90, sent=100, lost=10, silent=0).goodput
        0.9
        """
        return self.delivered / (self.sent + self.silent)


@formula
def go_back_n_goodput(loss: ArrayLike, window: ArrayLike) -> Floats:
    """Share of a link's rate that arrives in order: (1 - p) / (1 - p + p W), for W packets in a round trip. Broadcasts.

    A loss wastes its own slot and the W - 1 that follow before the sender knows. Holds for independent losses, a sender
    that always has data, and no time-outs.

    >>> go_back_n_goodput([1e-5, 1e-4, 1e-3, 1e-2, 2e-2], 122).round(4).tolist()  # 500 kB of 4,096 bytes
    [0.9988, 0.9879, 0.8912, 0.448, 0.2865]
    """
    p, w = _loss(loss), floats("window", window, 1)
    return np.asarray((1 - p) / (1 - p + p * w))


@formula
def selective_repeat_goodput(loss: ArrayLike) -> Floats:
    """The same for selective repeat with room to reorder: 1 - p. Broadcasts.

    >>> float(selective_repeat_goodput(0.02))
    0.98
    """
    return np.asarray(1 - _loss(loss))


@formula
def halving_loss(window: ArrayLike) -> Floats:
    """The loss at which go-back-N delivers half: p = 1 / (1 + W). Broadcasts.

    >>> round(float(halving_loss(122)), 5)
    0.00813
    """
    return 1 / (1 + floats("window", window, 1))


@declared
def simulate_transfer(
    scheme: Literal["go-back-n", "selective-repeat"],
    loss: float,
    window: int,
    packets: int,
    rng: Generator,
    reorder: int | None = None,
) -> Transfer:
    """Send `packets` packets one a slot; the fate of each is known `window` slots after it left.

    A receiver of go-back-N throws away what is out of order; one of selective repeat keeps it. With `reorder` the
    sender may be at most that many packets ahead of the first one missing, and is silent otherwise.

    >>> done = simulate_transfer("go-back-n", 0.02, 122, 20000, np.random.default_rng(1))
    >>> done.delivered, abs(done.goodput - 0.2865) < 0.02
    (20000, True)
    """
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise ValueError(f"scheme = {str(scheme)[:40]!r} is not one of {', '.join(SCHEMES)}")
    p = float(_loss(loss))
    for name, value in (("window", window), ("packets", packets), ("reorder", 1 if reorder is None else reorder)):
        if not 1 <= value <= 10**7:
            raise ValueError(f"{name} = {value} must be between 1 and 1e7 packets")
    if p > 0.9:
        raise ValueError(f"loss = {p:g} would make the transfer endless; give at most 0.9")
    if packets * (1 + p / (1 - p) * (window if scheme == "go-back-n" else 1)) > 5e7:
        raise ValueError(f"packets = {packets} at this loss take more than 5e7 slots; give fewer packets")
    return (
        _go_back_n(p, window, packets, rng, reorder)
        if scheme == "go-back-n"
        else _selective(p, window, packets, rng, reorder)
    )


def _go_back_n(p: float, window: int, packets: int, rng: Generator, reorder: int | None) -> Transfer:
    """The receiver expects one number and throws away all others; the sender learns of the first gap a window later."""
    flight: deque[tuple[int, int, bool]] = deque()  # slot in which the fate is known, number, arrived
    sent = lost = silent = slot = turn = first = 0
    fate = _fates(p, rng)
    while first < packets:
        while flight and flight[0][0] <= slot:
            _, number, arrived = flight.popleft()
            if number != first:
                continue  # behind a gap: thrown away
            if arrived:
                first = number + 1
            else:
                turn = number
        if turn < packets and (reorder is None or turn - first < reorder):
            arrived = next(fate)
            sent, lost = sent + 1, lost + (not arrived)
            flight.append((slot + window, turn, arrived))
            turn += 1
        elif first < packets:
            silent += 1
        slot += 1
    return Transfer(packets, sent, lost, silent)


def _selective(p: float, window: int, packets: int, rng: Generator, reorder: int | None) -> Transfer:
    """The sender repeats what is reported missing, and nothing else."""
    flight: deque[tuple[int, int, bool]] = deque()
    again: deque[int] = deque()
    done = np.zeros(packets + 1, bool)
    sent = lost = silent = slot = turn = first = 0
    fate = _fates(p, rng)
    while first < packets:
        while flight and flight[0][0] <= slot:
            _, number, arrived = flight.popleft()
            if arrived:
                done[number] = True
            else:
                again.append(number)
        while done[first]:
            first += 1
        if again or (turn < packets and (reorder is None or turn - first < reorder)):
            number, turn = (again.popleft(), turn) if again else (turn, turn + 1)
            arrived = next(fate)
            sent, lost = sent + 1, lost + (not arrived)
            flight.append((slot + window, number, arrived))
        elif first < packets:
            silent += 1
        slot += 1
    return Transfer(packets, sent, lost, silent)


def _fates(p: float, rng: Generator) -> Iterator[bool]:
    """Whether each packet arrives, drawn in blocks."""
    while True:
        yield from (rng.random(4096) >= p).tolist()


def _loss(loss: ArrayLike) -> Floats:
    p = floats("loss", loss)
    if (p >= 1).any():
        raise ValueError(f"loss = {p.max():g} leaves nothing; give a probability below 1")
    return p

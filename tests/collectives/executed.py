"""Collectives executed on real arrays, round by round: the second opinion for every closed form.

A round is a list of messages (src, dst, blocks, add): rank src sends the named blocks of its buffer to dst, which adds
or keeps them. A round lasts as long as its longest message. None of this knows a formula.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

Message = tuple[int, int, list[int], bool]
Round = list[Message]


@dataclass
class Machine:
    """`n` ranks with `blocks` blocks each; counts time at alpha, beta, gamma for a buffer of `size` bytes."""

    n: int
    blocks: int
    size: float
    alpha: float = 0.0
    beta: float = 0.0
    gamma: float = 0.0
    seconds: float = 0.0
    sent: np.ndarray = field(init=False)
    received: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.sent, self.received = np.zeros(self.n), np.zeros(self.n)

    def run(self, buffers: np.ndarray, rounds: Iterator[Round]) -> np.ndarray:
        """The buffers (rank, block) after all rounds. A rank sends and receives at most one message a round."""
        state = buffers.astype(np.int64).copy()
        for messages in rounds:
            before = state.copy()
            assert len({src for src, *_ in messages}) == len({dst for _, dst, *_ in messages}) == len(messages)
            longest = 0.0
            for src, dst, blocks, add in messages:
                volume = self.size * len(blocks) / self.blocks
                state[dst, blocks] = before[src, blocks] + (before[dst, blocks] if add else 0)
                self.sent[src] += volume
                self.received[dst] += volume
                longest = max(longest, self.alpha + volume * (self.beta + add * self.gamma))
            self.seconds += longest
        return state


def ring_reduce_scatter(n: int) -> Iterator[Round]:
    for step in range(n - 1):
        yield [(i, (i + 1) % n, [(i - step) % n], True) for i in range(n)]


def ring_all_gather(n: int) -> Iterator[Round]:
    for step in range(n - 1):
        yield [(i, (i + 1) % n, [(i + 1 - step) % n], False) for i in range(n)]


def ring(n: int) -> Iterator[Round]:
    yield from ring_reduce_scatter(n)
    yield from ring_all_gather(n)


def binomial_reduce(n: int, blocks: int) -> Iterator[Round]:
    whole, half = list(range(blocks)), 1
    while half < n:
        yield [(i + half, i, whole, True) for i in range(0, n - half, 2 * half)]
        half *= 2


def binomial_broadcast(n: int, blocks: int) -> Iterator[Round]:
    for messages in reversed(list(binomial_reduce(n, blocks))):
        yield [(dst, src, what, False) for src, dst, what, _ in messages]


def tree(n: int, blocks: int) -> Iterator[Round]:
    yield from binomial_reduce(n, blocks)
    yield from binomial_broadcast(n, blocks)


def _folded(n: int, blocks: int, middle: Iterator[Round]) -> Iterator[Round]:
    """Ranks beyond the power of two add themselves to a partner first and are told the result last."""
    power = 2 ** (n.bit_length() - 1)
    whole = list(range(blocks))
    if power < n:
        yield [(i, i - power, whole, True) for i in range(power, n)]
    yield from middle
    if power < n:
        yield [(i - power, i, whole, False) for i in range(power, n)]


def recursive_doubling(n: int, blocks: int) -> Iterator[Round]:
    power = 2 ** (n.bit_length() - 1)
    whole = list(range(blocks))
    exchange = ([(i, i ^ (1 << k), whole, True) for i in range(power)] for k in range(power.bit_length() - 1))
    yield from _folded(n, blocks, exchange)


def halving_doubling(n: int) -> Iterator[Round]:
    power = 2 ** (n.bit_length() - 1)

    def middle() -> Iterator[Round]:
        distance = power // 2
        while distance:  # send the half that the partner keeps
            yield [
                (i, i ^ distance, [b for b in range(power) if b // (2 * distance) == i // (2 * distance)
                                   and (b & distance) == ((i ^ distance) & distance)], True)
                for i in range(power)
            ]  # fmt: skip
            distance //= 2
        distance = 1
        while distance < power:
            yield [(i, i ^ distance, [b for b in range(power) if b // distance == i // distance], False)
                   for i in range(power)]  # fmt: skip
            distance *= 2

    yield from _folded(n, power, middle())


def bruck_all_gather(n: int) -> Iterator[Round]:
    held = 1
    while held < n:
        count = min(held, n - held)
        yield [(i, (i - held) % n, [(i + b) % n for b in range(count)], False) for i in range(n)]
        held *= 2


def scatter(n: int) -> Iterator[Round]:
    """Down a binomial tree, n a power of two: rank 0's block b ends at rank b."""
    distance = n // 2
    while distance:
        yield [(i, i + distance, list(range(i + distance, i + 2 * distance)), False)
               for i in range(0, n, 2 * distance)]  # fmt: skip
        distance //= 2


def chain(n: int, blocks: int) -> Iterator[Round]:
    """Pipelined broadcast from rank 0 along 0, 1, ... n-1, one block at a time."""
    for step in range(n - 2 + blocks):
        yield [(i, i + 1, [step - i], False) for i in range(n - 1) if 0 <= step - i < blocks]

"""Turns: in which order each pipeline stage works, as data.

A block is what a stage does at one time: a forward pass (F), a full backward pass (B), only its input's gradient (I) or
only its weights' gradient (W) of one microbatch, or in DualPipe a forward and a backward pass that overlap. How long it
all lasts is not said here: `netlib.collectives.training.pipelines` times it. Read with the chapter "Collectives".
Sources: Huang et al. (2019), GPipe; Narayanan et al. (2021), 1F1B and interleaving; Qi et al. (2024), zero bubble
(ZB-H1); DeepSeek-AI (2024) and deepseek-ai/DualPipe at bb214e8, DualPipe's eight phases.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from netlib.arguments import declared


class Pass(NamedTuple):
    """One pass: `kind` F, B, I or W, of a microbatch, at `position` of the chain of all chunks that it runs through."""

    kind: str
    microbatch: int
    position: int


Block = tuple[Pass, ...]
MOST_PASSES = 2**20
"""The most passes, stages x microbatches x chunks, that are written out."""


@dataclass(frozen=True)
class Pipeline:
    """An order of work for p stages and m microbatches.

    `blocks[stage]` lists a stage's blocks in order; a microbatch runs through `length` positions (p v); each holds
    `share` of a stage's layers: 1 / v, and 1 for DualPipe, where a stage holds the layers of two.
    """

    name: str
    p: int
    m: int
    length: int
    share: float
    blocks: tuple[tuple[Block, ...], ...]


def _checked(p: int, m: int, v: int = 1) -> None:
    for name, value in (("p", p), ("m", m)):
        if value < 1:
            raise ValueError(f"{name} = {value} must be at least 1")
    if p * m * v > MOST_PASSES:
        raise ValueError(f"p = {p} x m = {m} x v = {v} make more than {MOST_PASSES:,} passes; give fewer microbatches")


@declared
def gpipe(p: int, m: int) -> Pipeline:
    """GPipe: all forward passes, then all backward passes, last microbatch first.

    >>> [f"{one.kind}{one.microbatch}" for block in gpipe(2, 2).blocks[0] for one in block]
    ['F0', 'F1', 'B1', 'B0']
    """
    _checked(p, m)
    forward = [[(Pass("F", i, s),) for i in range(m)] for s in range(p)]
    backward = [[(Pass("B", i, s),) for i in reversed(range(m))] for s in range(p)]
    return Pipeline("GPipe", p, m, p, 1.0, tuple(tuple(f + b) for f, b in zip(forward, backward, strict=True)))


@declared
def one_f_one_b(p: int, m: int) -> Pipeline:
    """1F1B: stage s runs p - s - 1 forward passes ahead, then one forward and one backward in turn.

    >>> [f"{one.kind}{one.microbatch}" for block in one_f_one_b(2, 3).blocks[0] for one in block]
    ['F0', 'F1', 'B0', 'F2', 'B1', 'B2']
    """
    _checked(p, m)
    return interleaved(p, m, 1)


@declared
def interleaved(p: int, m: int, v: int) -> Pipeline:
    """Interleaved 1F1B: a stage holds v chunks, chunk c at position c p + s; microbatches go in groups of p.

    With v = 1 it is 1F1B. Stage s is 2(p - s - 1) + (v - 1) p forward passes ahead (p - s - 1 if v = 1).

    >>> [f"{one.kind}{one.microbatch}@{one.position}" for block in interleaved(2, 2, 2).blocks[1] for one in block]
    ['F0@1', 'F1@1', 'F0@3', 'B0@3', 'F1@3', 'B1@3', 'B0@1', 'B1@1']
    """
    _checked(p, m, v)
    if v < 1 or (v > 1 and m % p):
        raise ValueError(f"v = {v} needs m = {m} to be a multiple of p = {p}, and at least one chunk")
    blocks = []
    for s in range(p):
        ahead = min(m * v, 2 * (p - s - 1) + (v - 1) * p if v > 1 else p - s - 1)
        forward = [(Pass("F", i, c * p + s),) for i, c in _turns(p, m, v)]
        backward = [(Pass("B", i, (v - 1 - c) * p + s),) for i, c in _turns(p, m, v)]
        blocks.append(tuple(_alternating(forward, backward, ahead)))
    return Pipeline("1F1B" if v == 1 else f"interleaved 1F1B, v = {v}", p, m, p * v, 1 / v, tuple(blocks))


def _turns(p: int, m: int, v: int) -> Iterator[tuple[int, int]]:
    """(microbatch, chunk) in the order a stage takes them: p microbatches through each chunk in turn."""
    for first in range(0, m, p):
        for chunk in range(v):
            for i in range(first, min(first + p, m)):
                yield i, chunk


def _alternating(forward: Sequence[Block], backward: Sequence[Block], ahead: int) -> Iterator[Block]:
    yield from forward[:ahead]
    for f, b in zip(forward[ahead:], backward, strict=False):
        yield f
        yield b
    yield from backward[len(forward) - ahead :]


@declared
def zero_bubble(p: int, m: int) -> Pipeline:
    """ZB-H1 (DeepSeek: ZB1P): 1F1B with the backward pass cut in two; weights' gradients wait and fill the gaps.

    Stage s puts its weight passes off by s microbatches, and so holds as many activations as stage 0 of 1F1B.

    >>> "".join(one.kind for block in zero_bubble(2, 3).blocks[1] for one in block)
    'FIFIWFIWW'
    """
    _checked(p, m)
    blocks = []
    for s in range(p):
        ahead = min(m, p - s - 1)
        order: list[Block] = [(Pass("F", i, s),) for i in range(ahead)]
        done = 0
        for i in range(m):
            if ahead + i < m:
                order.append((Pass("F", ahead + i, s),))
            order.append((Pass("I", i, s),))
            # while forward passes come in, a weight pass follows once s of them are owed; later it fills every gap
            if i >= s or ahead + i >= m - 1:
                order.append((Pass("W", done, s),))
                done += 1
        order += [(Pass("W", i, s),) for i in range(done, m)]
        blocks.append(tuple(order))
    return Pipeline("ZB-H1", p, m, p, 1.0, tuple(blocks))


@declared
def dualpipe(p: int, m: int) -> Pipeline:
    """DualPipe: half of the microbatches enter at each end; forward and backward passes of opposite ways overlap.

    Microbatches below m / 2 run from stage 0 up, the others from stage p - 1 down; a stage holds a part for each way.
    p is even, and m even and at least 2 p.

    >>> schedule = dualpipe(4, 8)
    >>> max(len(block) for block in schedule.blocks[0]), len(schedule.blocks)
    (2, 4)
    """
    if p < 2 or p % 2 or m % 2 or m < 2 * p:
        raise ValueError(f"p = {p} must be even, and m = {m} even and at least 2 p = {2 * p}")
    _checked(p, m)
    return Pipeline("DualPipe", p, m, p, 1.0, tuple(tuple(_dual(p, m, s)) for s in range(p)))


def _dual(p: int, m: int, s: int) -> Iterator[Block]:
    """A stage's blocks. Way 0 is the one that reaches this stage first: up for the lower half, down for the upper."""
    depth = min(s, p - 1 - s)  # distance from the nearer end
    lower = s < p // 2
    base = (0, m // 2) if lower else (m // 2, 0)
    place = (depth, p - 1 - depth)
    taken = {"F": [0, 0], "B": [0, 0]}
    owed: list[Pass] = []

    def work(kind: str, way: int, later: bool = False) -> Pass:
        count = taken[kind]
        one = Pass("I" if later else kind, base[way] + count[way], place[way])
        count[way] += 1
        if later:
            owed.append(Pass("W", one.microbatch, one.position))
        return one

    far = p // 2 - depth - 1
    for _ in range(2 * far):
        yield (work("F", 0),)
    for _ in range(depth + 1):
        yield (work("F", 0),)
        yield (work("F", 1),)
    for _ in range(far):
        yield (work("B", 1, True),)
        yield (owed.pop(0),)
        yield (work("F", 1),)
    for turn in range(m // 2 - p + depth + 1):
        if turn == 0 and far == 0:  # the middle stages do not overlap their first pair
            yield (work("F", 0),)
            yield (work("B", 1),)
        else:
            yield work("F", 0), work("B", 1)
        yield work("F", 1), work("B", 0)
    for _ in range(far):
        yield (work("B", 1),)
        yield work("F", 1), work("B", 0)
    for turn in range(2 * (depth + 1)):  # the second half leaves its weight passes for later
        yield (work("B", 1 - turn % 2, turn > depth),)
    for _ in range(far):
        yield (owed.pop(0),)
        yield (work("B", 0, True),)
    for one in list(owed):
        yield (one,)

"""Schedules read a second way, message by message in plain Python: seconds, ports, parts of sums, faults in one entry.

Nothing here knows a formula, and nothing here uses the counts of `netlib.collectives.execution`.
"""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np

from netlib import collectives as c
from netlib.links import Link

SIZE, GAMMA = 1e6, 5e-12
LINK = Link(3e-6, 40e9)

# every builder, on n ranks; `rooted` ones take a root as well
UNROOTED = {
    "ring_allreduce": c.ring_allreduce,
    "ring_allreduce, 3 channels": lambda n: c.ring_allreduce(n, 3),
    "ring_reduce_scatter": c.ring_reduce_scatter,
    "ring_all_gather": c.ring_all_gather,
    "ring_through, two orders": lambda n: c.ring_through([np.arange(n), np.roll(np.arange(n)[::-1], 2)]),
    "bidirectional_ring": c.bidirectional_ring,
    "bidirectional_ring, reduce_scatter": lambda n: c.bidirectional_ring(n, "reduce_scatter"),
    "bidirectional_ring, all_gather": lambda n: c.bidirectional_ring(n, "all_gather"),
    "recursive_doubling_allreduce": c.recursive_doubling_allreduce,
    "halving_doubling_allreduce": c.halving_doubling_allreduce,
    "halving_reduce_scatter": c.halving_reduce_scatter,
    "doubling_all_gather": c.doubling_all_gather,
    "bruck_all_gather": c.bruck_all_gather,
    "bruck_reduce_scatter": c.bruck_reduce_scatter,
    "pairwise_all_to_all": c.pairwise_all_to_all,
    "direct_all_to_all": c.direct_all_to_all,
    "bruck_all_to_all": c.bruck_all_to_all,
    "all_to_all_v": lambda n: c.all_to_all_v(volumes(n)),
    "all_to_all_v, direct": lambda n: c.all_to_all_v(volumes(n), "direct"),
    "send_recv": c.send_recv,
    "send_recv, 3 on": lambda n: c.send_recv(n, 3),
    "direct_reduce_scatter": c.direct_reduce_scatter,
    "direct_all_gather": c.direct_all_gather,
    "direct_allreduce": c.direct_allreduce,
    "direct_allreduce, one shot": lambda n: c.direct_allreduce(n, 1),
}
ROOTED = {
    "pipelined_broadcast": lambda n, root=0: c.pipelined_broadcast(n, 3, root),
    "pipelined_reduce": lambda n, root=0: c.pipelined_reduce(n, 3, root),
    "pipelined_allreduce": lambda n, root=0: c.pipelined_allreduce(n, 3, root),
    "binomial_broadcast": c.binomial_broadcast,
    "binomial_reduce": c.binomial_reduce,
    "tree_allreduce": c.tree_allreduce,
    "binomial_scatter": c.binomial_scatter,
    "binomial_gather": c.binomial_gather,
    "scatter_gather_broadcast": c.scatter_gather_broadcast,
    "linear_scatter": c.linear_scatter,
    "linear_gather": c.linear_gather,
    "double_tree_broadcast": lambda n, root=0: c.double_tree_broadcast(n, 2, root),
    "double_tree_reduce": lambda n, root=0: c.double_tree_reduce(n, 2, root),
    "double_tree_allreduce": lambda n, root=0: c.double_tree_allreduce(n, 2, root),
    "double_tree_allreduce, nccl": lambda n, root=0: c.double_tree_allreduce(n, 2, root, shape="nccl", overlap=True),
}
BUILDERS = UNROOTED | ROOTED
SEVERAL_AT_ONCE = {name for name in BUILDERS if "direct" in name or "bidirectional" in name or "orders" in name}


def volumes(n):
    """Bytes from each rank to each: whole numbers, a third of them none."""
    drawn = np.random.default_rng(n).integers(0, 30, (n, n))
    return np.where(drawn < 10, 0, drawn) + np.eye(n, dtype=int)


def messages(schedule):
    """Step by step {(src, dst): [chunks, whether any is added]}."""
    for step in schedule.written_out():
        sent = defaultdict(lambda: [0, False])
        for src, dst, add in zip(step.src.tolist(), step.dst.tolist(), step.add.tolist(), strict=True):
            sent[src, dst][0] += 1
            sent[src, dst][1] |= add
        yield sent


def longest(schedule):
    """Chunks of the longest message of each step."""
    return [max((many for many, _ in sent.values()), default=0) for sent in messages(schedule)]


def seconds(schedule, size=SIZE, link=LINK, gamma=0.0):
    """Each step lasts as long as its longest message; for schedules of equal chunks."""
    share, total = Fraction(schedule.weight[0]).limit_denominator(10**6), 0.0
    for sent in messages(schedule):
        each = (link.alpha + float(many * share) * size * (link.beta + add * gamma) for many, add in sent.values())
        total += max(each, default=0.0)
    return total


def one_port(schedule):
    """Whether no rank sends two messages, or receives two, in any step."""
    return all(
        len(sent) == len({src for src, _ in sent}) == len({dst for _, dst in sent}) for sent in messages(schedule)
    )


def flat(schedule):
    """The same schedule as one phase, each chunk an entry of its own."""
    steps = list(schedule.written_out())
    if not any(step.src.size for step in steps):
        return schedule
    when = np.repeat(np.arange(len(steps)), [step.src.size for step in steps])
    src, dst, chunk, add = (
        np.concatenate([getattr(s, name) for s in steps]) for name in ("src", "dst", "chunk", "add")
    )
    return replace(schedule, phases=(c.phase(when, src, dst, chunk, add),))


def bent(schedule, entry, **other):
    """A flat schedule with one entry changed; with `drop` it is left out."""
    part = schedule.phases[0]
    arrays = {name: getattr(part, name).copy() for name in ("step", "src", "dst", "chunk", "add", "count")}
    if other.pop("drop", False):
        arrays = {name: np.delete(each, entry) for name, each in arrays.items()}
    for name, value in other.items():
        arrays[name][entry] = value
    return replace(schedule, phases=(replace(part, **arrays),))


def kept_promise(schedule):
    """Whether the collective is right, by the book: each place is a dictionary {rank: times its part is in it}."""
    own = [{rank: 1} for rank in range(schedule.n)]
    places = {(rank, at): own[rank] for rank, at in zip(*np.nonzero(c.at_first(schedule)), strict=True)}
    for step in schedule.written_out():
        before, came, kept = dict(places), defaultdict(list), set()
        columns = (getattr(step, name).tolist() for name in ("src", "dst", "chunk", "add"))
        for src, dst, at, add in zip(*columns, strict=True):
            if (src, at) not in before:
                return False
            came[dst, at].append(before[src, at])
            kept |= set() if add else {(dst, at)}
        for place, parts in came.items():
            if place in kept and len(parts) > 1:
                return False
            held = [] if place in kept else [before.get(place, {})]
            total = defaultdict(int)
            for part in held + parts:
                for rank, times in part.items():
                    total[rank] += times
            places[place] = dict(total)
    for rank, at in zip(*np.nonzero(c.in_the_end(schedule)), strict=True):
        source = int(schedule.source[at])
        want = {source: 1} if source >= 0 else dict.fromkeys(range(schedule.n), 1)
        if places.get((rank, at)) != want:
            return False
    return True


def held_before(schedule, entry):
    """Whether the receiver of an entry of a flat schedule has had the chunk before."""
    part, place = schedule.phases[0], (schedule.phases[0].dst[entry], schedule.phases[0].chunk[entry])
    earlier = part.step < part.step[entry]
    return c.at_first(schedule)[place] or any(
        place == each for each in zip(part.dst[earlier], part.chunk[earlier], strict=True)
    )

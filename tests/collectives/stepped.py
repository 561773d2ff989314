"""A clock and a ledger that know no formula: they walk a schedule step by step, message by message."""

from collections import defaultdict
from dataclasses import replace

import numpy as np

from netlib.collectives import Phase, Schedule, is_correct, schedule_of


def in_words(schedule: Schedule, size: float) -> list[dict[tuple[int, int], tuple[float, float]]]:
    """Each step as {(src, dst): (bytes, bytes that are added)}, one entry after the other."""
    volume = size * schedule.weight
    found = []
    for step in schedule.written_out():
        held: dict[tuple[int, int], tuple[float, float]] = {}
        for src, dst, chunk, add in zip(
            *(each.tolist() for each in (step.src, step.dst, step.chunk, step.add)), strict=True
        ):
            sent, added = held.get((src, dst), (0.0, 0.0))
            held[src, dst] = sent + volume[chunk], added + volume[chunk] * add
        found.append(held)
    return found


def messages(schedule: Schedule, size: float):
    """{(src, dst): bytes} of every step in turn."""
    return ({pair: sent for pair, (sent, _) in step.items()} for step in in_words(schedule, size))


def ledger(schedule: Schedule, size: float):
    """{(src, dst): bytes} of the whole schedule."""
    total = defaultdict(float)
    for step in messages(schedule, size):
        for pair, volume in step.items():
            total[pair] += volume
    return dict(total)


def seconds(schedule: Schedule, size: float, link_of) -> float:
    """Steps in lockstep: each lasts as long as the slowest of its messages, link_of(src, dst) apart from all others."""
    total = 0.0
    for step in messages(schedule, size):
        total += max((float(link_of(*pair).time(volume)) for pair, volume in step.items()), default=0.0)
    return total


def sent_and_received(schedule: Schedule, size: float, counted):
    """(n,) bytes that each rank sends and receives in messages for which counted(src, dst) holds."""
    sent, received = np.zeros(schedule.n + schedule.switches), np.zeros(schedule.n + schedule.switches)
    for (src, dst), volume in ledger(schedule, size).items():
        if counted(src, dst):
            sent[src] += volume
            received[dst] += volume
    return sent[: schedule.n], received[: schedule.n]


def with_phases(schedule: Schedule, phases) -> Schedule:
    return replace(schedule, phases=tuple(phases))


def overlapped(schedule: Schedule, size: float, link_of) -> float:
    """Phases as blocks: each starts when its channel is free and when whatever touched its chunks before is done."""
    free, done, last = defaultdict(float), defaultdict(float), 0.0
    for part in schedule.phases:
        alone = with_phases(schedule, [part])
        touched = {int(chunk) for step in alone.written_out() for chunk in step.chunk}
        start = max([free[part.channel], *(done[chunk] for chunk in touched)])
        end = start + seconds(alone, size, link_of)
        free[part.channel] = end
        done.update(dict.fromkeys(touched, end))
        last = max(last, end)
    return last


def holds(schedule: Schedule, seed: int = 0) -> bool:
    """Whether it is correct; a schedule that cannot be executed is not."""
    try:
        return is_correct(schedule, np.random.default_rng(seed))
    except ValueError as error:
        if not str(error).startswith("in step "):
            raise
        return False


def perturbed(schedule: Schedule):
    """(what, schedule): the schedule with one message dropped, sent elsewhere, with another chunk, added or kept."""
    everyone = schedule.n + schedule.switches
    for p, part in enumerate(schedule.phases):
        for i in range(part.count.size):
            for what, changed in _changes(part, i, everyone, schedule.chunks):
                phases = [*schedule.phases[:p], changed, *schedule.phases[p + 1 :]]
                yield (what, int(part.src[i]), int(part.dst[i])), with_phases(schedule, phases)


def _changes(part: Phase, i: int, everyone: int, chunks: int):
    keep = np.arange(part.count.size) != i
    fields = ("step", "src", "dst", "chunk", "add", "count")
    yield "drop", replace(part, **{name: getattr(part, name)[keep] for name in fields})
    if everyone > 2:
        other = next(r for r in range(everyone) if r not in (part.src[i], part.dst[i]))
        yield "dst", replace(part, dst=np.where(keep, part.dst, other).astype(np.int32))
    if chunks > part.count[i]:
        yield "chunk", replace(part, chunk=np.where(keep, part.chunk, part.chunk + 1).astype(np.int32))
    yield "add", replace(part, add=np.where(keep, part.add, ~part.add))


def nothing(schedule: Schedule) -> Schedule:
    """The same collective with nothing sent: wrong unless one rank is all there is."""
    return schedule_of(schedule.name, schedule.op, schedule.n, [], weight=schedule.weight,
                       source=schedule.source, target=schedule.target)  # fmt: skip

"""Story: what a player tells of a run, step by step: messages, what each rank then holds, seconds and sentences.

What the ranks hold comes from the engine that executes alone: the picture cannot be right where it is wrong.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from netlib.arguments import Floats, floats
from netlib.collectives.execution import Array, after_each_step, in_the_end
from netlib.collectives.schedule import Ints, Phase, Schedule, phase
from netlib.course.player import Scene

RANKS, CHUNKS, STEPS = 16, 64, 200  # what a picture can hold


@dataclass(frozen=True)
class Message:
    """Chunks that one rank sends to another in one step; `add`: the receiver adds them."""

    src: int
    dst: int
    chunks: tuple[int, ...]
    add: bool


@dataclass(frozen=True, eq=False)
class Story:
    """A run told, with T steps among R ranks (switches counted) on P chunks.

    steps     T tuples of messages that go at once
    parts     (T + 1, R, P) how many ranks' parts a cell holds, before the first step and after each
    wanted    (P,) how many it must hold in the end: n, or 1 where nothing is added
    good      (T + 1, R, P) whether the cell holds all that it must, once each
    needed    (R, P) whether the rank needs the chunk in the end
    weight    (P,) share of the buffer
    called    (P,) the chunks' names: their numbers, or from whom to whom each goes
    """

    n: int
    switches: int
    steps: tuple[tuple[Message, ...], ...]
    parts: Ints
    wanted: Ints
    good: Array
    needed: Array
    weight: Floats
    called: tuple[str, ...]

    @property
    def finished(self) -> list[int]:
        """Cells that are needed and stand complete, before the first step and after each."""
        return [int(n) for n in (self.good & self.needed).sum(axis=(1, 2))]

    @property
    def shown(self) -> Ints:
        """(T + 1, R, P) `parts`, made negative where a cell holds as many as it must, but not the right ones."""
        return np.where((self.parts >= self.wanted) & ~self.good, -self.parts, self.parts).astype(np.int32)

    def name(self, rank: int) -> str:
        """A rank, or a switch, in words."""
        if rank < self.n:
            return f"rank {rank}"
        return "the switch" if self.switches == 1 else f"switch {rank - self.n}"


def drawable(schedule: Schedule) -> None:
    """Refuse a schedule that no picture can hold, before it is written out.

    >>> from netlib.collectives import ring_allreduce
    >>> drawable(ring_allreduce(17))
    Traceback (most recent call last):
    ValueError: ranks = 17 do not fit into a picture; show a schedule of 16 or fewer
    """
    everyone, chunks = schedule.n + schedule.switches, schedule.chunks
    for what, many, most in (("ranks", everyone, RANKS), ("chunks", chunks, CHUNKS), ("steps", schedule.steps, STEPS)):
        if many > most:
            raise ValueError(f"{what} = {many} do not fit into a picture; show a schedule of {most} or fewer")


def story(schedule: Schedule) -> Story:
    """The story of a schedule of up to 16 ranks, 64 chunks and 200 steps.

    >>> from netlib.collectives import ring_allreduce
    >>> told = story(ring_allreduce(4))
    >>> len(told.steps), told.finished
    (6, [0, 0, 0, 4, 8, 12, 16])
    """
    drawable(schedule)
    n, chunks = schedule.n, schedule.chunks
    rounds = in_rounds(schedule)
    own = np.broadcast_to(np.eye(n, dtype=np.int64)[:, None, :], (n, chunks, n))  # rank r's part is a one in place r
    held = after_each_step(replace(schedule, phases=tuple(rounds)), own)
    alone = np.eye(n, dtype=np.int64)[np.maximum(schedule.source, 0)]
    must = np.where(schedule.source[:, None] < 0, 1, alone)
    return Story(
        n=n,
        switches=schedule.switches,
        steps=tuple(tuple(messages(part)) for part in rounds),
        parts=held.sum(axis=-1).astype(np.int32),
        wanted=must.sum(axis=-1).astype(np.int32),
        good=(held == must).all(axis=-1),
        needed=in_the_end(schedule),
        weight=schedule.weight,
        called=_called(schedule),
    )


def _called(schedule: Schedule) -> tuple[str, ...]:
    """Where every chunk goes from one rank to one other, that is its name."""
    both = list(zip(schedule.source.tolist(), schedule.target.tolist(), strict=True))
    addressed = all(min(ends) >= 0 for ends in both)
    return tuple(f"{a}→{b}" if addressed else str(c) for c, (a, b) in enumerate(both))


def in_rounds(schedule: Schedule) -> list[Phase]:
    """The steps that send something, each a phase of its own; those of different channels at once where data allow.

    A step goes one round after the step before it in its channel, and after whatever wrote what it reads or changes.

    >>> from netlib.collectives import ring_allreduce
    >>> [part.src.size for part in in_rounds(ring_allreduce(3))]
    [3, 3, 3, 3]
    """
    shape = (schedule.n + schedule.switches, schedule.chunks)
    written, read = np.full(shape, -1), np.full(shape, -1)
    last: dict[int, int] = {}
    found: list[list[tuple[Array, ...]]] = []
    for step in schedule.written_out():
        if not step.src.size:
            continue
        source, target = (step.src, step.chunk), (step.dst, step.chunk)
        after = max(last.get(step.channel, -1), int(written[source].max()), int(written[target].max()))
        now = max(after + 1, int(read[target].max()))  # what is read in a round is read before it is written
        last[step.channel] = now
        written[target] = now
        read[source] = np.maximum(read[source], now)
        found += [[] for _ in range(now + 1 - len(found))]
        found[now].append((step.src, step.dst, step.chunk, step.add))
    return [phase(0, *(np.concatenate(part) for part in zip(*each, strict=True))) for each in found]


def messages(part: Phase) -> Iterable[Message]:
    """The messages of one step, ordered by the chunk that comes first, then by sender."""
    groups: dict[tuple[int, int, bool], list[int]] = {}
    for src, dst, chunk, add in zip(*(a.tolist() for a in (part.src, part.dst, part.chunk, part.add)), strict=True):
        groups.setdefault((src, dst, add), []).append(chunk)
    all_ = (Message(src, dst, tuple(sorted(chunks)), add) for (src, dst, add), chunks in groups.items())
    return sorted(all_, key=lambda m: (m.chunks[0], m.src, m.dst))


def ledger(told: Story, size: float) -> tuple[Floats, Floats]:
    """(T, R) bytes that each rank sends, and receives, in each step.

    >>> from netlib.collectives import ring_allreduce
    >>> sent, _ = ledger(story(ring_allreduce(4)), 4e6)
    >>> sent.sum(axis=0).tolist()
    [6000000.0, 6000000.0, 6000000.0, 6000000.0]
    """
    sent = np.zeros((len(told.steps), told.n + told.switches))
    received = np.zeros_like(sent)
    for k, step in enumerate(told.steps):
        for message in step:
            carried = size * float(told.weight[list(message.chunks)].sum())
            sent[k, message.src] += carried
            received[k, message.dst] += carried
    return sent, received


def clock(told: Story, run: Scene) -> Floats:
    """(T,) seconds of each step: alpha + bytes / bandwidth of the rank that sends or receives most, or the run's own.

    A switch has a port for each neighbour: there the largest message counts.

    >>> from netlib.collectives import ring_allreduce
    >>> from netlib.links import Link
    >>> ring = ring_allreduce(4)
    >>> clock(story(ring), Scene(ring, 4e6, Link(5e-6, 50e9))).tolist() == [25e-6] * 6
    True
    """
    if run.seconds is not None:
        given = floats("seconds", run.seconds)
        if given.shape != (len(told.steps),):
            raise ValueError(f"seconds has shape {given.shape}; give one for each of {len(told.steps)} steps")
        return given
    busiest = np.maximum(*ledger(told, run.size))[:, : told.n].max(axis=1)
    for k, step in enumerate(told.steps):
        between = [run.size * told.weight[list(m.chunks)].sum() for m in step if min(m.src, m.dst) >= told.n]
        busiest[k] = max([busiest[k], *between])
    with np.errstate(over="ignore"):
        seconds = np.asarray(run.link.alpha + busiest / run.link.bandwidth, float)
    if not np.isfinite(seconds).all():
        raise ValueError(f"size = {run.size:g} takes more than 1e308 s on this link; check its units")
    return seconds


def sentences(told: Story) -> list[str]:
    """What is said before the first step and after each.

    >>> from netlib.collectives import ring_allreduce
    >>> sentences(story(ring_allreduce(4)))[1]
    'Step 1 of 6: rank 1 sends chunk 0 to rank 2, which adds it; 3 messages like it go at the same time.'
    """
    held, last = told.parts[0][: told.n] > 0, len(told.steps)
    if held.all():
        first = "each rank holds its own part of every chunk"
    elif (held.sum(axis=1) == 1).all():
        first = "each rank holds one chunk"
    else:
        who = np.flatnonzero(held.any(axis=1)).tolist()
        first = f"{_listed('rank', [str(r) for r in who])} alone {'has' if len(who) == 1 else 'have'} something to send"
    found = [f"Before the first step {first}."]
    total = int(told.needed.sum())
    for k, step in enumerate(told.steps, 1):
        lead, others = step[0], len(step) - 1
        what, it = _listed("chunk", [told.called[c] for c in lead.chunks]), "it" if len(lead.chunks) == 1 else "them"
        verb = "adds" if lead.add else "keeps"
        said = f"Step {k} of {last}: {told.name(lead.src)} sends {what} to {told.name(lead.dst)}, which {verb} {it}"
        if others:
            alike = all((m.add, len(m.chunks)) == (lead.add, len(lead.chunks)) for m in step)
            plural = "message goes" if others == 1 else "messages go"
            like = plural.replace(" ", " like it ") if alike else f"other {plural}"
            said += f"; {others} {like} at the same time"
        done, before = told.finished[k], told.finished[k - 1]
        if done == total:
            said += ". Everything is in place"
        elif done > before:
            said += f". {done} of {total} cells are finished"
        found.append(said + ".")
    return found


def faults(told: Story) -> str:
    """What the schedule leaves wrong, as a sentence; empty when everything needed is in place.

    >>> from netlib.collectives import ring_allreduce
    >>> faults(story(ring_allreduce(3)))
    ''
    """
    wrong = np.argwhere(told.needed & ~told.good[-1])
    if not len(wrong):
        return ""
    rank, chunk = wrong[0].tolist()
    has, wants = int(told.parts[-1, rank, chunk]), int(told.wanted[chunk])
    ends = "holds a wrong part" if has == wants else f"ends with {has} part{'s' * (has != 1)}, not {wants},"
    return (
        f"This schedule is wrong: {len(wrong)} of {int(told.needed.sum())} cells never get what they need; "
        f"{told.name(rank)} {ends} of chunk {chunk}."
    )


def row(told: Story, k: int) -> str:
    """The messages of step k (from 1) in short, for the table.

    >>> from netlib.collectives import ring_allreduce
    >>> row(story(ring_allreduce(2)), 1)
    '1 → 0: add 0; 0 → 1: add 1'
    """

    def end(rank: int) -> str:
        return str(rank) if rank < told.n else told.name(rank)

    def short(m: Message) -> str:
        return f"{end(m.src)} → {end(m.dst)}: {'add' if m.add else 'keep'} {_closed(told.called[c] for c in m.chunks)}"

    return "; ".join(map(short, told.steps[k - 1]))


def label(told: Story, message: Message) -> str:
    """What stands on an arrow: the chunks, with a plus where they are added.

    >>> from netlib.collectives import ring_allreduce
    >>> told = story(ring_allreduce(8))
    >>> label(told, Message(0, 1, (4, 5, 6), add=True)), label(told, Message(0, 1, (0, 2, 4, 6), add=False))
    ('+4–6', '4×')
    """
    names = _closed(told.called[c] for c in message.chunks)
    return ("+" if message.add else "") + (names if len(names) <= 5 else f"{len(message.chunks)}×")


def _closed(names: Iterable[str]) -> str:
    """Names in short, runs of numbers closed up.

    >>> _closed(["0", "1", "2", "3", "6"]), _closed(["0", "1"]), _closed(["0→1", "0→2"])
    ('0–3, 6', '0, 1', '0→1, 0→2')
    """
    runs: list[list[str]] = []
    for name in names:
        if runs and name.isdigit() and int(name) == int(runs[-1][-1]) + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(f"{r[0]}–{r[-1]}" if len(r) > 2 else ", ".join(r) for r in runs)


def _listed(noun: str, names: Sequence[str]) -> str:
    """Names with their noun, as they are spoken.

    >>> _listed("chunk", ["0", "1", "2", "3", "6"]), _listed("rank", ["4"])
    ('chunks 0 to 3 and 6', 'rank 4')
    """
    *most, last = _closed(names).replace("–", " to ").split(", ")
    return f"{noun}{'s' * (len(names) != 1)} {', '.join(most)}{' and ' * bool(most)}{last}"

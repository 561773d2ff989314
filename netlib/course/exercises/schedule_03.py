from dataclasses import replace

import numpy as np

from netlib.collectives import Schedule, Step, execute, expected, in_the_end, phase, ring_through
from netlib.course.exercises import exercise

ORDER, ENTRY = (0, 2, 4, 1, 3), 1
RING = ring_through(np.array(ORDER), "reduce_scatter")
STEP = RING.steps - 2


def bent() -> Schedule:
    """The ring with one message that carries the chunk of the step after."""
    phases = []
    for number, step in enumerate(RING.written_out()):
        chunk = step.chunk.copy()
        chunk[ENTRY] = (chunk[ENTRY] - (number == STEP)) % RING.chunks
        phases.append(phase(0, step.src, step.dst, chunk, step.add))
    return replace(RING, phases=tuple(phases))


def listed(schedule: Schedule) -> str:
    """Every message: step, then sender > receiver [chunk], by sender."""
    return "\n".join(f"step {number}:  {_line(step)}" for number, step in enumerate(schedule.written_out()))


def _line(step: Step) -> str:
    order = np.argsort(step.src)
    return "   ".join(f"{step.src[i]} > {step.dst[i]} [{step.chunk[i]}]" for i in order)


def found() -> dict[str, float]:
    """The one place in which the two schedules differ."""
    for number, (right, wrong) in enumerate(zip(RING.written_out(), bent().written_out(), strict=True)):
        for i in np.flatnonzero(right.chunk != wrong.chunk):
            return {"step": number, "sender": int(right.src[i]), "chunk": int(right.chunk[i])}
    raise AssertionError("nothing was bent")


def wrong_sums() -> int:
    """Owners that end with another sum."""
    words = np.random.default_rng(0).integers(0, 2**60, (RING.n, RING.chunks))
    made, ends = bent(), in_the_end(RING)
    want = np.broadcast_to(expected(RING, words), ends.shape)
    return int((execute(made, words)[ends] != want[ends]).sum())


def effect() -> str:
    return {0: "d", 1: "b"}.get(wrong_sums(), "a")


EFFECTS = {
    "a": "two owners end with a wrong sum",
    "b": "one owner ends with a wrong sum",
    "c": "a rank would have to send what it does not hold",
    "d": "none: parts of a sum may come in any order",
}

EXERCISE = exercise(
    id="schedule-03",
    chapter="collectives",
    skill="finding a fault",
    stars=2,
    minutes=(6, 10),
    place=19,
    ask="A reduce-scatter around a ring of five ranks, all its messages, as sender > receiver [chunk]. The receiver "
    "adds what comes. One message carries the wrong chunk. In which `step` is it, who is its `sender`, and which "
    "`chunk` should it have carried? And what is its `effect` on the sums?",
    shown=listed(bent()),
    answer=lambda: {**found(), "effect": effect()},
    unit={"step": "step", "sender": "rank", "chunk": "chunk"},
    compare={"step": "exact", "sender": "exact", "chunk": "exact", "effect": "choice"},
    options={"effect": EFFECTS},
    hints=(
        "In a ring each rank passes on the chunk that it has just received.",
        "what a rank sends in step s = what it received in step s - 1.",
        "Write the five chunks of each step in a row. Which one comes twice in a step, and which is missing?",
    ),
    wrong={
        "step": {
            3: "in that step every rank sends the chunk whose turn it is",
            1: "in that step every rank sends what it has just received",
            0: "in step 0 every rank begins with another chunk, and all five occur",
        },
        "sender": {
            4: "that is the receiver",
            1: "what that rank sends it has received a step before",
            0: "what that rank sends it has received a step before",
            3: "what that rank sends it has received a step before",
        },
        "chunk": {
            2: "that is the chunk that it carries",
            4: "another rank sends that chunk in the same step, and rightly",
            0: "another rank sends that chunk in the same step, and rightly",
            1: "another rank sends that chunk in the same step, and rightly",
        },
        "effect": {
            "b": "one chunk lacks a part, and another has parts too many",
            "c": "in a reduce-scatter every rank holds its own part of every chunk, so there is something to send",
            "d": "the order may change, but here one sum lacks parts and another has some twice",
        },
    },
    right=({**found(), "effect": effect()}, (*map(str, found().values()), "two owners end with a wrong sum")),
    explain=lambda: (
        f"In step {found()['step']:g} rank {found()['sender']:g} should pass on chunk {found()['chunk']:g}, which it "
        f"has just received. It sends the one whose turn comes a step later, so {wrong_sums()} owners end with a wrong "
        "sum: the chunk that stayed behind lacks the parts gathered so far, and the other gets a part twice. `execute` "
        "shows it on real numbers. A count does not: steps, messages and bytes are those of the right schedule. That "
        "is why the table of this chapter asks for all three engines, and for the sums first."
    ),
)

import numpy as np

from netlib.collectives import Schedule, counts, ring_through
from netlib.course.exercises import exercise

ORDER, CHUNK, STEP = (0, 3, 1, 4, 2), 4, 2
MADE = ring_through(np.array(ORDER), "reduce_scatter")
N = len(ORDER)


def printed(schedule: Schedule) -> str:
    """The arrays of a schedule, phase by phase."""
    lines = []
    for part in schedule.phases:
        rows = [(name, getattr(part, name).tolist()) for name in ("step", "src", "dst", "chunk", "count")]
        lines += [f"{name:6}= {values}" for name, values in rows]
        lines.append(f"add   = {part.add.tolist()}")
        lines.append(f"times = {part.times}, shift = {part.shift}, wrap = {part.wrap}, chunks = {schedule.chunks}")
    return "\n".join(lines)


def sender() -> int:
    """Who sends the chunk in the step."""
    step = list(MADE.written_out())[STEP]
    return int(step.src[step.chunk == CHUNK][0])


def owner() -> int:
    """Who receives the chunk last."""
    return int([step.dst[step.chunk == CHUNK] for step in MADE.written_out()][-1][0])


def messages() -> int:
    return int(counts(MADE, 1.0).messages.sum())


def told() -> str:
    way = [(int(s.src[s.chunk == CHUNK][0]), int(s.dst[s.chunk == CHUNK][0])) for s in MADE.written_out()]
    return " -> ".join(map(str, [way[0][0], *(dst for _, dst in way)]))


EXERCISE = exercise(
    id="schedule-01",
    chapter="collectives",
    skill="reading a schedule",
    stars=1,
    minutes=(5, 8),
    place=17,
    ask=f"Here is one phase of a schedule on {N} ranks. In repetition r (counted from 0) message i takes chunk "
    "`chunk[i] + r * shift`, modulo the number of chunks, from `src[i]` to `dst[i]`, which adds it. Each repetition is "
    f"one step. Which rank is the `sender` of chunk {CHUNK} in step {STEP} (the third)? Which rank is the `owner` of "
    "its whole sum in the end? How many `messages` are sent in all?",
    shown=printed(MADE),
    answer=lambda: {"sender": sender(), "owner": owner(), "messages": messages()},
    unit={"sender": "rank", "owner": "rank", "messages": "messages"},
    compare="exact",
    hints=(
        "Write down for each step which chunk each rank sends: one row of five numbers for each step.",
        "Look for the i with chunk[i] + r shift equal to the chunk, modulo 5; then src[i] sends it.",
        f"`i = list((chunk + {STEP} * shift) % 5).index({CHUNK})`",
    ),
    wrong={
        "sender": {
            0: "that is who sends it in step 0; with each repetition the chunks move on",
            4: "that is who would send it if shift were +1",
            3: "that is who sends it one step earlier",
            2: "go through chunk[i] + r * shift again: it is not with that rank yet",
        },
        "owner": {
            0: "that is where its sum begins",
            4: "from there it is sent once more",
            1: "four repetitions are four hops; follow dst to the end",
        },
        "messages": {
            5: "that is one repetition",
            4: "those are the repetitions; in each of them every rank sends",
            25: "count the repetitions again: times says how many",
            40: "only the reduce-scatter is here, not the all-gather",
        },
    },
    right=({"sender": sender(), "owner": owner(), "messages": messages()}, (str(sender()), str(owner()), "20")),
    explain=lambda: (
        f"Chunk {CHUNK} travels {told()}, one hop a step: in step {STEP} rank {sender()} sends it, and rank {owner()} "
        f"has added last and owns the sum. Each of the {MADE.phases[0].times} repetitions sends {N} messages: "
        f"{messages()}. The arrays hold {N} rows for {messages()} messages: what repeats is stored once."
    ),
)

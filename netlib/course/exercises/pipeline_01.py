from netlib.collectives.training import pipeline_bubble
from netlib.course.exercises import exercise
from netlib.units import show

STAGES, MICRO, CHUNKS = 8, 32, 6


def bubble(m: float = MICRO, v: float = 1, p: int = STAGES) -> float:
    return float(pipeline_bubble(p, m, v))


def lost(part: float) -> float:
    """Waiting as a share of the whole step, where `part` is its ratio to the work."""
    return part / (1 + part)


EXERCISE = exercise(
    id="pipeline-01",
    chapter="collectives",
    skill="pipeline bubble",
    stars=1,
    minutes=(5, 8),
    place=610,
    ask="A pipeline of 8 stages runs 32 microbatches a step by 1F1B. All passes of all stages take equally long, wires "
    "cost nothing. How long does a stage wait, as a percentage of the time that it works (`bubble`)? Which share of "
    "the whole step is that (`lost`)? Each stage is now cut into 6 chunks that take turns (interleaved 1F1B): what is "
    "the waiting over the working time then (`chunks`)?",
    answer=lambda: {"bubble": bubble(), "lost": lost(bubble()), "chunks": bubble(v=CHUNKS)},
    unit={"bubble": "%", "lost": "%", "chunks": "%"},
    rtol=0.01,
    hints=(
        "Stage 1 starts at once and waits at the end, stage 8 the other way round: both wait for p - 1 stages.",
        "bubble = (p - 1) / m; with v chunks each pass is v times shorter; lost = bubble / (1 + bubble).",
        "`bubble = 7 / ...`",
    ),
    wrong={
        "bubble": {
            100 * STAGES / MICRO: "the first stage of a pipeline does not wait for itself",
            100 * lost(bubble()): "that is waiting over the whole step; the question is over the working time",
            100 * bubble(v=CHUNKS): "that is with chunks",
        },
        "lost": {
            100 * bubble(): "that is over the working time; the step is working and waiting",
            100 * STAGES / (MICRO + STAGES): "count the stages once more: a stage waits for the others",
        },
        "chunks": {
            100 * bubble(v=CHUNKS) * STAGES / (STAGES - 1): "a stage waits for the other stages, not for itself",
            100 * bubble() * CHUNKS: "chunks make each pass shorter, and the waiting with it",
            100 * lost(bubble(v=CHUNKS)): "that is over the whole step; the question is over the working time",
        },
    },
    right=(
        {"bubble": "21.9 %", "lost": "17.9 %", "chunks": "3.65 %"},
        (21.88, 17.95, 3.646),
        ("21.875%", "17.9%", "3.646 %"),
    ),
    explain=lambda: (
        f"{STAGES - 1} of {MICRO} gives {show(bubble(), '%')} of the working time, {show(lost(bubble()), '%')} of the "
        f"step; {CHUNKS} chunks make it {show(bubble(v=CHUNKS), '%')}, and every boundary is crossed {CHUNKS} times as "
        "often. GPipe's bubble is the same: what 1F1B saves is memory, since a stage holds at most 8 microbatches and "
        "not 32. Source: Narayanan et al. 2021, section 2.2."
    ),
)

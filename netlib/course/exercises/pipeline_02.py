from collections import Counter
from functools import cache

from netlib.collectives.training import dualpipe, dualpipe_idle, pipeline_bubble, timetable
from netlib.course.exercises import exercise
from netlib.units import show

# Zhao et al. (2025), table 4, multi-plane network: seconds of one step by kind of work.
FORWARD, PAIRS, BACKWARD, WEIGHT, BUBBLE = 1.13, 13.95, 1.99, 0.48, 2.06
STAGES, MICRO = 16, 15_360 // (2048 // 16)  # DeepSeek-AI (2024): sequences a step, GPUs, stages; one sequence each


@cache
def counts() -> Counter[str]:
    """Blocks of the first stage by kind: F, FB (a pair), B, I (its weights' gradient is put off), W."""
    return Counter("".join(one.kind for one in block) for block in dualpipe(STAGES, MICRO).blocks[0])


def pair() -> float:
    return PAIRS / counts()["FB"]


def backward() -> float:
    return (BACKWARD + WEIGHT) / (counts()["B"] + counts()["I"])


def weight() -> float:
    return WEIGHT / counts()["W"]


def idle(full: float | None = None, both: float | None = None) -> float:
    """Seconds that a stage of DualPipe waits by its published formula."""
    return float(dualpipe_idle(STAGES, both or pair(), full or backward(), weight()))


def one_way(full: float | None = None, stages: int = STAGES) -> float:
    """Seconds that a stage of 1F1B waits with the same passes, nothing paired."""
    work = MICRO * (FORWARD / counts()["F"] + (full or backward()))
    return float(pipeline_bubble(stages, MICRO)) * work


def measured() -> tuple[float, float]:
    """Least and most that a stage waits in the timetable of these passes."""
    forward = FORWARD / counts()["F"]
    waits = timetable(dualpipe(STAGES, MICRO), forward, backward(), weight(), pair()).idle
    return float(waits.min()), float(waits.max())


EXERCISE = exercise(
    id="pipeline-02",
    chapter="collectives",
    skill="a published bubble",
    stars=3,
    minutes=(10, 15),
    place=615,
    ask="Zhao et al. (2025, table 4) print where a step of DeepSeek-V3 spends its seconds, on 16 stages with DualPipe: "
    "1.13 in forward passes alone, 13.95 in overlapped pairs of a forward and a backward pass, 1.99 in backward passes "
    "alone, 0.48 in weights' gradients alone, and 2.06 in the bubble. Take these for the first stage and 120 "
    "microbatches: it runs 23 forward passes alone, 97 pairs, 23 backward passes alone, of which 15 put their weights' "
    "gradient off, and later those 15 gradients.\n\nHow long does a stage wait by DualPipe's published formula "
    "(`idle`)? How many times that is the printed bubble (`times`)? And how long would a stage of 1F1B wait with the "
    "same forward and full backward passes, nothing paired (`one`)?",
    answer=lambda: {"idle": idle(), "times": BUBBLE / idle(), "one": one_way()},
    unit={"idle": "s", "times": "x", "one": "s"},
    rtol=0.01,
    hints=(
        "Divide each sum by its count. The 15 gradients belong to 15 of the 23 backward passes, so a full one takes "
        "(1.99 + 0.48) / 23.",
        "idle = (stages / 2 - 1)(pair + backward - 3 weight); 1F1B waits (stages - 1)(forward + backward).",
        "`pair, backward, weight = 13.95 / 97, (1.99 + 0.48) / 23, 0.48 / ...`",
    ),
    wrong={
        "idle": {
            idle(
                BACKWARD / counts()["B"]
            ): "near what is printed, and an accident: this backward pass alone would last "
            "longer than a pair, which has a whole one in it; the other 15 took a part of these 1.99 s",
            idle(BACKWARD / (counts()["B"] + counts()["I"])): "15 of the 23 backward passes leave a part of their work "
            "to later; a full one is longer than this mean",
            idle(both=PAIRS / MICRO): "23 of the 120 forward passes run alone, outside a pair",
            idle() * (STAGES - 1) / (STAGES / 2 - 1): "DualPipe is fed from both ends: half of the stages fill it",
            idle() * (STAGES / 2) / (STAGES / 2 - 1): "a stage does not wait for itself",
        },
        "times": {
            idle() / BUBBLE: "the other way round: the printed bubble over the formula's",
            1.0: "the two differ; compute the formula with the full backward pass",
        },
        "one": {
            one_way(stages=STAGES + 1): "a stage does not wait for itself",
            one_way(BACKWARD / (counts()["B"] + counts()["I"])): "a full backward pass has its weights' gradient in it",
            (STAGES - 1) * pair(): "without pairs the two passes run one after the other",
        },
    },
    right=(
        {"idle": "1.086 s", "times": "1.9x", "one": "2.35 s"},
        (1.086, 1.896, 2.348),
        ("1086 ms", "1.90", "2348 ms"),
    ),
    explain=lambda: (
        f"A pair takes {show(pair(), 'ms')}, a full backward pass {show(backward(), 'ms')}, and the formula leaves "
        f"{show(idle(), 's')} of waiting, {show(one_way(), 's')} under 1F1B. Printed are {BUBBLE / idle():.2f} times "
        "the formula. It is not the proportions of the passes: a timetable of them, which starts each as early as it "
        f"can, waits {measured()[0]:.2f} to {measured()[1]:.2f} s, by stage. What neither knows is the time on the "
        "wire between stages, and that 61 layers, an embedding and a head do not divide evenly by 16; the paper does "
        "not say what each costs, nor whether its table shows one stage or a mean. Sources: Zhao et al. 2025, table 4; "
        "deepseek-ai/DualPipe, README; batch and layout from DeepSeek-AI 2024, one sequence a microbatch assumed."
    ),
)

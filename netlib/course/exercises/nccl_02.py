from functools import cache

from netlib.collectives.nccl import lint_nccl_env
from netlib.course.exercises import exercise
from netlib.fidelity.nccl_plans import verdict

SHOWN = """\
export NCCL_IB_TIMEOUT=22
export NCCL_IB_RETRY_CNT=7
export NCCL_IB_QPS_PER_CONNECTION=8
export NCCL_MIN_NCHANNELS=32
export NCCL_NET_GDR_LEVEL=5
export NCCL_ALGO=Ring"""
LINES = dict(
    zip(
        ("timeout", "retry", "qps", "channels", "gdr", "algo"),
        (line.removeprefix("export ") for line in SHOWN.splitlines()),
        strict=True,
    )
)
VERDICTS = {
    "a": "no effect: it is the default",
    "b": "deprecated: it has a new name",
    "c": "discouraged: nothing to gain",
    "d": "harmful: it takes choices away",
    "e": "useful, under a condition",
    "f": "a trade with two sides",
}
LETTERS = {"no-op": "a", "deprecated": "b", "discouraged": "c", "harmful": "d", "useful-if": "e", "depends": "f"}
NUDGES = {
    "timeout": "compute 4.096 us x 2^22 and multiply by the tries; what becomes shorter, what longer?",
    "retry": "look up what NCCL does without the line",
    "qps": "think of a fabric that hashes flows onto links, and of one that does not",
    "channels": "look up since when the documentation names another variable for this",
    "gdr": "numbers stand for levels here, and the guide asks for names; what does one above 4 allow?",
    "algo": "ask the tuner for 256 MiB on 128 nodes with and without the line",
}
SLIPS = {
    ("timeout", "a"): "the default has been 20 since 2.23",
    ("timeout", "d"): "no choice of the tuner changes; a wait does",
    ("timeout", "e"): "every job waits longer for a dead link, whatever the fabric",
    ("retry", "e"): "7 is also the most that the hardware counts, so nothing can be raised",
    ("retry", "f"): "a trade needs a change, and here none happens",
    ("qps", "a"): "the default is 1",
    ("qps", "c"): "the guide names this line as one of the few worth trying",
    ("qps", "d"): "all algorithms stay; messages take several ways",
    ("qps", "f"): "on one kind of fabric there is something to gain and on the other nothing",
    ("channels", "e"): "the setting may be useful at times; this name for it is not",
    ("channels", "d"): "no algorithm goes; SMs do",
    ("gdr", "a"): "the default is found by NCCL for each pair of GPU and NIC",
    ("gdr", "e"): "GPUDirect RDMA is on without it wherever the paths allow",
    ("gdr", "b"): "the name is current; its value is what is old",
    ("algo", "a"): "without the line the tuner chooses among all",
    ("algo", "c"): "there is something to lose: trees in large jobs, the adding switch in a node",
    ("algo", "e"): "the largest messages would get a ring anyway",
    ("algo", "f"): "the tuner takes rings where they win, so nothing stands on the other side",
}


@cache
def letter_of(part: str) -> str:
    return LETTERS[verdict(LINES[part])]


def wrong(part: str) -> dict[str, str]:
    right = letter_of(part)
    return {letter: SLIPS.get((part, letter), NUDGES[part]) for letter in VERDICTS if letter != right}


def told() -> str:
    return " ".join(f"`{each.name}={each.value}`: {each.verdict}, {each.reason}." for each in lint_nccl_env(SHOWN))


EXERCISE = exercise(
    id="nccl-02",
    chapter="collectives",
    skill="reading a configuration",
    stars=2,
    minutes=(6, 10),
    place=55,
    ask="An article gives six lines for every large job. Judge each for NCCL 2.30.7 on 128 DGX H100: which verdict "
    "fits best? (`timeout`, `retry`, `qps`, `channels`, `gdr`, `algo`, in the order of the lines.)",
    shown=SHOWN,
    answer=lambda: {part: letter_of(part) for part in LINES},
    compare=dict.fromkeys(LINES, "choice"),
    options=dict.fromkeys(LINES, VERDICTS),
    hints=(
        "Ask of each line: what does NCCL do without it, and what can it no longer do with it?",
        "A wait is 4.096 us x 2^timeout for each try. A forced algorithm holds for every size and every collective.",
        '`nccl.variable("NCCL_IB_RETRY_CNT").at("2.30.7")`',
    ),
    wrong={part: wrong(part) for part in LINES},
    right=(
        {"timeout": "f", "retry": "a", "qps": "e", "channels": "b", "gdr": "c", "algo": "d"},
        ("(f)", "A", "e.", "b", "c", "harmful: it takes choices away"),
    ),
    explain=lambda: (
        f"{told()} NVIDIA's guide discourages most of these in production: a gain in one benchmark is a loss in the "
        "next job. Set a variable for a regression that you have measured, write down which, and take it out with the "
        "next version."
    ),
)

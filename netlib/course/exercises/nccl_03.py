from netlib.collectives import time_at_busbw
from netlib.course.exercises import exercise
from netlib.fidelity.cite import published
from netlib.fidelity.nccl_plans import planned
from netlib.units import KiB, show

SIZE = 32 * KiB  # the smallest row of both tables
BLOCKING, QUEUED = "H200x8-001", "H200x8q-001"


def measured(id: str) -> float:
    return float(time_at_busbw(SIZE, published(id), 8, "all_reduce"))


def plan(version: str) -> float:
    return planned(SIZE, "dgx-h200", 1, version)


def answers() -> dict[str, float | str]:
    """The gap between log and plan, and what of it goes when calls are queued."""
    gap = measured(BLOCKING) - plan("2.27.7")
    queued = measured(BLOCKING) - measured(QUEUED)
    return {"gap": gap, "queued": queued, "why": "b" if queued > gap / 2 else "a"}


EXERCISE = exercise(
    id="nccl-03",
    chapter="collectives",
    skill="a plan and a log",
    stars=3,
    minutes=(8, 12),
    place=56,
    ask="Eight H200 in a node, all-reduce of 32 KiB. A log of NCCL 2.27.7, one blocking call at a time, prints a busbw "
    "of 1.44 GB/s. Its author measured again with calls queued behind one another (NCCL 2.30.7): 3.20 GB/s. The "
    "tuner's plan has the same constants for LL rings in both versions: 6.6 us, 0.6 us for each of the ring's 14 "
    "hops, and for the bytes 8/14 of a bus of 141e9 bytes/s. How many us is the blocking log above the plan "
    "(`gap`)? How many us of the log go away when calls are queued (`queued`)? And `why` does the plan "
    "miss small sizes so far?",
    answer=answers,
    unit={"gap": "us", "queued": "us"},
    rtol={"gap": 0.03, "queued": 0.03},
    compare={"why": "choice"},
    options={
        "why": {
            "a": "NVLink is slower for small messages than the tables say",
            "b": "what the host spends on each call is not in the plan",
            "c": "the tuner chose the wrong algorithm",
            "d": "the fabric between the nodes is congested",
        }
    },
    ranks={"gap": 8, "queued": 8},
    hints=(
        "First seconds: turn each busbw back into the time of a call. Then the plan, term by term.",
        "time = 2(n-1)/n x size / busbw; plan = 6.6 us + 14 x 0.6 us + size / (141e9 x 8/14).",
        "`gap = 2 * 7 / 8 * 32768 / 1.44e9 - ...`",
    ),
    wrong={
        "gap": {
            measured(BLOCKING) * 1e6: "that is the log itself; the plan has to go off it",
            (SIZE / published(BLOCKING) - plan("2.27.7")) * 1e6: "busbw is not size over time: multiply by 2(n-1)/n",
            (measured(BLOCKING) - 14 * 0.6e-6) * 1e6: "the plan also has a start of its own, and the bytes",
            plan("2.27.7") * 1e6: "that is the plan itself; the question is what the log has on top of it",
        },
        "queued": {
            measured(QUEUED) * 1e6: "that is the queued call itself; how much shorter is it than the blocking one?",
            (SIZE / published(BLOCKING) - SIZE / published(QUEUED)) * 1e6: "busbw is not size over time: use 2(n-1)/n",
            (measured(QUEUED) - plan("2.27.7")) * 1e6: "that is the queued call above the plan; compare the two logs",
        },
        "why": {
            "a": "then queueing the calls would not have taken most of the gap away: the wires are the same",
            "c": "the log names LL rings, as the tuner does; at this size every other choice is slower",
            "d": "eight GPUs of one node: no message leaves it",
        },
    },
    right=({"gap": "24.4 us", "queued": "21.9 us", "why": "b"}, (24.42, 21.9, "b")),
    explain=lambda: (
        f"The log's call took {show(measured(BLOCKING), 'us')}, the plan says {show(plan('2.27.7'), 'us')}: "
        f"{show(float(answers()['gap']), 'us')} more. Queued calls take {show(measured(QUEUED), 'us')}, "
        f"{show(float(answers()['queued']), 'us')} less than blocking ones. So most of the gap was the host: it starts "
        "a kernel, waits for its end and starts the next. (Part may be the newer library; the logs differ in both.) "
        "For a choice this does no harm, since the host costs every algorithm the same; for a forecast it does."
    ),
)

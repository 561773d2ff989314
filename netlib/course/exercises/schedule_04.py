from math import ceil, log2

import numpy as np

from netlib.collectives import ring_allreduce, simulate, tree_allreduce
from netlib.course.exercises import exercise
from netlib.links import Link
from netlib.topology import one_switch
from netlib.units import MiB, show

N, RANK, LATE, SIZE = 13, 12, 2e-3, 64 * MiB
CABLE = Link(0.0, 50e9)
STEP = float(CABLE.time(SIZE))


def done(late: float, ring: bool) -> float:
    """Seconds until all ranks are done."""
    comes = np.zeros(N)
    comes[RANK] = late
    schedule = ring_allreduce(N) if ring else tree_allreduce(N)
    return float(simulate(schedule, one_switch(N, CABLE), SIZE, pace="rank", late=comes).seconds)


EXERCISE = exercise(
    id="schedule-04",
    chapter="collectives",
    skill="who waits for whom",
    stars=2,
    minutes=(8, 12),
    place=20,
    ask="Thirteen ranks all-reduce 64 MiB on one switch; each has one link of 50 GB/s one way, latency is nothing, and "
    "a rank begins a step when its own messages of the step before are done. Rank 12 comes 2 ms late. After how many "
    "milliseconds, from the start of the others, is everybody done with a `ring` (chunks of S/13)? And with a binomial "
    "`tree` of whole buffers (first 1 sends to 0, 3 to 2 and so on, then 2 to 0, 6 to 4, 10 to 8; then partners four "
    "and eight apart; then the same way down)?",
    answer=lambda: {"ring": done(LATE, ring=True), "tree": done(LATE, ring=False)},
    unit={"ring": "ms", "tree": "ms"},
    rtol=0.01,
    ranks=N,
    hints=(
        "In which step is rank 12 needed for the first time? In the tree it has no partner in the first two.",
        "ring: 2 ms + 2 (12/13) S/B. tree: eight steps of S/B; rank 12 sends in the third of them.",
        "`step = 64 * 2**20 / 50e9`, and rank 12 may come after `2 * step` ...",
    ),
    wrong={
        "ring": {
            1e3 * done(0.0, ring=True): "that is without the late rank",
            1e3 * (LATE + STEP * (N - 1) / N): "that is one pass of the ring; an all-reduce makes two",
            1e3 * (LATE + 2 * STEP): "each rank sends 12 of 13 chunks in a pass",
            1e3 * LATE: "that is when the last rank comes; all steps are still to be done",
        },
        "tree": {
            1e3 * (LATE + done(0.0, ring=False)): "the tree does not need rank 12 at once",
            1e3 * (LATE + 5 * STEP): "it is not needed that early: is the wait shorter than two steps?",
            1e3 * 4 * STEP: "that is the way up; the sum must come down again",
            1e3 * 6 * STEP: "13 ranks need four levels, not three",
        },
    },
    right=(
        {"ring": 1e3 * done(LATE, ring=True), "tree": 1e3 * done(LATE, ring=False)},
        (f"{done(LATE, ring=True)} s", f"{1e6 * done(LATE, ring=False)} us"),
    ),
    explain=lambda: (
        f"The ring needs rank 12 in its first step: {show(LATE, 'ms')} late, and then all "
        f"{show(done(0.0, ring=True), 'ms')}, {show(done(LATE, ring=True), 'ms')} in all. In the tree rank 12 sends in "
        f"the third step, after {show(2 * STEP, 'ms')}, so its lateness costs nothing: {2 * ceil(log2(N))} steps of "
        f"{show(STEP, 'ms')}, {show(done(LATE, ring=False), 'ms')}. It is still slower: a tree of whole buffers pays "
        "more for its bytes than the late rank costs the ring."
    ),
)

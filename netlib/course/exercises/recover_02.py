from functools import cache

from netlib.congestion.experiments import experiment
from netlib.course.exercises import exercise


@cache
def times() -> float:
    """Last finish over the least, in the packet engine."""
    seen = experiment("incast", "dcqcn", "ns3-datacenter", dt=1e-6)
    return float(seen.run.finish.max() / seen.ideal.max())


EXERCISE = exercise(
    id="recover-02",
    chapter="congestion",
    skill="an incast under DCQCN",
    stars=2,
    minutes=(5, 10),
    place=422,
    ask="The chapter's first prediction. Eight hosts send 2 MB each to a ninth over 100 Gb/s, under DCQCN with the "
    "timers of a popular simulator (900 us). The least time is that of all bytes over the last link. How many times "
    "the least passes until the last sender is done? (Run `experiment('incast', 'dcqcn', 'ns3-datacenter')`.)",
    answer=times,
    unit="x",
    rtol=0.15,
    hints=(
        "Look at the figure with the heartbeat: how many hills, and how far apart?",
        "last finish / (8 x 2,000 packets x 1,038 bytes / 12.5 GB/s)",
        "`seen.run.finish.max() / seen.ideal.max()`",
    ),
    wrong={
        1: "that would be a full link from beginning to end; this one is empty most of the time",
        1.1: "a tenth more is what a control costs that keeps the link busy; this one does not",
        8: "the senders share the link, and the least time already counts all eight",
    },
    right=("3x", 3.05, "3.1"),
    explain=lambda: (
        f"{times():.2f} times. Marks cut everybody to the floor within 40 us, the queue is gone soon after, and "
        "nobody may raise a rate before a timer of 900 us has ticked: the link waits for a clock. The ns-3 runs that "
        "the field uses show the same."
    ),
)

from netlib.congestion import preset
from netlib.congestion.fluid import most_flows, rest_point
from netlib.course.exercises import exercise
from netlib.units import gbps


def most() -> int:
    return most_flows(preset("dcqcn", "fluid"), preset("marking", "dcqcn-paper"), gbps(40))


def marks(flows: int) -> float:
    """The share of packets that must be marked, were the ramp of the same slope and longer."""
    return float(rest_point(preset("dcqcn", "fluid"), preset("marking", "same-slope"), gbps(40), flows).marks)


EXERCISE = exercise(
    id="rest-01",
    chapter="congestion",
    skill="where marks run out",
    stars=2,
    minutes=(6, 10),
    place=424,
    ask="DCQCN with its paper's parameters at 40 Gb/s, marks between 5 KB and 200 KB with at most 1 %. Up to how many "
    "equal flows is there a queue at which they can rest, below K_max? (Use `rest_point` or `most_flows` of "
    "`netlib.congestion.fluid`.)",
    answer=most,
    unit="flows",
    compare="exact",
    hints=(
        "Each flow more needs a larger share of marked packets.",
        "Find the largest N with p*(N) <= 1 %.",
        "`rest_point(control, marking, 5e9, range(2, 20)).marks`",
    ),
    wrong={
        15: "with 15 flows the marks needed are 1.003 %, just above the ramp",
        20: f"with 20 flows the marks needed are {marks(20):.1%}; find the last number of flows that needs 1 % or less",
        12: "the cube-root formula says so; it asks for too many marks",
    },
    right=("14", 14.0, "14 flows"),
    explain=lambda: (
        f"{most()}. From 15 flows on the marks that DCQCN needs exceed P_max: the queue rides on K_max, where marking "
        "jumps from 1 % to all. The same slope with a ramp ten times as long has no such cliff."
    ),
)

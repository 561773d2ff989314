from netlib.course.exercises import exercise
from netlib.topology import max_min_rates

SENDERS = 4


def free() -> float:
    """Share of the line without head-of-line blocking: max-min fair on the sender's NIC and the incast's port."""
    paths = [[k, SENDERS] for k in range(SENDERS)] + [[0, SENDERS + 1]]
    return float(max_min_rates(paths, [1.0] * (SENDERS + 2))[-1])


def share_of_port() -> float:
    """What the incast's port gives each cable; the victim moves in step with it."""
    return float(max_min_rates([[k, SENDERS] for k in range(SENDERS)], [1.0] * (SENDERS + 1))[0])


EXERCISE = exercise(
    id="victim-01",
    chapter="congestion",
    skill="head-of-line blocking",
    stars=3,
    minutes=(8, 12),
    place=412,
    ask="Four hosts send to one port as fast as they may, all cables are equal, and one of the four has a second flow "
    "to an idle neighbour. Its NIC serves its two flows in turn. Switches pause, and have hardly any other buffer. "
    "Which share of a line does the second flow get in the end with pauses (`paused`), and which if nothing but its "
    "sender's and its receiver's links held it back and all shared fairly (`free`)?",
    answer=lambda: {"paused": share_of_port(), "free": free()},
    unit={"paused": "", "free": ""},
    rtol=0.1,
    hints=(
        "A paused cable is silent for both flows; how often is it paused?",
        "The incast's port gives each of four cables a quarter. The NIC sends one packet of each flow in turn.",
        "`paused = 1 / 4`; for `free`, what does the incast leave of the sender's line?",
    ),
    wrong={
        "paused": {
            1: "its receiver is idle, but its cable is not: it is paused for the incast",
            0.5: "the NIC would share half and half, if it could send all the time",
            0.75: "that is what it would get if only its own flow's links counted",
        },
        "free": {
            1: "its NIC also carries a part of the incast",
            0.5: "the incast cannot use half of that NIC: its port gives it a quarter",
        },
    },
    right=(("25 %", "75 %"), {"paused": 0.25, "free": "0.75"}, (0.24, 0.77)),
    explain=lambda: (
        "The port gives each cable a quarter, so each is paused three quarters of the time, and the second flow moves "
        f"in step with the first: 25 %. Without that it would take what the first leaves, {free():.0%}. Packets and "
        "shallow thresholds shift these by a point or two, so ten per cent are allowed."
    ),
)

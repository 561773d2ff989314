from netlib.congestion import marked_rate
from netlib.course.exercises import exercise
from netlib.units import show

SHOWN = """\
np_ecn_marked_roce_packets   21278189006
np_cnp_sent                   1052612505
rp_cnp_handled                         0
out_of_sequence                  1811101
packet_seq_err                         0"""
MARKED, CNPS = 21278189006, 1052612505


def ratio() -> float:
    """A rate of marks at one CNP a second, in packets of one byte."""
    return float(marked_rate(MARKED, CNPS, 1.0, 1.0))


EXERCISE = exercise(
    id="counter-01",
    chapter="congestion",
    skill="reading a NIC's counters",
    stars=2,
    minutes=(6, 10),
    place=444,
    ask="Counters of a bonded ConnectX since it was started. How many marked packets came for each CNP that it sent "
    "(`ratio`)? Packets carry 4,096 bytes and the port is 100 Gb/s: which gap between CNPs of a flow is set (`gap`)? "
    "And which `role` does this node play?",
    shown=SHOWN,
    answer=lambda: {"ratio": ratio(), "gap": "b", "role": "a"},
    unit={"ratio": ""},
    compare={"gap": "choice", "role": "choice"},
    options={
        "gap": {"a": "4 us", "b": "50 us", "c": "no gap: one for each marked packet"},
        "role": {"a": "it receives through a full port", "b": "it sends into one", "c": "it drops packets"},
    },
    hints=(
        "Between two CNPs of one flow, that many marked packets came.",
        "marked traffic of a flow is at least ratio x 4,096 bytes / gap",
        "`ratio * 4096 * 8 / 4e-6` in Gb/s, and the same for 50 us",
    ),
    wrong={
        "ratio": {CNPS / MARKED: "the other way round: marks for each CNP"},
        "gap": {
            "a": "20 packets of 4,096 bytes in 4 us are more than a port of 100 Gb/s carries",
            "c": "then there would be as many CNPs as marks",
        },
        "role": {
            "b": "it notifies others and was never notified itself (rp_cnp_handled is 0)",
            "c": "no packet was asked for twice (packet_seq_err is 0)",
        },
    },
    right=((20.2, "b", "a"), {"ratio": "20.21", "gap": "50 us", "role": "A"}),
    explain=lambda: (
        f"{ratio():.1f} marks a CNP. In 4 us that would be {show(float(marked_rate(MARKED, CNPS, 4e-6)), 'B/s')} of "
        f"one flow, more than the port; in 50 us {show(float(marked_rate(MARKED, CNPS, 50e-6)), 'B/s')} are enough. "
        "The node is a receiver behind a full port. Its out-of-sequence packets are one in ten thousand of the marked "
        "ones."
    ),
)

from netlib.course.exercises import exercise
from netlib.topology import staged_loss, staged_share

LOSS, SLOWDOWN = 0.30, 1.20


def share(slowdown: float) -> float:
    return float(staged_share(LOSS, slowdown))


EXERCISE = exercise(
    id="staging-01",
    chapter="scale-out",
    skill="Amdahl's law",
    stars=2,
    minutes=(5, 9),
    place=300,
    ask="It is written that without GPUDirect RDMA training runs 30 % slower. Let a step spend the share c of its "
    "time on exposed communication, and let staging through host memory make that part s times as long. Training "
    "throughput falls by 30 %. What must c(s-1) be (`product`)? A measurement of switching GPUDirect on found that "
    "all-reduce runs 1.2 times as fast: with s = 1.2, which share c would a loss of 30 % need (`share`)?",
    answer=lambda: {"product": share(2.0), "share": share(SLOWDOWN)},
    unit={"product": "", "share": ""},
    rtol=0.01,
    hints=(
        "The step becomes 1 + c(s-1) times as long; throughput is its inverse.",
        "loss = c(s-1) / (1 + c(s-1)), so c(s-1) = loss / (1 - loss).",
        "`product = 0.3 / (1 - ...)`; `share = product / 0.2`",
    ),
    wrong={
        "product": {
            0.3: "that is a step 30 % longer; throughput then falls by 23 %",
            0.7: "that is what is left of the throughput",
            0.231: "that is the loss of a step 30 % longer",
        },
        "share": {
            1.5: "that belongs to a step 30 % longer; throughput falls by less then",
            0.0857: "the share is divided by s - 1, not multiplied",
            0.357: "s - 1 is the extra time, not s",
        },
    },
    right=((0.4286, 2.143), {"product": "0.43", "share": "2.14"}, ("42.9 %", "214 %")),
    explain=lambda: (
        f"0.3 / 0.7 = {share(2.0):.3f}. With s = 1.2 the share would have to be {share(SLOWDOWN):.2f}: more than the "
        "whole step, so the measured slow-down cannot cost 30 %. Were all of the step communication, it would cost "
        f"{float(staged_loss(1.0, SLOWDOWN)):.1%}."
    ),
)

from netlib.congestion import go_back_n_goodput, halving_loss, selective_repeat_goodput
from netlib.course.exercises import exercise

WINDOW, LOSS = 122, 0.02

EXERCISE = exercise(
    id="loss-01",
    chapter="congestion",
    skill="goodput under loss",
    stars=2,
    minutes=(6, 10),
    place=414,
    ask="A round trip holds 122 packets of 4,096 bytes (half a megabyte), and one packet in fifty is lost. Which share "
    "of the rate arrives in order with go-back-N (`back`)? With selective repeat and enough room to reorder, which "
    "share of the rate goes into packets that are sent again (`missing`)? And at which loss does go-back-N deliver "
    "half (`half`)?",
    answer=lambda: {
        "back": float(go_back_n_goodput(LOSS, WINDOW)),
        "missing": 1 - float(selective_repeat_goodput(LOSS)),
        "half": float(halving_loss(WINDOW)),
    },
    unit={"back": "", "missing": "", "half": ""},
    hints=(
        "After a gap the receiver throws away everything until the lost packet comes again: a window of packets.",
        "back = (1 - p) / (1 - p + p W); selective repeat loses only what is lost.",
        "`back = (1 - p) / (1 - p + p * 122)` with p = one in fifty",
    ),
    wrong={
        "back": {
            0.98: "that is selective repeat; go-back-N throws a window away for each loss",
            (1 - LOSS)
            ** WINDOW: "that is the chance that a whole window arrives; some packets before the gap count too",
        },
        "missing": {
            0.98: "that is what arrives; the question is what is sent again",
            0: "nothing is lost for good, but what was lost goes over the link a second time",
        },
        "half": {1 / 122 / 2: "set the formula to one half: p W = 1 - p"},
    },
    right=(("28.7 %", "2 %", "0.813 %"), {"back": 0.2865, "missing": 0.02, "half": 0.00813}),
    explain=lambda: (
        f"Go-back-N delivers {float(go_back_n_goodput(LOSS, WINDOW)):.1%}, selective repeat all but 2 %. A loss of "
        f"{float(halving_loss(WINDOW)):.3%} is enough to halve go-back-N: this, and no law of nature, is why RoCE "
        "wanted a lossless network."
    ),
)

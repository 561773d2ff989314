from netlib.congestion import buffer_needed, buffer_time, incast_fill_time
from netlib.course.exercises import exercise
from netlib.units import MB, gbps

RATE, BUFFER, SENDERS = gbps(400), 64 * MB, 32

EXERCISE = exercise(
    id="buffer-01",
    chapter="congestion",
    skill="buffers as time",
    stars=1,
    minutes=(5, 8),
    place=400,
    ask="A configuration asks for a burst tolerance of 100 ms. How many GB would a 400 Gb/s port `need` for that? For "
    "how many ms does a buffer of 64 MB `last` at this speed? And how long do 32 senders at 400 Gb/s take to `fill` it "
    "when one such port drains it all the while, in us?",
    answer=lambda: {
        "need": float(buffer_needed(0.1, RATE)),
        "last": float(buffer_time(BUFFER, RATE)),
        "fill": float(incast_fill_time(BUFFER, SENDERS, RATE)),
    },
    unit={"need": "GB", "last": "ms", "fill": "us"},
    hints=(
        "400 Gb/s are 50 GB/s.",
        "bytes = rate x time; while it fills, one of the 32 rates drains.",
        "`fill = 64e6 / (31 * 50e9)`",
    ),
    wrong={
        "need": {40: "that counts bits as bytes"},
        "last": {0.16: "that counts bits as bytes"},
        "fill": {40: "the port drains while the buffer fills: 31 rates come in, not 32"},
    },
    right=(("5 GB", "1.28 ms", "41.3 us"), {"need": "5000 MB", "last": 1.28, "fill": "41290 ns"}),
    explain=lambda: (
        "5 GB, where chips have tens to a few hundred MB: the promise is wrong by two orders. 64 MB last 1.28 ms for "
        "one port and 41.3 us under an incast of 32, which is four round trips."
    ),
)

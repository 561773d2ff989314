from netlib.congestion import cable_bytes, dynamic_headroom, lossless_classes
from netlib.course.exercises import exercise
from netlib.units import KB, MB, gbps

GBIT, LENGTH, PORTS, BUFFER, QUEUES = 400, 300, 64, 160 * MB, 80 * MB
MTU, LOSSLESS, MAC, PEER, CELLS = 9100, 1024, 819.2, 905 * 64, 144 / 64


def cable() -> float:
    return float(cable_bytes(LENGTH, gbps(GBIT)))


def headroom(length: float = LENGTH, gbit: float = GBIT) -> int:
    return dynamic_headroom(gbit, length)


EXERCISE = exercise(
    id="headroom-01",
    chapter="congestion",
    skill="headroom after a pause",
    stars=2,
    minutes=(7, 12),
    place=408,
    ask="A 400 Gb/s port with 300 m of cable has a lossless class. Light goes 1.98e8 m/s in the cable. How many bytes "
    "does the `cable` hold, there and back? Now the `headroom` by SONiC's formula for Spectrum switches: one lossless "
    "packet of 1,024 bytes; then, times what a byte takes in the buffer, the sum of a packet of the port's MTU "
    "(9,100), the cable both ways, 819 bytes in MAC and PHY, and 905 quanta of 64 bytes until the far end has "
    "stopped. Memory comes in cells of 144 bytes, and all packets are of 64 bytes, one to a cell. The chip has 64 "
    "such ports and 160 MB, of which 80 MB must stay free for queues: how many lossless `classes` can it have?",
    answer=lambda: {
        "cable": cable(),
        "headroom": headroom(),
        "classes": float(lossless_classes(BUFFER, PORTS, headroom(), QUEUES)),
    },
    unit={"cable": "kB", "headroom": "kB", "classes": "classes"},
    # the script's 1,024 bytes to a kilobit is worth 1.6 % here, and rounding up to whole KiB a little
    rtol={"cable": 0.01, "headroom": 0.03},
    compare={"classes": "exact"},
    hints=(
        "What can still arrive after the pause was decided? What is on the cable, what the far end sends before it "
        "obeys, and the packets that nobody can cut in two. Then ask how much memory that takes.",
        "headroom = 1,024 + 144 / 64 x (9,100 + cable + 819 + 905 x 64)",
        "`cable = 2 * 300 * 50e9 / 1.98e8`",
    ),
    wrong={
        "cable": {
            75.8: "that is one way; while the pause travels to the sender, as much is still coming",
            37.9: "that is the cable of a port of 100 Gb/s",
        },
        "headroom": {
            (LOSSLESS + MTU + 151515 + MAC + PEER) / KB: "a packet of 64 bytes takes a whole cell of 144",
            (LOSSLESS + CELLS * (MTU + 151515 + MAC)) / KB: "the far end may go on for 905 quanta before it stops",
            (LOSSLESS + CELLS * (MTU + 151515 / 2 + MAC + PEER)) / KB: "the cable counts there and back",
            164: "that is for a port of 100 Gb/s",
        },
        "classes": {
            5: "then headroom would take all of the buffer, and no queue could ever form below the pause",
            3: "the third class does not fit; round down",
            2.56: "half a class protects nobody; give a whole number",
        },
    },
    right=(("151.5 kB", "487 kB", "2 classes"), {"cable": 152, "headroom": "495 kB", "classes": 2}),
    explain=lambda: (
        f"The cable holds {cable() / KB:.0f} kB, the headroom is {headroom() / KB:.0f} kB for each port and class, "
        f"where 5 m need {headroom(5) / KB:.0f} kB. On 64 ports one class takes "
        f"{64 * headroom() / MB:.1f} MB that may never be used otherwise, so that "
        f"{lossless_classes(BUFFER, PORTS, headroom(), QUEUES):.0f} classes fit beside 80 MB of queues. Distance and "
        "small packets are paid for in memory: this is why lossless classes are few and stay inside a hall."
    ),
)

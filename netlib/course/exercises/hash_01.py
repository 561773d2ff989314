import numpy as np

from netlib.course.exercises import exercise
from netlib.topology import five_tuple_hash, links_used

UPLINKS, FIRST, ROOM = 8, 49_152, 8


def used(apart: int) -> int:
    ports = FIRST + apart * np.arange(UPLINKS)
    remainders = np.asarray(five_tuple_hash(1, 2, ports), np.int64) % UPLINKS
    return int(np.unique(remainders).size)


def by_chance() -> float:
    return float(UPLINKS * links_used(UPLINKS, UPLINKS))


EXERCISE = exercise(
    id="hash-01",
    chapter="scale-out",
    skill="a hash is no die",
    stars=2,
    minutes=(5, 10),
    place=245,
    ask="A leaf takes the CRC-32 of 13 bytes (source address 10.0.0.1, destination address 10.0.0.2, "
    "protocol 17, source port, destination port 4791, all in network order, as `zlib.crc32` takes them) and divides "
    "it by its 8 uplinks; the remainder is the uplink. Eight queue pairs between these two hosts differ in their "
    "source port alone. How many uplinks carry something if the ports are 49152, 49153 and so on to 49159 (`row`), how "
    "many if they are eight apart, 49152, 49160 and so on to 49208 (`stride`), and how many would it be on average if "
    "each queue pair drew its uplink by lot (`chance`)?",
    answer=lambda: {"row": used(1), "stride": used(ROOM), "chance": by_chance()},
    unit={"row": "uplinks", "stride": "uplinks", "chance": "uplinks"},
    compare={"row": "exact", "stride": "exact"},
    hints=(
        "A hash is arithmetic, not chance: compute it eight times and count the different remainders.",
        "uplink = CRC-32(13 bytes) mod 8; by lot, 8 (1 - (7/8)^8) uplinks are used.",
        "`head = bytes([10, 0, 0, 1, 10, 0, 0, 2, 17]) + port.to_bytes(2) + (4791).to_bytes(2)`",
    ),
    wrong={
        "row": {
            5.25: "that is what a lot would give; compute the eight remainders",
            5: "that is about what a lot would give; compute the eight remainders",
            1: "the eight ports differ in their last three bits; compute whether the remainders do",
        },
        "stride": {
            8: "here the last three bits of the ports are equal; compute whether the remainders still differ",
            5.25: "that is what a lot would give; compute the eight remainders",
            5: "that is about what a lot would give; compute the eight remainders",
        },
        "chance": {
            8: "two queue pairs may draw the same uplink",
            0.656: "that is their share; how many uplinks is it?",
            5.06: "that is 1 - 1/e of them, the limit for very many uplinks",
            2.75: "those are the uplinks that stay empty",
        },
    },
    right=((8, 1, 5.25), {"row": "8", "stride": "1 uplinks", "chance": "5.2511"}),
    explain=lambda: (
        f"A row fills {used(1)} uplinks, ports eight apart share {used(ROOM)}, a lot would use {by_chance():.2f}. A "
        "CRC is linear: flip given bits of the header, and given bits of the hash flip, whatever the rest says. The "
        "last three bits of a port turn the last three bits of the CRC one to one, the next three leave them alone. So "
        "the two patterns are the best case and the worst, for any pair of hosts. Whoever chooses the ports chooses "
        "the spread; a switch that scrambles the hash makes every pattern as good, and as bad, as a lot."
    ),
)

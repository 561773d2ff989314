from netlib.course.exercises import exercise
from netlib.topology import clos_hosts, clos_switches

RADIX, HOSTS = 64, 4096


def limit() -> float:
    return float(clos_hosts(RADIX, 2))


def switches() -> float:
    return float(clos_switches(HOSTS, RADIX, 3))


EXERCISE = exercise(
    id="clos-01",
    chapter="scale-out",
    skill="counting a Clos",
    stars=1,
    minutes=(4, 7),
    place=210,
    ask="Switches have 64 ports, and every tier of a non-blocking Clos passes as many links up as it takes in from "
    "below. `limit`: how many hosts with one port each fit under two tiers? `switches`: how many switches do 4,096 "
    "hosts need in three tiers?",
    answer=lambda: {"limit": limit(), "switches": switches()},
    unit={"limit": "hosts", "switches": "switches"},
    compare="exact",
    hints=(
        "A leaf gives half of its ports to hosts; a spine reaches one leaf with each of its ports.",
        "limit = (k/2) x k; in three tiers N/(k/2) leaves, as many in the middle, half as many on top.",
        "`limit = 32 * ...`; `switches = 4096/32 + ...`",
    ),
    wrong={
        "limit": {
            4096: "that gives every port of a leaf to hosts and leaves none to go up",
            1024: "half of a spine's ports stay unused; the top tier has nobody above it",
            65536: "that is the limit of three tiers",
        },
        "switches": {
            192: "that is two tiers' count, 3N/k, and two tiers cannot hold this many hosts",
            384: "the top tier needs half as many switches as the others: all of its ports face down",
            64: "that is the top tier alone",
            256: "that leaves out the top tier",
        },
    },
    right=(("2,048", "320"), {"limit": "2048 hosts", "switches": 320.0}, (2048, 320)),
    explain=lambda: (
        f"Two tiers hold k/2 x k = {limit():,.0f} hosts. In three tiers each host port is one cable at each of three "
        f"layers: 2 x 4,096 / 64 = 128 leaves, 128 in the middle, 64 on top, together {switches():,.0f}: 5N/k."
    ),
)

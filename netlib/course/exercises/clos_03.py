from netlib.course.exercises import exercise
from netlib.topology import clos_switches, clos_tiers, switch_hops

HOSTS = 1024


def switches(radix: int) -> float:
    return float(clos_switches(HOSTS, radix, clos_tiers(HOSTS, radix)))


def hops(radix: int) -> float:
    return float(switch_hops(clos_tiers(HOSTS, radix)))


EXERCISE = exercise(
    id="clos-03",
    chapter="scale-out",
    skill="radix and tiers",
    stars=2,
    minutes=(5, 9),
    place=230,
    ask="A blog warns that 64-port switches, where 32 ports would do, add hops and latency. Build a non-blocking "
    "Clos for 1,024 GPUs from each, with as few tiers as possible. How many switches does it take (`switches32`, "
    "`switches64`), and how many switches does the longest route pass (`hops32`, `hops64`)?",
    answer=lambda: {
        "switches32": switches(32),
        "switches64": switches(64),
        "hops32": hops(32),
        "hops64": hops(64),
    },
    unit={"switches32": "switches", "switches64": "switches", "hops32": "switches", "hops64": "switches"},
    compare="exact",
    hints=(
        "First find how many tiers each radix needs for 1,024 hosts.",
        "Two tiers hold k^2/2 hosts. A route goes up to the top tier and down again: 2 x tiers - 1 switches.",
        "`32 * 32 / 2` hosts is less than 1,024, so ...",
    ),
    wrong={
        "switches32": {
            96: "that is two tiers' count; with 32 ports two tiers hold 512 hosts",
            64: "that is one tier alone",
            192: "the top tier needs half as many switches as the others",
        },
        "switches64": {
            80: "two tiers are enough here; that counts three",
            32: "those are the leaves alone",
            64: "a spine uses all of its ports downward, so half as many spines as leaves",
        },
        "hops32": {
            6: "those are the links from host to host; count switches",
            3: "with 32 ports two tiers do not hold 1,024 hosts",
            4: "the route turns around in one switch: an odd number",
        },
        "hops64": {
            4: "those are the links from host to host; count switches",
            5: "two tiers are enough here",
            2: "up through a leaf, through a spine, down through another leaf",
        },
    },
    right=((160, 48, 5, 3), {"switches32": "160", "switches64": "48 switches", "hops32": 5, "hops64": 3.0}),
    explain=lambda: (
        f"32 ports: three tiers, {switches(32):.0f} switches, {hops(32):.0f} on the longest route. 64 ports: two "
        f"tiers, {switches(64):.0f} switches, {hops(64):.0f} on the route. A port that stays idle adds no hop; a port "
        "that lets a tier disappear removes two."
    ),
)

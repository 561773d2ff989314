from functools import cache

from netlib.course.exercises import exercise
from netlib.topology import clos_hosts, transceivers_per_host
from netlib.units import show

HOSTS, WATTS = 100_000, 15.0


def modules(tiers: int) -> float:
    return HOSTS * float(transceivers_per_host(tiers))


@cache
def radix() -> float:
    return float(next(k for k in range(2, 4096, 2) if clos_hosts(k, 2) >= HOSTS))


EXERCISE = exercise(
    id="optics-01",
    chapter="scale-out",
    skill="optics and watts",
    stars=2,
    minutes=(5, 9),
    place=260,
    ask="100,000 GPUs have one network port each. The Clos is non-blocking, every link is optical with a module at "
    "each of its two ends, and a module draws 15 W. How many modules do two tiers need (`two`), how many three "
    "(`three`)? What do the modules of three tiers draw (`power`)? And which is the smallest even number of ports with "
    "which two tiers hold all hosts (`radix`)?",
    answer=lambda: {"two": modules(2), "three": modules(3), "power": modules(3) * WATTS, "radix": radix()},
    unit={"two": "modules", "three": "modules", "power": "MW", "radix": "ports"},
    compare={"two": "exact", "three": "exact", "radix": "exact"},
    hints=(
        "Each tier adds one layer of cables, with one cable per host.",
        "modules = hosts x tiers x 2; two tiers hold k^2/2 hosts.",
        "`three = 100_000 * 3 * ...`",
    ),
    wrong={
        "two": {
            200_000: "a link has two ends, each with a module",
            600_000: "that is three tiers",
            100_000: "that is one module for each host port; the far ends and the upper layer are missing",
        },
        "three": {
            300_000: "a link has two ends, each with a module",
            400_000: "that is two tiers",
            500_000: "the layer between hosts and leaves has two ends as well",
        },
        "power": {
            6: "that is two tiers",
            4.5: "that counts one module for each link",
            9000: "check the prefix: a megawatt is a million watts",
        },
        "radix": {
            64: "two tiers of 64 ports hold 2,048 hosts",
            144: "two tiers of 144 ports hold 10,368 hosts",
            447: "that many ports cannot be halved",
            316: "half of a leaf's ports go up",
        },
    },
    right=((400_000, 600_000, "9 MW", 448), {"two": "400,000", "three": "600000", "power": 9.0, "radix": "448 ports"}),
    explain=lambda: (
        f"{modules(2):,.0f} modules in two tiers, {modules(3):,.0f} in three, which draw "
        f"{show(modules(3) * WATTS, 'MW')}: {modules(3) * WATTS / HOSTS:.0f} W for each GPU. Two tiers would need "
        f"{radix():.0f} ports (k^2/2 >= 100,000), more than a chip offers at 400 Gb/s a port, unless the network is "
        "split into planes."
    ),
)

from netlib.course.exercises import exercise
from netlib.topology import clos_switches, clos_tiers

RADIX = 64
SMALL, MIDDLE, LARGE = 2048, 4096, 8192


def switches(hosts: int) -> float:
    return float(clos_switches(hosts, RADIX, clos_tiers(hosts, RADIX)))


EXERCISE = exercise(
    id="clos-02",
    chapter="scale-out",
    skill="how a fabric grows",
    stars=2,
    minutes=(5, 9),
    place=220,
    ask="It is written that past 2,000 GPUs the number of spine switches rises with the square of the GPUs. Take "
    "64-port switches, non-blocking, as few tiers as hold the hosts. By which factor does the number of all "
    "switches grow from 4,096 to 8,192 GPUs (`inside`), and by which from 2,048 to 4,096 (`boundary`)?",
    answer=lambda: {
        "inside": switches(LARGE) / switches(MIDDLE),
        "boundary": switches(MIDDLE) / switches(SMALL),
    },
    unit={"inside": "x", "boundary": "x"},
    compare={"inside": "excess", "boundary": "excess"},
    hints=(
        "How many tiers does each size need? Then count the switches of each.",
        "Two tiers: 3N/k switches. Three tiers: 5N/k.",
        "`inside = (5 * 8192 / 64) / ...`",
    ),
    wrong={
        "inside": {
            4: "that would be the square; write both counts down",
            1: "twice the hosts need more switches than before",
            2.5: "both sizes need three tiers",
        },
        "boundary": {
            2: "the number of tiers changes on the way",
            5 / 3: "that is the growth per host; the hosts doubled too",
            4: "that would be the square; write both counts down",
        },
    },
    right=(("2x", "3.33x"), {"inside": 2.0, "boundary": "3.333"}, ("200 %", "333.3 %")),
    explain=lambda: (
        f"{switches(SMALL):,.0f}, {switches(MIDDLE):,.0f} and {switches(LARGE):,.0f} switches: "
        f"{switches(MIDDLE) / switches(SMALL):.2f} times across the boundary, where a third tier comes in, and "
        f"{switches(LARGE) / switches(MIDDLE):.2f} times after it. Inside a tier count the growth is linear; at the "
        "boundary each host pays 5/3 of what it paid, once."
    ),
)

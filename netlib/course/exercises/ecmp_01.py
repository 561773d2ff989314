from netlib.course.exercises import exercise
from netlib.topology import ecmp_speed, links_used

LINKS, MANY = 8, 64


def speed(flows: int) -> float:
    return float(ecmp_speed(flows, LINKS))


def used() -> float:
    return float(links_used(LINKS, LINKS))


EXERCISE = exercise(
    id="ecmp-01",
    chapter="scale-out",
    skill="hash collisions",
    stars=2,
    minutes=(6, 10),
    place=240,
    ask="A leaf hashes equal flows onto 8 equal uplinks, each flow on its own, all uplinks equally likely. A "
    "collective ends with its slowest flow, so call 1 / E[flows on the hottest uplink / mean] its speed, 1 being a "
    "perfect spread. What is it with 8 flows (`eight`), with 64 flows, that is eight queue pairs for each (`many`), "
    "and which share of the uplinks do the 8 flows use on average (`used`)?",
    answer=lambda: {"eight": speed(LINKS), "many": speed(MANY), "used": used()},
    unit={"eight": "", "many": "", "used": ""},
    rtol=0.01,
    hints=(
        "Throw 8 balls into 8 bins a few thousand times and look at the fullest bin.",
        "used = 1 - (1 - 1/8)^8; for the speed, the mean of the maximum over the mean number in a bin.",
        "`counts = rng.multinomial(flows, [1 / 8] * 8, size=100_000)`; then `counts.max(axis=1)` ...",
    ),
    wrong={
        "eight": {
            0.656: "that is the share of uplinks in use; the hottest one decides when a collective ends",
            1: "a hash is no round robin: two flows may take the same uplink",
            0.41: "that is the mean of the speeds; here it is the inverse of the mean load",
            0.125: "that is the worst that can happen: all flows on one uplink",
        },
        "many": {
            0.665: "that is the mean of the speeds; here it is the inverse of the mean load",
            1: "more flows even the load out, but not to the last one",
            0.385: "that is the speed without queue pairs",
        },
        "used": {
            0.344: "that is the share that stays idle",
            0.632: "that is the limit for very many uplinks, 1 - 1/e",
            1: "a hash is no round robin: some uplinks stay empty",
        },
    },
    right=(("38.5 %", "65.4 %", "65.6 %"), {"eight": 0.385, "many": "0.654", "used": 0.656}),
    explain=lambda: (
        f"The hottest of 8 uplinks carries {1 / speed(LINKS):.2f} times the mean with 8 flows, {1 / speed(MANY):.2f} "
        f"times with 64: speeds of {speed(LINKS):.1%} and {speed(MANY):.1%}. The 8 flows use {used():.1%} of the "
        "uplinks: a number of the same size as the 60 % that vendors quote for plain hashing, but it is not the "
        "throughput of a collective."
    ),
)

from netlib.course.exercises import exercise
from netlib.topology import dragonfly_groups, dragonfly_hosts

P, A, H = 16, 32, 17  # ports of a 64-port switch for hosts, for the group's other switches (31), for other groups


def groups(h: int) -> float:
    return float(dragonfly_groups(A, h))


def hosts(h: int) -> float:
    return float(dragonfly_hosts(P, A, h))


EXERCISE = exercise(
    id="dragonfly-01",
    chapter="scale-out",
    skill="counting a dragonfly",
    stars=2,
    minutes=(5, 9),
    place=270,
    ask="A dragonfly group holds 32 switches of 64 ports, all joined to each other. Each switch has 16 ports for "
    "hosts, 31 for the group and 17 for other groups, and one link between two groups is enough. How many `groups` "
    "can there be at most, and how many host ports (`hosts`)? A balanced dragonfly would use 16 global ports a switch "
    "instead of 17: how many groups then (`balanced`)?",
    answer=lambda: {"groups": groups(H), "hosts": hosts(H), "balanced": groups(H - 1)},
    unit={"groups": "groups", "hosts": "hosts", "balanced": "groups"},
    compare="exact",
    hints=(
        "Count the global links of one group; each can lead to another group.",
        "groups = a h + 1; hosts = p a (a h + 1).",
        "`groups = 32 * 17 + ...`",
    ),
    wrong={
        "groups": {
            544: "that is how many other groups it reaches; it is one itself",
            513: "that is with 16 global ports a switch",
            18: "that counts the global ports of one switch; the group has 32 of them",
        },
        "hosts": {
            278_528: "that is one group less, a figure that is often quoted",
            262_656: "that is the balanced one",
            16 * 545: "that counts one switch in each group",
        },
        "balanced": {
            512: "that is how many other groups it reaches; it is one itself",
            545: "that is with 17 global ports a switch",
        },
    },
    right=((545, "279,040", 513), {"groups": "545 groups", "hosts": 279040, "balanced": 513.0}),
    explain=lambda: (
        f"a h + 1 = 32 x 17 + 1 = {groups(H):.0f} groups of 32 x 16 = 512 host ports: {hosts(H):,.0f}. Balanced (a = "
        f"2p = 2h) it would be {groups(H - 1):.0f} groups and {hosts(H - 1):,.0f} ports. The 278,528 that is often "
        "quoted for Slingshot is one group less."
    ),
)

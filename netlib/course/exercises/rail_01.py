from netlib.course.exercises import exercise
from netlib.topology import same_rail_share

GPUS = 8


def share() -> float:
    return float(same_rail_share(GPUS))


def relayed() -> float:
    return GPUS * share()  # every GPU of the node hands over what is meant for the other rails


EXERCISE = exercise(
    id="rail-01",
    chapter="scale-out",
    skill="rails and planes",
    stars=2,
    minutes=(4, 8),
    place=250,
    ask="Nodes of 8 GPUs are wired rail-optimised: GPU i of every node on leaf i. In a uniform all-to-all every GPU "
    "sends the same number of bytes to each GPU of the other nodes. Which `share` of the bytes that leave a node stays "
    "on its own rail (sender and receiver have the same index) if every GPU uses its own NIC? Which share travels "
    "within one rail with `pxn`, where the sender first hands the bytes over NVLink to the GPU on the receiver's rail? "
    "And what is a `plane`?",
    answer=lambda: {"share": share(), "pxn": relayed(), "plane": "c"},
    unit={"share": "", "pxn": ""},
    compare={"pxn": "exact", "plane": "choice"},
    options={
        "plane": {
            "a": "another word for a rail",
            "b": "a tier: leaves are one plane, spines the next",
            "c": "one of several separate fabrics, each of which reaches every host",
            "d": "the NVLinks of one node",
        }
    },
    hints=(
        "How many of a remote node's GPUs have the sender's index?",
        "share = 1 / GPUs per node; PXN chooses the NIC by the receiver's index.",
        "`share = 1 / ...`",
    ),
    wrong={
        "share": {
            0.875: "that is the share that has to change rails",
            1: "only an all-reduce ring among equal indices stays on its rail by itself",
            1 / 64: "the sender's index is given; only the receiver's has to match",
        },
        "pxn": {
            0.125: "that is the share without the relay",
            0.875: "that is what the relay moves over NVLink first; then it is on the right rail too",
        },
        "plane": {
            "a": "a rail serves one GPU index of each node; it does not reach the others",
            "b": "a tier is a level of one fabric",
            "d": "those make a scale-up domain",
        },
    },
    right=(("0.125", "1", "c"), {"share": "12.5 %", "pxn": 1.0, "plane": "C"}, (0.125, "100 %", "c)")),
    explain=lambda: (
        f"One receiver in eight has the sender's index: {share():.1%} of the bytes. With PXN all of them "
        f"({relayed():g}) travel within one rail, because NVLink does the change of rails. A plane is something else: "
        "a whole fabric beside others, and each host has a port on every one."
    ),
)

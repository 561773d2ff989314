from dataclasses import replace

from netlib.collectives.training import Cluster, Layout, by_order, model, placement, step_flows
from netlib.course.exercises import exercise
from netlib.hardware import bandwidth, fact
from netlib.links import Link
from netlib.units import show

SHAPE, G = model("gpt3-175b"), 8
LAYOUT = Layout(tp=8, dp=16, pp=8, microbatches=96)
PEAK, NVLINK, NIC = fact("bf16-h100").value, bandwidth("nvlink4"), bandwidth("ndr-400")
FLOWS = {flow.axis: flow for flow in step_flows(SHAPE, LAYOUT)}


def sent(axis: str) -> float:
    return FLOWS[axis].sent


def outside(axis: str, order: tuple[str, ...]) -> float:
    """Bytes of a step that leave the node through a GPU's card."""
    return FLOWS[axis].outside(placement(replace(LAYOUT, order=order), axis, G))


INSIDE, ACROSS = ("tp", "cp", "dp", "pp"), ("dp", "cp", "tp", "pp")
TP, DP = sent("tp"), sent("dp")
SPLIT = outside("dp", ACROSS)


def best() -> str:
    """The letter of the axis that the fastest order has innermost."""
    cluster = Cluster("H100", PEAK, 0.8 * PEAK, Link(0, NVLINK), Link(0, NIC), G)
    fastest = by_order(SHAPE, LAYOUT, cluster, tuple(FLOWS.values()))[0]
    return {"tp": "a", "dp": "b", "pp": "c"}[fastest.order[0]]


def card(order: tuple[str, ...]) -> float:
    return sum(outside(axis, order) for axis in FLOWS)


EXERCISE = exercise(
    id="placement-01",
    chapter="collectives",
    skill="placing axes on a fabric",
    stars=3,
    minutes=(10, 16),
    place=650,
    ask="GPT-3 175B on 1,024 GPUs in nodes of 8: tensor 8 x data 16 x pipeline 8, 96 microbatches of one sequence "
    "(2,048 tokens, hidden size 12,288, BF16). A stage has 12 layers; each makes four all-reduces of activations. "
    "A GPU's gradients, 5.456 GB, are all-reduced once; in each microbatch a stage in the middle sends one boundary's "
    "activations on and their gradients back. Rings. How many GB does a GPU send in a step for `tp` and for `dp`? How "
    "many GB leave the node through its own card, all axes together, with tensor groups inside the nodes (`card_tp`), "
    "and with halves of the data-parallel groups inside instead (`card_dp`; a node's 8 members of a group run 8 rings, "
    "one through each card)? And which axis belongs inside (`inside`)?",
    options={"inside": {"a": "tensor parallelism", "b": "data parallelism", "c": "pipeline parallelism"}},
    answer=lambda: {"tp": TP, "dp": DP, "card_tp": card(INSIDE), "card_dp": card(ACROSS), "inside": best()},
    unit={"tp": "GB", "dp": "GB", "card_tp": "GB", "card_dp": "GB", "inside": ""},
    compare={"inside": "choice"},
    rtol=0.005,
    ranks={"tp": 8, "dp": 16},
    hints=(
        "Calls times payload times the ring's factor, axis by axis; then ask for each axis which wire it takes.",
        "tp: 12 x 4 x 96 calls of 2048 x 12288 x 2 bytes, times 2 x 7/8. pp: 2 x 96 payloads. dp inside: bytes / 8.",
        "`tp = 12 * 4 * 96 * 50.33e6 * 2 * 7 / 8 / 1e9`",
    ),
    wrong={
        "tp": {
            TP / 4e9: "that is one all-reduce a layer; there are two forward and two backward",
            TP / 12e9: "that is one layer; a stage has twelve",
            TP / 96e9: "that is one microbatch; a step has 96",
        },
        "dp": {
            DP * 96 / 1e9: "gradients are added locally and travel once a step",
            2 * 7 / 8 * 5.456383104: "the group has 16 members: 2 x 15/16 of the gradients",
        },
        "card_tp": {
            DP / 1e9: "the pipeline's sends take the card as well",
            (TP + DP + sent("pp")) / 1e9: "tensor parallelism stays on NVLink here",
        },
        "card_dp": {
            (TP + DP + sent("pp")) / 1e9: "eight members of a data-parallel group share a node and its eight cards",
            (TP / 8 + SPLIT + sent("pp")) / 1e9: "a tensor group now has one member in each node: nothing is shared",
            card(INSIDE) / 1e9: "the tensor groups leave the node now",
        },
        "inside": {
            "b": "compare what each axis sends: which one would you not like to see on a card?",
            "c": "compare what each axis sends: which one would you not like to see on a card?",
        },
    },
    right=(
        {"tp": "406 GB", "dp": "10.2 GB", "card_tp": "19.9 GB", "card_dp": "416.8 GB", "inside": "a"},
        (405.9, 10.23, 19.89, 416.8, "a"),
        ("405.9e9 B", "10.23 GB", "19.9e9 B", "0.4168 TB", "A"),
    ),
    explain=lambda: (
        f"{show(TP, 'GB', 4)} for tensor parallelism, {show(DP, 'GB', 4)} for data, {show(sent('pp'), 'GB')} for the "
        f"pipeline. Tensor groups inside leave {show(card(INSIDE), 'GB')} to the card, data inside "
        f"{show(card(ACROSS), 'GB', 4)}: {show(card(ACROSS) / card(INSIDE), digits=2)} times as much, on a wire nine "
        "times slower. And these bytes wait: an all-reduce of activations stands between two matrix products, while "
        "gradients can travel beside the backward pass."
    ),
)

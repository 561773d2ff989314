from netlib.collectives import busbw_factor, ring_allreduce_time
from netlib.course.exercises import exercise
from netlib.fidelity.cite import log
from netlib.links import Fit, Link, fit_alpha_beta
from netlib.units import MiB, show


def fit(table: str, least: float = MiB) -> Fit:
    setup, size, time = log(table, least)
    return fit_alpha_beta(size, time, volume=busbw_factor(setup.ranks, "all_reduce") * size)


def per_step(alpha: float, n: int) -> float:
    """The fitted start-up shared among the steps of one ring over n ranks."""
    return alpha / float(ring_allreduce_time(0, n, Link(1, 1)))


def found() -> dict[str, float]:
    four, one = fit("B200x32"), fit("B200x8")
    return {
        "node": one.bandwidth,
        "nodes": four.bandwidth,
        "step": per_step(four.alpha, 32),
    }


EXERCISE = exercise(
    id="hands-03",
    chapter="labs",
    skill="fitting a published table",
    stars=2,
    minutes=(6, 10),
    place=903,
    ask="Two published nccl-tests tables (all_reduce, B200): one node of 8 GPUs, four nodes with 32. Fit T = alpha + "
    "2(n-1)/n S/B to the rows from 1 MiB up, by least squares on the relative error. Which B (GB/s) has one `node`, "
    "which have the four `nodes`, and what is the four nodes' alpha divided by the 62 steps of a ring (`step`, us)?",
    answer=found,
    unit={"node": "GB/s", "nodes": "GB/s", "step": "us"},
    rtol=0.03,
    ranks={"node": 8, "nodes": 32, "step": 32},
    hints=(
        "You have fitted your own links the same way; only the volume is another one.",
        "fit_alpha_beta(size, time, volume=2 * (n - 1) / n * size)",
        "`setup, size, time = log('B200x32', least=2**20)`",
    ),
    wrong={
        "node": {
            fit("B200x8").bandwidth
            / 1e9
            / (2 * 7 / 8): "that is the size over the time; 2(n-1)/n of it crosses a link",
        },
        "nodes": {
            fit("B200x32").bandwidth / 1e9 / (2 * 31 / 32): "that is size over time; 2(n-1)/n of it crosses a link",
        },
        "step": {
            fit("B200x32").alpha * 1e6: "that is the alpha of the whole all-reduce; a ring shares it among its steps",
            fit("B200x32").alpha * 1e6 / 31: "a ring goes round twice",
            fit("B200x32").alpha
            * 1e6
            / 6: "that shares it among the levels of a tree and back; here it is a ring's steps",
        },
    },
    right=(
        {"node": 731, "nodes": "367 GB/s", "step": "6.7 us"},
        (731, 367, 6.7),
    ),
    explain=lambda: (
        f"One node {show(found()['node'], 'GB/s', 4)}, four nodes {show(found()['nodes'], 'GB/s', 4)} of busbw, and "
        f"{show(found()['step'], 'us')} a step. Outside a node the GPU's own card sets the pace, not NVLink. The line "
        f"misses rows of the four-node table by {show(float(fit('B200x32').median_error), '%', 2)} (median): NCCL "
        "changes algorithm and protocol on the way, and one alpha cannot stand for several of them."
    ),
)
